"""A process that a command has started ends with it, even if the command was killed."""

import ctypes
import os
import signal
import sys
import threading
import time

VARIABLE = "PRINCIPIA_PARENT"
POLL = 0.5
"""Seconds between two looks at the parent."""
PATIENCE = 30.0
"""Seconds to keep what is finished, once the parent is gone."""


def as_parent() -> dict[str, str]:
    """Environment of a process that shall end when this one does."""
    return {VARIABLE: str(os.getpid())}


def end_with_parent() -> None:
    """Answer the end of the process that started this one like SIGTERM.

    Nothing happens in a process that was not started with `as_parent`. Those that this one starts
    are its own to end.
    """
    parent = os.environ.pop(VARIABLE, None)
    if parent is not None:
        threading.Thread(target=_watch, args=(int(parent),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)


DEATH_SIGNAL = 1
"""Number of PR_SET_PDEATHSIG, Linux, prctl(2)."""


def die_with_parent() -> None:
    """Be killed at once when the process that started this one is gone, whatever this one does.

    For a process that spends its time in a foreign library, where no thread of Python's runs. Linux
    alone has that signal; elsewhere it is as with `end_with_parent`. Nothing happens in a process
    that was not started with `as_parent`.
    """
    parent = os.environ.get(VARIABLE)
    if parent is not None and sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != int(parent):  # it was gone before
            os._exit(1)
    end_with_parent()
