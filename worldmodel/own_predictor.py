"""A predictor not trained here: checked, and in the units of the data."""

import hashlib
import html
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float

from orbits.progress import advance
from worldmodel.config import PredictorConfig
from worldmodel.contract import as_array, checked, precision_of, require_contract
from worldmodel.own_code import attribute_of, called, in_lines, name_of
from worldmodel.predictor import ArcPredictor, Predictor, central_differences, circles
from worldmodel.source import DataFacts

if TYPE_CHECKING:
    from torch import Tensor

    from worldmodel.backbone import Backbone
    from worldmodel.inside import Inside
    from worldmodel.probes.states import Arcs

STEP = 1e-3
"""Of finite differences, in units of the distance: at 1e-3 a float32 model errs by 1e-4 from
rounding and a smooth one by 1e-6 times its third derivative; twice the step shows the error."""

LONG = 160
"""Positions of a circle for a first test: more than a run shows."""


class CheckedPredictor:
    """Your own predictor in place of a `WorldModel`; every output is checked.

    Whatever it is shown, some of its predictions are asked for again from the bare context among
    others: a predictor that looks ahead, further back than its context, at its place in the array
    or at other orbits is refused, by the reading itself and not only by a test beforehand.

    Args:
        predictor: an object with `context_length` and `predict`.
        config: its units.
        untrained: makes the untrained version, from a seed.
        name: for reports.
        code: SHA-256 of the file that made it, if any.
        trained_on: path of its training data set, if any.

    Attributes:
        precision: spacing of its numbers relative to their size, as far as it shows.
        noise: au, by how much two answers to the same positions have differed (median).
    """

    facts: DataFacts | None = None
    seed: int | None = None
    training_facts: DataFacts | None = None
    radius: tuple[float, float] | None = None

    def __init__(
        self,
        predictor: Predictor,
        config: PredictorConfig | None = None,
        untrained: Callable[[int], Any] | None = None,
        name: str | None = None,
        code: str | None = None,
        trained_on: str | None = None,
    ) -> None:
        self.predictor = predictor
        self.config = config or PredictorConfig()
        self.make_untrained = untrained
        self.name = name or str(attribute_of(predictor, "name") or name_of(predictor))
        self.code = code
        self.trained_on = trained_on
        self.context_length = predictor.context_length
        self.precision = 0.0
        self.noise = 0.0

    def __repr__(self) -> str:
        return f"CheckedPredictor({self.name}, context {self.context_length})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    @property
    def dt(self) -> float:
        """Time between two positions, yr: that of the data."""
        if self.facts is None:
            raise ValueError("the step of a model of one's own is that of the data; give data.")
        return self.facts.dt

    def require_step(self, dt: float, where: str) -> None:
        """Raise ValueError if the predictor was made for another step."""
        own = attribute_of(self.predictor, "dt")
        if own is None:
            return
        try:
            years = float(own) * self.config.time
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.name} has the step dt = {own!r:.40}; a number is needed."
            ) from None
        if np.isclose(years, dt, rtol=1e-6, atol=0):
            return
        unit = self.config.time_unit
        made = f"{years:.8g} yr" if unit == "yr" else f"{float(own):g} {unit} ({years:.8g} yr)"
        raise ValueError(
            f"{where} has a state every {dt:g} yr, but the model was made for {made}; say its "
            f"--time-unit, or make the data with --dt {years:.8g}."
        )

    def for_world(self, facts: DataFacts) -> Self:
        """The predictor for one data set; ValueError if that has another step."""
        self.require_step(facts.dt, facts.path)
        return self._like(self.predictor, facts, self.seed)

    def _like(self, predictor: Predictor, facts: DataFacts | None, seed: int | None) -> Self:
        own = (self.config, self.make_untrained, self.name, self.code, self.trained_on)
        model = type(self)(predictor, *own)
        model.facts, model.seed = facts, seed
        return model

    def first_unseen(self, facts: DataFacts) -> int:
        """Number of the first orbit that it was not trained on: 0, as that is unknown."""
        return 0

    def untrained(self, seed: int) -> Self:
        """The untrained version, from the user's factory.

        Raises:
            ValueError: if there is no such factory.
        """
        if self.make_untrained is None:
            raise ValueError(
                f"{self.name} has no untrained form, which the control or the probe needs; give "
                "--untrained-model (untrained= in Python), or leave that out."
            )
        fresh = as_predictor(self.make_untrained(seed), self.config.model_context)
        model = self._like(fresh, self.facts, seed)
        model.name, model.make_untrained = f"{self.name}, untrained", None
        return model

    def backbone(self, what: str) -> "Backbone":
        """A copy of its network without a head, for fine-tuning.

        Args:
            what: needs it, for the message.

        Raises:
            ValueError: if it contains no network.
        """
        own = attribute_of(self.predictor, "backbone")
        if own is None or self.facts is None:
            raise ValueError(
                f"{what} needs a network that can be trained, and {self.name} shows none; give a "
                "worldmodel.TorchModule (or an object with `backbone`), or leave it out."
            )
        return own(self.facts.axes, self.facts.bodies, self.config.length)

    def inside(self, what: str) -> "Inside":
        """Its torch module, open to inspection and edits.

        Args:
            what: needs it, for the message.

        Raises:
            ValueError: if there is none.
        """
        own = attribute_of(self.predictor, "inside")
        if own is None:
            raise ValueError(
                f"{what} changes what goes on inside a torch module, and {self.name} shows none; "
                "give a worldmodel.TorchModule (or an object with `inside`), or leave it out."
            )
        inside, length = own(what), self.config.length

        def following(contexts: "Tensor") -> "Tensor":
            with in_lines(f"{self.name} fails on positions of shape {tuple(contexts.shape)}"):
                output = inside.following(_alone(contexts) / length) * length
            return output.reshape(len(contexts), *contexts.shape[2:])

        return replace(inside, following=following)

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au, float64, checked; NaN at the first C − 1 times.

        Args:
            positions: (orbit, time, axis) or (orbit, time, body, axis), au. A single body is shown
                without its axis.

        Raises:
            ValueError: if the output has another shape, no numbers, or is not finite.
        """
        seen = np.asarray(positions, dtype=np.float64)
        if seen.shape[1] < self.context_length:
            raise ValueError(
                f"{seen.shape[1]} position(s) of each orbit were given; {self.name} needs "
                f"{self.context_length} or more."
            )
        answer = self.answers(seen)
        own = self.context_length, self.precision, self.name
        self.noise = max(self.noise, require_contract(self.answers, seen, answer, *own))
        return answer

    def answers(self, seen: np.ndarray) -> np.ndarray:
        """The predictor's own output, of the right shape and type, au; nothing is asked again."""
        shown = _alone(seen)
        what = f"{self.name} fails on positions of shape {shown.shape}"
        answers = called(what, self.predictor.predict, shown / self.config.length)
        advance(seen.shape[0] * seen.shape[1])
        answers = as_array(answers, self.name)
        self.precision = max(self.precision, precision_of(self.predictor, answers))
        answer = checked(answers, shown, self.context_length, self.name) * self.config.length
        return answer.reshape(seen.shape)

    def try_out(self, axes: int, bodies: int, dt: float) -> None:
        """Show it two circles, long ones: ValueError if it breaks the contract, or is silent."""
        shown = circles(max(self.context_length + 3, LONG), axes, bodies, dt)
        first, second = (self.predict(shown) for _ in range(2))  # which asks four times
        apart = np.abs(second - first)
        if np.isfinite(apart).any():
            self.noise = float(np.nanmedian(apart))
        if np.isnan(first).all():
            raise ValueError(
                f"{self.name} gives no number on circles of 0.8 and 1.2 au; NaN says that it has "
                "no answer in some places."
            )

    def jacobians(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> tuple[Float[np.ndarray, "state time out in"], float | None]:
        """Derivatives of the last prediction: the predictor's own, else central differences.

        Returns:
            The derivatives; and for differences the median over states of their distance
            (Frobenius) from those with twice the step: rounding and truncation together.
        """
        own = attribute_of(self.predictor, "jacobians")
        states, times = contexts.shape[:2]
        flat = contexts.reshape(states, times, -1)
        if own is not None:  # lengths cancel: au by au is unit by unit
            what, shown = f"{self.name} fails to give jacobians", _alone(contexts)
            answer = called(what, own, shown / self.config.length)
            jacobians = as_array(answer, self.name).astype(np.float64)
            needed = (states, times, flat.shape[2], flat.shape[2])
            if jacobians.shape != needed:
                raise ValueError(
                    f"{self.name}: jacobians of shape {jacobians.shape} were given; (state, "
                    f"context, out, in) is {needed} here."
                )
            return jacobians, None

        def last(moved: np.ndarray) -> np.ndarray:
            return self.predict(moved.reshape(-1, *contexts.shape[1:]))[:, -1]

        h = np.repeat(STEP * np.linalg.norm(flat[:, -1], axis=-1)[:, None], times, axis=1)
        jacobians, coarse = (central_differences(last, flat, factor * h) for factor in (1, 2))
        apart = np.linalg.norm((coarse - jacobians).reshape(states, -1), axis=1)
        return jacobians, float(np.median(apart))

    def features(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> dict[str, Float[np.ndarray, "state feature"]]:
        """The predictor's own `activations(contexts)` at the last position, by layer.

        Raises:
            ValueError: if it has none, or they are not tables of numbers.
        """
        own = attribute_of(self.predictor, "activations")
        if own is None:
            raise ValueError(
                f"{self.name} has no activations(contexts), which the probe linear needs; leave "
                "that out, or give the predictor such a method."
            )
        what, shown = f"{self.name} fails to give activations", _alone(contexts)
        layers = called(what, own, shown / self.config.length)
        activations = {n: as_array(x, self.name).astype(np.float64) for n, x in layers.items()}
        for name, values in activations.items():
            if values.ndim != 2 or len(values) != len(contexts):
                raise ValueError(
                    f"{self.name}: the activations {name!r} have shape {values.shape}; (state, "
                    f"feature) with {len(contexts)} states is needed."
                )
        return activations

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the code that made it and of its output for two circles."""
        digest = hashlib.sha256(repr(self.about() | {"name": "", "remark": ""}).encode())
        axes, bodies = (self.facts.axes, self.facts.bodies) if self.facts else (2, 1)
        shown = circles(self.context_length, axes, bodies)
        first, second = (self.predict(shown) for _ in range(2))
        if np.array_equal(first, second, equal_nan=True):
            digest.update(np.nan_to_num(first).astype("<f8").tobytes())
        return digest.hexdigest()

    @property
    def identity(self) -> str:
        """Of the predictor and, if untrained, its seed."""
        return f"{self.fingerprint[:32]}-{self.seed}"

    def about(self) -> dict[str, Any]:
        """What is known of it, for files read off it."""
        own = {name: getattr(self, name) for name in ("name", "code", "context_length")}
        parameters = attribute_of(self.predictor, "parameters")
        if isinstance(parameters, dict) and parameters:  # of a torch module it is a method
            numbers = {name: v for name, v in parameters.items() if isinstance(v, (int, float))}
            own["parameters"] = {str(name): float(v) for name, v in numbers.items()}
        units = {name: getattr(self.config, name) for name in ("length_unit", "time_unit")}
        if self.noise:
            own["remark"] = (
                f"It answers differently each time: two answers to the same positions differ by "
                f"{self.noise:.1g} au (median)."
            )
        return own | units


class OfPositions(ArcPredictor):
    """A predictor from positions alone (`WorldModel`, `CheckedPredictor`), shown arcs."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.context_length = model.context_length

    def predict(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        return self.model.predict(arcs.seen)

    def bare(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        return getattr(self.model, "answers", self.model.predict)(arcs.seen)

    def jacobians(
        self, arcs: "Arcs", orbit: np.ndarray, time: np.ndarray
    ) -> tuple[Float[np.ndarray, "state context out in"], float | None]:
        """By the model's own means; 0 for the previous position if it sees only one."""
        length = self.context_length
        jacobians, error = self.model.jacobians(arcs.contexts(orbit, time, length))
        return np.pad(jacobians, ((0, 0), (max(0, 2 - length), 0), (0, 0), (0, 0))), error


def as_predictor(thing: Any, context: int | None = None) -> Predictor:
    """The predictor meant: an object, or a plain function with its context; ValueError says what an
    object lacks."""
    name = name_of(thing)
    if inspect.isclass(thing):
        raise ValueError(f"{name} is a class; give an object of it, or a factory.")
    with in_lines(f"{name} fails to say what it is"):
        # what else it has is asked for later: of what it lacks an AttributeError must say so
        hasattr(thing, "precision")
        predicts, length = hasattr(thing, "predict"), getattr(thing, "context_length", None)
    if predicts:
        whole = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
        if length is None or not whole or not 1 <= length < 2**31:  # no orbit has as many positions
            raise ValueError(
                f"{name} has context_length {length!r}; a predictor says how many positions it is "
                "made from: a whole number of at least 1, below 2^31."
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
    return FunctionPredictor(thing, context)


class FunctionPredictor:
    """A plain function of positions as a predictor."""

    def __init__(self, function: Callable[[np.ndarray], np.ndarray], context_length: int) -> None:
        self.predict, self.context_length = function, context_length
        self.name = name_of(function)


def _alone(positions: Any) -> Any:
    """(orbit, time, axis) of a single body."""
    single = positions.ndim == 4 and positions.shape[2] == 1
    return positions[:, :, 0] if single else positions
