"""From a table of forces to a verdict: search, refine, compare, try to refute."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

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
from orbits.provenance import versions
from orbits.units import ONE, Unit
from symreg.engines import choose_engine
from symreg.fit.refine import Fitted
from symreg.fit.samples import Samples
from symreg.fit.wild import note_on
from symreg.formulas.compare import MATCHING
from symreg.formulas.expressions import constant_symbol, named, written
from symreg.formulas.units import constant_units
from symreg.formulas.watch import Watch
from symreg.recovery.config import RecoverConfig
from symreg.recovery.constants import recognised
from symreg.recovery.finding import Finding, find, read_guesses
from symreg.recovery.gates import passed
from symreg.recovery.judge import found_gates, law_gates, null_gate
from symreg.recovery.motion import problems_of
from symreg.recovery.problem import Problem, of_user_table
from symreg.recovery.result import (
    FrontPoint,
    Null,
    PerGroup,
    Quantity,
    Recovery,
    RivalFormula,
    Seeds,
)
from symreg.recovery.search import Search
from symreg.recovery.textbook_laws import recognised_laws
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.words import PERMUTED, explain

RIVALS = 5
"""Formulas of the pool to list."""
SHOWN = 200
"""Rows kept in a result for its picture."""
NULL_SEEDS = 2
"""Searches on permuted targets."""

Progress = Callable[[str], None]
Table = ForceSamples | pd.DataFrame | xr.Dataset | str | os.PathLike[str]


@keywords_of(RecoverConfig)
def recover(
    table: Table,
    config: RecoverConfig | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Recovery:
    """Find the law of a table, compare it with a reference law, and say how sure it is.

    Args:
        table: force samples (from `worldmodel.probe`, a DataFrame with their columns, or their
            Parquet file); trajectories (a dataset or its folder), along which forces are first
            measured; or with `target` any DataFrame, CSV or Parquet file.
        config: how to search and judge.
        progress: called with progress.
        **options: of `RecoverConfig`, overriding `config`: `target="F"`, `features="r,m1,m2"`,
            `law="newton"`, `seeds=3`.

    Returns:
        The law with its evidence: `.expression`, `.predict()`, `.recovered`, `.explanation`.

    Raises:
        ValueError: for an unusable table, column, unit, law or engine (says why).
    """
    config = options_from(RecoverConfig, config, options)
    if config.own_table:
        if isinstance(table, ForceSamples):
            table = table.table
        if isinstance(table, xr.Dataset):
            raise ValueError("a dataset of orbits has no columns; leave target and pair out.")
        return solve(of_user_table(table, config), config, progress)
    problems = problems_of(_force_samples(table), config)
    result, *others = [solve(problem, config, progress) for problem in problems]
    return replace(result, components=tuple(others))


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


def solve(problem: Problem, config: RecoverConfig, progress: Progress | None = None) -> Recovery:
    """Find the law of a problem and judge it."""
    began = time.monotonic()
    read = read_guesses(config.guesses, problem.samples.names)
    guesses = tuple(sympy.sstr(guess, full_prec=True) for guess in read)
    question = replace(config.question, guesses=guesses, units=problem.si_units)
    if problem.any_law and config.error_floor is None:
        config = replace(config, error_floor=0.0)
    engine, reason = choose_engine(config.engine, question, problem.any_law)
    watch = Watch(config.limit(problem.any_law), progress)
    # threads that wait for one another count as computing, and change the last digits
    with threadpool_limits(1, "blas"):
        told = f"search {plural(problem.rows, 'row')} with {engine.name}: {reason}"
        watch.say(lambda: told, True)
        search = Search(engine, config, config.seeds, watch, read, problem.units)
        found = find(problem, search)
        if config.null:
            watch.say(lambda: "search permuted targets, which no law explains", True)
        nulls = {"permuted": _permuted(problem, search)} if config.null else {}
    constant, parameters = strength(found), parameters_of(found)
    gates = law_gates(found, (constant, *parameters.values()), THRESHOLDS, problem.non_central)
    controls = [null_gate(PERMUTED, null) for null in nulls.values()] + list(problem.gates)
    gates += controls
    of_any_law = found_gates(found, THRESHOLDS, problem.non_central) + controls
    reference = found.reference.spec if found.reference else None
    coefficients = coefficients_of(found, problem.units)
    constant = with_unit(constant, problem.constant_unit(reference, constant.name))
    if reference is None and coefficients:
        constant = replace(next(iter(coefficients.values())), name=constant.name)
    outcome = found.outcome
    result = Recovery(
        recovered=passed(gates),
        found=passed(gate for gate in of_any_law if gate.passed is not None),
        found_gates=tuple(of_any_law),
        matches=reference if found.verdict.verdict in MATCHING else None,
        rivals=tuple(
            RivalFormula(
                written(rival.law.expression),
                rival.weight,
                rival.law.nodes,
                rival.as_good,
                rival.parting.at if rival.parting else {},
                rival.parting.difference if rival.parting else None,
            )
            for rival in found.rivals[:RIVALS]
        ),
        coefficients=coefficients,
        covariance=tuple(tuple(map(float, row)) for row in found.covariance),
        form=named(found.law.form, coefficient_names(found.law)),
        domain={
            name: (float(column.min()), float(column.max()))
            for name, column in zip(problem.samples.names, problem.samples.X.T, strict=True)
        },
        expression=written(found.law.expression),
        raw_expression=written(outcome.raw.expression) if outcome.raw else None,
        law=found.law.name,
        selected_from=found.law.source,
        exponents={
            name: Quantity.named(name, interval, found.true_exponents.get(name))
            for name, interval in found.exponents.items()
        },
        r2=found.r2,
        r2_linear=found.r2_linear,
        r2_log=found.r2_log,
        seeds=Seeds(
            outcome.seeds,
            outcome.agreeing,
            "resamples" if found.rivals else "searches",
            outcome.unaided,
        ),
        pareto_front=tuple(
            FrontPoint(**vars(each) | {"expression": written(each.expression)})
            for each in outcome.front
        ),
        forms=_forms(found, problem),
        points=_points(found.samples),
        verdict=found.verdict.verdict,
        reference=reference,
        constant=constant,
        parameters=parameters,
        nulls=nulls,
        gates=tuple(gates),
        engine=engine.name,
        engine_reason=reason,
        rows=problem.rows,
        rows_used=found.rows,
        rows_left_out=int(found.wild.sum()),
        columns=problem.columns,
        per_group=_per_group(found, problem, config),
        groups=problem.samples.n_effective,
        non_central=problem.non_central,
        error_floor=outcome.floor,
        notes=tuple(_notes(found, problem, watch)),
        metrics=problem.metrics,
        configuration=as_json(asdict(config)),
        versions=versions() | engine.versions,
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=explain(result, THRESHOLDS.least_r2))


def _points(samples: Samples) -> dict[str, tuple[float, ...]]:
    """Some rows, for pictures."""
    some = samples.thinned(SHOWN, np.random.default_rng(0))
    columns = dict(zip(some.names, some.X.T, strict=True)) | {some.target: some.y}
    return {name: tuple(map(float, values)) for name, values in columns.items()}


def _forms(found: Finding, problem: Problem) -> tuple[str, ...]:
    if not problem.any_law:
        return ()
    by_group = found.outcome.by_group
    law = found.law if by_group is None else by_group.of_group(0)
    return recognised_laws(law, found.samples.features, found.samples.target, problem.units)


def _per_group(found: Finding, problem: Problem, config: RecoverConfig) -> PerGroup | None:
    law = found.outcome.by_group
    if law is None or config.per_group is None:
        return None
    indicators = found.samples.names[len(found.samples.features) :]
    return PerGroup(config.per_group, problem.group_values, law.form, law.by_name, indicators)


def _notes(found: Finding, problem: Problem, watch: Watch) -> Iterator[str]:
    """What was done to the rows, and whatever else qualifies the result."""
    yield from problem.notes
    judged = len(found.samples.y)
    if found.rows > judged:
        yield (
            f"{judged} rows, drawn at random, were searched and judged; the constants are fitted "
            f"to {found.rows}"
        )
    if found.wild.any():
        yield note_on(found.wild)
    if problem.units:
        try:
            constant_units(found.law.form, problem.units, problem.units[found.samples.target])
        except ValueError:
            yield "the units of the columns do not fit the formula, so its constants have none"
    if watch.ended:
        yield (
            f"the search ended at its limit of {watch.seconds:g} s of computing (--time-limit): a "
            "longer one may find more"
        )


def _permuted(problem: Problem, search: Search) -> Null:
    """The same search on shuffled targets, with no law left to find."""
    config = search.config
    shuffled = problem.samples.permuted(np.random.default_rng([config.seed, 2]))
    watch, seeds = Watch(config.limit(problem.any_law)), min(NULL_SEEDS, config.seeds)
    found = find(
        replace(problem, samples=shuffled, every=None),
        replace(search, seeds=seeds, watch=watch, units=None),
    )
    quantities = (strength(found), *parameters_of(found).values())
    return Null(
        verdict=found.verdict.verdict,
        recovered=passed(law_gates(found, quantities, THRESHOLDS, None))
        or passed(gate for gate in found_gates(found, THRESHOLDS, None) if gate.passed is not None),
        expression=written(found.law.expression),
        r2=found.r2,
    )


def strength(finding: Finding) -> Quantity:
    """The constant in front: the reference's strength, or the formula's own first constant."""
    if finding.strength is not None and finding.reference is not None:
        return Quantity.named(finding.reference.strength, finding.strength, finding.reference.truth)
    return Quantity.named("c", finding.intervals[0] if finding.intervals else None, None)


def coefficients_of(finding: Finding, units: Mapping[str, Unit]) -> dict[str, Quantity]:
    """Every fitted number with its interval, and its unit if the columns have units."""
    law, known = finding.law, dict[str, Unit]()
    if units:
        with contextlib.suppress(ValueError):
            known = constant_units(law.form, units, units[finding.samples.target])
    intervals = zip(coefficient_names(law), finding.intervals, strict=False)
    return {
        name: with_unit(Quantity.named(name, interval, None), known.get(constant_symbol(i).name))
        for i, (name, interval) in enumerate(intervals)
    }


def with_unit(quantity: Quantity, unit: Unit | None) -> Quantity:
    """A quantity with a unit; a constant of physics is recognised by both."""
    if unit is None:
        return quantity
    value, low, high = quantity.value, quantity.low, quantity.high
    known = quantity.recognised
    if value is not None and low is not None and high is not None and unit.powers != ONE.powers:
        known = recognised(value, low, high, unit)
    return replace(quantity, unit=unit.text, unit_in_si=unit.size, recognised=known)


def coefficient_names(law: Fitted) -> tuple[str, ...]:
    """A named law's parameters by name, else those of the constants."""
    own, taken = ("c", *law.parameters), {s.name for s in law.form.free_symbols}
    suit = law.parameters and len(own) == len(law.constants) and not taken & set(own)
    return own if suit else law.constant_names


def parameters_of(finding: Finding) -> dict[str, Quantity]:
    """The law's parameters, with intervals and, for the reference, the truth."""
    same = finding.reference is not None and finding.reference.law == finding.law.name
    truths = finding.reference.parameters if same and finding.reference is not None else {}
    return {
        name: Quantity.named(name, interval, truths.get(name))
        for name, interval in zip(finding.law.parameters, finding.intervals[1:], strict=False)
    }
