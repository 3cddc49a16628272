"""What must hold for the network with every kind of attention: causality, symmetry."""

from dataclasses import replace

import pytest
import torch

from worldmodel.attention import attention_kinds
from worldmodel.config import ModelConfig
from worldmodel.model import Network, Scales, bin_of
from worldmodel.objective import loss, next_position, raw_target
from worldmodel.representation import REPRESENTATIONS
from worldmodel.representation.base import Scale, in_units
from worldmodel.representation.differences import differences

KINDS = [*attention_kinds(), "lssar(p=15)"]
SETTINGS = [
    {},
    {"window": 3},
    {"layout": "interleaved"},
    {"layout": "interleaved", "window": 2},
    {"head": "tokens", "bins": 50, "bin_range": 4.0},
    {"inputs": "differences", "outputs": "coordinates", "norm": "layer"},
    {"inputs": "differences", "layout": "interleaved"},
    {"inputs": "coordinates", "norm": "layer"},
    {"outputs": "coordinates", "layout": "interleaved"},
]


def network_of(attention="softmax", bodies=2, **options):
    torch.manual_seed(0)
    config = ModelConfig(attention=attention, context_length=12, d_model=16, n_heads=2, **options)
    return Network(config, Scales.of_one(config, bodies)).double()


def positions_of(bodies=2, batch=3, time=10):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, time, bodies, 2, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_what_happens_later_changes_nothing_before(kind, options):
    network, positions = network_of(kind, **options), positions_of()
    before = network(positions)
    positions[:, 6] += 0.5
    after = network(positions)
    assert torch.equal(before[:, :6], after[:, :6])
    assert not torch.allclose(before[:, 6], after[:, 6])


@pytest.mark.parametrize("kind", KINDS)
def test_each_orbit_is_predicted_from_itself_alone(kind):
    network, positions = network_of(kind), positions_of()
    together = network(positions)
    alone = torch.cat([network(positions[i : i + 1]) for i in range(3)])
    # Another batch size takes another order of summation: a few units in the last place.
    assert torch.allclose(together, alone, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ({"inputs": "coordinates", "norm": "layer"}, 6),
        ({"inputs": "logarithms"}, 7),
        ({"inputs": "differences"}, 8),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_two_layers_with_a_window_of_two_see_three_tokens(kind, options, last):
    """A token knows one position, with logarithms the one before too, with differences two."""
    network, positions = network_of(kind, window=2, **options), positions_of()
    before = network(positions)
    positions[:, 4] += 0.5
    changed = (network(positions) - before).abs().amax(dim=(0, 2, 3))
    # sums of forget gates hold earlier ones, which cancel to rounding
    assert (changed > 1e-12).nonzero().flatten().tolist() == [*range(4, last + 1)]


def test_differences_of_a_falling_body_are_its_velocity_and_its_acceleration():
    t = torch.arange(6, dtype=torch.float64)[None, :, None, None]
    _, steps, bends = differences.seen(3 + 2 * t + 5 * t**2)
    assert steps.values.flatten().tolist() == [0, 7, 17, 27, 37, 47]
    assert bends.values.flatten().tolist() == [0, 0, 10, 10, 10, 10]
    assert (steps.first, bends.first) == (1, 2)


def test_positions_are_relative_in_time():
    """Rotary angles enter as differences: without a mask's edge, a later start changes nothing."""
    network, positions = network_of(window=2), positions_of()
    assert torch.allclose(
        network(positions)[:, 5:], network(positions[:, 2:])[:, 3:], rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("outputs", ["coordinates", "logarithms"])
@pytest.mark.parametrize(
    "target", ["position", "displacement", "displacement(inertia=0.9)", "residual"]
)
def test_the_target_leads_back_to_the_next_position(target, outputs):
    positions = positions_of()
    seen, following = positions[:, :-1], positions[:, 1:]
    config = ModelConfig(target=target, outputs=outputs, context_length=9)
    units = {"coordinates": (Scale(0.0, 0.1),), "logarithms": (Scale(-3.0, 0.1), Scale(0.0, 0.7))}
    scales = replace(Scales.of_one(config, bodies=2), outputs=units[outputs])
    said = REPRESENTATIONS[outputs].said(raw_target(target, seen, following))
    output = torch.cat(in_units(said, scales.outputs), dim=-1)
    assert torch.allclose(next_position(config, scales, output, seen), following, atol=1e-13)
    assert loss(config, scales, output, seen, following) == 0


def test_tokens_lead_back_to_within_half_a_bin():
    positions = positions_of()
    seen, following = positions[:, :-1], positions[:, 1:]
    config = ModelConfig(head="tokens", bins=700, bin_range=5.0)
    scales = Scales.of_one(config, bodies=2)
    certain = 50.0 * torch.nn.functional.one_hot(bin_of(following, config), config.bins)
    decoded = next_position(config, scales, certain, seen)
    assert (decoded - following).abs().max() <= 5.0 / 700 + 1e-12


def test_a_body_without_force_has_no_residual():
    t = torch.arange(6, dtype=torch.float64)[None, :, None, None]
    positions = 3 + 2 * t + 5 * t**2
    target = raw_target("residual", positions[:, :-1], positions[:, 1:])
    assert target.flatten().tolist() == [7, 10, 10, 10, 10], "the first is a displacement"
    straight = 3 + 2 * t
    assert not raw_target("residual", straight[:, :-1], straight[:, 1:])[:, 1:].any()
