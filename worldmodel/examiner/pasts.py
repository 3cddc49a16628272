"""What lies behind a state: the law's own arc, one with kicks in it, or that of another force.

The last two positions fix a state and lie on the law's arc in every past; the force is the same.
A model whose force is in its weights answers alike; one that reads the force from its context obeys
whatever its past shows; one that continues curves is right behind the law's own arcs alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from orbits.simulators.integrate import rk4_step
from worldmodel.examiner.states import States, World
from worldmodel.flow import follow
from worldmodel.kick import turned_at_random

KICK = np.pi, (0.8, 1.2)
"""Largest angle (rad) to either side by which a velocity is turned, and factors of its size."""
PART, MOST_PARTS = 0.1, 1_000
"""Of the time in which the place or the direction changes by as much as it is: of a part of a step
by Runge and Kutta's rule, whose error is PART⁵/120 at most; and parts of one step. An arc that
turns at 1e-11 of its distance takes 540 under Newton's law; more take those that fall in."""
CONVERGED = 1e-6
"""Of a velocity: its last correction, at most; forces are then right to CONVERGED · v/(a dt)."""


@dataclass(frozen=True)
class Past:
    """A kind of past.

    Attributes:
        words: for a sentence: "behind a past ...".
        pull: of another force, towards the centre, from the distance in units of the middle one of
            training and the law's own pull, which is 1 there. None: the law itself.
        kicks: velocities turned on the way, older than the last two positions: one, or a random
            number from two to as many as there are.
    """

    words: str
    pull: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    kicks: int = 0


OWN = "the law's own"
PASTS = {
    OWN: Past("of the law's own"),
    "one kick": Past("with one kick", kicks=1),
    "many kicks": Past("with two kicks or more", kicks=2),
    "linear": Past("under a force that grows with the distance", lambda r, own: r),
    "cubic": Past("under a force of 1/r³", lambda r, own: r**-3),
    "none": Past("without a force", lambda r, own: np.zeros_like(r)),
    "repulsive": Past("under a repulsive force", lambda r, own: -(r**-2)),
    "stronger": Past("under the law a quarter stronger", lambda r, own: 1.25 * own),
}
"""Forces that pull as the law does at no distance but one, if at any; the last is one that nothing
but its strength tells from the law."""
FOREIGN = tuple(name for name, past in PASTS.items() if past.pull is not None)


def behind(
    world: World, states: States, past: Past, length: int, random: np.random.Generator
) -> tuple[Float[np.ndarray, "state time axis"], np.ndarray]:
    """The last positions up to each state, au, and how many steps ago the last kick was (0: none).

    Positions are NaN where an arc cannot be followed, such as through the centre itself.
    """
    x, v, gm = states.position, states.velocity, states.gm
    # each kick leaves two positions on the newest arc, and one on an older
    latest = max(1, length - 2)
    number = np.zeros(len(gm), dtype=int)
    if past.kicks:
        number = random.integers(past.kicks, (latest if past.kicks > 1 else 1) + 1, len(gm))
    order = np.argsort(random.random((len(gm), latest)), axis=1)
    turned = np.argsort(order, axis=1) < number[:, None]  # (state, steps ago less one)
    window = [x]
    with np.errstate(all="ignore"):
        for step in range(1, length):
            kicked = turned[:, step - 2] if step > 1 else np.zeros(len(gm), dtype=bool)
            if kicked.any():
                v = v.copy()
                v[kicked] = turned_at_random(x[kicked], v[kicked], *KICK, random)
            if past.pull is None or step == 1:
                x, v = _back(world, x, v, gm)
            else:
                x = _stepped(world, past, gm, window)
            window.append(x)
    return np.stack(window[::-1], axis=1), np.where(number > 0, turned.argmax(axis=1) + 1, 0)


def pull_of(world: World, past: Past, r: np.ndarray, gm: np.ndarray) -> Float[np.ndarray, " state"]:
    """Acceleration towards the centre under a past's own force, au/yr^2."""
    assert past.pull is not None  # for the type checker: asked of other forces alone
    middle = float(np.sqrt(world.radius[0] * world.radius[1]))

    def own(at: np.ndarray) -> np.ndarray:
        place = np.zeros((len(gm), world.axes))
        place[:, 0] = at
        return np.asarray(-world.law.acceleration(place, gm)[:, 0])

    there = own(np.full(len(gm), middle))
    return np.asarray(there * past.pull(r / middle, own(r) / there))


def _stepped(world: World, past: Past, gm: np.ndarray, window: list[np.ndarray]) -> np.ndarray:
    """One more position under another force, by Störmer's rule."""
    here, newer = window[-1], window[-2]
    r = np.linalg.norm(here, axis=1)
    pull = pull_of(world, past, r, gm)
    return 2 * here - newer - world.dt**2 * (pull / r)[:, None] * here


def _back(
    world: World, x: np.ndarray, v: np.ndarray, gm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step back under the law, in parts as short as each place demands; NaN for arcs that end
    in the centre."""
    x, v, left = x.copy(), v.copy(), np.full(len(x), world.dt)
    for _ in range(MOST_PARTS):
        moving = np.flatnonzero(left > 0)
        if not len(moving):
            return x, v
        here, fast = x[moving], v[moving]
        pull = partial(world.law.acceleration, gm=gm[moving])
        r = np.linalg.norm(here, axis=1)
        turn = np.minimum(
            r / np.linalg.norm(fast, axis=1), np.sqrt(r / np.linalg.norm(pull(here), axis=1))
        )
        part = np.minimum(left[moving], PART * turn)
        x[moving], v[moving] = rk4_step(pull, here, fast, -part[:, None])
        left[moving] -= part
    x[left > 0] = np.nan
    return x, v


def velocity_through(
    world: World, before: np.ndarray, here: np.ndarray, gm: np.ndarray
) -> Float[np.ndarray, "state axis"]:
    """The velocity at the later of two positions that the law joins in one step, au/yr; NaN where
    it is not found, as when the centre was passed within that step.

    Two positions fix a state of a second-order law. A step back from a guess misses the earlier
    position by nearly −dt times the error of the velocity, which is corrected by as much.
    """
    velocity = (here - before) / world.dt + world.law.acceleration(here, gm) * world.dt / 2
    for _ in range(8):  # each leaves (ω dt)²/6 of the error: 0.12 at the worst step, ω dt = 0.85
        change = (follow(world.law, here, velocity, gm, -world.dt)[0] - before) / world.dt
        velocity = velocity + change
    size = np.linalg.norm(velocity, axis=1) + np.linalg.norm(here - before, axis=1) / world.dt
    found = np.linalg.norm(change, axis=1) <= CONVERGED * size
    return np.where(found[:, None], velocity, np.nan)
