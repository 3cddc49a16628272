"""Edits change what they say and nothing else, at sites with names, and leave no trace."""

import numpy as np
import pytest
import torch
from torch import nn

import orbits
import worldmodel
from worldmodel import ablate, exchange, intervene, steer


@pytest.fixture(scope="module")
def model():
    data = orbits.generate(orbits=20, samples=24, simulator="kepler")
    options = {"d_model": 16, "n_layers": 2, "n_heads": 2, "batch_tokens": 64}
    return worldmodel.train(data, steps=1, context_length=4, target="displacement", **options)


@pytest.fixture
def positions():
    return np.random.default_rng(0).normal(size=(5, 4, 2))


class Foreign(nn.Module):
    """A module of somebody else's: recurrent, with parts that give a tuple."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.recurrent = nn.LSTM(2, 8, batch_first=True)
        self.spare = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, positions):
        return self.head(self.recurrent(positions)[0])


def hooks(module):
    return [
        hook
        for part in module.modules()
        for hook in (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
    ]


def nothing(own):
    return own


def zero(own):
    return torch.zeros_like(own)


def fails(own):
    raise RuntimeError("an edit that fails")


@pytest.mark.parametrize("make", ["ours", "foreign", "torch_module"])
def test_no_trace_is_left(model, positions, make):
    own = worldmodel.TorchModule(Foreign(), 4)
    asked, module, site = {
        "ours": (model, model.network, "blocks.0"),
        "foreign": (own.module, own.module, "recurrent"),
        "torch_module": (own, own.module, "recurrent"),
    }[make]
    predictor = model if make == "ours" else own
    before = predictor.predict(positions)
    state = {name: value.clone() for name, value in module.state_dict().items()}
    with intervene(asked, site, zero):
        assert not np.array_equal(predictor.predict(positions), before, equal_nan=True)
    np.testing.assert_array_equal(predictor.predict(positions), before)
    with pytest.raises(RuntimeError, match="an edit that fails"), intervene(asked, site, fails):
        predictor.predict(positions)
    with pytest.raises(KeyError), intervene(asked, site, zero):
        raise KeyError("of the user's own")
    unknown = pytest.raises(ValueError, match="site 'nowhere' is not known")
    with unknown, intervene(asked, {site: zero, "nowhere": zero}):
        pass
    assert hooks(module) == []
    np.testing.assert_array_equal(predictor.predict(positions), before)
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())


def test_nothing_changed_is_the_same_bit_for_bit(model, positions):
    before = model.predict(positions)
    own = model.activations(positions, ["blocks.0"])["blocks.0"]
    for edit in (nothing, exchange(None, own), exchange(np.eye(16)[:, :3], own), steer(0.0)):
        with model.intervene("blocks.0", edit):
            np.testing.assert_array_equal(model.predict(positions), before)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("blocks.1.resid_post", "blocks.1"),
        ("blocks.1.hook_resid_post", "blocks.1"),
        ("blocks.0.attn_out", "blocks.0.attention"),
        ("blocks.0.hook_mlp_out", "blocks.0.mlp"),
        ("hook_embed", "embed"),
        ("ln_final", "norm"),
    ],
)
def test_names_of_transformer_lens_are_understood(model, positions, theirs, ours):
    seen = []
    for name in (theirs, ours):
        with model.intervene(name, ablate()):
            seen.append(model.predict(positions))
    np.testing.assert_array_equal(*seen)
    found = model.activations(positions, [theirs])[theirs]
    np.testing.assert_array_equal(found, model.activations(positions, [ours])[ours])


def test_an_exchange_of_everything_makes_it_the_donor(model, positions):
    """Behind the last block nothing but the head follows: the network says what the donor's did."""
    donors = positions[::-1].copy()
    last = model.activations(donors, ["blocks.1"])["blocks.1"][:, -1]
    with model.intervene("blocks.1.resid_post", exchange(None, last, at=-1)):
        said = model.predict(positions)[:, -1]
    moved = model.predict(donors)[:, -1] - donors[:, -1]  # the target is the displacement
    np.testing.assert_allclose(said - positions[:, -1], moved, rtol=0, atol=1e-6)


