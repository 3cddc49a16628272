"""The worked example of the package's documentation: one file makes a new kind."""

import textwrap

import pytest
import torch

import worldmodel.attention
from worldmodel.attention import Visible, attention_kinds, kinds, make_attention


@pytest.fixture
def squared(tmp_path, monkeypatch):
    text = worldmodel.attention.__doc__
    code = textwrap.dedent(text[text.index("    import torch") : text.index("`squared` and")])
    (tmp_path / "squared.py").write_text(code)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])


def test_a_file_in_the_folder_is_a_kind(squared):
    assert "squared" in attention_kinds()
    attention = make_attention("squared(floor=0.001)", 4, 2)
    assert attention.floor == 0.001
    with pytest.raises(ValueError, match="did you mean 'squared'"):
        make_attention("sqared", 4, 2)
    q, k, v = torch.randn(3, 2, 2, 50, 4).unbind(0)
    for visible in (Visible(), Visible(window=3), Visible(causal=False)):
        weights = attention.weights(q, k, visible)
        assert torch.allclose(weights.sum(-1), torch.ones(()))
        assert torch.allclose(attention(q, k, v, visible), weights @ v, atol=1e-5)
    before = attention(q, k, v, Visible())
    k[:, :, 20:] += 1
    assert torch.equal(attention(q, k, v, Visible())[:, :, :20], before[:, :, :20])
