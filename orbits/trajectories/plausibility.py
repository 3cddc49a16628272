"""Whether trajectories can be what is said of them: velocities, a law, units."""

from collections.abc import Sequence

import numpy as np

from orbits.forces import ForceLaw
from orbits.frames import relative_states
from orbits.trajectories.tracks import Remarks
from orbits.units import G


def require_velocities(
    position: np.ndarray, velocity: np.ndarray, names: Sequence[str], dt: float
) -> None:
    """Refuse velocities whose unit cannot be the positions' over the times'.

    Half of a velocity is beyond any error of a central difference that still follows the orbit.
    """
    central, given = (position[:, 2:] - position[:, :-2]) / (2 * dt), velocity[:, 1:-1]
    for body, name in enumerate(names):
        moved, own = central[:, :, body], given[:, :, body]
        square = np.sum(own**2, axis=(1, 2))
        if not square.any():
            raise ValueError(f"every velocity of {name} is zero; leave --velocity out.")
        moved, own, square = (values[square > 0] for values in (moved, own, square))
        ratio = np.median(np.sum(moved * own, axis=(1, 2)) / square)
        apart = np.median(np.sqrt(np.sum((moved - own) ** 2, axis=(1, 2)) / square))
        if not apart <= 0.5:
            raise ValueError(
                f"the velocities of {name} are not those of its positions: these change "
                f"{ratio:.4g} times as fast. Velocities are in the unit of length a unit of time "
                "(--length-unit, --time-unit): convert them, or leave --velocity out."
            )


def remark_on_times(time: np.ndarray, unit: str, remarks: Remarks) -> None:
    """Note (..., time) times that are rounded as float32 has them, beside the step between them."""
    steps = np.diff(np.unique(time))
    if not steps.size or not np.ptp(steps):  # nothing was rounded away
        return
    rounding, step = float(np.spacing(np.float32(np.max(np.abs(time))))), float(np.median(steps))
    # a hundredth: as much of a velocity then is error
    if rounding > 0.01 * step and np.array_equal(time, time.astype(np.float32)):
        remarks.say(
            f"times are rounded to {rounding:.2g} {unit}, as float32 has numbers of their size, "
            f"and their step is {step:.3g} {unit}: give them in float64, or from the first state on"
        )


def require_law(law: ForceLaw, position: np.ndarray, gm: np.ndarray, dt: float) -> None:
    """Refuse a law that the orbits do not obey: by their second differences, near and far."""
    if position.ndim != 3:
        raise ValueError("a law can be given for one body about the origin; of more, leave it out.")
    second = np.diff(position, 2, axis=1) / dt**2
    with np.errstate(all="ignore"):  # what overflows is not obeyed
        expected = law.acceleration(position[:, 1:-1], gm[:, None])
        ratio = np.sum(second * expected, axis=-1) / np.sum(expected**2, axis=-1)
    r = np.linalg.norm(position[:, 1:-1], axis=-1)
    undefined = ~np.isfinite(expected).all(axis=-1)
    if undefined.any():
        raise ValueError(
            f"{law.spec} has no finite value at {r[undefined][0]:.3g} au, where an orbit passes; "
            "say another law, or leave it out."
        )
    for where, rows in (("near", r <= np.median(r)), ("far", r >= np.median(r))):
        share = float(np.median(ratio[rows]))
        # a fifth is more than any sampling that still follows the orbit explains
        if not abs(share - 1) <= 0.2:
            raise ValueError(
                f"the orbits do not obey {law.spec} with this gm: {where}, in half of the states, "
                f"their accelerations are {share:.3g} times those of the law. Say another gm, or "
                "leave the law out."
            )


def remark_on_scale(position: np.ndarray, velocity: np.ndarray, remarks: Remarks) -> None:
    """Note sizes or masses that no system has."""
    if position.ndim == 4:
        position, velocity = relative_states("nbody", position, velocity)
    # far from an origin that is no centre the motion itself is the smaller
    spread = position - position.mean(axis=1, keepdims=True)
    sizes = [float(np.median(np.linalg.norm(x, axis=-1))) for x in (position, spread)]
    speed = float(np.median(np.linalg.norm(velocity, axis=-1)))
    masses = [speed**2 * size / G for size in sizes]
    # from close binaries to the Oort cloud; masses of bodies
    if not any(
        1e-4 <= size <= 1e5 and 1e-9 <= mass <= 1e8
        for size, mass in zip(sizes, masses, strict=True)
    ):
        size, mass = sizes[0], masses[0]
        remarks.say(
            f"an unlikely scale: distances of {size:.3g} au and speeds of {speed:.3g} au/yr would "
            f"need about {mass:.2g} solar masses under Newton's law; are the units right?"
        )
