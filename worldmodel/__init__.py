"""Train sequence models on trajectories and read off the force that they learned.

    from worldmodel import WorldModel

    model = WorldModel.load("runs/newton/model")
    predicted = model.predict(positions)       # (orbit, time, axis): the next position, au
    continued = model.rollout(positions, 100)  # (orbit, 100, axis)
    weights = model.attention(positions)       # (layer, orbit, head, query, key)

Importing the package does not import torch; its first use does.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldmodel.world_model import WorldModel

__all__ = ["WorldModel"]


def __getattr__(name: str) -> Any:
    if name == "WorldModel":
        from worldmodel.world_model import WorldModel

        return WorldModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
