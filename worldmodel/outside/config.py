"""Options of a model of the user's own. Imports no torch."""

import dataclasses
from typing import Annotated

from orbits.command.options import Between, OptionError, Options
from worldmodel.config import Count, Positive, Seed

LENGTHS = {"au": 1.0, "m": 1 / 149_597_870_700, "km": 1 / 149_597_870.7}
"""Units of length in au (IAU 2012)."""
TIMES = {"yr": 1.0, "d": 1 / 365.25, "h": 1 / 8766, "s": 1 / 31_557_600}
"""Units of time in years of 365.25 days."""


@dataclasses.dataclass(frozen=True)
class OutsideConfig(Options):
    """A model of your own in the place of a run."""

    model: str | None = None
    """A predictor of your own: `package.module:make` or `path/to/mine.py:make`, a factory, an
    object, or a plain function of positions. Its code is executed."""
    untrained_model: str | None = None
    """The same model before training, for the control `untrained`: a factory as for --model; it is
    given `seed` if it takes that."""
    model_context: Count | None = None
    """Positions that a plain function sees; an object says its own `context_length`."""
    length_unit: str = "au"
    """Unit of length that the model speaks in: au, km, m, or a number of au."""
    time_unit: str = "yr"
    """Unit of time of the step `dt` that the model says it was made for: yr, d, h, s, or a number
    of years."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("model", "untrained_model"):
            text = getattr(self, name)
            if text is not None:
                require_spec(name, text)
        if self.untrained_model is not None and self.model is None:
            raise OptionError("untrained_model", "needs --model: it is the same before training.")
        unit_of("length_unit", self.length_unit, LENGTHS)
        unit_of("time_unit", self.time_unit, TIMES)

    @property
    def length(self) -> float:
        """au in the model's unit of length."""
        return unit_of("length_unit", self.length_unit, LENGTHS)

    @property
    def time(self) -> float:
        """Years in the model's unit of time."""
        return unit_of("time_unit", self.time_unit, TIMES)


@dataclasses.dataclass(frozen=True)
class AdoptConfig(OutsideConfig):
    """What a model of your own is asked before anything else: which world it will see."""

    dt: Positive = 0.008
    """Time between two positions, yr."""
    axes: Annotated[int, Between(2, 3)] = 2
    """Coordinates of each body."""
    bodies: Annotated[int, Between(1, 2)] = 1
    """Visible bodies."""
    data: str | None = None
    """Data set that a factory which trains is given (as `data`)."""
    seed: Seed = 0
    """Seed that a factory which takes `seed` is given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data == "":
            raise OptionError("data", "is empty; a path is needed.")


CALLER = "caller:"
"""Begins the spec of a predictor that lives in the process that began the run."""


def is_served(spec: str) -> bool:
    """Whether a spec means a predictor of the process that began the run."""
    return spec.startswith(CALLER)


def require_spec(name: str, text: str) -> None:
    """Raise OptionError unless a text is `module:name` or `file.py:name`."""
    place, colon, attribute = text.rpartition(":")  # `caller:p...` of `outside.channel` too
    if not colon or not place or not attribute.isidentifier():
        raise OptionError(name, f"is {text!r}; give package.module:name or path/to/file.py:name.")


def unit_of(name: str, text: str, known: dict[str, float]) -> float:
    """The value of a unit by its name, or as a number.

    Raises:
        OptionError: if it is neither.
    """
    if text in known:
        return known[text]
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise OptionError(name, f"is {text!r}; give one of {', '.join(known)}, or a number.")
    return value
