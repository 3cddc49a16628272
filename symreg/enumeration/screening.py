"""Which of many columns a target depends on.

Two looks, each blind where the other sees: steps in logarithms and lines, exact for products of
powers and for sums, and the importance in a forest of trees, which sees waves and thresholds.
"""

import numpy as np

TREES = 100
LEAF = 3
"""Rows in a leaf: one row alone is noise."""


def important_columns(X: np.ndarray, y: np.ndarray, most: int, seed: int) -> np.ndarray:
    """(chosen,) indices of at most so many columns of X (row, column), in their order."""
    # a second of imports, for wide tables only
    from sklearn.ensemble import ExtraTreesRegressor

    rankings = [_stepwise(X, y, most)]
    positive = np.all(X > 0, axis=0)
    if np.all(y != 0) and np.any(positive):
        logarithms = np.where(positive, np.log(np.where(positive, X, 1.0)), X)
        rankings.insert(0, _stepwise(logarithms, np.log(np.abs(y)), most))
    forest = ExtraTreesRegressor(
        TREES, min_samples_leaf=LEAF, max_features=1 / 3, random_state=seed
    )
    order = np.argsort(np.argsort(y))  # ranks: outliers do not decide the splits
    rankings.append(list(np.argsort(-forest.fit(X, order).feature_importances_)))
    # in turns, the first of each ranking first
    turns = np.array([ranking[:most] for ranking in rankings]).T.ravel()
    chosen = list(dict.fromkeys(int(place) for place in turns))
    return np.sort(chosen[:most])


def _stepwise(X: np.ndarray, y: np.ndarray, most: int) -> list[int]:
    """Columns in the order in which least squares takes them, one after the other."""
    about = X - X.mean(axis=0)
    size = np.linalg.norm(about, axis=0)
    columns = about / np.where(size > 0, size, np.inf)
    rest = y - y.mean()
    chosen: list[int] = []
    for _ in range(min(most, X.shape[1])):
        gain = np.abs(columns.T @ rest)
        gain[chosen] = -1
        chosen.append(int(np.argmax(gain)))
        basis, _ = np.linalg.qr(columns[:, chosen])
        rest = rest - basis @ (basis.T @ rest)
    return chosen
