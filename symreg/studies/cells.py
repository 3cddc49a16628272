"""Running the cells of a study: each one `symreg run` in a process and a folder of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orbits.command.cluster import connect
from orbits.command.entry import INTERRUPTED
from orbits.command.parent import as_parent
from orbits.records.files import sha256_of_json, write_json
from orbits.records.typed import as_json
from symreg.runs.pipeline import begun
from symreg.runs.processes import THREADS, cores, end
from symreg.runs.result import Run
from symreg.studies.grid import Cell

PATIENCE = 30.0
"""Seconds that an interrupted cell has to keep what it has."""

POLL = 0.2
"""Seconds between two looks at a running cell, and at whether it should end."""

STOP = ".stop"
"""A file in the study's folder: while it is there, running cells end and no other begins."""

RUN = (sys.executable, "-P", "-m", "symreg", "run")
"""The process of a cell."""


@dataclass(frozen=True)
class Outcome:
    """How a cell's process ended: its exit code, its last words, and seconds of wall clock."""

    code: int
    error: str
    seconds: float


def finished_run(folder: Path, cell: Cell) -> Run | None:
    """What a cell found, if it is finished for just these options."""
    try:
        found = Run.read(folder / "cells" / cell.name)
    except ValueError:
        return None
    return found if found.configuration_sha256 == sha256_of_json(cell.config.identity) else None


def prepare(folder: Path, cell: Cell) -> None:
    """Write the options of a cell, from which `symreg run --config` makes it alone."""
    options = {k: v for k, v in as_json(cell.config).items() if k not in ("out", "workers")}
    for name in cell.config.DECIDED:
        group, _, own = name.partition(".")
        options[group].pop(own)
    write_json(folder / "configs" / f"{cell.name}.json", options)
    _log(folder, cell.name).unlink(missing_ok=True)  # what is there is of an earlier attempt


class Progress:
    """How far the running cells are: the stage that each has begun, told one cell at a time.

    Args:
        folder: of the study.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told: dict[str, str] = {}

    def line(self, cells: Sequence[str]) -> str | None:
        """The stage of one cell that has begun another since it was told; None if none has.

        Args:
            cells: that have not ended; those not told for longest come first.
        """
        untold = [name for name in cells if name not in self._told]
        for name in (*untold, *(name for name in self._told if name in cells)):
            log = _log(self.folder, name)
            stage = begun(log.read_text(errors="replace")) if log.exists() else ""
            if stage and stage != self._told.get(name):
                self._told.pop(name, None)  # it goes to the end
                self._told[name] = stage
                return f"    {name}: {stage}"
        return None


def run_cell(folder: str, name: str, threads: int) -> Outcome:
    """Run a prepared cell to its end; what it prints goes to `logs/NAME.log` and `.err`.

    How it ended stays in `logs/NAME.json`.

    Args:
        folder: of the study, absolute.
        name: of the cell.
        threads: cores that it may keep busy; 0 takes this dask worker's share of them.
    """
    share = str(threads or _share_of_a_worker())
    logs, stop = Path(folder) / "logs", Path(folder) / STOP
    logs.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    if stop.exists():
        return Outcome(INTERRUPTED, "", 0.0)
    with open(_log(Path(folder), name), "wb") as out, open(logs / f"{name}.err", "wb") as err:
        process = subprocess.Popen(
            [
                *RUN, "--config", f"{folder}/configs/{name}.json", "--workers", share,
                "--out", f"{folder}/cells/{name}",
            ],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            env={**os.environ, **dict.fromkeys(THREADS, share), **as_parent()},
        )  # fmt: skip
        while process.poll() is None:
            if stop.exists():
                end([process], PATIENCE)
            else:
                time.sleep(POLL)
    code, error = process.returncode, ""
    if code:
        last = _last_line(logs / f"{name}.err") or _last_line(_log(Path(folder), name))
        error = last or f"exit code {code}"
    outcome = Outcome(code, error, time.monotonic() - began)
    write_json(logs / f"{name}.json", as_json(outcome))
    return outcome


@contextmanager
def workers_of(folder: Path, workers: int, scheduler: str) -> Iterator[tuple[Executor, int]]:
    """Threads of this process, or the workers of a dask cluster; all cells end with the block.

    Yields:
        An executor, and how many cells it runs at the same time.

    Raises:
        ValueError: if dask is not installed or no scheduler answers.
    """
    stop = folder / STOP
    stop.unlink(missing_ok=True)
    try:
        if not scheduler:
            with ThreadPoolExecutor(workers) as pool, _stopping(stop):
                yield pool, workers
            return
        with connect(scheduler) as client:
            places = sum(client.nthreads().values())
            if not places:
                raise ValueError(f"the dask scheduler at {scheduler} has no workers; start some.")
            with client.get_executor(pure=False, retries=0) as executor, _stopping(stop):
                yield executor, places
    finally:
        stop.unlink(missing_ok=True)


@contextmanager
def _stopping(stop: Path) -> Iterator[None]:
    """Tell all cells to end where the block is left by an exception."""
    try:
        yield
    except BaseException:
        stop.touch()
        raise


def _share_of_a_worker() -> int:
    """Cores for one of the cells that the dask workers of this host run at the same time."""
    from distributed import get_client, get_worker

    workers = get_client().scheduler_info()["workers"]
    here = workers[get_worker().address]["host"]
    places = sum(worker["nthreads"] for worker in workers.values() if worker["host"] == here)
    return max(1, cores() // places)


def _log(folder: Path, name: str) -> Path:
    """What a cell prints."""
    return folder / "logs" / f"{name}.log"


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
