"""A law that was found, written down: from a `Finding` to the `Recovery` that users get.

What both hold is copied by its name. Every other number and text is a part of the `Draft`, made by
one function, and as plain as it can be where that fails.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
import sympy

from orbits.files import as_json
from orbits.printing import plural
from orbits.provenance import versions
from orbits.units import ONE, Unit
from symreg.engines.base import Candidate
from symreg.fit.outliers import outlier_note
from symreg.formulas.compare import MATCHING
from symreg.formulas.expressions import as_text, constant_symbol, in_full, named, written
from symreg.formulas.written import simple_numbers, simplest
from symreg.recovery.config import RecoverConfig
from symreg.recovery.constants import recognised
from symreg.recovery.dependence import dependences
from symreg.recovery.evidence import FEW_VALUES
from symreg.recovery.gates import Gate, finite, passed
from symreg.recovery.judge import found_gates, law_gates, null_gate
from symreg.recovery.problem import Problem
from symreg.recovery.result import (
    Agreement,
    FrontPoint,
    Null,
    PerGroup,
    Quantity,
    Recovery,
    Status,
    numbers_of,
)
from symreg.recovery.selection import RESAMPLES, Finding, Search, units_of
from symreg.recovery.textbook_laws import recognised_laws
from symreg.recovery.words import PERMUTED, worded

T = TypeVar("T")

MOST_FEW, SHARED = 20, 5
"""Different values of a target that are few, and rows for each of them."""
OF_FINDING = ("parameters", "exponents", "r2", "r2_linear", "r2_log", "rows_used", "error_floor")
"""What a finding and its record have alike."""


def part(
    what: str, unknown: Any, judged: bool = False
) -> Callable[[Callable[["Draft"], T]], "cached_property[T]"]:
    """A part of a draft, made once; `unknown`, or what that makes of the draft, if it fails."""

    def guarded(step: Callable[["Draft"], T]) -> "cached_property[T]":
        @wraps(step)
        def made(draft: "Draft") -> T:
            instead: T = unknown(draft) if callable(unknown) else unknown
            return draft.search.guard.part(what, lambda: step(draft), instead, judged)

        return cached_property(made)

    return guarded


@dataclass(frozen=True)
class Draft:
    """What a record is written from, and the parts of it that are made for it alone.

    Attributes:
        exhausted: what the search went through without omission.
    """

    problem: Problem
    config: RecoverConfig
    search: Search
    finding: Finding
    exhausted: Sequence[str]

    @property
    def reference(self) -> str | None:
        """The law compared with."""
        return self.finding.reference.spec if self.finding.reference else None

    @part("the conditions on the reference", [], judged=True)
    def of_reference(self) -> list[Gate]:
        """The conditions on the reference, apart from controls."""
        return law_gates(self.finding, self.problem.non_central)

    @part("the conditions on a law", [], judged=True)
    def of_any_law(self) -> list[Gate]:
        """The conditions on any law, apart from controls."""
        return found_gates(self.finding, self.problem.non_central)

    @property
    def unit(self) -> str | None:
        """Of the target."""
        unit = self.problem.units.get(self.problem.samples.target)
        return None if unit is None or unit.text == ONE.text else unit.as_given

    @part("the shortest way to write it", lambda draft: draft.finding.law.expression)
    def formula(self) -> sympy.Expr:
        """With its numbers; constants of groups are symbols."""
        law, grouped = self.finding.law, self.finding.grouped
        return grouped.expression if grouped else simplest(law.expression, self.problem.samples)

    @part("its text", lambda draft: str(draft.formula))
    def expression(self) -> str:
        """The formula as text."""
        return written(self.formula)

    @part("the engine's text", None)
    def raw_expression(self) -> str | None:
        """The engine's own formula."""
        raw = None if self.finding.grouped else self.finding.raw
        return written(raw.expression) if raw else None

    @part("the units", {})
    def units(self) -> dict[str, Unit] | None:
        """Of the formula's constants, by symbol; None if the columns' do not fit it."""
        units, finding = self.problem.units, self.finding
        return units_of(finding.law, finding.samples, units) if units else {}

    @part("the constants", {})
    def coefficients(self) -> dict[str, Quantity]:
        """Every fitted number with its interval, and its unit if that is known."""
        known = self.units or {}
        intervals = zip(self.finding.law.constant_names, self.finding.intervals, strict=False)
        return {
            name: in_unit(Quantity.named(name, interval, None), known.get(constant_symbol(i).name))
            for i, (name, interval) in enumerate(intervals)
        }

    @part("the units", lambda draft: draft.finding.constant)
    def constant(self) -> Quantity:
        """The strength in its unit: the first coefficient, where there is no reference."""
        own = self.finding.constant
        if self.reference is None and self.coefficients:
            return replace(next(iter(self.coefficients.values())), name=own.name)
        return in_unit(own, self.problem.constant_unit(self.reference, own.name))

    @part("simple numbers", lambda draft: draft.expression)
    def written(self) -> str:
        """The formula as one would write it: no number has more digits than its interval, and what
        simple numbers simplify is simplified."""
        finding, numbers = self.finding, tuple(self.coefficients.values())
        grouped, spread = finding.grouped, finding.covariance
        if grouped is not None:  # a constant of every group is a symbol, and has no value
            shared = grouped.places[0, grouped.is_shared]
            numbers = tuple(numbers[place] for place in shared)
            spread = spread[np.ix_(shared, shared)] if spread.ndim == 2 else spread
        text = simple_numbers(self.formula, numbers, numbers_of(numbers, spread))
        done = text.atoms(sympy.Float) or grouped
        return as_text(text if done else simplest(text, finding.samples))

    @part("its form", lambda draft: draft.expression)
    def form(self) -> str:
        """The formula with names for its numbers."""
        law, grouped = self.finding.law, self.finding.grouped
        return grouped.form if grouped else named(law.form, law.constant_names)

    @part("textbook laws", ())
    def forms(self) -> tuple[str, ...]:
        """Textbook laws with its form."""
        if not self.problem.any_law or self.problem.component:
            return ()
        grouped, samples = self.finding.grouped, self.finding.samples
        law = self.finding.law if grouped is None else grouped.of_group(0)
        return recognised_laws(law, samples.features, samples.target, self.problem.units)

    @part("the groups", None)
    def per_group(self) -> PerGroup | None:
        """The form and its constants by group."""
        law, column, values = self.finding.grouped, self.config.per_group, self.problem.group_values
        if law is None or column is None or len(law.values) != len(values):
            return None
        covariance, places = self.finding.covariance, law.places
        if covariance.ndim == 2:  # of all constants together
            covariance = covariance[places[:, :, None], places[:, None, :]]
        return PerGroup(column, values, law.form, law.by_name, covariance.tolist())

    @part("some rows", {})
    def points(self) -> dict[str, tuple[Any, ...]]:
        """Some rows, for pictures: the features, the group, the target."""
        values = self.problem.group_values
        some = self.finding.samples.thinned(200, np.random.default_rng(0))
        columns = dict(zip(some.features, some.X.T.tolist(), strict=False))
        if self.config.per_group is not None and some.indicators == len(values):
            columns[self.config.per_group] = [values[g] for g in some.indicated]
        columns |= {some.target: some.y.tolist()}
        return {name: tuple(column) for name, column in columns.items()}

    @part("the size of the errors", "")
    def noise(self) -> str:
        """What the target's errors were taken for, and their size."""
        return self.finding.errors.words(self.finding.law, self.finding.samples)

    @part("the notes", ())
    def remarks(self) -> tuple[str, ...]:
        """What was done to the rows, and whatever else qualifies the result."""
        return tuple(_remarks(self))


