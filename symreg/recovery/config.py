"""Options of `symreg recover`."""

from dataclasses import dataclass

from symreg.engines.base import Space


@dataclass(frozen=True)
class RecoverConfig:
    """How a law is searched, and what it must show to count as recovered."""

    law: str | None = None
    """Reference law (newton, yukawa(length=1), ...); by default the table's own attribute."""
    target: tuple[str, ...] = ()
    """Column to explain in a table of one's own (CSV, Parquet), or the components of a vector."""
    features: tuple[str, ...] = ()
    """Columns that the target may depend on, in words or with commas: r,m1,m2."""
    groups: str | None = None
    """Column whose equal values count as one observation (an orbit); by default every row."""
    units: tuple[str, ...] = ()
    """Unit of every column, as in F=Msun*au/yr^2 r=au m1=Msun m2=Msun."""
    sigma: str | None = None
    """Column of the target's standard errors, or one number for all rows."""
    pair: bool = False
    """The table has two bodies (m1 m2 x1 y1 x2 y2 ax1 ay1 ax2 ay2): find the force between them."""
    guesses: tuple[str, ...] = ()
    """Formulas to start from, or a hall_of_fame.csv of PySR to go on from."""
    engine: str = "auto"
    """Engine: auto, pysr, operon, monomial or named-laws."""
    operators: tuple[str, ...] = ()
    """Operators that formulas are built of, as in +,*,inv,sin,cos,exp; the engine's by default."""
    loss: str = "relative"
    """Error that the search lowers: relative (squared) or l1 (mean absolute, of the target)."""
    seed: int = 0
    """First of the seeds; decides the split, the searches and the bootstrap."""
    seeds: int = 5
    """Independent searches."""
    population: int = 200
    """Individuals in a search."""
    generations: int = 20
    """Generations of a search."""
    max_size: int = 18
    """Largest formula that is searched, in nodes."""
    rows: int = 2000
    """Most rows that formulas are fitted to (drawn at random; the verdict's numbers too)."""
    held_out: float = 0.2
    """Fraction of the orbits that no formula is fitted to."""
    error_floor: float = 0.02
    """Relative systematic error of the field, which no law is asked to explain."""
    exponent_margin: float = 0.1
    """Largest distance of the free exponent from the reference law's on the same rows."""
    constant_margin: float = 0.1
    """Largest relative error of a constant whose true value is known."""
    r2: float = 0.9
    """Least R² on held-out orbits, of the magnitudes or of their logarithms."""
    non_central: float = 0.15
    """Largest tangential part of the acceleration, rms over rms."""
    agreement: float = 0.8
    """Least fraction of the seeds that find the law."""
    null: bool = True
    """Whether the search is repeated on permuted targets."""
    jobs: int = 2
    """Searches that run at the same time; the result does not depend on it."""
    time_limit: float = 300.0
    """Seconds for one search of an engine that runs in a process of its own (pysr)."""
    compare_limit: float = 20.0
    """Seconds of computing for sympy to decide a comparison."""

    @property
    def target_names(self) -> tuple[str, ...]:
        """The targets, commas taken apart."""
        return _words(self.target)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features, commas taken apart."""
        return _words(self.features)

    @property
    def unit_texts(self) -> tuple[str, ...]:
        """The units, commas taken apart."""
        return _words(self.units)

    @property
    def space(self) -> Space:
        """Operators and loss of the search, commas taken apart."""
        return Space(_words(self.operators), self.loss)

    @property
    def own_table(self) -> bool:
        """Whether the table is the user's own, not force samples of a probe."""
        return bool(self.target) or self.pair

    def __post_init__(self) -> None:
        """Check every number and name, and that the options of one's own table go together."""
        _ = self.space
        lonely = [name for name in ("features", "groups", "units", "sigma") if getattr(self, name)]
        if lonely and not self.own_table:
            raise ValueError(
                f"--{lonely[0]} is for a table of your own; name its target too: --target F."
            )
        for name in ("seeds", "population", "generations", "jobs"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} is {getattr(self, name)}; at least 1.")
        for name, least in (("max_size", 3), ("rows", 8)):
            if getattr(self, name) < least:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is {getattr(self, name)}; at least {least}.")
        if self.seed < 0:
            raise ValueError(f"--seed is {self.seed}; it must be 0 or more.")
        if not 0 < self.held_out < 1:
            raise ValueError(f"--held-out is {self.held_out}; a fraction above 0 and below 1.")
        for name in ("error_floor", "exponent_margin", "constant_margin", "non_central"):
            if not 0 <= getattr(self, name) < 10:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is {getattr(self, name)}; 0 or more, below 10.")
        for name in ("time_limit", "compare_limit"):
            if not getattr(self, name) > 0:
                raise ValueError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)} s; it must be above 0."
                )


def _words(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())
