"""One pass over samples: selection, last fit, comparison with the references, numbers, evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import sympy

from orbits.estimates import Estimate
from orbits.statistics import r_squared
from symreg.engines.base import Candidate
from symreg.engines.pysr import read_hall_of_fame
from symreg.fit.errors import ErrorModel
from symreg.fit.grouped import refit_grouped
from symreg.fit.monomial import usable
from symreg.fit.noise import weighed
from symreg.fit.orthogonal import orthogonal, orthogonal_exponents
from symreg.fit.outliers import missed, outliers, outlying_rows
from symreg.fit.refine import Law, refit_law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import (
    constant_intervals,
    covariance,
    exponent_intervals,
    mean_exponents,
)
from symreg.formulas.compare import (
    DIFFERENT,
    EXACT,
    MATCHING,
    SAME_EXPONENTS,
    UNDECIDED,
    UP_TO_SCALE,
    Comparison,
    decided,
)
from symreg.formulas.expressions import constant_symbol, symbol
from symreg.formulas.reading import read_formula
from symreg.formulas.watch import Watch
from symreg.formulas.written import recast
from symreg.recovery.by_group import every_group, of_groups, searched_groups, select_by_group
from symreg.recovery.evidence import evidence_of, misfit_of
from symreg.recovery.problem import Problem
from symreg.recovery.references import Reference, strength_at_one
from symreg.recovery.result import Quantity
from symreg.recovery.selection import Finding, Search, select
from symreg.recovery.thresholds import THRESHOLDS

MOST_SEARCHED = 2000
"""Rows that are searched and judged, drawn at random."""
JUDGES = 8
"""Formulas, best first, of which each may say that some rows are outliers."""
COMPARING = 20.0
"""Seconds that sympy may spend on a comparison with a reference."""


def find(problem: Problem, search: Search, to_read: bool = True) -> Finding:
    """Find a law in samples and compare it; if it is `to_read`, its constants are the numbers that
    one reads in it."""
    if problem.samples.indicators:
        searched = searched_groups(problem.samples)
        if len(searched) < problem.samples.indicators:
            part = replace(problem, samples=of_groups(problem.samples, searched))
            every = weighed(problem.samples, search.config.floor)
            finding = find(part, replace(search, every_group=every), to_read)
            return search.guard.part(
                "the constants of the other groups",
                lambda: _in_every_group(finding, searched, every, search), finding,
            )  # fmt: skip
    config, references, asked = search.config, problem.references, problem.asked
    guard = search.guard
    if asked:  # it is tried, as the laws with a name are
        search = replace(search, guesses=[*search.guesses, *(each.family for each in references)])
    rng = np.random.default_rng([config.seed, 1])
    samples = weighed(problem.samples, config.floor)
    parts, found = _selected(samples, search, rng, problem.any_law and not problem.screened)
    selected, whole, known = found.law, parts.whole, samples.errors is not None
    found = replace(found, samples=whole, reference=references[0] if asked and references else None)
    found = guard.part(
        "R² of the rows kept aside",
        lambda: _with_r2(found, parts.predicted(selected), parts.held_out, known), found,
    )  # fmt: skip
    fitted = whole
    if config.own_table:
        every = samples if problem.every is None else problem.every
        fitted = guard.part("the fit to all rows", lambda: _every_row(every, found), whole)
    law = guard.part("the fit to all rows", lambda: refit_law(selected, fitted), selected)
    found = replace(found, law=law, rows_used=len(fitted.y))
    if found.r2 >= THRESHOLDS.least_r2:
        unknown = replace(found, comparison=Comparison(UNDECIDED, "the comparison failed."))
        found = guard.part("the comparison", lambda: _compared(found, references, asked), unknown)
    # a named law, a reference and a user's form have their constants
    own = law.name or found.comparison.verdict in MATCHING or config.form or whole.indicators
    if to_read and not own:
        found = guard.part("the shortest way to write it", lambda: _as_read(found), found)
    unknown = replace(found, intervals=[Estimate(value) for value in found.law.constants])
    found = guard.part("the intervals", lambda: _with_intervals(found, fitted, known, rng), unknown)
    found = guard.part("the exponents", lambda: _with_exponents(found, known, rng), found)
    constant = guard.part("the strength", lambda: _constant(found), found.constant)
    parameters = guard.part("the parameters", lambda: _parameters(found), {})
    evidence = guard.part(
        "what the formula leaves",
        lambda: evidence_of(
            selected, parts.training, parts.held_out, whole,
            found.errors.of(samples) if found.outliers.any() else None,
            expanded=config.own_table and whole.spread is None and not whole.indicators,
            floor=config.floor,
        ),
        found.evidence,
    )  # fmt: skip
    beyond = guard.part("the law in the motion", lambda: problem.beyond(selected), None)
    known_chances = [p for p in (evidence.misfit_p, beyond) if p is not None]
    evidence = replace(evidence, misfit_p=min(known_chances, default=None))
    return replace(found, constant=constant, parameters=parameters, evidence=evidence)


def _as_read(found: Finding) -> Finding:
    """The same law, whose constants are the numbers that one reads in it."""
    form, constants = recast(found.law.form, found.law.constants, found.samples)
    return replace(found, law=replace(found.law, form=form, constants=tuple(constants)))


def _with_intervals(
    found: Finding, fitted: Samples, known: bool, rng: np.random.Generator
) -> Finding:
    """Its constants' intervals; fitted by orthogonal distances if features have errors."""
    law = found.law
    if found.samples.spread is not None:
        return replace(found, **vars(orthogonal(law, found.samples, known)))
    intervals = constant_intervals(law, fitted, found.error_floor, rng)
    return replace(found, intervals=intervals, covariance=covariance(law, fitted, intervals))


