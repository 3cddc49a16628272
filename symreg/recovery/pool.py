"""One choice from the pooled formulas of all searches, and its robustness.

For a user's table: errors are relative, or the same for all rows, whichever is likelier; the
simplest formula that no other clearly beats is selected; then the choice is repeated on resampled
groups. How often it recurs is its agreement; the weight of every rival is its share of the
posterior.

Source: Kass & Raftery, JASA 90, 773 (1995), eq. 9, for weights from an information criterion.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from orbits.units import Unit
from symreg.engines.base import Candidate
from symreg.fit.form import fit_form
from symreg.fit.named_laws import fitted_laws
from symreg.fit.noise import DOUBLE
from symreg.fit.orthogonal import scatter_beyond, slopes_of
from symreg.fit.refine import (
    Fitted,
    is_same_law,
    preferred,
    refit_law,
    refitted,
    simplified,
)
from symreg.fit.samples import Samples, floored
from symreg.formulas.expressions import evaluate
from symreg.formulas.units import constant_units
from symreg.recovery.config import RecoverConfig
from symreg.recovery.neighbours import ALIKE, Parting, as_good, widened
from symreg.recovery.search import (
    Outcome,
    Search,
    merged_by_form,
)

REFINED = 8
"""Formulas of the pool, best first, to simplify."""
COMPARED = 25
"""Formulas that a resample chooses from."""
WEIGHED = 200
"""Formulas, best first, considered as good as the selected one."""
RESAMPLES = 100
LARGEST_RELATIVE = 0.3
"""Larger relative errors are no error model: zero would be a good prediction."""


Refit = Callable[[Fitted, Samples], Fitted]


@dataclass(frozen=True)
class Rival:
    """Another formula in the pool and its share of the posterior.

    Attributes:
        as_good: whether it explains the table as well, and pays for extra numbers.
        parting: where it and the selected formula part, if they do.
    """

    law: Fitted
    weight: float
    as_good: bool = False
    parting: Parting | None = None


@dataclass(frozen=True)
class ErrorModel:
    """Divisors of residuals if no errors are given; by default as in `Samples`.

    Attributes:
        size: of equal errors.
        law: relative errors are relative to its prediction. Relative to the noisy target, what is
            too low by chance would count for more, and constants be off by twice the variance.
        through: the law whose slopes propagate the errors of features.
        scatter: factor on the target's errors besides those.

    Source: Wedderburn, Biometrika 61, 439 (1974) for a variance that follows the mean.
    """

    size: float | None = None
    law: Fitted | None = None
    through: Fitted | None = None
    scatter: float = 1.0

    def of(self, samples: Samples) -> Samples:
        """Samples with these errors; those with their own keep them."""
        found = self._of_the_target(samples)
        if self.through is None or samples.feature_errors is None:
            return found
        own, spread = self.scatter * _own(found), _spread(self.through, samples)
        unit = np.sqrt(np.mean((floored(samples.y) / np.hypot(own, spread)) ** 2))
        return replace(
            found, errors=unit * own, spread=unit * spread, weights=None,
            feature_errors=unit * samples.feature_errors,
        )  # fmt: skip

    def _of_the_target(self, samples: Samples) -> Samples:
        if samples.errors is not None or (self.size is None and self.law is None):
            return samples
        if self.law is None:
            errors = np.full(len(samples.y), self.size)
        else:
            predicted = evaluate(self.law.form, samples.names, samples.X, self.law.constants)
            errors = floored(np.where(np.isfinite(predicted), predicted, samples.y))
        return replace(samples, errors=errors, weights=None)


def search_pool(samples: Samples, search: Search) -> tuple[Outcome, ErrorModel, tuple[Rival, ...]]:
    """Search with every seed and select one formula from all.

    Args:
        samples: to search and fit on.
        search: how.

    Returns:
        The outcome, what errors are taken for, and the rivals.
    """
    config, units = search.config, search.units
    if config.form is not None:
        return _given(config.form, samples, config)
    fronts = search.fronts(samples)
    front = [candidate for each in fronts for candidate in each]
    laws = _refitted(front, samples) + search.guessed(samples)
    named = fitted_laws(samples)
    if units:
        fit_units = _consistent(laws, samples.target, units)
        if config.units and not fit_units:
            raise ValueError(
                "no formula that was searched can have the units of the columns; check them, or "
                "leave --units out."
            )
        # units that were read from headers may be wrong: better a formula without than none
        units = units if fit_units else None
        laws = fit_units or laws
        named = _consistent(named, samples.target, units) if units else named
    errors, laws = errors_of(samples, laws, config.floor)
    samples, floor, n = errors.of(samples), config.floor, samples.n_effective
    best = sorted(laws, key=lambda law: law.criterion(n, floor))[:REFINED]
    own = [simplified(law, samples, floor, snap=False) for law in best[:2]]
    tidy = [simplified(law, samples, floor) for law in best]
    if units:
        tidy = _consistent(tidy, samples.target, units)
    pool = _distinct([*tidy, *laws, *(refit_law(law, samples) for law in named)])
    pool = _distinct(widened(pool, samples, floor))
    if units:
        pool = _consistent(pool, samples.target, units)
    pool.sort(key=lambda law: law.criterion(n, floor))
    law = preferred(pool, n, floor)
    others = as_good(law, pool[:WEIGHED], samples, floor)
    if others:
        # of those that the table allows the shortest is told first
        allowed = [law, *(each for each, _ in others)]
        law = min(allowed, key=lambda each: (each.length(n), str(each.form)))
        others = as_good(law, pool[:WEIGHED], samples, floor)
    pool = pool[:COMPARED]
    outcome = Outcome(
        law=law,
        raw=preferred(own, n, floor) if own else None,
        agreeing=agreeing_with(
            law, pool, samples, floor, config.seed, lambda other: is_same_law(law, other, samples)
        ),
        seeds=RESAMPLES,
        floor=floor,
        front=front,
    )
    unlike = [
        each for each in _unlike(law, pool, samples) if not is_same_law(each, law, samples, True)
    ]
    unlike += [each for each, _ in others if not any(each is known for known in unlike)]
    places = {id(each): place for each, place in others}
    return outcome, errors, rivals_of(law, [law, *unlike], n, floor, places)


def _given(
    text: str, samples: Samples, config: RecoverConfig
) -> tuple[Outcome, ErrorModel, tuple[Rival, ...]]:
    """A user's form in place of a search."""
    errors, (law,) = errors_of(samples, [fit_form(text, samples)], config.floor)
    outcome = Outcome(law, law, RESAMPLES, RESAMPLES, config.floor, [])
    return outcome, errors, (Rival(law, 1.0),)


