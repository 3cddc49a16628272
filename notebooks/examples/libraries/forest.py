"""Trees of scikit-learn, fitted to the run's orbits: `symreg run --model forest.py:make --fit`."""

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

import orbits
from worldmodel import by_windows


class Forest:
    context_length = 3

    def __init__(self, x, seed):  # (orbit, time, axis), au
        seen = np.concatenate([x[:, k : k - 3 or None] for k in range(3)], axis=-1)
        features, step = seen.reshape(-1, 6), np.diff(x, axis=1)[:, 2:].reshape(-1, 2)
        self.trees = ExtraTreesRegressor(50, random_state=seed).fit(features, step)

    def predict(self, positions):
        return by_windows(positions, self.context_length, self.following)

    def following(self, contexts):  # (context, time, axis), to the position after each
        return contexts[:, -1] + self.trees.predict(contexts.reshape(-1, 6))


def make(data, seed):
    return Forest(orbits.open_dataset(data)["position"].values, seed)
