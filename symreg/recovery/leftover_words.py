"""What is left over, in words, as numbers, as a condition, and taken away from force samples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orbits.derivatives import runge_kutta
from orbits.derivatives.stepping import Stepping, stepping
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.printing import share
from orbits.units import GivenUnits
from symreg.recovery.gates import Gate, stated
from symreg.recovery.leftovers import Leftovers, Part
from symreg.recovery.weak_path import path_of


def leftover_gate(left: Leftovers) -> Gate:
    """Nothing is left over beside a law and forces that have a name."""
    told = "noise alone"
    if left.unnamed:
        told = f"{share(left.unnamed, 2)} of the acceleration"
    elif not left.complete:
        told = "; ".join(part.kind.words for part in left.parts if not part.kind.joins)
    return stated("nothing left over", left.complete, "noise alone", told)


def rival_gates(left: Leftovers) -> tuple[Gate, ...]:
    """A condition that fails if another central force, beside other parts, explains the motion."""
    told = "; ".join(f"one beside {words}" for words in left.rivals)
    return (stated("no other force as good", False, "none", told),) if told else ()


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


def without(samples: ForceSamples, left: Leftovers) -> ForceSamples:
    """Force samples about the centre of the force, at their first strength, less what joins it."""
    table, axes = samples.table, axes_of(samples.table)
    position = vectors(table) - left.centre
    rest = (vectors(table, "a_") - left.acceleration) / left.growth[:, None]
    columns = {f"a_{axis}": rest[:, k] for k, axis in enumerate(axes)}
    columns |= {axis: position[:, k] for k, axis in enumerate(axes)}
    r, size = (np.linalg.norm(values, axis=1) for values in (position, rest))
    return replace(samples, table=table.assign(**columns, r=r, a_norm=size))


def stepped(samples: ForceSamples) -> tuple[Stepping, ForceSamples] | None:
    """The fingerprint of an integrator in one long enough stretch, and its own forces; or None."""
    path = path_of(samples)
    if path is None or not path.stretches or path.moved is not path.position:
        return None
    acceleration = vectors(samples.table, "a_")
    found = [stepping(path.position[rows], acceleration[rows], path.dt) for rows in path.stretches]
    first = found[0]
    if first is None or any(each is None or each.method != first.method for each in found):
        return None
    if not first.method:
        return first, samples
    force = np.full(acceleration.shape, np.nan)
    for rows, each in zip(path.stretches, found, strict=True):
        assert each is not None  # for the type checker: none of them is
        force[rows] = each.force
    columns = {f"a_{axis}": force[:, k] for k, axis in enumerate(axes_of(samples.table))}
    table = samples.table.assign(**columns, a_norm=np.linalg.norm(force, axis=1))
    whole = np.isfinite(force).all(axis=1)
    return first, replace(samples, table=table[whole].reset_index(drop=True))


def stepping_note(steps: Stepping) -> str:
    """Of which state the second difference is the force, and the energy's drift."""
    energy = (
        f"the energy changes by {steps.energy:+.2%} of the kinetic energy from beginning to end"
    )
    if not steps.method:
        side = "k - 1" if steps.share < 0 else "k + 1"
        return (
            f"these positions look stepped by an integrator of first order: their second "
            f"difference at k is {abs(steps.share):.3g} of the force at {side} and the rest of "
            f"that at k; {energy}"
        )
    if steps.method in runge_kutta.METHODS:
        return (
            f"these positions look stepped by {steps.method}: its steps lead from each to the "
            f"next, and the motion itself does not; {energy}. The law is that of the force stepped"
        )
    place = {-1.0: "k - 1", 0.0: "k", 1.0: "k + 1"}[steps.share]
    return (
        f"these positions look stepped by {steps.method}: their second difference at k is the "
        f"force at {place}; {energy}. The law is that of this force"
    )


def stepping_gate(steps: Stepping) -> Gate:
    """The positions are a motion, not steps that leave it at first order."""
    told = f"stepped by {steps.method or 'an integrator of first order'}"
    return stated("steps that follow the motion", steps.share == 0, "yes", told)
