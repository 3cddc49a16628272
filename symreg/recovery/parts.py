"""The parts that a force may have beside one along the line to its centre: one object each.

A part is its name, its accelerations by the motion, and its sentence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.interpolate import BSpline

from orbits.estimates import Estimate
from orbits.statistics import TINY
from orbits.units import GivenUnits
from orbits.whole_field import PARTS, field_terms
from symreg.recovery.weak_path import Path, Vectors

DEGREE = 5
"""Of splines: their quintic pieces of a fifth of a factor e err by 1e-7."""


@dataclass(frozen=True)
class CentralMotion:
    """A path, and the pull along the line to the centre, with its derivative by the position."""

    path: Path
    pull: Vectors
    slope: np.ndarray


Columns = Callable[[CentralMotion], Float[np.ndarray, "row axis component"]]


@dataclass(frozen=True)
class Kind:
    """A part of a force.

    Attributes:
        name: of it.
        words: what it is.
        columns: accelerations of unit coefficients, by the motion.
        powers: of length and time in the unit of its coefficients.
        form: how it goes, by its only coefficient k.
        percent: whether k is a share.
        frequency: of a wave, rad/yr; it has the coefficients of cosines, then those of sines.
        joins: whether it is a force that a law can stand beside.
    """

    name: str
    words: str
    columns: Columns
    powers: tuple[int, int] = (1, -2)
    form: str = ""
    percent: bool = False
    frequency: float = 0.0
    joins: bool = True

    @property
    def others(self) -> tuple["Kind", ...]:
        """The same in other forms."""
        return tuple(each for each in OF_PATH if each.words == self.words and each != self)

    def estimates(self, values: np.ndarray, errors: np.ndarray) -> tuple[Estimate, ...]:
        """What is told of coefficients with standard errors: amplitudes, or the last of a trend."""
        if self.frequency:
            (a, b), (da, db) = np.split(values, 2), np.split(errors, 2)
            values = np.hypot(a, b)
            errors = np.hypot(a * da, b * db) / np.maximum(values, TINY)
        elif self.form:
            values, errors = values[-1:], errors[-1:]
        return tuple(map(Estimate.of, values.tolist(), errors.tolist()))

    def unit(self, units: GivenUnits) -> tuple[float, str]:
        """By which coefficients in au and yr become those told, and the unit of these."""
        text = units.unit(*self.powers).text if any(self.powers) else ""
        factor = units.factor(*self.powers)
        return (100 * factor, f"% {text}".strip()) if self.percent else (factor, text)

    def rows(
        self, numbers: Sequence[Estimate], units: GivenUnits, axes: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The part as numbers, one row for each coefficient, in units that positions came in."""
        factor, unit = self.unit(units)
        own: dict[str, Any] = {"name": self.name, "unit": unit}
        if self.frequency:
            own["frequency"] = self.frequency * units.factor(0, -1)
        told = [each.times(factor) for each in numbers] if self.joins else [Estimate()]
        return [
            own | {"axis": axis, "value": each.value, "low": each.low, "high": each.high}
            for axis, each in zip(axes if len(told) > 1 else ("",), told, strict=False)
        ]

    def sentence(self, numbers: Sequence[Estimate], units: GivenUnits, axes: Sequence[str]) -> str:
        """The part in words, with its coefficients in units that positions came in."""
        factor, unit = self.unit(units)
        words = self.words
        if self.frequency:
            words += f", {self.frequency * units.factor(0, -1):.6g} rad/{units.time}"
        if not self.joins:
            return words
        named = axes if len(numbers) > 1 else ("",)
        told = ", ".join(
            f"{axis} {each.times(factor)}".strip()
            for axis, each in zip(named, numbers, strict=False)
        )
        return f"{words}{f', {self.form} with k =' if self.form else ':'} {told} {unit}"


def _against(of_speed: float, of_distance: float) -> Columns:
    def columns(motion: CentralMotion) -> np.ndarray:
        v, r = motion.path.velocity, np.linalg.norm(motion.path.position, axis=1)
        size = np.linalg.norm(v, axis=1) ** of_speed * r**of_distance
        return -(v * size[:, None])[:, :, None]

    return columns


def _across(motion: CentralMotion) -> np.ndarray:
    v = motion.path.velocity
    if v.shape[1] == 2:  # v x e, e out of the plane
        return (v[:, ::-1] * [1, -1])[:, :, None]
    return np.stack([np.cross(v, axis) for axis in np.eye(3)], axis=2)


