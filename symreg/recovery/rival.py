"""Another formula that a table allows, and where to measure to find out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from orbits.printing import html_table


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

    def _repr_html_(self) -> str:
        apart = ", ".join(f"{name} = {value:.4g}" for name, value in self.measure_at.items())
        rows = {"formula": self.expression, "share of the posterior": f"{self.weight:.3g}"}
        return html_table((rows | ({"measure at": apart} if apart else {})).items())
