"""Which errors a table's target has: relative, additive or in the logarithm, given or chosen.

The kinds have different densities of y: additive errors p(y) = N(y; f, s), relative ones
N(y; f, s f), errors of the logarithm N(log y; log f, s)/y. A share of n trials errs by
sqrt(f (1 - f)/n), in rows of no successes, too; errors of counts go like sqrt(f). Where the table
does not say which it has, the likelihood of the best formula under each decides. A scatter of 0.11
dex taken for a relative error would bias a constant by half its variance, 3 %.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from orbits.printing import share
from symreg.fit.orthogonal import scatter_beyond, slopes_of
from symreg.fit.refine import Law, refit_law
from symreg.fit.samples import Samples, floored
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import DOUBLE, is_single, rounded_by

Refit = Callable[[Law, Samples], Law]

ROUNDED = 2.0
"""Errors of rounding, rms, up to which it is all that a formula leaves."""
COARSE = 1e-3
"""Errors of rounding beside the scatter of targets above which they are noise."""
STEADY = 0.9
"""Share of the rows by which that is judged: in one beside a pole rounding is a large part of y."""
COMPARED = 25
"""Formulas, best first, that are compared."""
LARGEST_RELATIVE = 0.3
"""Larger errors are not relative to the target: zero would be a good prediction. Formulas are then
fitted under equal errors first, and errors relative to them follow them in several fits."""
FOLLOWED = 8
"""Formulas of the shortest description, and as many of the least error, by which kinds are told."""
HALF_A_COUNT = 0.5
"""What a count is at least for its error: where none is expected one may come."""
FEW_COUNTS = 4
"""Whole numbers so few may be grades or classes."""
SETTLING = 3
"""Fits in which large errors that follow a law do so."""


@dataclass(frozen=True)
class ErrorKind:
    """A kind of errors: how their size goes with a law's prediction, and what is said of them.

    Attributes:
        name: as in the option `errors`.
        words: what is said of them, by the law, the rows and the law's predictions there.
        like: (row,) what they go like, by a law and the rows; None if as in `Samples`.
        follows: whether they go like the law's prediction. Relative to the noisy target, what is
            too low by chance would count for more, and constants be off by twice the variance.
        known: whether what they go like is their size, too, as sure as given errors.
        noise: whether they are; not if only rounding, or a field's own systematic error, is left.

    Source: Wedderburn, Biometrika 61, 439 (1974) for a variance that follows the mean.
    """

    name: str
    words: Callable[[Law, Samples, np.ndarray], str]
    like: Callable[[Any, Samples], np.ndarray] | None = None
    follows: bool = False
    known: bool = False
    noise: bool = True


def _finite(law: Law, samples: Samples) -> np.ndarray:
    """(row,) a law's predictions, the target where there is none."""
    predicted = law.values(samples)
    return np.where(np.isfinite(predicted), predicted, samples.y)


def _like_prediction(law: Law, samples: Samples) -> np.ndarray:
    """(row,) size of a law's predictions, as `Samples.scale` is that of targets."""
    predicted = _finite(law, samples)
    size = replace(samples, y=predicted, signed=not samples.logarithmic).scale
    # a law that is zero in most rows gives these no size of their own
    return np.where(size > 0, size, float(np.max(np.abs(samples.y))) or 1.0)


def _root_of(counts: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.maximum(counts, HALF_A_COUNT)))


def _binomial(law: Law, samples: Samples) -> np.ndarray:
    """(row,) standard errors of shares of successes; half a trial of either kind is added, as none
    are never certain to be none."""
    trials = samples.trials
    assert trials is not None  # for the type checker: chosen for such samples only
    likely = (np.clip(_finite(law, samples), 0.0, 1.0) * trials + 0.5) / (trials + 1)
    return np.asarray(np.sqrt(likely * (1 - likely) / trials))


def rounding_of(law: Law, samples: Samples) -> np.ndarray:
    """(row,) standard errors of the target by its own rounding and, through a law's slopes, by that
    of the features; positive, as arithmetic rounds too."""
    columns = np.column_stack([rounded_by(column) for column in samples.X.T])
    own = np.maximum(rounded_by(samples.y), np.finfo(float).eps * floored(samples.y))
    return np.hypot(own, _spread(law, replace(samples, feature_errors=columns)))


def _as_given(law: Law, samples: Samples, _: np.ndarray) -> str:
    free = max(1, samples.n_effective - len(law.constants))
    ratio = (samples.unit or 1.0) * float(np.sqrt(np.sum(law.residuals(samples) ** 2) / free))
    off = abs(ratio - 1) > 4 / np.sqrt(2 * free)  # four standard errors of such a ratio
    return f"as given; the law leaves {ratio:.2g} times as much" if off else "as given"


