"""Every context of some orbits, each of exactly so many positions, for models that take one."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

NUMBERS_AT_ONCE = 1 << 17
"""Positions in one pass."""


def by_windows(
    positions: Float[np.ndarray, "orbit time *body axis"],
    length: int,
    following: Callable[[np.ndarray], np.ndarray],
    at_once: int = NUMBERS_AT_ONCE,
) -> Float[np.ndarray, "orbit time *body axis"]:
    """The next position after every time with a full context; NaN before.

    Args:
        positions: au.
        length: positions in a context.
        following: (context, time[, body], axis) to the (context[, body], axis) position after
            each.
        at_once: positions in one call.
    """
    x = np.asarray(positions, dtype=np.float64)
    said = np.full(x.shape, np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(x, length, axis=1)
    contexts = np.moveaxis(windows, -1, 2).reshape(-1, length, *x.shape[2:])
    count = max(1, at_once // length)
    parts = [following(np.array(contexts[i : i + count])) for i in range(0, len(contexts), count)]
    said[:, length - 1 :] = np.concatenate(parts).reshape(len(x), -1, *x.shape[2:])
    return said


def package(name: str, extra: str) -> None:
    """Raise ValueError, which names the extra, unless a package is installed."""
    import importlib.util

    if importlib.util.find_spec(name) is None:
        raise ValueError(
            f"the package {name!r} is not installed; `pip install -e '.[{extra}]'` brings it."
        )
