"""What an implied acceleration holds besides a law: every part of the field, with its uncertainty.

A field that depends on place and velocity can be written a = f·r + g·v + h·(v turned), with f, g
and h functions of the invariants r, v², r·v and r × v. A central force has only f, a function of r.
Here the departure from a law is fitted, state by state in units of the law's own size, by parts
that each break one symmetry; what none explains remains.
"""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from orbits.estimates import CONFIDENCE, STANDARD_ERRORS
from orbits.statistics import TINY, robust_spread

if TYPE_CHECKING:
    from orbits.forces import ForceLaw

PARTS = {
    "drag": "along the velocity",
    "magnetic": "across the velocity",
    "swirl": "around the centre",
    "anisotropy": "with the direction",
    "centre": "of a centre elsewhere",
    "speed": "with the speed",
    "heading": "with the motion in or out",
    "rotation": "with the way round",
    "bearing": "with the bearing",
}
"""Parts of a field that no central force has."""
Vectors = Float[np.ndarray, "state axis"]


@dataclass(frozen=True)
class FieldPart:
    """One part of a field: its typical share of the law's acceleration, and the 95 % half-width."""

    size: float
    half_width: float


@dataclass(frozen=True)
class WholeField:
    """A law and the departure from it.

    Attributes:
        parts: by name: strength, exponent and curvature, then `PARTS`.
        law: from which the field departs.
        coefficients: of the parts' terms.
        scale: mean and standard deviation of log r (au) where it was fitted.
    """

    parts: dict[str, FieldPart]
    law: "ForceLaw"
    coefficients: Float[np.ndarray, " term"]
    scale: tuple[float, float]

    def at(self, position: Vectors, velocity: Vectors, gm: Float[np.ndarray, " state"]) -> Vectors:
        """The field's acceleration, au/yr^2."""
        terms, _ = field_terms(position, velocity, gm, self.law, self.scale)
        return self.law.acceleration(position, gm) + terms @ self.coefficients


class Terms:
    """The terms of every part at some states, to which departures from a law are fitted."""

    def __init__(
        self,
        position: Vectors,
        velocity: Vectors,
        gm: Float[np.ndarray, " state"],
        law: "ForceLaw",
    ) -> None:
        logarithm = np.log(np.linalg.norm(position, axis=1))
        self.scale = float(logarithm.mean()), float(logarithm.std()) or 1.0
        terms, self.names = field_terms(position, velocity, gm, law, self.scale)
        self.true = law.acceleration(position, gm)
        self.size = np.linalg.norm(self.true, axis=1)
        self.shares = terms / self.size[:, None, None]
        self.position, self.velocity, self.law = position, velocity, law

    def coefficients(
        self, acceleration: Vectors, rows: np.ndarray | slice = slice(None)
    ) -> Float[np.ndarray, " term"]:
        """Of the departure of accelerations, au/yr^2, at these states or some of them."""
        departure = (acceleration - self.true) / self.size[:, None]
        return _robust(self.shares[rows], departure[rows])

    def squares(
        self, coefficients: Float[np.ndarray, " term"]
    ) -> dict[str, Float[np.ndarray, " state"]]:
        """Squared share of the law's acceleration of each part, state by state."""
        by_part = {}
        for name in dict.fromkeys(self.names):
            own = np.array([each == name for each in self.names])
            by_part[name] = np.sum((self.shares[:, :, own] @ coefficients[own]) ** 2, axis=1)
        return by_part

    def sizes(self, coefficients: Float[np.ndarray, " term"]) -> dict[str, float]:
        """Typical share of each part."""
        squares = self.squares(coefficients)
        return {name: float(np.sqrt(np.median(each))) for name, each in squares.items()}

    def unevenness(self, acceleration: Vectors) -> float:
        """How much the departure from the law differs between groups of states: the largest
        difference of two medians that is certain, in shares of the law; 0 if none is.

        The groups are sixths of the states by distance, speed, motion in or out, sense of rotation
        and bearing, so that a force needs no shape that was thought of before: one that is 5 %
        stronger beyond some distance, or in one quadrant, differs by 5 %. Errors without order have
        equal medians. Certain: its 95 % half-width is subtracted, for all differences at once
        (Bonferroni).
        """
        frame, ways = self._groups
        departures = np.einsum("eni,ni->ne", frame, acceleration - self.true) / self.size[:, None]
        medians, errors = [], []
        for groups in ways:
            for values in departures.T:
                own = [values[rows] for rows in groups]
                medians.append([np.median(each) for each in own])
                # of a median: √(π/2) times that of a mean
                errors.append(
                    [np.sqrt(np.pi / 2 / len(each)) * robust_spread(each) for each in own]
                )
        middle, error = np.array(medians), np.array(errors)
        apart = np.abs(middle[:, :, None] - middle[:, None, :])
        quantile = -NormalDist().inv_cdf((1 - CONFIDENCE) / apart.size)
        half_widths = quantile * np.hypot(error[:, :, None], error[:, None, :])
        return max(0.0, float(np.max(apart - half_widths)))

    @cached_property
    def _groups(self) -> tuple[np.ndarray, list[list[np.ndarray]]]:
        """The turning frame, and rows of the states in sixths, sorted in each of several ways."""
        r = np.linalg.norm(self.position, axis=1)
        unit, fast = self.position / r[:, None], np.linalg.norm(self.velocity, axis=1)
        frame = turning_frame(unit, self.velocity)
        radial, tangential = np.einsum("eni,ni->ne", frame, self.velocity)[:, :2].T
        heading = radial / np.maximum(fast, TINY)
        across = np.sign(tangential) * np.sqrt(np.maximum(1 - heading**2, 0))
        columns = (r, fast / np.sqrt(r * self.size), heading, across, *unit.T)
        # sixths
        return frame, [
            np.array_split(np.argsort(column, kind="stable"), min(6, len(r))) for column in columns
        ]


