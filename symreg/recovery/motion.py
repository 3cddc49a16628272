"""From trajectories to what is searched for in their accelerations, where nobody gave a law.

The attraction to the centre, if that explains the motion, alone or beside terms of the velocity;
otherwise every component of the acceleration, with positions and velocities as features. All in the
units in which the positions came.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from orbits.config import UNKNOWN, ForcesConfig, ImportConfig, TrajectoriesConfig
from orbits.dataset import open_dataset
from orbits.derivatives.accelerations import measure_forces
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.options import values_of
from orbits.statistics import TINY, varies
from orbits.trajectories.from_table import from_table
from orbits.units import GivenUnits, Unit
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.expressions import on_rows
from symreg.formulas.precision import NOISELESS
from symreg.recovery.config import RecoverConfig
from symreg.recovery.force_field import attraction
from symreg.recovery.from_positions import RecoverFileConfig
from symreg.recovery.leftover_words import leftover_gates, leftover_metrics, leftover_notes
from symreg.recovery.leftovers import (
    MOST_UNNAMED,
    NOISE_LIKE,
    Leftovers,
    beyond_time,
    leftovers,
)
from symreg.recovery.positions import stepped, straight, unreadable
from symreg.recovery.problem import Problem, of_force_samples

NEARER = 5.0
"""Times by which a turning frame leaves less of a power of the distance than a magnetic field."""


def forces_in(
    table: str, config: RecoverFileConfig, announce: Callable[[str], object] | None = None
) -> ForceSamples | None:
    """Force samples along trajectories of a table or dataset; None for a file of forces.

    Raises:
        ValueError: as `orbits.from_table` and `orbits.measure_forces` do.
    """
    if Path(table).is_dir():
        if config.trajectories:
            raise ValueError(f"{table} is a dataset already; leave --trajectories out.")
        return measure_forces(open_dataset(table), ForcesConfig(config.noise))
    if config.trajectories:
        if config.bad_rows == "mend":
            raise ValueError("bad_rows mend is for tables of forces; mend trajectories in pandas.")
        importing = ImportConfig(**values_of(TrajectoriesConfig, config))
        data = from_table(table, config=importing, announce=announce)
        return measure_forces(data, ForcesConfig(config.noise))
    if config.noise:
        raise ValueError(f"{table} holds no trajectories to measure; see --trajectories.")
    return None


def problems_of(samples: ForceSamples, config: RecoverConfig) -> list[Problem]:
    """One problem, or one for each component where the force is not along the line to the centre.

    Raises:
        ValueError: as `radial_field`, or if the reference law does not fit.
    """
    if config.law is not None or samples.law not in (None, UNKNOWN):
        return [of_force_samples(samples, config)]
    units = GivenUnits(samples.attributes)
    problems = _by_what_is_left(samples, config, units)
    # outliers of positions were left out before forces were measured
    if samples.attributes.get("readout") == "measured":
        problems = [replace(problem, screened=True) for problem in problems]
    first, *others = problems
    left_out = {"left_out": out} if (out := samples.attributes.get("left_out")) else {}
    line = _bare_units(samples, units)
    return [first.noted((line,) if line else (), metrics=left_out), *others]


def _bare_units(samples: ForceSamples, units: GivenUnits) -> str:
    """A note where GM is one in units that nobody gave, as with G = 1."""
    table = samples.table
    strength = table["a_norm"].to_numpy() * table["r"].to_numpy() ** 2
    middle = float(np.median(strength))
    # within a percent of one, and the same everywhere
    if (units.length, units.time) != ("au", "yr") or abs(middle - 1) > 0.01:
        return ""
    if np.median(np.abs(strength - middle)) > 0.01:  # as above
        return ""
    return (
        f"GM is {middle:.5g}, as where units are chosen so that G and a mass are one (about the "
        "Sun a year is then 2·pi times): au and yr are the units of columns for which none is "
        "given, and are a guess here"
    )


def _by_what_is_left(
    samples: ForceSamples, config: RecoverConfig, units: GivenUnits
) -> list[Problem]:
    """Problems where nobody gave a law."""
    axes = axes_of(samples.table)
    if shown := straight(samples) or unreadable(samples, units) or stepped(samples):
        forces, note, gate = shown
        return [_of_distance(forces, config, units).noted((note,), (gate,))]
    left = leftovers(samples)
    if left is None:
        return [_of_distance(samples, config, units)]
    notes, metrics = leftover_notes(left, units, axes), leftover_metrics(left, units, axes)
    alone = len(samples.attributes.get("bodies") or ()) < 2
    if alone and not left.central:
        return _of_components(samples, units, notes, metrics, explained=True)
    if alone and left.unnamed > MOST_UNNAMED:
        notes = (
            "no force that has a name explains what is not along the line to the centre, so every "
            "component was searched",
        )
        return _of_components(samples, units, notes, metrics, explained=False)
    outward = _centrifugal(samples, left)
    whole = left
    if outward is not None:
        whole = replace(left, acceleration=left.acceleration + outward)
        notes = (
            *notes, "with the centrifugal force of a frame that turns by half of that, the rest "
            "goes as one power of the distance, and without it does not: it was taken away",
        )  # fmt: skip
    problem = _of_distance(whole.central_force(samples), config, units)
    beyond = partial(_beyond, left, outward, problem.samples.names, units)
    problem = replace(problem, beyond=beyond)
    if not left.measured:
        return [problem.noted(notes, metrics=metrics)]
    # size and significance decide, and no largest share of what is across the line
    gates = tuple(leftover_gates(left))
    return [replace(problem, non_central=None).noted(notes, gates, metrics)]


def _centrifugal(samples: ForceSamples, left: Leftovers) -> np.ndarray | None:
    """(row, axis) of a turning frame, if Coriolis's force is there and a power of r is what both
    leave; None of a magnetic field, which has no such part.

    In a frame that turns by w, a = F(r) + 2 v x w - w x (w x r).
    """
    part = next((part for part in left.parts if part.kind.name == "magnetic"), None)
    if part is None:
        return None
    spin = np.array([each.value or 0.0 for each in part.components]) / 2
    position = vectors(samples.table) - left.centre
    outward = np.sum(spin**2) * position
    if len(spin) > 1:
        outward -= (position @ spin)[:, None] * spin
    turned = replace(left, acceleration=left.acceleration + outward)
    apart, rest = (_off_a_power(each.central_force(samples)) for each in (left, turned))
    return outward if rest * NEARER < apart else None


def _off_a_power(samples: ForceSamples) -> float:
    """Rms of the logarithm of an attraction that the nearest power of the distance leaves."""
    r, inward = attraction(samples.table)
    if np.any(inward <= 0) or not varies(r):
        return np.inf
    x, y = np.log(r), np.log(inward)
    slope, constant = np.polyfit(x, y, 1)
    return float(np.sqrt(np.mean((y - slope * x - constant) ** 2)))


def _beyond(
    left: Leftovers, outward: np.ndarray | None, names: tuple[str, ...], units: GivenUnits, law: Law
) -> float | None:
    """Chance that noise alone makes a free curve of the distance better than a law."""
    if left.fitted is None or names != ("r",):
        return None
    position = left.fitted.search.path.position
    r = np.linalg.norm(position, axis=1)
    pull = _with_slopes(law, names, r[:, None] * units.factor(1, 0)) / units.factor(1, -2)
    own = -(position * (left.growth / r)[:, None])[:, :, None] * pull[:, None, :]
    return left.beyond(own if outward is None else np.dstack([own, outward]))


def _with_slopes(law: Law, names: tuple[str, ...], X: np.ndarray) -> np.ndarray:
    """(row, column) values of a law, and their derivatives by its constants."""
    value, by_constant = on_rows(law.form, names, X).at(law.constants)
    every = (value, *by_constant.values())
    return np.column_stack([np.broadcast_to(column, len(X)) for column in every])


def _is_noise(table: pd.DataFrame, axis: str) -> bool:
    """Whether a component of the acceleration is no more than its errors."""
    if f"sigma_a_{axis}" not in table:
        return not table[f"a_{axis}"].any()
    share = table[f"a_{axis}"] / table[f"sigma_a_{axis}"].clip(lower=TINY)
    return bool(np.mean(share**2) <= NOISE_LIKE)


def _floor(samples: ForceSamples) -> float:
    """The error of accelerations without noise: differences truncate, and tables interpolate."""
    error = samples.metrics.get("median_relative_error", np.inf)
    return NOISELESS if error < NOISELESS else 0.0


def _of_distance(forces: ForceSamples, config: RecoverConfig, units: GivenUnits) -> Problem:
    """The attraction against the distance, in the units given."""
    problem = of_force_samples(forces, config)
    samples = problem.samples
    scaled = replace(samples, X=samples.X * units.factor(1, 0), y=samples.y * units.factor(1, -2))
    if samples.names != ("r",):  # masses came with it, in our own units
        return problem
    circle: tuple[str, ...] = ()
    if not varies(samples.X[:, 0]):
        circle = (
            f"the distance is {np.mean(scaled.X):.4g} {units.length} in every state: circles about "
            "the centre cannot show how a force depends on it, nor tell a central force from a "
            "part across the velocity. Add an orbit of another size or shape, or another origin",
        )
    return replace(
        problem,
        samples=scaled,
        notes=(*problem.notes, *circle),
        floor=_floor(forces),
        units={"r": units.unit(1, 0), samples.target: units.unit(1, -2)},
    )


def _of_components(
    samples: ForceSamples,
    units: GivenUnits,
    notes: tuple[str, ...],
    metrics: dict[str, Any],
    explained: bool,
) -> list[Problem]:
    """Every component of the acceleration, as a function of velocity and, if need be, position."""
    table, axes = samples.table, axes_of(samples.table)
    columns: dict[str, tuple[np.ndarray, Unit]] = {}
    if not explained:  # otherwise velocities are enough: positions on one orbit follow them
        for name in (*axes, "r"):
            columns[name] = table[name].to_numpy() * units.factor(1, 0), units.unit(1, 0)
    for axis in axes:
        velocity = table[f"v_{axis}"].to_numpy() * units.factor(1, -1)
        columns[f"v_{axis}"] = velocity, units.unit(1, -1)
    columns = {name: column for name, column in columns.items() if varies(column[0])}
    groups = table.groupby("orbit", sort=True).ngroup().to_numpy()
    names, X = tuple(columns), np.column_stack([values for values, _ in columns.values()])

    def beyond(axis: str, law: Law) -> float | None:
        place = axes_of(table).index(axis)
        return beyond_time(samples, place, _with_slopes(law, names, X) / units.factor(1, -2))

    # what noise explains comes last: the first is the headline
    axes = tuple(sorted(axes, key=lambda axis: _is_noise(table, axis)))
    return [
        Problem(
            Samples(
                X,
                table[f"a_{axis}"].to_numpy() * units.factor(1, -2),
                names,
                groups,
                target=f"a_{axis}",
            ),
            [],
            False,
            len(table),
            notes if axis == axes[0] else (),
            metrics=samples.metrics | metrics,
            floor=_floor(samples),
            component=True,
            beyond=partial(beyond, axis),
            units={name: unit for name, (_, unit) in columns.items()}
            | {f"a_{axis}": units.unit(1, -2)},
        )
        for axis in axes
    ]
