"""Another formula that a table allows, and where to measure to find out."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rival:
    """One of the formulas searched, and its share of the posterior.

    Attributes:
        expression: numbers fitted.
        weight: share of the posterior over all searched.
        complexity: in nodes.
        as_good: whether it explains the table as well as the selected formula, is not clearly
            longer, and does not hold it as a special case: another law that the table allows.
        measure_at: values of the features near the table where the two part; empty for others.
        difference: relative, there.
    """

    expression: str
    weight: float
    complexity: int
    as_good: bool = False
    measure_at: Mapping[str, float] = field(default_factory=dict)
    difference: float | None = None
