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


def half(dt: float) -> Stepping:
    """The bend in half precision."""
    known = Stepping(newton, dt)
    following = known.following

    def coarse(before: np.ndarray, here: np.ndarray) -> np.ndarray:
        inertia = 2 * here - before
        return inertia + (following(before, here) - inertia).astype(np.float16)

    known.following = coarse
    return known


def elsewhere(dt: float) -> Stepping:
    """Works in another frame: turned by a radian, in units of 3 au."""
    c, s = np.cos(1.0), np.sin(1.0)
    turn = np.array([[c, s], [-s, c]])

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        x, v = x @ turn / 3, v @ turn / 3
        return newton(x, v) @ turn.T / 9

    return Stepping(force, dt)


def long(dt: float) -> Stepping:
    """Waits for 48 positions."""
    return Stepping(newton, dt, 48)


def table(dt: float) -> Stepping:
    """The size of the attraction by a cubic spline of sixty distances; no answer outside them."""
    from scipy.interpolate import CubicSpline

    r = np.geomspace(0.25, 3.2, 60)
    spline = CubicSpline(np.log(r), np.log(GM_SUN / r**2), extrapolate=False)

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        return -x / r * np.exp(spline(np.log(r)))

    return Stepping(force, dt)


def bounded(dt: float) -> Stepping:
    """Answers from 0.35 to 2.3 au alone."""

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        return np.where((r > 0.35) & (r < 2.3), newton(x, v), np.nan)

    return Stepping(force, dt)


class Noisy(Stepping):
    """With noise of 1e-5 au, another at every call."""

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        said = super().predict(positions)
        return said + 1e-5 * np.random.default_rng().standard_normal(said.shape)


def noisy(dt: float) -> Noisy:
    """Answers differently each time, by little."""
    return Noisy(newton, dt)


def frozen_noise(dt: float) -> Stepping:
    """An error of 1e-5 au that the positions decide."""
    known = Stepping(newton, dt)
    following = known.following

    def rough(before: np.ndarray, here: np.ndarray) -> np.ndarray:
        return following(before, here) + 1.4e-5 * np.sin(1e6 * here[..., ::-1] + 7e5 * before)

    known.following = rough
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
