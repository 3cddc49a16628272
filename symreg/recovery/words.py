"""Every sentence about a law that was found, and the format of numbers."""

import math
import re
from dataclasses import replace

from orbits.forces import ForceLaw
from orbits.printing import fixed, in_a_line, interval, percent, plural, share
from orbits.units import GM_SUN, ONE, parse_unit
from symreg.formulas.compare import MATCHING, monomial_exponents
from symreg.recovery.gates import failures
from symreg.recovery.result import PerGroup, Quantity, Recovery
from symreg.recovery.thresholds import THRESHOLDS

PERMUTED = "permuted targets"
RIVAL_SHARE = 0.01
"""Formulas with less of the posterior are not mentioned."""

NOT_RECOVERED = "not recovered"
NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?", re.IGNORECASE)
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


def unit_of_constant(result: Recovery, law: ForceLaw | None) -> str:
    """The unit of a found constant, `au³/yr²`; empty if the orbits' law, or the form found, does
    not fix one.
    """
    unit = law.gm_unit() if law is not None and result.verdict in MATCHING else None
    units = {} if unit is None else {"GM": unit, "G": f"{unit}/M☉"}
    return units.get(result.constant.name, "").replace("^2", "²").replace("^3", "³")


def worded(result: Recovery) -> Recovery:
    """The result with its texts: explanation, conclusion and summary."""
    return replace(
        result,
        explanation=" ".join(_explanation(result)),
        conclusion=_conclusion(result),
        summary=_summary(result),
    )


def _explanation(result: Recovery) -> list[str]:
    """Two or three sentences for a physicist: the law, its numbers, the verdict."""
    if result.recovered and not result.found:
        law = in_a_line(result.written)
        sentences = [f"The selected law is {law}{_strength(result.constant)}."]
    else:
        sentences = _status(result)
    if result.per_group is not None:
        for name, told in _by_group(result, result.per_group).items():
            sentences.append(f"{name} by {result.per_group.column}: {told}.")
    for name, parameter in result.parameters.items():
        sentences.append(f"Its {name} is {interval(parameter)}{_truth(parameter)}.")
    exponent = result.exponent
    if exponent.value is not None:
        sentences.append(
            f"Read as one power of r, the exponent is {interval(exponent)} "
            f"(±{exponent.statistical or 0.0:.2g} statistical ⊕ ±{exponent.systematic or 0.0:.2g} "
            f"systematic){_truth(exponent)}."
        )
    sentences.append(_verdict(result))
    if result.recovered:
        begin = "It" if result.found else f"It was chosen by {result.agreement}, and"
        sentences.append(f"{begin} predicts held-out groups with R² = {fixed(result.r2)}.")
    elif result.reference is None:
        sentences.append("It matches no named law, so `recovered` does not apply.")
    elif result.status != "fitted":
        sentences.append(f"It does not count as recovered: {failures(result.gates)}.")
    if result.rows_used + result.rows_left_out < result.rows:
        sentences.append(f"{result.rows_used} of {result.rows} rows, drawn at random, were used.")
    return sentences + [f"Note: {note}." for note in result.notes]


def _summary(result: Recovery) -> dict[str, str]:
    """The law and its numbers by name."""
    many = [q for q in result.coefficients.values() if q.value is not None]
    if len(many) < 2 or result.law is not None:
        many = [result.constant]
    target = next(reversed(result.points), "")
    component = f"{target} = " if target.startswith("a_") else ""
    if (groups := result.per_group) is not None:
        rows = {"law": component + in_a_line(groups.form)} | _by_group(result, groups)
        many = []
    else:
        unit = f", in {result.unit}" if result.unit and result.written else ""
        rows = {"law": component + in_a_line(result.written) + unit}
    if len(many) > 1:
        rows["form"] = in_a_line(result.form)
    rows |= {each.name: with_unit(each) + _truth(each) for each in many if each.value is not None}
    rows |= {name: interval(each) + _truth(each) for name, each in result.parameters.items()}
    if result.r2 is not None and result.r2 >= THRESHOLDS.least_r2 and is_power_law(result):
        rows |= {
            f"exponent of {name}": interval(each) + _truth(each)
            for name, each in result.exponents.items()
            if each.value is not None
        }
    compared = f"none; compared with {result.reference}: {IN_WORDS[result.verdict]}"
    if result.reference is None:
        compared = " or ".join(result.forms) or "none"
    if result.noise:
        rows["errors"] = result.noise
    return rows | {
        "named law": result.matches or compared,
        "R², held out": fixed(result.r2),
        "chosen by": "the form given" if result.status == "fitted" else str(result.agreement),
    }


def is_power_law(result: Recovery) -> bool:
    """Whether the formula is a product of powers: only then a feature has an exponent."""
    return monomial_exponents(result.formula, list(result.exponents)) is not None


def _conclusion(result: Recovery) -> str:
    """The sentence that matters, and the other laws that the table allows."""
    if result.recovered and not result.found:
        assert result.reference is not None  # for the type checker: there is one to be recovered
        return f"Recovered. {VERDICTS[result.verdict].format(reference=result.reference)}"
    if result.found:
        weight = percent(result.rivals[0].weight)
        sentence = f"A law was found, with {weight} of the posterior of all that was searched."
        return " ".join([sentence, *_rivals(result)])
    return " ".join(_status(result))


