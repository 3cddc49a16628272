"""A limit on computing time, for code that may take for ever, as computer algebra may."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.05
"""Seconds after which the alarm is given once more, where a library swallowed it."""


class TooLongError(ValueError):
    """The work took more computing time than it may."""


class _TimeIsUp(BaseException):  # no Exception: libraries catch those
    pass


@contextmanager
def limited(seconds: float, message: str) -> Iterator[None]:
    """Stop a block that takes more computing time than so many seconds.

    The time is that of this process on a processor, so that a busy machine changes nothing. Only
    the main thread has a limit, since only it is sent signals; an inner limit counts for itself,
    and the outer one waits meanwhile.

    Args:
        seconds: of computing.
        message: of the error.

    Raises:
        TooLongError: with that message.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    armed = True

    def stop(number: int, frame: FrameType | None) -> None:
        if armed:
            raise _TimeIsUp

    earlier = signal.signal(signal.SIGVTALRM, stop)
    left = signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
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
