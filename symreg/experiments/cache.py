"""Files made by functions, kept in a folder: each whole or absent, none made twice.

One is made again if its function's options, its inputs, the program or the file itself changed:

    with Cache("runs/mine") as keep:
        data = keep("data/train.zarr", "simulate orbits", simulate, config.generate)
        model = keep("model", "train", train, data, config.train)
        model.result()

With workers, independent files are made side by side.
"""

import hashlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from multiprocessing import forkserver, parent_process, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from filelock import FileLock, Timeout

from orbits.files import as_json, of_json, read_json, sha256_of_json, write_json

MANIFEST = "manifest.json"

PACKAGES = ("orbits", "worldmodel", "symreg")
"""Packages whose code decides what is made, except this folder, which only calls them."""

MEMORY = 1.2e9
"""Bytes of the largest worker: Python, torch and a model of a few layers."""


@dataclass(frozen=True)
class Record:
    """One file or folder: what it is made from, and its state when finished.

    Attributes:
        title: name of the step.
        key: fingerprint of function, options, inputs and program.
        sha256: of the finished content; None while it is being made.
        seconds: of wall clock.
        processor_seconds: of computing.
    """

    title: str
    key: str
    sha256: str | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0


@dataclass(frozen=True)
class Made:
    """A finished file or folder, as given to a later function."""

    path: Path
    key: str


class Cache:
    """The files of one folder, held by one process at a time.

    Args:
        folder: made if it does not exist.
        workers: processes that make files side by side; 1 makes all in this one.
        tell: called with a line on each start and result.

    Raises:
        ValueError: if another process holds the folder.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        workers: int = 1,
        tell: Callable[[str], object] = print,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.tell = tell
        self.records: dict[str, Record] = {}
        self._workers = workers
        self._began = time.monotonic()
        self._changing = threading.Lock()
        self._standing: dict[Path, Made] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._held = FileLock(self.folder / ".lock", blocking=False)
        try:
            self._held.acquire()
        except Timeout:
            raise ValueError(
                f"{self.folder} is in use by another process; wait for it or choose another --out."
            ) from None
        self.records = records_in(self.folder)
        self._pool = workers_of(self._workers) if self._workers > 1 else None
        self._waiting = ThreadPoolExecutor(256)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            end(self._pool, at_once=kind is not None)
        self._waiting.shutdown(cancel_futures=True)
        self._held.release()

    def __call__(
        self, path: str, title: str, function: Callable[..., str], *inputs: Any,
        here: bool = False, **options: Any,
    ) -> "Future[Made]":  # fmt: skip
        """Have a function write a path, unless it did so before from the same.

        Args:
            path: below the folder.
            title: name of the step.
            function: called as `function(out, *inputs, **options)`; writes `out` whole or not at
                all, or continues what it left there, and returns a line on the result.
            inputs: results of earlier calls, passed as paths; paths; or objects with a
                `fingerprint`.
            here: whether it must run in this process.
            options: dataclasses, or what JSON can hold.

        Returns:
            What is made, once it is.
        """
        inputs = tuple(self._given(each) for each in inputs)
        if self._pool is None or here:
            done: Future[Made] = Future()
            done.set_result(self._made(path, title, function, inputs, options, None))
            return done
        return self._waiting.submit(self._made, path, title, function, inputs, options, self._pool)

    def _given(self, given: Any) -> Any:
        """An input; a path as its content, fingerprinted once for all readers."""
        if not isinstance(given, (str, Path)):
            return given
        path = Path(given)
        if path not in self._standing:
            self._standing[path] = Made(path, key_of(given))
        return self._standing[path]

    def _made(
        self, path: str, title: str, function: Callable[..., str], inputs: tuple[Any, ...],
        options: dict[str, Any], pool: Executor | None,
    ) -> Made:  # fmt: skip
        given = [each.result() if isinstance(each, Future) else each for each in inputs]
        key = sha256_of_json(
            [function.__qualname__, [key_of(each) for each in given],
             {name: as_json(value) for name, value in options.items()}, code()]
        )  # fmt: skip
        out, known = self.folder / path, self.records.get(path)
        if known is not None and known.key == key and known.sha256 is not None:
            if fingerprint(out) == known.sha256:
                self._say(f"{title}: there already")
                return Made(out, key)
            title += f" (again: {path} is not what was written)"
        if known is None or known.key != key or known.sha256 is not None:
            remove(out)  # what was begun from the same, and only that, is gone on with
        self._keep(path, Record(title, key))
        self._say(title)
        call = (function, out, [e.path if isinstance(e, Made) else e for e in given], options)
        try:
            told, record = work(*call) if pool is None else pool.submit(work, *call).result()
        except BrokenProcessPool:
            raise ValueError(
                f"{title}: a worker process was killed, perhaps for want of memory; what was "
                "finished stays. Run the same again, with fewer --workers."
            ) from None
        self._keep(path, replace(record, title=title, key=key))
        for line in told.splitlines():
            self.tell(f"         {line}")
        return Made(out, key)

    def _keep(self, path: str, record: Record) -> None:
        with self._changing:
            self.records[path] = record
            write_json(self.folder / MANIFEST, as_json(self.records))

    def _say(self, line: str) -> None:
        self.tell(f"[{time.monotonic() - self._began:4.0f} s] {line}")


def records_in(folder: Path) -> dict[str, Record]:
    """The records of a folder's files by path; none if missing or damaged."""
    try:
        return of_json(dict[str, Record], read_json(folder / MANIFEST), MANIFEST)
    except ValueError:
        return {}


