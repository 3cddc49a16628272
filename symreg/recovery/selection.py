"""One choice from the pooled formulas of all searches, and its robustness: the only selection.

The engine's candidates, the named laws and the user's guesses are refitted and simplified, and the
neighbours of the best are added. The simplest formula that no other clearly beats is selected;
then the choice is repeated on resampled groups. How often it recurs is its agreement; the weight of
every rival is its share of the posterior.

Source: Kass & Raftery, JASA 90, 773 (1995), eq. 9, for weights from an information criterion.
"""

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import sympy

from orbits.estimates import Estimate
from orbits.printing import plural
from orbits.units import Unit
from symreg.engines.base import Budget, Candidate, Engine, is_final
from symreg.fit.errors import COMPARED, ErrorModel, errors_of
from symreg.fit.expansions import nats_saved
from symreg.fit.form import fit_form
from symreg.fit.grouped import GroupedLaw
from symreg.fit.named_laws import fitted_laws
from symreg.fit.noise import sharp
from symreg.fit.refine import (
    CLEARLY_BETTER,
    Law,
    effective_floor,
    freed,
    in_any_unit,
    is_same_law,
    preferred,
    refit_law,
    refitted,
    simplified,
)
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import with_told_exponents
from symreg.formulas.compare import DIFFERENT, Comparison
from symreg.formulas.config import EXPONENT_MARGIN
from symreg.formulas.expressions import evaluate, skeleton, with_floats, written
from symreg.formulas.precision import FITTED
from symreg.formulas.units import constant_units
from symreg.formulas.watch import Watch
from symreg.recovery.config import RecoverConfig
from symreg.recovery.evidence import Evidence
from symreg.recovery.guard import Guard
from symreg.recovery.neighbours import (
    Parting,
    as_good,
    shortened,
    widened,
    without_lone_part,
)
from symreg.recovery.references import Reference
from symreg.recovery.result import Quantity
from symreg.recovery.rival import Rival

RESAMPLES = 100
"""Draws of groups for the agreement, whose standard error is then 5 % at most."""


LONE = 20
"""Laws of a pool with parts for single rows that are shortened, at most."""


@dataclass(frozen=True)
class Search:
    """How formulas are searched.

    Attributes:
        engine: proposes them.
        config: budget of one search, error that buys nothing, seeds, a form if given.
        watch: ends the searches, and reports them.
        judging: seconds in which the formulas beside the one that is selected are tried.
        guesses: formulas weighed beside those found; symbols that are not features are constants to
            fit.
        units: by column and of the target, if known; formulas that cannot match them are dropped.
        every_group: rows of all groups, if forms are searched in a part of them: these choose.
        guard: of the steps after the searches.
        known: candidates of an earlier search, with other rows.
        reason: why its engine was chosen.
    """

    engine: Engine
    config: RecoverConfig
    watch: Watch
    judging: float = math.inf
    guesses: Sequence[sympy.Expr] = ()
    units: Mapping[str, Unit] | None = None
    every_group: Samples | None = None
    guard: Guard = field(default_factory=Guard)
    known: Sequence[Candidate] = ()
    reason: str = ""

    def candidates(self, rows: Samples) -> list[Candidate]:
        """Those of all seeds, as far as the watch leaves time."""
        config = self.config
        budget = Budget(watch=self.watch, floor=config.floor)
        seeds = range(config.seed, config.seed + config.seeds)
        # two at a time: the result does not depend on it
        fronts = self.engine.search_all(rows.X, rows.y, rows.names, seeds, budget, 2)
        total = sum(map(len, fronts))
        self.watch.say(lambda: f"{plural(len(fronts), 'search')} found {total} formulas", True)
        return [*self.known, *(candidate for front in fronts for candidate in front)]

    def allowed(self, laws: Sequence[Law]) -> list[Law]:
        """Those of the operators that the search is restricted to."""
        return [law for law in laws if self.engine.question.allows(law.expression)]

    def fitting(self, laws: Sequence[Law], samples: Samples) -> list[Law]:
        """Those that some units of their constants make consistent, if the columns have units."""
        return _consistent(laws, samples, self.units) if self.units else [*laws]

    def guessed(self, samples: Samples) -> list[Law]:
        """The guesses, their constants fitted from one on."""
        laws = []
        for guess in self.guesses:
            free = {s: sympy.Float(1) for s in guess.free_symbols if s.name not in samples.names}
            laws.append(refitted(with_floats(guess.xreplace(free)), samples, "guess"))
        return [law for law in laws if law is not None]


