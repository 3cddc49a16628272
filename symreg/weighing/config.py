"""Options of `symreg weigh`; light, so `--help` is fast."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from orbits.options import AtLeast, Between, Options, option_names, refuse_decided
from symreg.recovery.config import RecoverConfig

ASKED = ("engine", "seed", "seeds", "individuals", "generations", "max_size", "jobs", "time_limit")
"""Options of `symreg recover` that apply to the search for the free curve's formula."""

BIAS = 1e-4
"""Relative error of a spline curve, which no formula need explain."""


@dataclass(frozen=True)
class WeighConfig(Options):
    """How bodies are weighed."""

    law: str = ""
    """Law taken as known (newton, power_law(n=2.5)), so that only masses are fitted; by default the
    law is found too."""
    unit: Literal["au", "km", "m"] = "au"
    """Unit of length in the law G m1 m2/r^n; unless n is 2, every mass depends on it."""
    reference: str = ""
    """Body of known mass that sets the scale, which positions leave free; by default G does."""
    reference_mass: Annotated[float, AtLeast(0)] = 1.0
    """Its mass, solar masses."""
    noise: Annotated[float, AtLeast(0)] = 0.0
    """Standard error of a position, au; 0 estimates it from the positions, body by body."""
    orbit: Annotated[int, AtLeast(-1)] = -1
    """Row of the dataset to weigh; -1 means all rows if they are one system, otherwise the
    first."""
    scales: Annotated[float, Between(1.1, 4)] = 2.0
    """Ratio of successive widths of test functions."""
    relativity: Literal["none", "einstein", "fitted"] = "none"
    """The heaviest body's first post-Newtonian term: left out, added, or added with a coefficient
    fitted to the whole motion (1 is Einstein, 0 is Newton)."""
    unseen: Annotated[int, Between(0, 1)] = 0
    """Number of unobserved bodies to look for: mass and orbit are fitted to the whole motion under
    --law (newton by default), and the result says whether such a body is needed."""
    search: RecoverConfig = field(
        default_factory=lambda: RecoverConfig(engine="projection", seeds=1, error_floor=BIAS)
    )

    ALIASES: ClassVar[dict[str, str]] = {
        "engine": "search.engine",
        "search_seeds": "search.seeds",
        "seed": "search.seed",
    }
    """Short names of the search's options."""
    DECIDED: ClassVar[tuple[str, ...]] = tuple(
        f"search.{name}" for name in option_names(RecoverConfig) if name not in ASKED
    )
    """Options of the search that weighing sets itself."""

    def __post_init__(self) -> None:
        """Check that no option of the search that weighing sets is given."""
        super().__post_init__()
        refuse_decided(self)