def _of_trials(_: Law, samples: Samples, __: np.ndarray) -> str:
    assert samples.trials is not None  # for the type checker: chosen for such samples only
    low, high = int(samples.trials.min()), int(samples.trials.max())
    return f"binomial, of {low if low == high else f'{low} to {high}'} trials"


ADDITIVE = ErrorKind(
    "additive", lambda _, s, predicted: f"additive, {np.std(s.y - predicted):.2g}",
    lambda _, s: np.ones(len(s.y)),
)  # fmt: skip
RELATIVE = ErrorKind(
    "relative", lambda _, s, predicted: f"relative, {share(np.std(s.y / predicted), 2)}",
    _like_prediction, follows=True,
)  # fmt: skip
LOGARITHMIC = ErrorKind(
    "logarithmic",
    lambda _, s, predicted: f"in the logarithm, {np.std(np.log10(s.y / predicted)):.2g} dex",
)
COUNTS = ErrorKind(
    "counts",
    lambda _, s, predicted: (
        f"of counts, {np.std((s.y - predicted) / _root_of(predicted)):.2g} times their square roots"
    ),
    lambda law, s: _root_of(_finite(law, s)), follows=True,
)  # fmt: skip
BINOMIAL = ErrorKind("binomial", _of_trials, _binomial, follows=True, known=True)
GIVEN = ErrorKind("given", _as_given)
ROUNDING = ErrorKind(
    "rounding", lambda *_: "none but rounding", rounding_of, follows=True, noise=False
)
EXACT = replace(ROUNDING, name="exact", like=None)
UNSAID = ErrorKind("unsaid", lambda *_: "", noise=False)
"""A field's own systematic error, for which there is a floor, or what could not be judged."""
CHOSEN = {kind.name: kind for kind in (ADDITIVE, RELATIVE, LOGARITHMIC, COUNTS)}
"""Kinds that are chosen among, or by a user (`errors`)."""


@dataclass(frozen=True)
class ErrorModel:
    """Divisors of residuals if no errors are given; by default as in `Samples`.

    Attributes:
        kind: of errors.
        size: of them, in what they go like; by default such that a law that is zero leaves a mean
            square of one.
        law: whose predictions, or slopes, say what they go like.
        through: the law whose slopes propagate the errors of features.
        scatter: factor on the target's errors besides those.
    """

    kind: ErrorKind = UNSAID
    size: float | None = None
    law: Law | None = None
    through: Law | None = None
    scatter: float = 1.0

    def of(self, samples: Samples) -> Samples:
        """Samples with these errors; those with their own keep them."""
        own_errors = self._of_the_target(samples)
        if self.through is None or samples.feature_errors is None:
            return own_errors
        own, spread = self.scatter * _own(own_errors), _spread(self.through, samples)
        unit = np.sqrt(np.mean((floored(samples.y) / np.hypot(own, spread)) ** 2))
        return replace(
            own_errors, errors=unit * own, spread=unit * spread, weights=None,
            feature_errors=unit * samples.feature_errors,
            unit=None if samples.unit is None else unit * samples.unit,
        )  # fmt: skip

    def _of_the_target(self, samples: Samples) -> Samples:
        if samples.errors is not None or self.kind.like is None:
            return samples
        like = self.kind.like(self.law, samples)
        size = self.size or float(np.sqrt(np.mean((samples.y / like) ** 2)))
        # how many shares are off by more than their trials allow is as sure as given errors
        unit = size if self.kind.known else None
        return replace(samples, errors=size * like, unit=unit, weights=None)

    def words(self, law: Law, samples: Samples) -> str:
        """What the target's errors were taken for, and their size."""
        return self.kind.words(law, samples, law.values(samples))


def density(samples: Samples, size: float) -> float:
    """Twice the nats that a density of the target has for its errors' size, row by row, beside
    equal errors of another size: with residuals r over errors s, -2 log p(y) = r² + 2 log s."""
    return 2 * float(np.sum(np.log(_own(samples) / size)))


def errors_of(
    samples: Samples,
    laws: Sequence[Law],
    floor: float = 0.0,
    refit: Refit = refit_law,
    noise: str | None = None,
) -> tuple[ErrorModel, list[Law]]:
    """The error model, including errors of features, and the laws fitted under it.

    Args:
        samples: the rows.
        laws: fitted to them.
        floor: relative error that buys nothing: that of a model's field, which is no noise.
        refit: fits a law to samples.
        noise: the name of the kind of errors, if known.
    """
    errors, laws = _of_target(samples, list(laws), floor, refit, noise)
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


