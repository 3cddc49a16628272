"""An unobserved body: where it must be, if a motion's residuals are its doing.

Le Verrier's question. Orbits of all sizes and longitudes, circular and in the plane of the others,
are tried with a small mass: the effect on the observed bodies is proportional to it, so each one's
best mass and gain are a projection. The best few are fitted in full, first with the slow bodies
only, which is quick, then with all.

The search begins with the shortest part of the time that shows the body, and follows what it finds
there to the end: over many turns the others' fitted masses and orbits hide much of its effect, and
a sum of squares has many minima.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from orbits.elements import period
from orbits.estimates import STANDARD_ERRORS
from orbits.statistics import TINY
from orbits.units import G
from symreg.formulas.watch import Watch
from symreg.weighing.motion import (
    BEYOND,
    Motion,
    MotionFit,
    MotionProblem,
    Observations,
    followed_on,
    gain,
)

LONGITUDES = 24
"""Of the circular orbits tried."""
INNERMOST, OUTERMOST = 0.3, 4.0
"""Radii tried: times that of the first body, and of the last."""
LEAST = 1e-12
"""Negligible rise of the sum of squares."""
FEWEST = 2
"""Bodies in the search besides the centre, if there are as many."""
SHELL, REFINED = 0.25, 3
"""Range of log size, and number of orbits in it fitted as if the others responded linearly: one
that strongly disturbs a neighbour is not the only kind."""
PARTS = (1 / 8, 1 / 4, 1 / 2)
"""Of the time, from the first on, searched before all of it."""
SHOWN = 0.05
"""Least residual of a part that is searched, over that of the whole: in a shorter one other small
effects may be all there is."""
AT_ONCE = 96
"""Orbits integrated together."""
LINEAR = 0.02
"""Relative standard error of the mass up to which the covariance suffices."""


@dataclass(frozen=True)
class Valley:
    """Least-squares motions for masses of the unseen body on both sides of the best.

    The ends, (end, parameter), are the two motions where the sum of squares is 1.96² higher; none
    if the best one's covariance suffices.
    """

    best: MotionFit
    ends: np.ndarray


@dataclass(frozen=True)
class UnseenSearch:
    """The motions without and with one more body (None if none could be fitted), twice the
    log-likelihood gained, and the least required.
    """

    without: MotionFit
    beside: MotionFit | None
    gain: float
    needed: float

    @property
    def left(self) -> float:
        """Root mean square residual beyond the noise with the body, over that without."""
        if self.beside is None:
            return 1.0
        before, after = (
            np.sum(np.maximum(fit.by_body**2 - 1, 0.0)) for fit in (self.without, self.beside)
        )
        return float(np.sqrt(after / before)) if before > 0 else 1.0

    @property
    def exists(self) -> bool:
        """Whether a body is needed, explains most of the rest, and has a mass above 0."""
        # largest share of the residual that a body may leave; otherwise it is no
        # explanation
        if self.beside is None or self.gain < self.needed or self.left > 0.1:
            return False
        at = self.beside.problem.of_last[-1]
        error = float(np.sqrt(self.beside.covariance[at, at]))
        return bool(self.beside.vector[at] > 2 * error)


def unseen_body(seen: Observations, start: Motion, watch: Watch) -> UnseenSearch:
    """The body that best explains the others' residuals, and whether one is needed.

    It is if the likelihood, with noise as the residuals show it, grows by more than a body's
    parameters cost (BIC) and by 30, which a search among so many orbits does not reach by
    chance; and if at least nine tenths of the residual disappear.
    """
    whole = followed_on(seen, start, watch, rough=True)
    least = max(BEYOND, SHOWN * float(np.max(whole.by_body)))
    beside = None
    for share in PARTS:
        part = seen.begun(share)
        # fewest coordinates in a part for each parameter
        if part.position.size < 4 * (start.position.size * 2 + 7):
            continue
        without = followed_on(part, start, watch, rough=True)
        if np.max(without.by_body) > least:
            beside = _explained(without, beside, watch)
    beside = _explained(whole, beside, watch)
    free = 2 * seen.position.shape[2] + 1
    effective = float(np.sum(len(seen.times) / whole.alike))
    # least gain in twice the log-likelihood; see `unseen_body`
    needed = max(30.0, free * np.log(effective))
    search = UnseenSearch(whole, beside, gain(whole, beside) if beside else 0.0, needed)
    if beside is not None and search.exists:
        return replace(search, beside=beside.ended)
    return replace(search, without=whole.ended)


def _explained(without: MotionFit, before: MotionFit | None, watch: Watch) -> MotionFit | None:
    """The motion with a body that explains a part of the time, if any can be fitted.

    What explained a shorter part is followed, and suffices if it leaves only noise or next to
    nothing of the residual.
    """
    fits = []
    if before is not None:
        fits.append(
            MotionProblem(without.problem.seen, before.motion, watch).roughly(before.motion)
        )
    # largest share that a body found in a shorter part may leave without a new search
    enough = max(BEYOND, 0.02 * float(np.max(without.by_body)))
    if not fits or np.max(fits[0].by_body) >= enough:
        fits += _searched(without, watch)
    return min(fits, key=lambda fit: float(np.sum(fit.residuals**2)), default=None)


def _searched(without: MotionFit, watch: Watch) -> list[MotionFit]:
    """The motion with the body that explains most of the residual, if any can be fitted."""
    near, less = _slow(without, watch)
    rough = MotionProblem(near, less, watch).fit(less)
    fits: list[MotionFit] = []
    # orbits among those fitted in full, until one leaves only noise
    for candidate in _candidates(rough, watch)[:3]:
        fits.append(MotionProblem(near, candidate, watch).fit(candidate))
        if np.max(fits[-1].by_body) < BEYOND:
            break
    if not fits:
        return []
    best = min(fits, key=lambda fit: float(np.sum(fit.residuals**2))).motion
    centre = without.motion.centre
    whole = without.motion.beside(
        best.position[-1] - best.position[0] + without.motion.position[centre],
        best.velocity[-1] - best.velocity[0] + without.motion.velocity[centre],
        float(best.mass[-1]),
    )
    return [MotionProblem(without.problem.seen, whole, watch).roughly(whole)]


def valley(fitted: MotionFit) -> Valley:
    """The range of a body whose mass is poorly determined: its likelihood is not an ellipse.

    A lighter body closer in does nearly the same as a heavier one farther out. So its mass is fixed
    at values on both sides, all else is refitted, and the ends are where the sum of squares,
    weighted by the residuals, has risen by 1.96².
    """
    problem = fitted.problem
    at = problem.of_last[-1]
    error = float(np.sqrt(fitted.covariance[at, at]) / fitted.vector[at])
    if error <= LINEAR:
        return Valley(fitted, np.empty((0, len(fitted.vector))))
    others = np.delete(np.arange(len(fitted.vector)), at)
    sides, best = [], fitted

    def rise(fit: MotionFit) -> float:
        squares = fit.residuals**2 - best.residuals**2
        return float(np.sum(squares / fitted.inflation))

    for way in (-1, 1):
        side = [fitted]
        # motions on each side of a valley
        for _ in range(12):
            moved = side[-1].vector.copy()
            # step in log mass between motions of a valley, or a standard error if more
            moved[at] *= np.exp(way * max(0.15, error))
            side.append(problem.fit(problem.motion(moved), others))
            if rise(side[-1]) < 0:
                best = side[-1]
            # rise of the weighted sum of squares at the ends of a 95 % interval
            elif rise(side[-1]) > STANDARD_ERRORS**2:
                break
        sides.append(side)
    best = problem.fit(best.motion)
    ends = []
    for side in sides:
        roots = np.sqrt(np.maximum([rise(fit) for fit in side], 0.0))
        inside = max((k for k, root in enumerate(roots) if root <= STANDARD_ERRORS), default=0)
        end = side[inside].vector
        if inside + 1 < len(side):
            part = (STANDARD_ERRORS - roots[inside]) / max(roots[inside + 1] - roots[inside], LEAST)
            end = end + np.clip(part, 0, 1) * (side[inside + 1].vector - end)
        ends.append(end)
    return Valley(best, np.array(ends))


def _slow(without: MotionFit, watch: Watch) -> tuple[Observations, Motion]:
    """The centre, merged with the fast bodies, first, then the slow ones.

    Positions are the motion of these few plus the residuals of all.
    """
    seen, motion = without.problem.seen, without.motion
    # times at which trial orbits are compared with positions
    times = np.unique(np.linspace(0, len(seen.times) - 1, 400).round().astype(int))
    centre = motion.centre
    others = np.delete(np.arange(len(motion.mass)), centre)
    gm, size, _ = motion.conics(others)
    turns = seen.times[-1] / period(np.where(size > 0, size, np.inf), gm)
    # a body with more turns in the record is merged with the centre in the search
    count = max(FEWEST, np.count_nonzero(turns <= 60))
    slow = sorted(others[np.argsort(turns)][:count])
    core = [k for k in range(len(motion.mass)) if k not in slow]
    share = motion.mass[core] / motion.mass[core].sum()

    def together(values: np.ndarray) -> np.ndarray:
        """(..., body, axis) with the mean of the core first."""
        middle = np.einsum("k,...kd->...d", share, values[..., core, :])[..., None, :]
        positions = np.concatenate([middle, values[..., slow, :]], axis=-2)
        return positions if seen.inertial else positions - middle

    near = replace(
        seen,
        times=seen.times[times],
        position=together(without.left[times]),
        velocity=together(seen.velocity),
        noise=seen.noise[[centre, *slow]],
    )
    less = replace(
        motion,
        position=together(motion.position),
        velocity=together(motion.velocity),
        mass=np.array([motion.mass[core].sum(), *motion.mass[slow]]),
    )
    alone = MotionProblem(near, less, watch)
    return replace(
        near, position=near.position + alone.positions(alone.vector(less)[None])[0]
    ), less


def _candidates(rough: MotionFit, watch: Watch) -> list[Motion]:
    """Motions with one more body that explain most of the residual, best first.

    They start from circular orbits, each the best of its neighbourhood.
    """
    motion, problem = rough.motion, rough.problem
    x, v = motion.position - motion.position[0], motion.velocity - motion.velocity[0]
    first, second = _plane(x[1:], v[1:])
    r = np.linalg.norm(x[1:], axis=1)
    sizes = _sizes(problem, motion, INNERMOST * r.min(), OUTERMOST * r.max())
    angles = 2 * np.pi * np.arange(LONGITUDES) / LONGITUDES
    way = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
    ahead = -np.sin(angles)[:, None] * first + np.cos(angles)[:, None] * second
    place = sizes[:, None, None] * way
    speed = (sizes * _rate(motion, sizes))[:, None, None] * ahead
    place, speed = (part.reshape(-1, x.shape[1]) for part in (place, speed))
    # of a trial body, over the centre's
    mass = 1e-7 * motion.mass[0]
    place, speed = place + motion.position[0], speed + motion.velocity[0]
    with_one = MotionProblem(problem.seen, motion.beside(place[0], speed[0], mass), watch)
    own = np.linalg.qr(rough.jacobian)[0]
    residuals = rough.residuals - own @ (own.T @ rough.residuals)

    def predicted(rows: Sequence[int], mass: float) -> np.ndarray:
        tried = [with_one.vector(motion.beside(place[k], speed[k], mass)) for k in rows]
        return with_one.predicted(np.array(tried))

    base = predicted([0], 0.0)
    gains, masses = np.zeros(len(place)), np.zeros(len(place))
    for begin in range(0, len(place), AT_ONCE):
        watch.say(partial("orbits of an unseen body: {} of {}".format, begin, len(place)))
        rows = range(begin, min(begin + AT_ONCE, len(place)))
        # A light body changes the others' positions by its mass times a pattern p. What masses and
        # first states of the others can do as well (`own`) is projected out of p; then the best
        # mass is (p . residual)/(p . p), and it gains (p . residual)^2/(p . p) of the squares.
        moved = (predicted(rows, mass) - base) / mass
        moved -= (moved @ own) @ own.T
        square = np.maximum(np.sum(moved**2, axis=1), TINY)
        along = -(moved @ residuals)
        masses[rows] = along / square
        gains[rows] = np.where(along > 0, along**2 / square, 0.0)
    table = gains.reshape(len(sizes), LONGITUDES)
    around = np.pad(table, ((1, 1), (0, 0)), constant_values=-1.0)
    around = np.pad(around, ((0, 0), (1, 1)), mode="wrap")
    # of each and its eight neighbours
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3))
    peaks = np.flatnonzero((table >= windows.max(axis=(-2, -1))) & (table > 0))
    shell = (np.log(sizes / sizes[-1]) / SHELL).astype(int).repeat(LONGITUDES)
    peaks = peaks[np.argsort(-gains[peaks])]
    best = [k for one in np.unique(shell) for k in peaks[shell[peaks] == one][:REFINED]]
    tried = [motion.beside(place[k], speed[k], float(masses[k])) for k in best]
    free = with_one.of_last
    refined = []
    for k, one in enumerate(tried):
        watch.say(partial("orbits of an unseen body: the best {} of {}".format, k, len(tried)))
        # relative change of the sum of squares below which such a fit has ended: it only
        # ranks them
        refined.append(with_one.fit(one, free, own, settled=1e-4))
    squares = [float(np.sum(fit.residuals**2)) for fit in refined]
    order = np.argsort(squares)
    # relative difference in sums of squares of the same orbit found twice
    apart = np.diff(np.log(squares)[order], prepend=-np.inf) > 1e-3
    return [refined[k].motion for k in order[apart]]


def _sizes(problem: MotionProblem, motion: Motion, low: float, high: float) -> np.ndarray:
    """Radii whose neighbours are distinguishable by the end, from the outermost inwards."""
    sizes, span = [high], problem.seen.times[-1]
    while sizes[-1] > low:
        turns = span * float(_rate(motion, np.array(sizes[-1:]))[0]) / (2 * np.pi)
        # turns of the innermost orbit tried
        if turns > 30:
            break
        # turns by which trial orbits of neighbouring size part over the time; and the
        # largest difference in log size
        sizes.append(sizes[-1] * np.exp(-0.1 / max(1.0, turns)))
    return np.array(sizes)


def _rate(motion: Motion, r: np.ndarray) -> np.ndarray:
    """(radius,) angular velocity on a circle about the first body, rad/yr."""
    pull = motion.law.radial_acceleration(r, G * float(motion.mass[0]))
    return np.sqrt(np.abs(np.asarray(pull, dtype=np.float64)) / r)


def _plane(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions in the mean plane of some orbits, the second a quarter turn ahead."""
    if x.shape[1] == 2:
        way = np.sign(np.sum(x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])) or 1.0
        return np.array([1.0, 0.0]), np.array([0.0, way])
    normals = np.cross(x, v)
    normal = np.mean(normals / np.linalg.norm(normals, axis=1)[:, None], axis=0)
    normal /= np.linalg.norm(normal)
    first = np.eye(3)[np.argmin(np.abs(normal))]
    first = first - (first @ normal) * normal
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)
