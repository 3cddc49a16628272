"""A limit on computing time, for code that may never end, such as computer algebra."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(ValueError):
    """The work exceeded its computing time."""


class _TimeIsUp(BaseException):  # no Exception: libraries catch those
    pass


@contextmanager
def limited(seconds: float, message: str) -> Iterator[None]:
    """Stop a block that takes more than so many seconds of computing: a TooLongError.

    The time is this process's own processor time, so a busy machine changes nothing. Only the main
    thread has a limit, since only it receives signals; while an inner limit runs, the outer one
    pauses.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def stop(number: int, frame: FrameType | None) -> None:
        if armed:
            raise _TimeIsUp

    earlier = signal.signal(signal.SIGVTALRM, stop)
    left = signal.setitimer(
        signal.ITIMER_VIRTUAL, seconds, 0.05
    )  # again, in case a library swallowed it
    try:
        yield
        armed = False
    except _TimeIsUp:
        armed = False
        raise TooLongError(message) from None
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)
        signal.setitimer(signal.ITIMER_VIRTUAL, *left)
