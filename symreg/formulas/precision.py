"""Errors that arithmetic leaves: below them formulas fit alike, or are the same."""

import numpy as np

DOUBLE, SINGLE = 1e-10, 3e-7
"""Relative errors that arithmetic in double precision (where a difference may cost five digits) and
in single precision leaves."""
LAST_DIGITS = 1e-13
"""Relative error of some dozen operations, one of which may cost three digits: a formula with less
is not bettered by another. Between this and `DOUBLE` lie laws that lose more, and expansions of
laws: a fourth power in v/c beside `1/sqrt(1 - (v/c)²)` leaves 5e-13 up to v = c/30."""


def rounding(y: np.ndarray) -> float:
    """Relative error of a target that is rounding: smaller ones show no misfit."""
    with np.errstate(over="ignore"):
        single = np.array_equal(y, y.astype(np.float32))
    return SINGLE if single else DOUBLE


def last_digits(y: np.ndarray) -> float:
    """Relative error of a target below which nothing is explained."""
    return LAST_DIGITS if rounding(y) == DOUBLE else SINGLE


def leaves_rounding(mean_square: float, fitted: int, limit: float = DOUBLE) -> bool:
    """Whether an error is that of exact data, and not of an expansion with so many numbers.

    Smooth functions agree with sums of others to 1e-12 with a dozen numbers; each gains half a
    digit at least. A law with as many still leaves 1e-15.
    """
    return mean_square < (limit * 10 ** (-0.5 * max(0, fitted - 2))) ** 2
