"""What the whole motion shows: an unseen body, relativity, and the masses beside them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orbits.elements import conic_from_state, period
from orbits.estimates import STANDARD_ERRORS, Estimate
from orbits.forces import ForceLaw
from orbits.simulators import SIMULATORS
from orbits.simulators.relativity import SPEED_OF_LIGHT
from orbits.units import G
from symreg.formulas.watch import Watch
from symreg.weighing.config import WeighConfig
from symreg.weighing.motion import EPOCHS, Motion, MotionFit, Observations, followed_on
from symreg.weighing.records import Mass, Relativity, Unseen
from symreg.weighing.unseen import UnseenSearch, unseen_body, valley
from symreg.weighing.weak import System

SHORTEST = 16
"""Least times at which motions are compared with positions."""
PLACES = 21
"""Times at which an unseen body's place is reported; odd, to include the middle."""


@dataclass(frozen=True)
class Whole:
    """Masses of the observed bodies; the unobserved body, or why none is needed; the coefficient of
    the post-Newtonian term, if fitted.
    """

    masses: tuple[Mass, ...]
    unseen: Unseen | None
    relativity: Relativity | None


def require_possible(config: WeighConfig) -> None:
    """Refuse at once what needs heyoka where it is missing, or a scale other than G's."""
    option = "--unseen" if config.unseen else "--relativity fitted"
    if not SIMULATORS["heyoka"].is_installed:
        raise ValueError(f"{option} integrates thousands of motions; for that, pip install heyoka.")
    if config.reference:
        raise ValueError(f"{option} takes G for the scale; leave --reference out.")


def whole_motion(
    system: System, law: ForceLaw, masses: Sequence[Mass], config: WeighConfig, watch: Watch
) -> Whole:
    """Fit the whole motion, with any extras requested beside the observed bodies.

    The masses are initial values, with the noise of each body's positions.

    Raises:
        ValueError: for several stretches, or too few states.
    """
    seen = _seen(system, masses)
    term = 1.0 if config.relativity != "none" else 0.0
    mass = np.array([mass.value or 0.0 for mass in masses])
    start = Motion(law, seen.position[0], seen.velocity, mass, term)
    if config.relativity == "fitted":
        start = replace(start, term_free=True)
    if not config.unseen:
        fitted = followed_on(seen, start, watch)
        return Whole(_masses(fitted, masses), None, _relativity(system, fitted))
    search = unseen_body(seen, start, watch)
    fitted = search.beside if search.exists and search.beside is not None else search.without
    relativity = _relativity(system, fitted) if start.term_free else None
    return Whole(_masses(fitted, masses), _unseen(system, search), relativity)


def _seen(system: System, masses: Sequence[Mass]) -> Observations:
    if len(system.position) > 1:
        raise ValueError(
            f"the motion as a whole is fitted to one stretch of time, and there are "
            f"{len(system.position)} with gaps between them; take one (--orbit)."
        )
    position = system.position[0]
    count = len(position)
    if count < SHORTEST:
        raise ValueError(f"{count} states are too few for the motion as a whole ({SHORTEST}).")
    rows = np.unique(np.linspace(0, count - 1, min(count, EPOCHS)).round().astype(int))
    assert system.velocity is not None
    # au: the least noise of a position; an ephemeris leaves more
    noise = np.array([max(mass.noise, 1e-10) for mass in masses])
    return Observations(
        rows * system.dt, position[rows], system.velocity[0, 0], noise, system.inertial
    )


def _masses(fitted: MotionFit, before: Sequence[Mass]) -> tuple[Mass, ...]:
    error = np.sqrt(np.diag(fitted.covariance))
    numbers = enumerate(before, 2 * fitted.problem.states)
    return tuple(mass.with_value(fitted.vector[at], error[at]) for at, mass in numbers)


def _unseen(system: System, search: UnseenSearch) -> Unseen:
    before = float(np.max(search.without.by_body))
    if not search.exists or search.beside is None:
        after = float(np.max(search.beside.by_body)) if search.beside else before
        return Unseen(gain=search.gain, needed=search.needed, before=before, after=after)
    along = valley(search.beside)
    fitted, problem = along.best, along.best.problem
    times = np.linspace(0.0, problem.seen.times[-1], PLACES)
    centre = fitted.motion.centre

    def values(vectors: np.ndarray) -> np.ndarray:
        position, velocity = (
            part[:, :, -1] - part[:, :, centre] for part in problem.followed(vectors, times)
        )
        mass = vectors[:, 2 * problem.states : 2 * problem.states + problem.bodies]
        gm, middle = G * (mass[:, centre] + mass[:, -1]), PLACES // 2
        elements = conic_from_state(position[:, middle], velocity[:, middle], gm)
        places = [np.linalg.norm(position, axis=2), *_angles(position)]
        return np.column_stack([mass[:, -1], *elements, *places])

    value, error = fitted.spread(values)
    first = 3  # behind mass, size and eccentricity
    half = STANDARD_ERRORS * error
    low, high = value - half, value + half
    if len(along.ends):
        ends = values(along.ends)
        turned = slice(first + PLACES, first + 2 * PLACES)  # longitudes, within half a turn
        ends[:, turned] = value[turned] + (ends[:, turned] - value[turned] + 180) % 360 - 180
        low, high = np.minimum(low, ends.min(axis=0)), np.maximum(high, ends.max(axis=0))
    estimates = [Estimate(*map(float, row)) for row in zip(value, low, high, strict=True)]
    places = [tuple(estimates[at : at + PLACES]) for at in range(first, len(estimates), PLACES)]
    return Unseen(
        mass=estimates[0],
        semi_major_axis=estimates[1],
        eccentricity=estimates[2],
        centre=system.names[centre],
        times=tuple(times.tolist()),
        distance=places[0],
        longitude=places[1],
        latitude=places[2],
        gain=search.gain,
        needed=search.needed,
        before=before,
        after=float(np.max(fitted.by_body)),
    )


def _angles(position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(motion, time) longitude and latitude in the table's axes, degrees, without jumps."""
    longitude = np.unwrap(np.arctan2(position[..., 1], position[..., 0]), axis=0)
    latitude = np.zeros_like(longitude)
    if position.shape[-1] > 2:
        latitude = np.arcsin(position[..., 2] / np.linalg.norm(position, axis=-1))
    turned = 2 * np.pi * np.floor(longitude[:1] / (2 * np.pi))
    return np.degrees(longitude - turned), np.degrees(latitude)


def _relativity(system: System, fitted: MotionFit) -> Relativity:
    error = float(np.sqrt(fitted.covariance[-1, -1]))
    coefficient = Estimate.of(fitted.vector[-1], error)
    others = np.delete(np.arange(system.bodies), fitted.motion.centre)
    gm, size, eccentricity = fitted.motion.conics(others)
    # Einstein's, of a turn
    advance = 6 * np.pi * gm / (SPEED_OF_LIGHT**2 * size * (1 - eccentricity**2))
    # in a century
    turns = 100.0 / period(np.abs(size), gm)
    rates = np.where(size > 0, advance * turns, 0.0) * (np.degrees(1.0) * 3600)  # seconds of arc
    most = int(np.argmax(rates))
    by_einstein = float(rates[most])
    return Relativity(
        coefficient=coefficient,
        body=system.names[others[most]],
        precession=Estimate.of(by_einstein * fitted.vector[-1], by_einstein * error),
        left=float(np.max(fitted.by_body)),
    )
