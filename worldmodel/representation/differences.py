"""Coordinates with their first and second differences."""

from torch.nn.functional import pad

from worldmodel.representation.base import Feature, Positions
from worldmodel.representation.coordinates import Coordinates


class Differences(Coordinates):
    """x(t), x(t) − x(t−1) and x(t) − 2 x(t−1) + x(t−2), each in its own unit.

    What a float hides in a position's last digits, and what reveals an orbit's GM, enters at order
    one. A token then knows the two previous positions.
    """

    name = "differences"

    def seen(self, positions: Positions) -> tuple[Feature, ...]:
        parts, values = [Feature(positions)], positions
        for first in (1, 2):
            values = values.diff(dim=1)
            missing = positions.shape[1] - values.shape[1]
            parts.append(Feature(pad(values, (0, 0, 0, 0, missing, 0)), first))
        return tuple(parts)


differences = Differences()
