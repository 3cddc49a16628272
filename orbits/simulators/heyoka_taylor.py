"""heyoka: Taylor series to machine precision, eight orbits at a time. The fast simulator.

Source: Biscani & Izzo, MNRAS 504, 2614 (2021).
"""

import itertools
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces import GM_SYMBOL, RADIUS, ForceLaw
from orbits.simulators.base import IntegrationError, Simulator, States
from orbits.simulators.relativity import post_newtonian

BATCH = 8
"""Orbits side by side in one integrator; fixed, so any processor groups them alike."""


@dataclass(frozen=True)
class HeyokaSimulator(Simulator):
    """Every lane of a batch has its own steps, chosen for machine precision.

    Orbits are grouped by angular momentum: lanes of one batch wait for their slowest, and a small
    angular momentum (a small orbit, or an eccentric one) needs many steps.
    """

    name: str = "heyoka"
    requires: ClassVar[str] = "heyoka"

    def relative(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
    ) -> States:
        axes = position.shape[1]
        momentum = _momentum(position, velocity)
        states = np.concatenate([position, velocity], axis=1)
        solution = _propagate(_central(law, axes), states, gm[:, None], times, np.argsort(momentum))
        return solution[..., :axes], solution[..., axes:]

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
        states = np.concatenate(
            [position.reshape(systems, half), velocity.reshape(systems, half)], axis=1
        )
        of_first = _momentum(position[:, 1:] - position[:, :1], velocity[:, 1:] - velocity[:, :1])
        order = np.argsort(np.min(of_first, axis=1))
        centre = -1
        if relativity is not None:
            centre, gm = int(np.argmax(gm[0])), np.column_stack([gm, relativity])
        integrator = _pairwise(law, bodies, axes, centre)
        solution = _propagate(integrator, states, gm, times, order)
        shape = (systems, len(times), bodies, axes)
        return solution[..., :half].reshape(shape), solution[..., half:].reshape(shape)


@cache
def _heyoka() -> Any:
    """The optional package, told to keep its warnings (of a cache that it cannot write) off the
    standard output, which is for results.
    """
    import heyoka

    heyoka.set_logger_level_error()
    return heyoka


def _propagate(
    integrator: Any,
    states: np.ndarray,
    parameters: np.ndarray,
    times: np.ndarray,
    order: np.ndarray,
) -> np.ndarray:
    """(orbit, time, state) along every orbit, batch by batch in the given order."""
    heyoka = _heyoka()
    solutions = np.empty((len(states), len(times), states.shape[1]))
    if len(times) == 1:
        solutions[:, 0] = states
        return solutions
    grid = np.ascontiguousarray(np.repeat(times[:, None], BATCH, axis=1))
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        lanes = np.concatenate([batch, np.repeat(batch[-1:], BATCH - len(batch))])
        integrator.set_time(0.0)
        integrator.state[:] = states[lanes].T
        used = integrator.pars  # none of a formula in which GM does not occur
        used[:] = parameters[lanes].T[: len(used)]
        # an ordinary orbit needs some ten steps a turn; ten million are a collision
        _, solution = integrator.propagate_grid(grid, max_steps=10_000_000)
        solutions[batch] = np.moveaxis(solution, 2, 0)[: len(batch)]
        for lane, orbit in enumerate(batch):
            outcome = integrator.propagate_res[lane][0]
            if outcome != heyoka.taylor_outcome.time_limit:
                reached = integrator.time[lane]
                raise IntegrationError(
                    f"orbit {orbit} could not be followed past {reached:g} yr "
                    f"({str(outcome).rsplit('.', 1)[-1]}); the bodies come too close: raise "
                    "--min-perihelion."
                )
    return solutions


@lru_cache(maxsize=8)
def _central(law: ForceLaw, axes: int) -> Any:
    """Compiled integrator of one body around a centre; its parameter is GM, if it occurs."""
    heyoka = _heyoka()
    position, velocity = (heyoka.make_vars(*[f"{x}{k}" for k in range(axes)]) for x in "xv")
    pull = _pull_over_distance(law, position, heyoka.par[0])
    system = list(zip(position, velocity, strict=True))
    system += [(v, -pull * x) for x, v in system]
    return heyoka.taylor_adaptive_batch(system, np.ones((2 * axes, BATCH)))


@lru_cache(maxsize=8)
def _pairwise(law: ForceLaw, bodies: int, axes: int, centre: int) -> Any:
    """Compiled integrator of mutually attracting bodies; its parameters are their GM.

    With a `centre` (else -1), that body's post-Newtonian term acts too; its coefficient is the last
    parameter.
    """
    heyoka = _heyoka()
    position = [[heyoka.expression(f"x{i}_{k}") for k in range(axes)] for i in range(bodies)]
    velocity = [[heyoka.expression(f"v{i}_{k}") for k in range(axes)] for i in range(bodies)]
    pulls: list[list[list[Any]]] = [[[] for _ in range(axes)] for _ in range(bodies)]
    for i, j in itertools.combinations(range(bodies), 2):
        apart = [there - here for here, there in zip(position[i], position[j], strict=True)]
        unit = _pull_over_distance(law, apart, heyoka.expression(1.0))
        for k in range(axes):
            pulls[i][k].append(heyoka.par[j] * (unit * apart[k]))
            pulls[j][k].append(-(heyoka.par[i] * (unit * apart[k])))
    others = [i for i in range(bodies) if i != centre]
    for i in others if centre >= 0 else ():
        apart, motion = (
            [here - there for here, there in zip(part[i], part[centre], strict=True)]
            for part in (position, velocity)
        )
        for k, term in enumerate(post_newtonian(apart, motion, heyoka.par[centre])):
            pulls[i][k].append(heyoka.par[bodies] * term)
            share = heyoka.par[i] / heyoka.par[centre]
            pulls[centre][k].append(-(heyoka.par[bodies] * share * term))
    every = list(itertools.product(range(bodies), range(axes)))
    system = [(position[i][k], velocity[i][k]) for i, k in every]
    system += [(velocity[i][k], heyoka.sum(pulls[i][k])) for i, k in every]
    # compact_mode: without it, compiling nine bodies takes 25 s
    start = np.ones((2 * bodies * axes, BATCH))
    return heyoka.taylor_adaptive_batch(system, start, compact_mode=True)


def _pull_over_distance(law: ForceLaw, apart: list[Any], gm: Any) -> Any:
    """Attraction over distance as heyoka's expression of the vector between two bodies."""
    heyoka = _heyoka()
    square = sympy.Symbol("square", positive=True)
    pull = sympy.powsimp((law.numeric_expression() / RADIUS).subs(RADIUS, sympy.sqrt(square)))
    # heyoka takes fractions over powers of two only: its numbers are binary.
    pull = pull.replace(
        lambda part: part.is_Rational and part.q & (part.q - 1), lambda part: sympy.Float(part)
    )
    distance_square = heyoka.sum([component**2.0 for component in apart])
    return heyoka.from_sympy(pull, {square: distance_square, GM_SYMBOL: gm})


def _momentum(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(...) size of the angular momentum, from Lagrange's identity for any number of axes."""
    square = np.sum(position**2, axis=-1) * np.sum(velocity**2, axis=-1)
    return np.sqrt(np.maximum(square - np.sum(position * velocity, axis=-1) ** 2, 0.0))


taylor = HeyokaSimulator()
