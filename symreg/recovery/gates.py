"""Gates: conditions that carry numbers, put into words here for display."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from orbits.printing import html_table

Kind = Literal["number", "share", "times", "chance", "count"]
OUTCOME = {True: "passed", False: "failed", None: "undecided"}


@dataclass(frozen=True)
class Gate:
    """One condition: what is required, what was found, and whether that is enough.

    Attributes:
        name: of the quantity.
        passed: None if nothing was measured, which never counts as passed.
        value: the number found.
        least: the smallest that passes.
        most: the largest that passes.
        centre: of the interval from `least` to `most`, if a number must lie near it.
        kind: a plain number, a share (of `what`), a multiple of something, the chance p, or a count
            out of `of`.
        what: what a number refers to; or the requirement in words, if not a number.
        told: what was found in words, if not a number.
        of: total of the count.
    """

    name: str
    passed: bool | None
    value: float | None = None
    least: float | None = None
    most: float | None = None
    centre: float | None = None
    kind: Kind = "number"
    what: str = ""
    told: str = ""
    of: int | None = None

    @property
    def required(self) -> str:
        """The demand, in words."""
        if self.least is None and self.most is None:
            return self.what
        if self.centre is not None and self.most is not None:
            margin = self.most - self.centre
            if self.kind == "share":
                return f"within {abs(margin / self.centre):.0%} of {self.centre:.5g}"
            return f"within {margin:.2g} of {self.centre:.3f}"
        end = self.least if self.least is not None else self.most
        assert end is not None
        text = f"{end:.0%}" if self.kind in ("share", "count") else f"{end:g}"
        side = "at least" if self.least is not None else "at most"
        if self.kind == "chance":
            return f"p {side} {text}"
        if self.kind == "times":
            return f"{side} {text} times {self.what}"
        if self.kind == "count":
            return f"{side} {text} agree"
        return f"{self.what} {side} {text}".strip()

    @property
    def found(self) -> str:
        """The finding in words."""
        if self.told or self.value is None:
            return self.told or "none"
        if self.kind == "count":
            return f"{self.value:g} of {self.of}"
        if self.centre is not None:
            return f"{self.value:.5g}" if self.kind == "share" else f"{self.value:.3f}"
        if self.kind == "share":
            return f"{self.value:.1%}"
        return f"{self.value:.{2 if self.kind == 'chance' else 4}g}"

    @property
    def numbers(self) -> str:
        """`found 0.93, required at least 0.95`."""
        return f"found {self.found}, required {self.required}"

    def __repr__(self) -> str:
        return f"Gate({self.name}: {self.numbers}; {OUTCOME[self.passed]})"

    def _repr_html_(self) -> str:
        rows = {"gate": self.name, "required": self.required, "found": self.found}
        return html_table((rows | {"outcome": OUTCOME[self.passed]}).items())

    @property
    def room_used(self) -> float | None:
        """Share of the margin used: 0 at the best value, 1 at the limit; None if undefined."""
        if self.value is None or self.kind in ("count", "chance"):
            return None
        if self.centre is not None and self.most is not None:
            return abs(self.value - self.centre) / abs(self.most - self.centre)
        if self.kind == "share" and self.least is not None:
            return self.least / self.value if self.value else None
        if self.least is not None:
            return (1 - self.value) / (1 - self.least) if self.least < 1 else None
        return self.value / self.most if self.most else None


def at_least(name: str, value: float | None, least: float) -> Gate:
    """A gate with a minimum; an unmeasured value does not pass."""
    return Gate(name, value is not None and value >= least, finite(value), least)


def measured(gate: Gate) -> Gate:
    """The same, undecided if nothing was measured."""
    return gate if gate.value is not None else replace(gate, passed=None)


def at_most(name: str, value: float | None, most: float, strictly: bool = False) -> Gate:
    """A gate with a maximum; undecided if unmeasured."""
    passed = None if value is None else value < most if strictly else value <= most
    return Gate(name, passed, finite(value), most=most)


def share(name: str, value: float | None, line: float, what: str, above: bool = False) -> Gate:
    """A gate with a largest share of something unwanted, or a least share."""
    value = finite(value)
    good = value is not None and (value >= line if above else value <= line)
    least, most = (line, None) if above else (None, line)
    return Gate(name, good, value, least, most, kind="share", what=what)


def within(
    name: str, value: float | None, centre: float, margin: float, relative: bool = False
) -> Gate:
    """A gate for a number near another; an unmeasured one does not pass."""
    room = abs(margin * centre) if relative else margin
    kind: Kind = "share" if relative else "number"
    near = value is not None and abs(value - centre) <= room
    return Gate(name, near, value, centre - room, centre + room, centre, kind)


def times(name: str, value: float | None, most: float, what: str) -> Gate:
    """A gate for at most so many times something; undecided if unmeasured."""
    return replace(at_most(name, value, most), kind="times", what=what)


def agreeing(name: str, value: int, of: int, least: float) -> Gate:
    """A gate for a least share of a count."""
    return Gate(name, value >= least * of, value, least, kind="count", of=of)


def stated(name: str, passed: bool | None, asked: str, told: str) -> Gate:
    """A gate in words."""
    return Gate(name, passed, what=asked, told=told)


def passed(gates: Iterable[Gate]) -> bool:
    """Whether all passed."""
    return all(gate.passed for gate in gates)


def failures(gates: Iterable[Gate]) -> str:
    """Those that did not pass, with what they found and what they required."""
    return "; ".join(f"{gate.name} ({gate.numbers})" for gate in gates if not gate.passed)


def turning(gates: Iterable[Gate], recovered: bool | None) -> str:
    """What would have changed a verdict: the gates that failed, or the one closest to failing."""
    gates = list(gates)
    if recovered is None or not gates:
        return ""
    failed = [gate for gate in gates if gate.passed is False]
    unmeasured = [gate.name for gate in gates if gate.passed is None]
    if failed:
        every = "this condition" if len(failed) == 1 else f"these {len(failed)} conditions"
        return f"It would count as recovered if {every} held: {failures(failed)}."
    if unmeasured:
        return f"These conditions would have to be measured, and hold: {', '.join(unmeasured)}."
    used = [(gate.room_used, gate) for gate in gates if gate.room_used is not None]
    sentence = "It fails if any one condition does."
    if used:
        room, nearest = max(used, key=lambda pair: pair[0])
        sentence += (
            f" The closest to its limit is {nearest.name}: {nearest.numbers} ({room:.0%} of the "
            "margin used)."
        )
    return sentence


def finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
