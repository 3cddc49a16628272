"""Every sentence about a law that was found, and the format of numbers."""

import math
from collections.abc import Sequence

import sympy

from orbits.expressions import parse_expression
from orbits.forces import ForceLaw
from orbits.units import ONE, parse_unit
from symreg.formulas.compare import MATCHING
from symreg.recovery.gates import Gate
from symreg.recovery.result import Quantity, Recovery

PERMUTED = "permuted targets"
RIVAL_SHARE = 0.01
"""Formulas with less of the posterior are not mentioned."""

NOT_RECOVERED = "not recovered"
IN_WORDS = {
    "exact": "the same law",
    "up_to_scale": "same form",
    "same_exponents": "same powers, another form",
    "different": "another form",
    "undecided": "undecided",
}
"""How a formula compares with a reference, in a few words."""
VERDICTS = {
    "exact": "It is {reference}, exactly.",
    "up_to_scale": "It has the form of {reference}, with fitted constants.",
    "same_exponents": ("It has the powers of {reference} within the margin, but another form."),
    "different": "It is not {reference}.",
    "undecided": "Whether it is {reference} could not be decided in the time allowed.",
}


def number(value: float | None, digits: int = 4, missing: str = "none") -> str:
    """A number to so many significant digits."""
    return missing if value is None else f"{value:.{digits}g}"


def fixed(value: float | None, decimals: int = 4, missing: str = "none") -> str:
    """A number with so many decimals."""
    return missing if value is None else f"{value:.{decimals}f}"


def percent(value: float | None, decimals: int = 0, missing: str = "none") -> str:
    """A fraction as a percentage."""
    return missing if value is None else f"{value:.{decimals}%}"


MOST_DIGITS = 6
MOST_DECIMALS, LARGEST_WRITTEN = 8, 1e6
"""Beyond these an interval is written in powers of ten."""


def digits_of(quantity: Quantity) -> int:
    """Significant digits supported by an interval: two of the half-width, at least two.

    Six without an interval, and at most.
    """
    if quantity.value is None or quantity.low is None or quantity.high is None:
        return MOST_DIGITS
    half = (quantity.high - quantity.low) / 2
    if not (half > 0 and quantity.value and math.isfinite(half)):
        return MOST_DIGITS
    places = math.floor(math.log10(abs(quantity.value))) - math.floor(math.log10(half)) + 2
    return max(2, min(MOST_DIGITS, places))


def with_its_digits(result: Recovery) -> str:
    """The formula of a result, no number with more digits than its interval has."""
    if not result.form or not result.coefficients:
        return result.expression
    formula = parse_expression(result.form)
    numbers = {
        symbol: sympy.Float(quantity.value, digits_of(quantity))
        for symbol in formula.free_symbols
        if (quantity := result.coefficients.get(symbol.name)) is not None
        and quantity.value is not None
    }
    return sympy.sstr(formula.xreplace(numbers))


def _in_a_line(formula: str) -> str:
    return formula.replace("**", "^").replace("*", "·")


def interval(quantity: Quantity, spec: str | None = None) -> str:
    """A value with its interval, all to as many decimals: `39.40 [38.35, 40.45]`.

    Without a `spec` they have three digits of the half-width, if that can be written out, else five
    of their own.
    """
    if quantity.value is None:
        return "none"
    low, high = quantity.low, quantity.high
    if low is None or high is None:
        return format(quantity.value, spec or ".5g")
    if spec is None:
        spec, half = ".5g", (high - low) / 2
        if half > 0 and max(abs(low), abs(high)) < LARGEST_WRITTEN:
            decimals = max(0, 2 - math.floor(math.log10(half)))
            spec = f".{decimals}f" if decimals <= MOST_DECIMALS else spec
    return f"{quantity.value:{spec}} [{low:{spec}}, {high:{spec}}]"


def unit_of_constant(result: Recovery, law: ForceLaw | None) -> str:
    """The unit of a found constant, `au³/yr²`; empty if the orbits' law, or the form found, does
    not fix one.
    """
    unit = law.gm_unit() if law is not None and result.verdict in MATCHING else None
    units = {} if unit is None else {"GM": unit, "G": f"{unit}/M☉"}
    return units.get(result.constant.name, "").replace("^2", "²").replace("^3", "³")