def _with_exponents(found: Finding, known: bool, rng: np.random.Generator) -> Finding:
    """Its features' free exponents, and the reference's on the same rows, if they have any."""
    samples, reference = found.samples, found.reference
    # every row takes a matrix of all exponents: 20 s for 200 features
    if samples.X.shape[1] > 50 or not usable(samples):
        return found
    if samples.spread is None:
        exponents = exponent_intervals(samples, found.error_floor, rng)
    else:
        exponents = orthogonal_exponents(samples, known)
    truths = reference.exponents(samples) if reference else {}
    named = {name: Quantity.named(name, exponents[name], truths.get(name)) for name in exponents}
    own = mean_exponents(found.law, samples) if samples.spread is None else {}
    return replace(found, exponents=named, own_exponents=own)


def _in_every_group(
    first: Finding, searched: np.ndarray, samples: Samples, search: Search
) -> Finding:
    """What was found in some groups, with constants, intervals and R² of all."""
    rng = np.random.default_rng([search.config.seed, 4])
    found, prediction = every_group(first, searched, samples, rng)
    outlying = np.zeros(len(samples.y), dtype=bool)
    if first.outliers.any():
        outlying = missed(found.law.residuals(found.samples), found.samples)
        found, prediction = every_group(first, searched, samples.rows(~outlying), rng)
    outside, known = np.isfinite(prediction), samples.errors is not None
    found = _with_r2(found, prediction[outside], found.samples.rows(outside), known)
    return replace(found, outliers=outlying, constant=_constant(found))


def _selected(
    samples: Samples, search: Search, rng: np.random.Generator, any_law: bool
) -> tuple["Parts", Finding]:
    """One selection without the outlying rows; these are outliers of what was found."""
    watch, guard = search.watch, search.guard

    def selected(
        outlying: np.ndarray, watch: Watch, known: Sequence[Candidate] = ()
    ) -> tuple[Parts, Finding]:
        parts = _parts(samples.rows(~outlying), rng)
        choose = select_by_group if samples.indicators else select
        found = choose(parts.training, replace(search, watch=watch, known=known))
        under = guard.part("the errors", lambda: parts.under(found.errors), parts)
        return under, replace(found, outliers=outlying)

    outlying = np.zeros(len(samples.y), dtype=bool)
    if any_law and samples.trials is None:  # shares of trials are zero by right
        outlying = outlying_rows(samples)
    # the other half of the time is for a second search
    first = selected(outlying, watch.part(0.5) if outlying.any() else watch)
    if not any_law:
        return first
    return guard.part(
        "outliers", lambda: _without_outliers(samples, watch, rng, *first, selected), first
    )


