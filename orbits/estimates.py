"""A number with its 95 % interval: one type for fits, bootstraps and results."""

import math
from dataclasses import dataclass, replace
from typing import Self

from orbits.statistics import TINY

CONFIDENCE = 0.95
"""Usual: one interval in twenty misses."""
ENDS = (0.025, 0.975)
"""Quantiles at the ends of such an interval."""
STANDARD_ERRORS = 1.959964
"""Standard errors in half of an interval of that confidence, for normal errors."""
MOST_DIGITS = 15
"""Of a number as text: those of double precision."""


@dataclass(frozen=True)
class Estimate:
    """A number with the limits of its 95 % interval; None where undetermined.

    Attributes:
        value: the number.
        low: limit of the interval, all causes together.
        high: the other limit.
        statistical: half-width by resampling, if told apart.
        systematic: largest shift by a smooth error that samples and residuals allow, if told apart.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    statistical: float | None = None
    systematic: float | None = None

    @classmethod
    def of(cls, value: float, standard_error: float) -> "Estimate":
        """A number with an interval, by a normal standard error."""
        half = STANDARD_ERRORS * standard_error
        return Estimate(float(value), float(value - half), float(value + half))

    @property
    def half_width(self) -> float | None:
        """Half of the interval; None without one."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        """Whether a value lies inside the interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def times(self, factor: float) -> Self:
        """The number times an exact factor."""
        by = {"value": factor, "low": factor, "high": factor}
        by |= {"statistical": abs(factor), "systematic": abs(factor)}
        known = {name: value for name in by if (value := getattr(self, name)) is not None}
        scaled = replace(self, **{name: value * by[name] for name, value in known.items()})
        return replace(scaled, low=scaled.high, high=scaled.low) if factor < 0 else scaled

    def __str__(self) -> str:
        """With as many digits as the interval needs: `39.4 [38.35, 40.45]`."""
        if self.value is None:
            return "free"
        half = self.half_width
        if half is None:
            return f"{self.value:.9g}"
        half = max(half, abs(self.value) * 10.0**-MOST_DIGITS, TINY)
        digits = 2 + max(0, math.floor(math.log10(max(abs(self.value), half) / half)))
        digits = min(digits, MOST_DIGITS)
        return f"{self.value:.{digits}g} [{self.low:.{digits}g}, {self.high:.{digits}g}]"