def status_of(config: RecoverConfig, gates: Sequence[Gate]) -> Status:
    """What the conditions on any law make of a formula."""
    if config.form is not None:
        return "fitted"
    if passed(gates):
        return "found"
    # what predicts rows kept aside, and is no constant, is good for something
    needed = {"held-out R²", "held-out error", "depends on a feature", PERMUTED}
    good = [gate for gate in gates if gate.name in needed and gate.passed is not None]
    return "approximation" if good and passed(good) else "none"


def record(draft: Draft, nulls: Mapping[str, Null]) -> Recovery:
    """What was found, as numbers and text, and whether it is a law by its controls too."""
    problem, config, finding, search = draft.problem, draft.config, draft.finding, draft.search
    law, spread, verdict = finding.law, finding.covariance, finding.comparison.verdict
    own = draft.of_reference, draft.of_any_law
    # the guard knows by now what could not be judged
    controls = [null_gate(PERMUTED, null) for null in nulls.values()]
    controls += [*problem.gates, *search.guard.gates]
    gates, of_any_law = ((*each, *controls) for each in own)
    status = status_of(config, of_any_law)
    parts = _copied(draft, *(each.name for each in fields(Recovery) if hasattr(Draft, each.name)))
    front = tuple(search.guard.each("writing them", _front_point, finding.candidates))
    # the guard knows by now what failed
    notes = (*draft.remarks, *search.guard.notes, *_on_the_search(draft, status))
    plain = f"The best formula is {draft.expression}."
    result = Recovery(
        **parts,
        **_copied(finding, *OF_FINDING),
        **_copied(finding.evidence, "error", "worst", "gap"),
        **_copied(problem, "rows", "columns", "non_central", "metrics"),
        recovered=config.form is None and passed(gates),
        status=status,
        gates=gates,
        found_gates=of_any_law,
        nulls=dict(nulls),
        verdict=verdict,
        matches=draft.reference if verdict in MATCHING else None,
        law=law.name,
        selected_from=law.source,
        covariance=spread.tolist() if spread.ndim == 2 else (),
        agreement=Agreement(finding.agreeing, RESAMPLES),
        rivals=finding.rivals[:5],
        pareto_front=front,
        engine=search.engine.name,
        engine_reason=search.reason,
        rows_left_out=int(finding.outliers.sum()),
        groups=problem.samples.n_effective,
        domain=problem.samples.ranges,
        notes=notes,
        explanation=" ".join([plain, *(f"Note: {note}." for note in notes)]),
        conclusion=plain,
        summary={"law": draft.written},
        configuration=as_json(asdict(config)),
        versions=versions() | search.engine.versions,
    )
    return search.guard.part("the words", lambda: worded(result), result)


