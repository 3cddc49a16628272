"""A folder that belongs to one configuration and to one process at a time."""

import fcntl
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from orbits.records.files import read_json, sha256_of_json, write_json
from symreg.runs.config import RunConfig, option, resolved

QUESTIONS = ("sources", "controls", "readouts")
"""Options that may differ when a run goes on: what is asked of the model, not what it is."""

TERMINAL = 1.0
"""Seconds in which processes that share a terminal's Ctrl-C end by themselves."""


@contextmanager
def claimed(folder: Path, config: RunConfig) -> Iterator[None]:
    """Hold a run directory for this configuration and this process.

    Raises:
        ValueError: if the directory belongs to another configuration, or is in use.
    """
    path = folder / "configuration.json"
    with held(folder, path, "symreg run"):
        require_same_run(folder, config)
        write_json(path, resolved(config))
        yield


@contextmanager
def held(folder: Path, marker: Path, command: str) -> Iterator[None]:
    """Hold a folder for one process at a time; the lock dies with the process.

    Args:
        folder: made if it does not exist.
        marker: a file that only a folder of this kind has.
        command: that may hold it, for the message.

    Raises:
        ValueError: if the folder is somebody else's, or in use.
    """
    if folder.exists() and not marker.exists():
        others = sorted(p.name for p in folder.iterdir() if p.name != ".lock")
        if others:
            raise ValueError(
                f"{folder} is not a directory of `{command}` and not empty (it has {others[0]}); "
                "choose another --out."
            )
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{folder} is in use by another `{command}`; wait for it or choose another --out."
            ) from None
        yield


def require_same_run(folder: Path, config: RunConfig, free: Collection[str] = QUESTIONS) -> None:
    """Check that a run directory, if it was begun, has this configuration.

    An option that the program did not have when the run began has its default.

    Raises:
        ValueError: naming the options that differ.
    """
    path = folder / "configuration.json"
    if not path.exists():
        return
    earlier = resolved(RunConfig()) | read_json(path)
    changed = [
        f"{option(key)} {earlier.get(key)} (now {value})"
        for key, value in resolved(config).items()
        if key not in free and sha256_of_json(earlier.get(key)) != sha256_of_json(value)
    ]
    if changed:
        raise ValueError(
            f"{folder} belongs to another configuration: {', '.join(changed)}; "
            "choose another --out, or delete that folder."
        )


def end(processes: Collection[subprocess.Popen[Any]], patience: float = 20) -> None:
    """End processes that an interrupted parent has started.

    Those that share a terminal's Ctrl-C end by themselves; the others are sent SIGTERM, since a
    shell's background jobs ignore SIGINT. All have `patience` seconds together to keep what they
    have, then they are killed.
    """
    _wait(processes, TERMINAL)
    for process in processes:
        if process.poll() is None:
            process.terminate()
    _wait(processes, patience)
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()


def _wait(processes: Collection[subprocess.Popen[Any]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
