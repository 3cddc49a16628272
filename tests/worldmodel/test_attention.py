"""Every kind of attention, held against its formula and against what attention must be."""

import math

import numpy as np
import pytest
import torch

from worldmodel.attention import Visible, attention_kinds, base, dense, make_attention
from worldmodel.attention.base import Attention

READING = [kind for kind in attention_kinds() if make_attention(kind, 4, 2).reads]
"""Kinds that read more of the stream than queries, keys and values."""
SPECS = (
    *(kind for kind in attention_kinds() if kind not in READING),
    "lssar(p=15)", "lssar(p=2.5)", "lssar(p=0.5)",
    "map=relu scale=logn sharpen=3", "map=relu scale=logdlogn", "map=softplus norm=none scale=logn",
    "map=sigmoid scale=learned", "map=exp norm=none", "map=exp scale=logdlogn sharpen=2",
)  # fmt: skip
NAMES = {
    "softmax": "map=exp", "ssmax": "map=exp scale=learned", "sigmoid": "map=sigmoid norm=none",
    "relu": "map=relu norm=none", "lssa": "map=softplus scale=logdlogn",
}  # fmt: skip
"""What the names stand for, written again."""
MAPS = {
    "exp": np.exp, "softplus": lambda s: np.log1p(np.exp(s)), "relu": lambda s: np.maximum(s, 0),
}  # fmt: skip
PARTS = {"map": "exp", "norm": "l1", "scale": "sqrt", "sharpen": "none"}
VISIBLES = (
    Visible(),
    Visible(window=1),
    Visible(window=2),
    Visible(window=5),
    Visible(causal=False),
    Visible(causal=False, window=3),
    Visible(query_offset=4),
    Visible(window=3, query_offset=4),
)


def draw(n_query, n_key=None, *, batch=2, heads=2, d_head=4, dtype=torch.float64, seed=0):
    """Random q, k, v."""
    generator = torch.Generator().manual_seed(seed)
    lengths = (n_query, n_key or n_query, n_key or n_query)
    return [
        torch.randn(batch, heads, n, d_head, dtype=torch.float64, generator=generator).to(dtype)
        for n in lengths
    ]


def formula(spec, q, k, visible, learned):
    """The weights of one head, row by row and key by key, from the formulas as printed."""
    name, _, argument = spec.partition("(p=")
    if name == "lssar":
        spec = f"{NAMES['lssa']} sharpen={argument.rstrip(')') or 3}"
    parts = PARTS | dict(word.split("=") for word in NAMES.get(spec, spec).split() if "=" in word)
    d, weights = q.shape[1], np.zeros((len(q), len(k)))
    for i in range(len(q)):
        row = visible.query_offset + i + 1
        sees = [
            j
            for j in range(len(k))
            if (j < row or not visible.causal)
            and (visible.window is None or abs(row - 1 - j) < visible.window)
        ]
        N = len(sees)
        dot = np.array([q[i] @ k[j] for j in sees])
        s = dot / math.sqrt(d)
        if parts["scale"] == "logdlogn":
            cosine = dot / np.linalg.norm(q[i]) / np.array([np.linalg.norm(k[j]) for j in sees])
            s = math.log(d) * math.log(N) * cosine
        elif parts["scale"] != "sqrt":
            s = s * math.log(N) * (learned if parts["scale"] == "learned" else 1 / math.log(64))
        if name == "entmax":
            w = entmax(s)
        elif name == "softpick":
            w = np.maximum(np.exp(s) - 1, 0) / (np.abs(np.exp(s) - 1).sum() + 1e-6)
        elif parts["map"] == "sigmoid":
            w = 1 / (1 + np.exp(-s + math.log(N)))
        else:
            w = MAPS[parts["map"]](s) / N
        if parts["norm"] == "l1" and name != "softpick":
            w = w / w.sum() if w.any() else np.full(N, 1 / N)
        if parts["sharpen"] != "none":
            flat = row <= 3 or N == 1 or np.ptp(w) == 0
            excess = np.maximum(w * N - (0 if flat else 1), 0)
            w = (excess / excess.max()) ** float(parts["sharpen"])
            w = w / w.sum()
        weights[i, sees] = w
    return weights


def entmax(s):
    """relu(s/2 − τ)², with τ by bisection."""
    low, high = s.max() / 2 - 1, s.max() / 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if (np.maximum(s / 2 - middle, 0) ** 2).sum() > 1 else (low, middle)
        )
    return np.maximum(s / 2 - low, 0) ** 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(s):
    return np.exp(s) / np.exp(s).sum()


