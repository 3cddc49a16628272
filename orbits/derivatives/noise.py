"""How noisy positions are, from the positions alone."""

import math

import numpy as np

HIGHEST_ORDER = 12
"""Of the differences examined."""
FEWEST = 8
"""Differences that an estimate needs."""
ROUNDING = 4.0
"""Units in the last place below which all is rounding."""


def white_noise(positions: np.ndarray) -> float:
    """Standard error of evenly sampled positions, from differences of rising order.

    Differences of order k of white noise have binom(2k, k) times its variance; those of smooth
    motion shrink with every order until noise is left. The least over all orders is the noise: an
    upper bound where the sampling is too coarse for the motion to vanish, and never less than
    rounding. It is that of one coordinate of the (time, ...) positions, in their unit.

    Source: Rice, Ann. Stat. 12 (1984) 1215, for higher orders.
    """
    values = np.asarray(positions, dtype=np.float64).reshape(len(positions), -1)
    least = ROUNDING * np.finfo(np.float64).eps * float(np.max(np.abs(values), initial=0.0))
    found = math.inf
    differences = values
    for order in range(1, HIGHEST_ORDER + 1):
        differences = np.diff(differences, axis=0)
        if len(differences) < FEWEST:
            break
        # the median is not moved by the short times that a body spends at its pericentre
        square = np.mean(np.median(differences**2, axis=0)) / MEDIAN_OF_SQUARES
        found = min(found, math.sqrt(square / math.comb(2 * order, order)))
    return max(found, least) if math.isfinite(found) else least


MEDIAN_OF_SQUARES = 0.4549364
"""Median of the square of a standard normal number."""
