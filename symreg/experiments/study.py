"""`symreg study`: the runs of a grid side by side, and their joint result."""

import math
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from orbits.cluster import cluster_pool, require_cluster
from orbits.command_line import say
from orbits.files import write_json
from orbits.workers import worker_count, worker_pool
from symreg.experiments.answer import in_a_terminal
from symreg.experiments.cache import LOADED, MEMORY, records_in
from symreg.experiments.config import RunConfig, StudyConfig, require_same_run
from symreg.experiments.grid import Cell, Study, load_study
from symreg.experiments.run import run
from symreg.experiments.study_report import write_report
from symreg.experiments.table import finished_run, table, write_table
from symreg.recovery.guard import Guard

STUDY = "study.json"

EVERY = 30.0
"""Seconds of silence after which a line says what is left, and what the cells are doing."""


def check_study(source: str, config: StudyConfig) -> Study:
    """Read a study and check the options of every cell, and that no other is in its folder."""
    study = load_study(source)
    folder = config.folder(study.name)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STUDY).exists():
        raise ValueError(f"{folder} is no folder of a study and not empty; choose another --out.")
    for cell in study.cells:
        require_same_run(_at(folder, cell), free=())
    return study


@dataclass(frozen=True)
class StudyResult:
    """The table of a study, and which cells failed; the exit code is 1 if one did."""

    study: Study
    folder: Path
    cells: pd.DataFrame
    errors: dict[str, str]

    @property
    def exit_code(self) -> int:
        """1 if a cell failed."""
        return 1 if self.errors else 0

    def to_dict(self) -> dict[str, Any]:
        """For `--json`: the rows of `results.csv`."""
        return {"study": self.study.name, "cells": self.cells.to_dict("records")}

    def __str__(self) -> str:
        finished = self.cells[self.cells["status"] == "done"]
        return "\n".join(
            [
                *(f"failed: {name}: {error}" for name, error in self.errors.items()),
                in_a_terminal(finished, self.study.axes),
                f"\nResults: {self.folder / 'results.csv'}\nReport: {self.folder / 'report.html'}",
            ]
        )


def run_study(source: str, config: StudyConfig) -> StudyResult:
    """Run every cell that is not finished; write table, figures and report.

    Raises:
        ValueError: if the study cannot run, or its folder is another's.
        KeyboardInterrupt: if interrupted; finished cells stay.
    """
    study = check_study(source, config)
    folder = config.folder(study.name).absolute()
    todo = [cell for cell in study.cells if finished_run(folder, cell) is None]
    if todo:
        require_cluster(config.scheduler)
    write_json(folder / STUDY, study.to_dict())
    say(f"{study.name}: {study.question}")
    say(
        f"{len(study.cells)} cells in {folder}, {len(study.cells) - len(todo)} finished already"
        + (f"; {study.cost}" if study.cost and todo else "")
    )
    errors: dict[str, str] = {}
    try:
        if todo:
            _work(study, folder, todo, config, errors)
    finally:
        frame = table(study, folder, errors)
        write_table(frame, folder)
        guard = Guard()
        guard.part("the report", lambda: write_report(study, folder, frame, guard), None)
        for note in guard.notes:
            say(f"the table is written; {note}")
    return StudyResult(study, folder, frame, errors)


def _at(folder: Path, cell: Cell) -> RunConfig:
    """The options of a cell in its folder, on one core."""
    return replace(cell.config, out=str(folder / "cells" / cell.name), workers=1)


def run_cell(config: RunConfig) -> float:
    """Run one cell to its end, in a worker process; returns the seconds taken."""
    began = time.monotonic()
    run(config, progress=lambda _: None)
    return time.monotonic() - began


@contextmanager
def workers_for(config: StudyConfig, cells: int) -> Iterator[tuple[Executor, int]]:
    """Processes on this machine, or the workers of a dask cluster, and their number."""
    if not config.scheduler:
        count = min(worker_count(config.workers, MEMORY), cells)
        with worker_pool(count, LOADED) as pool:
            yield pool, count
        return
    with cluster_pool(config.scheduler) as pool:
        yield pool


def _work(
    study: Study, folder: Path, todo: list[Cell], config: StudyConfig, errors: dict[str, str]
) -> None:
    """Run cells side by side; after each, rewrite the table and report progress."""
    # seconds
    deadline = time.monotonic() + 60 * config.minutes if config.minutes else math.inf
    done, seconds = len(study.cells) - len(todo), list[float]()
    with (
        tqdm(total=len(study.cells), initial=done, unit="cell", disable=None) as bar,
        workers_for(config, len(todo)) as (executor, at_once),
    ):
        cells = {executor.submit(run_cell, _at(folder, cell)): cell.name for cell in todo}
        pending: set[Future[float]] = set(cells)
        while pending:
            left = deadline - time.monotonic()
            if left <= 0:
                raise KeyboardInterrupt
            ended, pending = wait(pending, min(EVERY, left), FIRST_COMPLETED)
            if not ended:
                tqdm.write(f"[{done}/{len(study.cells)}] {_left(seconds, len(pending), at_once)}")
                for line in _begun(folder, [cells[future] for future in pending]):
                    tqdm.write(line)
            for future in ended:
                name, error = cells[future], future.exception()
                if error is None:
                    seconds.append(future.result())
                else:
                    errors[name] = " ".join(str(error).split()) or type(error).__name__
                done += 1
                bar.update()
                frame = table(study, folder, errors)
                write_table(frame, folder)
                tqdm.write(
                    f"[{done}/{len(study.cells)}] {name}: {_in_words(frame, name)}; "
                    f"{_left(seconds, len(pending), at_once)}"
                )


def _begun(folder: Path, names: list[str]) -> Iterator[str]:
    """What each running cell is making."""
    for name in names:
        records = records_in(folder / "cells" / name).values()
        making = [record.title for record in records if record.sha256 is None]
        if making:
            yield f"    {name}: {making[-1]}"


def _in_words(frame: pd.DataFrame, name: str) -> str:
    row: pd.Series[Any] = frame[frame["cell"] == name].iloc[0]
    if row["status"] != "done":
        return f"failed: {row['error']}"
    words = [] if pd.isna(row["world_model"]) else [row["world_model"]]
    if not pd.isna(row["recovered"]):
        words.append("law recovered" if row["recovered"] else "law not recovered")
    return ", ".join([*words, f"{row['seconds']:.0f} s"])


def _left(seconds: list[float], cells: int, at_once: int) -> str:
    """How long the remaining cells take, by what the finished ones took."""
    if not seconds:
        return f"{cells} cells left, none finished yet"
    left = cells * sum(seconds) / len(seconds) / at_once
    # minutes from a minute and a half on
    return f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left"
