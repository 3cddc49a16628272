"""Ridge regression in closed form, judged on groups that it has not seen."""

import numpy as np
from jaxtyping import Float

PENALTIES = tuple(float(penalty) for penalty in np.logspace(-8, 2, 11))
"""Penalties that are tried, in units of the number of rows, for standardised features."""

INNER = 4
"""Folds of the other groups among which the penalty is chosen."""


def cross_validated_r2(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
    groups: np.ndarray,
    folds: int,
    seed: int,
) -> Float[np.ndarray, " target"]:
    """R² of each target, every row predicted by a regression that saw no row of its group.

    Groups are dealt to folds at random. For each fold the penalty of each target is chosen by the
    same means among the other groups, and the regression is then fitted to all of them.

    Args:
        features: anything; standardised within each fold.
        targets: standardised within each fold.
        groups: (row,) rows of one group are never on both sides.
        folds: number of folds.
        seed: of the dealing.

    Returns:
        1 − Σ(prediction − target)² / Σ(target − mean)², over all rows.

    Raises:
        ValueError: if there are fewer than two groups for every fold.
    """
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2 * folds:
        raise ValueError(
            f"{folds} folds need {2 * folds} orbits or more; there are {len(names)}: give more "
            "--orbits or fewer --linear.folds."
        )
    random = np.random.default_rng(seed)
    fold_of = random.permutation(np.arange(len(names)) % folds)[group]
    predicted = np.empty_like(targets)
    for fold in range(folds):
        out, inside = fold_of == fold, np.flatnonzero(fold_of != fold)
        inner_of = random.permutation(np.arange(len(names)) % INNER)[group[inside]]
        errors = np.zeros((len(PENALTIES), targets.shape[1]))
        for inner in range(INNER):
            train, check = inside[inner_of != inner], inside[inner_of == inner]
            if len(check) and len(train):
                guesses = _fitted(features[train], targets[train], features[check])
                errors += [np.sum((guess - targets[check]) ** 2, axis=0) for guess in guesses]
        final = _fitted(features[inside], targets[inside], features[out])
        for target, penalty in enumerate(errors.argmin(axis=0)):
            predicted[out, target] = final[penalty][:, target]
    spread = np.sum((targets - targets.mean(axis=0)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - np.sum((predicted - targets) ** 2, axis=0) / spread


def _fitted(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
    wanted: Float[np.ndarray, "other feature"],
) -> list[Float[np.ndarray, "other target"]]:
    """Predictions for other rows, for each of the penalties."""
    middle, width = features.mean(axis=0), features.std(axis=0)
    width = np.where(width > 0, width, 1.0)
    x, z = (features - middle) / width, (wanted - middle) / width
    mean = targets.mean(axis=0)
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    along = vectors.T @ (x.T @ (targets - mean)) / len(x)
    turned = z @ vectors
    values = values.clip(min=0)[:, None]
    return [mean + turned @ (along / (values + penalty)) for penalty in PENALTIES]
