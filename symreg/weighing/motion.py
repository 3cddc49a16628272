"""The whole motion integrated and compared with every position: first states, masses, relativity.

Integrals against bumps each see a stretch of time; what adds up over centuries, such as a turning
perihelion or an unseen body, shows in the motion as a whole. A model is integrated, and first
states and masses are fitted by least squares, with derivatives from differences of integrations.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import least_squares

from orbits.elements import conic_from_state
from orbits.forces import ForceLaw
from orbits.powers import scaled_columns
from orbits.simulators import SIMULATORS, IntegrationError, States
from orbits.statistics import TINY
from orbits.units import G
from symreg.formulas.watch import Watch

EPOCHS = 2000
"""Times at which the motion is compared with positions; more are thinned out."""
STEP = 1e-6
"""Of differences: of a coordinate, au, of a velocity, au/yr, of a mass, parts of the largest."""
SETTLED, NEAR, ENOUGH = 1e-10, 1e-2, 1e-6
"""Relative change of the sum of squares below which a fit has ended (the first also of the
parameters); one from which another fit starts; and one that stays far from noise."""
NULL = 1e-13
"""Singular value, over the largest, of an undetermined combination of parameters."""
GROWING, FEWEST = (1 / 32, 1 / 8, 1 / 2), 8
"""Parts of the time used first; least times in each."""
BLOCKS = 5
"""Parts of the time, left out one at a time."""
BEYOND, FAR = 1.1, 10.0
"""Rms residual, in standard errors, above which it is not noise alone; and far from it."""


@dataclass(frozen=True)
class Observations:
    """Positions of bodies in one system, at times of any spacing.

    Attributes:
        times: (time,) yr, ascending from 0.
        position: (time, body, axis) au.
        velocity: (body, axis) at time 0, au/yr; approximate.
        noise: (body,) standard error of a position, au.
        inertial: whether the frame is; else the first body rests at the origin.
    """

    times: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    noise: np.ndarray
    inertial: bool = True

    def begun(self, share: float) -> "Observations":
        """The first part of the time."""
        count = max(FEWEST, round(share * len(self.times)))
        return replace(self, times=self.times[:count], position=self.position[:count])


@dataclass(frozen=True)
class Motion:
    """What is integrated: observed bodies first, then unseen ones.

    Attributes:
        law: the attraction.
        position: (body, axis) at time 0, au.
        velocity: (body, axis) at time 0, au/yr.
        mass: (body,) solar masses.
        relativity: coefficient of the heaviest body's first post-Newtonian term.
        term_free: whether it is fitted.
    """

    law: ForceLaw
    position: np.ndarray
    velocity: np.ndarray
    mass: np.ndarray
    relativity: float = 0.0
    term_free: bool = False

    @property
    def centre(self) -> int:
        """The heaviest body."""
        return int(np.argmax(self.mass))

    def conics(self, bodies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(body,) gm, au^3/yr^2, semi-major axis, au, and eccentricity about the centre."""
        centre = self.centre
        x, v = (part[bodies] - part[centre] for part in (self.position, self.velocity))
        gm = G * (self.mass[centre] + self.mass[bodies])
        return gm, *conic_from_state(x, v, gm)

    def beside(self, position: np.ndarray, velocity: np.ndarray, mass: float) -> "Motion":
        """The same with one more body."""
        return replace(
            self,
            position=np.vstack([self.position, position]),
            velocity=np.vstack([self.velocity, velocity]),
            mass=np.append(self.mass, mass),
        )


