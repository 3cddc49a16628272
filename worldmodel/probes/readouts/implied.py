"""Implied accelerations as a table of force samples, and how good they are."""

from typing import Any

import numpy as np
import pandas as pd

from orbits.records.force_samples import r_squared, varies
from worldmodel.probes.acceleration import attracting_gm, force_table, read_acceleration, within
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.metrics import (
    median_relative_error,
    non_central_part,
    power_of_distance,
    powers_of_mass,
    third_law,
)
from worldmodel.probes.states import Arcs, Orbits, kicked, undisturbed
from worldmodel.probes.subject import Reading, Subject

KICK_STEP_REPORTED = 4
"""Besides the first step that is read."""


def read(subject: Subject) -> Reading:
    """The accelerations that the predictions imply.

    Kicked states are read from the first step after the kick on, where their distance from the
    centre lies within that of the training orbits: outside, any model extrapolates. Where masses
    differ between orbits they are read from the second step on: the force is then a matter of
    three positions (place, velocity and mass), and one step after a kick only two of them lie on
    the new orbit. Orbits that fall into the centre within those steps give no rows.
    """
    config, dt = subject.config, subject.facts.dt
    arcs = probed_arcs(subject)
    acceleration = read_acceleration(subject.predictor, arcs, dt, config.correction)
    kept = np.ones(arcs.position.shape[:2], dtype=bool)
    if arcs.kick is not None:
        kept = within(arcs, subject.orbits, subject.model.record.radius)
    table = force_table(arcs, acceleration, subject.law, dt, kept)
    metrics = measure(table, config)
    return Reading(metrics, subject.states, report(metrics, subject), table)


def probed_arcs(subject: Subject, orbits: Orbits | None = None) -> Arcs:
    """The states that `--states` asks for, of the subject's orbits or of given ones."""
    config, context_length = subject.config, subject.predictor.context_length
    orbits = orbits or subject.orbits
    if config.states == "orbit":
        return undisturbed(orbits, context_length)
    first = config.kick_first or (2 if orbits.gm_varies else 1)
    return kicked(
        orbits,
        subject.law,
        context_length,
        config.kick_steps + first - 1,
        config.kick_angle,
        config.kick_scale,
        subject.random(),
    ).read_from(first)


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
            attracting_gm(table),
            table["orbit"].to_numpy(),
            config.bootstrap,
            config.seed,
        ),
        **_mass_metrics(table, found, position, config),
        "rows": len(table),
        "orbits": int(table["orbit"].nunique()),
        "correction": config.correction,
    }
    if "steps_since_kick" in table:
        metrics["kick_r2"] = {}
        first = int(table["steps_since_kick"].min())
        for k in sorted({first, KICK_STEP_REPORTED}):
            at = (table["steps_since_kick"] == k).to_numpy()
            if at.sum() > 1:
                metrics["kick_r2"][str(k)] = r_squared(found[at], true[at])
    return metrics


def _mass_metrics(
    table: pd.DataFrame, found: np.ndarray, position: np.ndarray, config: ProbeConfig
) -> dict[str, Any]:
    """What only data with different masses can say: exponents, and the third law."""
    masses = {"gm": attracting_gm(table)}
    if "m1" in table:
        masses["own_mass"] = table["m1"].to_numpy()
    varying = {name: values for name, values in masses.items() if varies(values)}
    metrics: dict[str, Any] = {"gm_varies": "gm" in varying}
    if varying:
        orbit = table["orbit"].to_numpy()
        metrics |= powers_of_mass(found, position, varying, orbit, config.bootstrap, config.seed)
    if "m1" in table:
        axes = [name for name in "xyz" if name in table]
        both = [table[[f"a{axis}{body}" for axis in axes]] for body in (1, 2)]
        metrics["third_law"] = third_law(np.stack(both, axis=1), table[["m1", "m2"]].to_numpy())
    return metrics


def report(metrics: dict[str, Any], subject: Subject) -> str:
    """The metrics as a small table."""
    lines = [
        f"{subject.who}, {subject.states} states: {metrics['rows']} rows of {metrics['orbits']} "
        f"orbits, correction {metrics['correction']}",
        f"  R² of the acceleration     {metrics['r2']:.4f}",
    ]
    for k, value in metrics.get("kick_r2", {}).items():
        lines.append(f"  R² {k} step(s) after kick    {value:.4f}")
    lines.append(f"  median relative error      {metrics['median_relative_error']:.4f}")
    titles = {
        "exponent": "n in c GM / r^n",
        "scale": "c",
        "gm_exponent": "q in c GM^q / r^n",
        "own_mass_exponent": "p in c GM^q m^p / r^n",
    }
    for name, title in titles.items():
        if name not in metrics:
            continue
        value = metrics[name]
        text = (
            "none: nothing attractive to fit"
            if value["value"] is None
            else f"{value['value']:.4f}  ({value['low']:.4f} to {value['high']:.4f})"
        )
        lines.append(f"  {title:<26} {text}")
    lines.append(f"  non-central part           {metrics['non_central']:.4f}")
    if "third_law" in metrics:
        lines.append(f"  |m1 a1 + m2 a2| / |m1 a1|  {metrics['third_law']:.4f}")
    return "\n".join(lines)