def uniform(motion: CentralMotion) -> np.ndarray:
    """(row, axis, axis) the directions of the axes."""
    rows, axes = motion.pull.shape
    return np.tile(np.eye(axes), (rows, 1, 1))


def time_splines(time: np.ndarray, count: int) -> np.ndarray:
    """(row, spline) so many splines between 0 and the last time, where only the last is not 0."""
    ends, end = np.ones(DEGREE + 1), float(time.max()) * (1 + 1e-12)
    inner = np.linspace(0, end, count - DEGREE + 1)[1:-1]
    knots = np.concatenate([0 * ends, inner, end * ends])
    return np.asarray(BSpline.design_matrix(time, knots, DEGREE).toarray())


def _trend(count: int) -> Columns:
    """The pull times any smooth function of time that begins at 0."""
    return lambda motion: (
        motion.pull[:, :, None] * time_splines(motion.path.time, count)[:, None, 1:]
    )


def wave(frequency: float) -> Kind:
    """A uniform field of one frequency, rad/yr."""

    def columns(motion: CentralMotion) -> np.ndarray:
        phase, fixed = frequency * motion.path.time[:, None, None], uniform(motion)
        return np.concatenate([fixed * np.cos(phase), fixed * np.sin(phase)], axis=2)

    words = "a uniform field of one frequency"
    return Kind("periodic", words, columns, frequency=frequency)


def force_of_time(force: Vectors, axis: np.ndarray) -> Kind:
    """A force of one direction as it is at each state."""
    named = f"({', '.join(f'{each:.3g}' for each in axis)})"
    if axis.max() > 1 - 1e-6:
        named = "xyz"[int(np.argmax(axis))]
    words = f"a force along {named} that changes with time and is none of those of the state tried"
    return Kind("time", words, lambda _: force[:, :, None], joins=False)


def _broken(name: str) -> Columns:
    """The terms of a part of the whole field."""

    def columns(motion: CentralMotion) -> np.ndarray:
        path = motion.path
        law: Any = SimpleNamespace(acceleration=lambda position, gm: motion.pull)
        logs = np.log(np.linalg.norm(path.position, axis=1))
        scale = float(logs.mean()), float(logs.std()) or 1.0
        terms, names = field_terms(path.position, path.velocity, np.ones(len(logs)), law, scale)
        return terms[:, :, [each == name for each in names]]

    return columns


AGAINST = "a drag against the velocity"
CHANGING = "a strength that changes with time"
DRAG = Kind("drag", AGAINST, _against(0, 0), (0, -1), "k·v")
OF_VELOCITY = (
    DRAG,
    Kind("quadratic drag", AGAINST, _against(1, 0), (-1, 0), "k·|v|·v"),
    Kind("magnetic", "a part across the velocity, as of a magnetic field or a turning frame "
         "(Coriolis)", _across, (0, -1)),
    Kind("uniform", "a uniform field", uniform),
)  # fmt: skip
"""Parts that need no centre."""
OF_STATE = (
    *OF_VELOCITY,
    Kind("drag over r", AGAINST, _against(0, -1), (1, -1), "k·v/r"),
    Kind("drag over r^2", AGAINST, _against(0, -2), (2, -1), "k·v/r^2"),
)
CENTRE = Kind("centre", "a centre of the force elsewhere than the origin, at",
              lambda motion: -motion.slope, (1, 0))  # fmt: skip
MOVING = Kind("moving", "a centre of the force that moves, by",
              lambda motion: -motion.slope * motion.path.time[:, None, None], (1, -1))  # fmt: skip
GROWTH = Kind("growth", CHANGING,
              lambda motion: (motion.pull * motion.path.time[:, None])[:, :, None], (0, -1),
              "as 1 + k·t since the first state", percent=True)  # fmt: skip
OF_PATH = (
    *OF_STATE,
    CENTRE,
    GROWTH,
    # six and twelve numbers: a trend, and one that turns a few times
    *(Kind("trend", CHANGING, _trend(count + 1), (0, 0),
           "to 1 + k times its first value in the time measured", percent=True)
      for count in (6, 12)),
)  # fmt: skip
"""Parts that have a name, where the motion is known and not the force alone."""
BROKEN = tuple(
    Kind(name, f"a part {PARTS[name]}", _broken(name), joins=False)
    for name in ("swirl", "anisotropy", "speed", "heading", "rotation", "bearing")
)
"""Parts that break a symmetry of a central force."""
