"""Force samples straight from trajectories: no model, no law, each with a standard error."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from orbits.config import ForcesConfig
from orbits.dataset import Data, as_dataset
from orbits.dataset.schema import ESTIMATED
from orbits.derivatives.methods import STENCIL, measured
from orbits.derivatives.noise import white_noise
from orbits.estimates import STANDARD_ERRORS
from orbits.force_samples import ForceSamples
from orbits.forces import ForceLaw, known_law
from orbits.frames import relative_shares
from orbits.options import keywords_of, options_from
from orbits.provenance import provenance
from orbits.statistics import TINY
from orbits.units import LENGTHS, G


@keywords_of(ForcesConfig)
def measure_forces(
    data: Data,
    config: ForcesConfig | None = None,
    **options: Any,
) -> ForceSamples:
    """Accelerations along trajectories, measured without a model.

        forces = orbits.measure_forces(data)          # of any dataset, its law known or not
        symreg.recover(forces).expression

    They show the most these data can reveal, for comparison with a trained model.

    Args:
        data: a dataset, or the path of one.
        config: how to measure.
        **options: fields of `ForcesConfig` that differ from `config`.

    Returns:
        One row per (orbit, time), and per planet in systems of several bodies, relative to the
        first body. Standard errors are in `sigma_a_x`, `sigma_a_y`[, `sigma_a_z`], au/yr^2;
        velocities in `v_x`, `v_y`[, `v_z`], au/yr: the dataset's, or of the same fit where those
        are estimates.

    Raises:
        ValueError: if there is no dataset, or its orbits have too few states.
    """
    config = options_from(ForcesConfig, config, options)
    data = as_dataset(data)
    law = known_law(str(data.attrs["law"]))
    _require_states(data)
    tables, methods, noises = [], set(), []
    for row in range(data.sizes["orbit"]):
        one = data.isel(orbit=row)
        table, used, noise = _of_orbit(one, law, config)
        if data.attrs["system"] == "planets":
            table["body"] = int(one["body"])
        tables.append(table.assign(orbit=row))
        methods |= used
        noises.append(noise)
    table = pd.concat(tables, ignore_index=True)
    if table.empty:
        raise ValueError("no state is far enough from the ends of its orbit to be measured.")
    metrics = _metrics(table, float(np.median(noises)))
    attributes = {
        "readout": "measured",
        "states": "planets" if data.attrs["system"] == "planets" else "orbit",
        "model": None,
        "law": None if law is None else law.spec,
        "dt": float(data.attrs["dt"]),
        "methods": sorted(methods),
        "bodies": data.attrs.get("bodies"),
        "one_system": bool(data.attrs.get("one_system")),
        "starts": [row["start"] for row in data.attrs.get("trajectories", ())],
        **{
            name: data.attrs[name]
            for name in ("length_unit", "time_unit", "left_out")
            if name in data.attrs
        },
        "metrics": metrics,
        "summary": _summary(table, metrics, methods, str(data.attrs.get("length_unit", "au"))),
        **provenance(config),
    }
    return ForceSamples(table, attributes)


def _require_states(data: xr.Dataset) -> None:
    """Refuse orbits of too few states, by the counts of the source."""
    count, least = data.sizes["time"], len(STENCIL)
    if count >= least:
        return
    given = ""
    if "given" in data.attrs:
        given = f"{data.attrs['given']} were given, and "
    raise ValueError(
        f"{given}{count} follow one another evenly and without a gap in each row: accelerations "
        f"need at least {least} such states of one orbit, better 30 a turn."
    )


def _of_orbit(
    one: xr.Dataset, law: ForceLaw | None, config: ForcesConfig
) -> tuple[pd.DataFrame, set[str], float]:
    """The rows of one orbit, the methods used, and the noise in its positions, au."""
    dt = float(one.attrs["dt"])
    position = one["position"].values.astype(np.float64)
    bodies = position[:, None] if position.ndim == 2 else position
    # positions in float32 are rounded: that is noise too
    smoothed = float(one.attrs.get("smoothed_noise", 0.0))
    # of numbers rounded to steps: a step over √12
    rounding = np.finfo(one["position"].dtype).eps * np.max(np.abs(bodies)) / 12**0.5
    noises = [
        config.noise or max(white_noise(bodies[:, k]), rounding, smoothed)
        for k in range(bodies.shape[1])
    ]
    measurements = [measured(bodies[:, k], dt, noises[k]) for k in range(bodies.shape[1])]
    acceleration = np.stack([m.acceleration for m in measurements], axis=1)
    error = np.stack([m.error for m in measurements], axis=1)
    velocity = np.stack([m.velocity for m in measurements], axis=1)
    if one.attrs.get("velocity") != ESTIMATED:
        given = one["velocity"].values.astype(np.float64)
        velocity = given.reshape(velocity.shape)
    time = one["time"].values
    if bodies.shape[1] <= 2:
        table = _pair_or_single(one, law, time, bodies, acceleration, error)
        # that of the body whose acceleration it is: a drag acts on its own velocity
        table = table.assign(**_by_axis("v_", velocity[:, 0]))
    else:
        mass = None if law is None else one["mass"].values
        table = planet_rows(time, bodies, acceleration, law, mass, error)
        relative = np.concatenate(list(np.moveaxis(velocity[:, 1:] - velocity[:, :1], 1, 0)))
        table = table.assign(**_by_axis("v_", relative))
    finite = np.isfinite(table.to_numpy()).all(axis=1)
    return table[finite].copy(), {m.method for m in measurements}, float(max(noises))


def _by_axis(prefix: str, vectors: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{prefix}{name}": vectors[:, k] for k, name in enumerate("xyz"[: vectors.shape[1]])}


def _columns(
    time: np.ndarray, position: np.ndarray, acceleration: np.ndarray, error: np.ndarray | None
) -> dict[str, np.ndarray]:
    return {
        "time": time,
        "r": np.linalg.norm(position, axis=-1),
        **_by_axis("", position),
        **_by_axis("a_", acceleration),
        **({} if error is None else _by_axis("sigma_a_", error)),
        "a_norm": np.linalg.norm(acceleration, axis=-1),
    }


def _pair_or_single(
    one: xr.Dataset,
    law: ForceLaw | None,
    time: np.ndarray,
    bodies: np.ndarray,
    acceleration: np.ndarray,
    error: np.ndarray,
) -> pd.DataFrame:
    """Rows of one body around a centre, or of the first of two relative to the second."""
    two = bodies.shape[1] == 2
    relative = bodies[:, 0] - bodies[:, 1] if two else bodies[:, 0]
    columns = _columns(time, relative, acceleration[:, 0], error[:, 0])
    share = 1.0
    if two:
        for axis, name in enumerate("xyz"[: relative.shape[-1]]):
            for k in range(2):
                columns[f"{name}{k + 1}"] = bodies[:, k, axis]
                columns[f"a{name}{k + 1}"] = acceleration[:, k, axis]
    table, gm = pd.DataFrame(columns), float(one["gm"])
    if law is None or not np.isfinite(gm):
        return table
    if two:
        mass = one["mass"].values
        table["m1"], table["m2"] = mass
        share = float(relative_shares(mass[None])[0, 0])
    else:
        table["gm"], table["mass"] = gm, gm / G
    return table.assign(**_by_axis("true_a_", share * law.acceleration(relative, gm)))


def planet_rows(
    time: np.ndarray,
    bodies: np.ndarray,
    acceleration: np.ndarray,
    law: ForceLaw | None,
    mass: np.ndarray | None,
    error: np.ndarray | None = None,
) -> pd.DataFrame:
    """Rows of every body relative to the first, each attracted by that and all the others.

    `bodies` are their (time, body, axis) positions, au, `error` the accelerations' standard errors,
    au/yr^2; with the law and the (body,) masses, M_sun, rows have the true values too.
    """
    tables, pulls = [], None
    if law is not None and mass is not None and np.isfinite(mass).all():
        pulls = law.mutual_acceleration(bodies, G * mass)
    for k in range(1, bodies.shape[1]):
        columns = _columns(
            time,
            bodies[:, k] - bodies[:, 0],
            acceleration[:, k] - acceleration[:, 0],
            None if error is None else np.hypot(error[:, k], error[:, 0]),
        )
        if pulls is not None and mass is not None:
            columns |= _by_axis("true_a_", pulls[:, k] - pulls[:, 0])
            columns["gm"] = np.full(len(time), G * (mass[0] + mass[k]))
        tables.append(pd.DataFrame(columns).assign(body=k))
    return pd.concat(tables, ignore_index=True)


def _metrics(table: pd.DataFrame, noise: float) -> dict[str, Any]:
    """Quality of the accelerations: by their own errors, and by the law if known."""
    axes = [name for name in "xyz" if f"sigma_a_{name}" in table]
    acceleration, error = (table[[f"{p}{n}" for n in axes]].to_numpy() for p in ("a_", "sigma_a_"))
    relative = np.linalg.norm(error, axis=1) / table["a_norm"].to_numpy().clip(TINY)
    metrics: dict[str, Any] = {
        "noise": noise,
        "median_relative_error": float(np.median(relative)),
        "rows": len(table),
        "orbits": int(table["orbit"].nunique()),
    }
    if "true_a_x" in table:
        true = table[[f"true_a_{n}" for n in axes]].to_numpy()
        metrics["within_95"] = float(
            np.mean(np.abs(acceleration - true) <= STANDARD_ERRORS * error)
        )
    return metrics


def _summary(table: pd.DataFrame, metrics: dict[str, Any], methods: set[str], unit: str) -> str:
    text = (
        f"{len(table)} force samples of {metrics['orbits']} orbit(s), by {' and '.join(methods)}; "
        f"noise of the positions {metrics['noise'] / LENGTHS[unit]:.2g} {unit}, accelerations to "
        f"{metrics['median_relative_error']:.2g} of their size (median standard error)"
    )
    if "within_95" in metrics:
        text += f"; {metrics['within_95']:.1%} of the true ones within the 95 % interval"
    return text + "."
