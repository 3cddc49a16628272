"""A recovery in plain words."""

import math
from typing import Any

from symreg.formulas.limits import LEAST_R2
from symreg.recovery.result import RecoveryResult


def explain(result: RecoveryResult) -> str:
    """Two or three sentences that a physicist would sign: the law, its numbers, the verdict."""
    formula = result.expression.replace("**", "^").replace("*", "·")
    sentences = [f"The selected law is {formula}{_strength(result.constant)}."]
    for name, parameter in result.parameters.items():
        sentences.append(f"Its {name} is {_interval(parameter)}{_truth(parameter)}.")
    if result.exponent["value"] is not None:
        sentences.append(
            f"Read as one power of r, the exponent is {_interval(result.exponent)}"
            f"{_parts(result.exponent)}{_truth(result.exponent)}."
        )
    sentences.append(_verdict(result))
    if result.recovered:
        sentences.append(
            f"{result.seeds['agreeing']} of {result.seeds['run']} searches agree, and held-out "
            f"groups are predicted with R² = {result.r2:.4f}."
        )
    else:
        reasons = [
            f"{name} (asked: {gate['required']}; found: {gate['found']})"
            for name, gate in result.gates.items()
            if not gate["passed"]
        ]
        sentences.append(f"It does not count as recovered: {'; '.join(reasons)}.")
    if result.rows_used < result.rows:
        sentences.append(f"{result.rows_used} of {result.rows} rows, drawn at random, were used.")
    return " ".join(sentences)


def _strength(constant: dict[str, Any]) -> str:
    if constant["value"] is None:
        return ""
    known = constant.get("recognised")
    if constant.get("truth") is None and known is not None:
        says = f"; {known['name']} = {known['value']:.5g} lies inside"
    else:
        says = _truth(constant)
    unit = (
        f" ({constant['unit']} in units of {constant['unit_in_si']:.4g} SI)"
        if "unit" in constant
        else ""
    )
    return f", with {constant['name']} = {_interval(constant)}{unit}{says}"


def _truth(number: dict[str, Any]) -> str:
    truth = number.get("truth")
    if truth is None:
        return ""
    inside = number["low"] <= truth <= number["high"]
    return f"; {_named(truth)} lies {'inside' if inside else 'outside'}"


def _named(value: float) -> str:
    text = f"{value:.5g}"
    if math.isclose(value, 4 * math.pi**2, rel_tol=1e-9):
        return f"4π² = {text}"
    return f"the true value {text}"


def _interval(number: dict[str, Any]) -> str:
    return f"{number['value']:.5g} [{number['low']:.5g}, {number['high']:.5g}]"


def _parts(number: dict[str, Any]) -> str:
    return f" (±{number['statistical']:.2g} statistical ⊕ ±{number['systematic']:.2g} systematic)"


def _verdict(result: RecoveryResult) -> str:
    if result.r2 < LEAST_R2:
        return f"It predicts nothing that it was not fitted to (R² = {result.r2:.3f}): no law."
    if result.reference is None:
        return "No reference law has this form."
    says = {
        "exact": f"It is {result.reference}, exactly.",
        "up_to_scale": f"It has the form of {result.reference}; only the constants are fitted.",
        "same_exponents": (
            f"It is close to {result.reference}: the same powers within the margin, not the same "
            "form."
        ),
        "different": f"It is not {result.reference}.",
        "undecided": f"Whether it is {result.reference} could not be decided in the time allowed.",
    }
    return says[result.verdict]