def reading_formula(kind, q, k, v, read, visible):
    """The output of one head, row by row, from the formulas as printed.

    Args:
        q: (query, d) or, of differential attention, (query, 2 d): both sets.
        read: (key, number), of all keys' tokens.
    """
    d, output = k.shape[1], []
    for i in range(len(q)):
        t = visible.query_offset + i
        sees = [
            j
            for j in range(len(k))
            if (j <= t or not visible.causal)
            and (visible.window is None or abs(t - j) < visible.window)
        ]
        s, own = np.array([q[i, :d] @ k[j] for j in sees]) / math.sqrt(d), read[t]
        if kind == "asentmax":
            log = max(math.log(len(sees)), math.log(2))
            w = entmax((1 + np.log1p(np.exp(own[0])) * log ** (3 * np.tanh(own[1]))) * s)
        elif kind == "forgetting":
            decay = [
                np.log(sigmoid(read[min(j, t) + 1 : max(j, t) + 1, 0])).sum() * (1 if j < t else -1)
                for j in sees
            ]
            w = softmax(s + np.array(decay))
        elif kind == "differential":
            other = np.array([q[i, d:] @ k[j] for j in sees]) / math.sqrt(d)
            w = softmax(s) - sigmoid(own[0]) * softmax(other)
        else:
            w = softmax(s)
        row = w @ v[sees]
        output.append(row * sigmoid(own) if kind == "gated" else row)
    return np.array(output)


