"""One guard around every step after a search: what fails there loses a part, never the result.

    intervals = guard.part("the intervals", lambda: constant_intervals(law, samples), [])

A candidate that fails is dropped, a part of the selected formula is left unknown; both are noted,
and a formula of which a part could not be judged is called no law.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from symreg.recovery.gates import Gate, stated

S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")


class Guard:
    """Runs the steps after a search, and remembers which failed.

    Attributes:
        unjudged: why, by the parts without which a formula cannot be called a law.
        unknown: why, by the other parts.
        dropped: of candidates: how many by what was done to them, and why the first failed.
    """

    def __init__(self) -> None:
        self.unjudged: dict[str, str] = {}
        self.unknown: dict[str, str] = {}
        self.dropped: dict[str, tuple[int, str]] = {}

    def part(self, what: str, step: Callable[[], T], unknown: U, judged: bool = True) -> T | U:
        """What a step gives, or `unknown` if its numerics or its algebra fail.

        Any exception is meant: numpy, scipy and sympy raise dozens of kinds where numbers overflow,
        and a search of minutes is worth more than each. Ctrl-C and the like are no `Exception`.
        """
        try:
            return step()
        except Exception as error:
            (self.unjudged if judged else self.unknown).setdefault(what, _reason(error))
            return unknown

    def each(self, what: str, step: Callable[[S], T], candidates: Iterable[S]) -> Iterator[T]:
        """What a step gives for each candidate; one that fails is dropped."""
        for candidate in candidates:
            try:
                made = step(candidate)
            except Exception as error:
                count, first = self.dropped.get(what, (0, _reason(error)))
                self.dropped[what] = count + 1, first
                continue
            yield made

    @property
    def gates(self) -> list[Gate]:
        """A condition that fails if a part could not be judged; none otherwise."""
        told = "; ".join(f"{what}: {why}" for what, why in self.unjudged.items())
        return [stated("all parts computed", False, "yes", told)] if told else []

    @property
    def notes(self) -> list[str]:
        """What is unknown, and what was dropped, in words."""
        notes = []
        if failures := self.unjudged | self.unknown:
            listed = ", ".join(f"{what} ({why})" for what, why in failures.items())
            notes.append(f"could not be computed, and left out: {listed}")
        for what, (count, why) in self.dropped.items():
            formulas = "1 formula was" if count == 1 else f"{count} formulas were"
            notes.append(f"{formulas} dropped, since {what} failed ({why})")
        return notes


def _reason(error: Exception) -> str:
    """The kind of an error, and the first line of what it says, cut where it is long."""
    text = str(error).strip().partition("\n")[0].rstrip(".")
    most = 100
    shown = text if len(text) <= most else f"{text[:most]}..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__
