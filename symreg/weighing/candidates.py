"""Which law: families and searched formulas compete on the equations, beside a free curve."""

from collections.abc import Sequence

import numpy as np
import sympy

from orbits.forces import parse_law
from orbits.units import LENGTHS
from symreg.weighing.config import WeighConfig
from symreg.weighing.drag import beside_drag
from symreg.weighing.errors import errors_of
from symreg.weighing.fit import Fit, best_of, first_exponent, fitted
from symreg.weighing.result import TWO_SIDED, Alternative, CurvePoint
from symreg.weighing.search import Formula, curve_error, searched
from symreg.weighing.shapes import Curve, Given, ScreenedPower, Shape, families
from symreg.weighing.weak import Equations

GAIN = 10.0
"""Nats that a further parameter must gain."""
LEAST_GAIN = 0.8
"""Part of a power's squares that another law must come below: rounding is not independent."""
SHOWN = 5
"""Formulas of the engines that are listed."""
SHOWN_POINTS = 9
EXPLAINED = 0.1
"""What a searched formula may leave of the part that the best family leaves: a body that is not
seen cannot be written into a law, but a little of it can."""
CURVE_STEPS = 1
"""Steps from the best power to the free curve, which is all but linear there."""


def select(
    equations: Equations, config: WeighConfig, extra: np.ndarray
) -> tuple[Fit, Fit, tuple[Alternative, ...], tuple[CurvePoint, ...]]:
    """The law that explains most with least, the nearest power, what was tried, the free curve.

    The simplest family first; where it leaves something, the other families; where these leave
    something, or need a number too many, the formulas that the engines find for the free curve.

    Args:
        equations: of the system.
        config: how to weigh.
        extra: (row,) accelerations that are known.
    """
    separations = equations.system.separations
    _, *others = families(LENGTHS[config.unit])
    power = nearest_power(equations, config, extra)
    if config.law:
        return fitted(equations, _granted(config), (), extra), power, (), ()
    tried, best = [power], power
    errors = errors_of(equations, power, config.noise)
    if np.max(errors.misfit) > equations.ADEQUATE:
        for shape in others:
            starts = shape.start(power.parameters[0], separations)
            tried.append(best_of(equations, shape, starts, extra, power.weights))
        best = _best(equations, tried, power)
        if beside_drag(equations, power, errors, extra, config.noise)[1] is None:
            formulas = searched(equations, power, extra, config.search, _known(tried))
            best = _with_formulas(equations, [*tried, *formulas], best, power, extra, config)
            formulas.sort(key=lambda found: _description(equations, found, power.loss))
            tried += formulas[:SHOWN]
    points = _curve_points(equations, best, power.parameters[0], extra)
    alternatives = tuple(
        Alternative(
            f.shape.name,
            dict(zip(f.shape.names, f.parameters, strict=True)),
            f.loss / power.loss,
            f.shape.text if isinstance(f.shape, Formula) else "",
        )
        for f in tried
    )
    return best, power, alternatives, points


def nearest_power(equations: Equations, config: WeighConfig, extra: np.ndarray) -> Fit:
    """The power of the distance that explains most, with the masses."""
    simplest = families(LENGTHS[config.unit])[0]
    exponent = first_exponent(equations, extra)
    starts = simplest.start(exponent, equations.system.separations)
    return best_of(equations, simplest, starts, extra, None)


def _known(tried: Sequence[Fit]) -> list[sympy.Expr]:
    """What a family without a name has found, for its exponent to be made a simple one."""
    return [
        found.shape.expression(found.parameters)
        for found in tried
        if isinstance(found.shape, ScreenedPower)
    ]


def _best(equations: Equations, tried: Sequence[Fit], power: Fit) -> Fit:
    """The shortest description of those with the fewest parameters that leave hardly more."""

    def nats(found: Fit) -> float:
        return _description(equations, found, power.loss)

    best = min(tried, key=nats)
    # rounding is not independent: a number more must gain more than chance does
    near = [found for found in tried if LEAST_GAIN * found.loss <= best.loss]
    return (
        power
        if any(f is power for f in near)
        else min(near, key=lambda f: (len(f.parameters), nats(f)))
    )


def _with_formulas(
    equations: Equations,
    tried: Sequence[Fit],
    family: Fit,
    power: Fit,
    extra: np.ndarray,
    config: WeighConfig,
) -> Fit:
    """The best of all, its weights its own: a formula has to explain what the family does not."""
    found, left = [], []
    for one in (family, _best(equations, tried, power)):
        own = one if one is power else fitted(equations, one.shape, one.parameters, extra)
        found.append(own)
        left.append(float(np.max(errors_of(equations, own, config.noise).misfit)))
    return found[1] if left[1] <= max(EXPLAINED * left[0], equations.ADEQUATE) else found[0]


def _description(equations: Equations, fit: Fit, loss: float) -> float:
    """Nats to describe the residuals and the parameters of a family."""
    independent = sum(
        np.count_nonzero(equations.group == g) / equations.set_of(g).overlap
        for g in range(equations.groups)
    ) / len(equations.sets)
    nats = 0.5 * independent * float(np.log(fit.loss / loss))
    return nats + GAIN * len(fit.parameters) + fit.shape.nodes


def _granted(config: WeighConfig) -> Shape:
    law = parse_law(config.law)
    if not law.linear_in_gm:
        raise ValueError(
            f"--law {law.name} is not proportional to the mass that attracts; bodies cannot be "
            "weighed by it."
        )
    return Given(law)


def _curve_points(
    equations: Equations, law: Fit, base: float, extra: np.ndarray
) -> tuple[CurvePoint, ...]:
    """The free curve over the law, with the scale of the masses taken out."""
    r = np.geomspace(*equations.system.separations, SHOWN_POINTS)
    curve = free_curve(equations, law, base, extra)
    scale = float(np.sum(curve.masses) / np.sum(law.masses))
    ratio = scale * curve.strength(r) / law.strength(r)
    error = TWO_SIDED * curve_error(equations, curve, r) * scale / np.abs(law.strength(r))
    return tuple(
        CurvePoint(float(a), float(b), float(b - c), float(b + c))
        for a, b, c in zip(r, ratio, error, strict=True)
    )


def free_curve(equations: Equations, law: Fit, base: float, extra: np.ndarray) -> Fit:
    """One step from the law to a free curve, which is all but linear there."""
    distances = np.concatenate(
        [pair.r.ravel()[:: max(1, pair.r.size // 500)] for pair in equations.system.pairs]
    )
    shape = Curve.over(distances, base)
    start = shape.start(base, equations.system.separations)[0]
    return fitted(equations, shape, start, extra, law.weights, CURVE_STEPS)
