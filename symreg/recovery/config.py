"""Options of `symreg recover`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from orbits.options import Between, Interval, MinLen, OptionError, Options
from symreg.formulas.config import LONGEST

if TYPE_CHECKING:
    from symreg.engines.base import Question

Column = Annotated[str, MinLen(1)]
Words = tuple[str, ...] | str
"""Several words, or one text with commas."""
Margin = Annotated[float, Interval(ge=0.0, lt=1.0)]


FIELD_FLOOR = 0.02
"""Relative error of a model's field, smooth in r, that no law need explain."""


ANY_LAW_SECONDS = 45.0


@dataclass(frozen=True)
class SearchConfig(Options):
    """The search for a law."""

    engine: str = "auto"
    """Search engine: auto, portfolio, rational, algebraic, expressions, chains, projection or pysr.
    auto is the portfolio: the exhaustive families, then PySR in the time left where Julia is
    installed. PySR's settings stand in brackets, as in
    'pysr(niterations=40, populations=15, maxsize=25)'."""
    guesses: Words = ()
    """Formulas to start from, or a hall_of_fame.csv from PySR to continue."""
    operators: Words = ()
    """Operators to build formulas from, as in +,*,inv,sin,cos,exp, whatever the engine; by default
    the engine's."""
    error_floor: Margin | None = None
    """Relative systematic error of the target that no law has to explain; by default 0.02 for a
    model's field and 0 for your own table."""
    null: bool = True
    """Repeat the search on permuted targets, where no law can be found."""
    time_limit: Annotated[float, Interval(gt=0.0, le=LONGEST)] | None = None
    """Seconds of computing for all searches together, whatever else the machine does; by default 45
    for your own table, otherwise 300. Whatever has been found by then is judged."""

    GONE: ClassVar[Mapping[str, str]] = {
        "individuals": "PySR's own settings in its name: --engine 'pysr(populations=15)'",
        "generations": "PySR's own settings in its name: --engine 'pysr(niterations=40)'",
        "max_size": "PySR's own settings in its name: --engine 'pysr(maxsize=25)'",
    }

    def __post_init__(self) -> None:
        """Check the operators."""
        _as_tuples(self, "guesses", "operators")
        super().__post_init__()
        if self.operators:
            _ = self.question  # which knows the operators

    @property
    def question(self) -> "Question":
        """The question for an engine: operators, split at commas."""
        from symreg.engines.base import Question  # which needs sympy, as options do not

        return Question(words(self.operators))


@dataclass(frozen=True)
class TableConfig(Options):
    """The table, and the law with which what it holds is compared."""

    law: str | None = None
    """Reference law (newton, yukawa(length=1), ...); by default the table's own attribute."""
    target: Column | None = None
    """Column to explain in your own table (CSV, Parquet)."""
    features: Words = ()
    """Columns that the target may depend on, separated by spaces or commas: r,m1,m2."""
    groups: Column | None = None
    """Column whose equal values count as one observation (an orbit); by default every row."""
    units: Words | Mapping[str, str] = ()
    """Unit of every column, as in F=Msun*au/yr^2 r=au m1=Msun m2=Msun."""
    sigma: Column | None = None
    """Column of the target's standard errors, or one number for all rows."""
    errors: Literal["additive", "relative", "logarithmic", "counts"] | None = None
    """Errors of the target: additive (the same size everywhere), relative (a share of it),
    logarithmic (even in its logarithm), or counts (like its square root); by default whichever the
    residuals suit best."""
    trials: str | None = None
    """Column of the numbers of trials of which the target is the share of successes, or one number
    for all rows: its errors are then binomial, in rows of no successes too."""
    sigma_of: Words | Mapping[str, str | float] = ()
    """Standard errors of features: a column, a number or a share, as in r=s_r m1=0.02 m2=5%."""
    per_group: Column | None = None
    """Column whose values each get their own constants in one form, such as a temperature; those
    that the table allows are shared."""
    bad_rows: Literal["refuse", "mend"] = "refuse"
    """What to do about rows without a finite number in a requested column: refuse and name the
    first, or mend (leave them out)."""
    form: str | None = None
    """Formula to fit and judge instead of searching, as in a*x + b*v; names that are not features
    are its constants."""

    GONE: ClassVar[Mapping[str, str]] = {
        "pair": "the force as a column, made in pandas, and --target F --features r,m1,m2",
    }

    @property
    def own_table(self) -> bool:
        """Whether the table is the user's own, not a probe's force samples."""
        return self.target is not None

    def __post_init__(self) -> None:
        """Check that the options of a user's table are consistent."""
        _as_tuples(self, "features", "units", "sigma_of")
        super().__post_init__()
        own = (
            "features", "groups", "units", "sigma", "errors", "trials", "sigma_of", "per_group",
            "form",
        )  # fmt: skip
        given = [name for name in own if getattr(self, name)]
        if self.trials and (self.sigma or self.errors):
            raise OptionError("trials", "says what the errors are; leave --sigma and --errors out.")
        if given and not self.own_table:
            raise OptionError(
                given[0], "is for a table of your own; name its target too: --target F."
            )


@dataclass(frozen=True)
class RecoverConfig(SearchConfig, TableConfig):
    """How a law is searched in a table, and compared."""

    GONE: ClassVar[Mapping[str, str]] = {**SearchConfig.GONE, **TableConfig.GONE}

    seed: Annotated[int, Between(0, 2**63 - 2)] = 0
    """First seed; determines the split, the searches and the bootstrap."""
    seeds: Annotated[int, Between(1, 10_000)] = 5
    """Independent searches."""

    @property
    def floor(self) -> float:
        """The error floor, given or not."""
        if self.error_floor is not None:
            return self.error_floor
        return 0.0 if self.own_table else FIELD_FLOOR

    def limit(self, any_law: bool) -> float:
        """Seconds for the searches, given or not."""
        if self.time_limit is not None:
            return self.time_limit
        return ANY_LAW_SECONDS if any_law else 300.0


def _as_tuples(options: Options, *names: str) -> None:
    """Texts and mappings as tuples of words."""
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Mapping):
            object.__setattr__(options, name, tuple(f"{k}={v}" for k, v in value.items()))
        if isinstance(value, str):
            object.__setattr__(options, name, (value,))


def words(texts: Words | Mapping[str, Any]) -> tuple[str, ...]:
    """The words of several texts, commas taken apart."""
    assert not isinstance(texts, Mapping)  # for the type checker: made words at once
    texts = (texts,) if isinstance(texts, str) else texts
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


@dataclass(frozen=True)
class EnginesConfig(Options):
    """Which engine to install."""

    install: Literal["pysr"] | None = None
    """Fetch what the engine needs: Julia and its packages, about 1 GB, once."""
