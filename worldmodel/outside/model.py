"""A model that was not trained here: a predictor, checked, in the units of the data."""

import dataclasses
import hashlib
import html
import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from worldmodel.outside.config import OutsideConfig
from worldmodel.outside.loading import call, in_a_line
from worldmodel.predictors.base import ArcPredictor, Predictor
from worldmodel.probes.states import Arcs
from worldmodel.source import DataFacts

STEP = 1e-3
"""Of finite differences, in units of the distance: at 1e-3 a float32 model errs by 1e-4 from
rounding and a smooth one by 1e-6 times its third derivative; twice the step shows what it was."""

ORDER = "(orbit, time, axis), or (orbit, time, body, axis) of several bodies"


@dataclasses.dataclass
class Function:
    """A plain function of positions as a predictor."""

    function: Callable[[np.ndarray], np.ndarray]
    context_length: int

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """What the function says."""
        return self.function(positions)


class OutsideModel:
    """A predictor of the user's own, in the place of a `WorldModel`.

    Args:
        predictor: an object with `context_length` and `predict`, or a plain function.
        config: its units, and the context of a plain function.
        untrained: makes the same before training; is given `seed` if it takes that.
        name: for reports.
        code: SHA-256 of the file that it was made by, if there is one.

    Raises:
        ValueError: if it is no predictor (says what it lacks).
    """

    def __init__(
        self,
        predictor: Any,
        config: OutsideConfig | None = None,
        untrained: Callable[..., Any] | None = None,
        name: str | None = None,
        code: str | None = None,
    ) -> None:
        self.config = config or OutsideConfig()
        self.predictor = as_predictor(predictor, self.config.model_context)
        self.name = name or str(getattr(self.predictor, "name", "") or _name_of(predictor))
        self.context_length = self.predictor.context_length
        self.make_untrained = untrained
        self.code = code
        self.seed: int | None = None
        self.facts: DataFacts | None = None
        self.radius: tuple[float, float] | None = None
        self.trained_on: str | None = None

    def __repr__(self) -> str:
        return f"OutsideModel({self.name}, context {self.context_length})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    @property
    def dt(self) -> float:
        """Time between two positions, yr: that of the data."""
        if self.facts is None:
            raise ValueError("the step of a model of one's own is that of the data; give data.")
        return self.facts.dt

    def for_world(self, facts: DataFacts) -> "OutsideModel":
        """The model for one data set.

        Raises:
            ValueError: if the step that it says it was made for is another.
        """
        require_step(self.predictor, facts.dt, self.config, facts.path)
        model = self._copy()
        model.facts = facts
        return model

    def _copy(self) -> "OutsideModel":
        model = OutsideModel(self.predictor, self.config, self.make_untrained, self.name, self.code)
        model.facts, model.seed, model.trained_on = self.facts, self.seed, self.trained_on
        return model

    def first_unseen(self, facts: DataFacts) -> int:
        """Number of the first orbit that it was not trained on: nothing is known of that."""
        return 0

    def untrained(self, seed: int) -> "OutsideModel":
        """The same model before training, by the user's factory.

        Raises:
            ValueError: if there is no such factory.
        """
        if self.make_untrained is None:
            raise ValueError(
                f"{self.name} has no untrained form, which the control or the read-out needs; give "
                "--untrained-model (untrained= in Python), or leave that out."
            )
        fresh = call(self.make_untrained, {"seed": seed}, "the factory of the untrained model")
        model = OutsideModel(fresh, self.config, None, f"{self.name}, untrained", self.code)
        model.facts, model.seed = self.facts, seed
        return model

    def backbone(self, what: str) -> Any:
        """A copy of its network without a head, for `worldmodel.probes.finetune`.

        Args:
            what: needs it, for the message.

        Raises:
            ValueError: if there is no network in it.
        """
        if not hasattr(self.predictor, "backbone"):
            raise ValueError(
                f"{what} needs a network that can be trained, and {self.name} shows none; give a "
                "worldmodel.TorchModule (or an object with `backbone`), or leave it out."
            )
        assert self.facts is not None  # for the type checker: `for_world` said which
        unit = self.config.length
        return self.predictor.backbone(self.facts.axes, self.facts.bodies, unit)

    def predict(self, positions: Float[np.ndarray, "orbit time *body axis"]) -> np.ndarray:
        """The next position after every time, au, float64, checked; NaN at the first C − 1 times.

        Args:
            positions: (orbit, time, axis) or (orbit, time, body, axis), au.

        Raises:
            ValueError: if the answer has another shape, no numbers, or is not finite.
        """
        seen = np.asarray(positions, dtype=np.float64)
        if seen.shape[1] < self.context_length:
            raise ValueError(
                f"{seen.shape[1]} position(s) of each orbit were given; {self.name} needs "
                f"{self.context_length} or more."
            )
        unit = self.config.length
        try:
            said = self.predictor.predict(seen / unit if unit != 1 else seen.copy())
        except (ValueError, MemoryError, KeyboardInterrupt, ModuleNotFoundError):
            raise
        except Exception as error:
            raise ValueError(
                f"{self.name} fails on positions of shape {seen.shape}: {in_a_line(error)}"
            ) from error
        return checked(said, seen, self.context_length, self.name) * unit

    def activations(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> dict[str, Float[np.ndarray, "state feature"]]:
        """What the predictor's own `activations(contexts)` says at the last position, by layer.

        Raises:
            ValueError: if it has none, or they are no table of numbers.
        """
        own = getattr(self.predictor, "activations", None)
        if own is None:
            raise ValueError(
                f"{self.name} has no activations(contexts), which the read-out linear needs; leave "
                "that out, or give the predictor such a method."
            )
        shown = contexts[:, :, 0] if contexts.shape[2] == 1 else contexts
        found = {k: np.asarray(v, np.float64) for k, v in own(shown / self.config.length).items()}
        for name, values in found.items():
            if values.ndim != 2 or len(values) != len(contexts):
                raise ValueError(
                    f"{self.name}: the activations {name!r} have shape {values.shape}; (state, "
                    f"feature) with {len(contexts)} states is needed."
                )
        return found

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the code that made it and of what it says of two circles."""
        digest = hashlib.sha256(f"{self.code} {self.context_length} {self.config}".encode())
        first, second = (self.predict(circles(self.context_length)) for _ in range(2))
        if np.array_equal(first, second, equal_nan=True):
            digest.update(np.nan_to_num(first).astype("<f8").tobytes())
        return digest.hexdigest()

    def about(self) -> dict[str, Any]:
        """What is known of it, for the files that are read off it."""
        return {
            "name": self.name,
            "code": self.code,
            "context_length": self.context_length,
            "length_unit": self.config.length_unit,
            "time_unit": self.config.time_unit,
        }

    @cached_property
    def identity(self) -> str:
        """Of the model and, if it is untrained, its seed."""
        return f"{self.fingerprint[:32]}-{self.seed}"


class OutsidePredictor(ArcPredictor):
    """A predictor of positions on arcs: derivatives by its own means, or by differences."""

    def __init__(self, model: OutsideModel) -> None:
        self.model = model
        self.context_length = model.context_length
        self._error: float | None = None

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        seen = arcs.seen
        if seen.shape[2] == 1:
            return self.model.predict(seen[:, :, 0])[:, :, None]
        return self.model.predict(seen)

    def jacobians(
        self, arcs: Arcs, orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """By the predictor's own `jacobians(contexts)` if it has that, else by differences."""
        length = self.context_length
        contexts = arcs.contexts(orbit, time, length)
        shown = contexts[:, :, 0] if contexts.shape[2] == 1 else contexts
        own = getattr(self.model.predictor, "jacobians", None)
        size = contexts.shape[2] * contexts.shape[3]
        if own is None:
            found, self._error = by_differences(self.model.predict, shown)
        else:  # lengths cancel: au by au is unit by unit
            found = np.asarray(own(shown / self.model.config.length), dtype=np.float64)
            if found.shape != (len(contexts), length, size, size):
                raise ValueError(
                    f"{self.model.name}: jacobians of shape {found.shape} were given; (state, "
                    f"context, out, in) is {(len(contexts), length, size, size)} here."
                )
        return np.pad(found, ((0, 0), (max(0, 2 - length), 0), (0, 0), (0, 0)))

    def jacobian_error(self) -> float | None:
        return self._error


def by_differences(
    predict: Callable[[np.ndarray], np.ndarray],
    contexts: Float[np.ndarray, "state context *body axis"],
    step: float = STEP,
) -> tuple[Float[np.ndarray, "state context out in"], float]:
    """Derivatives of the last prediction by every position, by central differences.

    Args:
        predict: positions to next positions.
        contexts: full contexts, au.
        step: in units of the last position's distance.

    Returns:
        The derivatives, and the median over the states of how far those of twice the step lie from
        them (Frobenius): rounding and the step's own error together.
    """
    flat = contexts.reshape(*contexts.shape[:2], -1).astype(np.float64)
    states, times, size = flat.shape
    h = step * np.linalg.norm(flat[:, -1], axis=-1)
    found = np.empty((2, states, times, size, size))
    for time in range(times):
        for axis in range(size):
            moved = np.repeat(flat[:, None], 4, axis=1)
            shifts = np.array([1, -1, 2, -2]) * h[:, None]
            moved[:, :, time, axis] += shifts
            said = predict(moved.reshape(4 * states, *contexts.shape[1:]))[:, -1]
            ends = said.reshape(states, 4, size)
            found[0, :, time, :, axis] = (ends[:, 0] - ends[:, 1]) / (2 * h[:, None])
            found[1, :, time, :, axis] = (ends[:, 2] - ends[:, 3]) / (4 * h[:, None])
    apart = np.linalg.norm((found[1] - found[0]).reshape(states, -1), axis=1)
    return found[0], float(np.median(apart))


def as_predictor(thing: Any, context: int | None = None) -> Predictor:
    """The predictor that is meant.

    Raises:
        ValueError: says what an object lacks.
    """
    name = _name_of(thing)
    if inspect.isclass(thing):
        raise ValueError(f"{name} is a class; give an object of it, or a factory.")
    if hasattr(thing, "predict"):
        length = getattr(thing, "context_length", None)
        if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 1:
            raise ValueError(
                f"{name} has context_length {length!r}; a predictor says how many positions it is "
                "made from: a whole number of at least 1."
            )
        return thing
    if not callable(thing):
        raise ValueError(
            f"{name} is no predictor: give an object with context_length and predict(positions), "
            "or a function of positions."
        )
    if context is None:
        raise ValueError(
            f"{name} is a plain function: say how many positions it sees (--model-context; "
            "model_context= in Python)."
        )
    return Function(thing, context)


def require_step(predictor: Predictor, dt: float, config: OutsideConfig, where: str) -> None:
    """Raise ValueError if a predictor says that it was made for another step than the data's."""
    own = getattr(predictor, "dt", None)
    if own is None:
        return
    years = float(own) * config.time
    if not np.isclose(years, dt, rtol=1e-6, atol=0):
        raise ValueError(
            f"{where} has a state every {dt:g} yr, but the model was made for "
            f"{float(own):g} {config.time_unit} ({years:g} yr); say its --time-unit, or make the "
            f"data with --dt {years:g}."
        )


def checked(said: Any, seen: np.ndarray, length: int, name: str) -> np.ndarray:
    """An answer as float64, NaN where the context is not full.

    Raises:
        ValueError: if its type, its shape or its numbers will not do.
    """
    if hasattr(said, "detach"):
        raise ValueError(
            f"{name} gives a torch tensor; numbers in numpy are needed: "
            "return tensor.detach().cpu().numpy()."
        )
    answer = np.asarray(said)
    if answer.dtype.kind not in "fiu":
        raise ValueError(f"{name} gives values of type {answer.dtype}; real numbers are needed.")
    if answer.shape != seen.shape:
        raise ValueError(
            f"{name} gives shape {answer.shape} for positions of shape {seen.shape}; the same "
            f"shape is needed, {ORDER}: the next position after every time."
        )
    found = answer.astype(np.float64)
    found[:, : length - 1] = np.nan
    bad = ~np.isfinite(found[:, length - 1 :]).all(axis=tuple(range(2, seen.ndim)))
    if bad.any():
        raise ValueError(
            f"{name} gives numbers that are not finite at {int(bad.sum())} of {bad.size} times "
            f"with a full context of {length}."
        )
    return found


def circles(times: int, axes: int = 2, bodies: int = 1, dt: float = 0.008) -> np.ndarray:
    """Two circles of 0.8 and 1.2 au around the Sun, (orbit, time[, body], axis), au."""
    radius = np.array([0.8, 1.2])
    angle = 2 * np.pi * radius[:, None] ** -1.5 * dt * np.arange(times) + [[0.3], [1.1]]
    flat = radius[:, None, None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    position = np.concatenate((flat, np.zeros((2, times, axes - 2))), axis=-1)
    if bodies == 1:
        return position
    return np.stack((position / 2, -position / 2), axis=2)


def _name_of(thing: Any) -> str:
    name = getattr(thing, "__name__", None) or type(thing).__name__
    return str(name)
