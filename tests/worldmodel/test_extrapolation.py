"""Loss beyond the training length: one pass gives every length; what is written and drawn."""

import pandas as pd
import pytest
import torch

from orbits.config import GenerateConfig
from orbits.files import read_json
from orbits.generation.generate import generate
from worldmodel.cli import main
from worldmodel.extrapolation import extrapolate, segment_losses
from worldmodel.objective import loss
from worldmodel.source import Source
from worldmodel.training import train
from worldmodel.world_model import WorldModel

CONTEXT = 8


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two runs of a few steps, and orbits of 16 times their context."""
    folder = tmp_path_factory.mktemp("study")
    data = str(folder / "long.zarr")
    options = {"orbits": 12, "samples": 16 * CONTEXT + 1, "engine": "kepler", "workers": 1}
    generate(data, GenerateConfig(**options))
    runs = []
    for attention in ("softmax", "lssar"):
        runs.append(str(folder / attention))
        small = {"d_model": 16, "steps": 3, "batch_tokens": 256, "accelerator": "cpu"}
        train(data, out=runs[-1], attention=attention, context_length=CONTEXT, **small)
    return runs, data


@pytest.mark.parametrize("length", [1, 2, 5])
def test_one_pass_over_the_longest_gives_every_segment(study, length):
    (run, _), _ = study
    model = WorldModel.load(run)
    positions = torch.randn(3, 6 * length + 1, 1, 2)
    config, scales = model.network.config, model.record.scales
    losses = segment_losses(model, positions, length)
    for factor in range(1, 7):
        seen = positions[:, : factor * length]
        if factor * length == 1:
            continue  # a single position is not scored in a model with a longer context
        with torch.no_grad():
            output = model.network(seen)
        whole = loss(config, scales, output, seen, positions[:, 1 : factor * length + 1])
        scored = torch.tensor([length - 1, *[length] * (factor - 1)]).double()
        parts = torch.tensor(losses[:factor]).nan_to_num()
        # float32: a few units in the last place, whatever the order of summation
        assert whole.item() == pytest.approx((parts @ scored / scored.sum()).item(), rel=1e-5)


def test_table_json_and_figure_are_written(study, tmp_path, capsys):
    runs, data = study
    factors = ["--factors", "2", "16"]
    assert main(["extrapolate", *runs, data, "--out", str(tmp_path), *factors]) == 0
    table = extrapolate(runs, data, factors=(2, 16)).table
    assert list(table["factor"]) == [1, 2, 16] * 2
    assert list(table["length"]) == [8, 16, 128] * 2
    assert (table.loc[table["factor"] == 1, "ratio"] == 1).all()
    assert table["loss"].gt(0).all()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "extrapolation.csv"), table)
    written = read_json(tmp_path / "extrapolation.json")
    assert len(written["rows"]) == 6
    assert written["configuration"]["factors"] == [2, 16]
    assert (tmp_path / "extrapolation.png").read_bytes().startswith(b"\x89PNG")
    assert "lssar" in capsys.readouterr().out


def test_only_held_out_orbits_of_the_training_data_are_used(study, monkeypatch):
    (run, _), data = study
    asked, read = [], Source.read
    monkeypatch.setattr(Source, "read", lambda self, i: asked.append(list(i)) or read(self, i))
    extrapolate([run], data, factors=(1,))
    assert asked == [[11]]  # a tenth of twelve orbits


def test_the_loss_of_a_length_is_the_mean_over_it(study):
    """Of the first C, 2 C, 4 C positions of orbits that were not trained on, each seen whole."""
    (run, _), data = study
    model, source = WorldModel.load(run), Source(data)
    config, scales = model.network.config, model.record.scales
    positions = torch.from_numpy(source.read([11]).position)
    table = extrapolate([run], data, factors=(2, 4)).table.set_index("factor")
    whole = {}
    for factor in (1, 2, 4):
        length = factor * CONTEXT
        seen, following = positions[:, :length], positions[:, 1 : length + 1]
        with torch.no_grad():
            output = model.network(seen)
        whole[factor] = loss(config, scales, output, seen, following).item()
        # float32: a few units in the last place, whatever the order of summation
        assert table["loss"][factor] == pytest.approx(whole[factor], rel=1e-5)
        assert table["ratio"][factor] == pytest.approx(whole[factor] / whole[1], rel=1e-5)
        # its last C positions; the loss leaves out the first time that it is given
        last = slice(max(0, length - CONTEXT - 1), length)
        late = loss(config, scales, output[:, last], seen[:, last], following[:, last]).item()
        assert table["late_loss"][factor] == pytest.approx(late, rel=1e-5)
