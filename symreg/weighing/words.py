"""A weighing in words: the law's name and formula, the scale, the explanation."""

import numpy as np
import sympy

from orbits.forces import GM_SYMBOL
from orbits.units import LENGTHS
from symreg.weighing.config import WeighConfig
from symreg.weighing.fit import LawFit
from symreg.weighing.motion import BEYOND
from symreg.weighing.records import Relativity, Rest, Unseen
from symreg.weighing.result import Weighing
from symreg.weighing.shapes import Power


def name_of(fit: LawFit, central: bool) -> tuple[str, str]:
    """The law in project notation, and its formula for a body of mass m."""
    if not central:
        return "none", ""
    law = fit.shape.law(fit.parameters)
    mass = sympy.Symbol("G", positive=True) * sympy.Symbol("m", positive=True)
    return law.spec, str(law.numeric_expression().subs(GM_SYMBOL, mass))


def scale_of(fit: LawFit, config: WeighConfig) -> str:
    if config.reference:
        return f"{config.reference} has {config.reference_mass:g} M☉"
    if isinstance(fit.shape, Power):
        n = fit.shape.exponent(fit.parameters)
        text = f"G = 4π² au³/yr²/M☉, for m/r^{n:.5g} with r in {config.unit}"
        if n != 2:
            per_metre = (LENGTHS["m"] / LENGTHS[config.unit]) ** (2 - n)
            text += (
                f"; with another unit of length every mass is another (r in m: times "
                f"{per_metre:.6g})"
            )
        return text
    return "G = 4π² au³/yr²/M☉ in front of the formula"


def _of_the_rest(rest: Rest) -> str:
    vector = np.array(rest.acceleration)
    size = float(np.linalg.norm(vector))
    way = f"longitude {np.degrees(np.arctan2(vector[1], vector[0])) % 360:.0f} degrees"
    if len(vector) > 2:
        way += f", latitude {np.degrees(np.arcsin(vector[2] / size)):.0f}"
    where = f" of stretch {rest.stretch + 1}" if rest.stretch else ""
    return (
        f"On {rest.body} most is left {rest.time:.4g} yr after the first state{where} (within "
        f"{rest.around:.2g} yr): {size:.2g} au/yr² towards {way} in the table's axes, "
        f"{rest.angle:.0f} degrees from {rest.heaviest}."
    )


def _of_the_unseen(unseen: Unseen) -> dict[str, str]:
    rest = f"{unseen.before:.3g} standard errors without it, {unseen.after:.3g} with it"
    if not unseen.exists:
        grows = f"2 ln L grows by {unseen.gain:.3g}, and {unseen.needed:.3g} is asked"
        return {"unseen body": f"none is needed ({rest}; {grows})"}
    facts = {
        "unseen body, M☉": str(unseen.mass),
        "its semi-major axis, au": str(unseen.semi_major_axis),
        "its eccentricity": str(unseen.eccentricity),
    }
    for k in (0, len(unseen.times) // 2, -1):
        facts[f"where it is after {unseen.times[k]:.4g} yr"] = (
            f"longitude {unseen.longitude[k]}, latitude {unseen.latitude[k]}°, "
            f"{unseen.distance[k]} au from {unseen.centre}"
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


def summary_of(result: Weighing) -> dict[str, str]:
    """The law between the bodies, as far as known."""
    explained = result.central or result.unseen_found
    facts = {"law": result.law if explained else "none of the distance alone"}
    if explained:
        facts["attraction, au/yr²"] = result.formula
    facts["exponent"] = str(result.exponent)
    facts |= {name: str(value) for name, value in result.parameters.items() if name != "n"}
    if result.drag.value is not None and not result.central:
        facts["drag, 1/yr"] = str(result.drag)
    if result.unseen is not None:
        facts |= _of_the_unseen(result.unseen)
    if result.relativity is not None:
        facts |= _of_relativity(result.relativity)
    facts["scale"] = result.scale
    if result.momentum.unbalanced is not None:
        noise = f"noise alone gives {result.momentum.expected:.1e}"
        facts["unbalanced momentum"] = f"{result.momentum.unbalanced:.1e}; {noise}"
    return facts


def explanation_of(result: Weighing, dragged: bool) -> str:
    """A weighing's conclusion."""
    weighed = sum(mass.weighable for mass in result.masses)
    if result.unseen_found:
        lines = [
            f"{result.law} with a body that is not seen explains the motion; {weighed} of "
            f"{result.bodies} bodies that are seen are weighed."
        ]
    elif result.central:
        lines = [f"{result.law} explains the motion; {weighed} of {result.bodies} bodies weighed."]
    elif dragged:
        lines = [
            f"No law of the distance alone explains the motion: there is a drag of {result.drag} "
            "per year. The masses and the exponent are those of the attraction beside it."
        ]
    else:
        lines = [
            f"No law of the distance alone explains the motion: {result.misfit:.1e} of an "
            "acceleration is left beyond the noise. The masses are those of the nearest law."
        ]
    lines += [_of_the_rest(rest) for rest in result.rests]
    return " ".join([*lines, *(f"Note: {note}." for note in result.notes)])
