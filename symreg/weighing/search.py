"""The engines' search for the pair law: formulas for the free curve, tested on the equations.

The free curve gives the attraction at every distance seen, with its uncertainty. The discovery
search of `symreg recover` finds formulas for it; each becomes a shape, whose constants are fitted
with the masses to the equations, and competes with the families of laws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from orbits.forces import ForceLaw, parse_law
from orbits.time_limit import TooLongError
from orbits.units import G
from symreg.engines import choose_engine
from symreg.fit.refine import SNAP_DISTANCE, UNDEFINED
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate, merged, named, skeleton, symbol
from symreg.recovery.config import RecoverConfig
from symreg.recovery.selection import Search, select
from symreg.search.description import charged
from symreg.weighing.errors import rough_covariance
from symreg.weighing.fit import LawFit, fitted
from symreg.weighing.shapes import Curve, ForceShape, Parameters
from symreg.weighing.weak import Equations

POINTS = 120
"""Distances at which the curve is sampled."""
UNKNOWN = 0.1
"""Relative error beyond which the curve says nothing at a distance."""
WEIGHED = 12
"""Formulas of the search, best first, to fit to the equations."""
R = symbol("r")


@dataclass(frozen=True)
class FormulaShape(ForceShape):
    """A formula in r from an engine, G in front; its parameters are its other numbers.

    The form has free constants, `r**(-2) + _c0*r`, which start from `begin`; `charge` is its
    complexity; it must be defined from one of the `ends` (au) to the other.
    """

    form: sympy.Expr
    begin: Parameters
    charge: int
    ends: tuple[float, float]
    name = "formula"

    @property
    def nodes(self) -> int:
        return self.charge

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"k{k + 1}" for k in range(len(self.begin)))

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        return [self.begin]

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        return G * evaluate(self.form, ("r",), r.reshape(-1, 1), parameters).reshape(r.shape)

    def allowed(self, parameters: Parameters) -> bool:
        r = np.geomspace(*self.ends, POINTS)
        return bool(np.all(np.isfinite(self.value(r, parameters))))

    @property
    def text(self) -> str:
        """g(r)/G with parameter names."""
        return named(self.form, self.names)

    def law(self, parameters: Parameters) -> ForceLaw:
        values = zip(self.names, parameters, strict=True)
        return parse_law(
            "; ".join([f"GM*({self.text})", *(f"{name}={value:.6g}" for name, value in values)])
        )


def formula_of(expression: sympy.Expr, ends: tuple[float, float]) -> FormulaShape | None:
    """The shape of an attraction: G replaces one constant, which positions do not determine.

    That is the constant in front of the steepest power of r, or of the whole if there is none. The
    ends are the least and the largest distance, au. None if the expression is no function of r, or
    cannot be written so.
    """
    try:
        plain = sympy.expand_log(merged(expression), force=True)  # log(k*r) is log(k) + log(r)
        terms = sympy.Add.make_args(sympy.expand_mul(plain))
    except TooLongError:
        return None
    parts = [term.as_coeff_Mul() for term in terms]
    first = min(range(len(parts)), key=lambda k: _steepness(parts[k][1]))
    number = parts[first][0]
    if number == 0 or R not in expression.free_symbols:
        return None
    whole = parts[first][1] + sympy.Add(
        *(sympy.Float(c / number) * rest for k, (c, rest) in enumerate(parts) if k != first)
    )
    form, values = skeleton(whole)
    if form.has(*UNDEFINED) or R not in form.free_symbols:
        return None
    shape = FormulaShape(form, tuple(values), charged(whole), ends)
    return shape if shape.allowed(shape.begin) else None


def _steepness(term: sympy.Expr) -> tuple[bool, float]:
    """Order of the terms: powers of r first, the steepest at the front."""
    power = sympy.sympify(term.as_powers_dict().get(R, 0))
    pure = term == R**power and power != 0
    return not pure, float(power) if power.is_real and power.is_number else 0.0


def searched(
    equations: Equations,
    power: LawFit,
    curve: LawFit,
    extra: np.ndarray,
    config: RecoverConfig,
    families: Sequence[sympy.Expr] = (),
) -> list[LawFit]:
    """Formulas that the engines find for the free curve, fitted with the masses.

    Those of the given families are tried too: their exponents may be simple ones.
    """
    samples = _samples(equations, curve)
    if samples is None:
        return []
    engine, _ = choose_engine(config.engine, config.question)
    watch = equations.watch.within(config.limit(any_law=True))
    laws = select(samples, Search(engine, config, watch)).laws
    shapes: dict[str, FormulaShape] = {}
    for whole in (*families, *(law.expression for law in laws[:WEIGHED])):
        for part in (whole, *_shorter(whole)):
            for expression in (part, _snapped(part)):
                shape = formula_of(expression, equations.system.separations)
                if shape is not None:
                    shapes.setdefault(str(shape.form), shape)
    fits = []
    for shape in shapes.values():
        fit = fitted(equations, shape, shape.begin, extra, power.weights)
        if np.isfinite(fit.loss) and np.sum(fit.masses) > 0:
            fits.append(fit)
    return fits


def _snapped(expression: sympy.Expr) -> sympy.Expr:
    """The formula with exponents near half-integers set to them."""
    near = {}
    for node in expression.atoms(sympy.Pow):
        half = sympy.Rational(round(2 * node.exp), 2) if node.exp.is_Float else node.exp
        if node.exp.is_Float and abs(node.exp - half) < SNAP_DISTANCE:
            near[node] = node.base**half
    return expression.xreplace(near)


def _shorter(expression: sympy.Expr) -> Iterable[sympy.Expr]:
    """The formula without one of its factors: those that the curve's own errors have put there."""
    factors = sympy.Mul.make_args(expression)
    for factor in factors:
        if R in factor.free_symbols and not _steepness(factor)[0]:
            continue
        if R in factor.free_symbols and len(factors) > 1:
            yield expression / factor


