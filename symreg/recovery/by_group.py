"""One form for all rows, constants for every group: which of them the groups share.

A stress-strain curve has one form at all temperatures, but different numbers at each. The form is
searched for in the largest group, in up to two more if it is small or leaves a misfit, and fitted
to all; then constants are shared by all groups, one after another, while the information criterion
does not rise. The same criterion decides between forms. Of many groups the largest are asked, and
the others fit their constants to the form that was chosen (`every_group`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest

import numpy as np
import sympy
from scipy.special import stdtrit

from orbits.estimates import ENDS, Estimate
from orbits.statistics import TINY
from symreg.engines.base import Candidate
from symreg.fit.errors import errors_of
from symreg.fit.form import fit_form
from symreg.fit.grouped import Arrowhead, GroupedLaw, group_parts, refit_grouped, started
from symreg.fit.noise import misfit_probability
from symreg.fit.refine import SAME_LAW, Law, freed, is_same_law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol
from symreg.formulas.precision import rounding
from symreg.recovery.config import RecoverConfig
from symreg.recovery.evidence import misfit_of
from symreg.recovery.neighbours import EXPLAINED, Parting, explains_as_well, parting, shortened
from symreg.recovery.selection import (
    Finding,
    Search,
    agreeing_with,
    for_many_rows,
    rivals_of,
    select,
    unjudged,
)
from symreg.recovery.user_table import LEAST_ROWS


def select_by_group(samples: Samples, search: Search) -> Finding:
    """Find one form for all groups, and which of its constants they share."""
    config, watch, guard = search.config, search.watch, search.guard
    largest = sorted(group_parts(samples), key=lambda part: -len(part.y))[:3]
    if config.form is not None:
        given = fit_form(config.form, largest[0])

        def judged() -> Finding:
            found = _chosen([started(given, samples)], [], samples, config)
            return _by_every_group(found, samples, search)

        return guard.part("the constants by group", judged, unjudged(given, samples, search))
    candidates: list[Candidate] = []
    best: list[list[Law]] = []
    before = None

    def in_all_groups(own: Finding, part: Samples) -> Finding:
        best.append([each for law in own.laws for each in _with_more_numbers(law, part)])
        laws = [started(base, samples) for base in _nameless(best)[:80]]
        return _chosen(laws, candidates, samples, config)

    for k, part in enumerate(largest):
        watch.say(lambda: f"forms of group {len(best) + 1} of {len(largest)}", True)
        own = select(part, replace(search, watch=watch.part(1 / (len(largest) - k))))
        candidates = [*candidates, *own.candidates]
        found = guard.part("one form for all groups", partial(in_all_groups, own, part), own)
        if found is own:
            return own
        enough = partial(_is_enough, found, before, part.few)
        if guard.part("whether another group is asked", enough, False):
            break
        before = found
    return guard.part(
        "the choice by all groups", lambda: _by_every_group(found, samples, search), found
    )


def _is_enough(found: Finding, before: Finding | None, few: bool) -> bool:
    """Whether a law leaves nothing in any group. A dozen noisy rows may lack the law among their
    formulas: then another group is asked as well."""
    settled = not few or found.law.mean_square <= rounding(found.samples.y) ** 2
    same = before is not None and before.forms[0].base == found.forms[0].base
    return (settled or same) and misfit_of(found.law, found.samples) > EXPLAINED


def _by_every_group(found: Finding, samples: Samples, search: Search) -> Finding:
    """The choice between the best forms, and of what is shared, by the rows of all groups.

    A few groups of a dozen noisy rows allow many forms; hundreds allow one.
    """
    every = search.every_group
    if every is None:
        return found
    place = [
        every.names.index(name) - len(every.features)
        for name in samples.names[-samples.indicators :]
    ]
    best = (_in_all(form, every.indicators, place) for form in found.forms[:8])
    laws = [refit_grouped(law, every) for law in best]
    by_all = _chosen(laws, list(found.candidates), every, search.config)
    forms = tuple(replace(form, values=form.values[place]) for form in by_all.forms)
    under = found.errors.of(samples)
    law = refit_grouped(forms[0], under).joint(under)
    return replace(by_all, law=law, samples=under, errors=found.errors, forms=forms)


def _in_all(law: GroupedLaw, groups: int, place: Sequence[int]) -> GroupedLaw:
    """The law in all groups: at its median where it was not fitted yet; nothing shared yet."""
    values = np.tile(np.median(law.values, axis=0), (groups, 1))
    values[list(place)] = law.values
    return replace(law, values=values, shared=frozenset())


def _with_more_numbers(law: Law, part: Samples) -> Iterator[Law]:
    """The law; with a number for its exact ones; these with one size of all terms, and with another
    unit of each feature.

    A number that one group lets be simple may be another in the next. The rate in exp(-0.9·x) may
    be one by a dozen rows, and then no number is left in its place. And what groups may share of
    a·x + b·x² is a, b, or b/a.
    """
    yield law
    yield (free := freed(law, part))
    yield from _with_one_size(free)
    features = (each for each in law.form.free_symbols if each.name in part.names)
    for feature in sorted(features, key=str):
        stretched = free.expression.xreplace({feature: sympy.Float(1.0) * feature})
        other = refitted(stretched, part, law.source, law.seed)
        # a power has the unit in the number that it has already
        if other is not None and len(other.constants) > len(free.constants):
            yield other
            yield from _with_one_size(other)


def _with_one_size(law: Law) -> Iterator[Law]:
    """A sum, each of whose terms has a constant as a factor, as that of the first times the rest:
    the same in one group."""
    terms = sympy.Add.make_args(law.form)
    places = {constant_symbol(i): i for i in range(len(law.constants))}
    sizes = [places.keys() & set(sympy.Mul.make_args(term)) for term in terms]
    if len(terms) < 2 or any(len(each) != 1 for each in sizes):
        return
    first, *others = (each.pop() for each in sizes)
    if not (size := law.constants[places[first]]):
        return
    constants = list(law.constants)
    for other in others:
        constants[places[other]] /= size
    form = first * sympy.Add(terms[0] / first, *terms[1:])
    yield replace(law, form=form, constants=tuple(constants))


def _nameless(lists: Sequence[Sequence[Law]]) -> list[Law]:
    """The first of each form, without its name: of the lists' first laws, their second, ..."""
    laws = filter(None, chain.from_iterable(zip_longest(*lists)))
    return list(dict.fromkeys(replace(law, name=None, parameters=()) for law in laws))


