"""A torch module as a predictor: what its target means, its derivatives and activations."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

import worldmodel
from worldmodel import predictor


def circles(times):
    return predictor.circles(times)[:, :, 0]


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


class Outputs(nn.Module):
    """The same as `Inertia`, in a tuple, a dict or a dataclass of several tensors."""

    def __init__(self, wrap):
        super().__init__()
        self.inner, self.wrap = Inertia(), wrap

    def forward(self, x):
        hidden = torch.zeros(len(x), 7)
        return self.wrap(hidden, self.inner(x))


@dataclasses.dataclass
class Answer:
    hidden: torch.Tensor
    displacement: torch.Tensor


@pytest.mark.parametrize(
    "wrap",
    [
        lambda hidden, said: (hidden, said),
        lambda hidden, said: [said, hidden],
        lambda hidden, said: {"loss": None, "hidden": hidden, "displacement": said},
        Answer,
    ],
)
def test_the_first_tensor_of_a_shape_that_fits_is_the_answer(wrap):
    x = circles(9)
    plain = worldmodel.TorchModule(Inertia(), 3, target="displacement").predict(x)
    module = worldmodel.TorchModule(Outputs(wrap), 3, target="displacement")
    np.testing.assert_array_equal(module.predict(x), plain)


def test_an_output_is_named_where_none_fits():
    several = Outputs(lambda hidden, said: {"hidden": hidden, "said": said, "other": 2 * said})
    x = circles(9)
    named = worldmodel.TorchModule(several, 3, target="displacement", output="other").predict(x)
    plain = worldmodel.TorchModule(Inertia(), 3, target="displacement").predict(x)
    np.testing.assert_allclose((named - x)[:, 2:], 2 * (plain - x)[:, 2:], atol=1e-6)
    nothing = worldmodel.TorchModule(Outputs(lambda hidden, said: (hidden, said[..., :1])), 3)
    with pytest.raises(ValueError, match=r"gives tuple with 0 \(2, 7\), .*output= of TorchModule"):
        nothing.predict(circles(3))
    wrong = worldmodel.TorchModule(several, 3, output="sad")
    with pytest.raises(ValueError, match="did you mean 'said'"):
        wrong.predict(circles(3))


class Compiled(nn.Module):
    """What `torch.compile` makes of a module, without its compiler, which takes long to load."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module


@pytest.mark.parametrize("wrap", [Compiled, nn.DataParallel])
def test_what_is_put_around_a_module_changes_no_name_and_no_number(wrap):
    plain, x = Inertia(), circles(3)
    module = worldmodel.TorchModule(wrap(wrap(plain)), 3, target="displacement")
    np.testing.assert_array_equal(
        module.predict(x), worldmodel.TorchModule(plain, 3, target="displacement").predict(x)
    )
    assert module.name == "Inertia"
    assert list(module.activations(x)) == ["mix"]
    with worldmodel.intervene(wrap(plain), "mix", lambda own: own * 0):
        assert not plain(torch.from_numpy(x).float()).any()
