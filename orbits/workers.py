"""Worker processes, the one way of making them: `with worker_pool(4) as pool: pool.submit(...)`.

They are forked from a server that has loaded the modules once. Nothing of the current folder is
imported, nor is the user's script executed again. They take one thread each, leave Ctrl-C to the
process that began them, and end with it, however it ends.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, forkserver, parent_process, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import ModuleType
from typing import Any


def worker_count(wanted: int = 0, memory: float = 3e8) -> int:
    """Workers: as many as wanted, or as cores and free memory allow.

    Args:
        wanted: 0 leaves the choice to the machine.
        memory: bytes that a worker takes.
    """
    if wanted:
        return wanted
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return cores
    return max(1, min(cores, int(free / memory)))


@contextmanager
def worker_pool(count: int, modules: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, which end with the block: at once if it fails.

    Where one is killed, the results of all others raise a `BrokenProcessPool`; `lost_worker` says
    it to a user.

    Args:
        count: of the processes.
        modules: loaded once, before workers are forked.
    """
    preload(modules)
    pool = ProcessPoolExecutor(count, _Context(), _end_with_parent)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        _end(pool)
        raise


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill its processes, and wait for its thread, which later finds closed pipes."""
    ending = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    ending.start()
    end = time.monotonic() + 5.0  # seconds: a process may be on its start
    while ending.is_alive() and time.monotonic() < end:
        for process in active_children():
            if isinstance(process, _Worker):
                process.kill()
        ending.join(0.1)  # seconds between two looks


def lost_worker(work: str) -> ValueError:
    """What to tell a user whose worker was killed while it did some work."""
    return ValueError(
        f"{work}: a worker process was killed, perhaps for want of memory; what was finished "
        "stays. Run the same again, with fewer --workers."
    )


class _Worker(ForkServerProcess):
    """A process that does not execute the user's script again."""

    def start(self) -> None:
        """Start it with the script hidden: not all are guarded by `if __name__ == ...`."""
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class _Context(ForkServerContext):
    """The context of such processes."""

    Process = _Worker


def preload(modules: Sequence[str]) -> None:
    """Start the server from which workers are forked, unless it runs: it loads the modules while
    the caller goes on. Workers inherit its environment and mask."""
    forkserver.set_forkserver_preload([*modules])
    # of workers: one thread each, no imports from the current folder, and no warnings about the
    # semaphores of killed ones, which are removed; glibc keeps memory that is freed, up to 128 MiB,
    # for the next array instead of asking the system for it again: a tenth of the time of training
    environment = {
        "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore:resource_tracker",
        "MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**27),
    }  # fmt: skip
    earlier = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    resource_tracker.ensure_running()  # here, since it changes the mask
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in earlier.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def unload() -> None:
    """End the server at once, even while it loads: whoever reads this program's output waits for
    every process that could write to it."""
    server: Any = forkserver._forkserver
    if server._forkserver_pid is not None:
        os.kill(server._forkserver_pid, signal.SIGKILL)
        server._stop()


def _end_with_parent() -> None:
    """Watch the parent in a thread: its sentinel is a pipe that closes when it ends, by any way."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
