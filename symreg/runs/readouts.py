"""The numbers of a run's read-outs, flat: what a table of many runs has as columns."""

from pathlib import Path
from typing import Any

from orbits.records.files import read_json
from symreg.runs.config import TRANSFERS, RunConfig
from symreg.runs.stages import titles

ROLLOUT_STEPS = (1, 4, 16, 64)
"""Steps at which the error of a roll-out becomes a column, as far as the orbits go."""


Metrics = dict[str, float | None]
"""Numbers by name."""


def readouts(folder: Path, config: RunConfig) -> dict[str, Metrics]:
    """Metrics by read-out; one repeated with a control is called NAME_CONTROL.

    Args:
        folder: the run directory, all stages done.
        config: the run's options.
    """
    found = {}
    for name in config.questions:
        if name == "evaluate":
            found[name] = _evaluation(read_json(folder / "readouts" / "evaluate.json"))
        elif name == "extrapolate":
            file = folder / "readouts" / "extrapolate" / "extrapolation.json"
            found[name] = _extrapolation(read_json(file)["rows"])
        elif name in TRANSFERS:
            for title in titles(config, name):
                found[title] = _numbers(read_json(folder / "laws" / f"{title}.json")["metrics"])
        else:
            for title in titles(config, name):
                result = read_json(folder / "readouts" / f"{title}.json")
                found[title] = _numbers(result["metrics"])
    return found


def _evaluation(result: dict[str, Any]) -> Metrics:
    rolled = result["rollout"]
    errors = rolled["median_error"]
    drifts = {name: rolled[name] for name in ("energy_drift", "angular_momentum_drift")}
    at = {f"error_{step}": errors[step - 1] for step in ROLLOUT_STEPS if step <= len(errors)}
    return {**result["next_step"], **at, **drifts}


def _extrapolation(rows: list[dict[str, Any]]) -> Metrics:
    return {
        f"{name}_{row['factor']}": row[name]
        for name in ("loss", "late_loss", "ratio")
        for row in rows
    }


def _numbers(metrics: dict[str, Any], prefix: str = "") -> Metrics:
    """The numbers of nested dictionaries, names joined by underscores."""
    flat: Metrics = {}
    for key, value in metrics.items():
        if isinstance(value, dict):
            flat |= _numbers(value, f"{prefix}{key}_")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{key}"] = value
    return flat