def explaining_curve(equations: Equations, power: LawFit, extra: np.ndarray) -> LawFit | None:
    """The free curve, fitted to the end with weights of its own.

    None where no function of the distance explains much more than the power.
    """
    distances = np.concatenate([pair.r.ravel() for pair in equations.system.pairs])
    base = power.parameters[0]
    # range of log r per knot of the searched curve: its splines are then right to 1e-5
    # least and largest number of pieces of the searched curve
    shape = Curve.over(distances, base, 0.2, (8, 16))
    start = shape.start(base, equations.system.separations)[0]
    # far from the law the weights of its own residuals lead astray: those of the power come first
    near = fitted(equations, shape, start, extra, power.weights)
    # share of a power's squares that the free curve must stay below to search for
    # formulas
    if not near.loss <= 0.5 * power.loss:
        return None
    return fitted(equations, shape, near.parameters, extra)


def _samples(equations: Equations, curve: LawFit) -> Samples | None:
    """The curve at the distances seen, in the unit of the masses found, with its errors."""
    distances = np.concatenate([pair.r.ravel() for pair in equations.system.pairs])
    # quantiles of the distances beyond which the curve is not sampled
    low, high = np.quantile(distances, (0.002, 0.998))
    r = np.geomspace(low, high, POINTS)
    g = curve.strength(r) / G
    error = curve_error(equations, curve, r) / G
    # relative error of a spline through a smooth law, which no formula need explain
    error = np.hypot(error, 1e-5 * np.abs(g))
    sure = (g > 0) & (error < UNKNOWN * np.abs(g))
    if np.count_nonzero(sure) < POINTS // 4:
        return None
    weights = np.abs(g[sure]) / error[sure]
    weights /= np.sqrt(np.mean(weights**2))
    return Samples(
        r[sure, None], g[sure], ("r",), np.arange(np.count_nonzero(sure)), weights, target="g"
    )


def curve_error(equations: Equations, curve: LawFit, r: np.ndarray) -> np.ndarray:
    """(distance,) standard error of the free curve, the scale of the masses taken out."""
    covariance = rough_covariance(equations, curve)
    n = len(curve.masses)
    slopes = np.stack([d(r) for d in curve.shape.derivatives(curve.parameters)], axis=1)
    of_masses = np.tile(curve.strength(r)[:, None] / np.sum(curve.masses), (1, n))
    design = np.concatenate([of_masses, slopes], axis=1)
    variance = np.einsum("ri,ij,rj->r", design, covariance, design)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
