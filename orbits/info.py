"""What a dataset holds, in one table."""

import os
from typing import Any

import numpy as np

from orbits import dataset
from orbits.config import InfoConfig
from orbits.records.places import Place

SHOWN_ORBITS = 1024
"""Orbits read for the ranges of separation and speed."""


def describe(path: str | os.PathLike[str]) -> dict[str, str]:
    """A dataset's contents by name, as text.

    Raises:
        ValueError: if there is no whole dataset.
    """
    data = dataset.open_dataset(path)
    a: dict[str, Any] = data.attrs
    place = Place(path)
    size = sum(
        file["bytes"]
        for shard in range(a["shards"])
        for file in (place.read_json(dataset.marker_name(shard)) or {"files": {}})["files"].values()
    )
    some = data.isel(orbit=slice(0, SHOWN_ORBITS))
    position = some["position"].values.astype(float)
    velocity = some["velocity"].values.astype(float)
    if "body" in data["position"].dims:
        position = position[:, :, 1:] - position[:, :, :1]
        velocity = velocity[:, :, 1:] - velocity[:, :, :1]
    table = {
        "system": a["system"] + (f", {', '.join(a['bodies'])}" if "bodies" in a else ""),
        "law": a["law"],
        "orbits": f"{data.sizes['orbit']} in {a['shards']} shards of {a['shard_orbits']}",
        "states": f"{data.sizes['time']}, one every {a['dt']:g} yr",
        "axes": str(data.sizes["axis"]),
        "type": f"{a['dtype']}, {size / 1e6:.3g} MB",
        "separation": _range(np.linalg.norm(position, axis=-1), "au"),
        "speed": _range(np.linalg.norm(velocity, axis=-1), "au/yr"),
        "gm": _range(data["gm"].values, "au^3/yr^2"),
    }
    for name in ("semi_major_axis", "eccentricity", "mass"):
        if name in data:
            table[name] = _range(data[name].values, data[name].attrs["units"])
    for name in ("frame", "centre", "gm_is", "sampling"):
        if name in a:
            table[name] = str(a[name])
    for name, value in a.get("integration", {}).items():
        table[name] = f"{value:.2e}" if isinstance(value, float) else str(value)
    table["seed"] = str(a["configuration"].get("seed", "none"))
    table["configuration"] = a["configuration_sha256"][:12]
    table["commit"] = str(a.get("git_commit"))
    return table


def run(path: str, config: InfoConfig) -> None:
    """The command `orbits info`."""
    table = describe(path)
    width = max(map(len, table))
    print("\n".join([str(path), *(f"  {name:{width}s}  {text}" for name, text in table.items())]))


def _range(values: np.ndarray, unit: str) -> str:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "none"
    low, high = float(finite.min()), float(finite.max())
    text = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return text if unit == "1" else f"{text} {unit}"
