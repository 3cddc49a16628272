"""States to probe: undisturbed arcs, and arcs kicked in mid-orbit."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from orbits.forces import ForceLaw
from orbits.frames import relative_shares, relative_states
from orbits.statistics import varies
from orbits.units import G
from worldmodel.kick import kicked_at, turned_at_random
from worldmodel.rows import Rows
from worldmodel.source import DataFacts, DatasetSource, Trajectories


@dataclasses.dataclass(frozen=True)
class Arcs(Rows):
    """States to probe, and which of their times are read.

    Two visible bodies (`mass` is not None) move about their barycentre; `position` is then that of
    the first relative to the second, so attraction points against it.
    """

    position: Float[np.ndarray, "orbit time axis"]
    """Relative position, au."""
    velocity: Float[np.ndarray, "orbit time axis"]
    """Relative velocity, au/yr; at a kick the new one."""
    gm: Float[np.ndarray, " orbit"]
    """Parameter of the relative motion, au^3/yr^2; after a kick in GM the new one."""
    index: np.ndarray
    """(orbit,) numbers in the data set."""
    start: int
    """First time whose second difference lies on the smooth arc."""
    read: range
    """Times that give rows."""
    seen: Float[np.ndarray, "orbit time body axis"]
    """Positions as the model sees them, au."""
    mass: Float[np.ndarray, "orbit body"] | None = None
    """Masses of both bodies, M_sun, if both are visible."""
    body: np.ndarray | None = None
    """(orbit,) which planet it is, for planets."""
    kick: int | None = None
    """Time of the kick; None if undisturbed."""
    many: tuple[np.ndarray, np.ndarray] | None = None
    """For more than two visible bodies, what only a law needs: (orbit, body) masses, M_sun, NaN if
    unknown, and (orbit, time, body, axis) velocities; `position` is the second's from the first."""

    @classmethod
    def relative(
        cls, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, **fields: Any
    ) -> "Arcs":
        """Arcs of relative motion, of which a model sees each body's share; by default they are
        numbered in turn, and read at their last time."""
        last = position.shape[1] - 1
        usual: dict[str, Any] = {"index": np.arange(len(gm)), "start": 1}
        usual["read"] = range(last, last + 1)
        arcs = cls(position, velocity, gm, seen=position[:, :, None], **(usual | fields))
        return dataclasses.replace(arcs, seen=arcs.seen * arcs.shares[:, None, :, None])

    @property
    def shares(self) -> Float[np.ndarray, "orbit body"]:
        """Each body's share of the relative position, x_b = share · x: (m2, −m1)/(m1 + m2) of two
        visible bodies, 1 if relative."""
        return np.ones((len(self.gm), 1)) if self.mass is None else relative_shares(self.mass)

    def contexts(
        self, orbit: np.ndarray, time: np.ndarray, length: int
    ) -> Float[np.ndarray, "state context body axis"]:
        """What a model sees of some states: the last positions up to them, au, float64."""
        steps = time[:, None] + np.arange(1 - length, 1)
        return self.seen[orbit[:, None], steps].astype(np.float64)

    def at(self, orbit: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and GM of some states, float64."""
        x, v = (states[orbit, time].astype(np.float64) for states in (self.position, self.velocity))
        return x, v, self.gm[orbit]

    def draw(
        self, states: int, random: np.random.Generator
    ) -> tuple[Int[np.ndarray, " state"], Int[np.ndarray, " state"]]:
        """Indices of orbits and times for about so many states: as many times per orbit."""
        each = min(len(self.read), max(1, round(states / len(self.gm))))
        times = [np.sort(random.choice(len(self.read), each, replace=False)) for _ in self.gm]
        return np.repeat(np.arange(len(self.gm)), each), np.concatenate(times) + self.read.start


@dataclasses.dataclass(frozen=True)
class Orbits:
    """Orbits of a data set as relative motion, with one visible body or two."""

    trajectories: Trajectories
    position: Float[np.ndarray, "orbit time axis"]
    velocity: Float[np.ndarray, "orbit time axis"]
    mass: Float[np.ndarray, "orbit body"] | None

    @property
    def gm_varies(self) -> bool:
        """Whether GM differs between the orbits by more than the planets' own masses do."""
        return varies(self.trajectories.gm)


def read_orbits(source: DatasetSource, numbers: np.ndarray) -> Orbits:
    """Some orbits of a data set; ValueError if it holds more than two visible bodies."""
    facts = source.facts
    two = facts.system == "barycentric"
    if facts.bodies != 1 and not two:
        raise ValueError(
            f"{facts.path} holds {facts.bodies} bodies in each state; of so many, probes read "
            "--readout implied --states orbit alone. For the others generate with --system "
            "relative (one body) or barycentric (two)."
        )
    chosen = source.read(numbers)
    if not two:
        return Orbits(chosen, chosen.position[:, :, 0], chosen.velocity[:, :, 0], None)
    seen = (states.astype(np.float64) for states in (chosen.position, chosen.velocity))
    position, velocity = relative_states(facts.system, *seen)
    return Orbits(chosen, position, velocity, source.masses(numbers))


LEAST_TIMES = 3
"""Of an arc that is read."""


def times_read(facts: DataFacts, context_length: int) -> range:
    """Times of undisturbed orbits with a full context, and a position before the present one;
    ValueError if there are fewer than three."""
    times = range(max(1, context_length - 1), facts.samples)
    if len(times) < LEAST_TIMES:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit; a model with context "
            f"{context_length} can be probed from {times.start + LEAST_TIMES} states on."
        )
    return times


