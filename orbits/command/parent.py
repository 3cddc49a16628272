"""A process that a command has started ends with it, even if the command was killed."""

import os
import signal
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
