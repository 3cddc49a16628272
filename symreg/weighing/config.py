"""Options of `symreg weigh`; light, so `--help` is fast."""

from dataclasses import dataclass
from typing import Annotated, Literal

from orbits.options import AtLeast, Between, Interval, Options
from symreg.formulas.config import LONGEST
from symreg.recovery.config import ANY_LAW_SECONDS, RecoverConfig

BIAS = 1e-4
"""Relative error of a spline curve, which no formula need explain."""


@dataclass(frozen=True)
class WeighConfig(Options):
    """How bodies are weighed."""

    law: str = ""
    """Law taken as known (newton, power_law(n=2.5)), so that only masses are fitted; by default the
    law is found too."""
    reference: str = ""
    """Body of known mass that sets the scale, which positions leave free; by default G does."""
    reference_mass: Annotated[float, AtLeast(0)] = 1.0
    """Its mass, kg for positions in m, km or cm, otherwise solar masses."""
    noise: Annotated[float, AtLeast(0)] = 0.0
    """Standard error of a position, in its unit; 0 estimates it from the positions, body by
    body."""
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
    engine: str = "projection"
    """Engine that searches for the law as a formula of distance: as for `symreg recover`."""
    seed: Annotated[int, Between(0, 2**63 - 2)] = 0
    """First seed of the search for a formula."""
    seeds: Annotated[int, Between(1, 10_000)] = 1
    """Independent searches for a formula."""
    time_limit: Annotated[float, Interval(gt=0.0, le=LONGEST)] = ANY_LAW_SECONDS
    """Seconds of computing for the search for a formula."""

    @property
    def search(self) -> RecoverConfig:
        """How to search the free curve for a formula."""
        return RecoverConfig(
            engine=self.engine, seed=self.seed, seeds=self.seeds, time_limit=self.time_limit,
            error_floor=BIAS,
        )  # fmt: skip
