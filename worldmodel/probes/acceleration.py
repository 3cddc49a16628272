"""From arcs and a predictor to accelerations and a table of force samples.

A prediction implies an acceleration: a second difference, without labels.
"""

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from orbits.forces import ForceLaw
from orbits.units import G
from worldmodel.probes.states import Arcs, Orbits


def implied_acceleration(
    predicted: Float[np.ndarray, "orbit time *body axis"],
    position: Float[np.ndarray, "orbit time *body axis"],
    dt: float,
) -> Float[np.ndarray, "orbit time *body axis"]:
    """Second difference (x̂(t+1) − 2 x(t) + x(t−1)) / dt² of a prediction and its input, au/yr^2.

    `predicted` holds x̂(t+1) at index t. NaN at the first time, and where there is no prediction.
    """
    position = np.asarray(position, dtype=np.float64)
    implied = np.full(position.shape, np.nan)
    implied[:, 1:] = (predicted[:, 1:] - 2 * position[:, 1:] + position[:, :-1]) / dt**2
    return implied


def finite_step_corrected(
    implied: Float[np.ndarray, "orbit time *body axis"], arc_start: int = 0
) -> Float[np.ndarray, "orbit time *body axis"]:
    """The acceleration at each time, from second differences averaging it over a step.

    A second difference s of a smooth arc is a + dt²/12 · a'' + O(dt⁴), so a = s − (second
    difference of s)/12: Numerov's relation, solved for a to the same order. It uses the implied
    values at neighbouring times of the same arc and nothing else. The ends of the arc take the
    second difference from the three nearest values inside. Times before `arc_start`, the first
    whose second difference lies on the arc, are not used (they precede a kick). NaN there, and
    where a neighbour is unknown.

    Source: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (2nd ed. 1993),
        eq. III.10.12 (Cowell-Störmer of order 4).
    """
    # s(t) = a(t) + dt²/12 a''(t) + O(dt⁴), and dt² a'' = s(t+1) − 2 s(t) + s(t−1) + O(dt⁴): the
    # step itself cancels. On a circle the error falls from (ω dt)²/12 to (ω dt)⁴/90.
    arc = implied[:, arc_start:]
    bend = np.full(arc.shape, np.nan)
    bend[:, 1:-1] = arc[:, 2:] - 2 * arc[:, 1:-1] + arc[:, :-2]
    known = np.isfinite(bend).reshape(*bend.shape[:2], -1)[..., 0]
    for orbit in range(len(arc)):
        (inner,) = np.nonzero(known[orbit])
        if len(inner):
            bend[orbit, inner[0] - 1] = bend[orbit, inner[0]]
            bend[orbit, inner[-1] + 1] = bend[orbit, inner[-1]]
    corrected = np.full(implied.shape, np.nan)
    corrected[:, arc_start:] = arc - bend / 12  # as above
    return corrected


def true_acceleration(arcs: Arcs, law: ForceLaw) -> Float[np.ndarray, "orbit time body axis"]:
    """The law's accelerations of every visible body, au/yr^2."""
    gm = np.broadcast_to(arcs.gm[:, None], arcs.position.shape[:2])
    relative = law.acceleration(arcs.position.astype(np.float64), gm)
    return relative[:, :, None] * arcs.shares[:, None, :, None]


def within(
    arcs: Arcs, orbits: Orbits, radius: tuple[float, float]
) -> Bool[np.ndarray, "orbit time"]:
    """Whether every visible body is at a distance from the centre seen in training.

    Outside, any model extrapolates. The separation of two bodies must also occur on the undisturbed
    orbits: the heavier one may be anywhere near the barycentre.
    """
    r = np.linalg.norm(arcs.seen.astype(np.float64), axis=-1)
    kept = ((radius[0] <= r) & (r <= radius[1])).all(axis=-1)
    if arcs.mass is not None:
        apart = np.linalg.norm(orbits.position, axis=-1)
        separation = np.linalg.norm(arcs.position, axis=-1)
        kept &= (apart.min() <= separation) & (separation <= apart.max())
    return kept


def force_table(
    arcs: Arcs,
    acceleration: Float[np.ndarray, "orbit time body axis"],
    law: ForceLaw | None,
    dt: float,
    kept: Bool[np.ndarray, "orbit time"],
) -> pd.DataFrame:
    """Force samples at the times read.

    For two visible bodies the rows hold the first one's acceleration and its position relative to
    the second, both masses, and each body's own position and acceleration. Without a law the true
    values are left out, and the masses, which are then unknown. ValueError if no row remains.
    """
    times = np.array(arcs.read)
    implied, true = acceleration[:, times], None if law is None else true_acceleration(arcs, law)
    position, seen = arcs.position[:, times].astype(np.float64), arcs.seen[:, times]
    rows = (len(arcs.gm), len(times))

    def by_orbit(values: np.ndarray) -> np.ndarray:
        return np.broadcast_to(values[:, None], rows)

    columns = {
        "orbit": by_orbit(arcs.index),
        "time": np.broadcast_to(times * dt, rows),
        "r": np.linalg.norm(position, axis=-1),
    }
    if arcs.mass is None and law is not None:
        columns |= {"gm": by_orbit(arcs.gm), "mass": by_orbit(arcs.gm / G)}
    for axis, name in enumerate("xyz"[: position.shape[-1]]):
        columns |= {name: position[..., axis], f"a_{name}": implied[:, :, 0, axis]}
        if true is not None:
            columns[f"true_a_{name}"] = true[:, times, 0, axis]
        if arcs.mass is not None:
            for body in range(2):
                columns[f"{name}{body + 1}"] = seen[:, :, body, axis].astype(np.float64)
                columns[f"a{name}{body + 1}"] = implied[:, :, body, axis]
    if arcs.mass is not None and law is not None:
        columns |= {f"m{body + 1}": by_orbit(arcs.mass[:, body]) for body in range(2)}
    if arcs.body is not None:
        columns["body"] = by_orbit(arcs.body)
    columns["a_norm"] = np.linalg.norm(implied[:, :, 0], axis=-1)
    if arcs.kick is not None:
        columns["steps_since_kick"] = np.broadcast_to(times - arcs.kick, rows)
    usable = kept[:, times] & np.isfinite(implied).all(axis=(-2, -1))
    if not usable.any():
        raise ValueError(
            "no state can be read: the model's predictions are not finite numbers, or every "
            "kicked state lies outside the distances that it was trained on."
        )
    table = pd.DataFrame({name: values.reshape(-1) for name, values in columns.items()})
    return table[usable.reshape(-1)].reset_index(drop=True)
