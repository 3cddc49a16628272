"""Kinds of attention behind one contract, chosen by name.

    attention = make_attention("lssar(p=15)", d_head=32, n_heads=4)
    visible = Visible(causal=True, window=None)
    output = attention(q, k, v, visible)         # (batch, head, query, d_head), the fast path
    weights = attention.weights(q, k, visible)   # (batch, head, query, key), for reading

Queries, keys and values are (batch, head, time, d_head), already rotated. Importing this package
does not import torch, so checking a name is cheap.

Most kinds are points of one composition (`worldmodel.attention.specs`), and any other point is
named by its parts: "map=relu norm=l1 scale=logdlogn sharpen=3".

Adding a kind
-------------
Write one file in `worldmodel/attention/kinds/`; its name is the kind's name. It holds one
subclass of `Attention` that turns a row of scores into weights. This is the whole of
`kinds/squared.py`, squared-ReLU attention divided by the row's sum:

    import torch

    from worldmodel.attention.base import Attention


    class Squared(Attention):
        def __init__(self, d_head, n_heads, floor=1e-6):
            super().__init__(d_head, n_heads)
            self.floor = floor

        def normalise(self, scores, rows):
            squares = rows.hide(torch.relu(scores) ** 2 + self.floor, 0.0)
            return squares / squares.sum(-1, keepdim=True)

`squared` and `squared(floor=1e-3)` are then known to every command and every test of the
contract: causality, windows and the pictures come from the base class. Override
`prepare` to change what a score is, and `full` for a faster path when no window is set. A file
elsewhere is found after `worldmodel.attention.kinds.__path__.append(folder)`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
