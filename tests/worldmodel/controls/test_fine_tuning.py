"""Fine-tuning of torch modules that were not made here: what is trained, and what is refused."""

import pytest
import torch
from torch import nn

import orbits
import worldmodel
from worldmodel.cli import main
from worldmodel.probes.finetune import fine_tune
from worldmodel.probes.readouts.transfer import Transfer
from worldmodel.source import DatasetSource

SMALL = {"labelled": 150, "few": 30, "points": 150, "steps": 300, "batch_tokens": 256}


class Window(nn.Module):
    """Two layers on a window of positions, the next displacement out."""

    def __init__(self, context_length=4, last=True):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * context_length, 32), nn.Tanh(), nn.Linear(32, 24))
        self.head = nn.Linear(24, 2)
        self.last = last

    def forward(self, x):
        said = self.head(torch.tanh(self.body(x.flatten(1))))
        return said if self.last else said[:, None].expand(-1, x.shape[1], -1)


def made(seed=0, scale=1.0, **options):
    torch.manual_seed(seed)
    return worldmodel.TorchModule(Window(), 4, "displacement", scale=scale, **options)


FILE = f"""
import sys
sys.path.insert(0, {__file__.rpartition("/")[0]!r})
from test_fine_tuning import made
def make(seed=0):
    return made(seed)
def gru(seed=0):
    import torch, worldmodel
    from torch import nn
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = nn.GRU(2, 8, batch_first=True)
        def forward(self, x):
            return self.gru(x)[0][..., :2]
    return worldmodel.TorchModule(Recurrent(), 4)
"""


@pytest.fixture(scope="module")
def data():
    return orbits.generate(orbits=180, samples=24, simulator="kepler", seed=3)


def test_the_input_of_the_last_layer_is_read_and_the_module_stays(data):
    predictor = made(scale=2.0)
    model = worldmodel.load_predictor(predictor).for_world(DatasetSource(data).facts)
    before = {name: p.clone() for name, p in predictor.module.named_parameters()}
    backbone = model.backbone("this")
    assert backbone.width == 24
    x = torch.randn(7, 4, 1, 2)
    wanted = torch.tanh(predictor.module.body((x / 2.0).flatten(1)))
    torch.testing.assert_close(backbone(x)[:, 0], wanted)
    labels = torch.full((7, 4, 1), torch.nan)
    labels[:, -1] = x[:, -1, :, 0]
    tuned = fine_tune(backbone, lambda _: (x, labels), 1, 200, "network", 0, learning_rate=1e-2)
    assert (tuned(x)[:, 0] - labels[:, -1]).square().mean() < 0.01
    for name, parameter in predictor.module.named_parameters():
        torch.testing.assert_close(parameter, before[name])
    assert not torch.equal(backbone.module.body[0].weight, before["body.0.weight"])


def test_it_learns_to_say_the_force(data):
    more = SMALL | {"steps": 600, "batch_tokens": 1024}
    found = worldmodel.probe(made(), data, readout=Transfer(**more))
    assert found.metrics["r2_size"] > 0.8
    # labels that say nothing are not learned: one step of training
    barely = worldmodel.probe(made(), data, readout=Transfer(**SMALL | {"steps": 1}))
    assert barely.metrics["r2_size"] < 0.3


def test_the_command_fine_tunes_a_module_of_a_file(few_orbits, tmp_path, refused):
    (tmp_path / "own.py").write_text(FILE)
    own = f"{tmp_path}/own.py"
    words = ["probe", "--model", f"{own}:make", "--untrained-model", f"{own}:make", str(few_orbits)]
    tuned = tmp_path / "t.parquet"
    transfer = ["--readout", "transfer(labelled=20, few=10, points=20, steps=3)"]
    assert main([*words, str(tuned), *transfer]) == 0
    assert len(orbits.ForceSamples.read(tuned).table) == 20
    no_head = ["probe", "--model", f"{own}:gru", str(few_orbits), str(tmp_path / "g"), *transfer]
    assert "say which submodule is its head" in refused("worldmodel", *no_head)
