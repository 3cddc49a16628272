"""The table of a study: one row per cell, in Parquet and CSV."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from orbits.files import sha256_of_json, written_aside
from symreg.experiments.answer import FIXED
from symreg.experiments.config import Key
from symreg.experiments.grid import Cell, Study
from symreg.experiments.result import Run, StatesResult
from symreg.experiments.study_figure import LABEL
from symreg.experiments.verdict import first_step
from symreg.recovery.gates import Gate
from symreg.recovery.result import Quantity


def table(study: Study, folder: Path, errors: Mapping[str, str]) -> pd.DataFrame:
    """One row per cell of a study.

    Columns: `cell`, `status` (done, failed or pending), `error` (last words of a failed cell), the
    options that vary, `label` of the part of the grid, `world_model`, `recovered`, `gates_failed`,
    `holds_to` (au) and `kind_failed` (gates of the law and of the kind), gate.NAME with the values
    found by those of the kind, model.NAME for each number in a user's model's `parameters`; for
    each set of states and control SOURCE.verdict, .expression, .status, .recovered, .r2, .exponent,
    .exponent_low, .exponent_high, .exponent_truth, .constant (and low, high, truth),
    .resamples_agreeing, .kick_r2_1, .kick_r2_4 and .kick_r2_first (the first step read: the second
    where masses differ), and for each feature but r .exponent_of_FEATURE (and low, high, truth);
    READOUT.METRIC; `engine` and `git_commit`, which may differ if a study resumed elsewhere or
    later; `seconds` and seconds.FILE of wall clock, `processor_seconds` and processor_seconds.FILE.

    Args:
        study: the study.
        folder: where its cells are.
        errors: last words of failed cells.
    """
    frame = pd.DataFrame([_row(study, folder, cell, errors.get(cell.name)) for cell in study.cells])
    missing = [name for name in FIXED if name not in frame]
    frame = frame.assign(**dict.fromkeys(missing)).convert_dtypes()
    frame.attrs["axes"] = study.axes
    return frame


def finished_run(folder: Path, cell: Cell) -> Run | None:
    """A cell's result, if it is finished with just these options."""
    try:
        run = Run.read(folder / "cells" / cell.name)
    except ValueError:
        return None
    return run if run.configuration_sha256 == sha256_of_json(cell.config.identity) else None


def write_table(frame: pd.DataFrame, folder: Path) -> None:
    """Write results.parquet and results.csv, whole or not at all."""
    with written_aside(folder / "results.parquet") as aside:
        frame.to_parquet(aside, index=False)
    with written_aside(folder / "results.csv") as aside:
        frame.to_csv(aside, index=False)


def _row(study: Study, folder: Path, cell: Cell, error: str | None) -> dict[str, Any]:
    run = finished_run(folder, cell)
    status = "done" if run else "failed" if error else "pending"
    row: dict[str, Any] = {"cell": cell.name, "status": status, "error": None if run else error}
    row |= {axis: _plain(cell.place[axis]) for axis in study.axes}
    row |= {LABEL: cell.label} if cell.label else {}
    if run is None:
        return row
    row["world_model"] = run.world_model.kind if run.world_model else None
    row["recovered"] = run.recovered
    row["gates_failed"] = _failed(run.gates)
    row["holds_to"] = run.world_model.holds_to if run.world_model else None
    asked = run.world_model.inside if run.world_model else ()
    row["kind_failed"] = _failed(asked)
    row |= {f"gate.{gate.name}": gate.value for gate in asked}
    row |= {f"model.{name}": v for name, v in (run.model or {}).get("parameters", {}).items()}
    for name, source in run.results.items():
        row |= {f"{name}.{key}": value for key, value in _of_source(source).items()}
    for name, by_control in run.readouts.items():
        for control, metrics in by_control.items():
            row |= {f"{Key(name, control)}.{key}": value for key, value in metrics.items()}
    # none where no law was searched in kicked states
    row["engine"] = run.kicked.recovery.engine if run.kicked else None
    row["git_commit"] = run.git_commit
    row["seconds"] = sum(run.seconds.values())
    row |= {f"seconds.{name}": seconds for name, seconds in run.seconds.items()}
    row["processor_seconds"] = sum(run.processor_seconds.values())
    row |= {f"processor_seconds.{name}": used for name, used in run.processor_seconds.items()}
    return row


def _failed(gates: Iterable[Gate]) -> str | None:
    return ", ".join(gate.name for gate in gates if not gate.passed) or None


def _of_source(source: StatesResult) -> dict[str, Any]:
    law = source.recovery
    row: dict[str, Any] = {
        "verdict": law.verdict,
        "expression": law.expression,
        "status": law.status,
        "recovered": law.recovered,
        "r2": source.r2,
        **_of_quantity("exponent", law.exponent),
        **_of_quantity("constant", law.constant),
    }
    for feature, value in law.exponents.items():
        if feature != "r":
            row |= _of_quantity(f"exponent_of_{feature}", value)
    row["resamples_agreeing"] = law.agreement.agreeing
    if source.kick_r2:
        row["kick_r2_first"] = source.kick_r2[str(first_step(source.kick_r2))]
    return row | {f"kick_r2_{step}": value for step, value in source.kick_r2.items()}


def _of_quantity(name: str, quantity: Quantity) -> dict[str, float | None]:
    row = {name: quantity.value}
    return row | {f"{name}_{key}": getattr(quantity, key) for key in ("low", "high", "truth")}


def _plain(value: Any) -> Any:
    """An option as stored in a table: several values become text."""
    return " ".join(map(str, value)) if isinstance(value, (tuple, list)) else value
