"""Running the cells of a study: each one `symreg run` in a process and a folder of its own."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orbits.command.cluster import connect
from orbits.records.files import read_json, sha256_of_json, write_json
from symreg.runs.config import resolved
from symreg.runs.folder import end
from symreg.studies.grid import Cell

STARTING = 0.2
"""Seconds in which a cell that was about to begin has begun, so that it is ended too."""

PATIENCE = 30.0
"""Seconds that an interrupted cell has to keep what it has."""

RUN = (sys.executable, "-P", "-m", "symreg", "run")
"""The process of a cell."""

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

_running: dict[tuple[str, str], "subprocess.Popen[bytes]"] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """How a cell's process ended: its exit code, its last words, and seconds of wall clock."""

    code: int
    error: str
    seconds: float


def verdict_of(folder: Path, cell: Cell) -> dict[str, Any] | None:
    """A cell's verdict, if it is there for just these options."""
    try:
        verdict: dict[str, Any] = read_json(folder / "cells" / cell.name / "verdict.json")
    except ValueError:
        return None
    same = verdict.get("configuration_sha256") == sha256_of_json(resolved(cell.config))
    return verdict if same else None


def finished(folder: Path, cell: Cell) -> bool:
    """Whether a cell's verdict is there, for just these options."""
    return verdict_of(folder, cell) is not None


def prepare(folder: Path, cell: Cell) -> None:
    """Write the options of a cell, from which `symreg run --config` makes it alone."""
    write_json(folder / "configs" / f"{cell.name}.json", resolved(cell.config))


def run_cell(folder: str, name: str, threads: int) -> Outcome:
    """Run a prepared cell to its end; what it prints goes to `logs/NAME.log` and `.err`.

    How it ended stays in `logs/NAME.json`.

    Args:
        folder: of the study, absolute.
        name: of the cell.
        threads: of its processes; 0 takes this dask worker's share of the cores.
    """
    share = str(threads or _share_of_a_worker())
    logs = Path(folder) / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with open(logs / f"{name}.log", "wb") as out, open(logs / f"{name}.err", "wb") as err:
        process = subprocess.Popen(
            [
                *RUN,
                "--config", f"{folder}/configs/{name}.json", "--out", f"{folder}/cells/{name}",
            ],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            env={**os.environ, **dict.fromkeys(THREADS, share)},
        )  # fmt: skip
        with _lock:
            _running[folder, name] = process
        try:
            code = process.wait()
        finally:
            with _lock:
                del _running[folder, name]
    error = ""
    if code:
        last = _last_line(logs / f"{name}.err") or _last_line(logs / f"{name}.log")
        error = last or f"exit code {code}"
    outcome = Outcome(code, error, time.monotonic() - began)
    write_json(logs / f"{name}.json", asdict(outcome))
    return outcome


def end_cells(folder: str) -> None:
    """Interrupt the cells of a study that run in this process, and wait until they have ended."""
    time.sleep(STARTING)
    with _lock:
        processes = [process for (study, _), process in _running.items() if study == folder]
    end(processes, PATIENCE)


def running(folder: str) -> int:
    """Cells of a study that run in this process."""
    with _lock:
        return sum(study == folder for study, _ in _running)


@contextmanager
def workers_of(folder: str, workers: int, scheduler: str) -> Iterator[tuple[Executor, int]]:
    """Threads of this process, or the workers of a dask cluster; all cells end with the block.

    Yields:
        An executor, and how many cells it runs at the same time.

    Raises:
        ValueError: if dask is not installed or no scheduler answers.
    """
    if not scheduler:
        pool = ThreadPoolExecutor(workers)
        try:
            yield pool, workers
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_cells(folder)
            raise
        finally:
            pool.shutdown()
        return
    client = connect(scheduler)
    with client:
        places = sum(client.nthreads().values())
        if not places:
            raise ValueError(f"the dask scheduler at {scheduler} has no workers; start some.")
        executor = client.get_executor(pure=False, retries=0)
        try:
            yield executor, places
        except BaseException:
            executor.shutdown(wait=False)
            client.run(end_cells, folder)
            raise


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _share_of_a_worker() -> int:
    """Cores for one of the cells that the dask workers of this host run at the same time."""
    from distributed import get_client, get_worker

    workers = get_client().scheduler_info()["workers"]
    here = workers[get_worker().address]["host"]
    places = sum(worker["nthreads"] for worker in workers.values() if worker["host"] == here)
    return max(1, cores() // places)


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
