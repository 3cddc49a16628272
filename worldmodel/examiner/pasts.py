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

from worldmodel.examiner.states import States, World
from worldmodel.flow import advanced, follow
from worldmodel.kick import followed, turned_at_random

KICK = np.pi, (0.8, 1.2)
"""Largest angle (rad) to either side by which a velocity is turned, and factors of its size."""
CLOSE = 3.0
"""Nearer to the centre than the nearest training distance over this, a step of an arc is divided
into more parts; over its cube, it is integrated with control of the error."""


@dataclass(frozen=True)
class Past:
    """A kind of past.

    Attributes:
        words: for a sentence: "behind a past ...".
        pull: of another force, towards the centre, at a distance in units of the middle one of
            training, where 1 is the law's. None: the law itself.
        kicks: velocities turned on the way, older than the last two positions.
    """

    words: str
    pull: Callable[[np.ndarray], np.ndarray] | None = None
    kicks: int = 0


OWN = "the law's own"
PASTS = {
    OWN: Past("of the law's own"),
    "one kick": Past("with one kick", kicks=1),
    "two kicks": Past("with two kicks", kicks=2),
    "linear": Past("under a force that grows with the distance", lambda r: r),
    "cubic": Past("under a force of 1/r³", lambda r: r**-3),
    "none": Past("without a force", np.zeros_like),
    "repulsive": Past("under a repulsive force", lambda r: -(r**-2)),
}
"""Forces that pull as the law does at no distance but one, if at any."""
FOREIGN = tuple(name for name, past in PASTS.items() if past.pull is not None)


def behind(
    world: World, states: States, past: Past, length: int, random: np.random.Generator
) -> tuple[Float[np.ndarray, "state time axis"], np.ndarray]:
    """The last positions up to each state, au, and how many steps ago the last kick was (0: none).

    Positions are NaN where an arc cannot be followed, such as through the centre itself.
    """
    x, v, gm = states.position, states.velocity, states.gm
    kicks = np.zeros((len(gm), 0), dtype=int)
    if past.kicks:  # each leaves two positions on the newest arc, and one on an older
        latest = max(1, length - 2)
        kicks = np.argsort(random.random((len(gm), latest)), axis=1)[:, : past.kicks] + 1
    window = [x]
    with np.errstate(all="ignore"):
        for step in range(1, length):
            kicked = (kicks == step).any(axis=1)
            if kicked.any():
                v = v.copy()
                v[kicked] = turned_at_random(x[kicked], v[kicked], *KICK, random)
            if past.pull is None or step == 1:
                x, v = _back(world, x, v, gm)
            else:
                x = _stepped(world, past, gm, window)
            window.append(x)
    return np.stack(window[::-1], axis=1), kicks.min(axis=1, initial=length) % length


def pull_of(world: World, past: Past, r: np.ndarray, gm: np.ndarray) -> Float[np.ndarray, " state"]:
    """Acceleration towards the centre under a past's own force, au/yr^2."""
    assert past.pull is not None  # for the type checker: asked of other forces alone
    middle = float(np.sqrt(world.radius[0] * world.radius[1]))
    place = np.zeros((len(gm), world.axes))
    place[:, 0] = middle
    size = np.linalg.norm(world.law.acceleration(place, gm), axis=1)
    return np.asarray(size * past.pull(r / middle))


def _stepped(world: World, past: Past, gm: np.ndarray, window: list[np.ndarray]) -> np.ndarray:
    """One more position under another force, by Störmer's rule."""
    here, newer = window[-1], window[-2]
    r = np.linalg.norm(here, axis=1)
    pull = pull_of(world, past, r, gm)
    return 2 * here - newer - world.dt**2 * (pull / r)[:, None] * here


def _back(
    world: World, x: np.ndarray, v: np.ndarray, gm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step back under the law, as exactly as the place demands."""
    one, its = follow(world.law, x, v, gm, -world.dt)
    chord = one - x
    share = -np.sum(x * chord, axis=1) / np.sum(chord**2, axis=1)
    r = np.linalg.norm(x + np.clip(share, 0, 1)[:, None] * chord, axis=1)
    close = np.flatnonzero(~(r > world.radius[0] / CLOSE) & np.isfinite(x).all(axis=1))
    if len(close):
        pull = partial(world.law.acceleration, gm=gm[close])
        one[close], its[close] = advanced(pull, x[close], v[close], -world.dt, substeps=128)
    closest = np.flatnonzero(~(r > world.radius[0] / CLOSE**3) & np.isfinite(x).all(axis=1))
    if len(closest):
        # no law of force here has a direction of time
        times = np.array([0.0, world.dt])
        there, fast = followed(world.law, x[closest], -v[closest], gm[closest], times)
        one[closest], its[closest] = there[:, 1], -fast[:, 1]
    return one, its


def velocity_through(
    world: World, before: np.ndarray, here: np.ndarray, gm: np.ndarray
) -> Float[np.ndarray, "state axis"]:
    """The velocity at the later of two positions that the law joins in one step, au/yr.

    Two positions fix a state of a second-order law. A step back from a guess misses the earlier
    position by nearly −dt times the error of the velocity, which is corrected by as much.
    """
    velocity = (here - before) / world.dt + world.law.acceleration(here, gm) * world.dt / 2
    for _ in range(8):  # each leaves (ω dt)²/6 of the error: 0.12 at the worst step, ω dt = 0.85
        miss = follow(world.law, here, velocity, gm, -world.dt)[0] - before
        velocity = velocity + miss / world.dt
    return velocity
