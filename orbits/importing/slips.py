"""Positions far off the path of their neighbours, like a slip of the pen."""

import numpy as np
from scipy.ndimage import maximum_filter1d

FAR = 20.0
"""How many times farther off its neighbours' path a position must lie than any of them. A
pericentre sampled so coarsely that it looks like one position has no path at all."""
BESIDE = (-2, -1, 1, 2)
AROUND = 4
"""Positions on each side to compare with."""


def slips(time: np.ndarray, position: np.ndarray) -> np.ndarray:
    """(slip, 2) place in time of every outlying position, and its distance from the cubic through
    two neighbours on each side.
    """
    off = _off(time, position)
    # a slip moves its neighbours' cubics too: off[i] is 6 to their 4 and 1
    highest = maximum_filter1d(off, 2 * AROUND + 1) == off
    rough = np.flatnonzero(highest & (off > np.median(off) * FAR))
    found = []
    for at in rough.tolist():
        near = slice(max(at - 2 * AROUND, 0), at + 2 * AROUND + 1)
        middle = at - near.start
        kept = np.delete(np.arange(near.start, min(near.stop, len(time))), middle)
        others = _off(time[kept], position[kept])
        inner = others[np.abs(kept - at) <= AROUND]
        if len(inner) and off[at] > FAR * np.max(inner):
            found.append((float(at), float(off[at])))
    return np.array(found).reshape(-1, 2)


def _off(time: np.ndarray, position: np.ndarray) -> np.ndarray:
    """(time,) distance of every position from the cubic through its neighbours; 0 at the ends."""
    count = len(time)
    off = np.zeros(count)
    if count < 5:
        return off
    at = np.arange(2, count - 2)
    path = np.zeros((len(at), position.shape[1]))
    for k in BESIDE:
        weight = np.ones(len(at))
        for other in BESIDE:
            if other != k:
                weight *= (time[at] - time[at + other]) / (time[at + k] - time[at + other])
        path += weight[:, None] * position[at + k]
    off[2:-2] = np.linalg.norm(position[2:-2] - path, axis=1)
    return off
