"""From a table of forces to a verdict: search, refine, compare, and try to be wrong.

A law counts as recovered from a table when its structure is the reference's (sympy), its
constants and free exponents are near the truth, it predicts held-out orbits, the acceleration is
central, most seeds agree on it, and permuted targets yield no law.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import sympy

from orbits.forces import GM_SYMBOL, LAWS, ForceLaw, parse_law
from orbits.provenance import versions
from orbits.units import GM_SUN
from symreg.compare import DIFFERENT, EXACT, UNDECIDED, UP_TO_SCALE, Comparison, compare, decide
from symreg.engines.base import Budget, Candidate, Engine
from symreg.engines.choice import choose_engine
from symreg.engines.monomial import fit_monomial, usable
from symreg.explain import explain
from symreg.expressions import constant_symbol, evaluate, symbol
from symreg.recover_config import RecoverConfig
from symreg.refine import Fitted
from symreg.result import RecoveryResult
from symreg.samples import Samples, r_squared
from symreg.scatter import weighed
from symreg.search import Outcome, refit_law, search_seeds
from symreg.tables import radial_field
from symreg.uncertainty import Interval, constant_intervals, exponent_intervals

FOUND = (EXACT, UP_TO_SCALE)
"""Verdicts that say: this is the reference law."""
NULL_SEEDS = 2
"""Searches on permuted targets."""
STRENGTH = "GM"


@dataclass(frozen=True)
class Reference:
    """What the selected formula is compared with.

    Attributes:
        law: one law of `orbits.forces`.
        gm: gravitational parameter of the rows where it does not vary.
        gm_feature: name of the feature that is GM, where it varies.
    """

    law: ForceLaw
    gm: float
    gm_feature: str | None

    def family(self) -> sympy.Expr:
        """The attraction over the features; the law's own parameters are symbols."""
        expression = (
            self.law.numeric_expression()
            if self.law.name == "power_law"
            else self.law.expression().subs(symbol("a0"), self.law.parameters.get("a0", 1))
        )
        return expression.subs(GM_SYMBOL, symbol(self.gm_feature or STRENGTH))

    def values(self, samples: Samples) -> np.ndarray:
        """(row,) the true law's attraction on the rows."""
        r = samples.X[:, samples.names.index("r")]
        gm = samples.X[:, samples.names.index(self.gm_feature)] if self.gm_feature else self.gm
        return -np.asarray(self.law.radial_acceleration(r, gm), dtype=float)


def recover(
    table: pd.DataFrame,
    attributes: dict[str, Any],
    config: RecoverConfig,
    progress: Callable[[str], None] | None = None,
) -> RecoveryResult:
    """Search the law of a table of force samples and hold it against a reference law.

    Args:
        table: force samples (`orbits.force_samples`).
        attributes: of the table; `law` is the reference unless the configuration names one.
        config: how to search and what to ask.
        progress: is told what happens.

    Raises:
        ValueError: for an unknown law or engine, an engine that cannot run, too few rows.
    """
    began = time.monotonic()
    engine, reason = choose_engine(config.engine)
    field = radial_field(table)
    wanted = config.law or attributes.get("law")
    references = [
        Reference(
            law, field.constants.get("gm", GM_SUN), "gm" if "gm" in field.samples.names else None
        )
        for law in ([parse_law(wanted)] if wanted else [law() for law in LAWS.values()])
    ]
    found = _recover_samples(field.samples, references, bool(wanted), engine, config, progress)
    gates = _gates(found, references, config, field.non_central)
    nulls = {}
    if config.null:
        nulls["permuted"] = _permuted(field.samples, references, bool(wanted), engine, config)
        gates["permuted targets"] = {
            "passed": not nulls["permuted"]["recovered"],
            "required": "no law",
            "found": nulls["permuted"]["verdict"],
        }
    result = _result(found, gates, nulls, engine, reason, field.non_central, config)
    return replace(
        result,
        metrics=attributes.get("metrics", {}),
        rows=len(table),
        groups=field.samples.n_effective,
        seconds=time.monotonic() - began,
    )


@dataclass(frozen=True)
class _Found:
    """One pass over samples: the consensus, the verdict and the numbers."""

    outcome: Outcome
    law: Fitted
    reference: Reference | None
    verdict: Comparison
    r2_linear: float
    r2_log: float | None
    intervals: list[Interval]
    exponents: dict[str, Interval]
    true_exponents: dict[str, float]
    samples: Samples