def _chosen(
    laws: list[GroupedLaw], candidates: list[Candidate], samples: Samples, config: RecoverConfig
) -> Finding:
    """The form, and its shared constants, chosen by the criterion."""
    floor, n = config.floor, samples.n_effective
    grouped = {law.joint(samples): law for law in laws}

    def again(law: Law, under: Samples) -> Law:
        return refit_grouped(grouped[law], under).joint(under)

    errors, joint = errors_of(samples, list(grouped), floor, again, config.errors)
    samples = errors.of(samples)

    def if_shared(law: Law) -> float:
        """The criterion, if all groups had all constants in common and the errors stayed as large:
        sharing may gain so much. Own numbers follow noise, so errors count by degrees of freedom.
        """
        square = law.mean_square * n / max(n - len(law.constants), 1)
        own = grouped[law].base.constants
        return replace(law, constants=own, mean_square=square).criterion(n, floor)

    for each in sorted(joint, key=if_shared)[:6]:
        grouped[each] = refit_grouped(grouped[each], samples)
        for fewer in _sharing(grouped[each], samples, floor):
            law = fewer.joint(samples)
            grouped[law] = fewer
            joint.append(law)
    # a·x + b·x³ and a·x·(c + x²), where a and c differ by group or none does, are one law. Rounding
    # aside their criterion is the same: the shorter text stays
    joint.sort(key=lambda law: (round(law.criterion(n, floor), 3), len(grouped[law].form)))
    distinct: dict[Law, np.ndarray] = {}
    for each in joint:
        values = grouped[each].predicted(samples)
        if not any(np.allclose(values, others, SAME_LAW, 0.0) for others in distinct.values()):
            distinct[each] = values

    def shorter(law: Law, samples: Samples) -> Iterator[Law]:
        parts = group_parts(samples)
        for base in shortened(grouped[law].base, max(parts, key=lambda part: len(part.y))):
            made = started(base, samples)
            grouped[made.joint(samples)] = made
            yield made.joint(samples)

    law, joint = for_many_rows(list(distinct), samples, floor, shorter, again)
    best = {grouped[law].base: law}
    for each in joint:
        best.setdefault(grouped[each].base, each)
    partings = _partings(law, list(best.values()), grouped, samples)
    laws_in_order, rivals = rivals_of(
        list(best.values()), n, floor, partings, lambda law: grouped[law].form
    )
    base = grouped[law].base
    agreeing = agreeing_with(
        joint, samples, floor, config.seed, lambda other: grouped[other].base == base
    )
    return Finding(
        law, samples, floor, errors, agreeing, candidates=candidates, laws=laws_in_order,
        rivals=rivals, forms=tuple(grouped[each] for each in best.values()),
    )  # fmt: skip


