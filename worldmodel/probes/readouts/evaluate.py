"""How well a model predicts: one step ahead, in its own roll-outs, and what it conserves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from worldmodel.config import FromZero
from worldmodel.predictors.base import roll_out
from worldmodel.probes.readouts.base import Reading, ReadOut, Shown, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from orbits.forces import ForceLaw
    from worldmodel.probes.experiment import Experiment
    from worldmodel.source import Trajectories

SHOWN_STEPS = (1, 4, 16, 64)
MOST_ORBITS = 100
"""Of a run: roll-outs of more are slow and hardly change the medians."""
DRIFTS = {
    "energy_drift": "relative drift of energy",
    "angular_momentum_drift": "relative drift of angular momentum",
}


@dataclass(frozen=True)
class Evaluate(ReadOut):
    """Errors of the next position and of roll-outs, and drifts of conserved quantities."""

    name: ClassVar[str] = "evaluate"
    what: ClassVar[str] = "errors of the next position and of roll-outs"
    question: ClassVar[str] = (
        "Next-step loss on held-out orbits, errors of roll-outs, drifts of invariants."
    )
    labels: ClassVar[Mapping[str, str]] = {
        **DRIFTS,
        "acceleration_share": "share of the target's mean square that is acceleration",
    }
    controls: ClassVar[tuple[str, ...] | None] = ("none", "untrained")

    steps: FromZero = 0
    """Length of the roll-outs; 0 means to the end of the orbits."""

    def shown(self, held_out: int, context_length: int) -> Shown:
        return Shown(min(held_out, MOST_ORBITS))

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        errors = reading.details["rollout"]["median_error"]
        axes.loglog(np.arange(1, len(errors) + 1), errors)
        axes.set(xlabel="steps rolled out", ylabel="median error (au)")
        return axes

    def read(self, experiment: "Experiment") -> Reading:
        """Next-step errors, roll-out errors by time, and drifts of invariants.

        A roll-out starts from the first C positions of an orbit; its error is the distance from
        the true position over the distance from the centre. `metrics` has medians over orbits, such
        as `error_16` after 16 steps, and for a network its loss and its target's share of
        acceleration; `details` all of `next_step` and `rollout`.

        Raises:
            ValueError: if the orbits are too short.
        """
        from worldmodel.data import require_long_enough

        model, facts = experiment.model, experiment.facts
        require_long_enough(facts, model.context_length)
        longest = facts.samples - model.context_length
        if self.steps > longest:
            raise ValueError(
                f"{facts.path} has {facts.samples} states in each orbit, which leaves {longest} "
                f"after the first context; {self.steps} steps were asked for."
            )
        steps = self.steps or longest
        chosen = experiment.trajectories
        one, rolled = next_step(model, chosen), rollout_errors(model, chosen, steps)
        errors = rolled["median_error"]
        at = {f"error_{k}": float(errors[k - 1]) for k in SHOWN_STEPS if k <= steps}
        metrics = one | at | {name: rolled[name] for name in DRIFTS}
        title = (
            f"{experiment.who}: next step (errors in au and over the distance) and roll-outs "
            "(after k steps)"
        )
        text = side_by_side(title, {"": metrics}, self.labels)
        return Reading(metrics, "orbit", text, details={"next_step": one, "rollout": rolled})


def next_step(model: Any, chosen: "Trajectories") -> dict[str, float]:
    """Any predictor's error of the next position, beside that of a straight line; for our networks
    also the loss, as in training, and the share of acceleration in the target.

    Errors are root mean squares, au, and medians over the distance from the origin (`relative`).
    """
    import torch

    from worldmodel.data import held_out_crops
    from worldmodel.objective import mean_loss
    from worldmodel.world_model import WorldModel

    position = chosen.position.astype(np.float64)
    first = model.context_length
    error = (model.predict(position)[:, :-1] - position[:, 1:])[:, first:]
    straight = np.diff(position, n=2, axis=1)[:, first - 1 :]
    distance = np.linalg.norm(position[:, first + 1 :], axis=-1)
    size, straight_size = (np.linalg.norm(part, axis=-1) for part in (error, straight))
    found: dict[str, float] = {}
    if isinstance(model, WorldModel):
        network = model.network
        crops = held_out_crops(chosen.position, first).to(next(network.parameters()).device)
        target = "position" if network.config.head == "tokens" else network.config.target
        with torch.no_grad():
            found["loss"] = mean_loss(network.config, network.scales, network, crops, 1024)
        found["acceleration_share"] = acceleration_share(target, position)
    for name, length in (("", size), ("straight_line_", straight_size)):
        found[f"{name}error"] = float(np.sqrt(np.mean(length**2)))
        found[f"{name}relative_error"] = float(np.median(length / distance))
    return found


def acceleration_share(target: str, position: Float[np.ndarray, "orbit time ..."]) -> float:
    """Share of acceleration in a target's mean square: 1 for the residual, for others the less the
    shorter the time step; from three or more positions."""
    import torch

    from worldmodel.objective import raw_target

    x = torch.from_numpy(position)
    bend, whole = (raw_target(name, x[:, :-1], x[:, 1:])[:, 1:] for name in ("residual", target))
    return float(bend.square().mean() / whole.square().mean())


def rollout_errors(model: Any, chosen: "Trajectories", steps: int) -> dict[str, Any]:
    """Errors of any predictor's roll-outs against time, and drifts.

    `time` since the last given position, yr; `median_error` and `high_error` (90 %
    quantile) over orbits at each step, over the distance from the centre; medians of drifts.
    Velocities are central differences of positions, of the roll-out and of the true orbit alike,
    so that the difference's own error cancels. Drifts are given for one body around a centre: the
    largest departure from the true orbit's value at the same time, of energy over the largest
    kinetic energy and of angular momentum over its own size. If the law is unknown, both are left
    out.
    """
    from orbits.forces import known_law

    length, dt = model.context_length, chosen.facts.dt
    position = chosen.position.astype(np.float64)
    rolled = roll_out(model, position[:, :length], steps)
    true = position[:, length : length + steps]
    distance = np.linalg.norm(true, axis=-1)
    error = (np.linalg.norm(rolled - true, axis=-1) / distance).max(axis=-1)
    drifts: dict[str, float | None] = dict.fromkeys(DRIFTS)
    law = known_law(chosen.facts.law)
    if law is not None and chosen.facts.bodies == 1 and steps >= 3:
        drifts |= _drifts(law, rolled[:, :, 0], true[:, :, 0], chosen)
    return {
        "time": dt * np.arange(1, steps + 1),
        "median_error": np.median(error, axis=0),
        "high_error": np.quantile(error, 0.9, axis=0),
        **drifts,
    }


def _drifts(
    law: "ForceLaw",
    rolled: Float[np.ndarray, "orbit time axis"],
    true: Float[np.ndarray, "orbit time axis"],
    chosen: "Trajectories",
) -> dict[str, float]:
    from orbits.invariants import angular_momentum, energy_scale, specific_energy

    invariants = []
    for position in (rolled, true):
        velocity = (position[:, 2:] - position[:, :-2]) / (2 * chosen.facts.dt)
        inner = position[:, 1:-1]
        momentum = angular_momentum(inner, velocity).reshape(*inner.shape[:2], -1)
        energy = specific_energy(law, inner, velocity, chosen.gm)
        invariants.append((energy, momentum, energy_scale(velocity)))
    (energy, momentum, _), (true_energy, true_momentum, scale) = invariants
    energy_drift = np.abs(energy - true_energy).max(axis=1) / scale
    departure = np.linalg.norm(momentum - true_momentum, axis=-1).max(axis=1)
    momentum_drift = departure / np.linalg.norm(true_momentum, axis=-1).mean(axis=1)
    return {
        "energy_drift": float(np.median(energy_drift)),
        "angular_momentum_drift": float(np.median(momentum_drift)),
    }
