"""Options of `symreg weigh`; light, so `--help` is fast."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from orbits.options import (
    AtLeast,
    Between,
    OptionError,
    Options,
    changed,
    option_names,
    require_known,
    short_names,
)
from symreg.recovery.config import RecoverConfig, Words, words

ASKED = ("engine", "seed", "seeds", "individuals", "generations", "max_size", "jobs", "time_limit")
"""Options of `symreg recover` that apply to the search for the free curve's formula."""

BIAS = 1e-4
"""Relative error of a spline curve, which no formula need explain."""


QUANTITIES = ("x", "y", "ra", "dec", "rv")
"""Offsets to the east and to the north; right ascension and declination; radial velocity."""


@dataclass(frozen=True)
class SkyConfig(Options):
    """One body as observers see it."""

    observe: Words = ()
    """What the table holds of one body, as QUANTITY or QUANTITY=COLUMN: x and y (offsets to the
    east and north), or ra and dec, and rv. Errors are in columns such as rv_error or rv_err."""
    time: str = "time"
    """Column of dates: decimal years, JD, MJD, or text such as 2015-01-31T12:00."""
    instrument: str = ""
    """Column that names the instrument; each has an origin and an error of its own."""
    angle_unit: Literal["deg", "arcmin", "arcsec", "mas", "uas"] = "arcsec"
    """Unit of places on the sky."""
    velocity_unit: Literal["km/s", "m/s"] = "km/s"
    """Unit of radial velocities, positive for what recedes."""
    companions: Annotated[int, Between(1, 6)] = 1
    """Unseen bodies that pull at the one that is seen."""
    seen_mass: Annotated[float, AtLeast(0)] = 0.0
    """Mass of the body that is seen, solar masses; 0 if it is light beside the unseen one."""
    distance: Annotated[float, AtLeast(0)] = 0.0
    """Distance, pc; 0 fits it, for which both places and radial velocities are needed."""
    frame: Literal["free", "fixed"] = "free"
    """Whether origins on the sky and their drift are fitted, or are the unseen body itself."""
    zero_point: Literal["instrument", "common", "none"] = "instrument"
    """Whether radial velocities of every instrument, or of all, have a constant of their own."""

    def __post_init__(self) -> None:
        """Check what is observed."""
        super().__post_init__()
        self.columns  # noqa: B018 - refuses what is no quantity

    @property
    def columns(self) -> dict[str, str]:
        """Column by quantity; refuses an unknown one, one that comes twice, or half a place."""
        found: dict[str, str] = {}
        for word in words(self.observe):
            quantity, _, column = word.partition("=")
            require_known("quantity", quantity, QUANTITIES)
            if quantity in found:
                raise OptionError("observe", f"names {quantity} twice.")
            found[quantity] = column or quantity
        for pair in (("x", "y"), ("ra", "dec")):
            if len(set(pair) & set(found)) == 1:
                raise OptionError("observe", f"needs {' and '.join(pair)}, or neither.")
        if {"x", "ra"} <= set(found):
            raise OptionError("observe", "takes x and y, or ra and dec, not both.")
        return found


@dataclass(frozen=True)
class TransitConfig(Options):
    """Planets that pass in front of their star."""

    transits: Words = ()
    """Columns of the planet, the number of its transit, the time (days) and its standard error, as
    in planet,transit,time,error."""
    star_mass: Annotated[float, AtLeast(0)] = 0.0
    """Mass of the star, solar masses; 0 tells the planets' masses over the star's only."""

    def __post_init__(self) -> None:
        """Check that there are four columns."""
        super().__post_init__()
        if self.transits and len(self.columns) != 4:
            raise OptionError("transits", "needs four columns: planet, number, time, error.")

    @property
    def columns(self) -> tuple[str, ...]:
        """Of planet, number, time and error."""
        return words(self.transits)


@dataclass(frozen=True)
class WeighConfig(Options):
    """How bodies are weighed."""

    law: str = ""
    """Law taken as known (newton, power_law(n=2.5)), so that only masses are fitted; by default the
    law is found too."""
    unit: Literal["au", "km", "m"] = "au"
    """Unit of length in the law G m1 m2/r^n; unless n is 2, every mass depends on it."""
    reference: str = ""
    """Body of known mass that sets the scale, which positions leave free; by default G does."""
    reference_mass: Annotated[float, AtLeast(0)] = 1.0
    """Its mass, solar masses."""
    noise: Annotated[float, AtLeast(0)] = 0.0
    """Standard error of a position, au; 0 estimates it from the positions, body by body."""
    orbit: Annotated[int, AtLeast(-1)] = -1
    """Row of the dataset to weigh; -1 means all rows if they are one system, otherwise the
    first."""
    scales: Annotated[float, Between(1.1, 4)] = 2.0
    """Ratio of successive widths of test functions."""
    relativity: Literal["none", "einstein", "fitted"] = "none"
    """The heaviest body's first post-Newtonian term: left out, added, or added with a coefficient
    fitted to the whole motion (1 is Einstein, 0 is Newton)."""
    unseen: Annotated[int, Between(0, 1)] = 0
    """Number of unobserved bodies to look for: mass and orbit are fitted to the whole motion under
    --law (newton by default), and the result says whether such a body is needed."""
    search: RecoverConfig = field(
        default_factory=lambda: RecoverConfig(engine="projection", seeds=1, error_floor=BIAS)
    )
    sky: SkyConfig = SkyConfig()
    transit: TransitConfig = TransitConfig()

    ALIASES: ClassVar[dict[str, str]] = {
        "engine": "search.engine",
        "search_seeds": "search.seeds",
        "seed": "search.seed",
        **short_names("sky", option_names(SkyConfig)),
        **short_names("transit", option_names(TransitConfig)),
    }
    """Short names of nested options."""
    DECIDED: ClassVar[tuple[str, ...]] = tuple(
        f"search.{name}" for name in option_names(RecoverConfig) if name not in ASKED
    )
    """Options of the search that weighing sets itself."""

    def __post_init__(self) -> None:
        """Refuse options of the sky or of transits without their first one, or others beside it."""
        super().__post_init__()
        for group, first, told in (
            ("sky", "observe", "one body on the sky"), ("transit", "transits", "transits"),
        ):  # fmt: skip
            given, usual = getattr(self, group), getattr(WeighConfig, group)
            if getattr(given, first):
                others = changed(self, WeighConfig())
                others = [name for name in others if not name.startswith(f"{group}.")]
                if others:
                    raise OptionError(others[0], f"says nothing of {told}; leave it out.")
            elif given != usual:
                name = changed(given, usual)[0]
                raise OptionError(f"{group}.{name}", f"counts only with --{first}.")
