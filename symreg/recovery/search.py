"""Several seeds of one engine, refined and compared with the named laws: one consensus."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy

from orbits.printing import plural
from orbits.units import Unit
from symreg.engines.base import Budget, Candidate, Engine
from symreg.fit.named_laws import fitted_laws
from symreg.fit.noise import sharp
from symreg.fit.refine import (
    Fitted,
    effective_floor,
    preferred,
    refitted,
    simplified,
    structure,
)
from symreg.fit.samples import Samples
from symreg.formulas.expressions import with_floats
from symreg.formulas.watch import Watch
from symreg.recovery.config import RecoverConfig

if TYPE_CHECKING:
    from symreg.recovery.by_group import GroupedLaw

REFINED = 4
"""Candidates per seed, best first, to simplify."""


@dataclass(frozen=True)
class Outcome:
    """The consensus of several seeds.

    Attributes:
        raw: the engine's best, refitted, nothing snapped; None if it found none.
        agreeing: seeds whose own selection has the same structure.
        unaided: seeds that agree without the named laws and before exponents are snapped, apart
            from exponents that later snap to the law's.
        floor: relative error that bought nothing.
        front: every candidate of every seed, as the engine returned it.
        by_group: the law's constants in every group, if groups have their own.
    """

    law: Fitted
    raw: Fitted | None
    agreeing: int
    seeds: int
    floor: float
    front: list[Candidate]
    unaided: int | None = None
    by_group: "GroupedLaw | None" = None


@dataclass(frozen=True)
class Search:
    """How formulas are searched.

    Attributes:
        config: budget of one search, error that buys nothing, parallel searches (threads: the
            engines work outside Python), first seed, a form if given.
        seeds: number of searches.
        watch: ends the searches, and reports them.
        guesses: formulas weighed beside those found; symbols that are not features are constants to
            fit.
        units: by column and of the target, if known; formulas that cannot match them are dropped.
    """

    engine: Engine
    config: RecoverConfig
    seeds: int
    watch: Watch
    guesses: Sequence[sympy.Expr] = ()
    units: Mapping[str, Unit] | None = None

    def fronts(self, rows: Samples) -> list[list[Candidate]]:
        """The fronts of all seeds, as far as the watch leaves time."""
        config = self.config
        budget = Budget(config.individuals, config.generations, config.max_size, watch=self.watch)
        wanted = range(config.seed, config.seed + self.seeds)
        found = self.engine.search_all(rows.X, rows.y, rows.names, wanted, budget, config.jobs)
        self.watch.say(
            lambda: f"{plural(len(found), 'search')} found {sum(map(len, found))} formulas", True
        )
        return found

    def guessed(self, samples: Samples) -> list[Fitted]:
        """The guesses, their constants fitted from one on."""
        found = []
        for guess in self.guesses:
            free = {s: sympy.Float(1) for s in guess.free_symbols if s.name not in samples.names}
            found.append(refitted(with_floats(guess.xreplace(free)), samples, "guess"))
        return [law for law in found if law is not None]


def search_seeds(samples: Samples, search: Search) -> Outcome:
    """Search with every seed, refine, compare with the named laws, and find the consensus.

    Each seed selects, by the criterion of `symreg.fit.refine`, from its own formulas, the guesses
    and the named laws; the consensus is the structure that most seeds selected.
    """
    fronts = search.fronts(samples.rows(sharp(samples)))
    named = fitted_laws(samples)
    known: dict[str, Fitted | None] = {}
    given = search.guessed(samples)
    loose = [_refit_all(front, samples, known) + given for front in fronts]
    every = [law for laws in (*loose, named) for law in laws]
    floor = effective_floor(every, search.config.floor)
    if not every:
        raise ValueError("no formula can be fitted to these rows: their values are too far apart.")
    n = samples.n_effective
    tidy: dict[tuple[str, bool], Fitted] = {}
    selections, own, unaided = [], [], []
    for laws in loose:
        best = sorted(laws, key=lambda law: law.criterion(n, floor))[:REFINED]
        snapped = [_tidied(law, samples, floor, True, tidy) for law in best]
        plain = [_tidied(law, samples, floor, False, tidy) for law in best]
        own += plain
        if plain:
            chosen = preferred(plain, n, floor)
            unaided.append(snapped[next(i for i, each in enumerate(plain) if each is chosen)])
        selections.append(preferred(merged_by_form([*snapped, *named]), n, floor))
    counts = Counter(structure(law) for law in selections)
    law = min(
        selections,
        key=lambda law: (-counts[structure(law)], law.criterion(n, floor), str(law.form)),
    )
    return Outcome(
        law=law,
        raw=preferred(own, n, floor) if own else None,
        agreeing=counts[structure(law)],
        seeds=len(fronts),
        floor=floor,
        front=[candidate for front in fronts for candidate in front],
        unaided=sum(str(each.form) == str(law.form) for each in unaided),
    )


def _refit_all(
    front: list[Candidate], samples: Samples, known: dict[str, Fitted | None]
) -> list[Fitted]:
    laws = []
    for candidate in front:
        law = refitted(candidate.expression, samples, candidate.engine, candidate.seed)
        if law is None:
            continue
        same = known.get(str(law.form))
        if same is not None and same.mean_square <= law.mean_square:
            law = replace(same, seed=candidate.seed)
        known[str(law.form)] = law
        laws.append(law)
    return laws


def _tidied(
    law: Fitted, samples: Samples, floor: float, snap: bool, done: dict[tuple[str, bool], Fitted]
) -> Fitted:
    key = (str(law.form), snap)
    if key not in done:
        done[key] = simplified(law, samples, floor, snap)
    return replace(done[key], seed=law.seed)


def merged_by_form(laws: list[Fitted]) -> list[Fitted]:
    """The best fit of each form; an engine's formula equal to a named law gets the name."""
    names = {str(law.form): law for law in laws if law.name is not None}
    merged: dict[str, Fitted] = {}
    for law in laws:
        form = str(law.form)
        if form in names and law.name is None:
            named = names[form]
            law = replace(
                law, name=named.name, parameters=named.parameters, nodes=min(law.nodes, named.nodes)
            )
            if named.mean_square < law.mean_square:
                law = replace(
                    law,
                    constants=named.constants,
                    mean_square=named.mean_square,
                    smooth=named.smooth,
                )
        merged.setdefault(form, law)
    return list(merged.values())
