"""What a query does not see touches neither its output nor a derivative, whatever the kind."""

import pytest
import torch

from worldmodel.attention import Visible, attention_kinds, make_attention

SPECS = (
    *attention_kinds(),
    "lssar(p=15)", "map=relu norm=l1 sharpen=3", "map=exp norm=none", "map=softplus norm=none",
)  # fmt: skip
D_HEAD = 8


def draw(spec, n_query, n_key, dtype=torch.float64):
    """A kind, and random q, k, v and what else it reads."""
    torch.manual_seed(0)
    attention = make_attention(spec, D_HEAD, 2).to(dtype)
    heads = (2 * attention.query_sets, 2, 2, 2)
    widths = (D_HEAD, D_HEAD, D_HEAD, attention.reads)
    lengths = (n_query, n_key, n_key, n_key)
    shapes = zip(heads, lengths, widths, strict=True)
    drawn = [torch.randn(2, *shape, dtype=torch.float64).to(dtype) for shape in shapes]
    return attention, drawn if attention.reads else drawn[:3]


def called(attention, tensors, visible):
    return attention(*tensors[:3], visible, *tensors[3:])


@pytest.mark.parametrize(
    ("length", "value"),
    [(2, torch.nan), (12, torch.nan), (12, torch.inf), (12, 1e4), (150, torch.nan)],
)
@pytest.mark.parametrize("spec", SPECS)
def test_what_follows_touches_nothing_before_it(spec, length, value):
    """Padding with anything, in queries, keys, values and what else is read."""
    attention, tensors = draw(spec, length, length)
    first = length // 2
    made = []
    for fill in (0.0, value):
        given = [x.clone() for x in tensors]
        for x in given:
            x[:, :, first:] = fill
        if value == 1e4:  # of a score so large the exponential overflows, rightly
            given[0] = given[0][:, :, :first].clone()
        given = [x.requires_grad_() for x in given]
        output = called(attention, given, Visible())
        output[:, :, :first].square().sum().backward()
        made.append((output.detach()[:, :, :first], *(x.grad for x in given)))
        weights = attention.weights(*given[:2], Visible(), *given[3:])
        assert weights[:, :, :first].isfinite().all()
        assert (weights.triu(1) == 0).all()
    for clean, padded in zip(*made, strict=True):
        torch.testing.assert_close(padded, clean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("visible", [Visible(window=3), Visible(causal=False, window=3)], ids=str)
@pytest.mark.parametrize("spec", SPECS)
def test_a_nan_reaches_those_who_see_it_and_nobody_else(spec, visible, part):
    attention, tensors = draw(spec, 12, 12)
    if part == len(tensors):
        return
    clean = called(attention, tensors, visible)
    tensors[part][:, :, 5, 0] = torch.nan
    output = called(attention, tensors, visible)
    ahead = torch.arange(12) - 5
    seen = ahead >= 0 if visible.causal else ahead > -3
    reached = ahead == 0 if part == 0 else seen & (ahead < 3)
    assert output[:, :, reached].isnan().all()
    torch.testing.assert_close(output[:, :, ~reached], clean[:, :, ~reached])


EMPTY = {
    "keys later than the first queries": (6, 4, Visible(key_offset=2), (0, 1)),
    "keys out of the window": (6, 3, Visible(window=2), (4, 5)),
    "either side seen": (6, 3, Visible(causal=False, window=1, key_offset=2), (0, 1, 5)),
    "all keys later": (3, 4, Visible(key_offset=3), (0, 1, 2)),
    "no keys": (3, 0, Visible(), (0, 1, 2)),
}


@pytest.mark.parametrize("case", EMPTY)
@pytest.mark.parametrize("spec", SPECS)
def test_a_query_that_sees_no_key_gives_zero(spec, case):
    n_query, n_key, visible, empty = EMPTY[case]
    if case == "keys out of the window" and make_attention(spec, D_HEAD, 2).reads:
        return  # such a kind reads the query's own token, which is not among the keys
    attention, tensors = draw(spec, n_query, n_key)
    tensors = [x.requires_grad_() for x in tensors]
    output = called(attention, tensors, visible)
    weights = attention.weights(*tensors[:2], visible, *tensors[3:])
    (output.square().sum() + weights.square().sum()).backward()
    assert output.shape == (2, 2, n_query, D_HEAD)
    assert (output[:, :, empty] == 0).all()
    assert (weights[:, :, empty] == 0).all()
    assert [t for t, n in enumerate(visible.count(n_query, n_key)) if n == 0] == list(empty)
    assert (output != 0).any() == (len(empty) < n_query)
    assert all(x.grad.isfinite().all() for x in tensors[:3])


def test_a_kind_that_reads_a_querys_own_token_says_that_it_is_not_there():
    attention, tensors = draw("forgetting", 6, 3)
    with pytest.raises(ValueError, match="own tokens, 0 to 3, are not all among the keys"):
        called(attention, tensors, Visible(window=2))


@pytest.mark.parametrize(
    ("length", "dtype", "size"),
    [
        (2, torch.bfloat16, 3.0), (256, torch.bfloat16, 1.0), (256, torch.bfloat16, 10.0),
        (256, torch.float16, 1.0), (256, torch.float16, 10.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("spec", SPECS)
def test_scores_are_normalised_in_single_precision(spec, length, dtype, size):
    """Where the numbers are half precision, their scores, of which an exponential is taken, are
    not: the output is that of float64 to the rounding of weights, of values and of itself."""
    if spec == "map=exp norm=none":
        size = 1.0  # its weights are not bounded, and leave half precision at once
    attention, tensors = draw(spec, length, length, dtype)
    tensors[0], tensors[1] = tensors[0] * size**0.5, tensors[1] * size**0.5
    truth = called(attention.double(), [x.double() for x in tensors], Visible())
    output = called(attention.to(dtype), tensors, Visible()).double()
    # weights, values and two sums are rounded, by half a spacing each
    assert (output - truth).abs().max() < 2 * torch.finfo(dtype).eps * truth.abs().max()


@pytest.mark.parametrize("map_of", ["relu", "sigmoid", "softplus", "exp"])
def test_a_row_whose_weights_all_vanish_is_uniform_and_finite(map_of):
    attention, tensors = draw(f"map={map_of} norm=l1 scale=sqrt", 6, 6)
    tensors = [1e3 * x if i < 2 else x for i, x in enumerate(tensors)]
    given = [x.requires_grad_() for x in tensors]
    weights = attention.weights(*given[:2], Visible())
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    called(attention, given, Visible()).sum().backward()
    assert all(x.grad.isfinite().all() for x in given)
