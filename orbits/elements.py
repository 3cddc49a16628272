"""Kepler elements, states, and exact propagation under Newton's law."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Elements:
    """Orbital elements of bound Newtonian orbits, arrays of one shape; angles in rad.

    `argument_of_perihelion` is the longitude of perihelion where `inclination` is 0, and the
    mean anomaly is counted from the node where `eccentricity` is 0.
    """

    semi_major_axis: np.ndarray
    eccentricity: np.ndarray
    inclination: np.ndarray
    longitude_of_node: np.ndarray
    argument_of_perihelion: np.ndarray
    mean_anomaly: np.ndarray


def solve_kepler(mean_anomaly: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
    """Eccentric anomaly E with E - e sin E = M, to rounding.

    Args:
        mean_anomaly: (...) rad, any size.
        eccentricity: (...) in [0, 1), broadcasts against `mean_anomaly`.

    Returns:
        (...) rad; E - M stays within e of 0.

    Raises:
        ValueError: if an eccentricity is outside [0, 1).

    Source: Murray & Dermott, Solar System Dynamics (1999), eq. 2.52; third-order correction of
    Danby, Fundamentals of Celestial Mechanics (1988), section 6.6.
    """
    require_eccentricity(eccentricity)
    turns = np.rint(mean_anomaly / math.tau) * math.tau
    m = mean_anomaly - turns
    e = np.broadcast_to(eccentricity, m.shape)
    anomaly = m + 0.85 * e * np.sign(m)  # Danby's start: third order converges from it for e < 1
    for _ in range(12):
        sine, cosine = e * np.sin(anomaly), e * np.cos(anomaly)
        f, f1 = anomaly - sine - m, 1 - cosine
        step = -f / f1
        step = -f / (f1 + 0.5 * step * sine)
        step = -f / (f1 + 0.5 * step * sine + step * step * cosine / 6)
        anomaly = anomaly + step
        if np.max(np.abs(step), initial=0.0) < 1e-12:  # cubic: the next step would be rounding
            break
    return anomaly + turns


def require_eccentricity(eccentricity: np.ndarray | float) -> None:
    """Refuse eccentricities that no ellipse has.

    Raises:
        ValueError: if any is outside [0, 1) or is not a number.
    """
    values = np.asarray(eccentricity, dtype=float)
    bad = values[~((values >= 0) & (values < 1))]
    if bad.size:
        raise ValueError(
            f"eccentricity {bad.flat[0]:g} is outside [0, 1); a bound orbit has 0 <= e < 1."
        )


def state_from_elements(elements: Elements, gm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Relative position and velocity of Kepler orbits.

    Args:
        elements: arrays of shape (...).
        gm: (...) gravitational parameter, au^3/yr^2.

    Returns:
        (..., 3) position, au, and (..., 3) velocity, au/yr.

    Raises:
        ValueError: if an eccentricity is outside [0, 1), or a semi-major axis or gm is not above 0.

    Source: Murray & Dermott (1999), eqs. 2.41, 2.119-2.122.
    """
    a, e = elements.semi_major_axis, elements.eccentricity
    _require_positive("semi-major axis", a)
    _require_positive("gm", gm)
    anomaly = solve_kepler(np.asarray(elements.mean_anomaly), e)
    cosine, sine, root = np.cos(anomaly), np.sin(anomaly), np.sqrt((1 - e) * (1 + e))
    along, across = a * (cosine - e), a * root * sine
    rate = np.sqrt(gm / a) / (1 - e * cosine)
    along_rate, across_rate = -rate * sine, rate * root * cosine
    p, q = perifocal_axes(
        elements.inclination, elements.longitude_of_node, elements.argument_of_perihelion
    )
    position = along[..., None] * p + across[..., None] * q
    velocity = along_rate[..., None] * p + across_rate[..., None] * q
    return position, velocity


