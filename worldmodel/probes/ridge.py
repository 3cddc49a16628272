"""Ridge regressions of a layer's activations, cross-validated over orbits."""

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import orth
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orbits.statistics import r_squared

PENALTIES = np.logspace(-8, 2, 11)
"""Penalties to try, in units of the number of rows, for standardised features."""


def cross_validated_r2(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
    groups: np.ndarray,
    seed: int,
) -> Float[np.ndarray, " target"]:
    """R² of each target, every row predicted by a ridge regression without its group.

    Groups are dealt to folds at random. For each fold the penalty of each target is chosen in the
    same way among the other groups, and the regression is then fitted to all of them. Features are
    standardised within each fold. R² is 1 − Σ(prediction − target)² / Σ(target − mean)² over all
    rows.

    Raises:
        ValueError: if there are fewer than four groups.
    """
    names, group = np.unique(groups, return_inverse=True)
    # each regression is fitted to four fifths; fewer folds where one would hold less than two
    # groups
    folds = min(5, len(names) // 2)
    if folds < 2:
        raise ValueError(f"{len(names)} orbit(s) cannot be split into folds; give 4 or more.")

    def ridge(penalty: Any) -> Any:
        return make_pipeline(StandardScaler(), Ridge(alpha=penalty))

    dealt = np.random.default_rng(seed).permutation(len(names))[group]
    predicted = np.empty_like(targets)
    for inside, out in GroupKFold(folds).split(features, groups=dealt):
        x, y, rows = features[inside], targets[inside], len(inside)
        errors = []
        for penalty in PENALTIES:
            inner = GroupKFold(min(4, len(np.unique(dealt[inside]))))
            model = ridge(penalty * rows * (1 - 1 / inner.n_splits))
            guess = cross_val_predict(model, x, y, groups=dealt[inside], cv=inner)
            errors.append(np.sum((guess.reshape(y.shape) - y) ** 2, axis=0))
        chosen = PENALTIES[np.argmin(errors, axis=0)]
        guess = ridge(chosen * rows).fit(x, y).predict(features[out])
        predicted[out] = guess.reshape(len(out), -1)
    spread = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - np.sum((predicted - targets) ** 2, axis=0) / spread


def fitted_subspace(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
    groups: np.ndarray,
    learned: np.ndarray,
    tested: np.ndarray,
) -> tuple[float, Float[np.ndarray, "feature dimension"]]:
    """R² of a ridge regression on the tested rows, and the subspace that it reads (orthonormal
    columns); rows are named by their indices, and groups are never split."""
    spread = features[learned].std(axis=0)
    # One unit for all: the nearest exchange is asked for in the network's own lengths.
    x = (features - features[learned].mean(axis=0)) / (np.sqrt(np.mean(spread**2)) or 1.0)
    known = groups[learned]
    folds = GroupKFold(min(4, len(np.unique(known)))).split(x[learned], groups=known)
    score = "neg_mean_squared_error"
    ridge = RidgeCV(PENALTIES * len(learned), scoring=score, cv=list(folds))
    ridge.fit(x[learned], targets[learned])
    return r_squared(ridge.predict(x[tested]), targets[tested]), orth(ridge.coef_.T)
