"""Positions that are rounded too coarsely for the step between them: no force can be read."""

import numpy as np

from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.units import GivenUnits
from symreg.recovery.gates import Gate, stated

MOST = 0.1
"""Of the pull in one step: rounding beyond it leaves few values to a second difference."""
READABLE = 0.01
"""Of an acceleration: the error that is asked of positions that would do."""
BITS, DECIMALS = range(4, 25), range(0, 7)
"""Of a mantissa, and behind the point, to which positions may be rounded."""


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


def straight(samples: ForceSamples) -> tuple[str, Gate] | None:
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
    return note, stated("a force to explain", False, "an acceleration beyond its errors", "none")


def unreadable(samples: ForceSamples, units: GivenUnits) -> tuple[str, Gate] | None:
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
    return note, stated("readable at this step", False, asked, told)
