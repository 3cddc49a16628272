"""Names of TransformerLens: what it keeps under them, of a model of the same weights, we give."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import orbits
import worldmodel

PAGE = Path(__file__).parents[2] / "notebooks" / "how-to" / "own-model.md"
SHAPES = {
    "hook_embed": (3, 8, 32),
    "blocks.0.hook_resid_pre": (3, 8, 32),
    "blocks.0.ln1.hook_normalized": (3, 8, 32),
    "blocks.0.attn.hook_q": (3, 8, 2, 16),
    "blocks.0.attn.hook_k": (3, 8, 2, 16),
    "blocks.0.attn.hook_v": (3, 8, 2, 16),
    "blocks.0.attn.hook_rot_q": (3, 8, 2, 16),
    "blocks.0.attn.hook_rot_k": (3, 8, 2, 16),
    "blocks.0.attn.hook_pattern": (3, 2, 8, 8),
    "blocks.0.attn.hook_z": (3, 8, 2, 16),
    "blocks.0.hook_attn_out": (3, 8, 32),
    "blocks.0.hook_resid_mid": (3, 8, 32),
    "blocks.0.ln2.hook_normalized": (3, 8, 32),
    "blocks.0.mlp.hook_pre": (3, 8, 128),
    "blocks.0.mlp.hook_post": (3, 8, 128),
    "blocks.0.hook_mlp_out": (3, 8, 32),
    "blocks.1.hook_resid_post": (3, 8, 32),
}


@pytest.fixture(scope="module")
def data():
    return orbits.generate(orbits=20, samples=32, simulator="kepler", seed=0)


def trained(data, kind="softmax", norm="layer"):
    options = {"context_length": 8, "d_model": 32, "n_heads": 2, "n_layers": 2, "steps": 2}
    return worldmodel.train(data, attention=kind, norm=norm, **options)


@pytest.mark.parametrize("kind", ["softmax", "lssar", "differential", "gated", "forgetting"])
def test_its_names_hold_what_they_say(data, kind):
    """Sums of the stream, and the attention of softmax computed again from the weights."""
    model, x = trained(data, kind), data.position.values[:3, :8]
    kept = model.activations(x, list(SHAPES))
    twice = kind == "differential"  # has two sets of queries
    for name, shape in SHAPES.items():
        heads = 4 if twice and name.endswith("q") else 2
        assert kept[name].shape == tuple(heads if n == 2 else n for n in shape), name
    at = {name.replace("blocks.0.", "").replace("hook_", ""): kept[name] for name in kept}
    near = {"rtol": 0, "atol": 1e-5}
    np.testing.assert_array_equal(at["embed"], at["resid_pre"])
    np.testing.assert_allclose(at["resid_pre"] + at["attn_out"], at["resid_mid"], **near)
    again = model.activations(x, ["blocks.0.resid_post", "blocks.1.hook_resid_pre"]).values()
    for after in again:
        np.testing.assert_allclose(at["resid_mid"] + at["mlp_out"], after, **near)
    np.testing.assert_array_equal(at["attn.pattern"], model.attention(x)[0])
    out = model.network.blocks[0].attention.out.weight.detach().numpy()
    np.testing.assert_allclose(at["attn.z"].reshape(3, 8, 32) @ out.T, at["attn_out"], **near)
    if kind == "softmax":
        scores = np.einsum("bqhd,bkhd->bhqk", at["attn.rot_q"], at["attn.rot_k"]) / 4
        weights = np.exp(scores) * np.tri(8)
        weights /= weights.sum(-1, keepdims=True)
        np.testing.assert_allclose(at["attn.pattern"], weights, **near)
        z = np.einsum("bhqk,bkhd->bqhd", weights, at["attn.v"])
        np.testing.assert_allclose(at["attn.z"], z, **near)


def test_each_row_of_the_page_works_or_is_refused(data):
    model, x = trained(data), data.position.values[:3, :8]

    def read(site):
        assert model.activations(x, [site])[site].any()

    def edit(site):
        with model.intervene(site, worldmodel.ablate()):
            assert not model.activations(x, [site])[site].any()

    rows = re.findall(
        r"^\| (`.*) \| (works|refused) \| (works|refused) \|$", PAGE.read_text(), re.M
    )
    sites = {f"blocks.0.{name}": row[1:] for row in rows for name in re.findall("`(.+?)`", row[0])}
    assert len(sites) == 19
    for site, row in sites.items():
        for ask, does in zip((read, edit), row, strict=True):
            if does == "works":
                ask(site)
                continue
            with pytest.raises(ValueError, match=rf"'{site}' is not known") as said:
                ask(site)
            assert len(str(said.value).splitlines()) == 1


def test_a_model_without_norms_has_none_of_theirs(data):
    model, x = trained(data, norm="none"), data.position.values[:3, :8]
    for name, read in (("ln1", "resid_pre"), ("ln2", "resid_mid")):
        site = f"blocks.1.{name}.hook_normalized"
        with pytest.raises(ValueError, match=rf"'{site}' is not known.*no norm") as said:
            model.activations(x, [site])
        assert f"blocks.1.hook_{read} " in str(said.value)
        assert len(str(said.value).splitlines()) == 1
    theirs = [name for name in SHAPES if not name.endswith("normalized")]
    kept = model.activations(x, [*theirs, "blocks.0.attention_norm"])
    read = kept["blocks.0.attention_norm"]
    np.testing.assert_array_equal(kept["blocks.0.hook_resid_pre"], read)
    after = kept["blocks.0.hook_resid_mid"] + kept["blocks.0.hook_mlp_out"]
    np.testing.assert_allclose(
        after, model.activations(x, ["blocks.0"])["blocks.0"], rtol=0, atol=1e-5
    )


def of_transformer_lens(network):
    """The blocks of a network of softmax as a model of TransformerLens, with the same weights."""
    lens = pytest.importorskip("transformer_lens")
    if not hasattr(lens, "cache") or "HookedTransformer" in getattr(lens, "_REMOVED_IN_4_0", ()):
        pytest.skip("TransformerLens 4 has no HookedTransformer; pip install 'transformer_lens<4'")
    c = network.config
    d_head = c.d_model // c.n_heads
    config = lens.HookedTransformerConfig(
        n_layers=c.n_layers, d_model=c.d_model, n_heads=c.n_heads, d_head=d_head,
        d_mlp=4 * c.d_model, n_ctx=c.context_length, d_vocab=1, act_fn="gelu",
        normalization_type="LN", positional_embedding_type="rotary", rotary_dim=d_head,
        rotary_base=10_000, device="cpu",
    )  # fmt: skip
    model = lens.HookedTransformer(config)
    state = {
        name: torch.zeros_like(value) if ".b" in name else value
        for name, value in model.state_dict().items()
    }
    for n, block in enumerate(network.blocks):
        q, k, v = block.attention.project.weight.unflatten(0, (3, c.n_heads, -1)).transpose(-1, -2)
        out = block.attention.out.weight.T.unflatten(0, (c.n_heads, -1))
        read, write = block.mlp[0].weight.T, block.mlp[2].weight.T
        before, between = block.attention_norm, block.mlp_norm
        ours = {
            "attn.W_Q": q, "attn.W_K": k, "attn.W_V": v, "attn.W_O": out,
            "mlp.W_in": read, "mlp.W_out": write, "ln1.w": before.weight, "ln1.b": before.bias,
            "ln2.w": between.weight, "ln2.b": between.bias,
        }  # fmt: skip
        state |= {f"blocks.{n}.{name}": value for name, value in ours.items()}
    model.load_state_dict(state)
    return model


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.needs("transformer_lens")
def test_they_are_what_its_own_cache_holds(data):
    model, x = trained(data), data.position.values[:3, :8]
    lens = of_transformer_lens(model.network)
    with torch.no_grad():
        stream = model.network.embed(torch.tensor(x[:, :, None], dtype=torch.float32))
        _, cache = lens.run_with_cache(stream, start_at_layer=0)
    parts = [name.partition(".")[2].partition(".")[2] for name in SHAPES if "." in name]
    names = [f"blocks.{n}.{part}" for n in (0, 1) for part in parts]
    kept = model.activations(x, names)
    for name in names:
        np.testing.assert_allclose(kept[name], cache[name], rtol=0, atol=2e-6, err_msg=name)
    assert len(names) == 2 * 16
    left = {name.rpartition("hook_")[2] for name in set(cache) - set(names)}
    assert left == {"scale", "attn_scores", "normalized", "in", "out"}  # the last three: no block's


@pytest.mark.slow
@pytest.mark.needs("nnsight")
def test_nnsight_traces_our_network_by_our_names(data):
    nnsight = pytest.importorskip("nnsight")
    model, x = trained(data), data.position.values[:3, :8]
    traced = nnsight.NNsight(model.network)
    with traced.trace(torch.tensor(x[:, :, None], dtype=torch.float32)):
        mlp = traced.blocks[0].mlp.output.save()
        block = traced.blocks[0].output.save()
    kept = model.activations(x, ["blocks.0.hook_mlp_out", "blocks.0.hook_resid_post"])
    for own, theirs in zip(kept.values(), (mlp, block), strict=True):
        np.testing.assert_allclose(own, theirs.detach(), rtol=0, atol=1e-6)
