"""What every predictor not trained here has to keep: the form of its answers, and that they follow
from the last C positions of their own orbit alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

ASKED_AGAIN, ASKED_ALONE = 32, 4
"""Predictions repeated from bare contexts, together and one by one."""
ROUNDINGS = 16.0
"""Spacings of floating point by which a sum in another order may differ."""
SAME = 0.02
"""Share of the bend: well below the error that counts as right."""
COARSE = 1e-3
"""Spacing of half precision and coarser: such numbers hold a step or a bend, not a position."""
BFLOAT16 = 2.0**-7
"""Spacing of the coarsest numbers that networks compute in: a model that says it is coarser would
loosen a test of itself."""
MOST_NOISE = 0.1
"""Of the bend, that a model may differ from call to call: more is no answer."""
NOISES = 8.0
"""Of 32 times two draws of normal noise, the largest lies within six medians of a difference."""

LARGEST = 1e50
"""In size, of an answer: the sixth power of a larger one is no number any more."""

ORDER = "(orbit, time, axis), or (orbit, time, body, axis) of several bodies"


def as_array(answer: Any, name: str) -> np.ndarray:
    """An output as an array, NaN where it is masked; ValueError if it is a tensor of torch, or
    ragged."""
    if hasattr(answer, "detach"):
        own = "return tensor.detach().cpu().numpy()"
        raise ValueError(f"{name} gives a torch tensor; numbers in numpy are needed: {own}.")
    if isinstance(answer, np.ma.MaskedArray) and answer.dtype.kind in "fiu":
        return np.ma.filled(answer.astype(np.result_type(answer.dtype, np.float16)), np.nan)
    try:
        return np.asarray(answer)
    except ValueError as error:
        raise ValueError(f"{name} gives no array of numbers: {error}") from None


def checked(answer: np.ndarray, seen: np.ndarray, length: int, name: str) -> np.ndarray:
    """An output as float64, NaN where the context is not full; ValueError if its type, shape or
    numbers are wrong."""
    if answer.dtype.kind not in "fiu":
        raise ValueError(f"{name} gives values of type {answer.dtype}; real numbers are needed.")
    if answer.shape != seen.shape:
        raise ValueError(
            f"{name} gives shape {answer.shape} for positions of shape {seen.shape}; the same "
            f"shape is needed, {ORDER}: the next position after every time."
        )
    with np.errstate(over="ignore"):  # of a wider type
        positions = answer.astype(np.float64)
    positions[:, : length - 1] = np.nan
    full = positions[:, length - 1 :]
    full[np.isnan(full).any(axis=-1)] = np.nan
    if np.isinf(full).any():
        raise ValueError(f"{name} gives infinite numbers; NaN says that it has no answer.")
    if (np.abs(full) > LARGEST).any():
        raise ValueError(
            f"{name} gives positions of up to {np.nanmax(np.abs(full)):.0e}; {LARGEST:.0e} is the "
            "most, and NaN says that it has no answer."
        )
    return positions


def precision_of(predictor: Any, answers: np.ndarray) -> float:
    """Spacing of a predictor's numbers relative to their size: of its own `precision` if it has
    one, `BFLOAT16` at most, else of its output's type."""
    own = getattr(predictor, "precision", None)
    if isinstance(own, float):
        return min(own, BFLOAT16)
    kind = answers.dtype
    return float(np.finfo(kind).eps) if kind.kind == "f" else 0.0


