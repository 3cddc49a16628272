"""What a weighing's result consists of: numbers with their intervals, and where they come from."""

from dataclasses import dataclass, field, replace

from orbits.estimates import Estimate
from orbits.units import GivenUnits


@dataclass(frozen=True)
class Mass(Estimate):
    """A body's mass with its interval; None if undetermined. All in the units of the weighing.

    Attributes:
        body: its name.
        weighable: whether the interval is narrower than half the mass on each side.
        noise: standard error of its positions.
        misfit: rms acceleration that neither law nor noise explains, over the whole.
    """

    body: str = ""
    weighable: bool = False
    noise: float = 0.0
    misfit: float = 0.0

    def with_value(self, value: float, error: float) -> "Mass":
        """The same with a value, and its interval by a standard error."""
        mass = Estimate.of(value, error)
        sure = mass.low is not None and 2 * mass.low > value > 0
        return replace(self, value=mass.value, low=mass.low, high=mass.high, weighable=sure)

    def in_units(self, units: GivenUnits) -> "Mass":
        """The same from solar masses and au."""
        return replace(self.times(units.mass_factor), noise=self.noise * units.factor(1, 0))


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
        time: since the first state of the stretch.
        around: half of the time over which it is averaged.
        acceleration: (axis,) unexplained.
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

    def in_units(self, units: GivenUnits) -> "Rest":
        """The same from au and yr."""
        time, size = units.factor(0, 1), units.factor(1, -2)
        return replace(
            self, time=self.time * time, around=self.around * time,
            acceleration=tuple(size * part for part in self.acceleration),
        )  # fmt: skip


@dataclass(frozen=True)
class Unseen:
    """An unobserved body, from its effect on the observed ones.

    Attributes:
        mass: undetermined, like all else, if no body is needed.
        semi_major_axis: of the ellipse about the centre at the middle of the time.
        eccentricity: of that ellipse.
        centre: the heaviest body.
        times: from the first state to the last, after the first.
        distance: from the centre at those times.
        longitude: seen from the centre, in the table's axes, degrees.
        latitude: the same.
        gain: twice the log-likelihood gained with such a body.
        needed: least gain required.
        before: largest rms residual of a body's positions without it, in standard errors.
        after: the same with it.
    """

    mass: Estimate = field(default_factory=Estimate)
    semi_major_axis: Estimate = field(default_factory=Estimate)
    eccentricity: Estimate = field(default_factory=Estimate)
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

    def in_units(self, units: GivenUnits) -> "Unseen":
        """The same from solar masses, au and yr."""
        length = units.factor(1, 0)
        return replace(
            self, mass=self.mass.times(units.mass_factor),
            semi_major_axis=self.semi_major_axis.times(length),
            times=tuple(units.factor(0, 1) * time for time in self.times),
            distance=tuple(distance.times(length) for distance in self.distance),
        )  # fmt: skip


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
class CurvePoint(Estimate):
    """The free curve of the law, its attraction over the law's, at the distance `r`."""

    r: float = 0.0


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
