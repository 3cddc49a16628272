"""How two bodies' attraction depends on distance: families of laws, and a free curve.

A shape gives g(r) and its derivatives by its parameters; m_j g(r) is the acceleration that body j
gives to another. Every shape fixes its own scale, since positions give only m g. Laws with a name
are those of `orbits.forces`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.interpolate import BSpline

from orbits.forces import LAWS, ForceLaw, law_of_power, parse_law
from orbits.units import G, parse_unit

LARGEST = 20.0
"""Of an exponent, a logarithm or a coefficient: larger ones describe nothing."""
LENGTHS = (-0.3, 0.1, 0.5, 1.0)
"""Where a length starts, in log r from the least distance (0) to the largest (1)."""
CURVE_DEGREE = 3
"""A cubic spline."""
CURVE_SPAN = 0.6
"""Range of log r that one knot of the free curve spans."""
CURVE_KNOTS = (3, 8)
"""Least and largest number of pieces of the free curve."""

Parameters = tuple[float, ...]
Field = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ForceShape(ABC):
    """A family of g(r), au/yr^2 for one solar mass, with its parameters."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Of the family."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @abstractmethod
    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        """Parameters to start from, near r^-exponent."""

    @abstractmethod
    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        """g(r), au/yr^2."""

    @property
    def nodes(self) -> int:
        """Complexity that the shape is charged for; nothing for a law with a name."""
        return 0

    @property
    def lengths(self) -> dict[str, float]:
        """Powers of length of the parameters that have a unit, by name."""
        return {}

    def law(self, parameters: Parameters) -> ForceLaw:
        """The law with its numbers, six digits each."""
        raise NotImplementedError(f"{self.name} is no law")

    def allowed(self, parameters: Parameters) -> bool:
        """Whether the parameters are any at all."""
        return bool(np.all(np.abs(parameters) < LARGEST))

    def derivatives(self, parameters: Parameters) -> list[Field]:
        """Derivatives of g by every parameter."""
        return [self._derivative(parameters, k) for k in range(len(parameters))]

    def _derivative(self, parameters: Parameters, k: int) -> Field:
        # relative step of derivatives by parameters: central differences, whose error is
        # its square
        step = 1e-6 * max(1.0, abs(parameters[k]))
        before, here, after = parameters[:k], parameters[k], parameters[k + 1 :]
        up, down = ((*before, here + move, *after) for move in (step, -step))
        return lambda r: (self.value(r, up) - self.value(r, down)) / (2 * step)


@dataclass(frozen=True)
class Power(ForceShape):
    """G/r^n, r in units of `unit` au: G u^-2 (r/u)^-n."""

    unit: float = 1.0
    fixed: float | None = None
    name = "power_law"

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.fixed is not None else ("n",)

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        return [()] if self.fixed is not None else [(exponent,)]

    def exponent(self, parameters: Parameters) -> float:
        """n, fixed or fitted."""
        return self.fixed if self.fixed is not None else parameters[0]

    def law(self, parameters: Parameters) -> ForceLaw:
        return law_of_power(_rounded(self.exponent(parameters)))

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        return G / self.unit**2 * (r / self.unit) ** -self.exponent(parameters)

    def derivatives(self, parameters: Parameters) -> list[Field]:
        if self.fixed is not None:
            return []
        return [lambda r: -np.log(r / self.unit) * self.value(r, parameters)]


@dataclass(frozen=True)
class LawOfLength(ForceShape):
    """A law of `orbits.forces` with one length, whose logarithm (of au) is the parameter.

    `power` is the length's in the law's own parameter: 2 for one in au^2.
    """

    kind: type[ForceLaw]
    parameter: str
    power: float

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def names(self) -> tuple[str, ...]:
        return (f"log_{self.parameter}",)

    @property
    def lengths(self) -> dict[str, float]:
        return {self.parameter: self.power}

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        low, high = np.log(separations)
        return [(self.power * float(low + share * (high - low)),) for share in LENGTHS]

    def _with(self, value: float) -> ForceLaw:
        return self.kind(**{self.parameter: value})

    def law(self, parameters: Parameters) -> ForceLaw:
        return self._with(_rounded(float(np.exp(parameters[0]))))

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        pull = self._with(float(np.exp(parameters[0]))).radial_acceleration(r, G)
        return -np.asarray(pull)


