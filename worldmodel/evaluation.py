"""How well a model predicts: one step ahead, along its own roll-outs, and what it conserves."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from orbits.forces import parse_law
from orbits.invariants import angular_momentum, energy_scale, specific_energy
from orbits.records.files import write_json
from orbits.records.provenance import provenance
from worldmodel.config import EvaluateConfig
from worldmodel.data import Source, Trajectories, held_out_crops, require_long_enough
from worldmodel.objective import loss
from worldmodel.world_model import WorldModel, require_same_world, unseen_orbits

SHOWN_STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def evaluate(run: str, data: str, out: str, config: EvaluateConfig) -> dict[str, Any]:
    """Write and print next-step loss, roll-out errors by time, and drifts of invariants.

    A roll-out starts from the first C positions of an orbit; its error is the distance from the
    true position over the distance from the centre.

    Args:
        run: folder of a trained run.
        data: data set with the run's step; its held-out orbits if the run was trained on it.
        out: JSON file.
        config: options.

    Raises:
        ValueError: if the run and the data do not fit together, or the orbits are too short.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    model, source = WorldModel.load(run, config.checkpoint), Source(data)
    facts = source.facts
    require_same_world(model, facts.path, facts.dt, facts.bodies, facts.axes)
    require_long_enough(facts, model.context_length)
    chosen = source.read(unseen_orbits(model, facts, config.orbits))
    longest = facts.samples - model.context_length
    steps = config.steps or longest
    if steps > longest:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit, which leaves {longest} after "
            f"the first context; {steps} steps were asked for."
        )
    result = {
        "next_step": next_step(model, chosen, config.decode),
        "rollout": rollout_errors(model, chosen, steps, config.decode),
        "run": run,
        "identity": model.record.identity,
        "data": facts.path,
        **provenance(config),
    }
    write_json(out, result)
    print(report(result))
    return result


@torch.no_grad()
def next_step(model: WorldModel, chosen: Trajectories, decode: str) -> dict[str, float]:
    """Loss as in training, and the error of the next position, beside that of going straight on.

    Returns:
        `loss`; `error`, a root mean square in au, and `relative_error`, the median over the
        distance from the origin; `straight_line_error` and `straight_line_relative_error`, the
        same of going straight on from the same states.
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
    error = (model.predict(position, decode)[:, :-1] - position[:, 1:])[:, first:]
    straight = np.diff(position, n=2, axis=1)[:, first - 1 :]
    distance = np.linalg.norm(position[:, first + 1 :], axis=-1)
    size, straight_size = (np.linalg.norm(part, axis=-1) for part in (error, straight))
    return {
        "loss": total / len(crops),
        "error": _root_mean_square(size),
        "relative_error": float(np.median(size / distance)),
        "straight_line_error": _root_mean_square(straight_size),
        "straight_line_relative_error": float(np.median(straight_size / distance)),
    }


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def rollout_errors(
    model: WorldModel, chosen: Trajectories, steps: int, decode: str
) -> dict[str, Any]:
    """Errors of roll-outs against time, and the drift of energy and angular momentum.

    Velocities are central differences of positions, of the roll-out and of the true orbit alike,
    so that the error of the difference itself cancels. Drifts are given for one body that moves
    around a centre: the largest departure from the true orbit's value at the same time, the
    energy's over the largest kinetic energy and the angular momentum's over its own size.

    Returns:
        `time` (yr), and by step `median_error`, `high_error` (90 % quantile over orbits);
        `energy_drift` and `angular_momentum_drift`: medians over orbits, or None.
    """
    length, dt = model.context_length, model.dt
    position = chosen.position.astype(np.float64)
    rolled = model.rollout(position[:, :length], steps, decode=decode)
    true = position[:, length : length + steps]
    distance = np.linalg.norm(true, axis=-1)
    error = (np.linalg.norm(rolled - true, axis=-1) / distance).max(axis=-1)
    result: dict[str, Any] = {
        "time": dt * np.arange(1, steps + 1),
        "median_error": np.median(error, axis=0),
        "high_error": np.quantile(error, 0.9, axis=0),
        "energy_drift": None,
        "angular_momentum_drift": None,
    }
    if chosen.facts.bodies == 1 and steps >= 3:
        drifts = _drifts(rolled[:, :, 0], true[:, :, 0], chosen, dt)
        result["energy_drift"], result["angular_momentum_drift"] = drifts
    return result


def _drifts(
    rolled: Float[np.ndarray, "orbit time axis"],
    true: Float[np.ndarray, "orbit time axis"],
    chosen: Trajectories,
    dt: float,
) -> tuple[float, float]:
    law = parse_law(chosen.facts.law)
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
    return float(np.median(energy_drift)), float(np.median(momentum_drift))


def report(result: dict[str, Any]) -> str:
    """The numbers as a small table."""
    one, rolled = result["next_step"], result["rollout"]
    lines = [
        f"next-step loss {one['loss']:.3e}; error {one['error']:.2e} au, "
        f"{one['relative_error']:.2e} of the distance (going straight on: "
        f"{one['straight_line_error']:.2e} au, {one['straight_line_relative_error']:.2e})",
        "roll-out   time/yr   median error   90 % quantile",
    ]
    count = len(rolled["time"])
    for step in sorted({*(s for s in SHOWN_STEPS if s <= count), count}):
        values = (rolled[name][step - 1] for name in ("time", "median_error", "high_error"))
        time, median, high = values
        lines.append(f"{step:8d}   {time:7.3f}   {median:12.3e}   {high:13.3e}")
    if rolled["energy_drift"] is not None:
        lines.append(
            f"drift along the roll-out (median): energy {rolled['energy_drift']:.2e}, "
            f"angular momentum {rolled['angular_momentum_drift']:.2e}"
        )
    return "\n".join(lines)
