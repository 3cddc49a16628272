"""A limit on computing time, for code that may never end, such as computer algebra."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class TooLongError(ValueError):
    """The work exceeded its computing time."""


class _TimeIsUp(BaseException):  # no Exception: libraries catch those
    pass


def limited(seconds: float, message: str, call: Callable[[], T]) -> T:
    """What a call returns; it is stopped after so many seconds of computing.

    The time is this process's own processor time, so a busy machine changes nothing. Only the main
    thread has a limit, since only it receives signals; while an inner limit runs, the outer one
    pauses.

    Raises:
        TooLongError: with the message, if the call was stopped.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    earlier = signal.signal(signal.SIGVTALRM, _stop)
    left = signal.setitimer(
        signal.ITIMER_VIRTUAL, seconds, 0.05
    )  # again, in case a library swallowed it
    try:
        return _called(call)
    except _TimeIsUp:
        raise TooLongError(message) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)
        signal.setitimer(signal.ITIMER_VIRTUAL, *left)


def _called(call: Callable[[], T]) -> T:
    return call()


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise within `_called`, whose caller catches it; in any line of `limited`, and outside,
    nothing: there it would escape."""
    while frame is not None and frame.f_code is not limited.__code__:
        if frame.f_code is _called.__code__:
            raise _TimeIsUp
        frame = frame.f_back
