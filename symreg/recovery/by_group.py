"""One form for all rows, constants for every group: which of them the groups share.

A stress-strain curve has one form at all temperatures, but different numbers at each. The form is
searched for in the largest group, in up to two more if it leaves a misfit, and fitted to all; then
constants are shared by all groups, one after another, while the information criterion does not
rise. The same criterion decides between forms. Elsewhere the result is a formula with a column per
group: one in its rows, zero in others.

Source: Russeil et al., arXiv:2402.04298, for one form with constants for every group.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

import numpy as np
import sympy
from scipy.optimize import least_squares

from symreg.engines.base import Candidate
from symreg.fit.form import fit_form
from symreg.fit.noise import smooth_mean_square
from symreg.fit.refine import Fitted, fit, is_same_law, preferred
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol, evaluate, named, symbol
from symreg.recovery.config import RecoverConfig
from symreg.recovery.discovery import misfit_of
from symreg.recovery.neighbours import EXPLAINED, Parting, explains_as_well, parting
from symreg.recovery.pool import (
    RESAMPLES,
    ErrorModel,
    Rival,
    agreeing_with,
    errors_of,
    rivals_of,
    search_pool,
)
from symreg.recovery.search import Outcome, Search

SEARCHED = 3
"""Groups, the largest, to search for forms."""
FORMS = 40
"""Forms, best first, fitted to all groups."""
SHARED = 6
"""Of these, those whose constants may be shared."""
STEP = 1e-6


@dataclass(frozen=True)
class GroupedLaw:
    """A form with constants for every group.

    Attributes:
        base: the form over the features.
        values: (group, constant).
        shared: constants common to all groups.
    """

    base: Fitted
    values: np.ndarray
    shared: frozenset[int] = frozenset()

    @property
    def places(self) -> np.ndarray:
        """(group, constant) index of the constant among all fitted."""
        groups, count = self.values.shape
        found, following = np.zeros((groups, count), dtype=int), 0
        for j in range(count):
            own = 1 if j in self.shared else groups
            found[:, j] = following + np.arange(groups) % own
            following += own
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Of fitted constants, `c1_2` for the second group's c1."""
        return tuple(name for names in self.by_name.values() for name in names)

    @property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Names of fitted constants, by the form's: one if shared, else one per group."""
        groups, _ = self.values.shape
        mark, own = "_", self.base.constant_names
        while any(f"{name}{mark}1" in own for name in own):
            mark += "_"
        return {
            name: (name,) if j in self.shared else tuple(
                f"{name}{mark}{g + 1}" for g in range(groups)
            )
            for j, name in enumerate(own)
        }  # fmt: skip

    @property
    def form(self) -> str:
        """The form as text with named constants."""
        return named(self.base.form, self.base.constant_names)

    def of_group(self, group: int) -> Fitted:
        """The law in one group."""
        return replace(self.base, constants=tuple(map(float, self.values[group])))

    def joint(self, samples: Samples) -> Fitted:
        """The law of all rows, with columns for groups."""
        places, columns = self.places, samples.names[-samples.indicators :]
        swapped = {}
        for j in range(self.values.shape[1]):
            if j in self.shared:
                swapped[constant_symbol(j)] = constant_symbol(places[0, j])
            else:
                pairs = zip(places[:, j], columns, strict=True)
                own = (constant_symbol(p) * symbol(n) for p, n in pairs)
                swapped[constant_symbol(j)] = sympy.Add(*own)
        constants = np.zeros(places.max(initial=-1) + 1)
        constants[places] = self.values
        residuals = _residuals(self, samples, self.values)
        return replace(
            self.base,
            form=self.base.form.xreplace(swapped),
            constants=tuple(map(float, constants)),
            mean_square=float(np.mean(residuals**2)),
            smooth=smooth_mean_square(residuals, samples.X),
            names=self.names,
        )


def _residuals(law: GroupedLaw, samples: Samples, values: np.ndarray) -> np.ndarray:
    """(row,) with (group, constant) values."""
    own = values[samples.indicated].T
    return samples.residuals(evaluate(law.base.form, samples.names, samples.X, list(own)))


def refitted(law: GroupedLaw, samples: Samples) -> GroupedLaw:
    """The same form, sharing the same constants, fitted to samples."""
    places, groups = law.places, samples.indicated
    if not places.size:
        return law
    start = np.zeros(places.max() + 1)
    weight = np.bincount(groups, minlength=len(places))[:, None] * np.ones(places.shape)
    np.add.at(start, places, weight * law.values)
    start /= np.bincount(places.ravel(), weight.ravel())
    scale = np.where(start == 0, 1e-3, np.abs(start))

    def residuals(place: np.ndarray) -> np.ndarray:
        return _residuals(law, samples, (place * scale)[places])

    def jacobian(place: np.ndarray) -> np.ndarray:
        found = np.zeros((len(samples.y), len(start)))
        values = (place * scale)[places]
        for j in range(places.shape[1]):
            step = np.zeros_like(values)
            step[:, j] = STEP * scale[places[:, j]]
            up, down = (_residuals(law, samples, values + s) for s in (step, -step))
            found[np.arange(len(samples.y)), places[groups, j]] += (up - down) / (2 * STEP)
        return found

    if len(samples.y) <= len(start):
        return law
    found = least_squares(
        residuals, start / scale, jacobian, method="lm", x_scale="jac", max_nfev=30
    )
    return replace(law, values=(found.x * scale)[places])