def require_contract(
    answer: Callable[[np.ndarray], np.ndarray],
    seen: Float[np.ndarray, "orbit time body axis"],
    answers: Float[np.ndarray, "orbit time body axis"],
    length: int,
    precision: float,
    name: str,
) -> float:
    """Require that predictions follow from the last C positions of their own orbit alone.

    Some of them, the last of an orbit among these, are asked for again from the bare contexts,
    together and a few of them alone, since the mean over many orbits is that of any draw of them.
    They may differ by rounding in the predictor's own precision, by `SAME` of the bend that they
    add to a straight line, and by as much as a second answer to the same array does.

    Returns:
        The median of that last difference, au: 0 if all answers agree.

    Raises:
        ValueError: says on what the predictions depend.
    """
    times = seen.shape[1]
    random = np.random.default_rng(times)
    orbit = random.integers(len(seen), size=ASKED_AGAIN)
    time = random.integers(length - 1, times, size=ASKED_AGAIN)
    time[0] = times - 1
    contexts = seen[orbit[:, None], time[:, None] + np.arange(1 - length, 1)]
    bare, inside = answer(contexts)[:, -1], answers[orbit, time]
    few = slice(ASKED_ALONE)

    def one_by_one() -> np.ndarray:
        return np.concatenate([answer(contexts[k : k + 1])[:, -1] for k in range(ASKED_ALONE)])

    alone = one_by_one()
    inertia = 2 * contexts[:, -1] - contexts[:, -2:][:, 0]
    allowed = _allowed(contexts, inside, precision)

    def same(allowed: np.ndarray) -> bool:
        unlike = _differ(bare, inside, allowed), _differ(alone, inside[few], allowed[few])
        return not np.concatenate(unlike).any()

    swayed = _swayed(answer, contexts, bare, ROUNDINGS * precision)
    if same(allowed) and not swayed:
        return 0.0
    second = answer(seen)
    if not np.array_equal(second, answers, equal_nan=True):
        swayed = 0.0
    apart = np.abs(second - answers)
    noise = float(np.nanmedian(apart)) if np.isfinite(apart).any() else 0.0
    changes = _differ(second[orbit, time], inside, allowed).any()
    changes |= _differ(one_by_one(), alone, allowed[few]).any()
    allowed = allowed + NOISES * noise
    bend = np.nanmedian(np.abs(inside - inertia))
    if noise <= MOST_NOISE * bend and same(allowed) and not swayed:
        return noise
    middle = (length - 1 + times) // 2
    cut, whole = answer(seen[:, : middle + 1])[:, middle], answers[:, middle]
    places = zip(orbit[few], time[few], strict=True)
    own = np.stack([answer(seen[row : row + 1])[0, column] for row, column in places])
    mixed = _differ(own, inside[few], allowed[few]) | _differ(alone, bare[few], allowed[few])
    if changes:
        what = "on the call: two answers to the same positions differ"
    elif mixed.any() or same(allowed):
        what = "on the other orbits shown with it"
    elif _differ(cut, whole, np.nanmax(allowed)).any():
        what = "on what comes after it in the array"
    else:
        what = f"on its place in the array, or on more than the last {length} positions"
    apart = np.concatenate((bare - inside, alone - inside[few]))
    worst = max(swayed, float(np.nanmax(np.abs(apart), initial=0.0)))
    raise ValueError(
        f"{name}: a prediction depends {what} (by up to {worst:.2g} au); it has to be the "
        f"same from its bare context of {length}, whatever else is shown."
    )


def _swayed(
    answer: Callable[[np.ndarray], np.ndarray],
    contexts: np.ndarray,
    bare: np.ndarray,
    roundings: float,
) -> float:
    """By how much (au) other contexts beside one change its prediction; 0 for no more than
    rounding. In an array of the same shape sums are in the same order, so that no rounding differs,
    however coarse the numbers are that a model computes in.
    """
    apart = 0.0
    odd = np.arange(len(contexts)) % 2 == 1
    for kept in (odd, ~odd):
        others = np.array(contexts[::-1])
        others[kept] = contexts[kept]
        change = np.abs(answer(others)[:, -1] - bare)[kept]
        apart = max(apart, float(np.nanmax(change, initial=0.0)))
    return apart if apart > roundings * np.nanmax(np.abs(bare), initial=0.0) else 0.0


def _allowed(contexts: np.ndarray, answers: np.ndarray, precision: float) -> np.ndarray:
    """(context, 1 ...) au by which a prediction from each context may differ."""
    here, before = contexts[:, -1], contexts[:, -2:][:, 0]
    # so coarse a number holds a step, to be added to a finer position
    size = abs(answers - here) if precision > COARSE else np.maximum(abs(answers), abs(here))
    bend = np.linalg.norm(answers - 2 * here + before, axis=-1, keepdims=True)
    return np.asarray(np.nan_to_num(ROUNDINGS * precision * size + SAME * bend))


def _differ(first: np.ndarray, second: np.ndarray, allowed: np.ndarray | float) -> np.ndarray:
    """(context,) whether two answers differ; not knowing is an answer."""
    unlike = (np.isnan(first) != np.isnan(second)) | (np.abs(first - second) > allowed)
    return np.asarray(unlike.any(axis=tuple(range(1, unlike.ndim))))
