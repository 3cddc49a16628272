"""The contract of controls, which are read instead of the model. Imports no torch.

A control is a file here with an object `Control`: its name is a choice of `--control`, and nothing
else need know of it. A file elsewhere is found after
`worldmodel.controls.__path__.append(folder)`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from worldmodel.predictor import ArcPredictor, Predictor

if TYPE_CHECKING:
    from orbits.forces import ForceLaw

Memory = Callable[[], np.ndarray]
"""Gives (orbit, time, axis) positions of training orbits, au; a ValueError if unknown."""


@dataclass(frozen=True)
class Control:
    """What is read instead of the model."""

    name: str
    """As in `--control`."""
    what: str
    """A few words for the help."""
    label: str
    """For legends and tables."""
    color: str
    """In every picture."""
    must: str
    """What it must show if the method works, as a sentence."""
    predictor: "Callable[[Any, ForceLaw, Memory], Predictor | ArcPredictor]"
    """Makes the predictor, from the model (`WorldModel` or `CheckedPredictor`), the law that moves
    the data, and a source of the model's training orbits."""
    network: Callable[[Any, int], Any] = lambda model, seed: model
    """Makes the model to read, from the trained one and the probe's seed."""
    needs_law: bool = False
    """Whether the law that moves the data must be known."""
    remembers: bool = False
    """Whether it is fitted to the training orbits, which must be known."""
    lookup: bool = False
    """Whether it interpolates them, and holds no law: a verdict puts the model beside it."""
    most_bodies: int | None = None
    """Visible bodies whose motion it knows; None: any number."""
