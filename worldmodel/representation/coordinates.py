"""Coordinates as they are."""

from collections.abc import Iterable

from torch import Tensor

from worldmodel.representation.base import Feature, Positions, Representation, Vectors


class Coordinates(Representation):
    """x, in units of the root mean square of a coordinate."""

    name = "coordinates"

    def seen(self, positions: Positions) -> tuple[Feature, ...]:
        return (Feature(positions),)

    def said(self, vectors: Vectors) -> tuple[Feature, ...]:
        return (Feature(vectors),)

    def vectors(self, parts: Iterable[Tensor]) -> Vectors:
        (values,) = parts
        return values


coordinates = Coordinates()