def draw_read(attention, n_key, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 2, n_key, attention.reads, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("visible", VISIBLES, ids=str)
@pytest.mark.parametrize("kind", READING)
def test_kinds_that_read_the_stream_agree_with_their_formulas(kind, visible):
    attention = make_attention(kind, 4, 2).double()
    q, k, v = draw(9, 9 + visible.query_offset)
    if attention.query_sets == 2:
        q = torch.cat((q, draw(9, seed=1)[0]), dim=1)
    read = draw_read(attention, k.shape[2])
    output = attention(q, k, v, visible, read).detach().numpy()
    for batch in range(2):
        for head in range(2):
            own = q[batch, head::2].permute(1, 0, 2).flatten(1).numpy()
            rest = (x[batch, head].numpy() for x in (k, v, read))
            truth = reading_formula(kind, own, *rest, visible)
            assert np.abs(output[batch, head] - truth).max() < 1e-12


@pytest.mark.parametrize("kind", READING)
@pytest.mark.parametrize("window", [None, 3])
def test_what_a_kind_reads_later_alters_nothing_before(kind, window):
    attention, visible = make_attention(kind, 4, 2).double(), Visible(window=window)
    q, k, v = draw(200)
    if attention.query_sets == 2:
        q = torch.cat((q, draw(200, seed=1)[0]), dim=1)
    read = draw_read(attention, 200)
    before = attention(q, k, v, visible, read)
    for t in (60, 150):
        cut = (x[:, :, :t] for x in (q, k, v))
        assert torch.allclose(
            attention(*cut, visible, read[:, :, :t]), before[:, :, :t], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("kind", READING)
def test_the_gradients_of_what_a_kind_reads_are_those_of_differences(kind):
    attention = make_attention(kind, 4, 2).double()
    q, k, v = draw(5, batch=1)
    if attention.query_sets == 2:
        q = torch.cat((q, draw(5, batch=1, seed=1)[0]), dim=1)
    read = draw_read(attention, 5)[:1]
    given = [x.requires_grad_() for x in (q, k, v, read)]
    assert torch.autograd.gradcheck(lambda q, k, v, r: attention(q, k, v, Visible(), r), given)


@pytest.mark.parametrize("visible", VISIBLES, ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_weights_and_output_agree_with_the_formula(spec, visible):
    n_query = 9
    q, k, v = draw(n_query, n_query + visible.query_offset)
    attention = make_attention(spec, 4, 2).double()
    scale = attention.scale[0].item() if hasattr(attention, "scale") else None
    weights = attention.weights(q, k, visible).detach().numpy()
    output = attention(q, k, v, visible).detach().numpy()
    for batch in range(2):
        for head in range(2):
            truth = formula(spec, q[batch, head].numpy(), k[batch, head].numpy(), visible, scale)
            # A·N − 1 loses at most 3 of 16 digits where no key stands out; p = 15 a further one.
            assert np.abs(weights[batch, head] - truth).max() < 1e-12
            assert np.abs(output[batch, head] - truth @ v[batch, head].numpy()).max() < 1e-11


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("spec", SPECS)
def test_a_change_at_t_alters_nothing_before_t(spec, window, dtype):
    t = 6
    q, k, v = draw(12, dtype=dtype)
    attention = make_attention(spec, 4, 2).to(dtype)
    before = attention(q, k, v, Visible(window=window))
    for x in (q, k, v):
        x[:, :, t:] += 1
    after = attention(q, k, v, Visible(window=window))
    assert torch.equal(before[:, :, :t], after[:, :, :t])
    assert not torch.equal(before[:, :, t:], after[:, :, t:])


@pytest.mark.parametrize("window", [2, 5, 40])
@pytest.mark.parametrize("spec", SPECS)
def test_a_window_is_what_the_full_matrix_says(spec, window):
    # 200 steps are many times the window, so that the path near the diagonal is taken.
    q, k, v = draw(200)
    attention = make_attention(spec, 4, 2).double()
    visible = Visible(window=window)
    output = attention(q, k, v, visible)
    assert torch.allclose(output, attention.weights(q, k, visible) @ v, rtol=0, atol=1e-10)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("window", [None, 3])
def test_one_query_at_a_time_gives_the_rows_of_the_whole(spec, window):
    q, k, v = draw(10)
    attention = make_attention(spec, 4, 2).double()
    whole = attention(q, k, v, Visible(window=window))
    for t in range(10):
        first = 0 if window is None else max(0, t + 1 - window)
        visible = Visible(window=window, query_offset=t, key_offset=first)
        keys = (..., slice(first, t + 1), slice(None))
        row = attention(q[:, :, t : t + 1], k[keys], v[keys], visible)
        assert torch.allclose(row, whole[:, :, t : t + 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("visible", VISIBLES[:5], ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_the_fast_path_has_the_gradients_of_the_weights(spec, visible):
    attention = make_attention(spec, 8, 2).double()
    gradients = []
    for path in (attention, lambda q, k, v, visible: attention.weights(q, k, visible) @ v):
        drawn = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in draw(80, d_head=8))
        q, k, v = (x.requires_grad_() for x in drawn)  # strides as a network gives them
        path(q, k, v, visible).square().sum().backward()
        gradients.append((q.grad, k.grad, v.grad))
    for fast, plain in zip(*gradients, strict=True):
        assert torch.allclose(fast, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("visible", [Visible(), Visible(causal=False), Visible(query_offset=4)])
@pytest.mark.parametrize("spec", SPECS)
def test_a_long_sequence_is_made_in_groups_of_rows(spec, visible, monkeypatch):
    """Where the matrix is too large to keep: the same output, and the same gradients."""
    attention = make_attention(spec, 4, 2).double()
    n_key = 70 + visible.query_offset
    tensors = [each.requires_grad_() for each in draw(70, n_key)]
    places = [*tensors, *attention.parameters()]
    made = []
    for largest in (base.LARGEST, 1):
        monkeypatch.setattr(base, "LARGEST", largest)
        output = Attention.full(attention, *tensors, visible)
        cotangent = torch.linspace(-1, 1, output.numel(), dtype=output.dtype)
        made.append((output, *torch.autograd.grad(output, places, cotangent.view_as(output))))
    for whole, grouped in zip(*made, strict=True):
        torch.testing.assert_close(grouped, whole, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("visible", [Visible(), Visible(window=90), Visible(query_offset=4)])
@pytest.mark.parametrize("spec", ["lssa", "lssar", "lssar(p=0.5)", "lssar(p=15)"])
def test_tiles_of_softplus_attention_are_the_whole_matrix(spec, visible, monkeypatch):
    """One tile or many, kept for the derivative or made again."""
    attention = make_attention(spec, 4, 2).double()
    tensors = [each.requires_grad_() for each in draw(150, 150 + visible.query_offset)]
    made = []
    for elements, kept in ((2**30, 2**30), (1, 2**30), (1, 0)):
        monkeypatch.setattr(dense, "ELEMENTS", elements)
        monkeypatch.setattr(dense, "KEPT", kept)
        output = attention(*tensors, visible)
        cotangent = torch.linspace(-1, 1, output.numel(), dtype=output.dtype)
        made.append((output, *torch.autograd.grad(output, tensors, cotangent.view_as(output))))
    for other in made[1:]:
        for whole, tiled in zip(made[0], other, strict=True):
            torch.testing.assert_close(tiled, whole, rtol=1e-9, atol=1e-10)


def test_the_memory_of_a_long_sequence_does_not_grow_with_its_square(monkeypatch):
    """Between forward and backward nothing as large as a row of weights for each query is kept."""
    monkeypatch.setattr(base, "LARGEST", 2**12)
    attention = make_attention("map=relu scale=logn sharpen=3", 4, 1)
    q, k, v = (torch.randn(1, 1, 512, 4, requires_grad=True) for _ in range(3))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: kept.append(x.numel()) or x, lambda x: x
    ):
        attention(q, k, v, Visible())
    assert max(kept) < 512 * 32


def test_the_count_is_the_number_of_keys_seen():
    for visible in VISIBLES:
        n_key = 9 + visible.query_offset
        mask = visible.mask(9, n_key)
        seen = torch.ones(9, n_key) if mask is None else mask
        assert torch.equal(visible.count(9, n_key), seen.sum(-1).double())
