"""The probe of implied accelerations: states, a predictor, a table of force samples."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import torch

from orbits.files import sha256_of_file, sha256_of_json
from orbits.force_samples import write_force_samples
from orbits.forces import ForceLaw, parse_law
from orbits.provenance import provenance
from worldmodel.data import Source, Trajectories
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.controls import predict_by_law
from worldmodel.probes.implied import finite_step_corrected, implied_acceleration
from worldmodel.probes.kick import kick
from worldmodel.probes.metrics import (
    median_relative_error,
    non_central_part,
    power_of_distance,
    r_squared,
)
from worldmodel.world_model import WorldModel, require_same_world, unseen_orbits

KICK_STEPS_REPORTED = (1, 4)


@dataclasses.dataclass(frozen=True)
class Arcs:
    """States that are probed, and which of their times are read.

    position, velocity: (orbit, time, axis), au and au/yr. gm: (orbit,). index: (orbit,) numbers
    in the data set. start: first time of the smooth arc. read: times that give rows. body:
    (orbit,) which planet it is, or None.
    """

    position: np.ndarray
    velocity: np.ndarray
    gm: np.ndarray
    index: np.ndarray
    start: int
    read: range
    body: np.ndarray | None


def probe(run: str, data: str, out: str, config: ProbeConfig) -> dict[str, Any]:
    """Write the accelerations that a model's predictions imply, and say how good they are.

    Kicked states are read 1, 2, ..., `kick_steps` steps after the kick, where their distance from
    the centre lies within that of the training orbits: outside, any model extrapolates. Orbits
    that fall into the centre within those steps give no rows.

    Returns:
        The metrics, as stored in the file's attributes.

    Raises:
        ValueError: if the run, the data and the options do not fit together.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    model = (
        WorldModel.untrained(run, config.seed + 1_000_000)
        if config.control == "untrained"
        else WorldModel.load(run, config.checkpoint)
    )
    source = Source(data)
    facts = source.facts
    require_same_world(model, facts.path, facts.dt, facts.bodies, facts.axes)
    if facts.bodies != 1:
        raise ValueError(
            f"{facts.path} holds {facts.bodies} bodies in each state; the implied acceleration is "
            "read from relative orbits (one body)."
        )
    law = parse_law(facts.law)
    chosen = source.read(unseen_orbits(model, facts, config.orbits))
    arcs = (_kicked if config.states == "kicked" else _undisturbed)(chosen, law, model, config)
    acceleration = _read_acceleration(model, arcs, law, facts.dt, config)
    table = _table(arcs, acceleration, law, facts.dt, model, config)
    metrics = measure(table, config)
    states = "planets" if facts.system == "planets" and config.states == "orbit" else config.states
    attributes = {
        "readout": "implied",
        "states": states,
        "model": _identity(run, model, config),
        "law": facts.law,
        "dt": facts.dt,
        "metrics": metrics,
        "data": dataclasses.asdict(facts),
        **provenance(config),
    }
    write_force_samples(out, table, attributes)
    print(report(metrics, states, config.control))
    return metrics


def _undisturbed(
    chosen: Trajectories, law: ForceLaw, model: WorldModel, config: ProbeConfig
) -> Arcs:
    position = chosen.position[:, :, 0]
    start, stop = max(1, model.context_length - 1), position.shape[1]
    if stop - start < 3:
        raise ValueError(
            f"{chosen.facts.path} has {stop} states in each orbit; a model with context "
            f"{model.context_length} can be probed from {start + 3} states on."
        )
    velocity = chosen.velocity[:, :, 0]
    return Arcs(position, velocity, chosen.gm, chosen.index, start, range(start, stop), chosen.body)


