"""What is left over of a motion: in words, as numbers, and as conditions."""

from collections.abc import Iterator, Sequence
from typing import Any

from orbits.printing import share
from orbits.units import GivenUnits
from symreg.recovery.gates import Gate, stated
from symreg.recovery.leftovers import Leftovers, Part


def leftover_gates(left: Leftovers) -> Iterator[Gate]:
    """Nothing is left over beside a law and forces that have a name, and no other central force,
    beside other parts, explains the motion."""
    told = "noise alone"
    if left.unnamed:
        told = f"{share(left.unnamed, 2)} of the acceleration"
    elif not left.complete:
        told = "; ".join(part.kind.words for part in left.parts if not part.kind.joins)
    yield stated("nothing left over", left.complete, "noise alone", told)
    if left.rivals:
        told = "; ".join(f"one beside {words}" for words in left.rivals)
        yield stated("no other force as good", False, "none", told)


def leftover_notes(left: Leftovers, units: GivenUnits, axes: Sequence[str]) -> tuple[str, ...]:
    """Every part, and what no part explains."""
    lines = [_of_part(part, units, axes) for part in left.parts]
    start = "beside the central force there is" if left.central else "the motion shows"
    notes = [f"{start} {'; and '.join(lines)}"] if lines else []
    if left.unnamed and left.measured:
        beside = "and those forces leave" if lines else "leaves"
        what = "nothing else" if lines else "nothing"
        notes.append(
            f"a force along the line to the centre {beside} {share(left.unnamed, 2)} of the "
            f"acceleration (rms, beyond its errors), and {what} that was tried explains all of it"
        )
    return tuple(notes)


def _of_part(part: Part, units: GivenUnits, axes: Sequence[str]) -> str:
    size = f"{share(part.share, 2)} of the acceleration, {part.sure:.3g} standard errors"
    also = " or ".join(other.form for other in part.also)
    also = f"; {also} would explain as much" if also else ""
    return f"{part.kind.sentence(part.components, units, axes)} ({size}{also})"


def leftover_metrics(left: Leftovers, units: GivenUnits, axes: Sequence[str]) -> dict[str, Any]:
    """The same as numbers."""
    parts = [
        row | {"share": part.share, "standard_errors": part.sure}
        for part in left.parts
        for row in part.kind.rows(part.components, units, axes)
    ]
    return {"left_over": parts, "left_unnamed": left.unnamed}