def _status(result: Recovery) -> list[str]:
    """Whether a law was found, how sure that is, and alternatives."""
    group = result.per_group
    formula = in_a_line(result.written if group is None else group.form)
    if result.status == "fitted":
        told = [
            f"The form that was given, fitted and not searched: {formula}{_numbers(result)}. It "
            f"leaves {_size(result.error)} (rms, of the target's size), and R² on rows kept aside "
            f"is {fixed(result.r2)}. A free search, without --form, would have to leave less with "
            f"{plural(len(result.coefficients), 'number')}, or as much with fewer."
        ]
        if missing := failures(result.found_gates):
            told.append(f"It does not explain the table: {missing}.")
        return told
    if result.found:
        return [
            f"A law was found: {formula}{_numbers(result)}. It is selected in {result.agreement} "
            f"and has {percent(result.rivals[0].weight)} of the posterior of what was searched.",
            *_rivals(result),
        ]
    why = failures(result.found_gates)
    if result.status == "approximation":
        names = set(re.findall(r"[^\W\d]\w*", result.expression))
        ranges = [
            f"{name} from {low:.4g} to {high:.4g}"
            for name, (low, high) in result.domain.items()
            if name in names
        ]
        sentence = (
            f"No law was found; an approximation is {formula}, good to {_size(result.error)} (rms; "
            f"at worst {_size(result.worst)}) of the target's size for {', '.join(ranges)}: {why}."
        )
    else:
        sentence = f"No law was found; the best formula is {formula}: {why}."
    sentences = [sentence]
    if result.gap is not None:
        gap = result.gap
        sentences.append(
            f"The table breaks at {gap.feature} = {gap.value:.4g}: give the rows below and above "
            "it apart, and each may have a law."
        )
    return [*sentences, *_rivals(result)]


def _size(error: float | None) -> str:
    """A relative error: `0.4 %`, or `6e-08` if it is tiny."""
    if error is None or not math.isfinite(error):
        return "an unknown error"
    return share(error, 2) if error >= 1e-5 else f"{error:.1g}"


def _rivals(result: Recovery) -> list[str]:
    """Other possible laws, and where to measure to find out."""
    sentences = []
    as_good = [rival for rival in result.rivals if rival.as_good]
    if as_good:
        listed = "; ".join(in_a_line(rival.expression) for rival in as_good)
        place = ", ".join(f"{name} = {value:g}" for name, value in as_good[0].measure_at.items())
        apart = percent(as_good[0].difference)
        sentences.append(
            f"The table fits these equally well: {listed}. To tell the first of them from it, "
            f"measure at {place}: there they differ by {apart}."
        )
    others = [r for r in result.rivals[1:] if r.weight >= RIVAL_SHARE and not r.as_good]
    if others:
        listed = "; ".join(
            f"{in_a_line(rival.expression)} ({percent(rival.weight)})" for rival in others
        )
        sentences.append(f"The data do not rule out: {listed}.")
    return sentences


def _by_group(result: Recovery, groups: PerGroup) -> dict[str, str]:
    """The form's constants: which all groups share, and the others in each, or their range."""
    rows = {}
    for name, members in groups.constants.items():
        quantities = [result.coefficients[each] for each in members]
        values = sorted(each.value or 0.0 for each in quantities)
        if len(members) == 1:
            rows[name] = f"{with_unit(quantities[0])}, the same in all groups"
        elif len(members) <= 10:
            each = zip(groups.values, quantities, strict=True)
            rows[name] = "; ".join(
                f"{str(group).removesuffix('.0')}: {with_unit(quantity)}"
                for group, quantity in each
            )
        else:
            rows[name] = (
                f"{values[0]:.4g} to {values[-1]:.4g}, median {values[len(values) // 2]:.4g}, in "
                f"{len(members)} groups (`by_group()` in Python lists them, `coefficients` in JSON)"
            )
    return rows


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
    # a number that the formula shows is known by its value
    shown = [abs(float(each)) for each in NUMBER.findall(result.expression or "")]
    value = abs(result.constant.value or 0.0)
    plain = len(many) == 1 and any(math.isclose(value, each, rel_tol=0.01) for each in shown)
    form = "" if plain else f" = {in_a_line(result.form)}"
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
    """A quantity with its interval and unit, multiplied out if it has no dimension."""
    if quantity.unit is None or quantity.unit_in_si is None:
        return interval(quantity)
    if quantity.unit_as_given not in (None, ONE.text):
        return f"{interval(quantity)} {quantity.unit_as_given}"
    factor = quantity.unit_in_si / parse_unit(quantity.unit).size
    if quantity.unit == ONE.text:
        return interval(quantity.times(factor))
    size = "" if math.isclose(factor, 1) else f"× {factor:.4g} "
    return f"{interval(quantity)} {size}{quantity.unit}"


def true_number(truth: float) -> str:
    """A true constant to five digits, that of the Sun by its name too."""
    is_sun = math.isclose(truth, GM_SUN, rel_tol=1e-9)
    return f"4π² = {truth:.5g}" if is_sun else f"{truth:.5g}"


def _truth(quantity: Quantity) -> str:
    if quantity.holds_truth is None or quantity.truth is None:
        return ""
    number = true_number(quantity.truth)
    named = "" if "=" in number else "the true value "
    return f"; {named}{number} lies {'inside' if quantity.holds_truth else 'outside'}"


def _verdict(result: Recovery) -> str:
    if result.r2 is None or result.r2 < THRESHOLDS.least_r2:
        return f"It does not predict held-out data (R² = {fixed(result.r2, 3)}): no law."
    if result.reference is None:
        if not result.forms:
            return "No reference law has this form."
        known = any(quantity.unit is not None for quantity in result.coefficients.values())
        units = " and the units" if known else ""
        return f"It has the form{units} of {' or '.join(result.forms)}."
    return VERDICTS[result.verdict].format(reference=result.reference)
