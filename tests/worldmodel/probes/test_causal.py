"""What is exchanged is followed where it is used, and not where it could merely be read."""

import numpy as np
import pytest
import torch
from torch import nn

import worldmodel
from orbits.units import GM_SUN
from worldmodel.probes.readouts.causal import Causal

FEW = {"states": 400}
DT = 0.008


class Noted(nn.Module):
    """Has force, velocity and place in known directions of `noted`.

    The prediction reads the force there, or computes it anew and leaves what it noted alone.
    """

    def __init__(self, uses_the_force, uses_the_step=False):
        super().__init__()
        self.uses_the_force, self.uses_the_step = uses_the_force, uses_the_step
        mixture = torch.randn((256, 6), generator=torch.Generator().manual_seed(3))
        self.columns = torch.linalg.qr(mixture.double()).Q
        self.noted = nn.Identity()

    def forward(self, positions):  # (batch, time, axis), au
        x, step = positions[:, -1].double(), positions[:, -1].double() - positions[:, -2]
        force = -GM_SUN * x / x.norm(dim=1, keepdim=True) ** 3
        noted = self.noted(torch.cat((force / 40, 20 * step, x), dim=1) @ self.columns.T)
        read = noted @ self.columns
        push = 40 * read[:, :2] if self.uses_the_force else force
        return x + (read[:, 2:4] / 20 if self.uses_the_step else step) + DT**2 * push


def untrained(seed):
    torch.manual_seed(seed)
    hidden = nn.Flatten(), nn.Linear(4, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU()
    module, own = nn.Sequential(*hidden, nn.Linear(64, 2)), {"target": "residual", "scale": 0.01}
    return worldmodel.TorchModule(module, 2, layers=("2", "4"), **own)


def asked(module, data, **options):
    model = worldmodel.load_predictor(worldmodel.TorchModule(module, 2), untrained=untrained)
    return worldmodel.probe(model, data, readout=Causal(**FEW | options))


def test_a_force_that_was_put_in_is_followed(some_run, newton_orbits):
    run = some_run(newton_orbits, context_length=8)
    found = worldmodel.probe(run, newton_orbits, readout=Causal(**FEW), control="injected")
    for name in ("decoded", "probe", "rotation", "beyond", "whole"):
        assert found.metrics[f"trained_{name}"] > 0.9, name
    assert found.metrics["trained_random"] < 0.1
    assert found.metrics["untrained_probe"] < 0.1
    assert found.metrics["untrained_beyond"] < 0.1


def test_a_foreign_module_that_uses_the_force_follows_it(newton_orbits):
    module = Noted(uses_the_force=True)
    before = worldmodel.TorchModule(module, 2).predict(np.ones((1, 3, 2)))
    found = asked(module, newton_orbits)
    assert found.attributes["trained"].keys() == {"noted"}
    for name in ("decoded", "probe", "rotation", "beyond", "own"):
        assert found.metrics["own" if name == "own" else f"trained_{name}"] > 0.9, name
    for name in ("trained_random", "untrained_probe", "untrained_beyond"):
        assert found.metrics[name] < 0.1, name
    assert found.metrics["untrained_decoded"] > 0.2, "an untrained network can be read all the same"
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in module.modules())
    after = worldmodel.TorchModule(module, 2).predict(np.ones((1, 3, 2)))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("uses_the_step", [False, True])
def test_a_force_that_is_noted_and_not_used_is_not_followed(newton_orbits, uses_the_step):
    """The impostor: every probe reads the force there, and no prediction does.

    Where the inertia is read at the same site, a gradient turns a subspace from what is noted to
    what is used, and the force seems followed; so does its opposite, which gives it away.
    """
    found = asked(Noted(False, uses_the_step), newton_orbits, steps=100).metrics
    assert found["trained_decoded"] > 0.99
    assert found["own"] > 0.99, "its accelerations are right"
    assert found["trained_probe"] < 0.1
    assert found["trained_beyond"] < 0.1
    if uses_the_step:
        assert found["trained_rotation"] > 0.5, "the illusion that is guarded against"


def test_the_probes_subspace_is_followed_though_inertia_is_read_beside_it(newton_orbits):
    found = asked(Noted(uses_the_force=True, uses_the_step=True), newton_orbits, steps=0).metrics
    assert found["trained_probe"] > 0.9
    assert found["trained_whole"] < 0, "the velocity goes with it"


@pytest.mark.slow
def test_a_trained_network_follows_the_force_that_it_says(trained_on_coordinates, newton_orbits):
    """Its last block is the acceleration, for the target is the residual."""
    found = worldmodel.probe(trained_on_coordinates, newton_orbits, readout=Causal(**FEW))
    assert found.metrics["trained_probe"] > 0.9
    assert found.metrics["trained_random"] < 0.1
    assert found.metrics["untrained_probe"] < 0.1
    assert found.metrics["untrained_beyond"] < 0.1
    table = found.attributes["trained"]
    assert list(table)[:4] == ["embed", "blocks.0.attention", "blocks.0.mlp", "blocks.0"]
    assert table["blocks.1"]["probe"] == found.metrics["trained_probe"]
    assert table["blocks.1.attention"]["probe"] < 0.1 < table["blocks.1.attention"]["decoded"]


def test_what_cannot_be_asked_is_said(newton_orbits, few_orbits):
    with pytest.raises(ValueError, match=r"StraightLine shows none; give a worldmodel.TorchModule"):
        worldmodel.probe(worldmodel.StraightLine(), few_orbits, readout="causal")
    model = worldmodel.load_predictor(untrained(0), untrained=untrained)
    with pytest.raises(ValueError, match="needs 4 orbits or more; there are 3"):
        worldmodel.probe(model, few_orbits, readout="causal", orbits=3)
