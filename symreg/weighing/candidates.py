"""Which law: families and discovered formulas compete on the equations, with a free curve."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orbits.estimates import STANDARD_ERRORS, Estimate
from orbits.forces import GM_SYMBOL, parse_law
from symreg.weighing.beside import beside_law
from symreg.weighing.config import WeighConfig
from symreg.weighing.errors import Errors, errors_of, misfit_of
from symreg.weighing.fit import LawFit, best_of, first_exponent, fitted
from symreg.weighing.records import Alternative, CurvePoint
from symreg.weighing.search import FormulaShape, curve_error, explaining_curve, searched
from symreg.weighing.shapes import Curve, ForceShape, Given, Power, ScreenedPower, families
from symreg.weighing.weak import Equations

SHOWN = 5
"""Formulas from engines to list."""
EXPLAINED = 0.1
"""Largest share of a simpler law's residual that a law may leave: an unseen body cannot be written
into a law, but a little of it can."""


@dataclass(frozen=True)
class Selection:
    """The simplest law that explains most, the nearest power with a free exponent, and others."""

    best: LawFit
    power: LawFit
    tried: tuple[Alternative, ...] = ()
    curve: tuple[CurvePoint, ...] = ()


def select(equations: Equations, config: WeighConfig, extra: np.ndarray, unit: float) -> Selection:
    """The law that explains most with fewest parameters, beside (row,) known accelerations `extra`.

    In a power G multiplies m/r^n with r in the `unit`, au.

    The nearest power first. If it leaves what no force beside it explains, a free curve shows
    whether any function of distance does; only then are other families tried and formulas for the
    curve searched.
    """
    power = nearest_power(equations, extra, unit)
    if config.law:
        return Selection(fitted(equations, granted_shape(config.law), (), extra), power)
    tried, best = [power], power
    errors = errors_of(equations, power, config.noise)
    if (
        np.max(errors.misfit) > equations.ADEQUATE
        and beside_law(equations, power, errors, extra, config.noise).law is None
    ):
        left = float(np.max(errors.misfit))
        curve = explaining_curve(equations, power, extra)
        if curve is not None and _left(equations, curve, config) <= EXPLAINED * left:
            for shape in families(unit)[1:]:
                starts = shape.start(power.parameters[0], equations.system.separations)
                tried.append(best_of(equations, shape, starts, extra, power.weights))
            family = _best(equations, tried, power)
            # a nameless family's result, whose exponent may become simple
            nameless = [
                law.shape.law(law.parameters).numeric_expression() / GM_SYMBOL
                for law in tried
                if isinstance(law.shape, ScreenedPower)
            ]
            formulas = searched(equations, power, curve, extra, config.search, nameless)
            formula_fit = _best(equations, [*tried, *formulas], power)
            for one in (family, formula_fit):
                # weights of its own: it has to explain what the law before it does not
                own = fitted(equations, one.shape, one.parameters, extra)
                enough = 0.0 if best is power else equations.ADEQUATE
                if _left(equations, own, config) <= max(EXPLAINED * left, enough):
                    best, left = own, _left(equations, own, config)
            formulas.sort(key=lambda fit: _description(equations, fit, power.loss))
            tried += formulas[:SHOWN]
    if best is power:
        best = simple(equations, power, errors, extra)
    points = _curve_points(equations, best, power.parameters[0], extra)
    alternatives = tuple(
        Alternative(
            f.shape.name,
            dict(zip(f.shape.names, f.parameters, strict=True)),
            f.loss / power.loss,
            f.shape.text if isinstance(f.shape, FormulaShape) else "",
        )
        for f in tried
    )
    return Selection(best, power, alternatives, points)


def _left(equations: Equations, fit: LawFit, config: WeighConfig) -> float:
    """The largest residual acceleration of any body after a fit."""
    return float(np.max(misfit_of(equations, fit, config.noise)))


def simple(equations: Equations, power: LawFit, errors: Errors, extra: np.ndarray) -> LawFit:
    """The power with a half-integer exponent if the data allow; else unchanged."""
    (n,), k = power.parameters, len(power.masses)
    half = round(2 * n) / 2
    half_width = STANDARD_ERRORS * float(np.sqrt(errors.covariance[k, k]))
    # half-widths of the interval within which an exponent is a half-integer: one table in
    # twenty lies outside one, one in ten thousand outside two
    # exponents this close to a half-integer are set to it, however sure the fit
    if not abs(n - half) < max(1e-6, 2.0 * half_width):
        return power
    assert isinstance(power.shape, Power)
    return fitted(equations, replace(power.shape, fixed=half), (), extra)


def nearest_power(equations: Equations, extra: np.ndarray, unit: float) -> LawFit:
    """The power of distance that explains most, with the masses."""
    simplest = families(unit)[0]
    exponent = first_exponent(equations, extra)
    starts = simplest.start(exponent, equations.system.separations)
    return best_of(equations, simplest, starts, extra, None)


def _best(equations: Equations, tried: Sequence[LawFit], power: LawFit) -> LawFit:
    """The shortest description among those with fewest parameters and hardly more residual."""

    def nats(fit: LawFit) -> float:
        return _description(equations, fit, power.loss)

    best = min(tried, key=nats)
    # rounding is not independent: a number more must gain more than chance does
    # part of a power's squares that another law must stay below: rounding is not
    # independent
    near = [fit for fit in tried if 0.8 * fit.loss <= best.loss]
    if any(fit is power for fit in near):
        return power
    return min(near, key=lambda fit: (len(fit.parameters), nats(fit)))


def _description(equations: Equations, fit: LawFit, loss: float) -> float:
    """Nats to describe a family's residuals and parameters."""
    independent = sum((equations.counts / equations.overlap).tolist()) / len(equations.sets)
    nats = 0.5 * independent * float(np.log(fit.loss / loss))
    # nats that an extra parameter must gain
    return nats + 10.0 * len(fit.parameters) + fit.shape.nodes


def granted_shape(text: str) -> ForceShape:
    """The shape of a law taken as known.

    Raises:
        ValueError: if there is no such law, or it is not proportional to the attracting mass.
    """
    law = parse_law(text)
    if not law.linear_in_gm:
        raise ValueError(
            f"--law {law.name} is not proportional to the mass that attracts; bodies cannot be "
            "weighed by it."
        )
    return Given(law)


def _curve_points(
    equations: Equations, law: LawFit, base: float, extra: np.ndarray
) -> tuple[CurvePoint, ...]:
    """The free curve over the law, without the scale of the masses.

    One step leads from the law to a free curve, which is nearly linear there.
    """
    distances = np.concatenate(
        [pair.r.ravel()[:: max(1, pair.r.size // 500)] for pair in equations.system.pairs]
    )
    shape = Curve.over(distances, base)
    start = shape.start(base, equations.system.separations)[0]
    # steps from the best power to the free curve, which is nearly linear there
    curve = fitted(equations, shape, start, extra, law.weights, 1)
    r = np.geomspace(*equations.system.separations, 9)
    scale = float(np.sum(curve.masses) / np.sum(law.masses))
    ratio = scale * curve.strength(r) / law.strength(r)
    error = curve_error(equations, curve, r) * scale / np.abs(law.strength(r))
    points = zip(r.tolist(), ratio.tolist(), error.tolist(), strict=True)
    return tuple(CurvePoint(**vars(Estimate.of(value, e)), r=at) for at, value, e in points)
