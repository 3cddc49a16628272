"""Predictors that look up or fit the training orbits, and hold no law."""

from collections.abc import Callable
from typing import Any

import numpy as np
from stepping import Stepping

import orbits
from orbits.whole_field import turning_frame
from worldmodel.controls.lookups import Lookup, copied, thin_plate
from worldmodel.controls.lookups import linear as fitted_plane
from worldmodel.predictor import by_windows, stretches

MOST = 20_000
"""Contexts that are fitted."""


def positions_of(data: str) -> np.ndarray:
    """(orbit, time, axis) training positions, au."""
    return orbits.open_dataset(data)["position"].values.astype(np.float64)


def linear(data: str, seed: int) -> Lookup:
    """A linear map through some nearest triples."""
    count = int(np.random.default_rng(seed).integers(8, 60))
    found = Lookup(positions_of(data), 2, count, fitted_plane)
    found.parameters = {"neighbours": count}
    return found


def nearest(data: str) -> Lookup:
    """The nearest triple's second difference."""
    return Lookup(positions_of(data), 2, 1, copied)


def turning_spline(data: str) -> Lookup:
    """A thin-plate spline through 150 triples, in the frame that turns with the body."""
    return Lookup(positions_of(data), 2, 150, thin_plate)


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
        target = np.einsum("dna,na->nd", self.frame(known[:, :-1]), target)
        self.model = model.fit(self.features(known[:, :-1]), target / self.size)

    def features(self, contexts: np.ndarray) -> np.ndarray:
        """The last position, and the steps that led to it."""
        steps = np.diff(contexts, axis=1).reshape(len(contexts), -1) / self.scale
        return np.concatenate((contexts[:, -1], steps), axis=1)

    def frame(self, contexts: np.ndarray) -> np.ndarray:
        """(direction, context, axis) in which it is fitted: that of the data."""
        return np.broadcast_to(np.eye(2)[:, None], (2, len(contexts), 2))

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        moved = self.model.predict(self.features(contexts)) * self.size
        moved = np.einsum("dna,nd->na", self.frame(contexts), moved)
        if self.residual:
            moved = moved + contexts[:, -1] - contexts[:, -2]
        return contexts[:, -1] + moved


class Turning(Fitted):
    """The same in the frame that turns with the body, of two positions."""

    def features(self, contexts: np.ndarray) -> np.ndarray:
        """Distance, and the last step along and across it."""
        step = (contexts[:, -1] - contexts[:, -2]) / self.scale
        along = np.einsum("dna,na->nd", self.frame(contexts), step)
        return np.concatenate((np.linalg.norm(contexts[:, -1:], axis=2), along), axis=1)

    def frame(self, contexts: np.ndarray) -> np.ndarray:
        """(direction, context, axis)"""
        here = contexts[:, -1]
        unit = here / np.linalg.norm(here, axis=1, keepdims=True)
        return turning_frame(unit, here - contexts[:, -2])


def turning_forest(data: str, seed: int) -> Fitted:
    """A forest that can find that distance alone matters."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(20, min_samples_leaf=2, random_state=seed)
    return Turning(forest, positions_of(data), 2, residual=True)


def kernel(data: str, seed: int) -> Fitted:
    """Kernel ridge regression of 3000 triples in the turning frame."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), KernelRidge(1e-6, kernel="rbf", gamma=0.3))
    return Turning(model, _few(data, seed), 2, residual=True)


def gaussian_process(data: str, seed: int) -> Fitted:
    """A Gaussian process of 600 triples in the turning frame, its lengths fitted."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    kernel = RBF([1.0, 1.0, 1.0], (0.05, 1e3)) + WhiteKernel(1e-6, (1e-10, 1e-2))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    return Turning(model, _few(data, seed, 600), 2, residual=True)


def _few(data: str, seed: int, count: int = 3000) -> np.ndarray:
    """(triple, 3, axis) of the training triples, drawn at random."""
    triples = stretches(positions_of(data), 3)
    return triples[np.random.default_rng(seed).choice(len(triples), count, replace=False)]


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
        far = tree.query(asked)[0] > 0.3
        return np.where(far[..., None], 0.0, newton(here, v))

    return Stepping(force, dt)