def shortened(text: str, length: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def explain(result: Recovery, least_r2: float) -> str:
    """Two or three sentences for a physicist: the law, its numbers, the verdict."""
    if result.per_group is not None:
        sentences = [*_found(result, _in_a_line(result.per_group.form)), *_by_group(result)]
    elif result.rivals:
        sentences = [*_found(result, _in_a_line(with_its_digits(result)))]
    else:
        law = _in_a_line(result.expression)
        sentences = [f"The selected law is {law}{_strength(result.constant)}."]
    for name, parameter in result.parameters.items():
        sentences.append(f"Its {name} is {interval(parameter)}{_truth(parameter)}.")
    exponent = result.exponent
    if exponent.value is not None:
        sentences.append(
            f"Read as one power of r, the exponent is {interval(exponent)} "
            f"(±{exponent.statistical:.2g} statistical ⊕ ±{exponent.systematic:.2g} systematic)"
            f"{_truth(exponent)}."
        )
    sentences.append(_verdict(result, least_r2))
    if result.recovered:
        said = result.rivals and result.found  # by how many it is selected
        begin = "It" if said else f"It was chosen by {result.seeds}, and"
        sentences.append(f"{begin} predicts held-out groups with R² = {fixed(result.r2)}.")
    elif result.reference is None and result.rivals:
        sentences.append("It matches no named law, so `recovered` does not apply.")
    else:
        sentences.append(f"It does not count as recovered: {_failed(result.gates)}.")
    if result.rows_used + result.rows_left_out < result.rows:
        sentences.append(f"{result.rows_used} of {result.rows} rows, drawn at random, were used.")
    sentences += [f"Note: {note}." for note in result.notes if result.rivals]
    return " ".join(sentences)


def summary(result: Recovery) -> dict[str, str]:
    """The law and its numbers by name."""
    many = [q for q in result.coefficients.values() if q.value is not None]
    if len(many) < 2 or result.law is not None:
        many = [result.constant]
    target = next(reversed(result.points), "")
    component = f"{target} = " if target.startswith("a_") else ""
    told = {"law": component + _in_a_line(with_its_digits(result))}
    if len(many) > 1:
        told["form"] = _in_a_line(result.form)
    told |= {each.name: with_unit(each) + _truth(each) for each in many if each.value is not None}
    told |= {name: interval(each) + _truth(each) for name, each in result.parameters.items()}
    told |= {
        f"exponent of {name}": interval(each) + _truth(each)
        for name, each in result.exponents.items()
        if each.value is not None
    }
    compared = f"none; beside {result.reference}: {IN_WORDS[result.verdict]}"
    if result.reference is None:
        compared = " or ".join(result.forms) or "none"
    return told | {
        "named law": result.matches or compared,
        "R², held out": fixed(result.r2),
        "chosen by": str(result.seeds),
    }


def conclusion(result: Recovery) -> str:
    """A recovery's conclusion."""
    if result.rivals and not result.found:
        return " ".join([f"No law was found: {_failed(result.found_gates)}.", *_rivals(result)])
    if result.rivals:
        share = percent(result.rivals[0].weight)
        told = f"A law was found, with {share} of the posterior of all that was searched."
        return " ".join([told, *_rivals(result)])
    if not result.recovered:
        return f"Not recovered: {_failed(result.gates)}."
    assert result.reference is not None  # for the type checker: there is one to be recovered
    return f"Recovered. {VERDICTS[result.verdict].format(reference=result.reference)}"


def _failed(gates: Sequence[Gate]) -> str:
    return "; ".join(
        f"{gate.name} (asked: {gate.required}; found: {gate.found})"
        for gate in gates
        if gate.passed is False
    )


def _found(result: Recovery, formula: str) -> list[str]:
    """Whether a law was found, how sure that is, and alternatives."""
    told = f"No law was found; the best formula is {formula}: {_failed(result.found_gates)}."
    if result.found:
        told = (
            f"A law was found: {formula}{_numbers(result)}. It is selected in {result.seeds} and "
            f"has {percent(result.rivals[0].weight)} of the posterior of what was searched."
        )
    return [told, *_rivals(result)]


def _rivals(result: Recovery) -> list[str]:
    """Other possible laws, and where to measure to find out."""
    sentences = []
    as_good = [rival for rival in result.rivals if rival.as_good]
    if as_good:
        listed = "; ".join(_in_a_line(rival.expression) for rival in as_good)
        place = ", ".join(f"{name} = {value:g}" for name, value in as_good[0].measure_at.items())
        apart = percent(as_good[0].difference)
        sentences.append(
            f"The table fits these equally well: {listed}. To tell the first of them from it, "
            f"measure at {place}: there they differ by {apart}."
        )
    others = [r for r in result.rivals[1:] if r.weight >= RIVAL_SHARE and not r.as_good]
    if others:
        listed = "; ".join(
            f"{_in_a_line(rival.expression)} ({percent(rival.weight)})" for rival in others
        )
        sentences.append(f"The data do not rule out: {listed}.")
    return sentences


def _by_group(result: Recovery) -> list[str]:
    """Which constants all groups share, and the others in each."""
    assert result.per_group is not None  # for the type checker: asked for such results only
    groups, sentences = result.per_group, []
    for name, coefficients in groups.constants.items():
        known = [interval(result.coefficients[each]) for each in coefficients]
        if len(known) == 1:
            sentences.append(f"{name} is the same in all groups: {known[0]}.")
        else:
            each = zip(groups.values, known, strict=True)
            listed = "; ".join(
                f"{value if isinstance(value, str) else f'{value:g}'}: {text}"
                for value, text in each
            )
            sentences.append(f"{name} by {groups.column}: {listed}.")
    return sentences


def _numbers(result: Recovery) -> str:
    """Every number of a formula with its interval, and its name in `form`."""
    if result.per_group is not None:
        return ""  # they are told by group
    many = [
        _strength(quantity).removeprefix(", with ")
        for quantity in result.coefficients.values()
        if quantity.value is not None
    ]
    if not many or result.law is not None:
        return _strength(result.constant)
    form = f" = {_in_a_line(result.form)}" if len(many) > 1 else ""
    return f"{form}, with {', '.join(many)}"


def _strength(constant: Quantity) -> str:
    if constant.value is None:
        return ""
    if constant.truth is None and constant.recognised is not None:
        known = constant.recognised
        says = f"; {known.name} = {known.value:.5g} lies inside"
    else:
        says = _truth(constant)
    return f", with {constant.name} = {with_unit(constant)}{says}"


def with_unit(quantity: Quantity) -> str:
    """A quantity with its interval and unit, in the base units that its unit is written in."""
    if quantity.unit is None or quantity.unit_in_si is None:
        return interval(quantity)
    named = 1.0 if quantity.unit == ONE.text else parse_unit(quantity.unit.replace(" ", "*")).size
    factor = quantity.unit_in_si / named
    size = "" if math.isclose(factor, 1) else f"× {factor:.4g} "
    return f"{interval(quantity)} {size}{quantity.unit}"


def _truth(quantity: Quantity) -> str:
    if quantity.holds_truth is None or quantity.truth is None:
        return ""
    text = f"{quantity.truth:.5g}"
    is_sun = math.isclose(quantity.truth, 4 * math.pi**2, rel_tol=1e-9)
    named = f"4π² = {text}" if is_sun else f"the true value {text}"
    return f"; {named} lies {'inside' if quantity.holds_truth else 'outside'}"


def _verdict(result: Recovery, least_r2: float) -> str:
    if result.r2 is None or result.r2 < least_r2:
        found = "none" if result.r2 is None else f"{result.r2:.3f}"
        return f"It does not predict held-out data (R² = {found}): no law."
    if result.reference is None:
        if not result.forms:
            return "No reference law has this form."
        known = any(quantity.unit is not None for quantity in result.coefficients.values())
        units = " and the units" if known else ""
        return f"It has the form{units} of {' or '.join(result.forms)}."
    return VERDICTS[result.verdict].format(reference=result.reference)
