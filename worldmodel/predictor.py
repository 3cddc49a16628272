"""The contract of predictors. Imports no torch.

A *predictor* gives the next position from positions alone. Any object will do that has

    context_length                  # positions that a prediction is made from
    predict(positions)              # (orbit, time[, body], axis), au -> the same shape

and, optionally, some of

    jacobians(contexts)             # else central differences
    activations(contexts)           # by layer, for the probe `linear`
    inside(what)                    # a torch module whose parts can be changed, for the probe
                                    # `causal`: see `worldmodel.inside`
    backbone(axes, bodies, unit)    # a torch module, for the probes that fine-tune: see
                                    # `worldmodel.backbone`
    dt                              # the step that it was made for; checked against the data
    name                            # for reports
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from orbits.options import arguments_checked

if TYPE_CHECKING:
    from worldmodel.probes.states import Arcs


@runtime_checkable
class Predictor(Protocol):
    """Predicts the next position after every time, from the last ones alone."""

    @property
    def context_length(self) -> int:
        """Positions that a prediction is made from."""

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The position one step later, au; NaN where the context is not full."""


class ArcPredictor(ABC):
    """Predicts the next position after every time of some arcs, knowing all of them."""

    context_length: int
    """Positions that a prediction is made from."""

    @abstractmethod
    def predict(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        """The position one step later, au, float64; NaN where the context is not full."""

    def bare(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        """The same for arcs that are bare contexts, each asked for once."""
        return self.predict(arcs)

    @abstractmethod
    def jacobians(
        self, arcs: "Arcs", orbit: np.ndarray, time: np.ndarray
    ) -> tuple[Float[np.ndarray, "state context out in"], float | None]:
        """Derivatives of some predictions with respect to every position they used.

        Args:
            arcs: the states.
            orbit: (state,) indices of orbits.
            time: (state,) indices of times, each with a full context.

        Returns:
            The derivatives, the present position last, of at least two positions; coordinates are
            body by body. And their median error, if they were taken by a model's differences.

        Raises:
            ValueError: for a model whose predictions have no derivatives.
        """


def stretches(
    positions: Float[np.ndarray, "orbit time *body axis"], length: int
) -> Float[np.ndarray, "stretch length *body axis"]:
    """All stretches of so many adjacent positions, orbit by orbit."""
    windows = np.lib.stride_tricks.sliding_window_view(positions, length, axis=1)
    return np.moveaxis(windows, -1, 2).reshape(-1, length, *positions.shape[2:])


@arguments_checked
def by_windows(
    positions: Float[np.ndarray, "orbit time *body axis"],
    length: int,
    following: Callable[[np.ndarray], np.ndarray],
    at_once: int = 1 << 17,
) -> Float[np.ndarray, "orbit time *body axis"]:
    """The next position after every time with a full context, one context at a time.

    Args:
        positions: au.
        length: positions in a context.
        following: (context, time[, body], axis) to the (context[, body], axis) position after
            each.
        at_once: positions in one call.

    Returns:
        au; NaN where the context is not full.
    """
    x = np.asarray(positions, dtype=np.float64)
    predictions = np.full(x.shape, np.nan)
    if x.shape[1] < length:
        return predictions
    contexts = stretches(x, length)
    count = max(1, at_once // length)
    starts = range(0, len(contexts) or 1, count)  # one call even if there is no context
    parts = [following(np.array(contexts[start : start + count])) for start in starts]
    full = predictions[:, length - 1 :]
    full[:] = np.concatenate(parts).reshape(full.shape)
    return predictions


def central_differences(
    function: Callable[[np.ndarray], np.ndarray],
    at: Float[np.ndarray, "state part size"],
    step: Float[np.ndarray, "state part"],
) -> Float[np.ndarray, "state part out size"]:
    """Derivatives of a function of vectors, (row, part, size) to (row, out), by every component of
    each."""
    states, parts, size = at.shape
    columns = []
    for part in range(parts):
        for component in range(size):
            moved = np.repeat(at[:, None], 2, axis=1).astype(np.float64)
            moved[:, 0, part, component] += step[:, part]
            moved[:, 1, part, component] -= step[:, part]
            ends = function(moved.reshape(2 * states, parts, size)).reshape(states, 2, -1)
            columns.append((ends[:, 0] - ends[:, 1]) / (2 * step[:, part, None]))
    derivatives = np.stack(columns, axis=-1)
    return derivatives.reshape(states, -1, parts, size).swapaxes(1, 2)


def roll_out(
    predictor: Predictor, start: Float[np.ndarray, "orbit time *body axis"], steps: int
) -> Float[np.ndarray, "orbit step *body axis"]:
    """Continue at least C given positions, each prediction becoming the next input, au."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0:
        raise ValueError(f"steps is {steps!r}; a whole number of at least 0 is needed.")
    x = np.asarray(start, dtype=np.float64)
    if x.ndim < 3:
        raise ValueError(
            f"positions have the shape {x.shape}; (orbit, time[, body], axis) is needed."
        )
    given = x.shape[1]
    for _ in range(steps):
        following = predictor.predict(x[:, -predictor.context_length :])[:, -1:]
        x = np.concatenate((x, following), axis=1)
    return x[:, given:]


def of_bodies(
    relative: Float[np.ndarray, "state context axis axis"], arcs: "Arcs", orbit: np.ndarray
) -> Float[np.ndarray, "state context out in"]:
    """Derivatives for every visible body, from the relative motion's.

    The barycentre of two bodies moves in a straight line: 2 X(t) − X(t−1).
    """
    if arcs.mass is None:
        return relative
    share, axes = arcs.shares[orbit], relative.shape[-1]
    weight = arcs.mass[orbit] / arcs.mass[orbit].sum(axis=1, keepdims=True)
    derivatives = np.einsum("nb,c,nsij->nsbicj", share, np.array([1.0, -1.0]), relative)
    straight = np.einsum("nc,ij->nicj", weight, np.eye(axes))[:, None]
    derivatives[:, -1] += 2 * straight
    derivatives[:, -2] -= straight
    return derivatives.reshape(*relative.shape[:2], 2 * axes, 2 * axes)


def circles(times: int, axes: int = 2, bodies: int = 1, dt: float = 0.008) -> np.ndarray:
    """Positions that any predictor must take: two circles around the Sun, 0.8 and 1.2 au wide.

    Returns:
        (orbit, time, body, axis), au.
    """
    radius = np.array([0.8, 1.2])
    # by Kepler's third law, from any two phases
    angle = 2 * np.pi * radius[:, None] ** -1.5 * dt * np.arange(times) + [[0.3], [1.1]]
    flat = radius[:, None, None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    position = np.concatenate((flat, np.zeros((2, times, axes - 2))), axis=-1)
    if bodies == 1:
        return position[:, :, None]
    return np.stack((position / 2, -position / 2), axis=2)
