"""Products: y = C · ∏ x^p · g1(s1 h1)^q1 · g2(s2 h2)^q2, fitted in logarithms.

In log|y| all but the inner constants s is linear. So only they are polished, and all else is solved
inside (variable projection).

Source: Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for variable projection.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from symreg.projection.bases import Argument
from symreg.projection.shapes import BINOMIAL, EXPONENTIAL, Shape
from symreg.search.polish import (
    WORST,
    Projected,
    in_batches,
    least_squares,
    projected_with,
    uncertainty,
)

SCREENED_ROWS = 150
"""Rows, about, that rank candidates."""
STEEPEST = 20.0
"""Largest exponent: (1 + u/n)^n with a large n is an exponential in disguise."""
STEPS = 15
"""Of a polish; the best products are polished again."""
SIMPLE = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""Inner constants that cost no more than an exponent."""


def simple_scale(scale: float, within: float) -> float | None:
    """The nearest simple inner constant, if its relative distance is at most so much."""
    nearest = min(SIMPLE, key=lambda simple: abs(simple - scale))
    return nearest if abs(nearest - scale) <= within * abs(nearest) else None


error = attrgetter("mean_square")
"""Of a product or a sum: a key to sort by."""


def least_error(fitted: Iterable[Any]) -> float:
    """Of several products or sums; infinite if there are none."""
    return min(map(error, fitted), default=np.inf)


@dataclass(frozen=True)
class Factor:
    """A function of a sum of scaled arguments; nearly always of one."""

    shape: Shape
    terms: tuple[tuple[float, Argument], ...]

    def values(self) -> np.ndarray:
        """(row,) g(u)."""
        return self.shape.value(np.sum([s * h.values for s, h in self.terms], axis=0))

    def logarithm(self) -> np.ndarray:
        """(row,) log|g(u)|."""
        if self.shape is EXPONENTIAL:
            return np.sum([s * h.values for s, h in self.terms], axis=0)
        return np.log(np.abs(self.values()))

    @property
    def holds(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset().union(*(h.holds for _, h in self.terms))

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

    def with_powers(self, powers: Mapping[int, float]) -> "Product":
        """With exponents set, by their places among the linear numbers."""
        linear, fixed, places = self.linear.copy(), self.fixed.copy(), list(powers)
        linear[places], fixed[places] = list(powers.values()), True
        return replace(self, linear=linear, fixed=fixed)

    @property
    def holds(self) -> frozenset:
        """The sets of variables in its factors."""
        return frozenset(factor.holds for factor in self.factors)

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
            sorted((f.shape.name, *sorted(h.text for _, h in f.terms)) for f in self.factors)
        )


def polished(products: Sequence[Product], target: Target, steps: int = STEPS) -> list[Product]:
    """The inner constants by least squares, linear numbers solved inside."""

    def kind(product: Product) -> tuple[int, ...]:
        counts = len(product.factors), len(product.scales)
        return *counts, sum(product.kept), int(product.fixed.sum())

    return in_batches(products, kind, lambda batch: _ProductBatch(batch, target).polished(steps))


