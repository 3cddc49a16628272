"""How a command's process begins and ends: Ctrl-C at any moment is one line, no traceback."""

import os
import signal
import sys
from importlib import import_module
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C or SIGTERM ended."""


def enter(program: str) -> NoReturn:
    """Run the command of a package, and end the process with its exit code.

    While modules are imported nothing has begun, and an interruption ends the process at once.
    While it exits, one changes nothing any more.

    Args:
        program: name of the package, whose `cli.main` runs the command.
    """

    def quit_at_once(number: int, frame: FrameType | None) -> None:
        os.write(2, f"{program}: interrupted before anything was begun.\n".encode())
        os._exit(INTERRUPTED)

    answered = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    for number in answered:
        signal.signal(number, quit_at_once)
    code = import_module(f"{program}.cli").main()
    for number in answered:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)
