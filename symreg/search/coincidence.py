"""Which two of very many columns hold a target exactly, in the time of a sort.

A target z is a sum of a basis and of columns f and g if some sum of f and g is one of the basis and
z. Seen along two directions that are orthogonal to these, f and g are then parallel: of all columns
the angles are sorted, and neighbours that agree to rounding are a pair. So all pairs of n columns
cost n log n, where ranking what they leave costs n²; it takes a target without noise.
"""

from typing import NamedTuple

import numpy as np

from symreg.search.polish import projected
from symreg.search.scan import ALIKE

PARALLEL = 2e-10
"""Difference of the tangents of two columns' angles that is rounding, relative to one."""
NOTHING = 1e-11
"""Length along both directions, of unit columns, that is rounding."""
ROUNDED = 1e5
"""Residual that is rounding, in units of a target's own."""
MOST = 12
"""Pairs that agree by chance are few: of more nothing is learnt."""


class Held(NamedTuple):
    """A target as a sum: its place, those of the columns, and all numbers, of the basis first."""

    target: int
    columns: tuple[int, int]
    numbers: np.ndarray


def distinct(values: np.ndarray) -> np.ndarray:
    """Places of (column, row) unit vectors, without those that agree up to a sign to eight digits
    in two directions drawn."""
    along = values @ np.random.default_rng(1).standard_normal((values.shape[1], 2))
    along *= np.sign(along[:, :1])
    _, first = np.unique(np.rint(along * 1e8), axis=0, return_index=True)
    first.sort()
    return first


class Coincidence:
    """Columns beside a basis that all targets share.

    Args:
        columns: (column, row).
        basis: (row, known column).
    """

    def __init__(self, columns: np.ndarray, basis: np.ndarray):
        orthonormal, _ = np.linalg.qr(basis)
        left = columns - (columns @ orthonormal) @ orthonormal.T
        size = np.linalg.norm(left, axis=1)
        usable = np.flatnonzero(size**2 > ALIKE * np.einsum("ij,ij->i", columns, columns))
        left = left[usable] / size[usable, None]
        places = distinct(left)
        self._given, self._basis = columns, basis
        self._places, self._unit = usable[places], left[places]

    def held(self, targets: np.ndarray, errors: np.ndarray, besides: np.ndarray) -> list[Held]:
        """The targets that are exact sums of the basis and two columns; one that needs fewer has
        numbers that are rounding.

        Args:
            targets: (target, row).
            errors: (target, row) by which rounding moves them.
            besides: (target, row, column) of a basis that each has of its own.
        """
        if len(self._places) < 2:
            return []
        known = np.broadcast_to(self._basis, (len(targets), *self._basis.shape))
        known = np.concatenate([known, besides], axis=2)
        # rows count by their errors, along the directions as well
        weights = (np.min(errors, axis=1, keepdims=True) / errors)[:, :, None]
        spanned = np.concatenate([known, targets[:, :, None]], axis=2) * weights
        spanned, _ = np.linalg.qr(spanned / np.linalg.norm(spanned, axis=1, keepdims=True))
        across = np.random.default_rng(2).standard_normal((targets.shape[1], 2))
        across = (across - spanned @ (np.swapaxes(spanned, 1, 2) @ across)) * weights
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        tried = []
        for place, directions in enumerate(across):
            a, b = np.ascontiguousarray((self._unit @ directions).T)
            alone = self._places[np.hypot(a, b) < NOTHING][:MOST]
            order = np.argsort(slope := a / b)
            slope = slope[order]
            near = np.flatnonzero(np.diff(slope) <= PARALLEL * (1 + slope[1:] ** 2))
            pairs = np.sort(self._places[np.stack([order[near], order[near + 1]])], axis=0).T
            pairs = pairs[np.argsort(pairs[:, 1], kind="stable")][:MOST]
            tried += [(place, *self._places[:2])]
            tried += [(place, each, self._places[int(each == self._places[0])]) for each in alone]
            tried += [(place, *pair) for pair in pairs]
        place, *columns = np.array(tried).T
        design = np.swapaxes(self._given[np.transpose(columns)], 1, 2)
        design = np.concatenate([known[place], design], axis=2)
        solved = projected(design / errors[place, :, None], targets[place] / errors[place])
        exact = np.flatnonzero(np.mean(solved.residuals**2, axis=1) < ROUNDED**2)
        return [
            Held(int(place[i]), (int(columns[0][i]), int(columns[1][i])), solved.linear[i])
            for i in exact
        ]