@dataclass(frozen=True)
class Finding:
    """A law and all that is known of it: `select` makes it of the rows of a search, and `find`
    fits it to all rows and adds what follows from them.

    Attributes:
        law: as it was fitted last.
        samples: the rows by which it is judged.
        error_floor: relative error that bought nothing.
        errors: what the target's errors were taken for.
        agreeing: of `RESAMPLES` draws of groups, those that select it again.
        raw: the best that an engine proposed, refitted, nothing snapped; None if it proposed none.
        candidates: of every search, as the engine returned them.
        laws: the pool, the selected one first, in the order of `rivals`.
        rivals: the same as text, with their shares of the posterior.
        forms: the law's constants in every group, if groups have their own; then other forms so.
        saved: nats that it saves beside the shortest polynomial, if rows have noise.
        cut_short: whether the search ended at its limit, with families to go or where one more
            term may have paid, and the law is not exact to the last digits.
        untried: whether formulas beside it were left untried at the limit.
        rows_used: in the law's last fit.
        outliers: (row of the table,) whether it was left out.
        intervals: of the law's constants, in order.
        covariance: (constant, constant) of these; of many groups (group, constant, constant).
        r2_linear: on held-out groups.
        r2_log: of logarithms; None if a target or prediction is not positive.
        evidence: on rows and ranges outside the fit.
        reference: the law compared with; None if none was requested and none fits.
        comparison: with it.
        exponents: free exponent of every feature, with the reference's on the same rows for the
            truth; empty if signs are mixed.
        own_exponents: those of a product of powers fitted to the law's own values.
        constant: the reference's strength if they match, else the law's first constant.
        parameters: the law's, with the reference's for the truth.
    """

    law: Law
    samples: Samples
    error_floor: float
    # how it was selected
    errors: ErrorModel = field(default_factory=ErrorModel)
    agreeing: int = 0
    raw: Law | None = None
    candidates: Sequence[Candidate] = ()
    laws: tuple[Law, ...] = ()
    rivals: tuple[Rival, ...] = ()
    forms: tuple[GroupedLaw, ...] = ()
    saved: float | None = None
    cut_short: bool = False
    untried: bool = False
    # its last fit, to all rows
    rows_used: int = 0
    outliers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    intervals: Sequence[Estimate] = ()
    covariance: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    # evidence: rows and ranges outside the fit
    r2_linear: float = -math.inf
    r2_log: float | None = None
    evidence: Evidence = field(default_factory=Evidence)
    # comparison with a reference, and the numbers that may be its
    reference: Reference | None = None
    comparison: Comparison = field(
        default_factory=lambda: Comparison(DIFFERENT, "no formula predicts the held-out groups.")
    )
    exponents: dict[str, Quantity] = field(default_factory=dict)
    own_exponents: dict[str, float] = field(default_factory=dict)
    constant: Quantity = field(default_factory=lambda: Quantity(name="c"))
    parameters: dict[str, Quantity] = field(default_factory=dict)

    @property
    def r2(self) -> float:
        """The better of linear and logarithmic: the largest values rule one."""
        return self.r2_linear if self.r2_log is None else max(self.r2_linear, self.r2_log)

    @property
    def grouped(self) -> GroupedLaw | None:
        """The law's constants in every group, if groups have their own."""
        return self.forms[0] if self.forms else None


def select(samples: Samples, search: Search) -> Finding:
    """Search with every seed and select one formula from all.

    Raises:
        ValueError: if nothing can be fitted to the rows.
    """
    if search.config.form is not None:
        return _form(search.config.form, samples, search)
    candidates, guard = search.candidates(samples.rows(sharp(samples))), search.guard
    laws = guard.part("the fits", lambda: _refitted(candidates, samples, guard), [])
    laws += guard.part("the guesses", lambda: search.guessed(samples), [])
    laws = search.allowed(laws)
    named = search.allowed(guard.part("the named laws", lambda: fitted_laws(samples), []))
    if not laws and not named and candidates and (guard.dropped or guard.unjudged):
        best = min(candidates, key=lambda each: each.loss)
        return unjudged(_as_proposed(best), samples, search, candidates)
    if not laws and not named:
        if operators := search.engine.question.operators:
            raise ValueError(
                f"no formula of the operators {', '.join(operators)} was found; allow more of them."
            )
        raise ValueError("no formula can be fitted to these rows: their values are too far apart.")
    return guard.part(
        "the choice among the formulas",
        lambda: _chosen(candidates, laws, named, samples, search),
        unjudged(min(laws or named, key=lambda law: law.mean_square), samples, search, candidates),
    )


