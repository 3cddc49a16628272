"""What a model's accelerations are on far states, and what a lookup's are: numbers of a verdict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orbits.forces import ForceLaw
from orbits.whole_field import DEPARTURES, Part, Terms

RESAMPLES = 400
"""Of the states, for the interval of a ratio of mean errors."""
WIDEST = {"exponent": 1.0, "quartic": 1.0, "yukawa": 1.0}
"""Departures up to which limits are sought: of the exponent, au², au⁻²."""
HALVINGS = 9
"""Of the interval of a limit, which is then known to 0.2 % of the widest."""


@dataclass(frozen=True)
class Errors:
    """Errors of the acceleration over some states.

    Attributes:
        error: median relative error, over those with an answer.
        right: share of these within 10 %.
        answered: share with an answer.
        states: how many were asked.
    """

    error: float | None
    right: float | None
    answered: float | None
    states: int


@dataclass(frozen=True)
class Cell(Errors):
    """Errors in a range of distance (au) and of speed (in circular ones), in one direction."""

    start: float
    stop: float
    slow: float
    fast: float
    direction: str

    def __str__(self) -> str:
        """`1.62 to 2.91 au, 0.5 to 1 circular speeds, outward`."""
        return (
            f"{self.start:.3g} to {self.stop:.3g} au, {self.slow:g} to {self.fast:g} circular "
            f"speeds, {self.direction}"
        )


@dataclass(frozen=True)
class FarField:
    """The read-out `far`, as numbers: see `worldmodel.probes.readouts.far`."""

    all: Errors
    mean_error: float
    closed_loop_right: float | None
    anticlockwise_error: float | None
    clockwise_error: float | None
    size: float
    field_right: float
    field_error: float
    kick_field_error: float | None
    remainder: float
    unevenness: float
    closest: float
    farthest: float
    families: dict[str, Errors]
    outside: dict[str, Errors]
    cells: tuple[Cell, ...]
    parts: dict[str, Part]
    grain: float = 0.0
    pull: float = 0.0
    rounding: float = 0.0

    @classmethod
    def of(cls, reading: Mapping[str, Any]) -> "FarField":
        """From the file of a reading."""
        metrics = reading["metrics"]
        scalars = {
            name: metrics[name]
            for name in cls.__annotations__
            if name not in ("all", "families", "outside", "cells", "parts")
        }
        return cls(
            all=_errors(metrics),
            families={name: _errors(each) for name, each in metrics["families"].items()},
            outside={name: _errors(each) for name, each in metrics["outside"].items()},
            cells=tuple(
                Cell(
                    cell["error"], cell["right"], cell["answered"], cell["states"], cell["from"],
                    cell["to"], cell["slow"], cell["fast"], cell["direction"],
                )
                for cell in reading["cells"]
            ),
            parts={name: Part(**each) for name, each in metrics["parts"].items()},
            **scalars,
        )  # fmt: skip


def _errors(numbers: Mapping[str, Any]) -> Errors:
    return Errors(*(numbers[name] for name in ("error", "right", "answered", "states")))


@dataclass(frozen=True)
class Comparison:
    """A model beside the best lookup of the same orbits, on the same states.

    Attributes:
        lookup: name of the control.
        ratio: of its mean error to the model's, in which no state counts more than 1.
        low, high: 95 % interval over the states.
        mean_error: the lookup's.
        decides: whether the ratio can tell: not where the lookup itself holds the field.
    """

    lookup: str
    ratio: float
    low: float
    high: float
    mean_error: float
    decides: bool = True


def beside_lookups(
    model: np.ndarray, lookups: Mapping[str, np.ndarray], holds: Mapping[str, bool]
) -> Comparison | None:
    """The model beside the best of some lookups; None without any.

    Args:
        model: (state,) relative errors, NaN without an answer.
        lookups: the same of each, on the same states.
        holds: whether a lookup passes for a force itself.
    """
    answered = np.isfinite(model)
    capped = {
        name: np.minimum(error[answered], 1.0)
        for name, error in lookups.items()
        if len(error) == len(model) and np.isfinite(error[answered]).all()
    }
    if not capped or not answered.any():
        return None
    best = min(capped, key=lambda name: float(capped[name].mean()))
    own, other = np.minimum(model[answered], 1.0), capped[best]
    random = np.random.default_rng(0)
    rows = random.integers(len(own), size=(RESAMPLES, len(own)))
    tiny = np.finfo(float).tiny
    ratios = other[rows].mean(axis=1) / np.maximum(own[rows].mean(axis=1), tiny)
    low, high = np.quantile(ratios, (0.025, 0.975))
    mean = float(other.mean())
    ratio = mean / max(float(own.mean()), tiny)
    return Comparison(best, ratio, float(low), float(high), mean, not holds[best])


@dataclass(frozen=True)
class Limits:
    """How far a force may depart from the law before a gate fails, added to the model's own field.

    Attributes:
        departures: for each of `orbits.whole_field.DEPARTURES`, the largest negative and positive
            one that passes; the size of the search if none fails.
        part: the largest part that no central force has, in shares of the law's acceleration.
        remainder: error of nine states in ten against the field, at most: what no part explains.
    """

    departures: dict[str, tuple[float, float]] = field(default_factory=dict)
    part: float | None = None
    remainder: float | None = None


def departures(
    states: Mapping[str, Any], law: ForceLaw, passes: Callable[[np.ndarray, Terms], bool]
) -> dict[str, tuple[float, float]]:
    """The largest departures of either sign with which a field still passes.

    Args:
        states: position, velocity, gm, acceleration and family, as the read-out writes them.
        law: the field's.
        passes: whether (state, axis) accelerations pass every gate.
    """
    x, v, gm, a = (
        np.array(states[name], dtype=float)
        for name in ("position", "velocity", "gm", "acceleration")
    )
    answered = np.isfinite(a).all(axis=1)
    x, v, gm, a = x[answered], v[answered], gm[answered], a[answered]
    terms, r = Terms(x, v, gm, law), np.linalg.norm(x, axis=1)
    limits = {}
    for name, departs in DEPARTURES.items():
        shape = departs(r)[:, None] * terms.true
        # a squared inverse length is positive
        signs = (1.0,) if name == "yukawa" else (-1.0, 1.0)
        ends = []
        for sign in signs:
            low, high = 0.0, WIDEST[name]
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                good = passes(a + sign * middle * shape, terms)
                low, high = (middle, high) if good else (low, middle)
            ends.append(sign * high)
        limits[name] = (ends[0] if len(ends) == 2 else 0.0, ends[-1])
    return limits
