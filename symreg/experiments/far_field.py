"""What a model's accelerations are on far states, and what a lookup's are: numbers of a verdict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from orbits.estimates import ENDS
from orbits.files import of_json
from orbits.force_samples import ForceSamples
from orbits.statistics import TINY
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.answers import Answers
from worldmodel.examiner.shells import of_shells
from worldmodel.examiner.summary import Examination

RESAMPLES = 400
"""Of the states, for the interval of a ratio of mean errors."""
HALVINGS = 9
"""Of the interval of a limit, which is then known to 0.2 % of the widest."""


@dataclass(frozen=True)
class LookupComparison:
    """A model beside the best lookup of the same orbits, on the same states.

    Attributes:
        lookup: name of the control.
        ratio: of its mean error to the model's, in which no state counts more than 1.
        low, high: 95 % interval over the states.
        mean_error: the lookup's.
        beyond: its median error from the farthest distance of training to twice that.
    """

    lookup: str
    ratio: float
    low: float
    high: float
    mean_error: float
    beyond: float | None = None


def beside_lookups(model: np.ndarray, lookups: Mapping[str, np.ndarray]) -> LookupComparison | None:
    """The model beside the best of some lookups; None without any.

    Args:
        model: (state,) relative errors, NaN without an answer.
        lookups: the same of each, on the same states.
    """
    answered = np.isfinite(model)
    capped = {
        name: np.minimum(error[answered], 1.0)
        for name, error in lookups.items()
        if len(error) == len(model) and np.isfinite(error[answered]).all()
    }
    if not capped or not answered.any():
        return None
    best = min(capped, key=lambda name: float(capped[name].mean()))
    own, other = np.minimum(model[answered], 1.0), capped[best]
    random = np.random.default_rng(0)
    rows = random.integers(len(own), size=(RESAMPLES, len(own)))
    ratios = other[rows].mean(axis=1) / np.maximum(own[rows].mean(axis=1), TINY)
    low, high = np.quantile(ratios, ENDS)
    mean = float(other.mean())
    ratio = mean / max(float(own.mean()), TINY)
    return LookupComparison(best, ratio, float(low), float(high), mean)


def reach_samples(reading: Mapping[str, Any]) -> ForceSamples:
    """The accelerations of an examination, inside and beyond the distances of training, where the
    law itself can be read.

    Args:
        reading: the file of the probe `far`.
    """
    far = of_json(Examination, reading["examination"], "readouts/far")
    answers = Answers.of(reading["answers"])
    read = [n for n, s in far.shells.items() if (s.readable or 0.0) >= THRESHOLDS.all_right]
    answers = answers.some(answers.answered & of_shells(answers, read))
    columns: dict[str, Any] = {"orbit": np.arange(len(answers)), "time": 0.0, "r": answers.r}
    parts = {"": answers.position, "a_": answers.acceleration, "true_a_": answers.true}
    parts["v_"] = answers.velocity
    for prefix, values in parts.items():
        columns |= {f"{prefix}{axis}": v for axis, v in zip("xyz", values.T, strict=False)}
    columns |= {"a_norm": np.linalg.norm(answers.acceleration, axis=1), "gm": answers.gm}
    names = ("readout", "model", "law", "dt")
    known = {name: reading.get(name) for name in names} | {"states": "reach"}
    return ForceSamples(pd.DataFrame(columns), known)


@dataclass(frozen=True)
class FieldLimits:
    """How far a force may depart from the law before a gate fails, added to the model's own field.

    Attributes:
        departures: for each of `DEPARTURES`, the largest negative and positive one that passes;
            the size of the search if none fails.
        part: the largest part that no central force has, in shares of the law's acceleration.
        remainder: error against the field, at most, on 90 % of the states: what no part explains.
    """

    departures: dict[str, tuple[float, float]] = field(default_factory=dict)
    part: float | None = None
    remainder: float | None = None


@dataclass(frozen=True)
class Departure:
    """Another central force that is close to a law.

    Attributes:
        factor: on the law's acceleration at a distance (au), for a size.
        widest: the largest size that is tried.
        signs: of sizes that make sense.
    """

    factor: Callable[[np.ndarray, float], np.ndarray]
    widest: float
    signs: tuple[float, ...] = (-1.0, 1.0)


DEPARTURES = {
    "exponent": Departure(lambda r, size: r**size, 1.0),
    "quartic": Departure(lambda r, size: 1 + size / r**2, 1.0),
    # sizes are 1/L, of a length L
    "yukawa": Departure(lambda r, size: (1 + size * r) * np.exp(-size * r), 2.0, (1.0,)),
}
"""By name; the sizes are a change of the exponent (Newton's is -2), au² of a term in 1/r⁴ beside
1/r², and the inverse of Yukawa's length in au."""


def departures(
    answers: Answers, passes: Callable[[Answers], bool]
) -> dict[str, tuple[float, float]]:
    """The largest departures of either sign with which a field still passes.

    Args:
        answers: the table of an examination.
        passes: whether a table passes every gate.
    """
    limits = {}
    for name, departure in DEPARTURES.items():
        ends = []
        for sign in departure.signs:
            low, high = 0.0, departure.widest
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                more = departure.factor(answers.r, sign * middle)[:, None] - 1
                changed = answers.with_acceleration(answers.acceleration + more * answers.true)
                low, high = (middle, high) if passes(changed) else (low, middle)
            ends.append(sign * high)
        limits[name] = (ends[0] if len(ends) == 2 else 0.0, ends[-1])
    return limits
