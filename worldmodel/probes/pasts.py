"""Other ways to have come to the same state."""

import numpy as np
from jaxtyping import Float

from orbits.forces import ForceLaw
from worldmodel.kick import kicked_at, turned_at_random
from worldmodel.probes.setting import ExperimentConfig
from worldmodel.probes.states import Arcs


def other_pasts(
    arcs: Arcs,
    orbit: np.ndarray,
    time: np.ndarray,
    length: int,
    law: ForceLaw,
    dt: float,
    random: np.random.Generator,
    config: ExperimentConfig,
) -> Float[np.ndarray, "state time body axis"]:
    """Contexts with another past that end in the same two positions.

    One step before the end the velocity is turned and rescaled as in a kick, and followed back in
    time under the law. NaN if that leads into the centre.
    """
    contexts = arcs.contexts(orbit, time, length)
    if length <= 2:
        return contexts
    x, v, gm = arcs.at(orbit, time - 1)
    before = turned_at_random(x, v, config.kick_angle, config.kick_scale, random)
    # Back in time: a central attraction does not know the sign of the velocity.
    back = kicked_at(x[:, None], -before[:, None], gm, law, dt, at=0, steps=length - 2)
    contexts[:, :-1] = back.position[:, ::-1, None] * arcs.shares[orbit][:, None, :, None]
    return contexts
