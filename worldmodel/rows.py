"""Arrays that belong together, a row of each for every state, question or orbit."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Rows:
    """What the records of such arrays share; fields of other types are of all rows."""

    def some(self, chosen: np.ndarray | slice) -> Self:
        """The rows of a mask, of indices or of a slice."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        arrays = {name: v[chosen] for name, v in values.items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)
