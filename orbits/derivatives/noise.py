"""How noisy positions are, from the positions alone."""

import math

import numpy as np
from scipy.special import gammaincinv


def white_noise(positions: np.ndarray) -> float:
    """Standard error of evenly sampled positions, from differences of rising order.

    Differences of order k of white noise have binom(2k, k) times its variance; those of smooth
    motion shrink with every order until noise is left. The least over all orders is the noise: an
    upper bound where the sampling is too coarse for the motion to vanish, and never less than
    rounding. It is that of one coordinate of the (time, ...) positions, in their unit.

    Source: Rice, Ann. Stat. 12 (1984) 1215, for higher orders.
    """
    values = np.asarray(positions, dtype=np.float64).reshape(len(positions), -1)
    # four units in the last place: below, all is rounding
    least = 4 * np.finfo(np.float64).eps * float(np.max(np.abs(values), initial=0.0))
    noise = math.inf
    differences = values
    for order in range(1, 13):  # of order 12 differences weight their middle 924 times
        differences = np.diff(differences, axis=0)
        if len(differences) < 8:  # a median of fewer says little
            break
        # the median is not moved by the short times that a body spends at its pericentre
        # the square of a standard normal number has the median 2 P^-1(1/2, 1/2)
        square = np.mean(np.median(differences**2, axis=0)) / (2 * gammaincinv(0.5, 0.5))
        noise = min(noise, math.sqrt(square / math.comb(2 * order, order)))
    return max(noise, least) if math.isfinite(noise) else least
