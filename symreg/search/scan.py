"""Which one, two or more of many columns explain a target best, by least squares in closed form.

A basis (a constant, the variables) is projected out of the target and of every column first; what
it explains costs nothing. Of unit columns f, g with products a = f·z, b = g·z and r = f·g, a pair
explains (a² + b² − 2abr)/(1 − r²) of |z|²: all pairs cost one matrix product.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import cached_property

import numpy as np

ALIKE = 1e-9
"""Share of a column's square that the basis or a partner must leave: below it what is left is
mostly the rounding of what was subtracted."""
BLOCK, COLUMNS = 1_000_000, 1_000
"""Pairs at a time, and columns of these: each part of a block stays in the cache."""

State = tuple[int, ...]
"""Places of columns, in order."""


class Scan:
    """Columns and a target, a basis projected out.

    Args:
        columns: (column, row), weighted as the target.
        target: (row,).
        basis: (row, known column); none by default.
        alike: share of a column's square that a partner must leave.
    """

    def __init__(
        self, columns: np.ndarray, target: np.ndarray, basis: np.ndarray | None = None,
        alike: float = ALIKE,
    ):  # fmt: skip
        if basis is None:
            basis = np.empty((len(target), 0))
        self._given, self._alike = columns, alike
        self._basis, _ = np.linalg.qr(basis)
        self.target = target - self._basis @ (self._basis.T @ target)
        along = columns @ np.column_stack([self._basis, self.target])
        size = np.einsum("ij,ij->i", columns, columns)
        left = size - np.sum(along[:, :-1] ** 2, axis=1)
        self.usable = left > ALIKE * size
        self._size = np.sqrt(np.where(self.usable, left, np.inf))
        self.shared = along[:, -1] / self._size

    @cached_property
    def columns(self) -> np.ndarray:
        """(column, row) what the basis leaves of them, of unit length; zero where that is little.
        Single ones are ranked without it."""
        left = self._given - (self._given @ self._basis) @ self._basis.T
        left /= self._size[:, None]
        return left

    def singles(self, count: int) -> list[State]:
        """The best columns, best first."""
        return [(i,) for i in _largest(np.abs(self.shared), count) if self.usable[i]]

    def pairs(self, first: range | np.ndarray, second: range, count: int) -> list[State]:
        """The best pairs of one column of the first places and one of the second, best first.

        Of every first column the best partner, and of a tenth of the pairs ten partners more: a
        column may be part of several good pairs.
        """
        first, second = first[: len(self.columns)], second[: len(self.columns)]
        if not len(second):  # of rows that are all alike nothing is left
            return []
        best, partner = np.zeros(len(first)), np.zeros(len(first), dtype=int)
        step = max(1, BLOCK // len(second))
        for begin in range(0, len(first), step):
            rows, here = first[begin : begin + step], slice(begin, begin + step)
            # every pair once: only with what comes later
            begins = rows[0] if isinstance(first, range) and rows[0] in second else second.start
            for start in range(begins, second.stop, COLUMNS):
                stop = min(start + COLUMNS, second.stop)
                gain = self._gain(np.asarray(rows), slice(start, stop))
                place = np.argmax(gain, axis=1)
                most = gain[np.arange(len(rows)), place]
                partner[here] = np.where(most > best[here], start + place, partner[here])
                best[here] = np.maximum(most, best[here])
        ranked = _largest(best, count)
        gains = {_state(first[i], partner[i]): best[i] for i in ranked}
        for i in ranked[: count // 10]:
            (gain,) = self._gain(np.asarray(first[i : i + 1]), slice(second.start, second.stop))
            gains |= {_state(first[i], second[j]): gain[j] for j in _largest(gain, 10)}
        return [state for state in _ranked(gains) if gains[state] > 0]

    def pairs_of_kinds(
        self, kinds: Sequence[Hashable], count: int, simple: Collection[Hashable] = ()
    ) -> list[State]:
        """The best pair of every two kinds of columns, of so many kinds, the best first.

        Where columns have a number on a grid, the best pairs are many of the kinds that happen to
        fit between its places, and the law's own kinds fit only when their numbers are improved.

        Args:
            kinds: (column,), equal ones side by side.
            count: pairs of kinds.
            simple: kinds of which all pairs are given beside these.
        """
        begins = np.array([i for i, kind in enumerate(kinds) if not i or kind != kinds[i - 1]])
        ends = np.append(begins[1:], len(kinds))
        best = np.zeros((len(begins), len(begins)))
        own = 0
        while own < len(begins):
            # as many kinds at a time as fit into a block
            last = begins[own] + BLOCK // len(kinds)
            stop = max(own + 1, int(np.searchsorted(ends, last, side="right")))
            gain = self._gain(slice(begins[own], ends[stop - 1]), slice(begins[own], None))
            gain = np.maximum.reduceat(gain, begins[own:] - begins[own], axis=1)
            best[own:stop, own:] = np.maximum.reduceat(gain, begins[own:stop] - begins[own])
            own = stop
        best = np.triu(best)
        first, second = np.unravel_index(np.argsort(-best, axis=None), best.shape)
        short = np.array([kinds[i] in simple for i in begins])
        chosen = (np.arange(best.size) < count) | (short[first] & short[second])
        chosen &= best[first, second] > 0
        pairs = []
        for own, other in zip(first[chosen], second[chosen], strict=True):
            gain = self._gain(slice(begins[own], ends[own]), slice(begins[other], ends[other]))
            i, j = np.unravel_index(np.argmax(gain), gain.shape)
            pairs.append(_state(begins[own] + i, begins[other] + j))
        return pairs

    def beside(self, others: "Scan", count: int) -> list[State]:
        """The best pairs beside one of other columns: a function at numbers that follow each other.

        With f the other column and c_i its product with column i, 1 − c_i² is what it leaves of
        that: divided by its root, columns and products are as in `_gain`. Near the best number what
        a pair leaves is a parabola of the number, whose lowest point ranks the pair: on the grid
        itself smooth functions with a wrong pair leave less than the right one.

        Returns:
            Places among the others and of both columns, best first.
        """
        i, j = np.triu_indices(len(self.columns), 1)
        cosine = (self.columns @ self.columns.T)[i, j]
        left = np.empty((len(others.columns), len(i)))
        step = max(1, BLOCK // 10 // max(1, len(i)))
        for begin in range(0, len(left), step):
            here = slice(begin, begin + step)
            along, own = others.columns[here] @ self.columns.T, others.shared[here, None]
            size = 1 / np.sqrt(1 - along * along)
            rest = (self.shared - along * own) * size
            scale = size[:, i] * size[:, j]
            r = (cosine - along[:, i] * along[:, j]) * scale
            free, a = 1 - r * r, rest[:, i]
            gain = a * a + (rest[:, j] - a * r) ** 2 / free
            good = (free > self._alike * scale * scale) & np.isfinite(gain)
            # up to the target's square, the same for all
            left[here] = -own * own - np.where(good, gain, 0.0)
        best, lowest, pair = np.argmin(left, axis=0), np.min(left, axis=0), np.arange(len(i))
        inside = (best > 0) & (best < len(left) - 1)
        before, after = (left[np.clip(best + k, 0, len(left) - 1), pair] for k in (-1, 1))
        bend = before + after - 2 * lowest
        lowest = np.where(inside & (bend > 0), lowest - (after - before) ** 2 / (8 * bend), lowest)
        return [(int(best[k]), int(i[k]), int(j[k])) for k in np.argsort(lowest)[:count]]

    def extended(self, states: Sequence[State], first: int, each: int) -> list[State]:
        """Sets of as many columns with each one's best further columns of the first so many, best
        first."""
        if not states:
            return []
        columns = self.columns[:first]
        basis, _ = np.linalg.qr(np.swapaxes(self.columns[np.array(states)], 1, 2))
        rest = self.target - np.einsum("srk,sk->sr", basis, self.target @ basis)
        left = 1 - np.sum(np.tensordot(columns, basis, axes=(1, 1)) ** 2, axis=2)
        gain = np.where(left > self._alike, (columns @ rest.T) ** 2 / left, 0.0)
        gain = gain.T - np.sum(rest**2, axis=1)[:, None]  # up to the target's square
        return _ranked(
            {
                _state(*state, j): own[j]
                for state, own in zip(states, gain, strict=True)
                for j in _largest(own, each)
            }
        )

    def _gain(self, first: slice | np.ndarray, second: slice) -> np.ndarray:
        """(first column, second column) squares that they explain in pairs."""
        cosine = self.columns[first] @ self.columns[second].T
        left = 1 - cosine * cosine
        own = self.shared[first, None]
        # in place: a block is read once for every step, and no other is made
        cosine *= own
        gain = np.subtract(self.shared[second], cosine, out=cosine)
        gain *= gain
        gain /= left
        gain += own * own
        gain[left < self._alike] = 0
        gain[~self.usable[first]] = 0
        gain[:, ~self.usable[second]] = 0
        return gain


def _state(*places: int) -> State:
    return tuple(sorted(map(int, places)))


def _ranked(gains: dict[State, float]) -> list[State]:
    return sorted(gains, key=lambda state: -gains[state])


def _largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the largest values, largest first."""
    count = min(count, len(values))
    places = np.argpartition(-values, count - 1)[:count] if count else np.empty(0, dtype=int)
    return places[np.argsort(-values[places], kind="stable")]
