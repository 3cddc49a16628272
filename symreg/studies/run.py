"""`symreg study`: run the cells of a grid side by side, and put what they found together."""

import math
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from orbits.command.entry import INTERRUPTED
from orbits.command.help import say
from orbits.records.files import write_json
from symreg.runs.folder import held_as, require_same_run
from symreg.runs.processes import cores, places
from symreg.studies.answer import in_a_terminal
from symreg.studies.cells import Outcome, Progress, finished_run, prepare, run_cell, workers_of
from symreg.studies.config import StudyConfig
from symreg.studies.grid import Cell, Study, load_study
from symreg.studies.report import write_report
from symreg.studies.table import table, write_table

STUDY = "study.json"

EVERY = 20.0
"""Seconds without a word, after which a line says which stage a running cell has begun."""


def check_study(source: str, config: StudyConfig) -> Study:
    """Read a study and check the options of every cell.

    Raises:
        ValueError: as `load_study`; or if a cell's folder belongs to other options.
    """
    study = load_study(source)
    folder = config.folder(study.name)
    for cell in study.cells:
        require_same_run(folder / "cells" / cell.name, cell.config)
    return study


def run_study(source: str, config: StudyConfig) -> int:
    """Run every cell that is not finished; write table, figures and report.

    Args:
        source: a YAML file, or the name of a bundled study.
        config: where, and on how many workers.

    Returns:
        The exit code: 1 if a cell failed, else 0.

    Raises:
        ValueError: if the study cannot run, or its folder is somebody else's or in use.
        KeyboardInterrupt: if it was interrupted; all that was finished stays.
    """
    study = check_study(source, config)
    folder = config.folder(study.name).absolute()
    with held_as(folder, STUDY, "symreg study"):
        write_json(folder / STUDY, study.to_dict())
        todo = [cell for cell in study.cells if finished_run(folder, cell) is None]
        print(f"{study.name}: {study.question}")
        print(
            f"{len(study.cells)} cells in {folder}, {len(study.cells) - len(todo)} finished already"
            + (f"; {study.cost}" if study.cost and todo else ""),
            flush=True,
        )
        errors: dict[str, str] = {}
        try:
            if todo:
                _work(study, folder, todo, config, errors)
        finally:
            frame = table(study, folder, errors)
            write_table(frame, folder)
            write_report(study, folder, frame)
    for name, error in errors.items():
        print(f"failed: {name}: {error}")
    print()
    say(in_a_terminal(frame[frame["status"] == "done"], study.axes))
    print(f"\nResults: {folder / 'results.csv'}\nReport: {folder / 'report.html'}")
    return 1 if errors else 0


def _work(
    study: Study, folder: Path, todo: list[Cell], config: StudyConfig, errors: dict[str, str]
) -> None:
    """Run cells side by side; after each, write the table again and say how far it is."""
    workers = min(places(config.workers), len(todo))
    threads = 0 if config.scheduler else max(1, cores() // workers)
    deadline = time.monotonic() + 60 * config.minutes if config.minutes else None
    for cell in todo:
        prepare(folder, cell)
    done = len(study.cells) - len(todo)
    took: list[float] = []
    with (
        tqdm(total=len(study.cells), initial=done, unit="cell", disable=None) as bar,
        workers_of(folder, workers, config.scheduler) as (executor, at_once),
    ):
        cells = {executor.submit(run_cell, str(folder), c.name, threads): c.name for c in todo}
        progress = Progress(folder)
        pending: set[Future[Outcome]] = set(cells)
        while pending:
            left = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
            ended, pending = wait(pending, min(EVERY, left), FIRST_COMPLETED)
            if not ended and left <= EVERY:
                raise KeyboardInterrupt
            if not ended and (line := progress.line([cells[f] for f in cells if f in pending])):
                tqdm.write(line)
            for future in ended:
                name, outcome = cells[future], _outcome(future)
                if outcome.code == INTERRUPTED:
                    raise KeyboardInterrupt
                if outcome.code:
                    errors[name] = outcome.error
                took.append(outcome.seconds)
                done += 1
                bar.update()
                frame = table(study, folder, errors)
                write_table(frame, folder)
                remaining = len(pending) * sum(took) / len(took) / min(at_once, len(todo))
                tqdm.write(
                    f"[{done}/{len(study.cells)}] {name}: {_in_words(frame, name)}, "
                    f"{outcome.seconds:.0f} s; {min(at_once, len(pending))} running, "
                    f"about {_duration(remaining)} left"
                )


def _outcome(future: "Future[Outcome]") -> Outcome:
    """What a cell's process came to; a worker that broke is a cell that failed."""
    error = future.exception()
    if error is None:
        return future.result()
    return Outcome(1, f"{type(error).__name__}: {error}", 0.0)


def _in_words(frame: pd.DataFrame, name: str) -> str:
    row: pd.Series[Any] = frame[frame["cell"] == name].iloc[0]
    if row["status"] != "done":
        return f"failed: {row['error']}"
    words = [] if pd.isna(row["world_model"]) else [row["world_model"]]
    if not pd.isna(row["recovered"]):
        words.append("law recovered" if row["recovered"] else "law not recovered")
    return ", ".join(words) or "done"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
