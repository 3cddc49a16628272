"""What an implied acceleration holds beside a law: every part of the field, and how sure that is.

A field that depends on place and velocity can be written a = f·r + g·v + h·(v turned), with f, g
and h functions of the invariants r, v² and r·v. A central force has f alone, a function of r. Here
the departure from a law is fitted, state by state in units of the law's own size, by parts that
each break one symmetry; what none of them explains is left.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from orbits.forces import ForceLaw

RADIAL = ("strength", "exponent", "curvature")
"""Parts that a central force may have."""
PARTS = {
    "drag": "along the velocity",
    "magnetic": "across the velocity",
    "anisotropy": "with the direction from the centre",
    "centre": "from a centre elsewhere",
    "speed": "with the speed, along the radius",
}
"""Parts that no central force has, in words."""
HIGHEST = 5
"""Power of log r up to which a central force may depart from the law: Hooke's from Newton's is
r³, and is left with 1 % then."""
DEPARTURES = {
    "exponent": lambda r: -np.log(r),
    "quartic": lambda r: r**-2.0,
    "yukawa": lambda r: -(r**2) / 2,
}
"""Other central forces that are close to a law: the relative departure per unit of the exponent, of
au² in a term of 1/r⁴ beside 1/r², and of au⁻² in the squared inverse of a Yukawa length."""
SHIFT = 1e-4
"""au: step of the differences that move the centre."""
ROUNDS = 15
"""Of reweighting: the largest errors count as 1/size, as those of a median do."""
RESAMPLES = 40
NORMAL = 1.96
"""Standard errors in half of a 95 % interval."""

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
        per_unit: for each of `DEPARTURES`, the size of the parts that it would add, per unit.
    """

    parts: dict[str, Part]
    law: ForceLaw
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
    law: ForceLaw,
    random: np.random.Generator,
) -> WholeField:
    """Fit the departure of accelerations from a law by the parts of a whole field.

    Args:
        acceleration: au/yr^2.
        position: au.
        velocity: au/yr.
        gm: au^3/yr^2.
        law: to depart from.
        random: draws the resamples of the states.
    """
    logarithm = np.log(np.linalg.norm(position, axis=1))
    scale = float(logarithm.mean()), float(logarithm.std()) or 1.0
    terms, names = _terms(position, velocity, gm, law, scale)
    true = law.acceleration(position, gm)
    size = np.linalg.norm(true, axis=1)
    shares, departure = terms / size[:, None, None], (acceleration - true) / size[:, None]
    found = _robust(shares, departure)
    states = len(departure)
    drawn = [random.integers(states, size=states) for _ in range(RESAMPLES)]
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
        spread = NORMAL * np.sqrt(
            np.median(np.mean([_squares(shares, own, each - found) for each in others], axis=0))
        )
        parts[name] = Part(float(np.sqrt(np.median(_squares(shares, own, found)))), float(spread))
    return WholeField(parts, law, found, scale, per_unit)


def _squares(shares: np.ndarray, own: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(state,) squared share of the terms of one part."""
    return np.sum((shares[:, :, own] @ coefficients[own]) ** 2, axis=1)


def _terms(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, law: ForceLaw,
    scale: tuple[float, float],
) -> tuple[Float[np.ndarray, "state axis term"], list[str]]:  # fmt: skip
    """Accelerations of every term at unit coefficient, and the part that each belongs to."""
    axes = position.shape[1]
    pull = law.acceleration(position, gm)
    size, r = np.linalg.norm(pull, axis=1), np.linalg.norm(position, axis=1)
    unit = position / r[:, None]
    x = ((np.log(r) - scale[0]) / scale[1])[:, None]
    of_circular = np.sum(velocity**2, axis=1) / (r * size)
    turned = velocity[:, ::-1] * [-1, 1] if axes == 2 else np.cross(unit, velocity)
    found = [("strength", pull), ("exponent", pull * x)]
    found += [("curvature", pull * x**power) for power in range(2, HIGHEST + 1)]
    found += [("drag", -velocity), ("magnetic", turned)]
    for i in range(axes):
        for j in range(i, axes):
            if (i, j) != (axes - 1, axes - 1):  # the squares sum to one
                uneven = unit[:, i] * unit[:, j] - (1 / axes if i == j else 0)
                found.append(("anisotropy", pull * uneven[:, None]))
    for i in range(axes):
        moved = law.acceleration(position - SHIFT * np.eye(axes)[i], gm)
        found.append(("centre", (moved - pull) / SHIFT))
    found.append(("speed", pull * (of_circular - 1)[:, None]))
    return np.stack([term for _, term in found], axis=-1), [name for name, _ in found]


def _robust(shares: np.ndarray, departure: np.ndarray) -> np.ndarray:
    """Coefficients by least squares in which a state with a large error counts less."""
    weight = np.ones(len(departure))
    columns = shares.shape[2]
    for _ in range(ROUNDS):
        design = (shares * weight[:, None, None]).reshape(-1, columns)
        found = np.linalg.lstsq(design, (departure * weight[:, None]).reshape(-1), rcond=None)[0]
        error = np.linalg.norm(departure - shares @ found, axis=1)
        typical = float(np.median(error)) or np.finfo(float).tiny
        weight = (1 + (error / typical) ** 2) ** -0.5
    return found
