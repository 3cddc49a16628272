"""How well a model predicts: one step ahead, along its own roll-outs, and what it conserves."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float

from orbits.forces import ForceLaw, known_law
from orbits.invariants import angular_momentum, energy_scale, specific_energy
from orbits.options import P, keywords_of, options_from
from orbits.provenance import provenance
from worldmodel.config import EvaluateConfig
from worldmodel.data import held_out_crops, require_long_enough
from worldmodel.objective import loss
from worldmodel.predictors.base import roll_out
from worldmodel.probes.readouts.base import Reading, side_by_side
from worldmodel.source import DataFacts, Source, Trajectories
from worldmodel.world_model import (
    ModelOrRun,
    WorldModel,
    as_model,
    require_same_world,
    threads,
    unseen_orbits,
)

if TYPE_CHECKING:
    from worldmodel.source import Data

SHOWN_STEPS = (1, 4, 16, 64)


@keywords_of(EvaluateConfig)
def evaluate(
    kind: Callable[P, EvaluateConfig],
    model: ModelOrRun,
    data: "Data",
    config: EvaluateConfig | None = None,
    *args: P.args,
    **options: P.kwargs,
) -> Reading:
    """Next-step loss, roll-out errors by time, and drifts of invariants.

    A roll-out starts from the first C positions of an orbit; its error is the distance from the
    true position over the distance from the centre.

    Args:
        model: a model, or the folder of its run.
        data: path of a data set with the model's step, or the data set itself; its held-out orbits
            if the model was trained on it.
        config: options; the defaults if left out.
        options: further options by name.

    Returns:
        `metrics` by name, as `error_16`, the median error of roll-outs after 16 steps; in `details`
        all of `next_step` and of `rollout`.

    Raises:
        ValueError: if the model and the data do not fit together, or the orbits are too short.
    """
    config = options_from(EvaluateConfig, config, options)
    with threads(config.threads):
        model, source = as_model(model, config.checkpoint), Source(data)
        facts = source.facts
        require_same_world(model, facts)
        require_long_enough(facts, model.context_length)
        steps = _steps(facts, model.context_length, config.steps)
        chosen = source.read(unseen_orbits(model, facts, config.orbits))
        one, rolled = next_step(model, chosen), rollout_errors(model, chosen, steps)
        errors = rolled["median_error"]
        at = {f"error_{k}": float(errors[k - 1]) for k in SHOWN_STEPS if k <= steps}
        metrics = one | at | {name: rolled[name] for name in config.labels}
        title = "next step (loss, errors in au and over the distance) and roll-outs (after k steps)"
        origin = {"run": model.name, "identity": model.record.identity, "data": facts.path}
        return Reading(
            metrics,
            "orbit",
            side_by_side(title, {"": metrics}, config.labels),
            details={"next_step": one, "rollout": rolled},
            origin=origin | provenance(config),
        )


def _steps(facts: DataFacts, context_length: int, wanted: int) -> int:
    """Length of the roll-outs; to the end of the orbits if nothing else is asked for."""
    longest = facts.samples - context_length
    if wanted > longest:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit, which leaves {longest} after "
            f"the first context; {wanted} steps were asked for."
        )
    return wanted or longest


@torch.no_grad()
def next_step(model: WorldModel, chosen: Trajectories) -> dict[str, float]:
    """Loss as in training, and the error of the next position, beside that of going straight on.

    Errors are root mean squares, au, and medians over the distance from the origin (`relative`).
    """
    config, scales = model.record.train.model, model.record.scales
    crops = held_out_crops(chosen.position, config.context_length)
    seen, following = crops[:, :-1], crops[:, 1:]
    total = 0.0
    device = next(model.network.parameters()).device
    for part, after in zip(seen.split(1024), following.split(1024), strict=True):
        x, y = part.to(device), after.to(device)
        total += len(part) * float(loss(config, scales, model.network(x), x, y))
    position = chosen.position.astype(np.float64)
    first = config.context_length
    error = (model.predict(position)[:, :-1] - position[:, 1:])[:, first:]
    straight = np.diff(position, n=2, axis=1)[:, first - 1 :]
    distance = np.linalg.norm(position[:, first + 1 :], axis=-1)
    size, straight_size = (np.linalg.norm(part, axis=-1) for part in (error, straight))
    found = {"loss": total / len(crops)}
    for name, length in (("", size), ("straight_line_", straight_size)):
        found[f"{name}error"] = float(np.sqrt(np.mean(length**2)))
        found[f"{name}relative_error"] = float(np.median(length / distance))
    return found


def rollout_errors(model: Any, chosen: Trajectories, steps: int) -> dict[str, Any]:
    """Errors of the roll-outs of any predictor against time, and what drifts.

    `time` since the last position that was given, yr; `median_error` and `high_error` (90 %
    quantile) over orbits at each step, over the distance from the centre; medians of drifts.
    Velocities are central differences of positions, of the roll-out and of the true orbit alike,
    so that the error of the difference itself cancels. Drifts are given for one body that moves
    around a centre: the largest departure from the true orbit's value at the same time, the
    energy's over the largest kinetic energy and the angular momentum's over its own size. Where the
    law is not known neither is, and both are left out.
    """
    length, dt = model.context_length, chosen.facts.dt
    position = chosen.position.astype(np.float64)
    rolled = roll_out(model, position[:, :length], steps)
    true = position[:, length : length + steps]
    distance = np.linalg.norm(true, axis=-1)
    error = (np.linalg.norm(rolled - true, axis=-1) / distance).max(axis=-1)
    drifts: dict[str, float | None] = dict.fromkeys(EvaluateConfig.labels)
    law = known_law(chosen.facts.law)
    if law is not None and chosen.facts.bodies == 1 and steps >= 3:
        drifts |= _drifts(law, rolled[:, :, 0], true[:, :, 0], chosen, dt)
    return {
        "time": dt * np.arange(1, steps + 1),
        "median_error": np.median(error, axis=0),
        "high_error": np.quantile(error, 0.9, axis=0),
        **drifts,
    }


def _drifts(
    law: ForceLaw,
    rolled: Float[np.ndarray, "orbit time axis"],
    true: Float[np.ndarray, "orbit time axis"],
    chosen: Trajectories,
    dt: float,
) -> dict[str, float]:
    invariants = []
    for position in (rolled, true):
        velocity = (position[:, 2:] - position[:, :-2]) / (2 * dt)
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
