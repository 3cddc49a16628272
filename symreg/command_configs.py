"""Options of the small commands `symreg compare` and `symreg engines`."""

import math
from dataclasses import dataclass

from symreg.formulas.limits import EXPONENT_MARGIN, SECONDS


@dataclass(frozen=True)
class CompareConfig:
    """How two formulas are compared."""

    variables: tuple[str, ...] = ()
    """Names that a scale may not depend on; by default all but the usual names of constants."""
    low: float = 0.3
    """Lower end of every variable's domain."""
    high: float = 3.0
    """Upper end of every variable's domain."""
    margin: float = EXPONENT_MARGIN
    """Exponents closer than this are the same."""
    limit: float = SECONDS
    """Seconds of computing after which the answer is `undecided`."""

    def __post_init__(self) -> None:
        """Check every number."""
        if not 0 < self.low < self.high < math.inf:
            raise ValueError(
                f"--low is {self.low} and --high is {self.high}; 0 < low < high is needed "
                "(every symbol is positive)."
            )
        if not 0 <= self.margin < math.inf:
            raise ValueError(f"--margin is {self.margin}; it must be 0 or more.")
        if not 0 < self.limit < math.inf:
            raise ValueError(f"--limit is {self.limit} s; it must be above 0.")


@dataclass(frozen=True)
class EnginesConfig:
    """Nothing to choose: the engines are looked for where they would run."""
