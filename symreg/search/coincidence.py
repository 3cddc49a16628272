"""Which one or two of very many columns hold a target exactly, in the time of a sort.

A target z is a sum of a basis and of columns f and g if some sum of f and g is one of the basis and
z. Seen along two directions that are orthogonal to these, f and g are then parallel: of all columns
the angles are sorted, and neighbours that agree to rounding are a pair. So all pairs of n columns
cost n log n, where ranking what they leave costs n²; it takes a target without noise.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from symreg.search.polish import projected
from symreg.search.scan import ALIKE

PARALLEL = 2e-10
"""Angle between two columns that is rounding, in radians."""
NOTHING = 1e-11
"""Length along both directions, of unit columns, that is rounding."""
ROUNDED = 1e5
"""Residual that is rounding, in units of a target's own."""
MOST = 12
"""Pairs that agree by chance are few: of more nothing is learnt."""


class Held(NamedTuple):
    """A target as a sum: its place, the columns, and all numbers, those of the basis first."""

    target: int
    columns: tuple[int, ...]
    numbers: np.ndarray


def distinct(values: np.ndarray) -> np.ndarray:
    """Places of (column, row) unit vectors, without those that agree up to a sign to eight digits
    in two directions drawn."""
    directions = np.random.default_rng(1).standard_normal((values.shape[1], 2))
    along = values @ directions
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
        """The targets that are exact sums of the basis and at most two columns.

        Args:
            targets: (target, row).
            errors: (target, row) by which rounding moves them.
            besides: (target, row, column) of a basis that each has of its own.
        """
        count, rows = targets.shape
        weights = np.min(errors, axis=1, keepdims=True) / errors
        known = np.broadcast_to(self._basis, (count, *self._basis.shape))
        known = np.concatenate([known, besides, targets[:, :, None]], axis=2) * weights[:, :, None]
        known /= np.linalg.norm(known, axis=1, keepdims=True)
        orthonormal, _ = np.linalg.qr(known)
        drawn = np.random.default_rng(2).standard_normal((rows, 2))
        across = drawn - orthonormal @ (np.swapaxes(orthonormal, 1, 2) @ drawn)
        across = across * weights[:, :, None]
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        tried: list[tuple[int, tuple[int, ...]]] = []
        for place in range(count):
            tried.append((place, ()))
            a, b = np.ascontiguousarray((self._unit @ across[place]).T)
            length = np.hypot(a, b)
            nothing = length < NOTHING
            if nothing.any():
                tried += [(place, (int(i),)) for i in self._places[nothing][:MOST]]
                continue
            slope = a / b
            order = np.argsort(slope)
            slope = slope[order]
            near = np.flatnonzero(np.diff(slope) <= PARALLEL * (1 + slope[1:] ** 2))
            pairs = np.sort(self._places[np.stack([order[near], order[near + 1]])], axis=0).T
            best = pairs[np.argsort(pairs[:, 1], kind="stable")][:MOST]
            tried += [(place, (int(i), int(j))) for i, j in best]
        return self._solved(tried, targets, errors, besides)

    def _solved(
        self, tried: Sequence[tuple[int, tuple[int, ...]]], targets: np.ndarray,
        errors: np.ndarray, besides: np.ndarray,
    ) -> list[Held]:  # fmt: skip
        """Those of the sums that leave rounding."""
        found = []
        for count in (0, 1, 2):
            some = [each for each in tried if len(each[1]) == count]
            if not some:
                continue
            own = np.array([place for place, _ in some])
            design = np.broadcast_to(self._basis, (len(some), *self._basis.shape))
            design = np.concatenate([design, besides[own]], axis=2)
            if count:
                chosen = self._given[np.array([columns for _, columns in some])]
                design = np.concatenate([design, np.swapaxes(chosen, 1, 2)], axis=2)
            weights = 1 / errors[own]
            solved = projected(design * weights[:, :, None], targets[own] * weights)
            left = np.sqrt(np.mean(solved.residuals**2, axis=1))
            found += [
                Held(place, columns, numbers)
                for (place, columns), numbers, each in zip(some, solved.linear, left, strict=True)
                if each < ROUNDED
            ]
        return found
