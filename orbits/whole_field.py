"""What an implied acceleration holds besides a law: every part of the field, with its uncertainty.

A field that depends on place and velocity can be written a = f·r + g·v + h·(v turned), with f, g
and h functions of the invariants r, v², r·v and r × v. A central force has only f, a function of r.
Here the departure from a law is fitted, state by state in units of the law's own size, by parts
that each break one symmetry; what none explains remains.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from orbits.estimates import STANDARD_ERRORS

if TYPE_CHECKING:
    from orbits.forces import ForceLaw

RADIAL = ("strength", "exponent", "curvature")
"""Parts that a central force may have."""
PARTS = {
    "drag": "along the velocity",
    "magnetic": "across the velocity",
    "swirl": "around the centre",
    "anisotropy": "with the direction",
    "centre": "of a centre elsewhere",
    "speed": "with the speed",
    "heading": "with the motion in or out",
    "rotation": "with the way round",
}
"""Parts of a field that no central force has."""
DEPARTURES = {
    "exponent": lambda r: -np.log(r),
    "quartic": lambda r: r**-2.0,
    "yukawa": lambda r: -(r**2) / 2,
}
"""Other central forces that are close to a law: the relative departure per unit of the exponent, of
au² in a term of 1/r⁴ beside 1/r², and of au⁻² in the squared inverse of a Yukawa length."""
TINY = float(np.finfo(float).tiny)

Vectors = Float[np.ndarray, "state axis"]


@dataclass(frozen=True)
class Part:
    """One part of a field: its typical share of the law's acceleration, and the 95 % half-width."""

    size: float
    half_width: float


@dataclass(frozen=True)
class WholeField:
    """A law and the departure from it.

    Attributes:
        parts: by name: `RADIAL`, then `PARTS`.
        law: from which the field departs.
        coefficients: of the parts' terms.
        scale: mean and standard deviation of log r (au) where it was fitted.
        per_unit: for each of `DEPARTURES`, the size of the parts it would add, per unit.
    """

    parts: dict[str, Part]
    law: "ForceLaw"
    coefficients: Float[np.ndarray, " term"]
    scale: tuple[float, float]
    per_unit: dict[str, dict[str, float]]

    def at(self, position: Vectors, velocity: Vectors, gm: Float[np.ndarray, " state"]) -> Vectors:
        """The field's acceleration, au/yr^2."""
        terms, _ = _terms(position, velocity, gm, self.law, self.scale)
        return self.law.acceleration(position, gm) + terms @ self.coefficients


def fitted_field(
    acceleration: Vectors,
    position: Vectors,
    velocity: Vectors,
    gm: Float[np.ndarray, " state"],
    law: "ForceLaw",
    random: np.random.Generator,
) -> WholeField:
    """Fit the departure of accelerations from a law by the parts of a field; all in au and yr."""
    logarithm = np.log(np.linalg.norm(position, axis=1))
    scale = float(logarithm.mean()), float(logarithm.std()) or 1.0
    terms, names = _terms(position, velocity, gm, law, scale)
    true = law.acceleration(position, gm)
    size = np.linalg.norm(true, axis=1)
    shares, departure = terms / size[:, None, None], (acceleration - true) / size[:, None]
    coefficients = _robust(shares, departure)
    states = len(departure)
    drawn = [random.integers(states, size=states) for _ in range(40)]
    others = np.array([_robust(shares[rows], departure[rows]) for rows in drawn])
    parts = {}
    r = np.linalg.norm(position, axis=1)
    pull = true / size[:, None]
    injected = {
        name: _robust(shares, pull * departs(r)[:, None]) for name, departs in DEPARTURES.items()
    }
    per_unit: dict[str, dict[str, float]] = {name: {} for name in injected}
    for name in dict.fromkeys(names):
        own = np.array([each == name for each in names])
        for other, its in injected.items():
            per_unit[other][name] = float(np.sqrt(np.median(_squares(shares, own, its))))
        spread = STANDARD_ERRORS * np.sqrt(
            np.median(
                np.mean([_squares(shares, own, each - coefficients) for each in others], axis=0)
            )
        )
        parts[name] = Part(
            float(np.sqrt(np.median(_squares(shares, own, coefficients)))), float(spread)
        )
    return WholeField(parts, law, coefficients, scale, per_unit)


