"""Options of `symreg compare`, and the limits that a search shares with it."""

import math
from dataclasses import dataclass
from typing import Annotated

from orbits.options import Above, Interval, Options

SECONDS = 10.0
"""CPU time for one comparison."""
LONGEST = 86_400.0
"""Seconds: no comparison or search may take longer than a day."""
EXPONENT_MARGIN = 0.05
"""Exponents closer than this are the same."""
DOMAIN = (0.3, 3.0)
"""Domain of comparison, unless a variable has its own."""


Variables = tuple[str, ...] | str
"""Names, or one text with commas."""
Margin = Annotated[float, Interval(ge=0.0, lt=1.0)]
Limit = Annotated[float, Interval(gt=0.0, le=LONGEST)]
Range = tuple[Annotated[float, Above(0)], Annotated[float, Above(0)]]


@dataclass(frozen=True)
class CompareConfig(Options):
    """How two formulas are compared."""

    variables: tuple[str, ...] = ()
    """Names that a scale may not depend on; by default all but the usual names of constants."""
    low: Annotated[float, Above(0)] = DOMAIN[0]
    """Lower end of every variable's domain."""
    high: Annotated[float, Above(0)] = DOMAIN[1]
    """Upper end of every variable's domain."""
    margin: Margin = EXPONENT_MARGIN
    """Exponents closer than this are the same."""
    limit: Limit = SECONDS
    """Seconds of computing after which the answer is `undecided`."""

    def __post_init__(self) -> None:
        """Check that the domain is one."""
        super().__post_init__()
        if not self.low < self.high < math.inf:
            raise ValueError(
                f"--low is {self.low} and --high is {self.high}; 0 < low < high is needed "
                "(every symbol is positive)."
            )
