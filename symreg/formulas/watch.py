"""The clock of long work: when it must end, and reports of its progress."""

import math
import time
from collections.abc import Callable

from orbits.progress import Progress

EVERY = 2.0
"""Seconds between two lines of progress."""


class Watch:
    """A limit on seconds of computing, checked between steps of work.

    Work that finds its time over ends with what it has; `ended` says so afterwards.
    (`orbits.time_limit.limited` stops work that cannot check.) Both count processor time of this
    process, so a busy machine changes nothing. Progress is told once in `EVERY` seconds at most.
    """

    def __init__(
        self,
        seconds: float = math.inf,
        tell: Progress | None = None,
        whole: "Watch | None" = None,
    ) -> None:
        self.seconds = seconds
        self.ended = False
        self._tell = tell
        self._whole = whole
        self._began = time.process_time()
        self._told = time.monotonic()

    @property
    def taken(self) -> float:
        """Seconds of computing since the start."""
        return time.process_time() - self._began

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self.seconds - self.taken)

    @property
    def over(self) -> bool:
        """Whether the time is over, for work that then ends early."""
        if self.left > 0:
            return False
        self.end()
        return True

    def end(self) -> None:
        """Note that work was cut short."""
        self.ended = True
        if self._whole is not None:
            self._whole.end()

    def spend(self, seconds: float) -> None:
        """Count the time of work in another process."""
        self._began -= seconds
        if self._whole is not None:
            self._whole.spend(seconds)

    def part(self, share: float) -> "Watch":
        """The clock of a part with a share of the time left."""
        return self.within(share * self.left)

    def within(self, seconds: float) -> "Watch":
        """The clock of a part with so many seconds."""
        return Watch(seconds, self._tell, self)

    def say(self, text: Callable[[], str], at_once: bool = False) -> None:
        """Report progress; the text is made only if reported."""
        now = time.monotonic()
        if self._tell is not None and (at_once or now - self._told >= EVERY):
            self._told = now
            self._tell(text())
