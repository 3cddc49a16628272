"""From a table of forces to a verdict: search, refine, compare, try to refute.

One law on its way: an engine proposes a `Candidate`; refitted it is a `Law`; `select` makes a
`Finding` of the one that it chooses, to which `find` adds the last fit, the evidence and the
comparison; `solve` judges that and writes it down as a `Recovery`, which users get.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import sympy
import xarray as xr
from threadpoolctl import threadpool_limits

from orbits.dataset import as_dataset
from orbits.derivatives.accelerations import measure_forces
from orbits.files import as_json
from orbits.force_samples import REQUIRED, ForceSamples
from orbits.options import keywords_of, options_from
from orbits.printing import plural
from orbits.progress import Progress, Wanted, quiet, told
from orbits.provenance import versions
from orbits.tables import as_table
from orbits.units import ONE, Unit
from symreg.engines import choose_engine
from symreg.engines.base import Candidate
from symreg.fit.outliers import outlier_note
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.compare import MATCHING
from symreg.formulas.expressions import as_text, constant_symbol, in_full, named, written
from symreg.formulas.units import constant_units
from symreg.formulas.watch import Watch
from symreg.formulas.written import simple_numbers, simplest
from symreg.recovery.config import RecoverConfig
from symreg.recovery.constants import recognised
from symreg.recovery.dependence import dependences
from symreg.recovery.evidence import FEW_VALUES
from symreg.recovery.finding import find, read_guesses
from symreg.recovery.gates import Gate, finite, passed
from symreg.recovery.guard import Guard
from symreg.recovery.judge import found_gates, law_gates, null_gate
from symreg.recovery.motion import problems_of
from symreg.recovery.problem import Problem, of_user_table
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
from symreg.recovery.selection import RESAMPLES, Finding, Search
from symreg.recovery.textbook_laws import recognised_laws
from symreg.recovery.words import PERMUTED, worded

T = TypeVar("T")
U = TypeVar("U")

MOST_FEW, SHARED = 20, 5
"""Different values of a target that are few, and rows for each of them."""
JUDGING = 5.0
"""Seconds at least to judge in: what is beside a formula is tried after a short search too."""
Table = ForceSamples | pd.DataFrame | xr.Dataset | str | os.PathLike[str]


@keywords_of(RecoverConfig)
def recover(
    table: Table,
    config: RecoverConfig | None = None,
    progress: Wanted = None,
    **options: Any,
) -> Recovery:
    """Find the law of a table, compare it with a reference law, and say how sure it is.

    Args:
        table: force samples (from `worldmodel.probe`, a DataFrame with their columns, or their
            Parquet file); trajectories (a dataset or its folder), along which forces are first
            measured; or with `target` any DataFrame, CSV or Parquet file.
        config: how to search and judge.
        progress: called with a line of text every few seconds; False for silence. By default a
            notebook shows a bar.
        **options: of `RecoverConfig`, overriding `config`: `target="F"`, `features="r,m1,m2"`,
            `law="newton"`, `seeds=3`.

    Returns:
        The law with its evidence: `.expression`, `.predict()`, `.recovered`, `.explanation`.

    Raises:
        ValueError: for an unusable table, column, unit, law or engine (says why).
    """
    config = options_from(RecoverConfig, config, options)
    if not isinstance(table, (ForceSamples, xr.Dataset)):
        table = as_table(table)
    if config.own_table:
        if isinstance(table, ForceSamples):
            table = table.table
        if isinstance(table, xr.Dataset):
            raise ValueError(
                "a Dataset has no columns; leave target out for one of orbits, or give a "
                "DataFrame, as to_dataframe() of it makes."
            )
        problems = [of_user_table(table, config)]
    else:
        problems = problems_of(_force_samples(table), config)
    guard, (first, *rest) = Guard(), problems
    with told(progress, "recover") as say:
        result = solve(first, config, say)
        others = tuple(
            guard.each("the search of a component", lambda other: solve(other, config, say), rest)
        )
    return replace(result, components=others, notes=(*result.notes, *guard.notes))


def _force_samples(table: Table) -> ForceSamples:
    if isinstance(table, ForceSamples):
        return table
    if isinstance(table, pd.DataFrame):
        missing = [name for name in REQUIRED if name not in table]
        if missing:
            raise ValueError(
                f"the table lacks {', '.join(missing)}, so it holds no force samples; to search "
                "any other table name its target and features: target='F', features='r,m1,m2'."
            )
        return ForceSamples(table)
    if isinstance(table, xr.Dataset) or Path(table).is_dir():
        return measure_forces(as_dataset(table))
    return ForceSamples.read(table)


def solve(problem: Problem, config: RecoverConfig, progress: Progress = quiet) -> Recovery:
    """Find the law of a problem and judge it."""
    began = time.monotonic()
    spelt = problem.spelt(config)
    read = read_guesses(spelt.guesses, problem.samples.names)
    guesses = tuple(map(in_full, read))
    question = replace(config.question, guesses=guesses, units=problem.si_units)
    if problem.any_law and config.error_floor is None:
        config, spelt = (replace(each, error_floor=problem.floor) for each in (config, spelt))
    engine, reason = choose_engine(config.engine, question)
    watch, guard = Watch(config.limit(problem.any_law), progress), Guard()
    # threads that wait for one another count as computing, and change the last digits
    with threadpool_limits(1, "blas"):
        message = f"search {plural(problem.rows, 'row')} with {engine.name}: {reason}"
        watch.say(lambda: message, True)
        # with a fifth of both for permuted targets, all keeps within 1.5 times the limit
        judging = max(JUDGING, 0.3 * watch.seconds)
        search = Search(engine, spelt, watch, judging, read, problem.units, guard=guard)
        finding = find(problem, search)
        exhausted = engine.exhausted
        nulls, across = {}, problem.non_central
        of_reference = guard.part(
            "the conditions on the reference", lambda: law_gates(finding, across), []
        )
        of_any_law = guard.part("the conditions on a law", lambda: found_gates(finding, across), [])
        # a control of what passes: where nothing does, it could only confirm that
        passes = passed(of_reference) or _status(config, of_any_law) != "none"
        if config.null and config.form is None and passes:
            watch.say(lambda: "search permuted targets, which no law explains", True)
            null = guard.part("the permuted targets", lambda: _permuted(problem, search), None)
            nulls = {"permuted": null} if null is not None else {}
    result = _result(problem, config, finding, (of_reference, of_any_law), nulls, guard)
    notes = [*result.notes, *guard.notes, *dict.fromkeys(engine.broken)]
    if watch.ended:
        notes.append(
            f"the search ended at its limit of {watch.seconds:g} s of computing (--time-limit): a "
            "longer one may find more"
        )
    if problem.labels and result.status in ("none", "approximation"):
        notes.append(
            f"{problem.labels[0]} holds labels: the first thing to try is --per-group "
            f"{problem.labels[0]}, one form with constants of its own for each"
        )
    if exhausted and result.status != "found":
        notes.append(f"gone through without omission: {'; '.join(exhausted)}")
    result = replace(
        result,
        engine=engine.name,
        engine_reason=reason,
        notes=tuple(notes),
        versions=versions() | engine.versions,
        seconds=time.monotonic() - began,
    )
    return guard.part("the words", lambda: worded(result), _hardly_worded(result))


def _result(
    problem: Problem, config: RecoverConfig, finding: Finding, own: tuple[list[Gate], list[Gate]],
    nulls: dict[str, Null], guard: Guard,
) -> Recovery:  # fmt: skip
    """What was found, as numbers; a part that cannot be computed is left out."""

    def shown(what: str, step: Callable[[], T], unknown: U) -> T | U:
        return guard.part(what, step, unknown, judged=False)

    law, grouped, evidence = finding.law, finding.grouped, finding.evidence
    reference = finding.reference.spec if finding.reference else None
    verdict, raw = finding.comparison.verdict, None if grouped else finding.raw
    constant = finding.constant
    controls = [null_gate(PERMUTED, null) for null in nulls.values()]
    controls += [*problem.gates, *guard.gates]
    gates, gates_of_any = ((*gates, *controls) for gates in own)
    shortest = shown(
        "the shortest way to write it",
        lambda: grouped.expression if grouped else simplest(law.expression, problem.samples),
        law.expression,
    )
    expression = shown("its text", lambda: written(shortest), str(shortest))
    known = shown("the units", lambda: units_of(finding, problem.units), {})
    coefficients = shown("the constants", lambda: coefficients_of(finding, known or {}), {})
    constant = shown(
        "the units",
        lambda: with_unit(constant, problem.constant_unit(reference, constant.name)), constant,
    )  # fmt: skip
    if reference is None and coefficients:
        constant = replace(next(iter(coefficients.values())), name=constant.name)
    return Recovery(
        recovered=config.form is None and passed(gates),
        status=_status(config, gates_of_any),
        found_gates=gates_of_any,
        gates=gates,
        matches=reference if verdict in MATCHING else None,
        verdict=verdict,
        reference=reference,
        expression=expression,
        written=shown(
            "simple numbers", lambda: _as_written(shortest, finding, coefficients), expression
        ),
        raw_expression=shown(
            "the engine's text", lambda: written(raw.expression) if raw else None, None
        ),
        form=shown("its form", lambda: grouped.form if grouped else _form(law), expression),
        law=law.name,
        selected_from=law.source,
        forms=shown("textbook laws", lambda: _forms(finding, problem), ()),
        constant=constant,
        parameters=finding.parameters,
        exponents=finding.exponents,
        coefficients=coefficients,
        covariance=finding.covariance.tolist() if finding.covariance.ndim == 2 else (),
        domain=shown("the ranges", lambda: domain_of(problem.samples), {}),
        columns=problem.columns,
        per_group=shown("the groups", lambda: _per_group(finding, problem, config), None),
        points=shown("some rows", lambda: _points(finding.samples, problem, config), {}),
        r2=finite(finding.r2),
        r2_linear=finite(finding.r2_linear),
        r2_log=finite(finding.r2_log),
        noise=shown(
            "the size of the errors", lambda: finding.errors.words(law, finding.samples), ""
        ),
        error=finite(evidence.error),
        worst=finite(evidence.worst),
        gap=evidence.gap,
        agreement=Agreement(finding.agreeing, RESAMPLES),
        nulls=nulls,
        rivals=finding.rivals[:5],
        pareto_front=tuple(guard.each("writing them", _front_point, finding.candidates)),
        engine="",
        engine_reason="",
        rows=problem.rows,
        rows_used=finding.rows,
        rows_left_out=int(finding.outliers.sum()),
        groups=problem.samples.n_effective,
        non_central=problem.non_central,
        error_floor=finding.floor,
        notes=shown(
            "the notes",
            lambda: tuple(_notes(finding, problem, config, coefficients, known is None)), (),
        ),
        metrics=problem.metrics,
        configuration=as_json(asdict(config)),
    )  # fmt: skip


def _form(law: Law) -> str:
    """The formula with names for its numbers."""
    return named(law.form, coefficient_names(law))


def _front_point(candidate: Candidate) -> FrontPoint:
    texts = {"expression": written(candidate.expression), "formula": in_full(candidate.expression)}
    return FrontPoint(**vars(candidate) | texts)


def _hardly_worded(result: Recovery) -> Recovery:
    """The formula and the notes, if its sentences fail."""
    sentence = f"The best formula is {result.expression}."
    return replace(
        result,
        explanation=" ".join([sentence, *(f"Note: {note}." for note in result.notes)]),
        conclusion=sentence,
        summary={"law": result.written},
    )


def _status(config: RecoverConfig, gates: Sequence[Gate]) -> Status:
    if config.form is not None:
        return "fitted"
    if passed(gates):
        return "found"
    # what predicts rows kept aside, and is no constant, is good for something
    needed = {"held-out R²", "held-out error", "depends on a feature", PERMUTED}
    good = [gate for gate in gates if gate.name in needed and gate.passed is not None]
    return "approximation" if good and passed(good) else "none"


def domain_of(samples: Samples) -> dict[str, tuple[float, float]]:
    """Lowest and highest value of every feature."""
    columns = zip(samples.features, samples.X.T, strict=False)
    return {name: (float(column.min()), float(column.max())) for name, column in columns}


def _as_written(formula: sympy.Expr, finding: Finding, coefficients: Mapping[str, Quantity]) -> str:
    """The formula as one would write it: no number has more digits than its interval, and what
    simple numbers simplify is simplified."""
    grouped, spread, numbers = finding.grouped, finding.covariance, tuple(coefficients.values())
    if grouped is not None:  # a constant of every group is a symbol, and has no value
        shared = grouped.places[0, grouped.is_shared]
        numbers = tuple(numbers[place] for place in shared)
        spread = spread[np.ix_(shared, shared)] if spread.ndim == 2 else spread
    text = simple_numbers(formula, numbers, numbers_of(numbers, spread))
    done = text.atoms(sympy.Float) or grouped
    return as_text(text if done else simplest(text, finding.samples))


def _points(samples: Samples, problem: Problem, config: RecoverConfig) -> dict[str, Any]:
    """Some rows, for pictures."""
    some = samples.thinned(200, np.random.default_rng(0))
    columns: dict[str, Any] = dict(zip(some.features, some.X.T.tolist(), strict=False))
    if config.per_group is not None and some.indicators == len(problem.group_values):
        columns[config.per_group] = [problem.group_values[g] for g in some.indicated]
    return {
        name: tuple(values) for name, values in (columns | {some.target: some.y.tolist()}).items()
    }


def _forms(finding: Finding, problem: Problem) -> tuple[str, ...]:
    if not problem.any_law or problem.component:
        return ()
    grouped, samples = finding.grouped, finding.samples
    law = finding.law if grouped is None else grouped.of_group(0)
    return recognised_laws(law, samples.features, samples.target, problem.units)


def _per_group(finding: Finding, problem: Problem, config: RecoverConfig) -> PerGroup | None:
    law = finding.grouped
    if law is None or config.per_group is None or len(law.values) != len(problem.group_values):
        return None
    covariance, places = finding.covariance, law.places
    if covariance.ndim == 2:  # of all constants together
        covariance = covariance[places[:, :, None], places[:, None, :]]
    return PerGroup(
        config.per_group, problem.group_values, law.form, law.by_name, covariance.tolist()
    )


def _notes(
    finding: Finding, problem: Problem, config: RecoverConfig, coefficients: Mapping[str, Quantity],
    unfitting: bool,
) -> Iterator[str]:  # fmt: skip
    """What was done to the rows, and whatever else qualifies the result."""
    yield from problem.notes
    judged = len(finding.samples.y)
    if finding.rows > judged:
        yield (
            f"{judged} rows, drawn at random, were searched and judged; the constants are fitted "
            f"to {finding.rows}"
        )
    if without := [name for name, each in coefficients.items() if each.low is None]:
        yield (
            f"{plural(len(without), 'constant')} of groups with fewer rows than constants of their "
            f"own, beginning with {without[0]}, cannot be told: the number is the one nearest to "
            "that of the other groups, and has no interval"
        )
    if finding.outliers.any():
        given = finding.samples.unit is not None
        yield outlier_note(finding.outliers, problem.named_rows(finding.outliers), given)
    if config.own_table:
        yield from dependences(finding.samples)
    values = finding.evidence.values
    if FEW_VALUES < values <= MOST_FEW and judged >= SHARED * values:
        yield (
            f"{finding.samples.target} has {values} different values in {judged} rows: formulas "
            "that differ by less than its steps cannot be told apart"
        )
    if unfitting:
        yield "the units of the columns do not fit the formula, so its constants have none"


def _permuted(problem: Problem, search: Search) -> Null:
    """The same search on shuffled targets, with no law left to find: as far as the first went, with
    two seeds at most, in a fifth of the time."""
    config = replace(search.config, seeds=min(2, search.config.seeds))
    shuffled = problem.samples.permuted(np.random.default_rng([config.seed, 2]))
    # a fifth
    watch, judging = Watch(0.2 * search.watch.seconds), 0.2 * search.judging
    finding = find(
        replace(problem, samples=shuffled, every=None),
        replace(
            search, engine=search.engine.as_far(), config=config, watch=watch, judging=judging,
            units=None, guard=Guard(),
        ),
        to_read=False,
    )  # fmt: skip
    of_any_law = found_gates(finding, None)
    return Null(
        verdict=finding.comparison.verdict,
        recovered=passed(law_gates(finding, None)) or passed(of_any_law),
        expression=written(finding.law.expression),
        r2=finding.r2,
    )


def units_of(finding: Finding, units: Mapping[str, Unit]) -> dict[str, Unit] | None:
    """The units of the formula's constants, by symbol; None if the columns' do not fit it."""
    if not units:
        return {}
    with contextlib.suppress(ValueError):
        return constant_units(finding.law.form, units, units[finding.samples.target])
    return None


def coefficients_of(finding: Finding, known: Mapping[str, Unit]) -> dict[str, Quantity]:
    """Every fitted number with its interval, and its unit if that is known."""
    law = finding.law
    intervals = zip(coefficient_names(law), finding.intervals, strict=False)
    return {
        name: with_unit(Quantity.named(name, interval, None), known.get(constant_symbol(i).name))
        for i, (name, interval) in enumerate(intervals)
    }


def with_unit(quantity: Quantity, unit: Unit | None) -> Quantity:
    """A quantity with a unit; a constant of physics is recognised by both.

    The unit of a high power may have a size beyond floats: then there is none.
    """
    if unit is None or not 0 < unit.size < math.inf:
        return quantity
    value, low, high = quantity.value, quantity.low, quantity.high
    known = quantity.recognised
    if value is not None and low is not None and high is not None and unit.powers != ONE.powers:
        known = recognised(value, low, high, unit)
    return replace(
        quantity, unit=unit.text, unit_in_si=unit.size, unit_as_given=unit.as_given,
        recognised=known,
    )  # fmt: skip


def coefficient_names(law: Law) -> tuple[str, ...]:
    """A named law's parameters by name, else those of the constants."""
    own, taken = ("c", *law.parameters), {s.name for s in law.form.free_symbols}
    suit = law.parameters and len(own) == len(law.constants) and not taken & set(own)
    return own if suit else law.constant_names
