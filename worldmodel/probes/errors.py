"""Errors of predictions: one step ahead, on longer sequences than in training, and in roll-outs."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from orbits.forces import ForceLaw, known_law
from orbits.invariants import angular_momentum, energy_scale, specific_energy
from worldmodel.attention import attention_spread
from worldmodel.data import held_out_crops
from worldmodel.objective import loss, raw_target
from worldmodel.predictor import roll_out
from worldmodel.source import Trajectories
from worldmodel.world_model import WorldModel


def next_step(model: Any, chosen: Trajectories) -> dict[str, float]:
    """Any predictor's error of the next position, beside that of a straight line; for our networks
    also the loss, as in training, and the share of acceleration in the target.

    Errors are root mean squares, au, and medians over the distance from the origin (`relative`).
    """
    position = chosen.position.astype(np.float64)
    first = model.context_length
    error = (model.predict(position)[:, :-1] - position[:, 1:])[:, first:]
    straight = np.diff(position, n=2, axis=1)[:, first - 1 :]
    distance = np.linalg.norm(position[:, first + 1 :], axis=-1)
    size, straight_size = (np.linalg.norm(part, axis=-1) for part in (error, straight))
    metrics: dict[str, float] = {}
    if isinstance(model, WorldModel):
        network = model.network
        crops = held_out_crops(chosen.position, first).to(next(network.parameters()).device)
        target = "position" if network.config.head == "tokens" else network.config.target
        with torch.no_grad():
            output = network(crops[:, :-1])
            value = loss(network.config, network.scales, output, crops[:, :-1], crops[:, 1:])
            metrics["loss"] = float(value)
        metrics["acceleration_share"] = acceleration_share(target, position)
    for name, length in (("", size), ("straight_line_", straight_size)):
        metrics[f"{name}error"] = float(np.sqrt(np.mean(length**2)))
        metrics[f"{name}relative_error"] = float(np.median(length / distance))
    return metrics


def acceleration_share(target: str, position: Float[np.ndarray, "orbit time ..."]) -> float:
    """Share of acceleration in a target's mean square: 1 for the residual, for others the less the
    shorter the time step; from three or more positions."""
    x = torch.from_numpy(position)
    bend, whole = (raw_target(name, x[:, :-1], x[:, 1:])[:, 1:] for name in ("residual", target))
    return float(bend.square().mean() / whole.square().mean())


def rollout_errors(model: Any, chosen: Trajectories, steps: int) -> dict[str, Any]:
    """Errors of any predictor's roll-outs against time, and drifts.

    `time` since the last given position, yr; `median_error` and `high_error` (90 %
    quantile) over orbits at each step, over the distance from the centre; medians of drifts.
    Velocities are central differences of positions, of the roll-out and of the true orbit alike,
    so that the difference's own error cancels. Drifts are given for one body around a centre: the
    largest departure from the true orbit's value at the same time, of energy over the largest
    kinetic energy and of angular momentum over its own size. If the law is unknown, both are left
    out.
    """
    length, dt = model.context_length, chosen.facts.dt
    position = chosen.position.astype(np.float64)
    rolled = roll_out(model, position[:, :length], steps)
    true = position[:, length : length + steps]
    distance = np.linalg.norm(true, axis=-1)
    error = (np.linalg.norm(rolled - true, axis=-1) / distance).max(axis=-1)
    drifts: dict[str, float | None] = dict.fromkeys(("energy_drift", "angular_momentum_drift"))
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
    law: ForceLaw,
    rolled: Float[np.ndarray, "orbit time axis"],
    true: Float[np.ndarray, "orbit time axis"],
    chosen: Trajectories,
) -> dict[str, float]:
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


def segment_losses(
    model: WorldModel, positions: Float[np.ndarray, "orbit time body axis"], length: int
) -> Float[np.ndarray, " segment"]:
    """Mean loss in each consecutive segment of `length` times, with all earlier times seen.

    A causal model's output at a time does not depend on what follows, so one pass over the longest
    sequence gives every shorter one. The last position is only predicted. The first segment scores
    one less if `length` is more than one, since a single position says nothing about the velocity.
    """
    network, scales = model.network, model.record.scales
    states = torch.from_numpy(positions).to(next(network.parameters()))
    times = positions.shape[1] - 1
    starts = range(0, times, length)
    total = np.zeros(len(starts))
    for part in states.split(max(1, 16_384 // times)):
        seen, following = part[:, :-1], part[:, 1:]
        output = network(seen)
        for number, start in enumerate(starts):
            # The loss leaves out the first time that it is given, where contexts are longer than 1.
            begin = start - 1 if start and network.config.context_length > 1 else start
            cut = (slice(None), slice(begin, start + length))
            value = loss(network.config, scales, output[cut], seen[cut], following[cut])
            total[number] += len(part) * value.item()
    return total / len(positions)


def late_attention(
    model: WorldModel, positions: Float[np.ndarray, "orbit time body axis"], first: int
) -> tuple[float, float]:
    """`worldmodel.attention_spread` of a model's network, of queries from a time on."""
    seen = torch.from_numpy(positions).to(next(model.network.parameters()))
    return attention_spread(model.network, seen, first)
