"""Sigmoid attention."""

import torch
from torch import Tensor

from worldmodel.attention.base import Attention, Rows


class Sigmoid(Attention):
    """σ(q·k/√d − log N); the rows need not sum to 1.

    Source: Ramapuram et al., Theory, Analysis, and Best Practices for Sigmoid Self-Attention,
    arXiv:2409.04431, with the bias −log n taken for the N keys that each row sees.
    """

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        return rows.hide(torch.sigmoid(scores - rows.count.log()), 0.0)
