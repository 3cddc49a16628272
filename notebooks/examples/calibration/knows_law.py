"""Predictors that know the law, each in a way of its own."""

import numpy as np
from stepping import Force, Stepping

from orbits import GM_SUN
from orbits.forces import known_law


def of_law(spec: str) -> Force:
    """The acceleration of a law around the Sun."""
    law = known_law(spec)

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return law.acceleration(x, np.full(x.shape[:-1], GM_SUN))

    return force


newton = of_law("newton")


def stoermer(dt: float) -> Stepping:
    """Second differences are the force itself."""
    return Stepping(newton, dt)


def exact(dt: float) -> Stepping:
    """The motion through two positions."""
    return Stepping(newton, dt, substeps=8)


def patient(dt: float) -> Stepping:
    """Waits for 16 positions and uses two."""
    return Stepping(newton, dt, 16)


def rough(dt: float, seed: int) -> Stepping:
    """Errs by a few per cent, differently at every place."""
    size = 0.01 * 2 ** np.random.default_rng(seed).uniform(0, 2)

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        odd = np.sin(1e5 * x @ np.array([[1.0, 0.7], [0.3, -1.1]]))
        return newton(x, v) * (1 + size * odd)

    return Stepping(force, dt, parameters={"size": float(size)})


def small(dt: float) -> Stepping:
    """In single precision."""
    known = Stepping(newton, dt)
    following = known.following
    known.following = lambda before, here: following(before, here).astype(np.float32)
    return known


def hooke(dt: float) -> Stepping:
    """Of another law."""
    return Stepping(of_law("hooke"), dt)


def yukawa(dt: float) -> Stepping:
    """Of another law."""
    return Stepping(of_law("yukawa(length=1)"), dt)


def steeper(dt: float) -> Stepping:
    """Of another law."""
    return Stepping(of_law("power_law(n=2.5)"), dt)
