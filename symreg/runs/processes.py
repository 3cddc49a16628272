"""Processes side by side: how many there is room for, what they may take, and how they end."""

import os
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

from orbits.command.parent import as_parent

TERMINAL = 1.0
"""Seconds in which processes that share a terminal's Ctrl-C end by themselves."""

MEMORY = 1.2e9
"""Bytes that a process of the largest stages takes: Python, torch and a model of a few layers."""

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def places(wanted: int = 0) -> int:
    """Processes that may run at the same time: as many as wanted, or what cores and memory hold."""
    if wanted:
        return wanted
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return cores()
    return max(1, min(cores(), int(free / MEMORY)))


def environment(threads: int) -> dict[str, str]:
    """Of a process that ends with this one: so many threads for numerical libraries.

    What the user has set stays.
    """
    settings = {"PYTHONUNBUFFERED": "1", **dict.fromkeys(THREADS, str(threads))}
    return {**settings, **os.environ, **as_parent()}


class Process(Protocol):
    """A process that another has started, as `subprocess.Popen` describes one."""

    def poll(self) -> int | None:
        """How it has ended; None if it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """How it has ended, once it has; `subprocess.TimeoutExpired` after so many seconds."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


def end(processes: Collection[Process], patience: float = 20) -> None:
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


def _wait(processes: Collection[Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