def work(
    function: Callable[..., str], out: Path, inputs: list[Any], options: dict[str, Any]
) -> tuple[str, Record]:
    """Make one file or folder; returns the function's line and the record."""
    began, used = time.monotonic(), time.process_time()
    out.parent.mkdir(parents=True, exist_ok=True)
    told = function(out, *inputs, **options)
    took = time.monotonic() - began, time.process_time() - used
    return told, Record("", "", fingerprint(out), *took)


def key_of(given: Any) -> str:
    """Of an input: how it was made, its content, or its own fingerprint."""
    if isinstance(given, Made):
        return given.key
    if isinstance(given, (str, Path)):
        return fingerprint(Path(given)) or str(given)
    return str(given.fingerprint)


@cache
def code() -> str:
    """Fingerprint of the program."""
    here = Path(__file__).parent
    sources = (path for name in PACKAGES for path in Path(str(files(name))).rglob("*.py"))
    mine = sorted(path for path in sources if here not in path.parents)
    return hashlib.sha256(b"".join(path.read_bytes() for path in mine)).hexdigest()


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file, or of the names and contents of a folder; None if there is nothing."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if not path.is_dir():
        return None
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file() and p.name != ".lock"):
        digest.update(f"{file.relative_to(path)}\0{fingerprint(file)}\n".encode())
    return digest.hexdigest()


def remove(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def places(wanted: int = 0) -> int:
    """Workers: as many as wanted, or as cores and free memory allow."""
    if wanted:
        return wanted
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return cores
    return max(1, min(cores, int(free / MEMORY)))


LOADED = (
    "orbits.generation.generate", "orbits.simulators.scipy_ivp", "worldmodel.training",
    "worldmodel.probes.probe", "symreg.recovery.recover", "symreg.engines.operon", "dask.array",
)  # fmt: skip
"""Loaded once, before workers are forked: they take three seconds of a process."""

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore:resource_tracker",
}  # fmt: skip
"""Of workers: one thread each, no imports from the current directory, and no warnings about the
semaphores of killed ones, which are removed."""


class Worker(ForkServerProcess):
    """A process that does not execute the user's script again."""

    def start(self) -> None:
        """Start it with the script hidden: not all are guarded by `if __name__ == ...`."""
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class Workers(ForkServerContext):
    """The context of such processes."""

    Process = Worker


def workers_of(count: int) -> ProcessPoolExecutor:
    """Worker processes, which end with this one."""
    context, mine = Workers(), {name: os.environ.get(name) for name in ENVIRONMENT}
    context.set_forkserver_preload([*LOADED])
    os.environ.update(ENVIRONMENT)
    resource_tracker.ensure_running()  # here, since it changes the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # workers inherit this
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for name, value in mine.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return ProcessPoolExecutor(count, context, _prepare)


def end(workers: ProcessPoolExecutor, at_once: bool) -> None:
    """End workers; at once, or when they have finished."""
    running = workers._processes  # those that are just being started come into it
    workers.shutdown(wait=not at_once, cancel_futures=at_once)
    for process in [*running.values()] if at_once else ():
        process.kill()


def _prepare() -> None:
    """End with the parent process, which alone answers Ctrl-C."""
    parent = parent_process()
    assert parent is not None  # for the type checker: this is a worker

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