def group_parts(samples: Samples) -> list[Samples]:
    """The samples of every group, without indicator columns."""
    width = samples.X.shape[1] - samples.indicators
    own = replace(samples, X=samples.X[:, :width], names=samples.names[:width], indicators=0)
    if own.feature_errors is not None and own.shares is not None:
        own = replace(own, feature_errors=own.feature_errors[:, :width], shares=own.shares[:width])
    return [own.rows(samples.indicated == g) for g in range(samples.indicators)]


def search_by_group(
    samples: Samples, search: Search
) -> tuple[Outcome, ErrorModel, tuple[Rival, ...]]:
    """Find one form for all groups, and which of its constants they share."""
    config, watch = search.config, search.watch
    parts = group_parts(samples)
    largest = sorted(range(len(parts)), key=lambda g: -len(parts[g].y))[:SEARCHED]
    if config.form is not None:
        given = fit_form(config.form, parts[largest[0]])
        return _chosen([_started(given, parts)], [], samples, config)
    front: list[Candidate] = []
    best: list[list[Fitted]] = []
    for k, g in enumerate(largest):
        watch.say(lambda: f"forms of group {len(best) + 1} of {len(largest)}", True)
        share = replace(search, watch=watch.part(1 / (len(largest) - k)))
        found, _, rivals = search_pool(parts[g], share)
        best.append([rival.law for rival in rivals])
        front += found.front
        laws = [_started(base, parts) for base in _distinct(best)[:FORMS]]
        outcome, errors, others = _chosen(laws, front, samples, config)
        if misfit_of(outcome.law, errors.of(samples)) > EXPLAINED:
            break  # it leaves nothing in any group
    return outcome, errors, others


def _distinct(lists: Sequence[Sequence[Fitted]]) -> list[Fitted]:
    """The first of each form, without its name: of the lists' first laws, their second, ..."""
    found: dict[str, Fitted] = {}
    for law in filter(None, chain.from_iterable(zip_longest(*lists))):
        found.setdefault(str(law.form), replace(law, name=None, parameters=()))
    return list(found.values())


def _started(base: Fitted, parts: Sequence[Samples]) -> GroupedLaw:
    """A form fitted to each group alone, from its own start and its neighbour's result."""
    values = np.zeros((len(parts), len(base.constants)))
    before = base.constants
    for g, part in enumerate(parts):
        fits = [fit(base.form, start, part) for start in (base.constants, before)]
        before = min(fits, key=lambda found: found.mean_square).constants
        values[g] = before
    return GroupedLaw(base, values)


def _chosen(
    laws: list[GroupedLaw], front: list[Candidate], samples: Samples, config: RecoverConfig
) -> tuple[Outcome, ErrorModel, tuple[Rival, ...]]:
    """The form, and its shared constants, chosen by the criterion."""
    floor, n = config.floor, samples.n_effective
    known = {str(law.joint(samples).form): law for law in laws}

    def again(law: Fitted, under: Samples) -> Fitted:
        return refitted(known[str(law.form)], under).joint(under)

    errors, joint = errors_of(samples, [law.joint(samples) for law in laws], floor, again)
    samples = errors.of(samples)
    joint.sort(key=lambda law: law.criterion(n, floor))
    for each in joint[:SHARED]:
        known[str(each.form)] = refitted(known[str(each.form)], samples)
        for fewer in _sharing(known[str(each.form)], samples, floor):
            made = fewer.joint(samples)
            known[str(made.form)] = fewer
            joint.append(made)
    joint.sort(key=lambda law: law.criterion(n, floor))
    law = preferred(joint, n, floor)
    base = {id(each): known[str(each.form)].base.form for each in joint}
    best: dict[sympy.Expr, Fitted] = {base[id(law)]: law}
    for each in joint:
        best.setdefault(base[id(each)], each)
    pool = list(best.values())
    places = _as_good(known[str(law.form)], law, pool, known, samples, floor)
    agreeing = agreeing_with(
        law, joint, samples, floor, config.seed, lambda other: base[id(other)] == base[id(law)]
    )
    outcome = Outcome(
        law, law, agreeing, RESAMPLES, floor, front, by_group=known[str(law.form)]
    )  # fmt: skip
    return outcome, errors, rivals_of(law, pool, n, floor, places)


def _sharing(law: GroupedLaw, samples: Samples, floor: float) -> Iterator[GroupedLaw]:
    """The law with one more shared constant, the best at each step, while the criterion falls."""
    n = samples.n_effective
    best = law.joint(samples).criterion(n, floor)
    while True:
        trials = [
            refitted(replace(law, shared=law.shared | {j}), samples)
            for j in range(law.values.shape[1])
            if j not in law.shared
        ]
        if not trials:
            return
        costs = [trial.joint(samples).criterion(n, floor) for trial in trials]
        if min(costs) > best:
            return
        best, law = min(costs), trials[int(np.argmin(costs))]
        yield law


def _as_good(
    chosen: GroupedLaw,
    law: Fitted,
    pool: Sequence[Fitted],
    known: Mapping[str, GroupedLaw],
    samples: Samples,
    floor: float,
) -> dict[int, Parting]:
    """Other forms that explain all rows as well, and where they differ.

    Forms are compared in the largest group.
    """
    parts = group_parts(samples)
    group = max(range(len(parts)), key=lambda g: len(parts[g].y))
    ours, part = chosen.of_group(group), parts[group]
    found: dict[int, Parting] = {}
    for each in pool:
        if not explains_as_well(each, law, samples.n_effective, floor):
            continue
        its = known[str(each.form)].of_group(group)
        if is_same_law(its, ours, part, True):
            continue
        if (place := parting(ours, its, part)) is not None:
            found[id(each)] = place
    return found
