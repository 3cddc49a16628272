"""A weighing in words: the law's name and formula, the scale, the explanation."""

from collections.abc import Mapping

import numpy as np
import sympy

from orbits.estimates import Estimate
from orbits.forces import GM_SYMBOL, ForceLaw
from orbits.units import LENGTHS, GivenUnits
from symreg.formulas.expressions import DIGITS, rounded
from symreg.weighing.config import WeighConfig
from symreg.weighing.fit import LawFit
from symreg.weighing.motion import BEYOND
from symreg.weighing.records import Relativity, Rest, Unseen
from symreg.weighing.result import Weighing
from symreg.weighing.shapes import Power


def name_of(fit: LawFit, central: bool, units: GivenUnits) -> tuple[str, str]:
    """The law in project notation, and its formula for a body of mass m."""
    if not central:
        return "none", ""
    law = fit.shape.law(fit.parameters)
    # in a power G stands before m/r^n in whatever unit r has: nothing changes with it
    return law.spec, formula_of(law, GivenUnits({}) if isinstance(fit.shape, Power) else units)


def formula_of(law: ForceLaw, units: GivenUnits) -> str:
    """The attraction by a body of mass m, with r and G in the units given.

    With r = L r', L au to the unit of length, the pull G m g(r) in au and yr is G' m L^2 g(L r')
    there.
    """
    gm = sympy.Symbol("G", positive=True) * sympy.Symbol("m", positive=True)
    expression = law.numeric_expression()
    if units.length != "au":
        unit = LENGTHS[units.length]
        r = {s: unit * s for s in expression.free_symbols if s.name == "r"}
        expression = rounded(unit**2 * expression.subs(r), DIGITS)
    return str(expression.subs(GM_SYMBOL, gm))


def scale_of(fit: LawFit, config: WeighConfig, units: GivenUnits) -> str:
    if config.reference:
        return f"{config.reference} has {config.reference_mass:g} {units.mass}"
    ours = units.length == "au" and units.time == "yr"
    newton = "4π²" if ours else f"{units.newton:.8g}"
    text = f"G = {newton} {units.length}³/{units.time}²/{units.mass}"
    if units.mass != "kg":
        sun = 1 / GivenUnits({"time_unit": "d"}).mass_factor if ours else 1
        text += f", of which the Sun has {sun:.6g}"
    if not isinstance(fit.shape, Power):
        return text
    n = fit.shape.exponent(fit.parameters)
    text += f", for m/r^{n:.5g} with r in {units.length}"
    if n != 2:
        text += "; with another unit of length every mass is another"
    return text


def _of_the_rest(rest: Rest, units: Mapping[str, str]) -> str:
    vector, length, time = np.array(rest.acceleration), units["length"], units["time"]
    size = float(np.linalg.norm(vector))
    way = f"longitude {np.degrees(np.arctan2(vector[1], vector[0])) % 360:.0f} degrees"
    if len(vector) > 2:
        way += f", latitude {np.degrees(np.arcsin(vector[2] / size)):.0f}"
    where = f" of stretch {rest.stretch + 1}" if rest.stretch else ""
    return (
        f"On {rest.body} most is left {rest.time:.4g} {time} after the first state{where} (within "
        f"{rest.around:.2g} {time}): {size:.2g} {length}/{time}² towards {way} in the table's "
        f"axes, {rest.angle:.0f} degrees from {rest.heaviest}."
    )


def of_the_unseen(unseen: Unseen, units: Mapping[str, str]) -> dict[str, str]:
    """What is told of an unseen body: its mass, orbit and place, or that none is needed."""
    rest = f"{unseen.before:.3g} standard errors without it, {unseen.after:.3g} with it"
    if not unseen.exists:
        grows = f"2 ln L grows by {unseen.gain:.3g}, where {unseen.needed:.3g} is required"
        return {"unseen body": f"none is needed ({rest}; {grows})"}
    facts = {
        f"unseen body, {units['mass']}": str(unseen.mass),
        f"its semi-major axis, {units['length']}": str(unseen.semi_major_axis),
        "its eccentricity": str(unseen.eccentricity),
    }
    for k in (0, len(unseen.times) // 2, -1):
        facts[f"where it is after {unseen.times[k]:.4g} {units['time']}"] = (
            f"longitude {unseen.longitude[k]}, latitude {unseen.latitude[k]}°, "
            f"{unseen.distance[k]} {units['length']} from {unseen.centre}"
        )
    if unseen.after > BEYOND:
        rest += "; that is not noise alone, so another orbit may fit better"
    return facts | {"left of the positions": rest}


def _of_relativity(relativity: Relativity) -> dict[str, str]:
    theories = {"Einstein's 1": 1.0, "Newton's 0": 0.0}
    inside = [name for name, value in theories.items() if value in relativity.coefficient]
    held = " and ".join(inside) or "neither Einstein's 1 nor Newton's 0"
    precession = f"perihelion of {relativity.body}, arcsec a century"
    return {
        "post-Newtonian coefficient": f"{relativity.coefficient}, which holds {held}",
        precession: str(relativity.precession),
        "left of the positions": f"{relativity.left:.3g} standard errors",
    }


def summary_of(result: Weighing, lengths: Mapping[str, float]) -> dict[str, str]:
    """The law between the bodies, as far as known; `lengths` are its parameters' powers of length.

    The numbers of a formula without a name are those of the law in project notation.
    """
    explained = result.central or result.unseen_found
    facts = {"law": result.law if explained else "none of the distance alone"}
    units = result.units
    if explained:
        facts[f"attraction, {units['length']}/{units['time']}²"] = result.formula
    facts["exponent"] = str(result.exponent)
    for name, value in result.parameters.items():
        if name != "n":
            power = lengths.get(name, 0)
            unit = units["length"] if power == 1 else f"{units['length']}^{power:g}"
            facts[f"{name}, {unit}" if power else name] = str(value)
    for row in result.left_over:
        name = " ".join(filter(None, (row["name"], row["axis"])))
        facts[f"{name}, {row['unit']}"] = str(Estimate(row["value"], row["low"], row["high"]))
    if result.unseen is not None:
        facts |= of_the_unseen(result.unseen, units)
    if result.relativity is not None:
        facts |= _of_relativity(result.relativity)
    facts["scale"] = result.scale
    if result.momentum.unbalanced is not None:
        noise = f"noise alone gives {result.momentum.expected:.1e}"
        facts["unbalanced momentum"] = f"{result.momentum.unbalanced:.1e}; {noise}"
    return facts


def explanation_of(result: Weighing, beside: str) -> str:
    """A weighing's conclusion; `beside` is the force beside the law, in words, if there is one."""
    weighed = sum(mass.weighable for mass in result.masses)
    if result.unseen_found:
        lines = [
            f"{result.law} with a body that is not seen explains the motion; {weighed} of "
            f"{result.bodies} bodies that are seen are weighed."
        ]
    elif result.central:
        lines = [f"{result.law} explains the motion; {weighed} of {result.bodies} bodies weighed."]
    elif beside:
        lines = [
            f"No law of the distance alone explains the motion: there is {beside}. The masses and "
            "the exponent are those of the attraction beside it."
        ]
    else:
        lines = [
            f"No law of the distance alone explains the motion: {result.misfit:.1e} of an "
            "acceleration is left beyond the noise. The masses are those of the nearest law."
        ]
    lines += [_of_the_rest(rest, result.units) for rest in result.rests]
    return " ".join([*lines, *(f"Note: {note}." for note in result.notes)])
