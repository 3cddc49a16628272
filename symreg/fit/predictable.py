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

from symreg.fit.noise import robust_spread

MOST_ROWS = 300
"""Drawn at random: a fit takes the cube of them, a third of a second."""
STARTS = (0.3, 1.5)
"""Lengths to start from, in units of a feature's standard deviation."""


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
    columns = [_scaled(column) for column in X[rows].T if np.ptp(column) > 0]
    if not columns or len(errors) < 10:
        return 1.0, 1.0
    distances = np.array([(column[:, None] - column) ** 2 for column in columns])
    best, aside = np.inf, errors
    for start in STARTS:
        first = np.concatenate([np.full(len(columns), -2 * np.log(start)), [0.0, -1.0]])
        found = minimize(
            _likelihood, first, (errors, distances), "L-BFGS-B", jac=True,
            bounds=[(-8.0, 8.0)] * len(columns) + [(-8.0, 4.0), (-12.0, 2.0)],
            options={"maxiter": 40},
        )  # fmt: skip
        if found.fun < best:
            best = float(found.fun)
            inverse = cho_solve(cho_factor(_covariance(found.x, distances)[0]), np.eye(len(errors)))
            aside = inverse @ errors / np.diag(inverse)
    noise = 0.5 * len(errors) * (1 + np.log(np.mean(errors**2)))
    # the size and the lengths are the numbers that it has beside noise alone
    chance = float(chdtrc(len(columns) + 1, max(2 * (noise - best), 0.0)))
    return chance, float(np.sqrt(np.mean(aside**2) / np.mean(errors**2)))


def _scaled(column: np.ndarray) -> np.ndarray:
    """Of unit spread, in logarithms where it covers more than a decade."""
    if column.min() > 0 and column.max() > 10 * column.min():
        column = np.log(column)
    return np.asarray((column - column.mean()) / column.std())


def _covariance(log: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the rows, and its part without the nugget; of logarithms of weights, size and nugget."""
    smooth = np.exp(log[-2] - 0.5 * np.tensordot(np.exp(log[:-2]), distances, 1))
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
    slopes = [
        *(-0.25 * np.exp(w) * np.sum(part * d) for w, d in zip(log, distances, strict=False)),
        0.5 * np.sum(part), 0.5 * np.exp(log[-1]) * np.trace(rest),
    ]  # fmt: skip
    return float(value), np.array(slopes)