def _as_proposed(candidate: Candidate) -> Law:
    """A candidate with the numbers that its engine gave it."""
    form, constants = skeleton(candidate.expression)
    return Law(
        form, tuple(constants), candidate.loss, 0.0, candidate.complexity, candidate.engine,
        candidate.seed,
    )  # fmt: skip


def unjudged(
    law: Law, samples: Samples, search: Search, candidates: Sequence[Candidate] = ()
) -> Finding:
    """A law alone, of which nothing else could be computed."""
    alone = (Rival(str(law.expression), 1.0, law.nodes),)
    floor = search.config.floor
    return Finding(law, samples, floor, candidates=candidates, laws=(law,), rivals=alone)


def _chosen(
    candidates: Sequence[Candidate], laws: list[Law], named: list[Law], samples: Samples,
    search: Search,
) -> Finding:  # fmt: skip
    """One formula of all, and its robustness."""
    config, guard = search.config, search.guard
    if not (consistent := search.fitting(laws, samples)):
        # the units may be wrong: better a formula without, and a note, than none
        search = replace(search, units=None)
    laws, named = consistent or laws, search.fitting(named, samples)
    floor = effective_floor([*laws, *named], config.floor)
    errors, laws = errors_of(samples, laws, floor, noise=config.errors)
    samples, n = errors.of(samples), samples.n_effective
    best = sorted(laws, key=lambda law: law.criterion(n, floor))[:20]
    own = [simplified(law, samples, floor, snap=False) for law in best[:2]]
    judging = Watch(search.judging)
    pool = _pool(best, [*laws, *(refit_law(law, samples) for law in named)], samples, floor, search,
                 judging)  # fmt: skip
    pool.sort(key=lambda law: law.criterion(n, floor))
    law, pool = for_many_rows(pool, samples, floor, shortened)
    ended = search.watch.ended and last_term_pays(law, pool, n, floor)
    partings: dict[Law, Parting] = {}
    if not floor:
        rest = pool[:200]
        partings = guard.part("formulas as good", lambda: as_good(law, rest, samples), partings)
    selected, wider = law, pool[: 2 * COMPARED]
    if errors.kind.noise:
        law = freed(law, samples)
    pool = pool[:COMPARED]
    unlike = [
        each
        for each in _unlike(law, pool, samples)
        if each is not selected and not is_same_law(each, law, samples)
    ]
    agreeing = guard.part(
        "the choice in resamples",
        lambda: agreeing_with(pool, samples, floor, config.seed, alike(law, selected, samples)), 0,
    )  # fmt: skip
    if errors.kind.noise and (partings or agreeing < RESAMPLES):
        agreeing, partings = guard.part(
            "the choice in other units",
            lambda: in_other_units(selected, wider, samples, config.seed, agreeing, partings),
            (agreeing, partings),
        )  # fmt: skip
    # the share is that of what was selected: the numbers freed since are for their intervals
    ranked, rivals = rivals_of([selected, *dict.fromkeys([*unlike, *partings])], n, floor, partings)
    saved = None
    if not floor and errors.kind.noise:
        saved = guard.part("the shortest polynomial", lambda: nats_saved(selected, samples), None)
    return Finding(
        law, samples, floor, errors, agreeing,
        raw=preferred(own, n, floor) if own else None,
        candidates=candidates,
        laws=(law, *ranked[1:]),
        rivals=rivals,
        saved=saved,
        cut_short=(ended or search.engine.cut_short) and not is_final(
            law.expression, samples.X, samples.y, samples.names
        ),
        untried=judging.ended,
    )  # fmt: skip