@dataclass(frozen=True)
class ScreenedPower(ForceShape):
    """G exp(-r/L)/r^n: between a power and Yukawa's law; parameters n and 1/L (au^-1)."""

    name = "screened_power"
    names = ("n", "inverse_length")
    nodes = 15  # of G*exp(-k*r)/r^n, as the engines' formulas are charged

    @property
    def lengths(self) -> dict[str, float]:
        return {"inverse_length": -1.0}

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        return [(exponent, 0.0)]

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        return G * np.exp(-np.clip(r * parameters[1], -50, 50)) * r ** -parameters[0]

    def law(self, parameters: Parameters) -> ForceLaw:
        n, inverse = map(_rounded, parameters)
        return parse_law(f"GM*exp(-k*r)*r**(-({n!r})); k={inverse!r}")


@dataclass(frozen=True)
class Given(ForceShape):
    """A law of given shape."""

    given: ForceLaw
    name = "given"
    names = ()

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        return [()]

    def law(self, parameters: Parameters) -> ForceLaw:
        return self.given

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        return -np.asarray(self.given.radial_acceleration(r, G))


@dataclass(frozen=True)
class Curve(ForceShape):
    """A free curve: r^-base times a cubic spline in log r, equal to one in mid-range."""

    base: float
    knots: tuple[float, ...]
    name = "curve"

    @classmethod
    def over(
        cls,
        separations: np.ndarray,
        base: float,
        span: float = CURVE_SPAN,
        counts: tuple[int, int] = CURVE_KNOTS,
    ) -> "Curve":
        """With knots at quantiles of the distances."""
        logs = np.log(separations)
        low, high = float(logs.min()), float(logs.max())
        pieces = int(np.clip(np.ceil((high - low) / span), *counts))
        even = np.linspace(low, high, pieces + 1)
        dense = np.quantile(logs, np.linspace(0, 1, pieces + 1))
        inner = 0.5 * (even + dense)[1:-1]
        # the outermost distances lie inside
        ends = np.full(CURVE_DEGREE + 1, low - 1e-9), np.full(CURVE_DEGREE + 1, high + 1e-9)
        return cls(base, tuple(np.concatenate([ends[0], inner, ends[1]]).tolist()))

    @property
    def count(self) -> int:
        """Number of splines."""
        return len(self.knots) - CURVE_DEGREE - 1

    @property
    def held(self) -> int:
        """The spline with coefficient fixed at one: positions give only m g."""
        return self.count // 2

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"c{k}" for k in range(self.count) if k != self.held)

    def start(self, exponent: float, separations: tuple[float, float]) -> list[Parameters]:
        return [(1.0,) * (self.count - 1)]

    def value(self, r: np.ndarray, parameters: Parameters) -> np.ndarray:
        return self._times(r, np.insert(np.asarray(parameters), self.held, 1.0))

    def derivatives(self, parameters: Parameters) -> list[Field]:
        unit = np.eye(self.count)
        return [partial(self._times, coefficients=unit[k]) for k in range(self.count)
                if k != self.held]  # fmt: skip

    def _times(self, r: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        logs = np.clip(np.log(r), self.knots[0], self.knots[-1])
        return G * r**-self.base * BSpline(np.array(self.knots), coefficients, CURVE_DEGREE)(logs)


def families(unit: float) -> Sequence[ForceShape]:
    """The laws to try: a power, every law with one length, and one without a name."""
    return Power(unit), *map(_of_length, filter(_has_length, LAWS.values())), ScreenedPower()


def _has_length(kind: type[ForceLaw]) -> bool:
    """Whether a law's one parameter is a length, or a power of one."""
    units = [parse_unit(unit) for unit in kind.units.values()]
    return len(units) == 1 and not any(units[0].powers[1:]) and kind().linear_in_gm


def _of_length(kind: type[ForceLaw]) -> LawOfLength:
    ((name, unit),) = kind.units.items()
    return LawOfLength(kind, name, float(parse_unit(unit).powers[0]))


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