def perifocal_axes(
    inclination: np.ndarray, longitude_of_node: np.ndarray, argument_of_perihelion: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors towards perihelion and a quarter turn ahead of it, each (..., 3).

    Source: Murray & Dermott (1999), eqs. 2.119-2.121 (the first two columns of P3 P2 P1).
    """
    ci, si = np.cos(inclination), np.sin(inclination)
    cn, sn = np.cos(longitude_of_node), np.sin(longitude_of_node)
    cw, sw = np.cos(argument_of_perihelion), np.sin(argument_of_perihelion)
    p = np.stack([cn * cw - sn * sw * ci, sn * cw + cn * sw * ci, sw * si], axis=-1)
    q = np.stack([-cn * sw - sn * cw * ci, -sn * sw + cn * cw * ci, cw * si], axis=-1)
    return p, q


def elements_from_state(position: np.ndarray, velocity: np.ndarray, gm: np.ndarray) -> Elements:
    """Kepler elements of bound states under Newton's law.

    Args:
        position: (..., axis) relative position, au; two or three axes.
        velocity: (..., axis) relative velocity, au/yr.
        gm: (...) gravitational parameter, au^3/yr^2.

    Raises:
        ValueError: for an unbound state, a collision course (no angular momentum) or r = 0.

    Source: Murray & Dermott (1999), section 2.8, eqs. 2.126-2.140.
    """
    position, velocity = _three_axes(position), _three_axes(velocity)
    gm = np.asarray(gm, dtype=float)
    r = np.linalg.norm(position, axis=-1)
    if np.any(r == 0):
        raise ValueError("a separation is 0; elements need two bodies apart from each other.")
    energy, momentum, lrl = _invariants(position, velocity, gm)
    square = np.sum(momentum**2, axis=-1)
    if np.any(square == 0):
        raise ValueError("a state has no angular momentum; the bodies fall into each other.")
    if np.any(energy >= 0):
        raise ValueError(
            f"a state is unbound (specific energy {np.max(energy):g} au^2/yr^2); "
            "elements need bound orbits, below 0."
        )
    a = -0.5 * gm / energy
    e = np.linalg.norm(lrl, axis=-1)
    inclination = np.arctan2(np.hypot(momentum[..., 0], momentum[..., 1]), momentum[..., 2])
    planar = np.hypot(momentum[..., 0], momentum[..., 1]) == 0
    node = np.where(planar, 0.0, np.arctan2(momentum[..., 0], -momentum[..., 1]))
    p, q = perifocal_axes(inclination, node, np.zeros_like(node))
    circular = e < 1e-14  # below this the vector is rounding and points nowhere
    argument = np.where(circular, 0.0, np.arctan2(_dot(lrl, q), _dot(lrl, p)))
    p, q = perifocal_axes(inclination, node, argument)
    e_sine = _dot(position, velocity) / np.sqrt(gm * a)
    root = np.sqrt(square / (gm * a))
    anomaly = np.where(
        circular,
        np.arctan2(_dot(position, q), _dot(position, p)),
        np.arctan2(_dot(position, q) / root, _dot(position, p) + a * e),
    )
    mean = anomaly - np.where(circular, e_sine, e * np.sin(anomaly))
    return Elements(a, e, inclination, node % math.tau, argument % math.tau, mean % math.tau)


def conic_from_state(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Semi-major axis, au, below 0 for a hyperbola, and eccentricity of states that may be unbound.

    Shapes and units are those of `elements_from_state`.
    """
    energy, _, lrl = _invariants(_three_axes(position), _three_axes(velocity), gm)
    return -0.5 * gm / energy, np.linalg.norm(lrl, axis=-1)


def _invariants(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Specific energy, angular momentum, and the Laplace-Runge-Lenz vector over gm."""
    r = np.linalg.norm(position, axis=-1)
    momentum = np.cross(position, velocity)
    energy = 0.5 * np.sum(velocity**2, axis=-1) - gm / r
    return energy, momentum, np.cross(velocity, momentum) / gm[..., None] - position / r[..., None]


def propagate_kepler(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Exact two-body motion under Newton's law, without time steps.

    Args:
        position: (orbit, axis) relative position at time 0, au.
        velocity: (orbit, axis) relative velocity at time 0, au/yr.
        gm: (orbit,) gravitational parameter, au^3/yr^2.
        times: (time,) yr.

    Returns:
        (orbit, time, axis) position and velocity.

    Raises:
        ValueError: for unbound or colliding states.

    Source: Gauss's f and g functions, Murray & Dermott (1999), eqs. 2.64-2.71.
    """
    position, velocity = np.asarray(position, dtype=float), np.asarray(velocity, dtype=float)
    gm, times = np.asarray(gm, dtype=float), np.asarray(times, dtype=float)
    start = elements_from_state(position, velocity, gm)
    a, e = start.semi_major_axis, start.eccentricity
    n = np.sqrt(gm / a) / a
    first = solve_kepler(start.mean_anomaly, e)
    mean_anomaly = start.mean_anomaly[:, None] + n[:, None] * times
    anomaly = solve_kepler(mean_anomaly, e[:, None])
    r0 = np.linalg.norm(position, axis=-1)
    difference = anomaly - first[:, None]
    versine = 2 * np.sin(0.5 * difference) ** 2
    r = a[:, None] * (1 - e[:, None] * np.cos(anomaly))
    ratio = (a / r0)[:, None]
    f = 1 - ratio * versine
    g = times - (difference - np.sin(difference)) / n[:, None]
    f_rate = -ratio * (a * n)[:, None] / r * np.sin(difference)
    g_rate = 1 - a[:, None] / r * versine
    here, speed = position[:, None, :], velocity[:, None, :]
    moved_position = f[..., None] * here + g[..., None] * speed
    moved_velocity = f_rate[..., None] * here + g_rate[..., None] * speed
    return moved_position, moved_velocity


def period(semi_major_axis: np.ndarray, gm: np.ndarray) -> np.ndarray:
    """Period of a Kepler orbit, yr (Murray & Dermott 1999, eq. 2.22)."""
    return math.tau * np.sqrt(semi_major_axis**3 / gm)


def _three_axes(vector: np.ndarray) -> np.ndarray:
    vector = np.asarray(vector, dtype=float)
    if vector.shape[-1] == 3:
        return vector
    return np.concatenate([vector, np.zeros((*vector.shape[:-1], 1))], axis=-1)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sum(a * b, axis=-1)


def _require_positive(name: str, values: np.ndarray | float) -> None:
    values = np.asarray(values, dtype=float)
    bad = values[~(values > 0)]
    if bad.size:
        raise ValueError(f"{name} is {bad.flat[0]:g}; it must be above 0.")