def _copied(source: object, *names: str) -> dict[str, Any]:
    """Attributes by name; a number that is not finite is none."""
    values = {name: getattr(source, name) for name in names}
    return {name: finite(v) if isinstance(v, float) else v for name, v in values.items()}


def _front_point(candidate: Candidate) -> FrontPoint:
    texts = {"expression": written(candidate.expression), "formula": in_full(candidate.expression)}
    return FrontPoint(**vars(candidate) | texts)


def _remarks(draft: Draft) -> Iterator[str]:
    problem, finding = draft.problem, draft.finding
    yield from problem.notes
    judged = len(finding.samples.y)
    if finding.rows_used > judged:
        yield (
            f"{judged} rows, drawn at random, were searched and judged; the constants are fitted "
            f"to {finding.rows_used}"
        )
    if without := [name for name, each in draft.coefficients.items() if each.low is None]:
        yield (
            f"{plural(len(without), 'constant')} of groups with fewer rows than constants of their "
            f"own, beginning with {without[0]}, cannot be told: the number is the one nearest to "
            "that of the other groups, and has no interval"
        )
    if finding.outliers.any():
        given = finding.samples.unit is not None
        yield outlier_note(finding.outliers, problem.named_rows(finding.outliers), given)
    if draft.config.own_table:
        yield from dependences(finding.samples)
    values = finding.evidence.values
    if FEW_VALUES < values <= MOST_FEW and judged >= SHARED * values:
        yield (
            f"{finding.samples.target} has {values} different values in {judged} rows: formulas "
            "that differ by less than its steps cannot be told apart"
        )
    if draft.units is None:
        yield "the units of the columns do not fit the formula, so its constants have none"


def _on_the_search(draft: Draft, status: Status) -> Iterator[str]:
    """Where it broke off or ended, what it went through, and what to try next."""
    watch, labels = draft.search.watch, draft.problem.labels
    yield from dict.fromkeys(draft.search.engine.broken)
    if watch.ended:
        yield (
            f"the search ended at its limit of {watch.seconds:g} s of computing (--time-limit): a "
            "longer one may find more"
        )
    if labels and status in ("none", "approximation"):
        yield (
            f"{labels[0]} holds labels: the first thing to try is --per-group {labels[0]}, one "
            "form with constants of its own for each"
        )
    if draft.exhausted and status != "found":
        yield f"gone through without omission: {'; '.join(draft.exhausted)}"


def in_unit(quantity: Quantity, unit: Unit | None) -> Quantity:
    """A quantity in a unit; a constant of physics is recognised by both.

    The unit of a high power may have a size beyond floats: then there is none.
    """
    if unit is None or not 0 < unit.size < math.inf:
        return quantity
    return replace(
        quantity, unit=unit.text, unit_in_si=unit.size, unit_as_given=unit.as_given,
        recognised=recognised(quantity, unit),
    )  # fmt: skip
