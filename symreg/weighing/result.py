"""A weighing's result: the object that `symreg.weigh` returns."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from orbits.printing import facts, table, wrapped
from symreg.result import Result

TWO_SIDED = 1.959964
"""Standard errors of a 95 % interval."""
MOST_DIGITS = 9


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; None if undetermined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, value: float, error: float) -> "Estimate":
        """A number with an interval, by a standard error."""
        half = TWO_SIDED * error
        return cls(float(value), float(value - half), float(value + half))

    def __contains__(self, value: float) -> bool:
        """Whether a value lies inside the interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def __str__(self) -> str:
        """With as many digits as the interval supports, nine at most."""
        if self.value is None:
            return "free"
        if self.low is None or self.high is None:
            return f"{self.value:.{MOST_DIGITS}g}"
        half = max((self.high - self.low) / 2, abs(self.value) * 10.0**-MOST_DIGITS, 1e-300)
        known = 2 + max(0, int(np.floor(np.log10(max(abs(self.value), half) / half))))
        digits = min(known, MOST_DIGITS)
        return f"{self.value:.{digits}g} [{self.low:.{digits}g}, {self.high:.{digits}g}]"


@dataclass(frozen=True)
class Mass:
    """A body's mass, solar masses.

    Attributes:
        body: its name.
        value: None if undetermined.
        low: limit of the 95 % interval.
        high: the other limit.
        weighable: whether the interval is narrower than half the mass on each side.
        noise: standard error of its positions, au.
        misfit: rms acceleration that neither law nor noise explains, over the whole.
    """

    body: str
    value: float | None
    low: float | None
    high: float | None
    weighable: bool
    noise: float
    misfit: float

    def with_value(self, value: float, error: float) -> "Mass":
        """The same with a value, and its interval by a standard error."""
        found = Estimate.of(value, error)
        assert found.low is not None  # for the type checker: it has an interval
        sure = bool(2 * found.low > value > 0)
        return replace(self, value=found.value, low=found.low, high=found.high, weighable=sure)


@dataclass(frozen=True)
class Momentum:
    """Whether sum m a vanishes, from positions and masses alone.

    Attributes:
        unbalanced: rms of sum m a over the largest m a; None in a non-inertial frame.
        expected: its value from the noise of the positions.
    """

    unbalanced: float | None = None
    expected: float | None = None


@dataclass(frozen=True)
class Rest:
    """Where the unexplained acceleration is largest.

    Attributes:
        body: it acts on.
        stretch: number of the stretch of time.
        time: since the first state of the stretch, yr.
        around: half of the time over which it is averaged, yr.
        acceleration: (axis,) unexplained, au/yr^2.
        heaviest: the heaviest other body.
        angle: between it and the direction to that body, degrees.
    """

    body: str
    stretch: int
    time: float
    around: float
    acceleration: tuple[float, ...]
    heaviest: str
    angle: float


@dataclass(frozen=True)
class Unseen:
    """An unobserved body, from its effect on the observed ones.

    Attributes:
        mass: solar masses; undetermined, like all else, if no body is needed.
        semi_major_axis: of the ellipse about the centre at the middle of the time, au.
        eccentricity: of that ellipse.
        centre: the heaviest body.
        times: from the first state to the last, yr after the first.
        distance: from the centre at those times, au.
        longitude: seen from the centre, in the table's axes, degrees.
        latitude: the same.
        gain: twice the log-likelihood gained with such a body.
        needed: least gain required.
        before: largest rms residual of a body's positions without it, in standard errors.
        after: the same with it.
    """

    mass: Estimate = Estimate()
    semi_major_axis: Estimate = Estimate()
    eccentricity: Estimate = Estimate()
    centre: str = ""
    times: tuple[float, ...] = ()
    distance: tuple[Estimate, ...] = ()
    longitude: tuple[Estimate, ...] = ()
    latitude: tuple[Estimate, ...] = ()
    gain: float = 0.0
    needed: float = 0.0
    before: float = 0.0
    after: float = 0.0

    @property
    def exists(self) -> bool:
        """Whether one is needed."""
        return self.mass.value is not None


@dataclass(frozen=True)
class Relativity:
    """The first post-Newtonian term of the heaviest body, with a free coefficient.

    Attributes:
        coefficient: 1 for Einstein, 0 for Newton.
        body: with the fastest-turning perihelion.
        precession: of that, arc seconds a century, from the coefficient.
        left: largest rms residual of a body's positions, in standard errors.
    """

    coefficient: Estimate
    body: str
    precession: Estimate
    left: float


@dataclass(frozen=True)
class CurvePoint:
    """The free curve of the law at one distance.

    Attributes:
        r: au.
        ratio: attraction over the law's.
        low: limit of the 95 % interval.
        high: the other limit.
    """

    r: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Alternative:
    """A family of laws, or a formula from an engine, that was tried.

    Attributes:
        family: its name.
        parameters: by name.
        loss: mean square of the weighted residuals over the best power's.
        formula: g(r)/G with the parameters' names, if the family is `formula`.
    """

    family: str
    parameters: dict[str, float]
    loss: float
    formula: str = ""


@dataclass(frozen=True)
class Weighing(Result):
    """The law between bodies, and their masses, with the evidence.

    Attributes:
        law: as for `orbits.parse_law`; `none` if no law of distance explains the motion.
        formula: attraction by a body of mass m, au/yr^2.
        exponent: n of the best-fitting r^-n.
        parameters: of the law, by name.
        masses: of every body, solar masses.
        scale: what fixes the scale, which positions leave free.
        central: whether attraction along the lines between the bodies explains the motion.
        misfit: largest share of a body's acceleration that neither law nor noise explains.
        drag: coefficient of -v in every acceleration, 1/yr, beside the law; undetermined if neither
            law nor drag explains all, and for forces without velocities.
        momentum: whether it is conserved.
        curve: the free curve over the law.
        alternatives: families tried.
        rests: where residuals are largest; none if law, drag and noise explain all.
        unseen: the unobserved body, if one was requested.
        relativity: the post-Newtonian term, if fitted.
        bodies: their number.
        states: of each.
        explanation: in plain words.
        notes: further remarks.
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
    momentum: Momentum
    curve: tuple[CurvePoint, ...]
    alternatives: tuple[Alternative, ...]
    rests: tuple[Rest, ...]
    bodies: int
    states: int
    unseen: Unseen | None = None
    relativity: Relativity | None = None
    explanation: str = ""
    notes: tuple[str, ...] = ()
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
            The matplotlib `Figure`.
        """
        from symreg.weighing.plot import plot_weighing

        return plot_weighing(self)

    def __str__(self) -> str:
        """The law, the masses, and the conclusion."""
        from symreg.weighing.words import masses, summary

        return "\n\n".join([facts(summary(self)), table(masses(self)), wrapped(self.explanation)])

    def __repr__(self) -> str:
        known = sum(mass.weighable for mass in self.masses)
        return f"Weighing({self.law}; {known} of {self.bodies} bodies weighed)"
