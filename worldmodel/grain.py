"""How coarse a model's answers are, seen from the answers themselves.

Rounded numbers lie on a grid: an even one, as of decimals or bins, or that of floating point with
so many significant bits. A step of that size, over √12, is the error of each answer, which no state
and no law explains.
"""

import numpy as np
from jaxtyping import Float

FINEST = 26
"""Significant bits that are looked for: those of single precision, and two for a sum."""
EPS = float(np.finfo(float).eps)
Places = Float[np.ndarray, "state axis"]


def grain(answers: Places, here: Places) -> Places:
    """The spacing of the numbers that answers are chosen from, au; 0 where none shows.

    Args:
        answers: next positions, au; NaN where there is none.
        here: the last positions shown, au, which a model may add to a coarse step of its own.
    """
    known = np.isfinite(answers) & np.isfinite(here)
    largest = np.max(np.abs(answers[known]), initial=0.0)
    spacing = np.zeros(answers.shape)
    for values in (answers[known], (answers - here)[known]):
        # decimals in single precision lie on their grid to its last digit
        single = np.array_equal(values, values.astype(np.float32))
        exact = 2 * largest * float(np.finfo(np.float32 if single else np.float64).eps)
        found = np.maximum(_even(values, exact), _floating(values, 4 * largest * EPS))
        if found.any():
            spacing[known] = found
            break
    return spacing


def rounding_error(answers: Places, here: Places) -> Float[np.ndarray, " state"]:
    """By how much the rounding of answers puts them off, au. The arguments are those of `grain`."""
    # a number rounded to q is off by q/√12, rms
    return np.asarray(np.sqrt(np.sum(grain(answers, here) ** 2, axis=1) / 12))


def _even(values: np.ndarray, exact: float) -> float:
    """The largest number of which all differences of neighbouring values are multiples, by Euclid's
    algorithm; 0 if that is no more than values exact to so much have by chance.
    """
    gaps = np.sort(np.diff(np.unique(values)))
    gaps = gaps[gaps > exact][: int(0.95 * len(gaps)) + 1]  # the tails are sparse
    common = 0.0
    for gap in gaps:
        rest = float(gap)
        while rest > 0:
            times = np.round(common / rest)
            common, rest = rest, abs(common - rest * times)
            rest = rest if rest > exact * (1 + times) else 0.0
    # if k times a divisor g, itself exact to e, passes for a multiple within k·e, of gaps up to M
    # every one does so by chance below √(2 e M): twice that
    chance = 3 * np.sqrt(exact * np.max(gaps, initial=0.0))
    return float(common) if common > chance else 0.0


def _floating(values: np.ndarray, exact: float) -> np.ndarray:
    """The spacing at each value of floating point with the fewest bits that hold all of them; 0 if
    more than `FINEST` are needed."""
    mantissa, exponent = np.frexp(values)
    for bits in range(1, FINEST + 1):
        scaled = np.ldexp(mantissa, bits)
        if (np.abs(scaled - np.round(scaled)) * np.ldexp(1.0, exponent - bits) <= exact).all():
            return np.where(values == 0, 0.0, np.ldexp(1.0, exponent - bits))
    return np.zeros(len(values))