def fitted_field(terms: Terms, acceleration: Vectors, random: np.random.Generator) -> WholeField:
    """Fit the departure of accelerations, au/yr^2, from a law by the parts of a field."""
    best, states = terms.coefficients(acceleration), len(acceleration)
    resampled = [
        terms.squares(terms.coefficients(acceleration, random.integers(states, size=states)) - best)
        for _ in range(40)
    ]
    parts = {}
    for name, size in terms.sizes(best).items():
        variance = np.mean([squares[name] for squares in resampled], axis=0)
        parts[name] = FieldPart(size, float(STANDARD_ERRORS * np.sqrt(np.median(variance))))
    return WholeField(parts, terms.law, best, terms.scale)


def turning_frame(
    unit: np.ndarray, velocity: np.ndarray
) -> Float[np.ndarray, "direction state axis"]:
    """Unit vectors that turn with a body: radial, tangential and, in space, along the spin.

    In a plane the tangential one lies a right angle anticlockwise of the radial one; in space it
    points along the motion, whose plane has no other orientation.
    """
    if unit.shape[1] == 2:
        return np.stack((unit, unit[:, ::-1] * [-1, 1]))
    least = np.eye(3)[np.argmin(np.abs(unit), axis=1)]
    spin = np.cross(unit, velocity)
    radial = np.linalg.norm(spin, axis=1) <= 1e-9 * np.linalg.norm(velocity, axis=1)
    spin = np.where(radial[:, None], np.cross(unit, least), spin)
    spin /= np.linalg.norm(spin, axis=1, keepdims=True)
    return np.stack((unit, np.cross(spin, unit), spin))


def field_terms(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, law: "ForceLaw",
    scale: tuple[float, float],
) -> tuple[Float[np.ndarray, "state axis term"], list[str]]:  # fmt: skip
    """Acceleration of every term at unit coefficient, and the part it belongs to."""
    # Whatever depends on place and velocity alike in all directions is
    #     a = f·r + g·v + h·(r × v),  f, g, h functions of r, v², r·v.
    # A central law has f(r) alone. The fit is of a − a_law = Σ c_k t_k(r, v), linear in the c_k,
    # divided by |a_law| state by state, so that near and far states count alike. In f: a_law times
    # powers of x = log r (exponent, curvature), v² and r·v (speed, heading); g is drag, h turns the
    # velocity (magnetic). What breaks the symmetry itself has terms of its own: a torque (swirl), a
    # direction of space (anisotropy, bearing), another centre, one way round (rotation).
    axes = position.shape[1]
    pull = law.acceleration(position, gm)
    size, r = np.linalg.norm(pull, axis=1), np.linalg.norm(position, axis=1)
    unit = position / r[:, None]
    x = ((np.log(r) - scale[0]) / scale[1])[:, None]
    of_circular = np.sum(velocity**2, axis=1) / np.maximum(r * size, TINY)
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
    # a force that is stronger on one side: a dipole, which a displaced centre has with another
    # dependence on r
    around = [unit[:, i] for i in range(axes)]
    if axes == 2:
        angle = np.arctan2(unit[:, 1], unit[:, 0])
        # and the next harmonics of the circle
        around += [wave(k * angle) for k in (3, 4) for wave in (np.cos, np.sin)]
    terms += [("bearing", pull * wave[:, None]) for wave in around]
    return np.stack([term for _, term in terms], axis=-1), [name for name, _ in terms]


def _robust(shares: np.ndarray, departure: np.ndarray) -> np.ndarray:
    """Coefficients by iteratively reweighted least squares: large errors hardly count, by Cauchy's
    weights 1/(1 + (error/typical)²).

    By the normal equations: each state contributes the outer product of its terms once, and a round
    of reweighting is one sum over states.
    """
    ridge = 1e-12  # rounding of these sums
    gram = np.einsum("nat,nau->ntu", shares, shares)
    product = np.einsum("nat,na->nt", shares, departure)
    weight = np.ones(len(departure))
    for _ in range(15):
        square = np.tensordot(weight, gram, axes=1)
        square[np.diag_indices_from(square)] *= 1 + ridge
        coefficients = np.linalg.lstsq(square, weight @ product, rcond=ridge)[0]
        error = np.linalg.norm(departure - shares @ coefficients, axis=1)
        typical = float(np.median(error)) or TINY
        weight = 1 / (1 + (error / typical) ** 2)
    return coefficients