def _consistent(laws: Sequence[Fitted], target: str, units: Mapping[str, Unit]) -> list[Fitted]:
    """Those that some units of their constants make consistent."""
    kept = []
    for law in laws:
        try:
            constant_units(law.form, units, units[target])
        except ValueError:
            continue
        kept.append(law)
    return kept


def _refitted(front: Sequence[Candidate], samples: Samples) -> list[Fitted]:
    """Every formula once, the searches' best first."""
    laws: dict[str, Fitted] = {}
    seen: set[sympy.Expr] = set()
    for candidate in sorted(front, key=lambda candidate: candidate.loss):
        if candidate.expression in seen:
            continue
        seen.add(candidate.expression)
        law = refitted(candidate.expression, samples, candidate.engine, candidate.seed)
        if law is None:
            continue
        known = laws.get(str(law.form))
        if known is None or law.mean_square < known.mean_square:
            laws[str(law.form)] = law
    return list(laws.values())


def _distinct(laws: Sequence[Fitted]) -> list[Fitted]:
    """The best fit of each form; a formula equal to a named law gets the name."""
    best: dict[tuple[str, bool], Fitted] = {}
    for law in laws:
        key = str(law.form), law.name is not None
        if key not in best or law.mean_square < best[key].mean_square:
            best[key] = law
    return merged_by_form(list(best.values()))


def errors_of(
    samples: Samples, laws: Sequence[Fitted], floor: float = 0.0, refit: Refit = refit_law
) -> tuple[ErrorModel, list[Fitted]]:
    """The error model, including errors of features, and the laws fitted under it.

    Args:
        samples: the rows.
        laws: fitted to them.
        floor: relative error that buys nothing.
        refit: fits a law to samples.
    """
    errors, laws = with_likelier_errors(samples, laws, floor, refit)
    if samples.feature_errors is None or not laws:
        return errors, laws
    under, n = errors.of(samples), samples.n_effective
    laws.sort(key=lambda law: law.criterion(n, floor))
    best, scatter = laws[0], 1.0
    if samples.errors is None:
        rest = samples.y - evaluate(best.form, samples.names, samples.X, best.constants)
        good = np.isfinite(rest)
        free = int(good.sum()) - len(best.constants)
        own, spread = _own(under), _spread(best, samples)
        scatter = scatter_beyond(rest[good] ** 2, own[good], spread[good], free)
    errors = replace(errors, through=best, scatter=scatter)
    return errors, [refit(law, errors.of(samples)) for law in laws[: 2 * COMPARED]]


def _own(samples: Samples) -> np.ndarray:
    """(row,) errors of the target, up to a factor."""
    return samples.scale if samples.errors is None else samples.errors


