"""The told mass: a loss that can be low only for who remembers what was told once, at the start.

For orbits two positions are enough, so a loss that stays flat on long sequences says little about
memory. Here it takes memory. The first two positions are one step of a body on a wide circle: they
tell the Sun's mass, which differs from sequence to sequence. Every later position is a new body on
another circle around the same Sun, put down at random; the network is to say where it is one step
later. No later position tells the mass again.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import recall
import torch
from jaxtyping import Float
from torch import Tensor

from worldmodel import objective
from worldmodel.model import Network, Scales
from worldmodel.representation.base import Scale

DT = 0.1
"""Time from one position to the next, yr."""
MASS = (0.25, 4.0)
"""Of the Sun, log-uniform, solar masses."""
RADIUS = (0.7, 1.3)
"""Of the circles, au: a step turns a body by 0.2 to 2.1 rad."""
TOLD_RADIUS = 2.0
"""Of the circle that tells the mass, au: it is seen to be another."""


@dataclass(frozen=True)
class Options(recall.Options):
    """The same, and whether the mass is told."""

    told: bool = True
    """Tell the mass; with --no-told nothing does, which shows that nothing else tells it."""


@dataclass(frozen=True)
class ToldMass(recall.Task):
    """Sequences of the task."""

    name: ClassVar[str] = "memory"
    scales: ClassVar[Scales] = Scales(
        bodies=1, axes=2, inputs=(Scale(size=0.7), Scale(), Scale()), outputs=(Scale(size=0.5),)
    )
    shown: ClassVar[str] = "loss"

    options: Options

    @property
    def network(self) -> dict[str, Any]:
        """Differences among the inputs: what a step tells is seen at once."""
        return {"target": "displacement", "inputs": "differences"}

    def draw(
        self, count: int, length: int, generator: torch.Generator
    ) -> tuple[
        Float[Tensor, "sequence time body axis"],
        Float[Tensor, "sequence time body axis"],
        Float[Tensor, " sequence"],
    ]:
        """Positions, where each body is one step later (au), and the masses."""

        def uniform(low: float, high: float, *shape: int) -> Tensor:
            return low + (high - low) * torch.rand(shape, generator=generator)

        mass = uniform(np.log(MASS[0]), np.log(MASS[1]), count).exp()
        radius, angle = uniform(*RADIUS, count, length), uniform(0, 2 * np.pi, count, length)
        if self.options.told:
            radius[:, :2] = TOLD_RADIUS
            angle[:, 1] = angle[:, 0] + turn(mass, radius[:, 0])
        later = angle + turn(mass[:, None], radius)
        return _placed(radius, angle), _placed(radius, later), mass

    def loss(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> Float[Tensor, ""]:
        """That of an orbit's next position."""
        seen, following, _ = self.draw(count, length, generator)
        return objective.loss(network.config, network.scales, network(seen), seen, following)

    def scores(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> dict[str, Float[Tensor, " sequence"]]:
        """`loss`: mean squared error of the last `length` positions, in units of that of the best
        answer without the mass; `mistold`: the same where another sequence's mass is told."""
        seen, following, _ = self.draw(count, length, generator)
        other = seen.clone()
        other[:, :2] = seen[:, :2].roll(1, 0)
        start = max(2, length - self.options.length)
        unknown = ignorance(torch.linalg.vector_norm(seen[:, start:, 0], dim=-1)).mean(1)
        found = {}
        for name, shown in (("loss", seen), ("mistold", other)):
            said = objective.next_position(network.config, network.scales, network(shown), shown)
            error = (said - following)[:, start:].square().sum((2, 3))
            found[name] = error.mean(1) / unknown
        return found


def turn(mass: Tensor, radius: Tensor) -> Tensor:
    """Angle of one step on a circle, rad: Kepler's third law."""
    return 2 * np.pi * DT * (mass / radius**3).sqrt()


def ignorance(radius: Tensor, points: int = 101) -> Tensor:
    """Mean squared error, au², of the best answer without the mass: the mean over all masses.

    Args:
        radius: of the circles, au.
        points: masses of the mean, at the middles of so many parts.
    """
    middles = (torch.arange(points) + 0.5) / points
    mass = (np.log(MASS[0]) + np.log(MASS[1] / MASS[0]) * middles).exp()
    angle = turn(mass, radius[..., None])
    return radius**2 * (1 - angle.cos().mean(-1) ** 2 - angle.sin().mean(-1) ** 2)


def _placed(radius: Tensor, angle: Tensor) -> Tensor:
    """(sequence, time, body, axis) of one body."""
    return (radius[..., None] * torch.stack((angle.cos(), angle.sin()), dim=-1))[:, :, None]


if __name__ == "__main__":
    recall.command(ToldMass, Options, 1.0, None)
