"""A weighing's result: the object that `symreg.weigh` returns."""

import html
from dataclasses import dataclass, field
from typing import Any

from orbits.estimates import Estimate
from orbits.printing import facts, html_table, table, wrapped
from symreg.result import Result
from symreg.weighing.records import (
    Alternative,
    CurvePoint,
    Mass,
    Momentum,
    Relativity,
    Rest,
    Unseen,
)


@dataclass(frozen=True)
class Weighing(Result):
    """The law between bodies, and their masses, with the evidence.

    Attributes:
        law: as for `orbits.parse_law`, its lengths in au; `none` if no law of distance explains
            the motion.
        formula: attraction by a body of mass m, with r in the unit of length.
        exponent: n of the best-fitting r^-n.
        parameters: of the law, by name; k1, k2, ... of a formula as in `law`.
        masses: of every body.
        scale: what fixes the scale, which positions leave free.
        central: whether attraction along the lines between the bodies explains the motion.
        misfit: largest share of a body's acceleration that neither law nor noise explains.
        drag: coefficient of -v in every acceleration, beside the law; undetermined if neither
            law nor drag explains all, and for forces without velocities.
        left_over: the force that acts beside the law, if one does: name, unit, and for each axis
            value, low and high.
        momentum: whether it is conserved.
        curve: the free curve over the law.
        alternatives: families tried.
        rests: where residuals are largest; none if law, drag and noise explain all.
        unseen: the unobserved body, if one was requested.
        relativity: the post-Newtonian term, if fitted.
        bodies: their number.
        states: of each.
        summary: the law between the bodies by name, as text.
        explanation: in plain words.
        notes: further remarks.
        units: of length, time and mass, in which all numbers are: those of the positions.
        configuration: options.
        versions: of everything that can affect a number.
        seconds: taken.
    """

    law: str
    formula: str
    exponent: Estimate
    parameters: dict[str, Estimate]
    masses: tuple[Mass, ...]
    scale: str
    central: bool
    misfit: float
    drag: Estimate
    left_over: tuple[dict[str, Any], ...]
    momentum: Momentum
    curve: tuple[CurvePoint, ...]
    alternatives: tuple[Alternative, ...]
    rests: tuple[Rest, ...]
    bodies: int
    states: int
    unseen: Unseen | None = None
    relativity: Relativity | None = None
    summary: dict[str, str] = field(default_factory=dict)
    explanation: str = ""
    notes: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def unseen_found(self) -> bool:
        """Whether an unseen body was requested and is needed."""
        return self.unseen is not None and self.unseen.exists

    def mass(self, body: str) -> Mass:
        """The mass of a body.

        Raises:
            KeyError: if there is no such body.
        """
        for mass in self.masses:
            if mass.body == body:
                return mass
        raise KeyError(body)

    def plot(self) -> Any:
        """The masses with their intervals, and the free curve over the law.

        Returns:
            The matplotlib `Axes` of the masses; the curve's is beside it, in `.figure.axes`.
        """
        from symreg.weighing.plot import plot_weighing

        return plot_weighing(self.masses, self.curve, self.law, self.units)

    def __str__(self) -> str:
        """The law, the masses, and the conclusion."""
        return "\n\n".join([facts(self.summary), table(self._rows()), wrapped(self.explanation)])

    def _repr_html_(self) -> str:
        tables = html_table(self.summary.items()) + html_table(self._rows())
        return f"{tables}<p>{html.escape(self.explanation)} Its picture: <code>.plot()</code></p>"

    def _rows(self) -> list[tuple[str, ...]]:
        """The bodies with their masses, header first."""
        rows: list[tuple[str, ...]] = [("body", f"mass, {self.units['mass']}", "95 % interval", "")]
        for mass in self.masses:
            if mass.value is None:
                rows.append((mass.body, "", "", "not determined by the data"))
                continue
            remark = "" if mass.weighable else "too uncertain to count"
            interval = f"[{mass.low:.8g}, {mass.high:.8g}]"
            rows.append((mass.body, f"{mass.value:.8g}", interval, remark))
        return rows if any(row[-1] for row in rows) else [row[:-1] for row in rows]

    def __repr__(self) -> str:
        weighed = sum(mass.weighable for mass in self.masses)
        return f"Weighing({self.law}; {weighed} of {self.bodies} bodies weighed)"
