"""Several seeds of one engine, refined and compared with the named laws: one consensus."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy

from orbits.printing import plural
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
        law: selected from the engine's formulas and the named laws.
        raw: the engine's best, refitted, nothing snapped; None if it found none.
        agreeing: seeds whose own selection has the same structure.
        unaided: seeds that agree without the named laws and before exponents are snapped, apart
            from exponents that later snap to the law's.
        seeds: run.
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


def search_seeds(
    engine: Engine,
    samples: Samples,
    config: RecoverConfig,
    seeds: int,
    watch: Watch,
    guesses: Sequence[sympy.Expr] = (),
) -> Outcome:
    """Search with every seed, refine, compare with the named laws, and find the consensus.

    Each seed selects, by the criterion of `symreg.fit.refine`, from its own formulas and the named
    laws; the consensus is the structure that most seeds selected.

    Args:
        engine: that searches.
        samples: to search and fit on.
        config: budget of one search, error that buys nothing, parallel searches (threads: the
            engines work outside Python), first seed.
        seeds: number of searches.
        watch: ends the searches, and reports them.
        guesses: formulas that every seed weighs beside its own; symbols that are not features are
            constants to fit.
    """
    fronts = search_fronts(engine, samples.rows(sharp(samples)), config, seeds, watch)
    named = fitted_laws(samples)
    known: dict[str, Fitted | None] = {}
    given = [law for guess in guesses if (law := guessed(guess, samples)) is not None]
    loose = [_refit_all(front, samples, known) + given for front in fronts]
    every = [law for laws in (*loose, named) for law in laws]
    floor = effective_floor(every, config.floor)
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


def search_fronts(
    engine: Engine, rows: Samples, config: RecoverConfig, seeds: int, watch: Watch
) -> list[list[Candidate]]:
    """The fronts of all seeds, as far as the watch leaves time."""
    budget = Budget(config.individuals, config.generations, config.max_size, watch=watch)
    wanted = range(config.seed, config.seed + seeds)
    fronts = engine.search_all(rows.X, rows.y, rows.names, wanted, budget, config.jobs)
    watch.say(
        lambda: f"{plural(len(fronts), 'search')} found {sum(map(len, fronts))} formulas", True
    )
    return fronts


def guessed(guess: sympy.Expr, samples: Samples) -> Fitted | None:
    """A user's formula, its constants fitted from one on."""
    free = {s: sympy.Float(1) for s in guess.free_symbols if s.name not in samples.names}
    return refitted(with_floats(guess.xreplace(free)), samples, "guess")


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