def _recover_samples(
    samples: Samples,
    references: list[Reference],
    named: bool,
    engine: Engine,
    config: RecoverConfig,
    progress: Callable[[str], None] | None,
    seeds: int | None = None,
) -> _Found:
    rng = np.random.default_rng([config.seed, 1])
    samples = weighed(samples, config.error_floor)
    training, held_out = samples.split(config.held_out, rng)
    training, held_out = training.thinned(config.rows, rng), held_out.thinned(config.rows, rng)
    whole = samples.thinned(config.rows, rng)
    budget = Budget(
        config.population, config.generations, config.max_size, seconds=config.time_limit
    )
    run = [config.seed + i for i in range(seeds or config.seeds)]
    outcome = search_seeds(engine, training, run, budget, config.error_floor, config.jobs, progress)
    prediction = evaluate(outcome.law.form, samples.names, held_out.X, outcome.law.constants)
    law = refit_law(outcome.law, whole)
    reference, verdict = _verdict(law, references, named, whole, config)
    exponents: dict[str, Interval] = {}
    true_exponents: dict[str, float] = {}
    if usable(whole):
        exponents = exponent_intervals(whole, outcome.floor, rng)
        if reference is not None:
            truth = fit_monomial(replace(whole, y=reference.values(whole)))
            true_exponents = dict(zip(whole.names, map(float, truth.exponents), strict=True))
    return _Found(
        outcome=outcome,
        law=law,
        reference=reference,
        verdict=verdict,
        r2_linear=r_squared(held_out.y, prediction),
        r2_log=_log_r2(held_out.y, prediction),
        intervals=constant_intervals(law, whole, outcome.floor, rng),
        exponents=exponents,
        true_exponents=true_exponents,
        samples=whole,
    )


def _log_r2(y: np.ndarray, prediction: np.ndarray) -> float | None:
    if np.any(y <= 0) or not np.all(prediction > 0):
        return None
    return r_squared(np.log(y), np.log(prediction))


def _verdict(
    law: Fitted,
    references: list[Reference],
    named: bool,
    samples: Samples,
    config: RecoverConfig,
) -> tuple[Reference | None, Comparison]:
    """The best verdict over the references; numbers first, sympy only where they agree."""
    domain = {
        name: (float(column.min()), float(column.max()))
        for name, column in zip(samples.names, samples.X.T, strict=True)
        if np.all(column > 0)
    }
    formula = _comparable(law)
    answers = []
    for reference in references:
        family = reference.family()
        quick = decide(
            law.expression, family, samples.names, domain, config.exponent_margin, symbolic=False
        )
        if quick.verdict in (UP_TO_SCALE, UNDECIDED):
            quick = compare(
                formula, family, samples.names, domain, config.exponent_margin, config.compare_limit
            )
        answers.append((reference, quick))
    order = [EXACT, UP_TO_SCALE, "same_exponents", UNDECIDED, DIFFERENT]
    best = min(answers, key=lambda answer: order.index(answer[1].verdict))
    if not named and best[1].verdict == DIFFERENT:
        return None, best[1]
    return best


def _comparable(law: Fitted) -> sympy.Expr:
    """The formula for sympy: a named law keeps its parameters as symbols, exactly tied."""
    if law.name is None or not law.parameters:
        return law.expression
    names = {constant_symbol(i + 1): symbol(name) for i, name in enumerate(law.parameters)}
    return law.form.xreplace({constant_symbol(0): sympy.Float(law.constants[0])} | names)


def _gates(
    found: _Found, references: list[Reference], config: RecoverConfig, non_central: float | None
) -> dict[str, dict[str, Any]]:
    """Every condition on the table itself: what was asked, what was found."""
    gates: dict[str, dict[str, Any]] = {}

    def gate(name: str, passed: bool, required: str, value: str) -> None:
        gates[name] = {"passed": bool(passed), "required": required, "found": value}

    gate("structure", found.verdict.verdict in FOUND, " or ".join(FOUND), found.verdict.verdict)
    if found.true_exponents:
        for name, truth in found.true_exponents.items():
            value = found.exponents[name].value
            gate(
                f"exponent of {name}",
                abs(value - truth) <= config.exponent_margin,
                f"within {config.exponent_margin:g} of {truth:.3f}",
                f"{value:.3f}",
            )
    else:
        gate("exponent", False, "positive attractions", "none: signs are mixed")
    for name, constant in {"strength": _constant(found), **_parameters(found)}.items():
        value, truth = constant["value"], constant["truth"]
        if value is None or truth is None:
            continue
        gate(
            f"constant {constant['name']}" if name == "strength" else f"constant {name}",
            abs(value / truth - 1) <= config.constant_margin,
            f"within {config.constant_margin:.0%} of {truth:.5g}",
            f"{value:.5g}",
        )
    best = max(found.r2_linear, -np.inf if found.r2_log is None else found.r2_log)
    gate("held-out R²", best >= config.r2, f"at least {config.r2:g}", f"{best:.4f}")
    needed = config.agreement * found.outcome.seeds
    gate(
        "seeds",
        found.outcome.agreeing >= needed,
        f"at least {config.agreement:.0%} agree",
        f"{found.outcome.agreeing} of {found.outcome.seeds}",
    )
    if non_central is not None:
        gate(
            "central",
            non_central <= config.non_central,
            f"tangential part at most {config.non_central:.0%}",
            f"{non_central:.1%}",
        )
    return gates


