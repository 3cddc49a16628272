"""Length-scaled softplus attention with re-weighting (LSSAR)."""

import math

from torch import Tensor

from worldmodel.attention.base import Rows
from worldmodel.attention.dense import row_offset, smallest_kept
from worldmodel.attention.kinds.lssa import Lssa


class Lssar(Lssa):
    """relu(A·N − O)^p, divided by the row's l1 norm, with A the weights of LSSA.

    O is 1, and 0 in the first three rows.

    A·N has the mean 1 over the keys that a row sees, so ReLU empties a row only where all its A
    are equal, as in a window of one. The formula gives 0/0 there; here such a row has O = 0 as
    the first three rows have, whose A·N is as flat: it stays uniform, and still sums to 1.

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
        self.p = self.power = p

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        scaled = super().normalise(scores, rows) * rows.count
        peak = scaled.detach().amax(-1, keepdim=True)
        offset = row_offset(peak, rows)
        # With its largest at 1 no row overflows in the power; that factor cancels in the norm.
        excess = (scaled - offset) / (peak - offset)
        lost = excess <= smallest_kept(excess.dtype, self.p)
        sharp = (excess.masked_fill(lost, 1.0) ** self.p).masked_fill(lost, 0.0)
        return sharp / sharp.sum(-1, keepdim=True)
