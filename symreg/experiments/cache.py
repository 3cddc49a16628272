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
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from orbits.files import fingerprint, held, read_typed, remove, sha256_of_json, write_json
from orbits.workers import lost_worker, worker_pool

MANIFEST = "manifest.json"

PACKAGES = ("orbits", "worldmodel", "symreg")
"""Packages whose code decides what is made, except this folder, which only calls them."""

MEMORY = 1.2e9
"""Bytes of the largest worker: Python, torch and a model of a few layers."""

LOADED = (
    "orbits.generation.generate", "orbits.simulators.scipy_ivp", "worldmodel.training",
    "worldmodel.probes.probe", "symreg.recovery.recover", "symreg.engines.portfolio", "dask.array",
)  # fmt: skip
"""Loaded once, before workers are forked: they take three seconds of a process."""


@dataclass(frozen=True)
class Record:
    """A file or folder, made by the step of this title.

    The key is the fingerprint of function, options, inputs and program; the SHA-256 that of the
    content, None while it is being made; seconds are of wall clock and of computing.
    """

    title: str
    key: str
    sha256: str | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0


@dataclass(frozen=True)
class Made:
    """A finished file or folder, as given to a later function.

    The fingerprint is of what it was made from; of its content, if it was made elsewhere.
    """

    path: Path
    fingerprint: str


def given(path: str | os.PathLike[str]) -> Made:
    """What was made elsewhere, as an input: it is read once, here."""
    return Made(Path(path), fingerprint(Path(path)) or str(path))


class Cache:
    """The files of one folder, held by one process at a time.

    Args:
        folder: made if it does not exist.
        workers: processes that make files side by side; 1 makes all in this one.
        tell: called with a line on each start and result, and on what is at work after a silence.
        silence: seconds.

    Raises:
        ValueError: if another process holds the folder.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        workers: int = 1,
        tell: Callable[[str], object] = print,
        silence: float = 60.0,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.tell = tell
        self.records: dict[str, Record] = {}
        self._workers = workers
        self._began = self._told = time.monotonic()
        self._changing = threading.Lock()
        self._silence = silence
        self._making: list[str] = []
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        busy = f"{self.folder} is in use by another process; wait for it or choose another --out."
        with ExitStack() as stack:
            stack.enter_context(held(self.folder, busy))
            self.records = records_in(self.folder)
            self._waiting = ThreadPoolExecutor(256)
            stack.callback(self._waiting.shutdown, cancel_futures=True)
            several = self._workers > 1
            self._pool = (
                stack.enter_context(worker_pool(self._workers, LOADED)) if several else None
            )
            threading.Thread(target=self._speak_up, daemon=True).start()
            stack.callback(self._ended.set)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

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
            inputs: results of earlier calls or of `given`, passed as paths; or objects with a
                `fingerprint`.
            here: whether it must run in this process.
            options: dataclasses, or what JSON can hold.

        Returns:
            What is made, once it is.
        """
        if self._pool is None or here:
            done: Future[Made] = Future()
            done.set_result(self._made(path, title, function, inputs, options, None))
            return done
        return self._waiting.submit(self._made, path, title, function, inputs, options, self._pool)

    def _made(
        self, path: str, title: str, function: Callable[..., str], inputs: tuple[Any, ...],
        options: dict[str, Any], pool: Executor | None,
    ) -> Made:  # fmt: skip
        done = [each.result() if isinstance(each, Future) else each for each in inputs]
        sources = [str(each.fingerprint) for each in done]
        key = sha256_of_json([function.__qualname__, sources, options, code()])
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
        self._making.append(title)
        call = (function, out, [e.path if isinstance(e, Made) else e for e in done], options)
        try:
            files, record = _called(pool, title, work, *call)
        finally:
            self._making.remove(title)
        self._keep(path, replace(record, title=title, key=key))
        for line in files.splitlines():
            self.tell(f"         {line}")
        return Made(out, key)

    def _keep(self, path: str, record: Record) -> None:
        with self._changing:
            self.records[path] = record
            write_json(self.folder / MANIFEST, self.records)

    def _speak_up(self) -> None:
        """Say what is being made whenever nothing was said for a minute."""
        while not self._ended.wait(max(0.0, self._told + self._silence - time.monotonic())):
            if self._making and time.monotonic() >= self._told + self._silence:
                self._say(f"still at work: {'; '.join(self._making)}")
            elif not self._making:
                self._told = time.monotonic()

    def _say(self, line: str) -> None:
        self._told = time.monotonic()
        self.tell(f"[{time.monotonic() - self._began:4.0f} s] {line}")


def _called(
    pool: Executor | None, title: str, function: Callable[..., Any], *arguments: Any
) -> Any:
    """The result of a function, called here or by a worker."""
    try:
        return function(*arguments) if pool is None else pool.submit(function, *arguments).result()
    except BrokenProcessPool:
        raise lost_worker(title) from None


def records_in(folder: Path) -> dict[str, Record]:
    """The records of a folder's files by path; none if missing or damaged."""
    try:
        return read_typed(dict[str, Record], folder / MANIFEST)
    except ValueError:
        return {}


def work(
    function: Callable[..., str], out: Path, inputs: list[Any], options: dict[str, Any]
) -> tuple[str, Record]:
    """Make one file or folder; returns the function's line and the record."""
    began, used = time.monotonic(), time.process_time()
    out.parent.mkdir(parents=True, exist_ok=True)
    answer = function(out, *inputs, **options)
    took = time.monotonic() - began, time.process_time() - used
    return answer, Record("", "", fingerprint(out), *took)


@cache
def code() -> str:
    """Fingerprint of the program."""
    here = Path(__file__).parent
    roots = [Path(str(files(name))) for name in PACKAGES]
    sources = (path for root in roots for kind in ("py", "csv") for path in root.rglob(f"*.{kind}"))
    mine = sorted(path for path in sources if here not in path.parents)
    return hashlib.sha256(b"".join(path.read_bytes() for path in mine)).hexdigest()