def _without_outliers(
    samples: Samples, watch: Watch, rng: np.random.Generator, parts: "Parts", found: Finding,
    selected: Callable[..., tuple["Parts", Finding]],
) -> tuple["Parts", Finding]:  # fmt: skip
    """A first selection, judged: the rows that it misses are searched without, and come back where
    they are part of the law."""
    outlying = found.outliers
    away = _outliers(found, found.errors.of(samples))
    first = None if outlying.any() else (parts, found)
    if np.any(away & ~outlying) and (first or watch.left):
        # what bent to them is no judge of the others, and must be worse with them
        bent, outlying = found, outlying | away
        parts, found = selected(outlying, watch, found.candidates)
        away = _outliers(found, found.errors.of(samples), bent)
        if first and not away.any():
            return first
    if not outlying.any():
        return parts, found
    if misfit_of(found.law, parts.whole) >= THRESHOLDS.misfit_p:
        # rows that the formula explains come back
        whole = found.errors.of(samples).rows(~away).thinned(MOST_SEARCHED, rng)
        return replace(parts, whole=whole), replace(found, outliers=away)
    # without those rows there is no law either: they may be part of it
    return first or selected(np.zeros_like(outlying), watch)


def _outliers(found: Finding, samples: Samples, other: Finding | None = None) -> np.ndarray:
    """(row,) outliers of the best formulas, beside the choice that includes them."""
    others = [] if other is None else [other]
    if found.grouped is None:
        laws = [*found.laws[:JUDGES], *(each.law for each in others)]
        return outliers(laws, samples, found.error_floor)
    forms = [*found.forms[:JUDGES], *(each.forms[0] for each in others)]
    grouped = {law.joint(samples): law for law in forms}

    def again(law: Law, rows: Samples) -> Law:
        return refit_grouped(grouped[law], rows).joint(rows)

    return outliers(list(grouped), samples, found.error_floor, again)


def _every_row(samples: Samples, found: Finding) -> Samples:
    """All rows but outliers, for the last fit; only those judged if that is too slow."""
    whole, law, outlying = found.samples, found.law, found.outliers
    if whole.spread is not None or len(samples.y) * len(law.constants) > 20_000_000:
        return whole
    if len(outlying) == len(samples.y):
        samples = samples.rows(~outlying)
    if len(samples.y) <= len(whole.y):
        return whole
    samples = found.errors.of(samples)
    if len(outlying) != len(samples.y) and outlying.any():
        samples = samples.rows(~missed(law.residuals(samples), samples))
    return samples


@dataclass(frozen=True)
class Parts:
    """Samples to search, others to test, all of them, and whether too few to split."""

    training: Samples
    held_out: Samples
    whole: Samples
    few: bool

    def under(self, errors: ErrorModel) -> "Parts":
        """The same with the errors chosen in the search."""
        training, held_out, whole = map(errors.of, (self.training, self.held_out, self.whole))
        return Parts(training, held_out, whole, self.few)

    def predicted(self, law: Law) -> np.ndarray:
        """(held-out row,) by the formula, or if few each by the formula fitted to others."""
        if not self.few:
            return law.values(self.held_out)
        rows = np.arange(len(self.training.y))
        others = (refit_law(law, self.training.rows(rows != i)) for i in rows)
        each = (self.training.rows(rows == i) for i in rows)
        return np.concatenate([law.values(row) for law, row in zip(others, each, strict=True)])


def _parts(samples: Samples, rng: np.random.Generator) -> Parts:
    samples = replace(samples, signed=not samples.logarithmic)
    training, held_out = samples.split(0.2, rng)
    # few rows are all searched; each is predicted by the formula fitted to the others
    if samples.few:
        training = held_out = samples
    training, held_out = (part.thinned(MOST_SEARCHED, rng) for part in (training, held_out))
    return Parts(training, held_out, samples.thinned(MOST_SEARCHED, rng), samples.few)


