"""Errors that arithmetic leaves: below them formulas fit alike, or are the same.

All are relative. An operation in double precision leaves 1e-16; digits are lost by what follows.
"""

from functools import lru_cache

import numpy as np

LAST_DIGITS = 1e-13
"""Left by some dozen operations, one of which may cost three digits: a formula with less is not
bettered by another. Between this and `DOUBLE` lie laws that lose more, and expansions of laws: a
fourth power in v/c beside `1/sqrt(1 - (v/c)²)` leaves 5e-13 up to v = c/30."""
EXACT = 3e-13
"""Left by a fit of products of powers to exact data: rounding times the conditioning."""
SAME = 1e-12
"""Between two numbers that are the same, each of up to a thousand roundings."""
SOLVED = 1e-11
"""Left by a formula whose constants solve least squares: a few digits are lost in the solving."""
DOUBLE, SINGLE = 1e-10, 3e-7
"""Left by arithmetic in double precision (where a difference may cost five digits), and in single
precision."""
FITTED = 1e-9
"""By which a constant fitted to a table in double precision is off, and so are the values of two
formulas that are one."""
NOISELESS = 1e-6
"""Less is no noise of a measurement: it is rounding in printed numbers, or what a wrong formula
leaves."""

FIRST = 32
"""Rows that tell of most columns that they are not in single precision."""


def rounding(y: np.ndarray) -> float:
    """Relative error of a target that is rounding: smaller ones show no misfit."""
    single = np.array_equal(y, y.astype(np.float32)) or is_single(y)
    return SINGLE if single else DOUBLE


def is_single(values: np.ndarray) -> bool:
    """Whether (row,) numbers were rounded to single precision, read as such or from their shortest
    decimals; whole numbers and others that need few digits were not."""
    return _is_single(np.ascontiguousarray(values, dtype=float).tobytes())


@lru_cache
def _is_single(numbers: bytes) -> bool:
    values = np.frombuffer(numbers)
    near = values.astype(np.float32)
    if np.array_equal(near, values):
        return bool(np.any(near.view(np.int32) & 3))  # its last two bits
    for some in (slice(FIRST), slice(None)):
        if not np.array_equal(near[some].astype(str).astype(float), values[some]):
            return False
    # any number of six digits is the shortest decimal of one in single precision
    return any(float(f"{value:.7g}") != value for value in values)


def rounded_by(values: np.ndarray) -> np.ndarray:
    """(row,) standard errors by rounding to single precision, zero for other numbers."""
    if not is_single(values):
        return np.zeros(values.shape)
    # half a unit of the last place, over the root of three
    return np.spacing(np.abs(values).astype(np.float32)).astype(float) / np.sqrt(12)


def last_digits(y: np.ndarray) -> float:
    """Relative error of a target below which nothing is explained."""
    return LAST_DIGITS if rounding(y) == DOUBLE else SINGLE


def leaves_rounding(mean_square: float, fitted: int, limit: float = DOUBLE) -> bool:
    """Whether an error is that of exact data, and not of an expansion with so many numbers."""
    return mean_square < error_left(fitted, limit) ** 2


def error_left(fitted: int, limit: float = DOUBLE) -> float:
    """Relative error up to which a formula with so many fitted numbers leaves rounding alone.

    Smooth functions agree with sums of others to 1e-12 with a dozen numbers: each beyond two gains
    about a digit. Single precision has no digits to give.
    """
    # Exact laws with three to six fitted numbers leave 1.3e-15 at most (the log of discovery,
    # "Rounding alone"), so that none is refused for less than four times that; where the limit ends
    # a search it may fall to two and a half times, as an expansion of the Doppler shift leaves
    # 1e-14 with five.
    least = min(limit / 30, LAST_DIGITS / 20) if limit <= DOUBLE else SINGLE / 3
    return max(limit * 10.0 ** -max(0, fitted - 2), least)