def test_edits_do_what_linear_algebra_says():
    random = torch.Generator().manual_seed(1)
    own, donor = torch.randn((2, 6, 3, 5), generator=random, dtype=torch.float64)
    columns = torch.randn((5, 2), generator=random, dtype=torch.float64)
    along = columns @ torch.linalg.pinv(columns)
    torch.testing.assert_close(exchange(columns, donor)(own), own + (donor - own) @ along)
    torch.testing.assert_close(ablate(columns)(own), own - own @ along)
    mean = own.mean(dim=(0, 1))
    torch.testing.assert_close(ablate(columns, mean)(own), own - (own - mean) @ along)
    torch.testing.assert_close(steer(mean, 2.0)(own), own + 2 * mean)
    last = exchange(columns, donor[:, -1], at=-1)(own)
    assert torch.equal(last[:, :-1], own[:, :-1]), "other tokens stay as they are"
    torch.testing.assert_close(last[:, -1], exchange(columns, donor)(own)[:, -1])
    skew = columns @ torch.tensor([[3.0, 1.0], [-2.0, 0.5]], dtype=torch.float64)
    torch.testing.assert_close(exchange(skew, donor)(own), exchange(columns, donor)(own))


def test_gradients_pass_through():
    module, columns = Foreign(), torch.eye(8)[:, :2].requires_grad_()
    with intervene(module, "recurrent", exchange(columns, torch.ones(5, 8), at=-1)):
        module(torch.zeros(5, 4, 2)).square().sum().backward()
    assert columns.grad.abs().sum() > 0


def test_blocks_lie_within_each_other():
    module, zeros = Foreign(), torch.zeros(5, 4, 2)
    with intervene(module, "recurrent", zero), intervene(module, "head", steer([1.0, 2.0])):
        said = module(zeros)
    expected = (module.head.bias + torch.tensor([1.0, 2.0])).expand(said.shape)
    torch.testing.assert_close(said, expected)


@pytest.mark.parametrize(
    ("site", "edit", "words"),
    [
        ("blocks.0.resid_pots", nothing, "Known: head, recurrent, spare"),
        ("spare", nothing, "never called spare"),
        ("head", None, "the edit of head is None"),
        ("head", lambda own: own[:1], r"gives shape \(1, 4, 2\); \(5, 4, 2\) is needed"),
        ("head", exchange(None, np.zeros((3, 4, 2))), r"the donor has shape \(3, 4, 2\)"),
        ("head", ablate(np.eye(3)), "one of 3 features, but the site has 2"),
    ],
)
def test_a_mistake_is_one_line(site, edit, words):
    module = Foreign()
    with pytest.raises(ValueError, match=words) as found, intervene(module, site, edit):
        module(torch.zeros(5, 4, 2))
    assert "\n" not in str(found.value)
    assert hooks(module) == []


def test_what_is_no_subspace_or_module_is_refused():
    with pytest.raises(ValueError, match="independent columns"):
        exchange(np.ones((4, 2)), np.zeros((1, 4)))
    unknown = pytest.raises(ValueError, match="StraightLine is no torch module")
    with unknown, intervene(worldmodel.StraightLine(), "head", nothing):
        pass


def test_pytorchs_fast_path_does_not_pass_a_site_by():
    """Without gradients its own encoder layer computes all at once, and calls no part."""
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, dropout=0.0).eval()
    zeros = torch.zeros(1, 3, 8)
    with torch.no_grad():
        before = layer(zeros)
        with intervene(layer, "linear2", steer(torch.arange(8.0))):
            assert not torch.allclose(layer(zeros), before)
        assert torch.equal(layer(zeros), before)


@pytest.mark.parametrize("at", [*range(-9, 9)])
def test_a_token_beyond_the_sequence_is_refused_and_every_other_is_itself(model, positions, at):
    kept = model.activations(positions, ["blocks.1"])["blocks.1"]
    with model.intervene("blocks.1", steer(np.ones(16), at=at)):
        if -4 <= at < 4:
            changed = model.activations(positions, ["blocks.1"])["blocks.1"] != kept
            assert [*np.flatnonzero(changed.any(axis=(0, 2)))] == [at % 4]
            return
        with pytest.raises(ValueError, match=rf"token {at}, but the site gives 4; give 0 to 3"):
            model.predict(positions)


def test_positions_in_place_of_a_site_are_refused_at_once(model, positions):
    with pytest.raises(ValueError, match="site is a ndarray"):
        model.intervene(positions, {"blocks.0": zero})
