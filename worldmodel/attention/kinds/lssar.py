"""Length-scaled softplus attention with re-weighting (LSSAR)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import threshold

from worldmodel.attention.base import Rows
from worldmodel.attention.kinds.lssa import Lssa


class Lssar(Lssa):
    """relu(A·N − O)^p, divided by the row's l1 norm, with A the weights of LSSA.

    O is 1, and 0 in the first three rows.

    A·N has the mean 1 over the keys that a row sees, so ReLU empties a row only where all its
    A are equal (and always where N = 1 past the third row, in a window of one). Such a row
    keeps A itself: it is uniform already, there is nothing to sharpen, and it still sums to 1.

    Source: Gao & Spratling, arXiv:2501.13428v5: the second stage, sharpening. p = 3 for lengths
    near those of training, 15 for extrapolation.
    """

    def __init__(self, d_head: int, n_heads: int, p: float = 3.0):
        super().__init__(d_head, n_heads)
        if not (p > 0 and math.isfinite(p)):
            raise ValueError(
                f"attention 'lssar': the power p = {p:g} does not sharpen; give a number above 0, "
                f"for example 3 near the training length or 15 to extrapolate."
            )
        self.p = p

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        first = super().normalise(scores, rows)
        excess = first * rows.count - (rows.number > 3).to(first.dtype)
        largest = excess.detach().amax(-1, keepdim=True)  # cancels in the l1 norm
        # A·N is exact to a few units in the last place: less than that is no excess.
        emptied = largest <= 8 * torch.finfo(first.dtype).eps
        sharp = sharpen(excess / largest.masked_fill(emptied, 1.0), self.p)
        sharp = sharp / sharp.sum(-1, keepdim=True).masked_fill(emptied, 1.0)
        return torch.where(emptied, first, sharp)


def sharpen(excess: Tensor, p: float) -> Tensor:
    """relu(excess)^p for an excess of at most 1.

    What would not reach 1e-31 (in float32) is zero: it is lost in any sum with the row's
    largest, which is 1, and denormal numbers would be slow on a CPU.
    """
    finfo = torch.finfo(excess.dtype)
    return threshold(excess, (finfo.tiny / finfo.eps) ** (1 / p), 0.0) ** p
