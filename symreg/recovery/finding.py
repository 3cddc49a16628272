"""One pass over samples: selection, evidence, comparison with the references, numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
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
from symreg.fit.uncertainty import constant_intervals, covariance, exponent_intervals
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
from symreg.recovery.evidence import Evidence, evidence_of, misfit_of
from symreg.recovery.problem import Problem
from symreg.recovery.references import Reference, strength_at_one
from symreg.recovery.selection import Search, Selection, select
from symreg.recovery.thresholds import THRESHOLDS

MOST_SEARCHED = 2000
"""Rows that are searched and judged, drawn at random."""
JUDGES = 8
"""Formulas, best first, of which each may say that some rows are outliers."""
COMPARING = 20.0
"""Seconds that sympy may spend on a comparison with a reference."""


@dataclass(frozen=True)
class Finding:
    """A law with the evidence for it: the result of one pass.

    Attributes:
        selection: the law as fitted to the training groups, and what it was selected from.
        law: the same, fitted to all rows.
        reference: the law compared with; None if none was requested and none fits.
        comparison: with it.
        r2_linear: on held-out groups.
        r2_log: of logarithms; None if a target or prediction is not positive.
        intervals: of the law's constants, in order.
        strength: the constant in front of the reference; None unless they match.
        exponents: free exponent of every feature; empty if signs are mixed.
        true_exponents: the reference's on the same rows, if known.
        samples: the rows judged.
        evidence: on rows and ranges outside the fit.
        covariance: (constant, constant) of the law's constants; of many groups (group, constant,
            constant).
        outliers: (row of the samples,) whether it was left out.
        rows: in the law's fit.
    """

    selection: Selection
    law: Law
    reference: Reference | None
    comparison: Comparison
    r2_linear: float
    r2_log: float | None
    intervals: list[Estimate]
    strength: Estimate | None
    exponents: dict[str, Estimate]
    true_exponents: dict[str, float]
    samples: Samples
    evidence: Evidence
    covariance: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    outliers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    rows: int = 0

    @property
    def r2(self) -> float:
        """The better of linear and logarithmic: the largest values rule one."""
        return self.r2_linear if self.r2_log is None else max(self.r2_linear, self.r2_log)


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
    rng = np.random.default_rng([config.seed, 1])
    samples = weighed(problem.samples, config.floor)
    parts, selection, outlying = _selected(
        samples, search, rng, problem.any_law and not problem.screened
    )
    whole, held_out, known = parts.whole, parts.held_out, samples.errors is not None
    r2_linear, r2_log = guard.part(
        "R² of the rows kept aside",
        lambda: _r2(parts.predicted(selection.law), held_out, known), (-np.inf, None),
    )  # fmt: skip
    fitted, law = whole, selection.law
    if config.own_table:
        every = samples if problem.every is None else problem.every
        fitted = guard.part(
            "the fit to all rows", lambda: _every_row(every, outlying, law, parts), whole
        )
    law = guard.part("the fit to all rows", lambda: refit_law(selection.law, fitted), law)
    reference = references[0] if asked and references else None
    comparison = Comparison(DIFFERENT, "no formula predicts the held-out groups.")
    if max(r2_linear, -np.inf if r2_log is None else r2_log) >= THRESHOLDS.least_r2:
        unknown = reference, Comparison(UNDECIDED, "the comparison failed.")
        reference, comparison = guard.part(
            "the comparison", lambda: _compared(law, references, asked, whole), unknown
        )
    # a named law, a reference and a user's form have their constants
    own = law.name or comparison.verdict in MATCHING or config.form or whole.indicators
    if to_read and not own:
        law = guard.part("the shortest way to write it", lambda: _as_read(law, whole), law)
    # every row takes a matrix of all exponents: 20 s for 200 features
    measurable = whole.X.shape[1] <= 50 and guard.part(
        "the exponents", lambda: usable(whole), False
    )
    law, intervals, spread = guard.part(
        "the intervals", lambda: _intervals(law, fitted, parts, selection, known, rng),
        (law, [Estimate(value) for value in law.constants], np.zeros((0, 0))),
    )  # fmt: skip
    exponents = true_exponents = {}
    if measurable:
        exponents = guard.part(
            "the exponents",
            lambda: exponent_intervals(whole, selection.floor, rng)
            if whole.spread is None else orthogonal_exponents(whole, known),
            {},
        )  # fmt: skip
        if reference:
            true_exponents = guard.part("the exponents", lambda: reference.exponents(whole), {})
    return Finding(
        selection=selection,
        law=law,
        reference=reference,
        comparison=comparison,
        r2_linear=r2_linear,
        r2_log=r2_log,
        intervals=intervals,
        strength=guard.part(
            "the strength", lambda: _strength(law, reference, comparison, whole, intervals), None
        ),
        exponents=exponents,
        true_exponents=true_exponents,
        samples=whole,
        evidence=guard.part(
            "what the formula leaves",
            lambda: evidence_of(
                selection.law, parts.training, held_out, whole,
                parts.errors.of(samples) if outlying.any() else None,
                expanded=config.own_table and whole.spread is None and not whole.indicators,
                floor=config.floor,
            ),
            Evidence(np.nan, np.nan, np.nan, np.nan, np.nan, np.nan),
        ),
        covariance=spread,
        outliers=outlying,
        rows=len(fitted.y),
    )  # fmt: skip


def _as_read(law: Law, samples: Samples) -> Law:
    """The same law, whose constants are the numbers that one reads in it."""
    form, constants = recast(law.form, law.constants, samples)
    return replace(law, form=form, constants=tuple(constants))


def _intervals(
    law: Law, fitted: Samples, parts: "Parts", selection: Selection, known: bool,
    rng: np.random.Generator,
) -> tuple[Law, list[Estimate], np.ndarray]:  # fmt: skip
    """The law, fitted by orthogonal distances if features have errors; intervals, covariance."""
    if parts.whole.spread is not None:
        distances = orthogonal(law, parts.whole, known)
        return distances.law, distances.intervals, distances.covariance
    intervals = constant_intervals(law, fitted, selection.floor, rng)
    return law, intervals, covariance(law, fitted, intervals)


def _in_every_group(
    finding: Finding, searched: np.ndarray, samples: Samples, search: Search
) -> Finding:
    """What was found in some groups, with constants, intervals and R² of all."""
    rng = np.random.default_rng([search.config.seed, 4])
    every = every_group(finding.selection, searched, samples, rng)
    outlying = np.zeros(len(samples.y), dtype=bool)
    if finding.outliers.any():
        errors = every.law.residuals(every.samples)
        outlying = missed(errors, every.samples)
        every = every_group(finding.selection, searched, samples.rows(~outlying), rng)
    outside = np.isfinite(every.prediction)
    prediction, held_out = every.prediction[outside], every.samples.rows(outside)
    r2_linear, r2_log = _r2(prediction, held_out, samples.errors is not None)
    ratio = max(finding.evidence.held_out_ratio or 0.0, every.ratio)
    chances = (p for p in (finding.evidence.misfit_p, every.misfit_p) if p is not None)
    misfit_p = min(chances, default=None)
    return replace(
        finding,
        selection=replace(finding.selection, law=every.law, grouped=every.grouped),
        law=every.law,
        r2_linear=r2_linear,
        r2_log=r2_log,
        intervals=every.intervals,
        samples=every.samples,
        evidence=replace(finding.evidence, held_out_ratio=ratio, misfit_p=misfit_p),
        covariance=every.covariance,
        outliers=outlying,
        rows=len(every.samples.y),
    )


def _selected(
    samples: Samples, search: Search, rng: np.random.Generator, any_law: bool
) -> tuple["Parts", Selection, np.ndarray]:
    """One selection without the outlying rows; and which are outliers of what was found."""
    watch = search.watch
    none = np.zeros(len(samples.y), dtype=bool)

    def selected(
        outlying: np.ndarray, watch: Watch, known: Sequence[Candidate] = ()
    ) -> tuple[Parts, Selection]:
        parts = _parts(samples.rows(~outlying), rng)
        choose = select_by_group if samples.indicators else select
        selection = choose(parts.training, replace(search, watch=watch, known=known))
        under = search.guard.part("the errors", lambda: parts.under(selection.errors), parts)
        return under, selection

    # shares of trials are zero by right
    outlying = outlying_rows(samples) if any_law and samples.trials is None else none
    # the other half of the time is for a second search
    parts, selection = selected(outlying, watch.part(0.5) if outlying.any() else watch)
    if not any_law:
        return parts, selection, none

    def judged() -> tuple[Parts, Selection, np.ndarray]:
        return _without_outliers(samples, search, rng, parts, selection, outlying, selected)

    return search.guard.part("outliers", judged, (parts, selection, outlying))


def _without_outliers(
    samples: Samples, search: Search, rng: np.random.Generator, parts: "Parts",
    selection: Selection, outlying: np.ndarray, selected: Callable[..., tuple["Parts", Selection]],
) -> tuple["Parts", Selection, np.ndarray]:  # fmt: skip
    """A first selection, judged: the rows that it misses are searched without, and come back where
    they are part of the law."""
    watch, none = search.watch, np.zeros(len(samples.y), dtype=bool)
    away = _outliers(selection, parts.errors.of(samples))
    first = None if outlying.any() else (parts, selection)
    if np.any(away & ~outlying) and (first or watch.left):
        # what bent to them is no judge of the others, and must be worse with them
        bent, outlying = selection, outlying | away
        parts, selection = selected(outlying, watch, selection.candidates)
        away = _outliers(selection, parts.errors.of(samples), bent)
        if first and not away.any():
            return *first, none
    if not outlying.any():
        return parts, selection, none
    if misfit_of(selection.law, parts.whole) >= THRESHOLDS.misfit_p:
        # rows that the formula explains come back
        whole = parts.errors.of(samples).rows(~away).thinned(MOST_SEARCHED, rng)
        return replace(parts, whole=whole), selection, away
    # without those rows there is no law either: they may be part of it
    return *(first or selected(none, watch)), none


def _outliers(selection: Selection, samples: Samples, other: Selection | None = None) -> np.ndarray:
    """(row,) outliers of the best formulas, beside the choice that includes them."""
    others = [] if other is None else [other]
    if selection.grouped is None:
        laws = [*selection.laws[:JUDGES], *(each.law for each in others)]
        return outliers(laws, samples, selection.floor)
    forms = [*selection.forms[:JUDGES], *(each.forms[0] for each in others)]
    grouped = {law.joint(samples): law for law in forms}

    def again(law: Law, rows: Samples) -> Law:
        return refit_grouped(grouped[law], rows).joint(rows)

    return outliers(list(grouped), samples, selection.floor, again)


def _every_row(samples: Samples, outlying: np.ndarray, law: Law, parts: "Parts") -> Samples:
    """All rows but outliers, for the last fit; only those judged if that is too slow."""
    whole = parts.whole
    if whole.spread is not None or len(samples.y) * len(law.constants) > 20_000_000:
        return whole
    if len(outlying) == len(samples.y):
        samples = samples.rows(~outlying)
    if len(samples.y) <= len(whole.y):
        return whole
    samples = parts.errors.of(samples)
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
    errors: ErrorModel

    def under(self, errors: ErrorModel) -> "Parts":
        """The same with the errors chosen in the search."""
        training, held_out, whole = map(errors.of, (self.training, self.held_out, self.whole))
        return Parts(training, held_out, whole, self.few, errors)

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
    return Parts(training, held_out, samples.thinned(MOST_SEARCHED, rng), samples.few, ErrorModel())


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


def _r2(prediction: np.ndarray, held_out: Samples, weighted: bool) -> tuple[float, float | None]:
    """R², and that of the logarithms; rows count by the standard errors if these were given."""
    if weighted:
        return _weighted_r2(prediction, held_out), None
    return r_squared(prediction, held_out.y), _log_r2(prediction, held_out.y)


def _weighted_r2(prediction: np.ndarray, held_out: Samples) -> float:
    """R² with every row weighted by one over its variance."""
    assert held_out.errors is not None  # for the type checker: asked for such samples only
    weight = held_out.errors**-1.0
    middle = np.sum(weight**2 * held_out.y) / np.sum(weight**2)
    with np.errstate(all="ignore"):
        rest = np.sum((weight * (held_out.y - prediction)) ** 2)
        value = 1 - rest / np.sum((weight * (held_out.y - middle)) ** 2)
    return float(value) if np.isfinite(value) else -np.inf


def _log_r2(prediction: np.ndarray, y: np.ndarray) -> float | None:
    if np.any(y <= 0) or not np.all(prediction > 0):
        return None
    return r_squared(np.log(prediction), np.log(y))


def _compared(
    law: Law, references: Sequence[Reference], asked: bool, samples: Samples
) -> tuple[Reference | None, Comparison]:
    """The reference that compares best, and how."""
    if not references:
        return None, Comparison(DIFFERENT, "there is no reference law in these features.")
    domain = {
        name: (float(column.min()), float(column.max()))
        for name, column in zip(samples.names, samples.X.T, strict=True)
        if np.all(column > 0)
    }
    formula = _tied(law)
    limit = THRESHOLDS.exponent_margin, COMPARING
    answers = [
        (reference, decided(formula, reference.family, samples.names, domain, *limit))
        for reference in references
    ]
    order = [EXACT, UP_TO_SCALE, SAME_EXPONENTS, UNDECIDED, DIFFERENT]
    best = min(answers, key=lambda pair: order.index(pair[1].verdict))
    if not asked and best[1].verdict == DIFFERENT:
        return None, best[1]
    return best


def _tied(law: Law) -> sympy.Expr:
    """The formula for sympy: a named law keeps its parameters as symbols, tied exactly."""
    if law.name is None or not law.parameters:
        return law.expression
    names = {constant_symbol(i + 1): symbol(name) for i, name in enumerate(law.parameters)}
    return law.form.xreplace({constant_symbol(0): sympy.Float(law.constants[0])} | names)


def _strength(
    law: Law,
    reference: Reference | None,
    comparison: Comparison,
    samples: Samples,
    intervals: Sequence[Estimate],
) -> Estimate | None:
    """The reference's strength: the law's constant, in the reference's units."""
    if reference is None or comparison.verdict not in MATCHING or not intervals:
        return None
    first = intervals[0]
    if first.value is None:
        return None
    own = comparison.parameters | dict(zip(law.parameters, law.constants[1:], strict=False))
    unit = strength_at_one(reference, samples, own)
    with np.errstate(all="ignore"):
        factor = float(np.median(law.values(samples) / unit)) / first.value
    if not np.isfinite(factor) or factor == 0:
        return None
    return first.times(factor)
