"""A torch module as a predictor: what its target means, its derivatives and activations."""

import numpy as np
import pytest
import torch
from torch import nn

import worldmodel
from worldmodel.predictors import checked


def circles(times):
    return checked.circles(times)[:, :, 0]


class Inertia(nn.Module):
    """(batch, time, axis) to the next displacement, by one linear map of the last two."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 2, bias=False)
        eye = torch.eye(2)
        self.mix.weight = nn.Parameter(torch.cat((eye, -eye), dim=1))

    def forward(self, x):
        before = torch.cat((x[:, :1], x[:, :-1]), dim=1)
        return self.mix(torch.cat((x, before), dim=-1))


def test_a_torch_module_says_what_its_target_means():
    x = circles(9)
    line = worldmodel.StraightLine().predict(x)
    module = worldmodel.TorchModule(Inertia(), 3, target="displacement")
    np.testing.assert_allclose(module.predict(x)[:, 2:], line[:, 2:], atol=1e-6)  # float32
    still = nn.Linear(2, 2)
    nn.init.zeros_(still.weight), nn.init.zeros_(still.bias)
    residual = worldmodel.TorchModule(still, 2, target="residual")
    np.testing.assert_allclose(residual.predict(x)[:, 1:], line[:, 1:], atol=1e-12)
    position = worldmodel.TorchModule(still, 2)
    assert np.abs(position.predict(x)[:, 1:]).max() == 0


def test_a_torch_module_has_derivatives_and_activations():
    module = worldmodel.TorchModule(Inertia(), 3, target="displacement")
    jacobians = module.jacobians(circles(3))
    np.testing.assert_allclose(jacobians[:, 2], np.tile(2 * np.eye(2), (2, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(jacobians[:, 1], np.tile(-np.eye(2), (2, 1, 1)), atol=1e-12)
    assert np.abs(jacobians[:, 0]).max() == 0
    assert module.activations(circles(3))["mix"].shape == (2, 2)
    with pytest.raises(ValueError, match="did you mean 'mix'"):
        worldmodel.TorchModule(Inertia(), 3, layers=["mx"]).activations(circles(3))
