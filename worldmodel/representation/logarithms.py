"""Logarithms of lengths, and directions.

In logarithms a power law is a straight line, and networks continue straight lines where they saw
nothing (Xu et al., arXiv:2009.11848), unless a norm bends their stream: a bias towards powers.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import pad

from worldmodel.representation.base import Feature, Positions, Representation, Vectors

SHORTEST, LONGEST = 1e-30, 1e9
"""au: of no length there is no logarithm, and an untrained network's predictions stay finite."""
MOST = 1e6
"""Number of a step over the distance: what such a network threw far away may come back to 0."""


class Logarithms(Representation):
    """log |x|, x/|x| and the last step over the distance, (x(t) − x(t−1))/|x(t)|; of a prediction
    log |v| and v/|v|."""

    name = "logarithms"
    bent = False

    def seen(self, positions: Positions) -> tuple[Feature, ...]:
        length = _length(positions)
        steps = pad(positions.diff(dim=1), (0, 0, 0, 0, 1, 0))
        relative = (steps / length).clamp(-MOST, MOST)
        return *_polar(positions, length), Feature(relative, first=1)

    def said(self, vectors: Vectors) -> tuple[Feature, ...]:
        return _polar(vectors, _length(vectors))

    def vectors(self, parts: Iterable[Tensor]) -> Vectors:
        logarithm, direction = parts
        length = logarithm.clamp(math.log(SHORTEST), math.log(LONGEST)).exp()
        return length * direction / _length(direction)


def _polar(vectors: Tensor, length: Tensor) -> tuple[Feature, ...]:
    return Feature(length.log(), shifted=True), Feature(vectors / length)


def _length(vectors: Tensor) -> Tensor:
    """Of each vector, in units of about its size: squares of it may be too large for their type."""
    largest = vectors.detach().abs().amax(dim=-1, keepdim=True).clamp(min=SHORTEST)
    unit = largest.log2().floor().exp2()  # a power of two: nothing is rounded
    length = unit * torch.linalg.vector_norm(vectors / unit, dim=-1, keepdim=True)
    return length.clamp(min=SHORTEST)


logarithms = Logarithms()