def _sharing(law: GroupedLaw, samples: Samples, floor: float) -> Iterator[GroupedLaw]:
    """The law with one more shared constant, the best at each step, while the criterion falls."""
    n = samples.n_effective
    best = law.joint(samples).criterion(n, floor)
    while True:
        trials = [
            refit_grouped(replace(law, shared=law.shared | {j}), samples)
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


def _partings(
    law: Law, pool: Sequence[Law], grouped: Mapping[Law, GroupedLaw], samples: Samples
) -> dict[Law, Parting]:
    """Other forms that explain all rows as well, and where they differ in the largest group."""
    parts = group_parts(samples)
    group = max(range(len(parts)), key=lambda g: len(parts[g].y))
    ours, part = grouped[law].of_group(group), parts[group]
    partings: dict[Law, Parting] = {}
    for each in pool:
        if not explains_as_well(each, law, samples.n_effective):
            continue
        its = grouped[each].of_group(group)
        if is_same_law(its, ours, part):
            continue
        if (place := parting(ours, its, part)) is not None:
            partings[each] = place
    return partings


SEARCHED_GROUPS = 20
"""The form, and which constants are shared, are chosen in so many groups, the largest."""


def searched_groups(samples: Samples) -> np.ndarray:
    """Indices of the groups that choose the form: large ones, with rows for a search."""
    rows = np.bincount(samples.indicated, minlength=samples.indicators)
    largest = np.argsort(-rows, kind="stable")[:SEARCHED_GROUPS]
    return np.sort(largest[rows[largest] >= LEAST_ROWS])


def of_groups(samples: Samples, groups: np.ndarray) -> Samples:
    """The rows of some groups, without the columns that indicate others."""
    part = samples.rows(np.isin(samples.indicated, groups))
    columns = [*range(len(samples.features)), *(len(samples.features) + groups)]
    part = replace(
        part, X=part.X[:, columns], names=tuple(part.names[i] for i in columns),
        indicators=len(groups),
    )  # fmt: skip
    if part.feature_errors is not None and part.shares is not None:
        part = replace(
            part, feature_errors=part.feature_errors[:, columns], shares=part.shares[columns]
        )
    return part


def every_group(
    found: Finding, searched: np.ndarray, samples: Samples, rng: np.random.Generator
) -> tuple[Finding, np.ndarray]:
    """Fit the chosen form's constants in all groups, from their median in the searched ones.

    Returns:
        The law in all groups, and (row,) predictions of one row in five of each group by a fit to
        the others, NaN elsewhere.
    """
    chosen = found.forms[0]
    start = replace(_in_all(chosen, samples.indicators, list(searched)), shared=chosen.shared)
    # errors relative to a law, or through its slopes, are those of all groups' law
    first = refit_grouped(start, samples).joint(samples)
    errors = replace(
        found.errors, law=found.errors.law and first, through=found.errors.through and first
    )
    samples = errors.of(samples)
    grouped = refit_grouped(start, samples)
    group = samples.indicated
    # one row in five of each group, drawn at random; none of groups with fewer
    order = np.lexsort((rng.random(len(group)), group))
    rows = np.bincount(group, minlength=samples.indicators)
    place = np.arange(len(group)) - np.repeat(np.cumsum(rows) - rows, rows)
    outside = np.zeros(len(group), dtype=bool)
    outside[order] = place < rows[group[order]] // LEAST_ROWS
    inner = refit_grouped(grouped, samples.rows(~outside))
    prediction = np.where(outside, inner.predicted(samples), np.nan)
    law = grouped.joint(samples)
    residuals = law.residuals(samples)
    asked = np.isin(group, searched)
    own_constants = int(np.sum(~grouped.is_shared))
    sizes = [
        np.sum(residuals[part] ** 2)
        / max(int(part.sum()) - own_constants * len(np.unique(group[part])), 1)
        for part in (~asked, asked)
    ]
    intervals, covariance = _pooled_intervals(grouped, samples, residuals)
    # what the form leaves in groups that had no say in it, beside what it leaves in the others
    ratio = float(np.sqrt(sizes[0] / max(sizes[1], rounding(samples.y) ** 2)))
    chances = (found.evidence.misfit_p, misfit_probability(residuals, samples))
    evidence = replace(
        found.evidence,
        held_out_ratio=max(found.evidence.held_out_ratio or 0.0, ratio),
        misfit_p=min((p for p in chances if p is not None), default=None),
    )
    return replace(
        found, law=law, forms=(grouped,), samples=samples, rows_used=len(samples.y),
        evidence=evidence, intervals=intervals, covariance=covariance,
    ), prediction  # fmt: skip


def _pooled_intervals(
    grouped: GroupedLaw, samples: Samples, residuals: np.ndarray
) -> tuple[list[Estimate], np.ndarray]:
    """Intervals of all constants from the scatter of all groups together, Student's t.

    A group of a few rows shows its constants, and not how far they may be off: drawn again, its
    rows may be one row only. The scatter is that of all rows, by degrees of freedom; rows that are
    one observation count as their sum does.
    """
    normal = Arrowhead.of(grouped.is_shared, *grouped.sloped(samples))
    count, shared = len(grouped.values), grouped.is_shared
    rows = np.bincount(samples.indicated, minlength=count)
    determined = rows >= np.sum(~shared)
    fitted = int(np.sum(np.minimum(rows, np.sum(~shared)))) + int(shared.sum())
    free = max(samples.n_effective - fitted, 1)
    _, observation = np.unique(samples.groups, return_inverse=True)
    together = np.sum(np.bincount(observation, residuals) ** 2) / np.sum(residuals**2 + TINY)
    scatter = np.sum(residuals**2) / free * max(1.0, float(together))
    inverse, carried, complement = normal.eliminated(np.zeros(count))
    # the inverse of an arrowhead, block by block, in the order of the constants
    across = -carried @ complement
    blocks = np.block([
        [inverse - across @ carried.swapaxes(1, 2), across],
        [across.swapaxes(1, 2), np.tile(complement, (count, 1, 1))],
    ])  # fmt: skip
    order = np.argsort(np.argsort(shared, kind="stable"))
    spread = blocks[:, order][:, :, order] * scatter
    spread /= normal.scale[:, :, None] * normal.scale[:, None, :]
    half = stdtrit(free, ENDS[1]) * np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
    intervals: dict[int, Estimate] = {}
    for g, j in np.ndindex(half.shape):
        value, width_of = float(grouped.values[g, j]), float(half[g, j])
        limits = (value - width_of, value + width_of)
        known = shared[j] or determined[g]
        intervals[int(grouped.places[g, j])] = Estimate(value, *(limits if known else ()))
    return [intervals[i] for i in range(len(intervals))], spread
