"""What the times of transits tell: the object that `symreg.weigh_transits` returns."""

from dataclasses import dataclass, field
from typing import Any

from orbits.printing import table, wrapped
from symreg.result import Result
from symreg.weighing.result import Estimate


@dataclass(frozen=True)
class Planet:
    """A planet and its transits.

    Attributes:
        name: as the table has it.
        mass: over the star's, in millionths.
        earths: Earth masses; free unless the star's mass is given.
        weighed: whether the mass is more than twice the half width of its interval.
        period: osculating in the middle of the time, days.
        eccentricity: of the best fit.
        number: (row,) of its transits.
        time: (row,) as observed, days of the table.
        error: (row,) as given.
        line: (row,) of the straight line through the observed times.
        fitted: (row,) by masses and orbits.
        kept: (row,) whether the time counts.
    """

    name: str
    mass: Estimate
    earths: Estimate
    weighed: bool
    period: Estimate
    eccentricity: float
    number: tuple[int, ...]
    time: tuple[float, ...]
    error: tuple[float, ...]
    line: tuple[float, ...]
    fitted: tuple[float, ...]
    kept: tuple[bool, ...]


@dataclass(frozen=True)
class TransitWeighing(Result):
    """Planets weighed by how they shift each other's transits, with 95 % intervals.

    Attributes:
        planets: in order of period.
        star_mass: solar masses, as given; 0 if not.
        scatter: of the times over their errors, at least 1; the intervals are widened by it.
        chi_square: of the times that count.
        freedom: their number less that of the fitted numbers.
        wild: times left out.
        explanation: in plain words.
        configuration: options.
        versions: of everything that can influence a number.
        seconds: taken.
    """

    planets: tuple[Planet, ...]
    star_mass: float
    scatter: float
    chi_square: float
    freedom: int
    wild: int
    explanation: str = ""
    configuration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def plot(self) -> Any:
        """How late every transit is, with what the masses explain.

        Returns:
            The matplotlib `Figure`.
        """
        from symreg.weighing.transits.plot import plot_transits

        return plot_transits(self)

    def __str__(self) -> str:
        """A line for each planet, and what they come to."""
        told = self.star_mass > 0
        mass = "mass, Earths" if told else "mass, 1e-6 of the star's"
        rows = [("planet", "transits", "period, days", mass, "eccentricity")]
        for p in self.planets:
            size = f"{p.earths if told else p.mass}{'' if p.weighed else ', not weighed'}"
            rows.append((p.name, str(len(p.time)), str(p.period), size, f"{p.eccentricity:.2g}"))
        return "\n\n".join([table(rows), wrapped(self.explanation)])

    def __repr__(self) -> str:
        masses = ", ".join(f"{p.name}: {p.mass}" for p in self.planets)
        return f"TransitWeighing({masses})"
