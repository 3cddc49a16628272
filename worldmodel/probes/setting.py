"""Options of an experiment on a model: what predicts, and on which states. Imports no torch."""

import dataclasses
from typing import Annotated, Literal

from orbits.options import Between, OptionError, require_known
from worldmodel.config import Checkpoint, Count, KickConfig, Seed, Threads
from worldmodel.controls import CONTROLS


@dataclasses.dataclass(frozen=True)
class ExperimentConfig(Checkpoint, Threads, KickConfig):
    __doc__ = f"""What predicts, and on which states; whatever is read off it.

Args:
    control: What predicts: {", ".join(f"{c.name} ({c.what})" for c in CONTROLS.values())}.
"""

    control: str = "none"
    states: Literal["orbit", "kicked"] = "orbit"
    """States of undisturbed orbits, or states after the velocity was turned and rescaled."""
    correction: Literal["numerov", "none"] = "numerov"
    """Correct the second difference for the finite step, from neighbouring steps alone."""
    orbits: Count = 100
    """Read at most this many orbits outside the training set."""
    kick_steps: Annotated[int, Between(1, 10_000)] = 8
    """Least number of steps read after the kick, from the first on, or the second where masses
    differ between orbits; as many as the context has positions, if these are more (kicked)."""
    seed: Seed = 0
    """Seed of the kicks, the untrained weights and the resampling."""
    exam_seed: Annotated[int, Between(0, 2**62)] | None = None
    """Repeats the examination (far states) that names this number; by default a fresh one is
    drawn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            require_known("control", self.control, CONTROLS)
        except ValueError as error:
            raise OptionError("control", str(error).removeprefix("control ")) from None
