"""Far: is the implied acceleration right where no training orbit has been?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from orbits.whole_field import PARTS
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from orbits.whole_field import WholeField
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.states import Arcs

RIGHT = 0.1
"""Relative error up to which a state counts as right."""
LEAST_STATES = 40
"""With fewer states no field is fitted."""
BEYOND = 1.5
"""Times as close, and as far, as any training orbit: states outside, separately."""
PLACES = 6
"""Ranges of distance, with equally many states, with errors of their own."""


@dataclass(frozen=True)
class Far(ReadOut):
    """Accelerations asked of the model far from its training."""

    name: ClassVar[str] = "far"
    what: ClassVar[str] = "states that no training orbit is like, and every part of the field"
    question: ClassVar[str] = (
        "Whether the implied acceleration is the law's on arcs unlike any training orbit "
        "(from rest, radial, slow, fast, unbound, both ways round), and what else the field holds: "
        "fractions of the law's acceleration."
    )
    labels: ClassVar[Mapping[str, str]] = {
        "error": "median relative error of the acceleration",
        "right": f"fraction of states within {RIGHT:.0%}",
        "size": "median acceleration, as a fraction of the law's",
        "field_error": "median relative error against the field's own fit",
        "smooth_share": "fraction of that error smooth in position and velocity",
        "kick_field_error": "the same one step after a kick",
        "anticlockwise_error": "moving anticlockwise",
        "clockwise_error": "moving clockwise",
        "closer_error": "closer than any training orbit",
        "farther_error": "farther than any training orbit",
        "strength": "strength off by",
        "exponent": "exponent off by",
        **{name: f"part {words}" for name, words in PARTS.items()},
        "closest": "closest state, au",
        "farthest": "farthest state, au",
    }

    count: Count = 60
    """At most this many states per family."""

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        from worldmodel.plot import plot_validity

        return plot_validity(axes, reading.details["map"])

    def read(self, experiment: "Experiment") -> Reading:
        """Errors by family of states, and the parts of the field.

        `metrics` holds the median relative error of the acceleration vector: over all far states,
        by family (with the part within 10 % and R²), by distance (`place_1_error` from `closest` to
        `place_1_to` au, and so on), and outside the distances of training (`closer_error`,
        `farther_error`, up to 1.5 times); the share of far states that are `right`; the `size` of
        the acceleration relative to the law's; and each part of the field (`orbits.whole_field`)
        with the half-width of its 95 % interval, and how much other central forces would add to it
        (`exponent_per_quartic`, ...). `field_error` is the error against the fitted field, whatever
        its law, `smooth_share` how much of it other states predict (a force that has no part here
        is smooth), and `kick_field_error` the same one step after a kick: both are small for a
        model that knows another force. `map` holds the states: r (au), speed in circular ones,
        whether anticlockwise, and error.
        """
        from orbits.statistics import r_squared
        from orbits.whole_field import RADIAL, fitted_field, smooth_share
        from worldmodel.probes.states import FAR

        law = experiment.law
        arcs, family = experiment.far_arcs(self.count)
        at, acceleration = arcs.read.start, _accelerations(experiment, arcs)
        known = np.isfinite(acceleration).all(axis=1)
        if known.sum() < LEAST_STATES:
            raise ValueError(
                f"{int(known.sum())} far states can be read; {LEAST_STATES} are needed."
            )
        arcs, family, acceleration = arcs.some(known), family[known], acceleration[known]
        x, v = arcs.position[:, at].astype(np.float64), arcs.velocity[:, at].astype(np.float64)
        true = law.acceleration(x, arcs.gm)
        size = np.linalg.norm(true, axis=1)
        error = _relative(acceleration - true, true)
        field = fitted_field(acceleration, x, v, arcs.gm, law, experiment.random())
        rest = (acceleration - field.at(x, v, arcs.gm)) / size[:, None]
        left, r = np.linalg.norm(rest, axis=1), np.linalg.norm(x, axis=1)
        circular = np.sqrt(size * r)
        spin = x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]
        metrics: dict[str, Any] = {
            "error": _median(error),
            "right": float(np.mean(error <= RIGHT)),
            "size": _median(np.linalg.norm(acceleration, axis=1) / size),
            "field_error": _median(left),
            "smooth_share": smooth_share(rest, x, v, circular, experiment.random()),
            "kick_field_error": _after_kick(experiment, field),
            "anticlockwise_error": _median(error[spin > 0]),
            "clockwise_error": _median(error[spin < 0]),
        }
        for number, name in enumerate(FAR):
            of, stem = family == number, name.replace(" ", "_")
            some = bool(of.any())
            metrics[f"{stem}_error"] = _median(error[of])
            metrics[f"{stem}_right"] = float(np.mean(error[of] <= RIGHT)) if some else None
            metrics[f"{stem}_r2"] = r_squared(acceleration[of], true[of]) if some else None
        near, farthest = experiment.radius
        metrics["closer_error"] = self._outside(experiment, (near / BEYOND, near))
        metrics["farther_error"] = self._outside(experiment, (farthest, farthest * BEYOND))
        for name, part in field.parts.items():
            metrics |= {name: part.size, f"{name}_half_width": part.half_width}
        for other, added in field.per_unit.items():
            metrics |= {f"{name}_per_{other}": added[name] for name in RADIAL}
        ends = np.quantile(r, np.linspace(0, 1, PLACES + 1))
        place = np.searchsorted(ends[1:-1], r)
        for number in range(PLACES):
            metrics[f"place_{number + 1}_error"] = _median(error[place == number])
            metrics[f"place_{number + 1}_to"] = float(ends[number + 1])
        metrics |= {"closest": float(r.min()), "farthest": float(r.max()), "states": len(error)}
        speed = np.linalg.norm(v, axis=1) / circular
        shown = {"r": r, "speed": speed, "anticlockwise": spin > 0,
                 "error": error}  # fmt: skip
        details = {"map": {name: values.tolist() for name, values in shown.items()}}
        title = f"{experiment.who}, far states: medians over {len(error)}"
        text = side_by_side(title, {"": metrics}, self.labels)
        return Reading(metrics, "far", text, details=details)

    def _outside(self, experiment: "Experiment", radius: tuple[float, float]) -> float | None:
        """Median relative error between two distances, au, if one body is visible."""
        if experiment.orbits.mass is not None:
            return None
        arcs, _ = experiment.far_arcs(self.count, radius)
        if not len(arcs.gm):
            return None
        true = experiment.law.acceleration(arcs.position[:, arcs.read.start], arcs.gm)
        off = _relative(_accelerations(experiment, arcs) - true, true)
        return _median(off[np.isfinite(off)])


def _accelerations(experiment: "Experiment", arcs: "Arcs") -> np.ndarray:
    """(arc, axis) implied accelerations at the first time read, au/yr^2."""
    return np.asarray(experiment.acceleration(arcs)[:, arcs.read.start, 0] / arcs.shares[:, :1])


def _relative(off: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(state,) size of a deviation over the law's acceleration."""
    return np.asarray(np.linalg.norm(off, axis=1) / np.linalg.norm(true, axis=1))


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


def _after_kick(experiment: "Experiment", field: "WholeField") -> float | None:
    """Median error against a field, one step after a kick, if kicked states can be made."""
    arcs = experiment.kicked_arcs(experiment.orbits)
    at, acceleration = arcs.read.start, _accelerations(experiment, arcs)
    kept = experiment.within(arcs)[:, at]
    kept &= np.isfinite(acceleration).all(axis=1)
    if not kept.any():
        return None
    x, v, gm = arcs.position[kept, at], arcs.velocity[kept, at], arcs.gm[kept]
    true = experiment.law.acceleration(x, gm)
    return _median(_relative(acceleration[kept] - field.at(x, v, gm), true))