def _pool(
    best: Sequence[Law], others: Sequence[Law], samples: Samples, floor: float, search: Search,
    judging: Watch,
) -> list[Law]:  # fmt: skip
    """What is chosen from: the best simplified, the others, their neighbours; each form once."""
    simple = search.allowed([simplified(law, samples, floor) for law in best])
    pool = merged_by_form([*search.fitting(simple, samples), *others])
    if not floor:
        # within a field's own error neighbours cannot be told apart
        wider = search.guard.part(
            "the formulas beside it",
            lambda: widened(pool, samples, floor, search.allowed, watch=judging), pool,
        )  # fmt: skip
        pool = merged_by_form(wider)
    pool = search.fitting(pool, samples)
    if floor < search.config.floor:
        exact = search.guard.part(
            "the exponents", lambda: with_told_exponents(pool, samples, floor), pool
        )  # fmt: skip
        pool = merged_by_form(exact)
    return pool


def _form(text: str, samples: Samples, search: Search) -> Finding:
    """A user's form in place of a search."""
    config, fitted = search.config, fit_form(text, samples)

    def judged() -> Finding:
        errors, (law,) = errors_of(samples, [fitted], config.floor, noise=config.errors)
        laws, rivals = rivals_of([law], samples.n_effective, config.floor, {})
        return Finding(law, samples, config.floor, errors, RESAMPLES, laws=laws, rivals=rivals)

    return search.guard.part("the errors", judged, unjudged(fitted, samples, search))


def _consistent(laws: Sequence[Law], samples: Samples, units: Mapping[str, Unit]) -> list[Law]:
    """Those that some units of their constants make consistent, exact numbers freed if need be.

    The 2 of 2·v_y is a number of a table without units, and a frequency of one with them; the 1 of
    x + 1 is a length there, and so is that of exp(-x).
    """

    def ways(law: Law) -> Iterator[Law]:
        yield law
        yield freed(law, samples)
        yield freed(law, samples, ones=True)

    fits = partial(units_of, samples=samples, units=units)
    every = (next((way for way in ways(law) if fits(way) is not None), None) for law in laws)
    return [law for law in every if law is not None]


def units_of(law: Law, samples: Samples, units: Mapping[str, Unit]) -> dict[str, Unit] | None:
    """Units of a law's constants, by symbol; None if no units are consistent with the columns'."""
    with contextlib.suppress(ValueError):
        return constant_units(law.form, units, units[samples.target])
    return None


def _refitted(candidates: Sequence[Candidate], samples: Samples, guard: Guard) -> list[Law]:
    """Every formula once, the searches' best first."""
    laws: dict[str, Law] = {}
    distinct: dict[sympy.Expr, Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.loss):
        distinct.setdefault(candidate.expression, candidate)

    def refit(each: Candidate) -> Law | None:
        return refitted(each.expression, samples, each.engine, each.seed)

    for law in guard.each("their fit", refit, distinct.values()):
        if law is None:
            continue
        same = laws.get(law.key)
        if same is None or law.mean_square < same.mean_square:
            laws[law.key] = law
    return list(laws.values())


def merged_by_form(laws: Sequence[Law]) -> list[Law]:
    """The best fit of each form; an engine's formula equal to a named law gets the name."""
    best: dict[str, Law] = {}
    names: dict[str, Law] = {}
    for law in laws:
        if law.key not in best or law.mean_square < best[law.key].mean_square:
            best[law.key] = law
        if law.name is not None:
            names.setdefault(law.key, law)
    return [
        law if (of := names.get(key)) is None else replace(
            law, name=of.name, parameters=of.parameters, nodes=min(law.nodes, of.nodes)
        )
        for key, law in best.items()
    ]  # fmt: skip


def for_many_rows(
    pool: Sequence[Law], samples: Samples, floor: float,
    shorter: Callable[[Law, Samples], Iterable[Law]],
    refit: Callable[[Law, Samples], Law] = refit_law,
) -> tuple[Law, list[Law]]:  # fmt: skip
    """The preferred law of a sorted pool, no part of which is for a single group of rows, and the
    pool with the shorter form of each law that has one in its place."""
    pool, n = list(pool), samples.n_effective
    law = preferred(pool, n, floor)
    for _ in range(0 if floor else LONE):
        short = without_lone_part(law, shorter(law, samples), samples, floor, refit)
        if short is None:
            break
        pool = [each for each in pool if each not in (law, short)] + [short]
        pool.sort(key=lambda law: law.criterion(n, floor))
        law = preferred(pool, n, floor)
    return law, pool


