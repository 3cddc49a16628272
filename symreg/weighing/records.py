"""What a weighing's result consists of: numbers with their intervals, and where they come from."""

from dataclasses import dataclass, field, replace

from orbits.estimates import Estimate


@dataclass(frozen=True)
class Mass(Estimate):
    """A body's mass with its interval, solar masses; None if undetermined.

    Attributes:
        body: its name.
        weighable: whether the interval is narrower than half the mass on each side.
        noise: standard error of its positions, au.
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
    """The free curve of the law, its attraction over the law's, at the distance `r`, au."""

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
