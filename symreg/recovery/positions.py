"""What positions show of how they were made: on a line, rounded, or by an integrator's steps."""

from dataclasses import replace

import numpy as np

from orbits.derivatives import runge_kutta
from orbits.derivatives.stepping import Stepping, stepping
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.units import GivenUnits
from symreg.recovery.gates import Gate, stated
from symreg.recovery.weak_path import path_of

MOST = 0.1
"""Of the pull in one step: rounding beyond it leaves few values to a second difference."""
READABLE = 0.01
"""Of an acceleration: the error that is asked of positions that would do."""
BITS, DECIMALS = range(4, 25), range(0, 7)
"""Of a mantissa, and behind the point, to which positions may be rounded."""

Shown = tuple[ForceSamples, str, Gate]
"""Forces as far as they can be read, a note, and a condition."""


def grain(values: np.ndarray) -> float:
    """The step of a grid on which all values lie; 0 if there is none.

    That of the largest of them where they are rounded to so many bits, as in half precision.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest:
        return 0.0
    mantissa, exponent = np.frexp(values)
    for bits in BITS:
        if np.allclose(mantissa * 2.0**bits, np.round(mantissa * 2.0**bits), rtol=1e-15, atol=0):
            return float(np.median(np.ldexp(1.0, exponent - bits)))
    for decimals in DECIMALS:
        if np.allclose(values, np.round(values, decimals), rtol=0, atol=1e-12 * largest):
            return 10.0**-decimals
    return 0.0


def straight(samples: ForceSamples) -> Shown | None:
    """A note and a condition if every orbit is a straight line at one speed to its noise; else
    None."""
    table, noise = samples.table, samples.metrics.get("noise")
    if samples.attributes.get("readout") != "measured" or noise is None:
        return None
    for _, rows in table.groupby([name for name in ("orbit", "body") if name in table]):
        time, position = rows["time"].to_numpy(), vectors(rows)
        design = np.column_stack([np.ones(len(time)), time - time.mean()])
        left = position - design @ np.linalg.lstsq(design, position, rcond=None)[0]
        # the noise of the other body, too, and room for how well it is known
        if np.sqrt(np.mean(left**2)) > 3 * noise:
            return None
    note = "the motion is a straight line at one speed, to its errors: it shows no force"
    return (
        samples,
        note,
        stated("a force to explain", False, "an acceleration beyond its errors", "none"),
    )


def unreadable(samples: ForceSamples, units: GivenUnits) -> Shown | None:
    """A note and a condition if rounding is beside the pull of one step; else None."""
    dt, metrics = samples.attributes.get("dt"), samples.metrics
    if samples.attributes.get("readout") != "measured" or not dt or "noise" not in metrics:
        return None
    table, length = samples.table, units.factor(1, 0)
    columns = [f"{axis}1" for axis in axes_of(table)]
    seen = table[columns].to_numpy() if set(columns) <= set(table) else vectors(table)
    step = grain(seen * length)
    pull = float(np.median(table["a_norm"])) * dt**2 * length
    error = float(metrics["median_relative_error"])
    if not step or step <= MOST * pull or error <= READABLE:
        return None
    finer = step * READABLE / error
    note = (
        f"positions are rounded to {step:.2g} {units.length}, and the pull moves a body by "
        f"{pull:.2g} {units.length} in a step: a force cannot be read at this step. "
        f"Positions rounded to {finer:.1g} {units.length} would do, for accelerations to "
        f"{READABLE:.0%}"
    )
    told = f"rounding of {step / pull:.0%} of the pull in a step"
    asked = f"rounding of at most {MOST:.0%} of it"
    return samples, note, stated("readable at this step", False, asked, told)


def stepped(samples: ForceSamples) -> Shown | None:
    """An integrator's own forces, a note and a condition, if every stretch has its fingerprint."""
    path = path_of(samples)
    if path is None or not path.stretches or path.moved is not path.position:
        return None
    acceleration = vectors(samples.table, "a_")
    found = [stepping(path.position[rows], acceleration[rows], path.dt) for rows in path.stretches]
    first = found[0]
    if first is None or any(each is None or each.method != first.method for each in found):
        return None
    told = f"stepped by {first.method or 'an integrator of first order'}"
    gate = stated("steps that follow the motion", first.share == 0, "yes", told)
    if not first.method:
        return samples, _of_steps(first), gate
    force = np.full(acceleration.shape, np.nan)
    for rows, each in zip(path.stretches, found, strict=True):
        assert each is not None  # for the type checker: none of them is
        force[rows] = each.force
    columns = {f"a_{axis}": force[:, k] for k, axis in enumerate(axes_of(samples.table))}
    table = samples.table.assign(**columns, a_norm=np.linalg.norm(force, axis=1))
    whole = np.isfinite(force).all(axis=1)
    return replace(samples, table=table[whole].reset_index(drop=True)), _of_steps(first), gate


def _of_steps(steps: Stepping) -> str:
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
