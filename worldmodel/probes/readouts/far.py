"""Far: is the implied acceleration right where no training orbit has been?"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from orbits.whole_field import PARTS
from worldmodel.config import Count
from worldmodel.grain import grain
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from orbits.whole_field import WholeField
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.states import Arcs

RIGHT = 0.1
"""Relative error up to which a state counts as right."""
BEYOND = 1.5
"""Times as close, and as far, as any training orbit: states outside, separately."""
PLACES = 6
"""Ranges of distance, with equally many states."""
SPEEDS = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Ends of the cells in circular speeds."""
DIRECTIONS = {"inward": (-1.0, -0.5), "across": (-0.5, 0.5), "outward": (0.5, 1.0)}
"""Cells by the cosine of the angle between velocity and the outward direction."""
CELL_PLACES = 3
"""Cells in distance."""


@dataclass(frozen=True)
class FarStates:
    """States and what a model says of them; NaN where it says that it does not know.

    position, velocity, acceleration, true: (state, axis), au and yr.
    family: (state,) number in `worldmodel.probes.states.FAR`.
    """

    position: Float[np.ndarray, "state axis"]
    velocity: Float[np.ndarray, "state axis"]
    gm: Float[np.ndarray, " state"]
    acceleration: Float[np.ndarray, "state axis"]
    true: Float[np.ndarray, "state axis"]
    family: np.ndarray

    @property
    def answered(self) -> Bool[np.ndarray, " state"]:
        return np.isfinite(self.acceleration).all(axis=1)

    @property
    def error(self) -> Float[np.ndarray, " state"]:
        """Relative error of the acceleration vector."""
        return _relative(self.acceleration - self.true, self.true)

    @property
    def r(self) -> Float[np.ndarray, " state"]:
        return np.asarray(np.linalg.norm(self.position, axis=1))

    @property
    def circular(self) -> Float[np.ndarray, " state"]:
        """Circular speed at each distance, au/yr."""
        return np.sqrt(np.linalg.norm(self.true, axis=1) * self.r)

    @property
    def speed(self) -> Float[np.ndarray, " state"]:
        """In circular speeds."""
        return np.asarray(np.linalg.norm(self.velocity, axis=1) / self.circular)

    @property
    def outward(self) -> Float[np.ndarray, " state"]:
        """Cosine of the angle between the velocity and the outward direction."""
        along = np.sum(self.position * self.velocity, axis=1) / self.r
        size = np.linalg.norm(self.velocity, axis=1)
        return np.clip(along / np.maximum(size, np.finfo(float).tiny), -1, 1)

    def some(self, chosen: np.ndarray) -> "FarStates":
        names = ("position", "velocity", "gm", "acceleration", "true", "family")
        return FarStates(*(getattr(self, name)[chosen] for name in names))


