"""One form for all rows, constants for every group: which of them the groups share.

A stress-strain curve has one form at all temperatures, but different numbers at each. The form is
searched for in the largest group, in up to two more if it leaves a misfit, and fitted to all; then
constants are shared by all groups, one after another, while the information criterion does not
rise. The same criterion decides between forms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np

from symreg.engines.base import Candidate
from symreg.fit.errors import errors_of
from symreg.fit.form import fit_form
from symreg.fit.grouped import GroupedLaw, group_parts, refit_grouped, started
from symreg.fit.refine import Law, is_same_law, preferred
from symreg.fit.samples import Samples
from symreg.recovery.config import RecoverConfig
from symreg.recovery.evidence import misfit_of
from symreg.recovery.neighbours import EXPLAINED, Parting, explains_as_well, parting
from symreg.recovery.selection import Search, Selection, agreeing_with, rivals_of, select


def select_by_group(samples: Samples, search: Search) -> Selection:
    """Find one form for all groups, and which of its constants they share."""
    config, watch = search.config, search.watch
    parts = group_parts(samples)
    largest = sorted(range(len(parts)), key=lambda g: -len(parts[g].y))[:3]
    if config.form is not None:
        given = fit_form(config.form, parts[largest[0]])
        return _chosen([started(given, parts)], [], samples, config)
    candidates: list[Candidate] = []
    best: list[tuple[Law, ...]] = []
    for k, g in enumerate(largest):
        watch.say(lambda: f"forms of group {len(best) + 1} of {len(largest)}", True)
        share = replace(search, watch=watch.part(1 / (len(largest) - k)))
        own = select(parts[g], share)
        best.append(own.laws)
        candidates += own.candidates
        laws = [started(base, parts) for base in _nameless(best)[:40]]
        selection = _chosen(laws, candidates, samples, config)
        if misfit_of(selection.law, selection.errors.of(samples)) > EXPLAINED:
            break  # it leaves nothing in any group
    return selection


def _nameless(lists: Sequence[Sequence[Law]]) -> list[Law]:
    """The first of each form, without its name: of the lists' first laws, their second, ..."""
    laws = filter(None, chain.from_iterable(zip_longest(*lists)))
    return list(dict.fromkeys(replace(law, name=None, parameters=()) for law in laws))


def _chosen(
    laws: list[GroupedLaw], candidates: list[Candidate], samples: Samples, config: RecoverConfig
) -> Selection:
    """The form, and its shared constants, chosen by the criterion."""
    floor, n = config.floor, samples.n_effective
    grouped = {law.joint(samples): law for law in laws}

    def again(law: Law, under: Samples) -> Law:
        return refit_grouped(grouped[law], under).joint(under)

    errors, joint = errors_of(samples, list(grouped), floor, again, config.errors)
    samples = errors.of(samples)
    joint.sort(key=lambda law: law.criterion(n, floor))
    for each in joint[:6]:
        grouped[each] = refit_grouped(grouped[each], samples)
        for fewer in _sharing(grouped[each], samples, floor):
            law = fewer.joint(samples)
            grouped[law] = fewer
            joint.append(law)
    joint.sort(key=lambda law: law.criterion(n, floor))
    law = preferred(joint, n, floor)
    best = {grouped[law].base: law}
    for each in joint:
        best.setdefault(grouped[each].base, each)
    partings = _partings(law, list(best.values()), grouped, samples)
    laws_in_order, rivals = rivals_of(list(best.values()), n, floor, partings)
    return Selection(
        law=law,
        raw=law,
        agreeing=agreeing_with(
            law, joint, samples, floor, config.seed,
            lambda other: grouped[other].base == grouped[law].base,
        ),
        floor=floor,
        errors=errors,
        candidates=candidates,
        laws=laws_in_order,
        rivals=rivals,
        grouped=grouped[law],
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
        if is_same_law(its, ours, part, True):
            continue
        if (place := parting(ours, its, part)) is not None:
            partings[each] = place
    return partings
