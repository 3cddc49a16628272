"""How widely attention spreads, as the number of keys grows."""

import math
from collections.abc import Sequence

import torch

from worldmodel.attention.base import Visible, make_attention

DRAWS = 8
QUERIES = 8


def relative_entropy(
    spec: str, counts: Sequence[int], d_head: int = 64, seed: int = 0
) -> list[float]:
    """Mean of −Σ w log w / log N over random queries: 1 is uniform, 0 is a single key.

    The claim of invariance entropy is that this stays the same when N grows, so that a model
    spreads its attention over a long sequence as it learned to over a short one.

    Args:
        spec: kind of attention; its rows must sum to 1.
        counts: numbers of keys N, each at least 2.
        d_head: width of the queries and keys, whose entries are standard normal.
        seed: of the draw.

    Source of the claim for LSSA: Gao & Spratling, arXiv:2501.13428v5.
    """
    generator = torch.Generator().manual_seed(seed)
    attention = make_attention(spec, d_head, 1)
    entropies = []
    for count in counts:
        q = torch.randn(DRAWS, 1, QUERIES, d_head, generator=generator)
        k = torch.randn(DRAWS, 1, count, d_head, generator=generator)
        with torch.no_grad():
            weights = attention.weights(q, k, Visible(causal=False)).double()
        entropy = -torch.xlogy(weights, weights).sum(-1).mean().item()
        entropies.append(entropy / math.log(count))
    return entropies
