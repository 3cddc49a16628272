"""scipy's integrators: the reference, slow because every step runs in Python."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.integrate import DOP853, solve_ivp

from orbits.forces import ForceLaw
from orbits.simulators.base import IntegrationError, Simulator, States
from orbits.simulators.relativity import post_newtonian


@dataclass(frozen=True)
class ScipySimulator(Simulator):
    """`scipy.integrate.solve_ivp`, one orbit at a time.

    The absolute tolerance is set too: scipy's default, 1e-6, leaves an error of 7e-4.
    """

    is_slow: ClassVar[bool] = True
    name: str = "scipy"
    method: str = "DOP853"
    tolerance: float = 1e-12

    def relative(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
    ) -> States:
        axes = position.shape[1]
        right_hand_side = _planar if axes == 2 else _spatial
        positions = np.empty((len(position), len(times), axes))
        velocities = np.empty_like(positions)
        for i, state in enumerate(np.concatenate([position, velocity], axis=1)):
            solution = self._solve(right_hand_side(law, float(gm[i])), state, times, i)
            positions[i], velocities[i] = solution[:axes].T, solution[axes:].T
        return positions, velocities

    def bodies(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
        relativity: np.ndarray | None = None,
    ) -> States:
        systems, bodies, axes = position.shape
        half = bodies * axes
        states = np.empty((systems, len(times), 2 * half))
        for i in range(systems):
            state = np.concatenate([position[i].ravel(), velocity[i].ravel()])
            term = 0.0 if relativity is None else float(relativity[i])
            states[i] = self._solve(_mutual(law, gm[i], axes, term), state, times, i).T
        shape = (systems, len(times), bodies, axes)
        return states[..., :half].reshape(shape), states[..., half:].reshape(shape)

    def _solve(
        self, right_hand_side: Callable, state: np.ndarray, times: np.ndarray, orbit: int
    ) -> np.ndarray:
        """(state, time) along one trajectory."""
        if len(times) == 1:
            return state[:, None].copy()
        if self.method == "DOP853":
            states, reached, message = self._stepped(right_hand_side, state, times)
        else:
            span, options = (times[0], times[-1]), {"rtol": self.tolerance, "atol": self.tolerance}
            solution: Any = solve_ivp(
                right_hand_side, span, state, method=self.method, t_eval=times, **options
            )
            states, message = solution.y, solution.message
            reached = solution.t[-1] if len(solution.t) else 0.0
        if states.shape[1] < len(times) or not np.all(np.isfinite(states)):
            raise IntegrationError(
                f"orbit {orbit} could not be followed past {reached:g} yr ({message}); "
                "the bodies come too close: raise --min-perihelion."
            )
        return states

    def _stepped(
        self, right_hand_side: Callable, state: np.ndarray, times: np.ndarray
    ) -> tuple[np.ndarray, float, str]:
        """(state, time) with a step that ends at every time, the time reached, and why it stopped.

        Between steps scipy interpolates, with an error of 1e-12 that jumps from step to step: too
        rough for accelerations measured as differences of positions.
        """
        solver = DOP853(
            right_hand_side, times[0], state, times[-1], rtol=self.tolerance, atol=self.tolerance
        )
        states, message = [state], None
        for time in times[1:]:
            solver.t_bound, solver.status = time, "running"
            while solver.status == "running":
                message = solver.step()
            if solver.status == "failed":
                break
            states.append(solver.y)
        return np.array(states).T, solver.t, message or ""


dop853 = ScipySimulator()
lsoda = ScipySimulator("scipy-lsoda", "LSODA", tolerance=3e-14)  # it interpolates between its steps


def _planar(law: ForceLaw, gm: float) -> Callable:
    attraction, square_root = law.radial_acceleration, math.sqrt

    def right_hand_side(_: float, state: np.ndarray) -> list[float]:
        x, y, vx, vy = state.tolist()
        r = square_root(x * x + y * y)
        pull = attraction(r, gm) / r
        return [vx, vy, pull * x, pull * y]

    return right_hand_side


def _spatial(law: ForceLaw, gm: float) -> Callable:
    attraction, square_root = law.radial_acceleration, math.sqrt

    def right_hand_side(_: float, state: np.ndarray) -> list[float]:
        x, y, z, vx, vy, vz = state.tolist()
        r = square_root(x * x + y * y + z * z)
        pull = attraction(r, gm) / r
        return [vx, vy, vz, pull * x, pull * y, pull * z]

    return right_hand_side


def _mutual(law: ForceLaw, gm: np.ndarray, axes: int, relativity: float) -> Callable:
    bodies = len(gm)
    first, second = np.triu_indices(bodies, 1)
    centre = int(np.argmax(gm))
    share = -gm / gm[centre]
    share[centre] = 0.0

    def right_hand_side(_: float, state: np.ndarray) -> np.ndarray:
        half = bodies * axes
        position = state[:half].reshape(bodies, axes)
        unit = law.acceleration(position[first] - position[second], 1.0)
        acceleration = np.zeros((bodies, axes))
        np.add.at(acceleration, first, unit * gm[second, None])
        np.add.at(acceleration, second, -unit * gm[first, None])
        if relativity:
            x, v = (part - part[centre] for part in (position, state[half:].reshape(bodies, axes)))
            x[centre] = 1.0  # what comes out is left out
            term = relativity * np.array(post_newtonian(x.T, v.T, gm[centre])).T
            term[centre] = share @ term
            acceleration += term
        return np.concatenate([state[half:], acceleration.ravel()])

    return right_hand_side
