"""One pass over samples: search, consensus, verdict against the references, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import sympy

from orbits.estimates import Estimate
from orbits.statistics import r_squared
from symreg.engines.pysr import read_hall_of_fame
from symreg.fit.monomial import usable
from symreg.fit.noise import robust_spread, weighed
from symreg.fit.orthogonal import orthogonal, orthogonal_exponents
from symreg.fit.refine import Fitted, refit_law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import (
    constant_intervals,
    covariance,
    exponent_intervals,
)
from symreg.fit.wild import FAR, standing_out, wild_rows
from symreg.formulas.compare import (
    DIFFERENT,
    EXACT,
    MATCHING,
    SAME_EXPONENTS,
    UNDECIDED,
    UP_TO_SCALE,
    Comparison,
    compare,
)
from symreg.formulas.expressions import constant_symbol, symbol
from symreg.formulas.reading import read_formula
from symreg.formulas.watch import Watch
from symreg.recovery.by_group import search_by_group
from symreg.recovery.config import RecoverConfig
from symreg.recovery.discovery import Evidence, evidence_of, misfit_of
from symreg.recovery.pool import ErrorModel, Rival, search_pool
from symreg.recovery.problem import Problem
from symreg.recovery.references import Reference, strength_at_one
from symreg.recovery.search import Outcome, Search, search_seeds
from symreg.recovery.thresholds import THRESHOLDS

MOST_FITTED = 20_000_000
"""Rows times constants in the last fit."""
ONE_BY_ONE = 50
"""With fewer rows all are searched; each is predicted by the formula fitted to the others."""
MOST_EXPONENTS = 50
"""Features with a free exponent each: every row takes a matrix of all, 20 s for 200 features."""
NOTHING_FOUND = Comparison(DIFFERENT, "no formula predicts the held-out groups.")
NO_REFERENCE = Comparison(DIFFERENT, "there is no reference law in these features.")


@dataclass(frozen=True)
class Finding:
    """The result of one pass.

    Attributes:
        outcome: consensus of the seeds, fitted to the training groups.
        law: the selected formula, fitted to all rows.
        reference: the law compared with; None if none was requested and none fits.
        r2_log: of logarithms; None if a target or prediction is not positive.
        intervals: of the law's constants, in order.
        strength: the constant in front of the reference; None unless the verdict is `MATCHING`.
        exponents: free exponent of every feature; empty if signs are mixed.
        true_exponents: the reference's on the same rows, if known.
        samples: the rows judged.
        evidence: on rows and ranges outside the fit.
        rivals: other formulas in the pool; none if each search chose for itself.
        covariance: (constant, constant) of the law's constants.
        wild: (row of the samples,) whether it was left out.
        rows: in the law's fit.
    """

    outcome: Outcome
    law: Fitted
    reference: Reference | None
    verdict: Comparison
    r2_linear: float
    r2_log: float | None
    intervals: list[Estimate]
    strength: Estimate | None
    exponents: dict[str, Estimate]
    true_exponents: dict[str, float]
    samples: Samples
    evidence: Evidence
    rivals: tuple[Rival, ...] = ()
    covariance: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    wild: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    rows: int = 0

    @property
    def r2(self) -> float:
        """The better of linear and logarithmic: the largest values rule one."""
        return self.r2_linear if self.r2_log is None else max(self.r2_linear, self.r2_log)


def find(problem: Problem, search: Search) -> Finding:
    """Find a law in samples and compare it.

    For any law, one choice is made from the pool of all formulas.
    """
    config, every = search.config, problem.every
    references, asked = problem.references, problem.asked
    rng = np.random.default_rng([config.seed, 1])
    samples = weighed(problem.samples, config.floor)
    wild = np.zeros(len(samples.y), dtype=bool)
    if problem.any_law:
        parts, outcome, rivals, wild = _any_law(samples, search, rng)
    else:
        parts, rivals = _parts(samples, config, rng, any_law=False), ()
        outcome = search_seeds(parts.training, search)
    whole, held_out = parts.whole, parts.held_out
    prediction = parts.predicted(outcome.law)
    r2_linear, r2_log = r_squared(prediction, held_out.y), _log_r2(prediction, held_out.y)
    fitted = whole
    if config.own_table:
        fitted = _every_row(samples if every is None else every, wild, outcome.law, parts)
    law = refit_law(outcome.law, fitted)
    reference, verdict = references[0] if asked and references else None, NOTHING_FOUND
    if max(r2_linear, -np.inf if r2_log is None else r2_log) >= THRESHOLDS.least_r2:
        reference, verdict = _verdict(law, references, asked, whole, config)
    measurable = usable(whole) and whole.X.shape[1] <= MOST_EXPONENTS
    if whole.spread is None:
        intervals = constant_intervals(law, fitted, outcome.floor, rng)
        spread = covariance(law, fitted, intervals)
        exponents = exponent_intervals(whole, outcome.floor, rng) if measurable else {}
    else:
        known = samples.errors is not None
        found = orthogonal(law, whole, known)
        law, intervals, spread = found.law, found.intervals, found.covariance
        exponents = orthogonal_exponents(whole, known) if measurable else {}
    strength = _strength(law, reference, verdict, whole, intervals)
    return Finding(
        outcome=outcome,
        law=law,
        reference=reference,
        verdict=verdict,
        r2_linear=r2_linear,
        r2_log=r2_log,
        intervals=intervals,
        strength=strength,
        exponents=exponents,
        true_exponents=reference.exponents(whole) if measurable and reference else {},
        samples=whole,
        evidence=evidence_of(outcome.law, parts.training, held_out, whole),
        covariance=spread,
        wild=wild,
        rivals=rivals,
        rows=len(fitted.y),
    )


def _any_law(
    samples: Samples, search: Search, rng: np.random.Generator
) -> tuple["Parts", Outcome, tuple[Rival, ...], np.ndarray]:
    """One choice from the pool, without outlying rows; and which of these are wild."""
    config, watch = search.config, search.watch

    def searched(aside: np.ndarray, watch: Watch) -> tuple[Parts, Outcome, tuple[Rival, ...]]:
        parts = _parts(samples.rows(~aside), config, rng, True)
        choose = search_by_group if samples.indicators else search_pool
        outcome, errors, rivals = choose(parts.training, replace(search, watch=watch))
        return parts.under(errors), outcome, rivals

    aside = standing_out(samples)
    if not aside.any():
        return *searched(aside, watch), aside
    # the other half of the time is for a second search
    parts, outcome, rivals = searched(aside, watch.part(0.5))
    if misfit_of(outcome.law, parts.whole) >= THRESHOLDS.misfit_p:
        every = parts.errors.of(samples)
        wild = wild_rows(outcome.law, every)
        # rows that the formula explains come back
        whole = every.rows(~wild).thinned(config.rows, rng)
        return replace(parts, whole=whole), outcome, rivals, wild
    # without those rows there is no law either: they may be part of it
    none = np.zeros(len(aside), dtype=bool)
    return *searched(none, watch), none


def _every_row(samples: Samples, wild: np.ndarray, law: Fitted, parts: "Parts") -> Samples:
    """All rows that are not wild, for the last fit; only those judged if that is too slow."""
    whole = parts.whole
    if whole.spread is not None or len(samples.y) * len(law.constants) > MOST_FITTED:
        return whole
    if len(wild) == len(samples.y):
        samples = samples.rows(~wild)
    if len(samples.y) <= len(whole.y):
        return whole
    found = parts.errors.of(samples)
    if len(wild) != len(samples.y) and wild.any():
        errors = law.residuals(found)
        found = found.rows(np.abs(errors - np.median(errors)) <= FAR * robust_spread(errors))
    return found


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

    def predicted(self, law: Fitted) -> np.ndarray:
        """(held-out row,) by the formula, or if few each by the formula fitted to others."""
        if not self.few:
            return law.values(self.held_out)
        rows = np.arange(len(self.training.y))
        others = (refit_law(law, self.training.rows(rows != i)) for i in rows)
        each = (self.training.rows(rows == i) for i in rows)
        return np.concatenate([law.values(row) for law, row in zip(others, each, strict=True)])


def _parts(
    samples: Samples, config: RecoverConfig, rng: np.random.Generator, any_law: bool
) -> Parts:
    training, held_out = samples.split(config.held_out_share, rng)
    few = any_law and len(samples.y) < ONE_BY_ONE
    if few:
        training = held_out = samples
    training, held_out = training.thinned(config.rows, rng), held_out.thinned(config.rows, rng)
    return Parts(training, held_out, samples.thinned(config.rows, rng), few, ErrorModel())


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


def _log_r2(prediction: np.ndarray, y: np.ndarray) -> float | None:
    if np.any(y <= 0) or not np.all(prediction > 0):
        return None
    return r_squared(np.log(prediction), np.log(y))


def _verdict(
    law: Fitted,
    references: Sequence[Reference],
    asked: bool,
    samples: Samples,
    config: RecoverConfig,
) -> tuple[Reference | None, Comparison]:
    """The best verdict over the references."""
    if not references:
        return None, NO_REFERENCE
    domain = {
        name: (float(column.min()), float(column.max()))
        for name, column in zip(samples.names, samples.X.T, strict=True)
        if np.all(column > 0)
    }
    formula = _tied(law)
    limit = THRESHOLDS.exponent_margin, config.compare_limit
    answers = [
        (reference, compare(formula, reference.family, samples.names, domain, *limit))
        for reference in references
    ]
    order = [EXACT, UP_TO_SCALE, SAME_EXPONENTS, UNDECIDED, DIFFERENT]
    best = min(answers, key=lambda pair: order.index(pair[1].verdict))
    if not asked and best[1].verdict == DIFFERENT:
        return None, best[1]
    return best


def _tied(law: Fitted) -> sympy.Expr:
    """The formula for sympy: a named law keeps its parameters as symbols, tied exactly."""
    if law.name is None or not law.parameters:
        return law.expression
    names = {constant_symbol(i + 1): symbol(name) for i, name in enumerate(law.parameters)}
    return law.form.xreplace({constant_symbol(0): sympy.Float(law.constants[0])} | names)


def _strength(
    law: Fitted,
    reference: Reference | None,
    verdict: Comparison,
    samples: Samples,
    intervals: Sequence[Estimate],
) -> Estimate | None:
    """The reference's strength: the law's constant, in the reference's units."""
    if reference is None or verdict.verdict not in MATCHING or not intervals:
        return None
    first = intervals[0]
    if first.value is None:
        return None
    own = verdict.parameters | dict(zip(law.parameters, law.constants[1:], strict=False))
    unit = strength_at_one(reference, samples, own)
    with np.errstate(all="ignore"):
        factor = float(np.median(law.values(samples) / unit)) / first.value
    if not np.isfinite(factor) or factor == 0:
        return None
    return first.times(factor)
