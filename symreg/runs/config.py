"""Options of `symreg run`: one experiment, from simulated orbits to a verdict."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from orbits.command.near_misses import require_known

SOURCES = {
    "orbit": "held-out simulated orbits",
    "kicked": "kicked states",
    "planets": "real planets (JPL DE421)",
}
"""The sets of states on which the model is questioned."""

CONTROLS = {
    "injected": "positive control: the true law in place of the model",
    "untrained": "null control: the same network, untrained",
    "keplerian": "positive control: an ellipse fitted to the context in place of the model",
}
"""The same question, where the answer is known."""

READOUTS = (
    "kick_response", "jacobian", "linear", "evaluate", "extrapolate", "transfer",
    "transfer_frozen", "inductive_bias",
)  # fmt: skip
"""Further questions, each a stage of its own."""

FACTORS = (1, 2, 4, 8, 16)
"""Lengths of `extrapolate`, in contexts."""


PLANETS_YEARS = (1950, 2050, 2200)
"""Years from and to which real planets are taken, and the last to which a segment may reach."""


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
    window: int | None = None
    """Local attention: each layer sees the last W positions; by default the whole context."""
    target: str = "displacement"
    """What the model predicts: displacement, residual or position."""
    head: Literal["regression", "tokens"] = "regression"
    """A number for each coordinate, or a distribution over bins of the next coordinate."""
    bins: int = 7000
    """Bins for each coordinate (head=tokens)."""
    bin_range: float = 50.0
    """The bins cover −R to R, in au (head=tokens)."""
    inputs: Literal["positions", "differences"] = "positions"
    """What a token holds: the position, or first and second differences of positions as well."""
    seed: int = 0
    """Seed of the orbits, the weights, the kicks and the search."""
    engine: str = "auto"
    """Symbolic regression: auto, pysr or operon."""
    simulator: Literal["scipy", "heyoka", "kepler", "auto"] = "scipy"
    """Engine that integrates the orbits; auto takes heyoka where it is installed."""
    system: Literal["relative", "barycentric"] = "relative"
    """One body around a centre, or two visible bodies around their centre of mass."""
    population: Literal["controlled", "exoplanets"] = "controlled"
    """Ranges of orbits that suit the law, or published distributions (0.3 to 32 au)."""
    mass: tuple[float, ...] = (1.0, 1.0)
    """Central mass, M_sun: lowest and highest; equal values fix it."""
    orbits: int = 1000
    """Training orbits."""
    held_out: int = 0
    """Orbits that the model never trains on, and is questioned on; 0 takes a quarter as many."""
    samples: int = 128
    """States in an orbit."""
    dt: float = 0.008
    """Time between two states, yr."""
    kicked: float = 0.0
    """Fraction of the training orbits whose velocity is turned and rescaled in mid-course."""
    steps: int = 3000
    """Training steps."""
    batch_tokens: int = 1024
    """Positions seen in each training step."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    """Number format of the training passes."""
    d_model: int = 64
    """Width of the model."""
    n_layers: int = 2
    """Blocks of the model."""
    n_heads: int = 4
    """Attention heads in each block."""
    search_seeds: int = 5
    """Independent searches for a formula in every set of states."""
    sources: tuple[str, ...] = ("orbit", "kicked", "planets")
    """Sets of states on which the model is questioned: orbit, kicked, planets."""
    controls: tuple[str, ...] = ("injected", "untrained")
    """Controls on kicked states: injected, untrained, keplerian."""
    readouts: tuple[str, ...] = ("jacobian",)
    """Further questions: kick_response, jacobian, linear, evaluate, extrapolate, transfer,
    transfer_frozen, inductive_bias."""
    transfer: tuple[int, ...] = (900, 100)
    """Orbits on which transfer fine-tunes: with a label of force at every time, and with two labels
    each (published: 9000 1000)."""
    transfer_steps: int = 500
    """Steps of fine-tuning, of batch_tokens positions each."""
    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    """Real planets whose positions the model is shown."""

    def __post_init__(self) -> None:
        """Check what no later stage would check before hours have passed."""
        counts = (
            "context_length", "orbits", "samples", "steps", "d_model", "n_layers", "n_heads",
            "bins", "batch_tokens", "search_seeds", "transfer_steps",
        )  # fmt: skip
        for name in counts:
            if getattr(self, name) < 1:
                raise ValueError(f"{option(name)} is {getattr(self, name)}; at least 1.")
        if self.window is not None and self.window < 1:
            raise ValueError(f"--window is {self.window}; at least 1, or none at all.")
        for name in ("seed", "held_out"):
            if getattr(self, name) < 0:
                raise ValueError(f"{option(name)} is {getattr(self, name)}; at least 0.")
        if not (math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"--dt is {self.dt} yr; it must be positive and finite.")
        if not 0 <= self.kicked <= 1:
            raise ValueError(f"--kicked is {self.kicked}; a fraction from 0 to 1 is needed.")
        if self.orbits < 8:
            raise ValueError(f"--orbits is {self.orbits}; at least 8, to hold some out.")
        low, high = self.mass if len(self.mass) == 2 else (0.0, 0.0)
        if not 0 < low <= high < math.inf:
            given = " ".join(map(str, self.mass))
            raise ValueError(f"--mass is {given or 'empty'}; give low and high, 0 < low <= high.")
        if len(self.transfer) != 2 or min(self.transfer) < 1:
            given = " ".join(map(str, self.transfer))
            raise ValueError(f"--transfer is {given or 'empty'}; give two counts, at least 1 each.")
        self._check_questions()
        # half of an orbit before the kick (the model's context), half after it
        if self.samples < 2 * self.context_length or self.samples < 24:
            raise ValueError(
                f"--samples is {self.samples}; a context of {self.context_length} needs at least "
                f"{max(24, 2 * self.context_length)} (the kick comes in mid-orbit)."
            )

    def _check_questions(self) -> None:
        for name, known in (("sources", SOURCES), ("controls", CONTROLS), ("readouts", READOUTS)):
            values = getattr(self, name)
            for value in values:
                require_known(name.removesuffix("s"), value, known)
            if len(set(values)) < len(values):
                raise ValueError(f"{option(name)} names something twice: {' '.join(values)}.")
        if not (self.sources or self.readouts):
            raise ValueError("--sources and --readouts are empty: there is nothing to ask.")
        if "planets" in self.sources and not self.bodies:
            raise ValueError("--bodies is empty; name at least one planet.")
        if "planets" in self.sources and self.system == "barycentric":
            raise ValueError(
                "--sources planets shows one body around the Sun, but --system barycentric "
                "trains on two bodies; leave planets away."
            )
        if self.kicked and self.system == "barycentric":
            raise ValueError(
                "--kicked turns the velocity of one body; leave it away with --system barycentric."
            )
        if "linear" in self.readouts and self.held_out_orbits < 10:
            raise ValueError(
                f"--readouts linear needs 10 held-out orbits; there are {self.held_out_orbits} "
                "(--held-out)."
            )
        first, _, last = PLANETS_YEARS
        if "planets" in self.sources and self.samples * self.dt > last - first:
            raise ValueError(
                f"--sources planets: the positions end in {last}, {last - first} yr after the "
                f"first, but --samples {self.samples} times --dt {self.dt:g} yr is "
                f"{self.samples * self.dt:g} yr; take less, or leave planets away."
            )

    @property
    def folder(self) -> Path:
        """The run directory."""
        if self.out is not None:
            return Path(self.out)
        law, kind = file_name(self.law), file_name(self.attention)
        return Path("runs") / f"{law}-{kind}-context{self.context_length}-seed{self.seed}"

    @property
    def questions(self) -> tuple[str, ...]:
        """The read-outs that this model has: one of tokens has no derivatives by positions."""
        return tuple(r for r in self.readouts if self.head != "tokens" or r != "jacobian")

    @property
    def held_out_orbits(self) -> int:
        """Orbits that the model never trains on."""
        return self.held_out or max(2, self.orbits // 4)


def resolved(config: RunConfig) -> dict[str, Any]:
    """Everything that decides a run's results: all options but its folder."""
    return {key: value for key, value in asdict(config).items() if key != "out"}


def option(name: str) -> str:
    """A field's name as on the command line."""
    return f"--{name.replace('_', '-')}"


def file_name(text: str) -> str:
    """A text as part of a file's name: whatever a shell would read is an underscore."""
    return "".join(c if c.isalnum() or c in "._=-" else "_" for c in text).strip("_")
