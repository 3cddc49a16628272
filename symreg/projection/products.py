"""Products: y = C · ∏ x^p · g1(s1 h1)^q1 · g2(s2 h2)^q2, fitted in logarithms.

In log|y| all but the inner constants s is linear. So only they are polished, and all else is solved
inside (variable projection).

Source: Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for variable projection.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import leastsq

from symreg.projection.bases import Argument
from symreg.projection.shapes import BINOMIAL, EXPONENTIAL, Shape

SCREENED_ROWS = 150
"""Rows, about, that rank candidates."""
STEEPEST = 20.0
"""Largest exponent: (1 + u/n)^n with a large n is an exponential in disguise."""
STEPS = 15
"""Of a polish; the best products are polished again."""
EXACT = 3e-13
"""Relative error of a fit to exact data: float64 rounding times the conditioning."""
SIMPLE = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""Inner constants that cost no more than an exponent."""
WORST = 1e6
"""Residual of what is not finite: above any logarithm of a float64."""


@dataclass(frozen=True)
class Factor:
    """A function of a sum of scaled arguments; nearly always of one."""

    shape: Shape
    terms: tuple[tuple[float, Argument], ...]

    def values(self) -> np.ndarray:
        """(row,) g(u)."""
        with np.errstate(all="ignore"):
            return self.shape.value(np.sum([s * h.values for s, h in self.terms], axis=0))

    def logarithm(self) -> np.ndarray:
        """(row,) log|g(u)|."""
        if self.shape is EXPONENTIAL:
            return np.sum([s * h.values for s, h in self.terms], axis=0)
        with np.errstate(all="ignore"):
            return np.log(np.abs(self.values()))

    def slope(self) -> np.ndarray:
        """(row,) derivative of log|g(u)| with respect to u."""
        with np.errstate(all="ignore"):
            return self.shape.slope(np.sum([s * h.values for s, h in self.terms], axis=0))

    @property
    def degenerate(self) -> bool:
        """Whether its argument is so small, or so large, that it is a power."""
        reach = min(float(np.max(np.abs(s * h.values))) for s, h in self.terms)
        if self.shape is BINOMIAL:
            least = min(float(np.min(np.abs(s * h.values))) for s, h in self.terms)
            return reach < self.shape.least or least * self.shape.least > 1
        return reach < self.shape.least

    def with_scales(self, scales: Sequence[float]) -> "Factor":
        """The same terms with other constants."""
        pairs = zip(scales, self.terms, strict=True)
        return replace(self, terms=tuple((float(s), h) for s, (_, h) in pairs))