def _of_target(
    samples: Samples, laws: list[Law], floor: float, refit: Refit, noise: str | None
) -> tuple[ErrorModel, list[Law]]:
    """The target's errors, and the laws fitted again under them."""
    if samples.errors is not None:
        return ErrorModel(GIVEN), laws
    size, n = _rms(samples.y), samples.n_effective
    if floor:
        return ErrorModel(UNSAID), laws
    if not laws or not 0 < size < np.inf:
        return ErrorModel(EXACT), laws
    shown = sorted(laws, key=lambda law: law.mean_square)[:COMPARED]
    if noise is None and samples.trials is None:
        if any(is_single(column) for column in samples.measured.T):
            for law in sorted(shown, key=lambda law: law.nodes):
                errors = ErrorModel(ROUNDING, law=law)
                under = errors.of(samples)
                expected = rounding_of(law, samples)
                steady = expected <= np.quantile(expected, STEADY)
                small = COARSE * np.std(samples.y[steady]) > _rms(expected[steady])
                if small and rounding_left(refit(law, under), samples) < ROUNDED:
                    return errors, [refit(law, under) for law in laws[: 4 * COMPARED]]
        share = min(1.0, float(np.std(samples.y)) / size)
        if shown[0].mean_square < DOUBLE * share**2:
            return ErrorModel(EXACT), laws
    # near a share of one little of it is much of its error
    large = samples.trials is not None or shown[0].mean_square > LARGEST_RELATIVE**2
    rounds = SETTLING if large else 1
    equal = _alone(ADDITIVE, size).of(samples)
    first = [refit(law, equal) for law in laws[: 8 * COMPARED]] if large else laws
    first = sorted(first, key=lambda law: law.criterion(n, 0.0))[: 2 * COMPARED]
    if samples.trials is not None:
        kind = BINOMIAL
    elif noise is not None:
        kind = CHOSEN[noise]
    else:
        kind = _likeliest(first[:FOLLOWED], samples, refit, rounds)
    model = _alone(kind, size)
    if not kind.follows:
        return model, [refit(law, model.of(samples)) for law in laws] if kind.like else laws
    for _ in range(rounds):
        model = replace(model, law=min(first, key=lambda law: law.criterion(n, 0.0)))
        under = model.of(samples)
        first = [refit(law, under) for law in first]
    return model, first


def _alone(kind: ErrorKind, size: float) -> ErrorModel:
    """Errors of a kind, of a target of some size."""
    return ErrorModel(kind, {ADDITIVE: size, RELATIVE: 1.0}.get(kind))


def _likeliest(laws: list[Law], samples: Samples, refit: Refit, rounds: int) -> ErrorKind:
    """The errors by which the table has the shortest description, each with its own best formula of
    the same ones: short and long, as errors of another kind may allow a shorter one."""
    rows, size = len(samples.y), _rms(samples.y)

    def cost(kind: ErrorKind) -> float:
        best = np.inf
        for law in laws:
            for _ in range(rounds if kind.follows else 1):
                under = replace(_alone(kind, size), law=law).of(samples)
                law = refit(law, under)
            best = min(best, law.criterion(rows, 0.0) + density(under, size))
        return best

    counts = are_counts(samples.y)
    kinds = [ADDITIVE] + [COUNTS] * counts + [LOGARITHMIC] * samples.logarithmic
    # a count of none is no error of all that was expected
    kinds += [RELATIVE] * (not counts or bool(np.all(samples.y)))
    return min(kinds, key=cost)


def are_counts(y: np.ndarray) -> bool:
    """Whether targets may be counts: whole numbers, none negative, of more than `FEW_COUNTS`."""
    return bool(np.all((y >= 0) & (y == np.round(y)))) and len(np.unique(y)) > FEW_COUNTS


def rounding_left(law: Law, samples: Samples) -> float:
    """What a law leaves (rms), in errors of rounding."""
    errors = (law.values(samples) - samples.y) / rounding_of(law, samples)
    left = _rms(errors)
    return left if np.isfinite(left) else np.inf


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _own(samples: Samples) -> np.ndarray:
    """(row,) errors of the target, up to a factor."""
    return samples.scale if samples.errors is None else samples.errors


def _spread(law: Law, samples: Samples) -> np.ndarray:
    """(row,) error in a law's prediction from those of the features."""
    slopes = slopes_of(law.form, samples, samples.X, law.constants)
    spread = np.linalg.norm(slopes * samples.feature_errors, axis=1)
    return np.where(np.isfinite(spread), spread, 0.0)
