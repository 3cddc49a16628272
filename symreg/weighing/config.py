"""Options of `symreg weigh`; light, so that `--help` is fast."""

from dataclasses import dataclass
from typing import Annotated, Literal

from orbits.command.options import AtLeast, Between, Options


@dataclass(frozen=True)
class WeighConfig(Options):
    """How bodies are weighed."""

    law: str = ""
    """A law whose shape is granted (newton, power_law(n=2.5)), so that only masses are searched;
    without it the law is searched too."""
    unit: Literal["au", "km", "m"] = "au"
    """Unit of length in which the law is G m1 m2/r^n. Where n is not 2 every mass depends on it."""
    reference: str = ""
    """A body whose mass is known, in place of G, to fix the scale that positions leave free."""
    reference_mass: Annotated[float, AtLeast(0)] = 1.0
    """Its mass, solar masses."""
    noise: Annotated[float, AtLeast(0)] = 0.0
    """Standard error of a position, au; 0 estimates it from the positions, body by body."""
    orbit: Annotated[int, AtLeast(-1)] = -1
    """Row of the dataset to weigh; -1 takes all rows where they are one system, else the first."""
    scales: Annotated[float, Between(1.1, 4)] = 2.0
    """Ratio of the width of one set of test functions to the next."""
    relativity: bool = False
    """Whether the heaviest body's first post-Newtonian term is added."""