def smooth_share(
    departure: Vectors,
    position: Vectors,
    velocity: Vectors,
    of_circular: Float[np.ndarray, " state"],
    random: np.random.Generator,
) -> float:
    """Share of a departure's mean square that other states predict: 1 where it varies smoothly with
    place and velocity, as any other force does; 0 or less where it is rough.

    Kernel ridge regression over five folds of the states, in the frame of radius and spin; the
    largest departures count least, as for the parts. Departures are relative to the law's
    acceleration; positions, au; velocities in the unit of the circular speed at the same distance.
    """
    # of the kernel: its length, in standard deviations of log r; the weight beside it of directions
    # and of speeds over circular ones; and the penalty, in units of a state's own variance
    length, width, ridge = 2.0, 1.5, 0.01
    axes = position.shape[1]
    r = np.linalg.norm(position, axis=1, keepdims=True)
    frame = _frame(position / r, velocity)
    speed = velocity / of_circular[:, None]
    along = np.einsum("eni,ni->ne", frame, speed)
    places = [np.log(r) / max(float(np.log(r).std()), TINY), width * position / r, width * along]
    at = np.concatenate(places + ([width * speed] if axes == 3 else []), axis=1)
    departures = np.einsum("eni,ni->ne", frame, departure)
    squares = np.sum(departures**2, axis=1)
    weight = 1 / (1 + squares / max(float(np.median(squares)), TINY))
    apart = np.sum((at[:, None] - at[None]) ** 2, axis=2)
    kernel = np.exp(-apart / (2 * length**2))
    fold = random.permutation(len(at)) % 5
    foretold = np.zeros_like(departures)
    for number in range(5):
        training, rest = fold != number, fold == number
        inner = kernel[np.ix_(training, training)] + np.diag(ridge / weight[training])
        foretold[rest] = kernel[np.ix_(rest, training)] @ np.linalg.solve(
            inner, departures[training]
        )
    left = np.sum((departures - foretold) ** 2, axis=1)
    return float(1 - np.sum(weight * left) / max(float(np.sum(weight * squares)), TINY))


def _frame(unit: np.ndarray, velocity: np.ndarray) -> Float[np.ndarray, "direction state axis"]:
    """Unit vectors: radial, tangential and, in space, along the spin."""
    if unit.shape[1] == 2:
        return np.stack((unit, unit[:, ::-1] * [-1, 1]))
    least = np.eye(3)[np.argmin(np.abs(unit), axis=1)]
    spin = np.cross(unit, velocity)
    radial = np.linalg.norm(spin, axis=1) <= 1e-9 * np.linalg.norm(velocity, axis=1)
    spin = np.where(radial[:, None], np.cross(unit, least), spin)
    spin /= np.linalg.norm(spin, axis=1, keepdims=True)
    return np.stack((unit, np.cross(spin, unit), spin))


def _squares(shares: np.ndarray, own: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(state,) squared share of the terms of one part."""
    return np.sum((shares[:, :, own] @ coefficients[own]) ** 2, axis=1)


def _terms(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, law: "ForceLaw",
    scale: tuple[float, float],
) -> tuple[Float[np.ndarray, "state axis term"], list[str]]:  # fmt: skip
    """Acceleration of every term at unit coefficient, and the part it belongs to."""
    axes = position.shape[1]
    pull = law.acceleration(position, gm)
    size, r = np.linalg.norm(pull, axis=1), np.linalg.norm(position, axis=1)
    unit = position / r[:, None]
    x = ((np.log(r) - scale[0]) / scale[1])[:, None]
    of_circular = np.sum(velocity**2, axis=1) / (r * size)
    turned = velocity[:, ::-1] * [-1, 1] if axes == 2 else np.cross(unit, velocity)
    terms = [("strength", pull), ("exponent", pull * x)]
    # up to the fifth power of log r: of Hooke's law beside Newton's, r³, 1 % then remains
    terms += [("curvature", pull * x**power) for power in range(2, 6)]
    terms += [("drag", -velocity), ("magnetic", turned)]
    if axes == 2:
        terms.append(("swirl", pull[:, ::-1] * [-1, 1]))
    else:
        terms += [("swirl", np.cross(axis, pull)) for axis in np.eye(axes)]
    for i in range(axes):
        for j in range(i, axes):
            if (i, j) != (axes - 1, axes - 1):  # the squares sum to one
                uneven = unit[:, i] * unit[:, j] - (1 / axes if i == j else 0)
                terms.append(("anisotropy", pull * uneven[:, None]))
                squeeze = np.zeros((axes, axes))
                squeeze[[i, j], [j, i]] = 1
                if i == j:
                    squeeze[-1, -1] = -1
                terms.append(("anisotropy", pull @ squeeze))
    shift = 1e-4  # au: of 1/r² a forward difference is off by 1.5 shift/r of itself
    for i in range(axes):
        aside = law.acceleration(position - shift * np.eye(axes)[i], gm)
        terms.append(("centre", (aside - pull) / shift))
    terms.append(("speed", pull * (of_circular - 1)[:, None]))
    heading = velocity / np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), TINY)
    terms.append(("heading", pull * np.sum(unit * heading, axis=1)[:, None]))
    if axes == 2:
        spins = [unit[:, 0] * heading[:, 1] - unit[:, 1] * heading[:, 0]]
    else:
        spins = list(np.cross(unit, heading).T)
    terms += [("rotation", pull * spin[:, None]) for spin in spins]
    return np.stack([term for _, term in terms], axis=-1), [name for name, _ in terms]


def _robust(shares: np.ndarray, departure: np.ndarray) -> np.ndarray:
    """Coefficients by iteratively reweighted least squares: large errors are weighted by 1/size, as
    for a median, by (1 + (error/typical)²)^-1/2.
    """
    weight = np.ones(len(departure))
    columns = shares.shape[2]
    for _ in range(15):
        design = (shares * weight[:, None, None]).reshape(-1, columns)
        coefficients = np.linalg.lstsq(
            design, (departure * weight[:, None]).reshape(-1), rcond=None
        )[0]
        error = np.linalg.norm(departure - shares @ coefficients, axis=1)
        typical = float(np.median(error)) or TINY
        weight = (1 + (error / typical) ** 2) ** -0.5
    return coefficients
