"""Options of `symreg run`: one experiment, from simulated orbits to a verdict."""

import math
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunConfig:
    """One run of the whole path: a law, a model and the states on which it is questioned."""

    out: str | None = None
    """Run directory; by default runs/LAW-ATTENTION-contextC-seedS."""
    law: str = "newton"
    """Law of force that moves the training orbits: newton, power_law(n=3), hooke, ..."""
    attention: str = "softmax"
    """Attention kind: softmax, lssa, lssar(p=15), ..."""
    context_length: int = 2
    """How many positions the model sees."""
    target: str = "displacement"
    """What the model predicts: displacement, residual or position."""
    seed: int = 0
    """Seed of the orbits, the weights, the kicks and the search."""
    engine: str = "auto"
    """Symbolic regression: auto, pysr or operon."""
    orbits: int = 1000
    """Training orbits; a quarter as many are held out."""
    samples: int = 128
    """States in an orbit."""
    dt: float = 0.008
    """Time between two states, yr."""
    steps: int = 3000
    """Training steps."""
    d_model: int = 64
    """Width of the model."""
    search_seeds: int = 5
    """Independent searches for a formula in every set of states."""
    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    """Real planets whose positions the model is shown."""

    def __post_init__(self) -> None:
        """Check what no later stage would check before hours have passed."""
        for name in ("context_length", "orbits", "samples", "steps", "d_model", "search_seeds"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)}; at least 1."
                )
        if not (math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"--dt is {self.dt} yr; it must be positive and finite.")
        if self.orbits < 8:
            raise ValueError(f"--orbits is {self.orbits}; at least 8, to hold some out.")
        if not self.bodies:
            raise ValueError("--bodies is empty; name at least one planet.")
        # half of an orbit before the kick (the model's context), half after it
        if self.samples < 2 * self.context_length or self.samples < 24:
            raise ValueError(
                f"--samples is {self.samples}; a context of {self.context_length} needs at least "
                f"{max(24, 2 * self.context_length)} (the kick comes in mid-orbit)."
            )

    @property
    def folder(self) -> Path:
        """The run directory."""
        if self.out is not None:
            return Path(self.out)
        law = "".join(c if c.isalnum() or c in "._=-" else "_" for c in self.law).strip("_")
        kind = "".join(c if c.isalnum() or c in "._=-" else "_" for c in self.attention).strip("_")
        return Path("runs") / f"{law}-{kind}-context{self.context_length}-seed{self.seed}"

    @property
    def held_out_orbits(self) -> int:
        """Orbits that the model never trains on."""
        return max(2, self.orbits // 4)
