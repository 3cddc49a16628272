"""A process that has loaded the libraries, and forks one for each stage.

torch, scipy, sympy and xarray take 2.5 s of a process, and most stages then work for two. Here they
are loaded once for a whole run:

    python -m symreg.runs.fork_server

Each line on its stdin is an order in JSON: to begin a process, or to send one a signal. Each line
on its stdout says how one has ended. It ends with its stdin, and its processes end with it.
"""

import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from orbits.command.parent import as_parent
from orbits.records.typed import as_json, of_json
from symreg.runs.processes import environment

LOADED = (
    "orbits.dataset",
    "orbits.generation",
    "orbits.engines.scipy_ivp",
    "worldmodel.training",
    "worldmodel.probes.probe",
    "symreg.recovery.recover",
    "symreg.engines.operon",
    "dask.array",
)
"""What stages import, in the order in which a run needs it. Orders are looked for in between."""

POLL = 0.02
"""Seconds between two looks at the processes."""


@dataclass(frozen=True)
class Order:
    """To begin a process, or to send it a signal.

    Attributes:
        number: of the process.
        signal: what to send it; None begins it.
        command: name of a package or module, then its arguments.
        folder: in which it runs.
        log: a file that exists; what it prints is added to it.
        environment: its own.
    """

    number: int
    signal: int | None = None
    command: tuple[str, ...] = ()
    folder: str = ""
    log: str = ""
    environment: dict[str, str] = field(default_factory=dict)


class Forked:
    """A process that a fork server has begun; it answers like a `subprocess.Popen`.

    Attributes:
        returncode: None until it has ended; the number of a signal is negative.
        processor_seconds: that it took, with those which it waited for; None until it has ended.
    """

    def __init__(self, server: "ForkServer", number: int) -> None:
        self.returncode: int | None = None
        self.processor_seconds: float | None = None
        self._server = server
        self._number = number

    def poll(self) -> int | None:
        """How it has ended; None if it runs."""
        self._server.listen()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """How it has ended, once it has.

        Raises:
            subprocess.TimeoutExpired: if it has not, after so many seconds.
        """
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while self.returncode is None:
            self._server.listen(POLL)
            if self.returncode is None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("stage", timeout or 0.0)
        return self.returncode

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self.returncode is None:
            self._server.send(Order(self._number, number))


class ForkServer:
    """The server, and the processes that it has begun. It starts with the first of them."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._begun: list[Forked] = []
        self._unread = b""

    def begin(self, command: Sequence[str], folder: Path, log: Path, threads: int) -> Forked:
        """Run `python -m COMMAND`.

        Args:
            command: as in `Order`; so are `folder` and `log`.
            folder: in which it runs.
            log: to which it prints.
            threads: for numerical libraries.
        """
        number, where = len(self._begun), (str(folder.absolute()), str(log.absolute()))
        self._begun.append(Forked(self, number))
        self.send(Order(number, None, tuple(command), *where, environment(threads)))
        return self._begun[number]

    def send(self, order: Order) -> None:
        """Send an order, to a new server if there is none."""
        if self._server is None:
            # Ctrl-C waits until the server is ready to ignore it
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            try:
                self._server = subprocess.Popen(
                    [sys.executable, "-P", "-m", "symreg.runs.fork_server"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # pyarrow's allocator would start a thread; forks are safe in one thread alone
                    env={**environment(1), "JE_ARROW_MALLOC_CONF": "background_thread:false"},
                )
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(json.dumps(as_json(order)).encode() + b"\n")
            self._server.stdin.flush()
        except BrokenPipeError:
            self._lost()

    def listen(self, seconds: float = 0.0) -> None:
        """Hear how processes have ended; wait so long for the first word."""
        if self._server is None:
            time.sleep(seconds)
            return
        assert self._server.stdout is not None
        said = self._server.stdout.fileno()
        while select.select([said], [], [], seconds)[0]:
            seconds = 0.0
            read = os.read(said, 65536)
            if not read:
                return self._lost()
            *lines, self._unread = (self._unread + read).split(b"\n")
            for line in lines:
                number, code, used = json.loads(line)
                self._begun[number].returncode = code
                self._begun[number].processor_seconds = used

    def _lost(self) -> None:
        """The server is gone, and its processes end with it."""
        for process in self._begun:
            if process.returncode is None:
                process.returncode = -signal.SIGKILL
        self.close()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
            self._server, self._unread = None, b""


def serve() -> Order | None:
    """Carry out orders until there are no more.

    Returns:
        In a process that was forked, its order; None in the server, at the end.
    """
    orders, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what a library prints while it is loaded is no answer
    # Ctrl-C reaches every process of a terminal; the server is needed until they have ended
    interruption = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    running: dict[int, int] = {}

    def tell(number: int, code: int, seconds: float) -> None:
        os.write(answers, json.dumps([number, code, seconds]).encode() + b"\n")

    # a fork of more than the interpreter is safe on Linux alone
    unloaded = [*LOADED] if sys.platform == "linux" else []
    for order in _orders(orders, running, tell, unloaded):
        if order.signal is not None:
            for process, number in running.items():
                if number == order.number:
                    os.kill(process, order.signal)
            continue
        order = replace(order, environment={**order.environment, **as_parent()})
        gc.freeze()  # the process shares these objects, and need not look at them when it ends
        try:
            process = os.fork()
        except OSError as error:
            print(f"symreg run: no process can be started ({error}).", file=sys.stderr)
            tell(order.number, 1, 0.0)
            continue
        if not process:
            signal.signal(signal.SIGINT, interruption)
            os.close(orders)
            os.close(answers)
            return order
        running[process] = order.number
    return None


def _orders(
    source: int,
    running: dict[int, int],
    tell: Callable[[int, int, float], None],
    unloaded: list[str],
) -> Iterator[Order]:
    """Orders as they come; in between, libraries are loaded and ended processes told of."""
    unread = b""
    while True:
        while running and (ended := os.wait4(-1, os.WNOHANG))[0]:
            process, status, used = ended
            code = os.waitstatus_to_exitcode(status)
            tell(running.pop(process), code, used.ru_utime + used.ru_stime)
        if not select.select([source], [], [], 0 if unloaded else POLL)[0]:
            if unloaded:
                with suppress(Exception):  # the stage that needs it will say what is wrong
                    import_module(unloaded.pop(0))
            continue
        read = os.read(source, 65536)
        if not read:
            return
        *lines, unread = (unread + read).split(b"\n")
        for line in lines:
            yield of_json(Order, json.loads(line), "an order")


def run_command(order: Order) -> None:
    """Become the process of an order: its folder, its log, its module."""
    log = os.open(order.log, os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.chdir(order.folder)
    os.environ.update(order.environment)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    program, *arguments = order.command
    sys.argv = [program, *arguments]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    given = serve()
    if given is not None:
        run_command(given)