def agreeing_with(
    pool: Sequence[Law], samples: Samples, floor: float, seed: int, same: Callable[[Law], bool]
) -> int:
    """Of `RESAMPLES` draws of groups, those that select the same law.

    Args:
        pool: that it was selected from.
        samples: the rows.
        floor: relative error that buys nothing.
        seed: of the draws.
        same: whether a law of the pool is the same.
    """
    pool = sorted(pool, key=lambda each: each.key)  # who comes first of equals, as in `preferred`
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
        costs = [(each.criterion(n, floor), each.length(n)) for each in drawn]
        chosen[costs.index(min(costs))] += 1
    return sum(times for k, times in chosen.items() if same(pool[k]))


def in_other_units(
    law: Law, pool: Sequence[Law], samples: Samples, seed: int, agreeing: int,
    partings: dict[Law, Parting],
) -> tuple[int, dict[Law, Parting]]:  # fmt: skip
    """The votes for a law and its rivals, in the table's units or any other, whichever are for it.

    In its own units some number may be one by chance, as in sin(1/v) beside 1/v, and cost nothing.
    Of a law that is also the best where every number has one price, what is said there counts too.
    """
    free = {each: in_any_unit(each, samples) for each in (*pool, *partings)}
    best = preferred([*free.values()], samples.n_effective, 0.0)
    if not is_same_law(best, law, samples):
        return agreeing, partings
    forms = [*dict.fromkeys(free.values())]
    votes = agreeing_with(forms, samples, 0.0, seed, alike(best, best, samples))
    others = as_good(best, [free[each] for each in partings], samples)
    return max(agreeing, votes), {each: p for each, p in partings.items() if free[each] in others}


def alike(law: Law, selected: Law, samples: Samples) -> Callable[[Law], bool]:
    """Whether a formula of the pool is the law, or has it as a special case, as every law is one
    of a longer one: `as_good` counts neither as another.

    So is what was selected, however far its exponents move as the law's numbers are freed.
    """

    def holds(other: Law) -> bool:
        pairs = ((law, other), (other, law))
        return any(is_same_law(*pair, samples, EXPONENT_MARGIN) for pair in pairs)

    return lambda other: other is selected or holds(other)


def last_term_pays(law: Law, pool: Sequence[Law], n: int, floor: float) -> bool:
    """Whether a sum beats every shorter one clearly, and no longer one was tried: so may the next
    term."""

    def terms(each: Law) -> int:
        return max((len(node.args) for node in each.form.atoms(sympy.Add)), default=1)

    own, least = terms(law), law.criterion(n, floor) + CLEARLY_BETTER
    others = [each for each in pool if each != law]
    return own > 2 and all(
        terms(each) <= own and (terms(each) == own or each.criterion(n, floor) > least)
        for each in others
    )


def _unlike(law: Law, pool: Sequence[Law], samples: Samples) -> list[Law]:
    """The formulas that differ: not the law plus a term of rounding size."""
    ours = law.values(samples)
    return [
        each
        for each in pool
        if each != law and not np.allclose(each.values(samples), ours, rtol=FITTED, atol=0.0)
    ]


def rivals_of(
    laws: Sequence[Law], n: int, floor: float, partings: Mapping[Law, Parting],
    text: Callable[[Law], str] = lambda law: written(law.expression),
) -> tuple[tuple[Law, ...], tuple[Rival, ...]]:  # fmt: skip
    """The selected formula, those as good, and the others, each by its share of the posterior.

    Args:
        laws: the selected one, and others.
        n: rows that count.
        floor: relative error that no formula need explain.
        partings: where those as good depart from it.
        text: of a law.

    Returns:
        The laws in that order, and the same as text.
    """
    criteria = np.array([each.criterion(n, floor) for each in laws])
    shares = np.exp(-(criteria - criteria.min()) / 2)
    shares /= shares.sum()
    order = sorted(
        range(len(laws)), key=lambda i: (i != 0, laws[i] not in partings, -float(shares[i]))
    )
    rivals = []
    for i in order:
        parting = partings.get(laws[i])
        rivals.append(
            Rival(
                text(laws[i]), float(shares[i]), laws[i].nodes, parting is not None,
                parting.at if parting else {}, parting.difference if parting else None,
            )
        )  # fmt: skip
    return tuple(laws[i] for i in order), tuple(rivals)