def _permuted(
    samples: Samples,
    references: list[Reference],
    named: bool,
    engine: Engine,
    config: RecoverConfig,
) -> dict[str, Any]:
    """The same search on shuffled targets, where no law is left to find."""
    shuffled = samples.permuted(np.random.default_rng([config.seed, 2]))
    found = _recover_samples(
        shuffled, references, named, engine, config, None, min(NULL_SEEDS, config.seeds)
    )
    gates = _gates(found, references, config, None)
    return {
        "verdict": found.verdict.verdict,
        "recovered": all(gate["passed"] for gate in gates.values()),
        "expression": _written(found.law.expression),
        "r2": max(found.r2_linear, -np.inf if found.r2_log is None else found.r2_log),
    }


def _constant(found: _Found) -> dict[str, Any]:
    """The strength in front of the law, with its interval and, for the reference, the truth."""
    if not found.intervals:
        return _valued("c", None, None)
    interval = found.intervals[0]
    reference = found.reference
    if found.verdict.verdict not in FOUND or reference is None:
        return _valued("c", interval, None)
    if reference.gm_feature:
        return _valued("scale", interval, 1.0 if reference.law.linear_in_gm else None)
    if reference.law.linear_in_gm:
        return _valued(STRENGTH, interval, reference.gm)
    truth = float(-reference.law.radial_acceleration(1.0, reference.gm))
    return _valued(f"strength of {reference.law.name}", interval, truth)


def _parameters(found: _Found) -> dict[str, dict[str, Any]]:
    """The law's own parameters, with intervals and, for the reference, the truth."""
    truths = {}
    if found.reference is not None and found.reference.law.name == found.law.name:
        truths = found.reference.law.parameters
    return {
        name: _valued(name, interval, truths.get(name))
        for name, interval in zip(found.law.parameters, found.intervals[1:], strict=False)
    }


def _valued(name: str, interval: Interval | None, truth: float | None) -> dict[str, Any]:
    value = None if interval is None else interval.value
    error = None if value is None or not truth else value / truth - 1
    return {
        "name": name,
        "value": value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "truth": truth,
        "relative_error": error,
    }


def _result(
    found: _Found,
    gates: dict[str, dict[str, Any]],
    nulls: dict[str, Any],
    engine: Engine,
    reason: str,
    non_central: float | None,
    config: RecoverConfig,
) -> RecoveryResult:
    exponents = {
        name: asdict(interval) | {"truth": found.true_exponents.get(name)}
        for name, interval in found.exponents.items()
    }
    nothing = {"value": None, "low": None, "high": None, "truth": None}
    raw = found.outcome.raw
    result = RecoveryResult(
        recovered=all(gate["passed"] for gate in gates.values()),
        verdict=found.verdict.verdict,
        reference=found.reference.law.spec if found.reference else None,
        expression=_written(found.law.expression),
        raw_expression=_written(raw.expression) if raw else None,
        law=found.law.name,
        selected_from=found.law.source,
        constant=_constant(found),
        exponent=exponents.get("r", nothing),
        exponents=exponents,
        parameters=_parameters(found),
        r2=max(found.r2_linear, -np.inf if found.r2_log is None else found.r2_log),
        r2_linear=found.r2_linear,
        r2_log=found.r2_log,
        seeds={"run": found.outcome.seeds, "agreeing": found.outcome.agreeing},
        nulls=nulls,
        gates=gates,
        engine=engine.name,
        engine_reason=reason,
        pareto_front=[_candidate(candidate) for candidate in found.outcome.front],
        rows=len(found.samples.y),
        groups=found.samples.n_effective,
        non_central=non_central,
        error_floor=found.outcome.floor,
        explanation="",
        mathml=sympy.mathml(rounded(found.law.expression), printer="presentation"),
        configuration=asdict(config),
        versions=versions(),
    )
    return replace(result, explanation=explain(result))


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "expression": _written(candidate.expression),
        "complexity": candidate.complexity,
        "loss": candidate.loss,
        "score": candidate.score,
        "seed": candidate.seed,
        "engine": candidate.engine,
    }


def _written(expression: sympy.Expr) -> str:
    return sympy.sstr(rounded(expression, 6))


def rounded(expression: sympy.Expr, digits: int = 5) -> sympy.Expr:
    """The formula with its numbers to so many significant digits, for reading."""
    numbers = {number: sympy.Float(number, digits) for number in expression.atoms(sympy.Float)}
    return expression.xreplace(numbers)