class _ProductBatch:
    """Products with as many factors and terms in them, and as many numbers of each kind to fit."""

    def __init__(self, products: Sequence[Product], target: Target):
        self._products, self._target = products, target
        factors = [factor for product in products for factor in product.factors]
        self._shapes = [factor.shape for factor in factors]
        self._arguments = np.array(
            [[h.values for p in products for f in p.factors for _, h in f.terms]]
        ).reshape(len(products), -1, len(target.y))
        self._owner = np.array([k for k, f in enumerate(factors) for _ in f.terms], dtype=int)
        self._scales = np.array([product.scales for product in products])
        self._moving = np.array([np.flatnonzero(~np.array(p.kept, bool)) for p in products], int)
        self._free = np.array([np.flatnonzero(~product.fixed) for product in products])
        self._set = np.array([np.flatnonzero(product.fixed) for product in products], dtype=int)
        self._linear = np.array([product.linear for product in products])

    def polished(self, steps: int) -> list[Product]:
        """With the best inner constants, where all logarithms are finite."""
        start = np.take_along_axis(self._scales, self._moving, axis=1)
        best = start
        if start.size and len(self._target.y) > start.shape[1]:
            best = least_squares(self._residuals, start, steps)
        every = np.arange(len(self._products))
        scales = self._at(best, every)
        linear, solved = self._solved(self._logarithms(scales, every)[0], every)
        return [
            replace(product, factors=product.factors_at(list(own)), linear=numbers,
                    mean_square=float(np.mean(left**2)))
            if abs(left[0]) < WORST else product
            for product, own, numbers, left in zip(
                self._products, scales, linear, solved.residuals, strict=True)
        ]  # fmt: skip

    def _at(self, numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """(product, term) scales."""
        scales = self._scales[places]
        np.put_along_axis(scales, self._moving[places], numbers, axis=1)
        return scales

    def tangents(self) -> np.ndarray:
        """(row, inner constant that is not set) derivatives of the first product's weighted
        logarithm at fixed linear numbers."""
        first = np.arange(1)
        logarithms, slopes = self._logarithms(self._scales[:1], first)
        return self._tangents(logarithms, slopes, self._linear[:1], first)[0]

    def _residuals(self, numbers: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logarithms, slopes = self._logarithms(self._at(numbers, places), places)
        linear, solved = self._solved(logarithms, places)
        return solved.residuals, solved.slopes(self._tangents(logarithms, slopes, linear, places))

    def _tangents(
        self, logarithms: np.ndarray, slopes: np.ndarray, linear: np.ndarray, places: np.ndarray
    ) -> np.ndarray:
        """(product, row, number) derivatives at fixed linear numbers."""
        width, terms = self._target.design.shape[1], self._scales.shape[1]
        owner = (
            width
            + self._owner.reshape(len(self._products), terms)[places]
            - places[:, None] * (logarithms.shape[1])
        )
        powers = np.take_along_axis(linear, owner, axis=1)
        tangents = self._target.weights * powers[:, :, None] * slopes
        tangents = np.take_along_axis(tangents, self._moving[places][:, :, None], axis=1)
        return np.swapaxes(np.where(np.isfinite(tangents), tangents, 0.0), 1, 2)

    def _logarithms(self, scales: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log|g| of every factor (product, factor, row), and its slope by every scale."""
        count = len(self._shapes) // len(self._products)
        terms = self._arguments[places] * scales[:, :, None]
        owner = self._owner.reshape(len(self._products), -1)[places] - places[:, None] * count
        arguments = np.zeros((len(places), count, terms.shape[2]))
        np.add.at(arguments, (np.arange(len(places))[:, None], owner), terms)
        logarithms, slopes = np.empty_like(arguments), np.empty_like(arguments)
        of_shape: dict[Shape, list[tuple[int, int]]] = {}
        for k, place in enumerate(places):
            for factor in range(count):
                of_shape.setdefault(self._shapes[place * count + factor], []).append((k, factor))
        for shape, at in of_shape.items():
            where = tuple(np.array(at).T)
            u = arguments[where]
            logarithms[where] = u if shape is EXPONENTIAL else np.log(np.abs(shape.value(u)))
            slopes[where] = shape.slope(u)
        by_scale = np.take_along_axis(slopes, owner[:, :, None], axis=1)
        return logarithms, by_scale * self._arguments[places]

    def _solved(self, logarithms: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, Projected]:
        """All linear numbers (product, column), those that are not set solved for."""
        target = self._target
        bare = np.broadcast_to(target.design, (len(places), *target.design.shape))
        design = np.concatenate([bare, np.swapaxes(logarithms, 1, 2)], axis=2)
        return projected_with(
            design * target.weights[:, None], target.logarithm, self._linear[places],
            self._set[places], self._free[places],
        )  # fmt: skip


def design_of(factors: Sequence[Factor], target: Target) -> np.ndarray:
    """(row, column) weighted: 1, log|x|, log|g| of every factor."""
    columns = [target.design, *(f.logarithm()[:, None] for f in factors)]
    return target.weights[:, None] * np.concatenate(columns, axis=1)


def cost_of_setting(product: Product, values: np.ndarray, target: Target) -> np.ndarray:
    """(linear number,) growth of the mean square if only that number is set to a value.

    The others adjust, inner constants too: exact if linearly.

    Args:
        product: polished.
        values: (linear number,) to set.
        target: it was fitted to.
    """
    free = np.flatnonzero(~product.fixed)
    columns = np.hstack(
        [design_of(product.factors, target)[:, free], _ProductBatch([product], target).tangents()]
    )
    costs = np.zeros(len(product.linear))
    costs[free] = (product.linear - values)[free] ** 2 / uncertainty(columns)[: len(free)]
    return costs / len(target.y)
