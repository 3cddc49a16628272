"""What a finding says for and against a law: its constants beside the truth, and the gates."""

from dataclasses import replace
from typing import Any

from symreg.fit.uncertainty import Interval
from symreg.formulas.constants import recognised
from symreg.recovery.config import RecoverConfig
from symreg.recovery.finding import FOUND, Finding
from symreg.recovery.result import RecoveryResult

Gates = dict[str, dict[str, Any]]


def gates(finding: Finding, config: RecoverConfig, non_central: float | None) -> Gates:
    """Every condition on a table: passed, what was asked, what was found."""
    made: Gates = {}

    def gate(name: str, passed: bool, required: str, found: str) -> None:
        made[name] = {"passed": bool(passed), "required": required, "found": found}

    gate("structure", finding.verdict.verdict in FOUND, " or ".join(FOUND), finding.verdict.verdict)
    for name, truth in finding.true_exponents.items():
        value = finding.exponents[name].value
        gate(
            f"exponent of {name}",
            abs(value - truth) <= config.exponent_margin,
            f"within {config.exponent_margin:g} of {truth:.3f}",
            f"{value:.3f}",
        )
    for name, constant in {"strength": strength(finding), **parameters(finding)}.items():
        value, truth = constant["value"], constant["truth"]
        if value is not None and truth is not None:
            gate(
                f"constant {constant['name']}" if name == "strength" else f"constant {name}",
                abs(value / truth - 1) <= config.constant_margin,
                f"within {config.constant_margin:.0%} of {truth:.5g}",
                f"{value:.5g}",
            )
    gate("held-out R²", finding.r2 >= config.r2, f"at least {config.r2:g}", f"{finding.r2:.4f}")
    agreeing, run = finding.outcome.agreeing, finding.outcome.seeds
    gate(
        "seeds",
        agreeing >= config.agreement * run,
        f"at least {config.agreement:.0%} agree",
        f"{agreeing} of {run}",
    )
    if non_central is not None:
        gate(
            "central",
            non_central <= config.non_central,
            f"tangential part at most {config.non_central:.0%}",
            f"{non_central:.1%}",
        )
    return made


def with_third_law(
    result: RecoveryResult, unbalanced: float, config: RecoverConfig
) -> RecoveryResult:
    """The result with one more gate: action equals reaction.

    Args:
        result: of the force between two bodies.
        unbalanced: rms of m1 a1 + m2 a2 over rms of m1 a1.
        config: its `non_central` is the largest that passes.
    """
    gate = {
        "passed": unbalanced <= config.non_central,
        "required": f"|m1 a1 + m2 a2| at most {config.non_central:.0%} of |m1 a1|",
        "found": f"{unbalanced:.1%}",
    }
    return with_gate(result, "third law", gate)


def with_gate(result: RecoveryResult, name: str, gate: dict[str, Any]) -> RecoveryResult:
    """The result with one more gate: passed, required, found."""
    gate = gate | {"passed": bool(gate["passed"])}
    recovered = result.recovered and gate["passed"]
    return replace(result, gates=result.gates | {name: gate}, recovered=recovered)


def passed(made: Gates) -> bool:
    """Whether every gate is."""
    return all(gate["passed"] for gate in made.values())


def strength(finding: Finding) -> dict[str, Any]:
    """The constant in front: the reference's strength, or the formula's own first constant."""
    if finding.strength is not None and finding.reference is not None:
        return valued(finding.reference.strength, finding.strength, finding.reference.truth)
    return valued("c", finding.intervals[0] if finding.intervals else None, None)


def parameters(finding: Finding) -> dict[str, dict[str, Any]]:
    """The law's own parameters, with intervals and, for the reference, the truth."""
    same = finding.reference is not None and finding.reference.law == finding.law.name
    truths = finding.reference.parameters if same and finding.reference is not None else {}
    return {
        name: valued(name, interval, truths.get(name))
        for name, interval in zip(finding.law.parameters, finding.intervals[1:], strict=False)
    }


def valued(name: str, interval: Interval | None, truth: float | None) -> dict[str, Any]:
    """A number with its interval, its truth where known, and the constant it may be."""
    value = None if interval is None else interval.value
    return {
        "name": name,
        "value": value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "statistical": None if interval is None else interval.statistical,
        "systematic": None if interval is None else interval.systematic,
        "truth": truth,
        "relative_error": None if value is None or not truth else value / truth - 1,
        "recognised": None if interval is None else recognised(interval),
    }