def undisturbed(orbits: Orbits, context_length: int) -> Arcs:
    """Whole orbits, read at `times_read`; raises as that does."""
    chosen = orbits.trajectories
    times = times_read(chosen.facts, context_length)
    return Arcs(
        position=orbits.position,
        velocity=orbits.velocity,
        gm=chosen.gm,
        index=chosen.index,
        start=times.start,
        read=times,
        seen=chosen.position,
        mass=orbits.mass,
        body=chosen.body,
    )


def kicked(
    orbits: Orbits,
    law: ForceLaw,
    context_length: int,
    steps: range,
    angle: float,
    scale: tuple[float, float],
    random: np.random.Generator,
) -> Arcs:
    """Orbits whose relative velocity is turned and rescaled, read some steps later (1, 2, ...).

    They are kicked in mid-orbit, or later if the context would not be full one step after. Both
    bodies of a barycentric orbit are kicked, so the barycentre stays put. ValueError if the orbits
    are too short, or all of them fall into the centre.
    """
    at = time_of_kick(orbits, context_length)
    x, v = (states[:, at].astype(np.float64) for states in (orbits.position, orbits.velocity))
    velocity = turned_at_random(x, v, angle, scale, random)
    return after_kick(orbits, law, at, steps, orbits.trajectories.gm, velocity)


def kicked_in_mass(
    orbits: Orbits,
    law: ForceLaw,
    context_length: int,
    steps: int,
    random: np.random.Generator,
) -> Arcs:
    """Orbits whose central mass changes in mid-orbit while position and velocity go on.

    The new GM is drawn log-uniformly between the smallest and the largest GM of the orbits. The
    masses of a barycentric pair change by one factor, which keeps the barycentre in place. Raises
    as `kicked` does.
    """
    at, gm = time_of_kick(orbits, context_length), orbits.trajectories.gm
    gm = np.exp(random.uniform(np.log(gm.min()), np.log(gm.max()), len(gm)))
    return after_kick(orbits, law, at, range(1, steps + 1), gm)


def time_of_kick(orbits: Orbits, context_length: int) -> int:
    samples = orbits.position.shape[1]
    at = max(samples // 2, context_length - 2)
    if at >= samples:
        raise ValueError(
            f"{orbits.trajectories.facts.path} has {samples} states in each orbit, too few to "
            f"kick a full context of {context_length}; give {context_length} or more."
        )
    return at


def after_kick(
    orbits: Orbits,
    law: ForceLaw,
    at: int,
    steps: range,
    gm: np.ndarray,
    velocity: np.ndarray | None = None,
) -> Arcs:
    """Orbits kicked at a time, read some steps after it."""
    chosen = orbits.trajectories
    followed_for = max(steps.stop, LEAST_TIMES)
    arcs = kicked_at(
        orbits.position, orbits.velocity, gm, law, chosen.facts.dt, at, followed_for, velocity
    )
    followed = np.isfinite(arcs.position[:, -1]).all(axis=-1)
    if not followed.any():
        raise ValueError(
            f"every kicked orbit of {chosen.facts.path} falls into the centre under "
            f"{law.spec}; follow them for fewer steps or give a smaller --kick-angle."
        )
    mass = orbits.mass
    if mass is not None:
        mass = mass * (gm / (G * mass.sum(axis=1)))[:, None]
    return Arcs.relative(
        arcs.position,
        arcs.velocity,
        gm,
        index=chosen.index,
        start=at + steps.start,
        read=range(at + steps.start, at + steps.stop),
        mass=mass,
        body=chosen.body,
        kick=at,
    ).some(followed)
