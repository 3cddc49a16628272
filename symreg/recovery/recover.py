"""From a table of forces to a verdict: search, refine, compare, and try to be wrong."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sympy
import xarray as xr

from orbits.command.options import with_options
from orbits.records.force_samples import REQUIRED, ForceSamples
from orbits.records.provenance import versions
from orbits.records.typed import as_json
from orbits.trajectories.accelerations import measure_forces
from symreg.engines import choose_engine
from symreg.engines.base import Candidate, Engine
from symreg.formulas.expressions import written
from symreg.recovery.config import RecoverConfig
from symreg.recovery.finding import Finding, find, read_guesses
from symreg.recovery.judge import law_gates, null_gate, passed
from symreg.recovery.problem import Problem, of_force_samples, of_user_table
from symreg.recovery.result import FrontPoint, Null, Quantity, Recovery, Seeds
from symreg.recovery.words import PERMUTED, explain

NULL_SEEDS = 2
"""Searches on permuted targets."""

Progress = Callable[[str], None]
Table = ForceSamples | pd.DataFrame | xr.Dataset | str | os.PathLike[str]


def recover(
    table: Table,
    config: RecoverConfig | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Recovery:
    """Search the law of a table, compare it with a reference law, and say how sure that is.

    Args:
        table: force samples (as `worldmodel.probe` gives them, a DataFrame with their columns, or
            their Parquet file); trajectories (a dataset or its folder), along which forces are
            measured first; or with `target` any DataFrame, CSV or Parquet file.
        config: how to search and what to ask.
        progress: is told what happens.
        **options: of `RecoverConfig`, in place of those in `config`: `target="F"`,
            `features="r,m1,m2"`, `law="newton"`, `seeds=3`.

    Returns:
        The law with its evidence: `.expression`, `.predict()`, `.recovered`, `.explanation`.

    Raises:
        ValueError: for a table, a column, a unit, a law or an engine that will not do (says why).
    """
    for name in ("target", "features", "units", "guesses", "operators"):
        if isinstance(options.get(name), str):
            options[name] = (options[name],)
    config = with_options(config or RecoverConfig(), options)
    if config.own_table:
        if isinstance(table, ForceSamples):
            table = table.table
        if isinstance(table, xr.Dataset):
            raise ValueError("a dataset of orbits has no columns; leave target and pair out.")
        return solve(of_user_table(table, config), config, progress)
    return solve(of_force_samples(_force_samples(table), config), config, progress)


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
        return measure_forces(table)
    return ForceSamples.read(table)


def solve(problem: Problem, config: RecoverConfig, progress: Progress | None = None) -> Recovery:
    """Search the law of a problem and judge what is found.

    Raises:
        ValueError: for an unknown engine, or one that cannot run.
    """
    began = time.monotonic()
    guesses = tuple(sympy.sstr(guess, full_prec=True) for guess in read_guesses(config.guesses))
    question = replace(config.question, guesses=guesses, units=problem.si_units)
    engine, reason = choose_engine(config.engine, question)
    found = find(
        problem.samples, problem.references, problem.asked, engine, config, config.seeds, progress
    )
    constant, parameters = strength(found), parameters_of(found)
    nulls = {"permuted": _permuted(problem, engine, config)} if config.null else {}
    gates = law_gates(
        found, (constant, *parameters.values()), config.thresholds, problem.non_central
    )
    gates += [null_gate(PERMUTED, null) for null in nulls.values()]
    gates += problem.gates
    reference = found.reference.spec if found.reference else None
    unit = problem.constant_unit(reference, constant.name)
    if unit is not None:
        constant = replace(constant, unit=unit.text, unit_in_si=unit.size)
    outcome = found.outcome
    result = Recovery(
        recovered=passed(gates),
        verdict=found.verdict.verdict,
        reference=reference,
        expression=written(found.law.expression),
        raw_expression=written(outcome.raw.expression) if outcome.raw else None,
        law=found.law.name,
        selected_from=found.law.source,
        constant=constant,
        exponents={
            name: Quantity.of(name, interval, found.true_exponents.get(name))
            for name, interval in found.exponents.items()
        },
        parameters=parameters,
        r2=found.r2,
        r2_linear=found.r2_linear,
        r2_log=found.r2_log,
        seeds=Seeds(outcome.seeds, outcome.agreeing),
        nulls=nulls,
        gates=tuple(gates),
        engine=engine.name,
        engine_reason=reason,
        pareto_front=tuple(_on_front(candidate) for candidate in outcome.front),
        rows=problem.rows,
        rows_used=len(found.samples.y),
        groups=problem.samples.n_effective,
        non_central=problem.non_central,
        error_floor=outcome.floor,
        notes=problem.notes,
        metrics=problem.metrics,
        configuration=as_json(asdict(config)),
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=explain(result, config.thresholds.least_r2))


def _permuted(problem: Problem, engine: Engine, config: RecoverConfig) -> Null:
    """The same search on shuffled targets, where no law is left to find."""
    shuffled = problem.samples.permuted(np.random.default_rng([config.seed, 2]))
    seeds = min(NULL_SEEDS, config.seeds)
    found = find(shuffled, problem.references, problem.asked, engine, config, seeds)
    quantities = (strength(found), *parameters_of(found).values())
    return Null(
        verdict=found.verdict.verdict,
        recovered=passed(law_gates(found, quantities, config.thresholds, None)),
        expression=written(found.law.expression),
        r2=found.r2,
    )


def strength(finding: Finding) -> Quantity:
    """The constant in front: the reference's strength, or the formula's own first constant."""
    if finding.strength is not None and finding.reference is not None:
        return Quantity.of(finding.reference.strength, finding.strength, finding.reference.truth)
    return Quantity.of("c", finding.intervals[0] if finding.intervals else None, None)


def parameters_of(finding: Finding) -> dict[str, Quantity]:
    """The law's own parameters, with intervals and, for the reference, the truth."""
    same = finding.reference is not None and finding.reference.law == finding.law.name
    truths = finding.reference.parameters if same and finding.reference is not None else {}
    return {
        name: Quantity.of(name, interval, truths.get(name))
        for name, interval in zip(finding.law.parameters, finding.intervals[1:], strict=False)
    }


def _on_front(candidate: Candidate) -> FrontPoint:
    return FrontPoint(
        written(candidate.expression),
        candidate.complexity,
        candidate.loss,
        candidate.score,
        candidate.seed,
        candidate.engine,
    )
