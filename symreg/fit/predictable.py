"""Whether what a formula leaves is noise: no model of any form may predict it from the features.

A Gaussian process with a length for each feature and a nugget is fitted to the errors. Its
likelihood beside that of noise alone says whether they are a function of the features, whichever
of them it takes together; and each error is predicted from all others, without itself, which says
how much of them is. The nugget is a bound on the noise that knows no formula.

With K the covariance of all rows, nugget included, the error at row i of the prediction from the
others is [K⁻¹ r]_i / [K⁻¹]_ii.

Source: Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), eqs. 5.9 and 5.12;
Wilks, Annals of Mathematical Statistics 9, 60 (1938) for twice the logarithm of the ratio.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import chdtrc

from orbits.statistics import is_wide, robust_spread

MOST_ROWS = 300
"""Drawn at random: a fit takes the cube of them, a third of a second."""
MOST_COLUMNS = 10
"""Features of which rows tell a smooth function: in more dimensions no row is near another."""
IGNORED = 1e6
"""Variance, beside one of about one, of a row that is to have no weight."""
STARTS = (0.3, 1.5)
"""Lengths to start from, in units of a feature's standard deviation."""
BENDING, MOST_SURE = 0.5, 1e10
"""Length, in those units, over which a form may bend: seven of them span even rows of a feature.
And variance over that of the noise, at most: eigenvalues of the covariance are sure to 1e-14."""


LEAST_NUGGET, SHOWN = -12.0, 2 * float(np.log(0.0125))
"""Logarithms of the noise's least variance over the target's, and of that above which a target has
noise: waves of which rows see few leave 1 %, and so does noise of 1 % (log of discovery)."""


def predictable(residuals: np.ndarray, X: np.ndarray) -> tuple[float, float]:
    """What a model without a form makes of errors.

    Args:
        residuals: (row,) of equal size, if they are noise.
        X: (row, feature).

    Returns:
        The chance that noise is as much a function of the features; and the rms that the model
        leaves of rows not shown to it, over that of the errors.
    """
    rows = np.arange(len(residuals))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    spread = robust_spread(residuals) or float(np.std(residuals)) or 1.0
    errors = np.clip(residuals[rows] / spread, -5, 5)  # heavy tails are no misfit
    errors = errors - errors.mean()
    distances = _distances(X[rows])
    if not len(distances) or len(errors) < 10:
        return 1.0, 1.0
    best, log = _fitted(errors, distances)
    aside = _aside(errors, distances, log)[0]
    noise = 0.5 * len(errors) * (1 + np.log(np.mean(errors**2)))
    # the size and the lengths are the numbers that it has beside noise alone
    chance = float(chdtrc(len(distances) + 1, max(2 * (noise - best), 0.0)))
    return chance, float(np.sqrt(np.mean(aside**2) / np.mean(errors**2)))


