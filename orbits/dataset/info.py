"""A dataset's contents in one table."""

from typing import Any

import numpy as np

from orbits import dataset
from orbits.dataset.schema import Layout, variables
from orbits.frames import relative_states
from orbits.options import checked


@checked
def describe(data: dataset.Data) -> dict[str, str]:
    """A dataset's contents by name, as text.

    Args:
        data: a dataset, or its path.

    Raises:
        ValueError: if there is no complete dataset.
    """
    data = dataset.as_dataset(data)
    a: dict[str, Any] = data.attrs
    size = sum(data[name].nbytes for name in variables(a["system"]))
    some = data.isel(orbit=slice(0, Layout.shard_orbits))
    states = (some[name].values.astype(float) for name in ("position", "velocity"))
    position, velocity = relative_states(a["system"], *states)
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


def _range(values: np.ndarray, unit: str) -> str:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "none"
    low, high = float(finite.min()), float(finite.max())
    text = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return text if unit == "1" else f"{text} {unit}"
