"""From a table of forces to a verdict: search, refine, compare, and try to be wrong.

A law counts as recovered from a table when its structure is the reference's (sympy), its
constants and free exponents are near the truth where that is known, it predicts held-out groups,
the acceleration is central, most seeds agree on it, and permuted targets yield no law.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import sympy

from orbits.records.provenance import versions
from symreg.engines.base import Candidate, Engine
from symreg.engines.choice import choose_engine
from symreg.fit.samples import Samples
from symreg.recovery import evidence, references
from symreg.recovery.config import RecoverConfig
from symreg.recovery.finding import find, read_guesses
from symreg.recovery.references import Reference
from symreg.recovery.result import RecoveryResult
from symreg.recovery.tables import radial_field
from symreg.recovery.words import explain

NULL_SEEDS = 2
"""Searches on permuted targets."""
NOTHING = {"value": None, "low": None, "high": None, "truth": None}

Progress = Callable[[str], None]


def recover(
    table: pd.DataFrame,
    attributes: dict[str, Any],
    config: RecoverConfig,
    progress: Progress | None = None,
) -> RecoveryResult:
    """Search the law of a table of force samples and hold it against a reference law.

    Args:
        table: force samples (`orbits.records.force_samples`).
        attributes: of the table; `law` is the reference unless the configuration names one.
        config: how to search and what to ask.
        progress: is told what happens.

    Raises:
        ValueError: for an unknown law or engine, an engine that cannot run, too few rows.
    """
    field = radial_field(table)
    wanted = config.law or attributes.get("law")
    known = references.of_field(field.samples.names, field.constants, wanted)
    result = recover_samples(
        field.samples, known, wanted is not None, config, field.non_central, progress
    )
    if field.third_law is not None:
        result = evidence.with_third_law(result, field.third_law, config)
    result = replace(
        result, metrics=attributes.get("metrics", {}), rows=len(table), notes=list(field.notes)
    )
    return replace(result, explanation=explain(result))


def recover_samples(
    samples: Samples,
    known: Sequence[Reference],
    asked: bool,
    config: RecoverConfig,
    non_central: float | None = None,
    progress: Progress | None = None,
    units: dict[str, str] | None = None,
) -> RecoveryResult:
    """Search the law of any samples and hold it against references.

    Args:
        samples: features, target and groups.
        known: references to compare with.
        asked: whether they were asked for, or are all that are known.
        config: how to search and what to ask.
        non_central: tangential part of the acceleration, where the target is its radial part.
        progress: is told what happens.
        units: of the columns in SI's base units, for an engine that knows dimensions.

    Raises:
        ValueError: for an unknown engine, or one that cannot run.
    """
    began = time.monotonic()
    guesses = [sympy.sstr(guess, full_prec=True) for guess in read_guesses(config.guesses)]
    engine, reason = choose_engine(config.engine, guesses, units, config.space)
    found = find(samples, known, asked, engine, config, config.seeds, progress)
    gates = evidence.gates(found, config, non_central)
    nulls = {}
    if config.null:
        nulls["permuted"] = _permuted(samples, known, asked, engine, config)
        gates["permuted targets"] = {
            "passed": not nulls["permuted"]["recovered"],
            "required": "no law",
            "found": nulls["permuted"]["verdict"],
        }
    exponents = {
        name: asdict(interval) | {"truth": found.true_exponents.get(name)}
        for name, interval in found.exponents.items()
    }
    raw = found.outcome.raw
    result = RecoveryResult(
        recovered=evidence.passed(gates),
        verdict=found.verdict.verdict,
        reference=found.reference.spec if found.reference else None,
        expression=written(found.law.expression),
        raw_expression=written(raw.expression) if raw else None,
        law=found.law.name,
        selected_from=found.law.source,
        constant=evidence.strength(found),
        exponent=exponents.get("r", NOTHING),
        exponents=exponents,
        parameters=evidence.parameters(found),
        r2=found.r2,
        r2_linear=found.r2_linear,
        r2_log=found.r2_log,
        seeds={"run": found.outcome.seeds, "agreeing": found.outcome.agreeing},
        nulls=nulls,
        gates=gates,
        engine=engine.name,
        engine_reason=reason,
        pareto_front=[_candidate(candidate) for candidate in found.outcome.front],
        rows=len(samples.y),
        rows_used=len(found.samples.y),
        groups=samples.n_effective,
        non_central=non_central,
        error_floor=found.outcome.floor,
        explanation="",
        mathml=mathml(found.law.expression),
        configuration=asdict(config),
        versions=versions(),
        seconds=time.monotonic() - began,
    )
    return replace(result, explanation=explain(result))


def _permuted(
    samples: Samples,
    known: Sequence[Reference],
    asked: bool,
    engine: Engine,
    config: RecoverConfig,
) -> dict[str, Any]:
    """The same search on shuffled targets, where no law is left to find."""
    shuffled = samples.permuted(np.random.default_rng([config.seed, 2]))
    found = find(shuffled, known, asked, engine, config, min(NULL_SEEDS, config.seeds))
    return {
        "verdict": found.verdict.verdict,
        "recovered": evidence.passed(evidence.gates(found, config, None)),
        "expression": written(found.law.expression),
        "r2": found.r2,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return asdict(candidate) | {"expression": written(candidate.expression)}


def written(expression: sympy.Expr) -> str:
    """The formula as text, six significant digits."""
    return sympy.sstr(rounded(expression, 6))


def mathml(expression: sympy.Expr) -> str:
    """The formula as presentation MathML, four significant digits."""
    return sympy.mathml(rounded(expression, 4), printer="presentation")


def rounded(expression: sympy.Expr, digits: int) -> sympy.Expr:
    """The formula with its numbers to so many significant digits, for reading."""
    numbers = {number: sympy.Float(number, digits) for number in expression.atoms(sympy.Float)}
    return expression.xreplace(numbers)