def _spread(law: Fitted, samples: Samples) -> np.ndarray:
    """(row,) error in a law's prediction from those of the features."""
    slopes = slopes_of(law.form, samples, samples.X, law.constants)
    with np.errstate(all="ignore"):
        spread = np.linalg.norm(slopes * samples.feature_errors, axis=1)
    return np.where(np.isfinite(spread), spread, 0.0)


def with_likelier_errors(
    samples: Samples, laws: Sequence[Fitted], floor: float = 0.0, refit: Refit = refit_law
) -> tuple[ErrorModel, list[Fitted]]:
    """Relative or equal errors, by the likelihood of the best formula under each.

    Equal errors suit a meter with one scale; relative ones most laws over decades. Nothing is
    chosen if the errors are given, or the data are exact.

    Args:
        samples: the rows.
        laws: fitted to them.
        floor: relative error that buys nothing; the errors of a field are not noise.
        refit: fits a law to samples.

    Returns:
        The errors, and the laws fitted again under them.
    """
    laws = list(laws)
    if samples.errors is not None or not laws:
        return ErrorModel(), laws
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(samples.y**2)))
    equal = ErrorModel(size=size)
    shown = sorted(laws, key=lambda law: law.mean_square)[:COMPARED]
    if not 0 < size < np.inf or shown[0].mean_square < DOUBLE:
        return ErrorModel(), laws
    others = [refit(law, equal.of(samples)) for law in shown]
    rows = len(samples.y)
    if shown[0].mean_square <= LARGEST_RELATIVE**2:
        # the density of y under relative errors has the factor 1/|y|
        jacobian = np.sum(np.log(samples.scale / size))
        laws.sort(key=lambda law: law.criterion(rows, floor))
        relative = min(law.criterion(rows, 0.0) for law in shown) + 2 * jacobian
        if min(law.criterion(rows, 0.0) for law in others) >= relative:
            if floor:
                return ErrorModel(), laws
            errors = ErrorModel(law=laws[0])
            return errors, [refit(law, errors.of(samples)) for law in laws[: 2 * COMPARED]]
    return equal, [refit(law, equal.of(samples)) for law in laws]


def agreeing_with(
    law: Fitted, pool: Sequence[Fitted], samples: Samples, floor: float, seed: int,
    same: Callable[[Fitted], bool],
) -> int:  # fmt: skip
    """Of `RESAMPLES` draws of groups, those that select the same law.

    Args:
        law: selected.
        pool: it was selected from.
        samples: the rows.
        floor: relative error that buys nothing.
        seed: of the draws.
        same: whether another law is the same.
    """
    squares = np.array(
        [
            samples.residuals(evaluate(each.form, samples.names, samples.X, each.constants)) ** 2
            for each in pool
        ]
    )
    _, groups = np.unique(samples.groups, return_inverse=True)
    total, n = int(groups.max()) + 1, samples.n_effective
    rng = np.random.default_rng([seed, 3])
    chosen: Counter[int] = Counter()
    for _ in range(RESAMPLES):
        counts = np.bincount(rng.integers(0, total, total), minlength=total)[groups]
        errors = squares @ counts / counts.sum()
        drawn = [
            replace(each, mean_square=float(error), smooth=min(each.smooth, float(error)))
            for each, error in zip(pool, errors, strict=True)
        ]
        chosen[drawn.index(preferred(drawn, n, floor))] += 1
    return sum(times for k, times in chosen.items() if same(pool[k]))


def _unlike(law: Fitted, pool: Sequence[Fitted], samples: Samples) -> list[Fitted]:
    """The formulas that differ: not the law plus a term of rounding size."""

    def values(each: Fitted) -> np.ndarray:
        return evaluate(each.form, samples.names, samples.X, each.constants)

    ours = values(law)
    return [
        each
        for each in pool
        if each is not law and not np.allclose(values(each), ours, rtol=ALIKE, atol=0.0)
    ]


def rivals_of(
    law: Fitted,
    pool: Sequence[Fitted],
    n: int,
    floor: float,
    places: Mapping[int, Parting],
) -> tuple[Rival, ...]:
    """The selected formula, those as good, and the others, each by its share of the posterior.

    Args:
        law: that was selected.
        pool: it and the others.
        n: rows that count.
        floor: relative error that no formula need explain.
        places: by `id` of those as good, where they depart from it.
    """
    criteria = np.array([each.criterion(n, floor) for each in pool])
    shares = np.exp(-(criteria - criteria.min()) / 2)
    shares /= shares.sum()
    found = [
        Rival(each, float(share), id(each) in places, places.get(id(each)))
        for each, share in zip(pool, shares, strict=True)
    ]
    found.sort(key=lambda rival: (rival.law is not law, not rival.as_good, -rival.weight))
    return tuple(found)
