"""Whether an attraction depends on the direction, not only on the distance."""

import numpy as np

from symreg.engines.monomial import fit_monomial, usable
from symreg.fit.samples import Samples
from symreg.fit.scatter import MOST_BINS, ROWS_IN_A_BIN, weighed

DISTANCE = "r"


def anisotropy(samples: Samples, directions: np.ndarray, floor: float) -> float | None:
    """Relative rms of the part of an attraction that goes with the direction.

    What depends on the features is taken out first: a product of powers, then the mean of every
    bin of distances. What is left is fitted by the first two harmonics of the direction; the part
    that chance gives such a fit is taken off.

    Args:
        samples: the attraction, with `r` among the features.
        directions: (row, axis) unit vectors.
        floor: relative error below which rows do not count more (`symreg.fit.scatter`).

    Returns:
        None where it cannot be told: not all rows attract, or there are too few.
    """
    bins = min(MOST_BINS, len(samples.y) // ROWS_IN_A_BIN)
    if not usable(samples) or bins < 1:
        return None
    found = fit_monomial(samples)
    residuals = np.log(samples.y) - found.log_constant - np.log(samples.X) @ found.exponents
    weights = weighed(samples, floor).weights
    weights = np.ones(len(residuals)) if weights is None else weights
    axes = directions.shape[1]
    harmonics = [directions[:, i] for i in range(axes)]
    harmonics += [
        directions[:, i] * directions[:, j] - (1 / axes if i == j else 0)
        for i in range(axes)
        for j in range(i, axes)
        if (i, j) != (axes - 1, axes - 1)  # the squares sum to one
    ]
    design = np.column_stack(harmonics)
    distance = samples.X[:, samples.names.index(DISTANCE)]
    for rows in np.array_split(np.argsort(distance, kind="stable"), bins):
        share = weights[rows] ** 2 / np.sum(weights[rows] ** 2)
        residuals[rows] -= share @ residuals[rows]
        design[rows] -= share @ design[rows]
    weighted = design * weights[:, None]
    solution, *_ = np.linalg.lstsq(weighted, residuals * weights, rcond=None)
    explained = np.mean((weighted @ solution) ** 2)
    rest = np.mean((residuals * weights - weighted @ solution) ** 2)
    free = len(residuals) - bins - design.shape[1]
    chance = rest * design.shape[1] / max(free, 1)
    return float(np.sqrt(max(explained - chance, 0.0)))