class MotionProblem:
    """Motions as vectors of parameters, and their residuals.

    Parameters are first positions, first velocities, masses, and the term's coefficient if free; in
    a frame that is not inertial, without the first body's state. `like` has the law and the bodies.
    """

    def __init__(self, seen: Observations, like: Motion, watch: Watch) -> None:
        self.seen, self.like, self.watch = seen, like, watch
        self.bodies, self.axes = like.position.shape
        self.first = 0 if seen.inertial else 1
        self.simulator = SIMULATORS["heyoka"]
        weights = 1 / seen.noise[self.first :]
        self.weights = np.broadcast_to(weights[:, None], seen.position[0, self.first :].shape)
        self.target = seen.position[:, self.first :]

    @property
    def states(self) -> int:
        """Parameters that are positions; as many are velocities."""
        return (self.bodies - self.first) * self.axes

    @property
    def of_last(self) -> np.ndarray:
        """Which parameters are the last body's."""
        ends = np.array([self.states, 2 * self.states])
        state = (ends[:, None] - self.axes + np.arange(self.axes)).ravel()
        return np.append(state, 2 * self.states + self.bodies - 1)

    def vector(self, motion: Motion) -> np.ndarray:
        """The parameters of a motion."""
        states = (motion.position[self.first :].ravel(), motion.velocity[self.first :].ravel())
        term = [motion.relativity] if self.like.term_free else []
        return np.concatenate([*states, motion.mass, term])

    def motion(self, vector: np.ndarray) -> Motion:
        """The motion of some parameters."""
        x, v, mass, term = (part[0] for part in self._parts(vector[None]))
        return replace(self.like, position=x, velocity=v, mass=mass, relativity=float(term))

    def _parts(self, vectors: np.ndarray) -> tuple[np.ndarray, ...]:
        """(motion, ...) positions, velocities, masses and coefficients."""
        count, half = len(vectors), self.states
        position, velocity = np.zeros((2, count, self.bodies, self.axes))
        position[:, self.first :] = vectors[:, :half].reshape(count, -1, self.axes)
        velocity[:, self.first :] = vectors[:, half : 2 * half].reshape(count, -1, self.axes)
        mass = vectors[:, 2 * half : 2 * half + self.bodies]
        fixed = np.full(count, self.like.relativity)
        return position, velocity, mass, vectors[:, -1] if self.like.term_free else fixed

    def followed(self, vectors: np.ndarray, times: np.ndarray) -> States:
        """(motion, time, body, axis) positions, au, and velocities, au/yr; or IntegrationError."""
        position, velocity, mass, term = self._parts(vectors)
        used = term if self.like.term_free or self.like.relativity else None
        return self.simulator.bodies(self.like.law, position, velocity, G * mass, times, used)

    def positions(self, vectors: np.ndarray) -> np.ndarray:
        """(motion, time, body, axis) of the observed bodies, as observed, au."""
        positions, _ = self.followed(vectors, self.seen.times)
        return positions[:, :, : self.seen.position.shape[1]] - (
            positions[:, :, :1] if self.first else 0.0
        )

    def predicted(self, vectors: np.ndarray) -> np.ndarray:
        """(motion, number) the same in standard errors, without a first body at rest."""
        shown = self.positions(vectors)[:, :, self.first :] * self.weights
        return shown.reshape(len(vectors), -1)

    @cached_property
    def steps(self) -> np.ndarray:
        """Of the differences, by parameter."""
        masses = np.full(self.bodies, STEP * np.max(np.abs(self.like.mass)))
        # of the coefficient of the post-Newtonian term, whose effect is small
        term = [0.1] if self.like.term_free else []
        return np.concatenate([np.full(2 * self.states, STEP), masses, term])

    def jacobian(self, vector: np.ndarray, free: np.ndarray) -> np.ndarray:
        """(number, free) derivatives of the weighted positions by some of the parameters."""
        moved = np.zeros((len(free) + 1, len(vector)))
        moved[1 + np.arange(len(free)), free] = self.steps[free]
        positions = self.predicted(vector + moved)
        return ((positions[1:] - positions[0]) / self.steps[free, None]).T

    def residuals(self, vector: np.ndarray) -> np.ndarray:
        """(number,) a motion's residuals, in standard errors of positions."""
        try:
            predicted = self.predicted(vector[None])[0]
        except IntegrationError:
            # residual, in standard errors, if a motion cannot be followed
            return np.full(self.target.size, 1e12)
        return predicted - (self.target * self.weights).ravel()

    def fit(
        self,
        start: Motion,
        free: np.ndarray | None = None,
        beside: np.ndarray | None = None,
        settled: float = SETTLED,
    ) -> "MotionFit":
        """The least-squares motion, from one near it.

        Only the parameters `free` are fitted, if given. Residuals along the (number, direction)
        orthonormal directions `beside` are not counted, as if parameters acting along them were
        fitted too. A relative change of the sum of squares below `settled` ends it.
        """
        whole = self.vector(start)
        free = np.arange(len(whole)) if free is None else free
        rms, size, latest = np.inf, np.inf, None

        def counted(values: np.ndarray) -> np.ndarray:
            return values if beside is None else values - beside @ (beside.T @ values)

        def vector(values: np.ndarray) -> np.ndarray:
            parameters = whole.copy()
            parameters[free] = values
            return parameters

        def residuals(values: np.ndarray) -> np.ndarray:
            nonlocal rms
            errors = counted(self.residuals(vector(values)))
            rms = float(np.sqrt(np.mean(errors**2)))
            self.watch.say(lambda: f"{self.bodies} bodies integrated: {rms:.3g} errors are left")
            return errors

        def jacobian(values: np.ndarray) -> np.ndarray:
            """The previous one, while every step with it leaves little of the residual."""
            nonlocal size, latest
            before, size = size, rms  # it is asked for where the residuals were asked for last
            # largest part of the residual a step may leave for derivatives to be reused
            if latest is None or size > 0.2 * before:
                latest = counted(self.jacobian(vector(values), free))
            return latest

        # most evaluations in a fit
        solution = least_squares(
            residuals, whole[free], jac=jacobian, x_scale="jac", max_nfev=60, ftol=settled,
            xtol=SETTLED, gtol=None,
        )  # fmt: skip
        return MotionFit(self, vector(solution.x), solution.fun, solution.jac)

    def roughly(self, start: Motion) -> "MotionFit":
        """The same, but soon ended where far more than noise is left: a long way for little."""
        fitted = self.fit(start, settled=NEAR)
        return fitted if fitted.is_far else self.fit(fitted.motion)