@dataclass(frozen=True)
class Target:
    """The target in logarithms.

    Attributes:
        y: (row,) target, no zeros.
        design: (row, 1 + variable) a column of ones and log|x|.
        weights: (row,) of the logarithms.
    """

    y: np.ndarray
    design: np.ndarray
    weights: np.ndarray

    @cached_property
    def logarithm(self) -> np.ndarray:
        """(row,) weighted log|y|."""
        return self.weights * np.log(np.abs(self.y))

    @property
    def screened(self) -> slice:
        """The rows for ranking candidates; those kept are fitted to all."""
        return slice(0, None, max(1, len(self.y) // SCREENED_ROWS))

    @property
    def wanted(self) -> np.ndarray:
        """(screened row,) weighted log|y|."""
        return self.logarithm[self.screened]

    def weighted(self, values: np.ndarray) -> np.ndarray:
        """(screened row, column) weighted logarithms of the screened rows."""
        return self.weights[self.screened, None] * values


@dataclass(frozen=True)
class Product:
    """A fitted product: factors, exponents of variables and of factors, and its error.

    Attributes:
        factors: functions, polished.
        linear: (1 + variable + factor,) log C, exponents of the variables, of the factors.
        fixed: (1 + variable + factor,) whether a number is set, not fitted.
        kept: whether each inner constant is set, not fitted.
        mean_square: of the weighted residuals of the logarithm.
    """

    factors: tuple[Factor, ...]
    linear: np.ndarray
    fixed: np.ndarray
    kept: tuple[bool, ...]
    mean_square: float = field(default=np.inf)

    @property
    def scales(self) -> list[float]:
        """Every inner constant of its own (an exponential's is its exponent)."""
        return [s for factor in self.factors for s, _ in factor.terms]

    def factors_at(self, scales: Sequence[float]) -> tuple[Factor, ...]:
        """The same factors with other inner constants, in the order of `scales`."""
        rest = iter(scales)
        return tuple(f.with_scales([next(rest) for _ in f.terms]) for f in self.factors)

    @property
    def holds(self) -> frozenset:
        """The sets of variables in its factors."""
        return frozenset(frozenset().union(*(h.holds for _, h in f.terms)) for f in self.factors)

    @property
    def degenerate(self) -> bool:
        """Whether a factor is, or an exponent is so large that two become one.

        An exponential's is not an exponent but its scale, however large.
        """
        bare = len(self.linear) - len(self.factors)
        powers = [i + bare for i, f in enumerate(self.factors) if f.shape is not EXPONENTIAL]
        steep = np.abs(self.linear[[*range(1, bare), *powers]]) > STEEPEST
        return bool(np.any(steep)) or any(factor.degenerate for factor in self.factors)

    @property
    def key(self) -> tuple:
        """What products that differ only in numbers share."""
        return tuple(
            sorted(
                (f.shape.name, *sorted(str(h.expression) for _, h in f.terms)) for f in self.factors
            )
        )


class Solved(NamedTuple):
    """A product at some inner constants.

    Attributes:
        factors: with these constants.
        design: (row, column) weighted logarithms.
        linear: (column,) the linear numbers.
        left: (row,) the residuals.
    """

    factors: tuple[Factor, ...]
    design: np.ndarray
    linear: np.ndarray
    left: np.ndarray


def polished(product: Product, target: Target, steps: int = STEPS) -> Product:
    """The inner constants by least squares, linear numbers solved inside."""
    start = np.array(product.scales)
    free = ~np.array(product.kept, dtype=bool) if len(start) else np.zeros(0, dtype=bool)

    def placed(values: np.ndarray) -> tuple[Factor, ...]:
        scales = start.copy()
        scales[free] = start[free] * values
        return product.factors_at(list(scales))

    @lru_cache(maxsize=2)
    def at(values: bytes) -> Solved | None:
        return _solved(placed(np.frombuffer(values)), product, target)

    def residuals(values: np.ndarray) -> np.ndarray:
        solved = at(values.tobytes())
        return np.full(len(target.y), WORST) if solved is None else solved.left

    @lru_cache(maxsize=1)
    def tangents(values: bytes) -> np.ndarray:
        solved = at(values)
        if solved is None:
            return np.zeros((len(target.y), len(best)))
        return _jacobian(solved, product, target)[:, free] * start[free]

    best = np.ones(int(free.sum()))
    if len(best) and len(target.y) > len(best) and at(best.tobytes()) is not None:
        # the same as `least_squares(method="lm")`, without its costly wrappers
        solution, _, last, *_ = leastsq(
            residuals, best, Dfun=lambda values: tangents(values.tobytes()), full_output=True,
            ftol=1e-14, xtol=1e-14, gtol=1e-14, maxfev=steps, diag=np.ones(len(best)),
        )  # fmt: skip
        if np.sum(last["fvec"] ** 2) <= np.sum(residuals(best) ** 2):
            best = solution
    solved = at(best.tobytes())
    if solved is None:
        return product
    error = float(np.mean(solved.left**2))
    return replace(product, factors=solved.factors, linear=solved.linear, mean_square=error)


def design_of(factors: Sequence[Factor], target: Target) -> np.ndarray:
    """(row, column) weighted: 1, log|x|, log|g| of every factor."""
    columns = [target.design, *(f.logarithm()[:, None] for f in factors)]
    return target.weights[:, None] * np.concatenate(columns, axis=1)


def _jacobian(solved: Solved, product: Product, target: Target) -> np.ndarray:
    """(row, inner constant) of the residuals; Kaufman's form, with the basis fixed.

    Source: Kaufman, BIT 15, 49 (1975).
    """
    tangents = -_tangents(solved.factors, solved.linear, target)
    basis, _ = np.linalg.qr(solved.design[:, ~product.fixed])
    return tangents - basis @ (basis.T @ tangents)


def _tangents(factors: Sequence[Factor], linear: np.ndarray, target: Target) -> np.ndarray:
    """(row, inner constant) derivatives of the weighted logarithm at fixed linear numbers."""
    width = target.design.shape[1]
    tangents = np.column_stack(
        [
            linear[width + i] * target.weights * factor.slope() * h.values
            for i, factor in enumerate(factors)
            for _, h in factor.terms
        ]
    )
    return np.where(np.isfinite(tangents), tangents, 0.0)


def cost_of_setting(product: Product, values: np.ndarray, target: Target) -> np.ndarray:
    """(linear number,) growth of the mean square if only that number is set to a value.

    The others adjust, inner constants too: exact if linearly.

    Args:
        product: polished.
        values: (linear number,) to set.
        target: it was fitted to.
    """
    free = np.flatnonzero(~product.fixed)
    moved = [place for place, kept in enumerate(product.kept) if not kept]
    columns = design_of(product.factors, target)[:, free]
    if moved:
        tangents = _tangents(product.factors, product.linear, target)
        columns = np.column_stack([columns, tangents[:, moved]])
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(columns / size, rcond=1e-10)
    spread = (np.sum(inverse**2, axis=1) / size**2)[: len(free)]
    costs = np.zeros(len(product.linear))
    costs[free] = (product.linear - values)[free] ** 2 / np.maximum(spread, 1e-300)
    return costs / len(target.y)


def _solved(factors: tuple[Factor, ...], product: Product, target: Target) -> Solved | None:
    """The linear numbers solved; None if a logarithm is not finite."""
    design = design_of(factors, target)
    if not np.all(np.isfinite(design)):
        return None
    rest = target.logarithm - design[:, product.fixed] @ product.linear[product.fixed]
    free = ~product.fixed
    linear = product.linear.copy()
    size = np.linalg.norm(design[:, free], axis=0)
    size[size == 0] = 1.0
    solution, *_ = np.linalg.lstsq(design[:, free] / size, rest, rcond=1e-13)
    linear[free] = solution / size
    return Solved(factors, design, linear, rest - design[:, free] @ linear[free])
