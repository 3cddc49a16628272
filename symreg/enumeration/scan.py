"""Which one, two or more of many columns explain a target best, by least squares in closed form.

A basis (a constant, the variables) is projected out of the target and of every column first; what
it explains costs nothing. Of unit columns f, g with products a = f·z, b = g·z and r = f·g, a pair
explains (a² + b² − 2abr)/(1 − r²) of |z|²: all pairs cost one matrix product.
"""

from collections.abc import Sequence

import numpy as np

ALIKE = 1e-9
"""Share of a column's square that the basis or a partner must leave: below it what is left is
mostly the rounding of what was subtracted."""
BLOCK = 1_000_000
"""Pairs at a time: 8 MB, so that the few steps on each block stay in the cache."""


class Scan:
    """Columns and a target, a basis projected out.

    Args:
        columns: (column, row), weighted as the target.
        target: (row,).
        basis: (row, known column).
    """

    def __init__(self, columns: np.ndarray, target: np.ndarray, basis: np.ndarray):
        self.known, self.wanted = basis, target
        orthonormal, _ = np.linalg.qr(basis)
        left = columns - (columns @ orthonormal) @ orthonormal.T
        size = np.linalg.norm(columns, axis=1)
        rest = np.linalg.norm(left, axis=1)
        self.usable = rest > np.sqrt(ALIKE) * size
        self.columns = left / np.where(self.usable, rest, np.inf)[:, None]
        self.target = target - orthonormal @ (orthonormal.T @ target)
        self.shared = self.columns @ self.target

    def singles(self, count: int) -> list[tuple[int, ...]]:
        """The best columns, best first."""
        return [(int(i),) for i in np.argsort(-np.abs(self.shared))[:count] if self.usable[i]]

    def pairs(self, first: int, second: int, count: int) -> list[tuple[int, ...]]:
        """The best pairs of one of the first so many columns and one of the first so many."""
        second = min(second, len(self.columns))
        first = min(first, second)
        if not first:  # of rows that are all alike nothing is left
            return []
        best = np.zeros(first)
        partner = np.zeros(first, dtype=int)
        step = max(1, BLOCK // second)
        for begin in range(0, first, step):
            rows = np.arange(begin, min(begin + step, first))
            # every pair once: only with what comes later
            gain = self._gain(rows, begin, second)
            place = np.argmax(gain, axis=1)
            best[rows], partner[rows] = gain[np.arange(len(rows)), place], begin + place
        ranked = np.argsort(-best)[:count]
        places = {(int(i), int(partner[i])) for i in ranked if best[i] > 0}
        # a column may be part of several good pairs
        for i in ranked[: count // 10]:
            gain = self._gain(np.array([i]), 0, second)[0]
            others = [int(j) for j in np.argsort(-gain)[:10] if gain[j] > 0]
            places |= {(min(int(i), j), max(int(i), j)) for j in others}
        return sorted(places)

    def pairs_of_kinds(self, kinds: Sequence[str]) -> list[tuple[int, int]]:
        """The best pair of every two kinds of columns, the best kinds first.

        Where columns have a number on a grid, the best pairs are many of the kinds that happen to
        fit between its places, and the law's own kinds fit only when their numbers are improved.

        Args:
            kinds: (column,).
        """
        names, kind = np.unique(kinds, return_inverse=True)
        order = np.argsort(kind, kind="stable")
        starts = np.searchsorted(kind[order], np.arange(len(names)))
        places: dict[tuple[int, int], tuple[float, int, int]] = {}
        for own in range(len(names)):
            rows = order[kind[order] == own]
            gain = self._gain(rows, 0, len(kind))[:, order]
            highest = np.maximum.reduceat(gain, starts, axis=1)
            for other in range(own, len(names)):
                i = int(np.argmax(highest[:, other]))
                stop = starts[other + 1] if other + 1 < len(names) else len(order)
                j = int(order[starts[other] + np.argmax(gain[i, starts[other] : stop])])
                if highest[i, other] > 0:
                    places[own, other] = (float(highest[i, other]), int(rows[i]), j)
        return [(i, j) for _, i, j in sorted(places.values(), reverse=True)]

    def beside(self, others: "Scan", count: int) -> list[tuple[int, int, int]]:
        """The best pairs beside one of other columns: a function at numbers that follow each other.

        With f the other column, c_i its product with column i, and l_i = 1 − c_i² what it leaves
        of that, pairs are as in `_gain` with l in place of one. Near the best number what a pair
        leaves is a parabola of the number, whose lowest point ranks the pair: on the grid itself
        smooth functions with a wrong pair leave less than the right one.

        Returns:
            Places among the others and of both columns, best first.
        """
        i, j = np.triu_indices(len(self.columns), 1)
        cosine = (self.columns @ self.columns.T)[i, j]
        left = np.empty((len(others.columns), len(i)))
        for row, along in enumerate(others.columns @ self.columns.T):
            own, size = others.shared[row], 1 - along**2
            rest = self.shared - along * own
            r = cosine - along[i] * along[j]
            a, b, l_a, l_b = rest[i], rest[j], size[i], size[j]
            free = l_a * l_b - r * r
            with np.errstate(all="ignore"):
                gain = (a * a * l_b + b * b * l_a - 2 * a * b * r) / free
            gain = np.where((free > ALIKE) & np.isfinite(gain), gain, 0.0)
            left[row] = -own * own - gain  # up to the target's square, the same for all
        best, lowest, pair = np.argmin(left, axis=0), np.min(left, axis=0), np.arange(len(i))
        inside = (best > 0) & (best < len(left) - 1)
        before, after = (left[np.clip(best + k, 0, len(left) - 1), pair] for k in (-1, 1))
        bend = before + after - 2 * lowest
        with np.errstate(all="ignore"):
            lowest = np.where(
                inside & (bend > 0), lowest - (after - before) ** 2 / (8 * bend), lowest
            )
        return [(int(best[k]), int(i[k]), int(j[k])) for k in np.argsort(lowest)[:count]]

    def _gain(self, rows: np.ndarray, begin: int, end: int) -> np.ndarray:
        """(row, column) squares that the rows and columns explain in pairs."""
        cosine = self.columns[rows] @ self.columns[begin:end].T
        left = 1 - cosine * cosine
        own = self.shared[rows, None]
        with np.errstate(all="ignore"):
            gain = own * own + (self.shared[begin:end] - own * cosine) ** 2 / left
        gain[left < ALIKE] = 0
        return gain

    def extended(
        self, states: Sequence[tuple[int, ...]], first: int, each: int
    ) -> list[tuple[int, ...]]:
        """Every set of columns with its best further ones of the first so many."""
        columns, extensions = self.columns[:first], set()
        for state in states:
            basis, _ = np.linalg.qr(self.columns[list(state)].T)
            rest = self.target - basis @ (basis.T @ self.target)
            left = 1 - np.sum((columns @ basis) ** 2, axis=1)
            with np.errstate(all="ignore"):
                gain = np.where(left > ALIKE, (columns @ rest) ** 2 / left, 0.0)
            for j in np.argsort(-gain)[:each]:
                extensions.add(tuple(sorted((*state, int(j)))))
        return sorted(extensions)