def read_guesses(texts: Sequence[str], names: Sequence[str]) -> list[sympy.Expr]:
    """Formulas to start from: each text is one, or the path of a PySR hall of fame.

    Raises:
        ValueError: if a text is neither, or a hall of fame is another table's.
    """
    guesses = []
    for text in texts:
        if text.endswith(".csv"):
            guesses += read_hall_of_fame(Path(text), names)
        else:
            guesses.append(read_formula(text))
    return guesses


def _with_r2(found: Finding, prediction: np.ndarray, held_out: Samples, known: bool) -> Finding:
    """With R², and that of the logarithms; rows count by their errors if these are known."""
    y, log = held_out.y, None
    if known:
        return replace(found, r2_linear=_weighted_r2(prediction, held_out), r2_log=None)
    if np.all(y > 0) and np.all(prediction > 0):
        log = r_squared(np.log(prediction), np.log(y))
    return replace(found, r2_linear=r_squared(prediction, y), r2_log=log)


def _weighted_r2(prediction: np.ndarray, held_out: Samples) -> float:
    """R² with every row weighted by one over its variance."""
    assert held_out.errors is not None  # for the type checker: asked for such samples only
    weights, y = held_out.errors**-2.0, held_out.y
    spread = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
    value = 1 - np.sum(weights * (y - prediction) ** 2) / spread
    return float(value) if np.isfinite(value) else -np.inf


def _compared(found: Finding, references: Sequence[Reference], asked: bool) -> Finding:
    """With the reference that compares best, and how."""
    if not references:
        none = Comparison(DIFFERENT, "there is no reference law in these features.")
        return replace(found, reference=None, comparison=none)
    samples = found.samples
    domain = {name: ends for name, ends in samples.ranges.items() if ends[0] > 0}
    formula = _tied(found.law)
    limit = THRESHOLDS.exponent_margin, COMPARING
    answers = [
        (reference, decided(formula, reference.family, samples.names, domain, *limit))
        for reference in references
    ]
    order = [EXACT, UP_TO_SCALE, SAME_EXPONENTS, UNDECIDED, DIFFERENT]
    reference, comparison = min(answers, key=lambda pair: order.index(pair[1].verdict))
    fits = asked or comparison.verdict != DIFFERENT
    return replace(found, reference=reference if fits else None, comparison=comparison)


def _tied(law: Law) -> sympy.Expr:
    """The formula for sympy: a named law keeps its parameters as symbols, tied exactly."""
    if law.name is None or not law.parameters:
        return law.expression
    names = {constant_symbol(i + 1): symbol(name) for i, name in enumerate(law.parameters)}
    return law.form.xreplace({constant_symbol(0): sympy.Float(law.constants[0])} | names)


def _constant(found: Finding) -> Quantity:
    """The constant in front: the reference's strength, in its units, or the law's own first one."""
    law, reference, comparison = found.law, found.reference, found.comparison
    first = found.intervals[0] if found.intervals else Estimate()
    own = Quantity.named("c", first, None)
    if reference is None or comparison.verdict not in MATCHING:
        return own
    # a law without fitted numbers, such as gm/r², has one in front
    first = first if first.value is not None else Estimate(1.0)
    assert first.value is not None  # for the type checker
    known = comparison.parameters | dict(zip(law.parameters, law.constants[1:], strict=False))
    unit = strength_at_one(reference, found.samples, known)
    factor = float(np.median(law.values(found.samples) / unit)) / first.value
    if not np.isfinite(factor) or factor == 0:
        return own
    return Quantity.named(reference.strength, first.times(factor), reference.truth)


def _parameters(found: Finding) -> dict[str, Quantity]:
    """The law's parameters, with intervals and, for the reference, the truth."""
    law, reference = found.law, found.reference
    truths = reference.parameters if reference and reference.law == law.name else {}
    return {
        name: Quantity.named(name, interval, truths.get(name))
        for name, interval in zip(law.parameters, found.intervals[1:], strict=False)
    }