@dataclass(frozen=True)
class MotionFit:
    """A least-squares motion: its (parameter,) vector, (number,) residuals in standard errors of
    positions, and (number, parameter) derivatives of these.
    """

    problem: MotionProblem
    vector: np.ndarray
    residuals: np.ndarray
    jacobian: np.ndarray

    @cached_property
    def motion(self) -> Motion:
        """The motion."""
        return self.problem.motion(self.vector)

    @cached_property
    def left(self) -> np.ndarray:
        """(time, body, axis) residuals of the positions, au."""
        problem = self.problem
        residuals = np.zeros(problem.seen.position.shape)
        residuals[:, problem.first :] = (
            -self.residuals.reshape(problem.target.shape) / problem.weights
        )
        return residuals

    @cached_property
    def by_body(self) -> np.ndarray:
        """(body,) rms residual of each observed body, in standard errors."""
        shape = self.problem.target.shape
        return np.sqrt(np.mean(self.residuals.reshape(shape) ** 2, axis=(0, 2)))

    @property
    def is_far(self) -> bool:
        """Whether far more than noise is left."""
        return bool(np.max(self.by_body) > FAR)

    @property
    def ended(self) -> "MotionFit":
        """The same after `MotionProblem.roughly`, however far from noise it stays."""
        return self.problem.fit(self.motion, settled=ENOUGH) if self.is_far else self

    @cached_property
    def alike(self) -> np.ndarray:
        """(body, axis) how many neighbouring residuals are correlated."""
        residuals = self.residuals.reshape(self.problem.target.shape)
        residuals = residuals - residuals.mean(axis=0)
        count = len(residuals)
        power = np.abs(np.fft.rfft(residuals, 2 * count, axis=0)) ** 2
        # part of the record over which the residuals' correlation is measured
        covariance = np.fft.irfft(power, axis=0)[: max(2, int(0.1 * count))]
        correlation = covariance / np.maximum(covariance[0], TINY)
        # Residuals of a wrong model are waves, not noise: the variance of a mean of them is larger
        # by 1 + 2 sum rho(lag), counted up to the first lag at which nothing is left of rho.
        within = np.cumprod(correlation > 0.05, axis=0)
        return np.maximum(1.0, 2 * np.sum(correlation * within, axis=0) - 1)

    @cached_property
    def inflation(self) -> np.ndarray:
        """(number,) variance of each residual over that of the noise, one or more."""
        square = np.maximum(1.0, self.by_body**2)[:, None] * self.alike
        return np.broadcast_to(square, self.problem.target.shape).reshape(-1)

    @cached_property
    def covariance(self) -> np.ndarray:
        """(parameter, parameter) from noise, and from residuals beyond it.

        Residuals widen it by their size and correlation time, and by how the motion changes if a
        fifth of the time is left out.
        """
        weighted, scale = scaled_columns(self.jacobian / np.sqrt(self.inflation)[:, None])
        s, vt = np.linalg.svd(weighted, full_matrices=False)[1:]
        spread = vt.T / np.maximum(s, NULL * s[0]) / scale[:, None]
        covariance = spread @ spread.T
        if np.max(self.by_body) > BEYOND:
            covariance += self._of_parts()
        return np.asarray(covariance)

    def _of_parts(self) -> np.ndarray:
        """(parameter, parameter) by jackknife over parts of the time."""
        scaled, scale = scaled_columns(self.jacobian)
        shape = (len(self.problem.target), -1, len(scale))
        jacobian = scaled.reshape(shape)
        residuals = self.residuals.reshape(shape[:2])
        shifts = []
        for part in np.array_split(np.arange(shape[0]), BLOCKS):
            times = np.delete(np.arange(shape[0]), part)
            rows, target = jacobian[times].reshape(-1, len(scale)), residuals[times].ravel()
            shifts.append(-np.linalg.lstsq(rows, target, rcond=NULL)[0] / scale)
        apart = np.array(shifts) - np.mean(shifts, axis=0)
        return (BLOCKS - 1) / BLOCKS * apart.T @ apart

    def spread(self, values: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """A function from (motion, parameter) to (motion, value), and its errors to first order."""
        steps = np.minimum(self.problem.steps, np.sqrt(np.diag(self.covariance)))
        outcomes = values(self.vector + np.vstack([np.zeros(len(steps)), np.diag(steps)]))
        gradient = (outcomes[1:] - outcomes[0]) / steps[:, None]
        square = np.einsum("ik,ij,jk->k", gradient, self.covariance, gradient)
        return outcomes[0], np.sqrt(square)


def followed_on(seen: Observations, start: Motion, watch: Watch, rough: bool = False) -> MotionFit:
    """The least-squares motion over all times, from one that need only fit their beginning.

    A small error in velocity grows to many turns. So first states are fitted to a short part of the
    time, then to longer ones, with the masses of the start until all of the time is used. Rough
    fits end early where they leave far more than noise.
    """
    # A velocity wrong by dv shifts a body along its orbit by about 3 dv t. Once that is half a
    # turn, the sum of squares has another minimum, one turn away. So each part of the time is four
    # times the last: fitted to a time t, dv falls as t^-1.5, eightfold, and fourfold is needed.
    motion = replace(start, term_free=False)
    for share in GROWING:
        problem = MotionProblem(seen.begun(share), motion, watch)
        states = np.arange(2 * problem.states)
        motion = problem.fit(motion, states, settled=NEAR if rough else SETTLED).motion
    motion = replace(motion, term_free=start.term_free)
    problem = MotionProblem(seen, motion, watch)
    return problem.roughly(motion) if rough else problem.fit(motion)


def gain(before: MotionFit, after: MotionFit) -> float:
    """Twice the log-likelihood gained, for noise as the residuals show it.

    Residuals correlated over many times count as one.
    """
    count = np.mean(before.problem.target.shape[0] / after.alike, axis=1) * before.problem.axes
    ratio = np.maximum(before.by_body, 1.0) / np.maximum(after.by_body, 1.0)
    return float(np.sum(2 * count * np.log(np.maximum(ratio, TINY))))
