"""Starts and ends a command's process: Ctrl-C at any moment prints one line, no traceback."""

import atexit
import io
import logging
import os
import signal
import sys
from contextlib import redirect_stderr, suppress
from importlib import import_module
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code of a command ended by Ctrl-C or SIGTERM."""


def enter(program: str) -> NoReturn:
    """Run `cli.main` of a package, and end the process with its exit code.

    During imports nothing has begun, and an interruption ends the process at once. During the exit
    it changes nothing.
    """
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed, as by 2>&-: what is said goes nowhere
            setattr(sys, stream, open(os.devnull, "w"))  # noqa: SIM115 - as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):  # one of ASCII alone shows \xb7 for a dot
        sys.stdout.reconfigure(errors="backslashreplace")

    os.environ["MPLBACKEND"] = "agg"  # commands draw into files; a user's backend may not be here
    # where no home can be written to, it says so in three lines, and draws all the same
    logging.getLogger("matplotlib").addHandler(logging.NullHandler())
    process, leave = os.getpid(), os._exit

    def quit_at_once(number: int, frame: FrameType | None) -> None:
        os.write(2, f"{program}: interrupted before anything was begun.\n".encode())
        leave(INTERRUPTED)

    answered = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    for number in answered:
        signal.signal(number, quit_at_once)
    code = None

    def leave_aloud(status: int) -> NoReturn:
        """In place of `os._exit`, by which a model's code could end all in silence, as a success.
        A forked process has no other way to end; once the command has, its own exit code stays."""
        if os.getpid() == process and code is None:
            sys.exit(status)
        leave(status if code is None else code)

    os._exit = leave_aloud
    code = import_module(f"{program}.cli").main()
    for number in answered:
        signal.signal(number, signal.SIG_IGN)
    if code == INTERRUPTED:  # C++ that was interrupted aborts, or tells of leaks, when taken down
        with open(os.devnull, "w") as silence, redirect_stderr(silence):  # all was said
            atexit._run_exitfuncs()
        with suppress(OSError):
            sys.stdout.flush()
        leave(code)
    sys.exit(code)
