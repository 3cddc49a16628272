"""Predictors that look up or fit the training orbits, and hold no law."""

from collections.abc import Callable
from typing import Any

import numpy as np
from stepping import Stepping

import orbits
from worldmodel.predictors.base import by_windows, stretches
from worldmodel.predictors.lookup import Lookup

MOST = 20_000
"""Contexts that are fitted."""


def positions_of(data: str) -> np.ndarray:
    """(orbit, time, axis) training positions, au."""
    return orbits.open_dataset(data)["position"].values.astype(np.float64)


def linear(data: str, seed: int) -> Lookup:
    """A linear map through some nearest contexts."""
    found = Lookup(positions_of(data), 2, linear=True)
    found.neighbours = int(np.random.default_rng(seed).integers(8, 60))
    found.parameters = {"neighbours": found.neighbours}
    return found


def nearest(data: str) -> Lookup:
    """The nearest context's displacement."""
    return Lookup(positions_of(data), 2, linear=False)


class Fitted:
    """A regression from the last position and step to the next displacement or second difference.

    Args:
        model: with `fit` and `predict`, as scikit-learn has them.
        x: (orbit, time, axis) training positions, au.
        context_length: positions seen, at least two.
        residual: fit second differences; else displacements.
    """

    def __init__(self, model: Any, x: np.ndarray, context_length: int, residual: bool) -> None:
        self.context_length, self.residual = context_length, residual
        self.scale = float(np.std(np.diff(x, axis=1))) / float(np.std(x))
        known = stretches(x, context_length + 1)
        known = known[:: max(1, len(known) // MOST)]
        target = known[:, -1] - known[:, -2]
        if residual:
            target = target - (known[:, -2] - known[:, -3])
        self.size = float(np.std(target))
        self.model = model.fit(self.features(known[:, :-1]), target / self.size)

    def features(self, contexts: np.ndarray) -> np.ndarray:
        """The last position, and the steps that led to it."""
        steps = np.diff(contexts, axis=1).reshape(len(contexts), -1) / self.scale
        return np.concatenate((contexts[:, -1], steps), axis=1)

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        moved = self.model.predict(self.features(contexts)) * self.size
        if self.residual:
            moved = moved + contexts[:, -1] - contexts[:, -2]
        return contexts[:, -1] + moved


def _factory(model: Callable[[int], Any], context_length: int = 2, residual: bool = True):
    def make(data: str, seed: int) -> Fitted:
        return Fitted(model(seed), positions_of(data), context_length, residual)

    return make


def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(60, random_state=seed, n_jobs=1)


def _boosted(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.multioutput import MultiOutputRegressor

    return MultiOutputRegressor(HistGradientBoostingRegressor(random_state=seed))


def _neighbours(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(3 + seed % 5, weights="distance")


class _Spline:
    def fit(self, features: np.ndarray, target: np.ndarray) -> "_Spline":
        from scipy.interpolate import RBFInterpolator

        some = slice(None, None, max(1, len(features) // 4000))
        self.spline = RBFInterpolator(features[some], target[some], neighbors=40, smoothing=1e-8)
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        return self.spline(features)


def _polynomial(seed: int) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return make_pipeline(StandardScaler(), PolynomialFeatures(4 + seed % 3), Ridge(1e-6))


forest = _factory(_forest)
boosted = _factory(_boosted)
neighbours = _factory(_neighbours)
long_forest = _factory(_forest, 4)
moved_forest = _factory(_forest, residual=False)
spline = _factory(lambda seed: _Spline(), residual=False)
polynomial = _factory(_polynomial, residual=False)


def nearby_law(data: str, dt: float) -> Stepping:
    """The law where training orbits have been; a straight line elsewhere."""
    from knows_law import newton
    from scipy.spatial import cKDTree

    x = positions_of(data)[:, ::4]
    step = np.diff(positions_of(data), axis=1)[:, ::4][:, : x.shape[1]] / dt
    x = x[:, : step.shape[1]]
    tree = cKDTree(np.concatenate((x, step / 6), axis=-1).reshape(-1, 4))

    def force(here: np.ndarray, v: np.ndarray) -> np.ndarray:
        asked = np.nan_to_num(np.concatenate((here, v / 6), axis=-1))
        far = tree.query(asked)[0] > 0.1
        return np.where(far[..., None], 0.0, newton(here, v))

    return Stepping(force, dt)
