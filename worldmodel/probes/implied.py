"""The acceleration that a prediction implies: a second difference, and no labels at all."""

import numpy as np
from jaxtyping import Float


def implied_acceleration(
    predicted: Float[np.ndarray, "orbit time axis"],
    position: Float[np.ndarray, "orbit time axis"],
    dt: float,
) -> Float[np.ndarray, "orbit time axis"]:
    """Second difference (x̂(t+1) − 2 x(t) + x(t−1)) / dt² of a prediction and what it was made from.

    Args:
        predicted: x̂(t+1) at index t, au, float64.
        position: x(t), au.
        dt: time between two positions, yr.

    Returns:
        au/yr^2; NaN at the first time, and where there is no prediction.
    """
    position = np.asarray(position, dtype=np.float64)
    implied = np.full(position.shape, np.nan)
    implied[:, 1:] = (predicted[:, 1:] - 2 * position[:, 1:] + position[:, :-1]) / dt**2
    return implied


def finite_step_corrected(
    implied: Float[np.ndarray, "orbit time axis"], arc_start: int = 0
) -> Float[np.ndarray, "orbit time axis"]:
    """The acceleration at each time, from second differences that average it over a step.

    A second difference s of a smooth arc is a + dt²/12 · a'' + O(dt⁴), so a = s − (second
    difference of s)/12: Numerov's relation, solved for a to the same order. It uses the implied
    values at neighbouring times of the same arc and nothing else. The ends of the arc take the
    second difference from the three nearest values inside.

    Args:
        implied: au/yr^2 at evenly spaced times; NaN where unknown.
        arc_start: index of the first time whose second difference lies on the arc; earlier times
            (before a kick) are not used.

    Returns:
        au/yr^2; NaN before the arc, and where a neighbour is unknown.

    Source: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (2nd ed. 1993),
        eq. III.10.12 (Cowell-Störmer of order 4).
    """
    arc = implied[:, arc_start:]
    bend = np.full(arc.shape, np.nan)
    bend[:, 1:-1] = arc[:, 2:] - 2 * arc[:, 1:-1] + arc[:, :-2]
    known = np.isfinite(bend[..., 0])
    for orbit in range(len(arc)):
        (inner,) = np.nonzero(known[orbit])
        if len(inner):
            bend[orbit, inner[0] - 1] = bend[orbit, inner[0]]
            bend[orbit, inner[-1] + 1] = bend[orbit, inner[-1]]
    corrected = np.full(implied.shape, np.nan)
    corrected[:, arc_start:] = arc - bend / 12
    return corrected