def _kicked(chosen: Trajectories, law: ForceLaw, model: WorldModel, config: ProbeConfig) -> Arcs:
    """Kicked in mid-course, or later where the context would not be full one step after."""
    samples = chosen.position.shape[1]
    at = max(samples // 2, model.context_length - 2)
    if at >= samples:
        raise ValueError(
            f"{chosen.facts.path} has {samples} states in each orbit, too few to kick a full "
            f"context of {model.context_length}; give {model.context_length} or more."
        )
    arcs = kick(
        chosen.position[:, :, 0],
        chosen.velocity[:, :, 0],
        chosen.gm,
        law,
        chosen.facts.dt,
        at,
        max(config.kick_steps + 1, 3),
        config.kick_angle,
        config.kick_scale,
        np.random.default_rng(config.seed),
    )
    read = range(at + 1, at + 1 + config.kick_steps)
    followed = np.isfinite(arcs.position[:, -1]).all(axis=-1)
    if not followed.any():
        raise ValueError(
            f"every kicked orbit of {chosen.facts.path} falls into the centre under "
            f"{law.spec}; give fewer --kick-steps or a smaller --kick-angle."
        )
    return Arcs(
        position=arcs.position[followed],
        velocity=arcs.velocity[followed],
        gm=chosen.gm[followed],
        index=chosen.index[followed],
        start=at + 1,
        read=read,
        body=None if chosen.body is None else chosen.body[followed],
    )


def _read_acceleration(
    model: WorldModel, arcs: Arcs, law: ForceLaw, dt: float, config: ProbeConfig
) -> np.ndarray:
    if config.control == "injected":
        predicted = predict_by_law(arcs.position, arcs.velocity, arcs.gm, law, dt)
    else:
        predicted = model.predict(arcs.position)
    implied = implied_acceleration(predicted, arcs.position, dt)
    if config.correction == "numerov":
        return finite_step_corrected(implied, arcs.start)
    return implied


def _table(
    arcs: Arcs,
    acceleration: np.ndarray,
    law: ForceLaw,
    dt: float,
    model: WorldModel,
    config: ProbeConfig,
) -> pd.DataFrame:
    times = np.array(arcs.read)
    position, found = arcs.position[:, times].astype(np.float64), acceleration[:, times]
    gm = np.repeat(arcs.gm, len(times))
    orbit = np.repeat(arcs.index, len(times))
    position, found = position.reshape(len(orbit), -1), found.reshape(len(orbit), -1)
    true = law.acceleration(position, gm)
    r = np.linalg.norm(position, axis=-1)
    columns = {"orbit": orbit, "time": np.tile(times * dt, len(arcs.gm)), "r": r, "gm": gm}
    for axis, name in enumerate("xyz"[: position.shape[1]]):
        columns |= {name: position[:, axis], f"a_{name}": found[:, axis]}
        columns[f"true_a_{name}"] = true[:, axis]
    if arcs.body is not None:
        columns["body"] = np.repeat(arcs.body, len(times))
    columns["a_norm"] = np.linalg.norm(found, axis=-1)
    kept = np.isfinite(columns["a_norm"])
    if config.states == "kicked":
        columns["steps_since_kick"] = np.tile(times - arcs.start + 1, len(arcs.gm))
        low, high = model.record.radius
        kept &= (low <= r) & (r <= high)
    if not kept.any():
        raise ValueError(
            "no state can be read: the model's predictions are not finite numbers, or every "
            "kicked state lies outside the distances that it was trained on."
        )
    return pd.DataFrame(columns)[kept].reset_index(drop=True)


def measure(table: pd.DataFrame, config: ProbeConfig) -> dict[str, Any]:
    """The metrics of a table of force samples that holds the true accelerations."""
    names = [name for name in "xyz" if name in table]
    position = table[names].to_numpy()
    found = table[[f"a_{name}" for name in names]].to_numpy()
    true = table[[f"true_a_{name}" for name in names]].to_numpy()
    metrics: dict[str, Any] = {
        "r2": r_squared(found, true),
        "median_relative_error": median_relative_error(found, true),
        "non_central": non_central_part(found, position),
        **power_of_distance(
            found,
            position,
            table["gm"].to_numpy(),
            table["orbit"].to_numpy(),
            config.bootstrap,
            config.seed,
        ),
        "rows": len(table),
        "orbits": int(table["orbit"].nunique()),
        "correction": config.correction,
    }
    if "steps_since_kick" in table:
        metrics["kick_r2"] = {}
        for k in KICK_STEPS_REPORTED:
            at = (table["steps_since_kick"] == k).to_numpy()
            if at.sum() > 1:
                metrics["kick_r2"][str(k)] = r_squared(found[at], true[at])
    return metrics


def _identity(run: str, model: WorldModel, config: ProbeConfig) -> dict[str, Any]:
    """Which model was probed."""
    kind = "trained" if config.control == "none" else config.control
    sha = sha256_of_json([model.record.identity, kind, config.seed])
    if config.control == "none":
        sha = sha256_of_file(f"{run}/{config.checkpoint}.safetensors")
    train = model.record.train
    return {
        "kind": kind,
        "sha256": sha,
        "attention": train.attention,
        "context_length": train.context_length,
        "target": train.target,
        "seed": train.seed,
    }


def report(metrics: dict[str, Any], states: str, control: str) -> str:
    """The metrics as a small table."""
    who = "the model" if control == "none" else f"{control} control"
    lines = [
        f"{who}, {states} states: {metrics['rows']} rows of {metrics['orbits']} orbits, "
        f"correction {metrics['correction']}",
        f"  R² of the acceleration     {metrics['r2']:.4f}",
    ]
    for k, value in metrics.get("kick_r2", {}).items():
        lines.append(f"  R² {k} step(s) after kick    {value:.4f}")
    lines.append(f"  median relative error      {metrics['median_relative_error']:.4f}")
    for name, title in (("exponent", "n in c GM / r^n"), ("scale", "c")):
        value = metrics[name]
        text = (
            "none: nothing attractive to fit"
            if value["value"] is None
            else f"{value['value']:.4f}  ({value['low']:.4f} to {value['high']:.4f})"
        )
        lines.append(f"  {title:<26} {text}")
    lines.append(f"  non-central part           {metrics['non_central']:.4f}")
    return "\n".join(lines)