def shows_noise(y: np.ndarray, X: np.ndarray) -> bool:
    """Whether a smooth model of a target needs a nugget: noise, or waves that its rows miss."""
    rows = np.random.default_rng(0).choice(len(y), min(len(y), MOST_ROWS // 2), replace=False)
    distances = _distances(X[rows])
    if not len(distances):
        return True
    _, log = _fitted((y[rows] - y[rows].mean()) / (np.std(y[rows]) or 1.0), distances)
    return float(log[-1]) > SHOWN


def numbers_told(X: np.ndarray, sure: float) -> float:
    """How many numbers of a smooth function rows tell, each by its share of signal in all.

    Rows that repeat a point tell one together, and those about it no more than they can resolve:
    with L the eigenvalues of K without its nugget the sum of L/(L + 1/sure).

    Args:
        X: (row, feature).
        sure: variance of the function over that of the noise.
    """
    rows = np.arange(len(X))
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False)
    squares = np.sum(_distances(X[rows]), axis=0) / BENDING**2
    values = np.linalg.eigvalsh(np.exp(-0.5 * squares * np.ones((len(rows), len(rows)))))
    values = np.maximum(values, 0.0) * len(X) / len(rows)
    return float(np.sum(values / (values + 1 / min(sure, MOST_SURE))))


def beside_others(values: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(row,) errors of values predicted from all others, in the model's standard errors.

    Args:
        values: (row,) of any size; far ones are cut, so that the model is of the others.
        X: (row, feature).
    """
    about = values - np.median(values)
    about = np.clip(about / (robust_spread(values) or float(np.std(values)) or 1.0), -10, 10)
    distances = _distances(X)
    beside, rng = np.zeros(len(about)), np.random.default_rng(0)
    for most in (0, max(1, len(about) // 20)):  # the second time without the most that it missed
        own = np.zeros(len(about))
        own[np.argsort(-np.abs(beside))[:most]] = IGNORED
        some = np.flatnonzero(own == 0)
        if len(some) > MOST_ROWS:
            some = rng.choice(some, MOST_ROWS, replace=False)
        _, log = _fitted(about[some], distances[:, some][:, :, some])
        errors, variances = _aside(about, distances, log, own)
        beside = errors / np.sqrt(variances - own)
    return beside


def _distances(X: np.ndarray) -> np.ndarray:
    """(feature that varies, row, row) squared."""
    columns = [_scaled(column) for column in X.T if np.ptp(column) > 0]
    return np.array([(column[:, None] - column) ** 2 for column in columns])


def _fitted(values: np.ndarray, distances: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the likelihood, at its best, and the model's numbers there."""
    best, log = np.inf, np.zeros(len(distances) + 2)
    for start in STARTS:
        first = np.concatenate([np.full(len(distances), -2 * np.log(start)), [0.0, -1.0]])
        # lengths of a fiftieth to fifty of a column's scatter, sizes and nuggets of e⁻⁸ and e⁻¹² to
        # above the errors' own variance; the likelihood is flat long before 40 steps
        found = minimize(
            _likelihood, first, (values, distances), "L-BFGS-B", jac=True,
            bounds=[(-8.0, 8.0)] * len(distances) + [(-8.0, 4.0), (LEAST_NUGGET, 2.0)],
            options={"maxiter": 40},
        )  # fmt: skip
        if found.fun < best:
            best, log = float(found.fun), found.x
    return best, log


def _aside(
    values: np.ndarray, distances: np.ndarray, log: np.ndarray, own: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(row,) errors of each row's prediction from the others, and their variances (eq. 5.12);
    `own`: variances that rows have besides."""
    covariance = _covariance(log, distances)[0]
    covariance[np.diag_indices_from(covariance)] += own
    factor = cho_factor(covariance)
    inverse = cho_solve(factor, np.eye(len(values)))
    return inverse @ values / np.diag(inverse), 1 / np.diag(inverse)


def _scaled(column: np.ndarray) -> np.ndarray:
    """Of unit spread, in logarithms where it covers more than a decade."""
    if is_wide(column):
        column = np.log(column)
    return np.asarray((column - column.mean()) / column.std())


def _covariance(log: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows, and its part without the nugget; of logarithms of weights, size and nugget."""
    smooth = np.exp(log[-2] - 0.5 * np.tensordot(np.exp(log[:-2]), distances, 1))
    # a nugget that leaves half of the digits keeps it positive definite
    return smooth + (np.exp(log[-1]) + 1e-8) * np.eye(len(smooth)), smooth


def _likelihood(
    log: np.ndarray, errors: np.ndarray, distances: np.ndarray
) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the errors' likelihood, and its slopes (eq. 5.9)."""
    covariance, smooth = _covariance(log, distances)
    factor = cho_factor(covariance, lower=True)
    weights = cho_solve(factor, errors)
    value = 0.5 * errors @ weights + np.sum(np.log(np.diag(factor[0])))
    rest = cho_solve(factor, np.eye(len(errors))) - np.outer(weights, weights)
    part = rest * smooth
    # half of the distance's own half
    slopes = [
        *(-0.25 * np.exp(w) * np.sum(part * d) for w, d in zip(log, distances, strict=False)),
        0.5 * np.sum(part), 0.5 * np.exp(log[-1]) * np.trace(rest),
    ]  # fmt: skip
    return float(value), np.array(slopes)
