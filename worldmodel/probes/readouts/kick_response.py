"""Kick response: quality of the implied acceleration by steps since a kick."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from orbits.statistics import r_squared
from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class KickResponse(ReadOut):
    """How long to follow the model after a kick."""

    name: ClassVar[str] = "kick_response"
    what: ClassVar[str] = "R² by the steps since a kick"
    question: ClassVar[str] = "R² of the implied acceleration, by the number of steps since a kick."
    labels: ClassVar[Mapping[str, str]] = {
        "recovery": "step from which R² stays at 0.9 or more",
    }

    steps: Count = 50
    """Number of steps read after the kick."""

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        from orbits.plot import labelled, squeezed_r2

        kicks = {"r2_velocity": "velocity turned", "r2_gm": "GM changed"}
        for name, label in kicks.items():
            if name in reading.details:
                r2 = [np.nan if value is None else value for value in reading.details[name]]
                axes.plot(reading.details["steps"], r2, marker="o", label=label)
        squeezed_r2(axes)
        return labelled(axes, "steps since the kick", "R² of the implied acceleration")

    def read(self, experiment: "probes.Experiment") -> Reading:
        """R² of the implied acceleration against the number of steps since the kick.

        A model that knows the force needs only the present state and is unaffected; one that
        continues the shape of the past is wrong until the kick has left its context. The same
        orbits are kicked in velocity and, where GM varies between them, in GM: the central mass
        changes, position and velocity go on. Orbits are followed under the law for as many steps as
        requested, whatever the length of the data's orbits; those that fall into the centre are
        left out, and states outside the training orbits' distances are not counted
        (`states_by_step` says how many are).

        `metrics` holds `r2_1`, `r2_2`, `r2_4`, ... (and `r2_gm_1`, ...), the smallest R²
        (`r2_least`) and `recovery`: the first number of steps from which R² stays at 0.9 or more,
        None if it never does.
        """
        law, orbits = experiment.law, experiment.orbits
        length, steps = experiment.predictor.context_length, self.steps
        responses = {"velocity": experiment.kicked_arcs(orbits, steps)}
        if orbits.gm_varies:
            random = np.random.default_rng((experiment.config.seed, 1))
            responses["gm"] = probes.kicked_in_mass(orbits, law, length, steps, random)
        details: dict[str, Any] = {"steps": list(range(1, steps + 1)), "context_length": length}
        metrics: dict[str, Any] = {}
        for what, arcs in responses.items():
            implied, true = experiment.acceleration(arcs), probes.true_acceleration(arcs, law)
            r2, counts = response(implied, true, experiment.within(arcs), arcs)
            suffix = "" if what == "velocity" else "_gm"
            details |= {f"r2_{what}": r2, f"states_by_step{suffix}": counts}
            metrics |= summary(r2, suffix)
            if what == "velocity":
                details |= {"r2": r2, "states": sum(counts)}
        metrics["states"] = details["states"]
        title = f"{experiment.who}, context {length}: up to {steps} steps after a kick"
        text = side_by_side(title, {"": metrics}, self.labels)
        return Reading(metrics, "kicked", text, details=details)


def response(
    implied: Float[np.ndarray, "orbit time body axis"],
    true: Float[np.ndarray, "orbit time body axis"],
    kept: Bool[np.ndarray, "orbit time"],
    arcs: "probes.Arcs",
) -> tuple[list[float | None], list[int]]:
    """R² at every time read, over orbits, and the number of orbits; None below two."""
    r2: list[float | None] = []
    counts = []
    for time in arcs.read:
        usable = kept[:, time] & np.isfinite(implied[:, time]).all(axis=(1, 2))
        counts.append(int(usable.sum()))
        a, b = implied[usable, time], true[usable, time]
        r2.append(r_squared(a.reshape(len(a), -1), b.reshape(len(b), -1)) if len(a) > 1 else None)
    return r2, counts


def summary(r2: list[float | None], suffix: str = "") -> dict[str, float | int | None]:
    """The response in a few numbers."""
    known = [value for value in r2 if value is not None]
    # a factor of two apart, and the last that are read by default
    metrics: dict[str, float | int | None] = {
        f"r2{suffix}_{k}": r2[k - 1] for k in (1, 2, 4, 8, 16, 32, 50) if k <= len(r2)
    }
    metrics[f"r2{suffix}_least"] = min(known) if known else None
    bad = [k for k, value in enumerate(r2, 1) if value is None or value < 0.9]
    after = max(bad, default=0) + 1
    metrics[f"recovery{suffix}"] = after if after <= len(r2) else None
    return metrics