@dataclass(frozen=True)
class Far(ReadOut):
    """Accelerations asked of the model far from its training."""

    name: ClassVar[str] = "far"
    what: ClassVar[str] = "states that no training orbit is like, and every part of the field"
    question: ClassVar[str] = (
        "Whether the implied acceleration is the law's on arcs unlike any training orbit "
        "(from rest, radial, slow, fast, unbound, both ways round, and any at all), and what else "
        "the field holds: fractions of the law's acceleration."
    )
    labels: ClassVar[Mapping[str, str]] = {
        "error": "median relative error of the acceleration",
        "mean_error": "mean of it, no state counted above 100 %",
        "right": f"share of states within {RIGHT:.0%}",
        "answered": "share of states with an answer",
        "closed_loop_right": f"share within {RIGHT:.0%} on its own predictions",
        "size": "median acceleration, as a fraction of the law's",
        "field_error": "median relative error against the field's own fit",
        "field_right": f"share of states within {RIGHT:.0%} of it",
        "remainder": "error against it of nine states in ten, at most",
        "unevenness": "difference of the departure between groups of states",
        "kick_field_error": "the same one step after a kick",
        "anticlockwise_error": "moving anticlockwise",
        "clockwise_error": "moving clockwise",
        "grain": "spacing of the answers, au",
        "pull": "displacement by the law in a step, au",
        "rounding": "error of it by that spacing",
        "closest": "closest state, au",
        "farthest": "farthest state, au",
        "parts_strength_size": "strength off by",
        "parts_exponent_size": "exponent off by",
        **{f"parts_{name}_size": f"part {words}" for name, words in PARTS.items()},
        "outside_closer_error": "closer than any training orbit",
        "outside_farther_error": "farther than any training orbit",
    }

    count: Count = 60
    """At most this many states per family, and four times as many without a plan."""

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        from worldmodel.plot import plot_validity

        return plot_validity(axes, reading.details["map"])

    def read(self, experiment: "Experiment") -> Reading:
        """Errors by family of states, by cell, and the parts of the field.

        `metrics` holds the median relative error of the acceleration vector and its mean (in which
        no state counts more than 1), over all far states; the share that is `right` and that is
        `answered`, of the states asked; `closed_loop_right`, after some steps on the model's own
        predictions; `families`, with error, right, answered and R² of each; `outside`, the error
        closer in and farther out than any training orbit, up to 1.5 times; the `size` of the
        acceleration relative to the law's; and `parts`, each part of the field
        (`orbits.whole_field`) with the half-width of its 95 % interval. `field_error` is the error
        against the fitted field, whatever its law, and `field_right` the share of states within
        10 % of it; `remainder` is the 90 % quantile of that error, which bounds what no part
        explains; `unevenness` the largest difference of the departure from the law between groups
        of states, and `kick_field_error` the same one step after a kick. `grain` is the spacing of
        the numbers that its answers are chosen from, au, as they show it; `pull` the displacement
        by the law in a step, dt²·a, au; and `rounding` the error that such a spacing makes of it;
        medians over the states.

        `cells` and `places` say by distance (au), speed and direction which states are right, `map`
        what each state is, and `states` what the model says of it.
        """
        from orbits.whole_field import Terms, fitted_field

        arcs, family = experiment.far_arcs(self.count)
        every = read_states(experiment, arcs, family)
        known = every.some(every.answered)
        least = 40  # states for the parts of a field, of which there are about ten
        if len(known.gm) < least:
            raise ValueError(
                f"{len(known.gm)} of {len(every.gm)} far states can be read; {least} are needed."
            )
        law, random = experiment.law, experiment.random
        terms = Terms(known.position, known.velocity, known.gm, law)
        field = fitted_field(terms, known.acceleration, random())
        size = np.linalg.norm(known.true, axis=1)
        own = field.at(known.position, known.velocity, known.gm)
        rest = (known.acceleration - own) / size[:, None]
        left, error = np.linalg.norm(rest, axis=1), known.error
        spin = known.position[:, 0] * known.velocity[:, 1]
        spin -= known.position[:, 1] * known.velocity[:, 0]
        spacing, rounding = rounding_of(experiment, arcs)
        pull = size * experiment.facts.dt**2
        metrics: dict[str, Any] = {
            **_summary(every, np.ones(len(every.gm), dtype=bool)),
            "mean_error": float(np.mean(np.minimum(error, 1))),
            "closed_loop_right": closed_loop(experiment, arcs),
            "size": _median(np.linalg.norm(known.acceleration, axis=1) / size),
            "field_error": _median(left),
            "field_right": float(np.mean(left <= RIGHT)),
            "remainder": float(np.quantile(left, 0.9)),
            "unevenness": terms.unevenness(known.acceleration),
            "kick_field_error": _after_kick(experiment, field),
            "anticlockwise_error": _median(error[spin > 0]),
            "clockwise_error": _median(error[spin < 0]),
            "closest": float(known.r.min()),
            "farthest": float(known.r.max()),
            "grain": spacing,
            "pull": _median(pull),
            "rounding": _median(rounding[every.answered] / pull),
            "families": families(every),
            "outside": self._outside(experiment),
            "parts": {
                name: {"size": part.size, "half_width": part.half_width}
                for name, part in field.parts.items()
            },
        }
        shown = {"r": known.r, "speed": known.speed, "anticlockwise": spin > 0, "error": error}
        details = {
            "map": {name: values.tolist() for name, values in shown.items()},
            "places": places(every),
            "cells": cells(every),
            "states": {
                name: _listed(getattr(every, name))
                for name in ("position", "velocity", "gm", "acceleration", "family", "error")
            },
        }
        title = f"{experiment.who}, far states: over {len(every.gm)}"
        text = side_by_side(title, {"": dict(_flat(metrics))}, self.labels)
        return Reading(metrics, "far", text, details=details)

    def _outside(self, experiment: "Experiment") -> dict[str, dict[str, Any]]:
        """Errors closer in and farther out than any training orbit, if one body is visible."""
        from worldmodel.probes.states import FAR, UNPLANNED

        if experiment.orbits.mass is not None:
            return {}
        nearest, farthest = experiment.radius
        ends = {"closer": (nearest / BEYOND, nearest), "farther": (farthest, farthest * BEYOND)}
        unplanned = {UNPLANNED: FAR[UNPLANNED]}
        count = max(1, self.count // 2)
        by_side = {}
        for name, radius in ends.items():
            arcs, family = experiment.far_arcs(count, radius, unplanned)
            if len(arcs.gm):
                states = read_states(experiment, arcs, family)
                by_side[name] = _summary(states, np.ones(len(arcs.gm), dtype=bool))
        return by_side


def read_states(experiment: "Experiment", arcs: "Arcs", family: np.ndarray) -> FarStates:
    """What the model says of the first time read of some arcs."""
    at = arcs.read.start
    x, v = arcs.position[:, at].astype(np.float64), arcs.velocity[:, at].astype(np.float64)
    true = experiment.law.acceleration(x, arcs.gm)
    return FarStates(x, v, arcs.gm, _accelerations(experiment, arcs), true, family)


def rounding_of(experiment: "Experiment", arcs: "Arcs") -> tuple[float, Float[np.ndarray, " arc"]]:
    """The spacing of a model's answers at the first time read, au (median), and the rms error that
    it makes of the displacement of each: a number rounded to q is off by q/√12."""
    at = arcs.read.start
    predicted, here = experiment.predictor.predict(arcs)[:, at], arcs.seen[:, at]
    spacing = grain(predicted.reshape(len(predicted), -1), here.reshape(len(here), -1))
    error = np.sqrt(np.sum(spacing[:, : predicted.shape[-1]] ** 2, axis=1) / 12)
    return float(np.median(spacing)), error / np.abs(arcs.shares[:, 0])


def families(states: FarStates) -> dict[str, dict[str, Any]]:
    """Errors by family of states, with R²."""
    from orbits.statistics import r_squared
    from worldmodel.probes.states import FAR

    by_family = {}
    for number, name in enumerate(FAR):
        of = states.family == number
        if of.any():
            known = states.some(of & states.answered)
            r2 = r_squared(known.acceleration, known.true) if len(known.gm) > 1 else None
            by_family[name] = {**_summary(states, of), "r2": r2}
    return by_family


def places(states: FarStates) -> list[dict[str, Any]]:
    """Errors by ranges of distance with equally many states, au."""
    ends = np.quantile(states.r, np.linspace(0, 1, PLACES + 1))
    place = np.searchsorted(ends[1:-1], states.r)
    return [
        {"from": float(low), "to": float(high), **_summary(states, place == number)}
        for number, (low, high) in enumerate(itertools.pairwise(ends))
    ]


def cells(states: FarStates) -> list[dict[str, Any]]:
    """Errors by distance (au), speed (in circular ones) and direction together."""
    ends = np.quantile(states.r, np.linspace(0, 1, CELL_PLACES + 1))
    place = np.searchsorted(ends[1:-1], states.r)
    speed, outward = np.minimum(states.speed, np.nextafter(SPEEDS[-1], 0)), states.outward
    rows = []
    for number, low, name in itertools.product(range(CELL_PLACES), range(4), DIRECTIONS):
        slow, fast = SPEEDS[low : low + 2]
        inner, outer = DIRECTIONS[name]
        of = (place == number) & (slow <= speed) & (speed < fast)
        of &= (inner <= outward) & (outward <= outer)
        if of.any():
            edges = {"from": float(ends[number]), "to": float(ends[number + 1])}
            rows.append(
                {**edges, "slow": slow, "fast": fast, "direction": name, **_summary(states, of)}
            )
    return rows


def closed_loop(experiment: "Experiment", arcs: "Arcs") -> float | None:
    """Share of states within 10 % after some steps on the model's own predictions, in which they
    fill its context; None for a control that is shown more than positions."""
    from worldmodel.own_predictor import OfPositions
    from worldmodel.predictor import roll_out
    from worldmodel.probes.acceleration import finite_step_corrected, implied_acceleration

    if not isinstance(experiment.predictor, OfPositions):
        return None
    model, now = experiment.predictor.model, arcs.read.start
    steps = min(model.context_length + 3, 16)
    start = arcs.seen[:, : now + 1].astype(np.float64)
    path = np.concatenate((start[:, -2:], roll_out(model, start, steps)), axis=1)
    implied = implied_acceleration(path[:, 1:], path[:, :-1], experiment.facts.dt)
    if experiment.config.correction == "numerov":
        implied = finite_step_corrected(implied, 1)
    share = arcs.shares[:, :1]
    x, acceleration = path[:, -3, 0] / share, implied[:, -2, 0] / share
    near, farthest = experiment.radius
    r = np.linalg.norm(x, axis=1)
    inside = (r >= near) & (r <= farthest) & np.isfinite(acceleration).all(axis=1)
    if not inside.any():
        return None
    true = experiment.law.acceleration(x[inside], arcs.gm[inside])
    return float(np.mean(_relative(acceleration[inside] - true, true) <= RIGHT))


def _accelerations(experiment: "Experiment", arcs: "Arcs") -> np.ndarray:
    """(arc, axis) implied accelerations at the first time read, au/yr^2."""
    return np.asarray(experiment.acceleration(arcs)[:, arcs.read.start, 0] / arcs.shares[:, :1])


def _summary(states: FarStates, of: np.ndarray) -> dict[str, Any]:
    """Median error and share of right states among those answered, and how many these are."""
    answered = of & states.answered
    error = states.error[answered]
    return {
        "error": _median(error),
        "right": float(np.mean(error <= RIGHT)) if len(error) else None,
        "answered": float(answered.sum() / of.sum()) if of.any() else None,
        "states": int(of.sum()),
    }


def _relative(off: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(state,) size of a deviation over the law's acceleration."""
    return np.asarray(np.linalg.norm(off, axis=1) / np.linalg.norm(true, axis=1))


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


def _listed(values: np.ndarray) -> list[Any]:
    """For JSON: None where there is no number."""
    listed = values.astype(object)
    listed[~np.isfinite(values)] = None
    return list(listed.tolist())


def _flat(metrics: Mapping[str, Any], prefix: str = "") -> Any:
    """Names and numbers of nested mappings."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", value


def _after_kick(experiment: "Experiment", field: "WholeField") -> float | None:
    """Median error against a field, one step after a kick, if kicked states can be made."""
    arcs = experiment.kicked_arcs(experiment.orbits)
    first = max(0, arcs.read.start - experiment.predictor.context_length)
    arcs = arcs.cut(first, arcs.read.start + 3)  # what the two times after it need as well
    at, acceleration = arcs.read.start, _accelerations(experiment, arcs)
    kept = experiment.within(arcs)[:, at]
    kept &= np.isfinite(acceleration).all(axis=1)
    if not kept.any():
        return None
    x, v, gm = arcs.position[kept, at], arcs.velocity[kept, at], arcs.gm[kept]
    true = experiment.law.acceleration(x, gm)
    return _median(_relative(acceleration[kept] - field.at(x, v, gm), true))
