"""Linear probes: what can be read off a layer's activations by ridge regression.

A network that was never trained already carries most of what it was shown in a form that a linear
map can read, so every number stands beside that of the same network with fresh weights, and beside
a regression on the bare positions of the context.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from orbits.invariants import laplace_runge_lenz, specific_energy
from worldmodel.probes.acceleration import true_acceleration
from worldmodel.probes.readouts.implied import probed_arcs
from worldmodel.probes.ridge import cross_validated_r2
from worldmodel.probes.states import Arcs
from worldmodel.probes.subject import Reading, Subject
from worldmodel.world_model import WorldModel

POSITIONS = "positions"
"""Name of the regression on the positions themselves."""
LAW = "law"
"""Name of the positive control: activations that are a random mixture of the targets."""
AT_ONCE = 65_536


def read(subject: Subject) -> Reading:
    """R² by layer and target, cross-validated over orbits, of the trained and untrained network.

    The model sees exactly C positions, as in training, and its activations are taken at the last
    of them: `embed`, `blocks.0`, ..., `norm`. Targets are the force (`force` is its size; per unit
    mass where the masses are not visible), the distance, 1/r², and under Newton's law the
    semi-major axis, the eccentricity and the Laplace-Runge-Lenz vector; unbound kicked states are
    left out then. `metrics` holds the best layer's R² for each target, `trained_TARGET` and
    `untrained_TARGET`; with `--control injected` the activations are a random linear mixture of
    the targets, which must give 1.

    Raises:
        ValueError: for a control that has no activations, or too few orbits.
    """
    config = subject.config
    if config.control not in ("none", "injected"):
        raise ValueError(
            f"the read-out linear compares with the untrained network by itself, and an ellipse "
            f"has no activations: leave --control {config.control} away, or give injected."
        )
    arcs = probed_arcs(subject)
    orbit, time = _chosen(arcs, config.linear.states, subject.random())
    targets = targets_of(arcs, subject, orbit, time)
    usable = np.all([np.isfinite(values) for values in targets.values()], axis=0)
    orbit, time = orbit[usable], time[usable]
    names = list(targets)
    wanted = np.stack([targets[name][usable] for name in names], axis=1)
    length = subject.model.context_length
    contexts = arcs.contexts(orbit, time, length)

    def judged(features: np.ndarray) -> dict[str, float]:
        r2 = cross_validated_r2(
            features, wanted, arcs.index[orbit], config.linear.folds, config.seed
        )
        return dict(zip(names, map(float, r2), strict=True))

    bare = judged(contexts.reshape(len(contexts), -1))
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for who, model in (("trained", subject.model), ("untrained", subject.untrained)):
        if who == "trained" and config.control == "injected":
            tables[who] = {LAW: judged(_mixed(wanted, subject.random()))}
        else:
            layers = activations(model, contexts)
            tables[who] = {name: judged(values) for name, values in layers.items()}
    metrics: dict[str, Any] = {
        f"{who}_{target}": max(row[target] for row in table.values())
        for who, table in (*tables.items(), (POSITIONS, {POSITIONS: bare}))
        for target in names
    }
    metrics |= {"states": len(orbit), "orbits": len(np.unique(arcs.index[orbit]))}
    details = {
        "layers": list(tables["untrained"]),
        "targets": names,
        **tables,
        POSITIONS: bare,
        "context_length": length,
    }
    return Reading(metrics, subject.states, _report(metrics, names, subject), details=details)


def _chosen(arcs: Arcs, states: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of orbits and times: as many times of every orbit."""
    each = min(len(arcs.read), max(1, round(states / len(arcs.gm))))
    times = [np.sort(random.choice(len(arcs.read), each, replace=False)) for _ in arcs.gm]
    return np.repeat(np.arange(len(arcs.gm)), each), np.concatenate(times) + arcs.read.start


def targets_of(
    arcs: Arcs, subject: Subject, orbit: np.ndarray, time: np.ndarray
) -> dict[str, Float[np.ndarray, " state"]]:
    """What is asked of the activations, by name; NaN where a state has no such thing."""
    position, velocity = (
        states[orbit, time].astype(np.float64) for states in (arcs.position, arcs.velocity)
    )
    gm, r = arcs.gm[orbit], np.linalg.norm(position, axis=-1)
    force = true_acceleration(arcs, subject.law)[orbit, time, 0]
    if arcs.mass is not None:
        force = force * arcs.mass[orbit, :1]
    found = {"force": np.linalg.norm(force, axis=-1)}
    found |= {f"force_{name}": force[:, axis] for axis, name in enumerate("xyz"[: force.shape[1]])}
    found |= {"r": r, "inverse_square": 1 / r**2}
    if subject.law.name == "newton":
        state = position[:, None], velocity[:, None], gm  # as orbits of one time
        energy, lrl = specific_energy(subject.law, *state)[:, 0], laplace_runge_lenz(*state)[:, 0]
        bound = energy < 0
        found["semi_major_axis"] = np.where(bound, -gm / (2 * energy), np.nan)
        found["eccentricity"] = np.linalg.norm(lrl, axis=-1)
        found |= {f"lrl_{name}": lrl[:, axis] for axis, name in enumerate("xyz"[: lrl.shape[1]])}
    return found


def activations(
    model: WorldModel, contexts: Float[np.ndarray, "state time body axis"]
) -> dict[str, Float[np.ndarray, "state feature"]]:
    """Activations at the last position of each context, by layer."""
    blocks = range(model.network.config.n_layers)
    names = ["embed", *(f"blocks.{number}" for number in blocks), "norm"]
    count = max(1, AT_ONCE // (contexts.shape[1] * model.network.tokens_per_step))
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for start in range(0, len(contexts), count):
        found = model.activations(contexts[start : start + count], names)
        for name in names:
            parts[name].append(found[name][:, -1].astype(np.float64))
    return {name: np.concatenate(values) for name, values in parts.items()}


def _mixed(targets: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A random linear mixture of the standardised targets."""
    standard = (targets - targets.mean(axis=0)) / targets.std(axis=0)
    return standard @ random.normal(size=(targets.shape[1], 2 * targets.shape[1]))


def _report(metrics: dict[str, Any], names: list[str], subject: Subject) -> str:
    lines = [
        f"{subject.who}, {subject.states} states: R² over {metrics['states']} states of "
        f"{metrics['orbits']} orbits, best layer",
        f"  {'':<18}{'trained':>10}{'untrained':>12}{'positions':>12}",
    ]
    for name in names:
        trained, untrained, bare = (
            metrics[f"{who}_{name}"] for who in ("trained", "untrained", POSITIONS)
        )
        lines.append(f"  {name:<18}{trained:>10.4f}{untrained:>12.4f}{bare:>12.4f}")
    return "\n".join(lines)
