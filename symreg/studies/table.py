"""The table of a study: one row for each cell, in Parquet and CSV."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from orbits.records.files import written_aside
from symreg.studies.cells import verdict_of
from symreg.studies.grid import Cell, Study

FIXED = ("cell", "status", "error", "world_model", "recovered", "gates_failed", "seconds")
"""Columns that every study has, whatever was asked."""


def table(study: Study, folder: Path, errors: Mapping[str, str]) -> pd.DataFrame:
    """One row for each cell of a study.

    Columns: `cell`, `status` (done, failed or pending), `error` (last words of a failed cell), the
    options that vary, `world_model`, `recovered`, `gates_failed`; for each set of states and
    control SOURCE.verdict, .expression, .recovered, .r2, .exponent, .exponent_low, .exponent_high,
    .exponent_truth, .constant (and low, high, truth), .seeds_agreeing, .kick_r2_1, .kick_r2_4 and
    .kick_r2_first (of the first step that was read: the second where masses differ), and of each
    feature but r .exponent_of_FEATURE (and low, high, truth); READOUT.METRIC; `engine` and
    `git_commit`, which may differ where a study went on elsewhere or later; `seconds` and
    seconds.STAGE.

    Args:
        study: the study.
        folder: where its cells are.
        errors: last words of the cells that failed.
    """
    frame = pd.DataFrame([_row(study, folder, cell, errors.get(cell.name)) for cell in study.cells])
    missing = [name for name in FIXED if name not in frame]
    return frame.assign(**dict.fromkeys(missing)).convert_dtypes()


def write_table(frame: pd.DataFrame, folder: Path) -> None:
    """Write results.parquet and results.csv, whole or not at all."""
    with written_aside(folder / "results.parquet") as aside:
        frame.to_parquet(aside, index=False)
    with written_aside(folder / "results.csv") as aside:
        frame.to_csv(aside, index=False)


def _row(study: Study, folder: Path, cell: Cell, error: str | None) -> dict[str, Any]:
    verdict = verdict_of(folder, cell)
    status = "done" if verdict else "failed" if error else "pending"
    row: dict[str, Any] = {"cell": cell.name, "status": status, "error": None if verdict else error}
    row |= {axis: _plain(cell.place[axis]) for axis in study.axes}
    if verdict is None:
        return row
    row["world_model"] = (verdict["world_model"] or {}).get("kind")
    row["recovered"] = verdict["recovered"]
    failed = [gate["name"] for gate in verdict["gates"] if not gate["passed"]]
    row["gates_failed"] = ", ".join(failed) or None
    for name, source in (verdict["sources"] | verdict["controls"]).items():
        row |= {f"{name}.{key}": value for key, value in _of_source(source).items()}
    for name, metrics in verdict["readouts"].items():
        row |= {f"{name}.{key}": value for key, value in metrics.items()}
    row["engine"] = verdict.get("engine")  # none where no law was searched in kicked states
    row["git_commit"] = verdict["git_commit"]
    row["seconds"] = sum(verdict["seconds"].values())
    row |= {f"seconds.{stage}": seconds for stage, seconds in verdict["seconds"].items()}
    return row


def _of_source(source: dict[str, Any]) -> dict[str, Any]:
    row = {key: source[key] for key in ("verdict", "expression", "recovered", "r2")}
    for quantity in ("exponent", "constant"):
        value = source[quantity] or {}
        row[quantity] = value.get("value")
        row |= {f"{quantity}_{key}": value.get(key) for key in ("low", "high", "truth")}
    for feature, value in (source.get("exponents") or {}).items():
        if feature != "r":
            row[f"exponent_of_{feature}"] = value.get("value")
            row |= {f"exponent_of_{feature}_{k}": value.get(k) for k in ("low", "high", "truth")}
    row["seeds_agreeing"] = source["seeds"]["agreeing"]
    kicks = source["kick_r2"]
    if kicks:
        row["kick_r2_first"] = kicks[min(kicks, key=int)]
    return row | {f"kick_r2_{step}": value for step, value in kicks.items()}


def _plain(value: Any) -> Any:
    """An option as a table can hold it: several values are a text."""
    return " ".join(map(str, value)) if isinstance(value, (tuple, list)) else value
