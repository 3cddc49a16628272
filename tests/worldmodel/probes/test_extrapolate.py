"""Loss beyond the training length: one pass gives every length."""

import pytest
import torch

from orbits.config import GenerateConfig
from orbits.files import read_json
from orbits.generation.generate import generate
from worldmodel import StraightLine, probe
from worldmodel.attention import attention_maps, attention_spread
from worldmodel.cli import main
from worldmodel.config import ModelConfig
from worldmodel.model import Network, Scales
from worldmodel.objective import loss
from worldmodel.probes.errors import segment_losses
from worldmodel.probes.readouts.extrapolate import Extrapolate
from worldmodel.source import DatasetSource
from worldmodel.training import train
from worldmodel.world_model import WorldModel

CONTEXT = 8


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two runs of a few steps, and orbits of 16 times their context."""
    folder = tmp_path_factory.mktemp("study")
    data = str(folder / "long.zarr")
    options = {"orbits": 12, "samples": 16 * CONTEXT + 1, "simulator": "kepler", "workers": 1}
    generate(data, GenerateConfig(**options))
    runs = []
    for attention in ("softmax", "lssar"):
        runs.append(str(folder / attention))
        small = {"d_model": 16, "steps": 3, "batch_tokens": 256, "accelerator": "cpu"}
        train(data, out=runs[-1], attention=attention, context_length=CONTEXT, **small)
    return runs, data


def losses_of(model, data, *factors):
    return probe(model, data, readout=Extrapolate(factors=factors)).metrics


@pytest.mark.parametrize("length", [1, 2, 5])
def test_one_pass_over_the_longest_gives_every_segment(study, length):
    (run, _), _ = study
    model = WorldModel.load(run)
    positions = torch.randn(3, 6 * length + 1, 1, 2)
    config, scales = model.network.config, model.record.scales
    losses = segment_losses(model, positions.numpy(), length)
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


def test_the_command_writes_what_python_gives(study, tmp_path, capsys):
    (run, _), data = study
    out = tmp_path / "longer.json"
    words = ["--readout", "extrapolate(factors=2 16)"]
    assert main(["probe", run, data, str(out), *words]) == 0
    found = losses_of(run, data, 2, 16)
    assert read_json(out)["metrics"] == found
    assert found["ratio_1"] == 1
    assert set(found) == {
        f"{name}_{f}"
        for name in ("loss", "late_loss", "ratio", "entropy", "first_key")
        for f in (1, 2, 16)
    }
    assert "16×" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["softmax", "sigmoid", "lssar"])
@pytest.mark.parametrize("window", [None, 3])
def test_the_spread_of_late_rows_is_that_of_the_whole_maps(kind, window):
    torch.manual_seed(0)
    options = {"attention": kind, "d_model": 16, "context_length": CONTEXT, "window": window}
    config = ModelConfig(**options)
    network = Network(config, Scales.of_one(config)).double()
    positions = torch.randn(3, 4 * CONTEXT, 1, 2, dtype=torch.float64)
    entropy, first = attention_spread(network, positions, 3 * CONTEXT)
    rows = attention_maps(network, positions)[..., 3 * CONTEXT :, :]
    share = rows / rows.sum(-1, keepdim=True)
    seen = window or torch.arange(3 * CONTEXT + 1, 4 * CONTEXT + 1).double()
    flat = -(share * share.clamp(min=1e-300).log()).sum(-1) / torch.as_tensor(seen).double().log()
    assert entropy == pytest.approx(flat.mean().item(), rel=1e-12)
    assert first == pytest.approx(share[..., 0].mean().item(), abs=1e-15)


def test_even_rows_have_an_entropy_of_one():
    """Keys that are all alike get weights that are."""
    config = ModelConfig(context_length=8)
    network = Network(config, Scales.of_one(config)).double()
    for block in network.blocks:
        torch.nn.init.zeros_(block.attention.project.weight)
    entropy, first = attention_spread(network, torch.randn(2, 8, 1, 2).double(), 7)
    assert entropy == pytest.approx(1, abs=1e-12)
    assert first == pytest.approx(1 / 8, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "factors", "message"),
    [
        (None, (32,), "has 129 states in each orbit, but 256 positions"),
        (StraightLine(), (2,), "extrapolate needs a network of `worldmodel train`"),
        (None, (), "factors is empty"),
    ],
)
def test_what_cannot_be_asked_is_refused(study, model, factors, message):
    (run, _), data = study
    with pytest.raises(ValueError, match=message):
        losses_of(model or run, data, *factors)


def test_only_held_out_orbits_of_the_training_data_are_used(study, monkeypatch):
    (run, _), data = study
    asked, read = [], DatasetSource.read
    monkeypatch.setattr(
        DatasetSource, "read", lambda self, i: asked.append(list(i)) or read(self, i)
    )
    losses_of(run, data, 1)
    assert asked == [[11]]  # a tenth of twelve orbits


def test_the_loss_of_a_length_is_the_mean_over_it(study):
    """Of the first C, 2 C, 4 C positions of orbits that were not trained on, each seen whole."""
    (run, _), data = study
    model, source = WorldModel.load(run), DatasetSource(data)
    config, scales = model.network.config, model.record.scales
    positions = torch.from_numpy(source.read([11]).position)
    found = losses_of(run, data, 2, 4)
    whole = {}
    for factor in (1, 2, 4):
        length = factor * CONTEXT
        seen, following = positions[:, :length], positions[:, 1 : length + 1]
        with torch.no_grad():
            output = model.network(seen)
        whole[factor] = loss(config, scales, output, seen, following).item()
        # float32: a few units in the last place, whatever the order of summation
        assert found[f"loss_{factor}"] == pytest.approx(whole[factor], rel=1e-5)
        assert found[f"ratio_{factor}"] == pytest.approx(whole[factor] / whole[1], rel=1e-5)
        # its last C positions; the loss leaves out the first time that it is given
        last = slice(max(0, length - CONTEXT - 1), length)
        late = loss(config, scales, output[:, last], seen[:, last], following[:, last]).item()
        assert found[f"late_loss_{factor}"] == pytest.approx(late, rel=1e-5)
