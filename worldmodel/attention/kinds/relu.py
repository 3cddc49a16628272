"""ReLU attention."""

import torch
from torch import Tensor

from worldmodel.attention.base import Attention, Rows


class Relu(Attention):
    """relu(q·k/√d)/N; the rows need not sum to 1.

    Source: Wortsman et al., Replacing softmax with ReLU in Vision Transformers,
    arXiv:2309.08586, with the division by the sequence's length taken by the N keys that each
    row sees.
    """

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        return rows.hide(torch.relu(scores) / rows.count, 0.0)
