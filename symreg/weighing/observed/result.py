"""What observations of one body tell: the object that `symreg.weigh_sky` returns."""

from dataclasses import dataclass, field
from typing import Any

from orbits.printing import facts, table, wrapped
from symreg.result import Result
from symreg.weighing.result import Estimate


@dataclass(frozen=True)
class UnseenOrbit:
    """An unseen body, and the orbit on which it makes the one that is seen move about it.

    Attributes:
        mass: solar masses; times the sine of the inclination where `least`.
        least: whether no place on the sky tells the inclination.
        period: yr.
        semi_major_axis: of the one about the other, au.
        eccentricity: of both orbits.
        inclination: degrees, below 90 where the position angle grows; free where `least`.
        node: position angle of the ascending node, degrees.
        argument: of the pericentre of the body that is seen, degrees.
        pericentre: decimal year.
        velocity: semi-amplitude of the radial velocity of the body that is seen, km/s.
    """

    mass: Estimate
    least: bool
    period: Estimate
    semi_major_axis: Estimate
    eccentricity: Estimate
    inclination: Estimate
    node: Estimate
    argument: Estimate
    pericentre: Estimate
    velocity: Estimate


@dataclass(frozen=True)
class Yukawa:
    """A pull GM/r^2 (1 + strength (1 + r/length) exp(-r/length)) beside Newton's.

    Attributes:
        length: au.
        strength: with its interval, to first order.
    """

    length: float
    strength: Estimate


@dataclass(frozen=True)
class Instrument:
    """How well one instrument's rows agree with the orbits.

    Attributes:
        name: as the table says.
        quantity: `sky` (arcsec) or `rv` (km/s).
        rows: how many.
        error: median of the errors given.
        jitter: what is added to them, in quadrature, for chi square to be what it should.
    """

    name: str
    quantity: str
    rows: int
    error: float
    jitter: float


@dataclass(frozen=True)
class Series:
    """Observations of one quantity beside the orbits, origins and drifts taken out of both.

    Attributes:
        quantity: `x` and `y`, arcsec, or `rv`, km/s.
        instrument: of every row.
        times: decimal years.
        value: as observed.
        error: standard errors, with what the instruments add.
        fitted: by the orbits.
        curve_times: decimal years, evenly spaced.
        curve: by the orbits at those.
    """

    quantity: str
    instrument: tuple[str, ...]
    times: tuple[float, ...]
    value: tuple[float, ...]
    error: tuple[float, ...]
    fitted: tuple[float, ...]
    curve_times: tuple[float, ...]
    curve: tuple[float, ...]


@dataclass(frozen=True)
class SkyWeighing(Result):
    """Unseen bodies, by what one body's places and radial velocities tell, with 95 % intervals.

    Attributes:
        orbits: of the unseen bodies; none if chance explains the observations as well.
        seen_mass: of the body that is seen, solar masses, as it was given.
        distance: pc.
        exponent: n of a pull r^-n fitted in place of Newton's; free where two orbits or more, or
            the data, leave it so.
        yukawa: terms beside Newton's pull, by length.
        instruments: with their errors.
        gain: fall of chi square by the last unseen body.
        needed: what one search in a hundred gains by chance.
        rows: observations, counting each number.
        series: the observations beside the orbits, by quantity.
        explanation: in plain words.
        notes: what else there is to say.
        configuration: options.
        versions: of everything that can influence a number.
        seconds: taken.
    """

    orbits: tuple[UnseenOrbit, ...]
    seen_mass: float
    distance: Estimate
    exponent: Estimate
    yukawa: tuple[Yukawa, ...]
    instruments: tuple[Instrument, ...]
    gain: float
    needed: float
    rows: int
    series: tuple[Series, ...] = ()
    explanation: str = ""
    notes: tuple[str, ...] = ()
    configuration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def plot(self) -> Any:
        """The orbit on the sky and the radial velocities, with the observations.

        Returns:
            The matplotlib `Figure`.
        """
        from symreg.weighing.observed.plot import plot_sky

        return plot_sky(self)

    def __str__(self) -> str:
        """The unseen bodies, the instruments, and what they come to."""
        parts = [facts(_of_orbit(orbit)) for orbit in self.orbits]
        common = {}
        if self.distance.value is not None:
            common["distance, pc"] = str(self.distance)
        if self.exponent.value is not None:
            common["exponent"] = str(self.exponent)
        if common:
            parts.append(facts(common))
        rows = [("instrument", "of", "rows", "median error", "added")]
        rows += [
            (i.name, i.quantity, str(i.rows), f"{i.error:.3g}", f"{i.jitter:.2g}")
            for i in self.instruments
        ]
        return "\n\n".join([*parts, table(rows), wrapped(self.explanation)])

    def __repr__(self) -> str:
        masses = ", ".join(str(orbit.mass) for orbit in self.orbits)
        return f"SkyWeighing({masses or 'no unseen body'})"


def _of_orbit(orbit: UnseenOrbit) -> dict[str, str]:
    name = "mass times sin i, M☉" if orbit.least else "mass, M☉"
    told = {
        name: str(orbit.mass),
        "period, yr": str(orbit.period),
        "semi-major axis, au": str(orbit.semi_major_axis),
        "eccentricity": str(orbit.eccentricity),
    }
    if not orbit.least:
        told["inclination, node, degrees"] = f"{orbit.inclination}, {orbit.node}"
    return told | {
        "pericentre": str(orbit.pericentre),
        "velocity (K), km/s": str(orbit.velocity),
    }
