"""Promises of training: going on equals never having stopped, and nothing good is ever lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from orbits.dataset import open_dataset
from orbits.files import held
from worldmodel import training
from worldmodel.checkpoint import load_tensors, read_record
from worldmodel.cli import main
from worldmodel.config import TrainConfig
from worldmodel.model import Network, Scales
from worldmodel.optimizers import StackedMuon, make_optimizers, orthogonal, set_learning_rates
from worldmodel.source import DatasetSource
from worldmodel.training import train
from worldmodel.world_model import WorldModel, threads

SMALL = TrainConfig(
    d_model=16, n_layers=1, steps=12, batch_tokens=64, warmup=2, evaluate_every=4,
    context_noise=1e-3, accelerator="cpu",
)  # fmt: skip


def read_metrics(run):
    """The lines of metrics.jsonl; a last line that a killed process left unfinished is left out."""
    path = Path(run) / "metrics.jsonl"
    text = path.read_text() if path.is_file() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def weights_of(run, name="last"):
    return load_file(Path(run) / f"{name}.safetensors")


def assert_same_run(first, second):
    """The same weights bit for bit, and the same numbers along the way."""
    for name in ("last", "best", "resume"):
        one, other = weights_of(first, name), weights_of(second, name)
        assert one.keys() == other.keys()
        files = (Path(run) / f"{name}.safetensors" for run in (first, second))
        assert len({file.read_bytes() for file in files}) == 1
        assert all(torch.equal(one[key], other[key]) for key in one)
    timing = ("tokens_per_second", "fraction_in_model")
    lines = [
        [{k: v for k, v in line.items() if k not in timing} for line in read_metrics(run)]
        for run in (first, second)
    ]
    assert lines[0] == lines[1]


def stop_at(step, monkeypatch, error=KeyboardInterrupt):
    """Let the training break off in a step, before anything of that step is done."""
    whole = training.Trainer._step

    def broken(self, *crops):
        if self.state.step == step:
            raise error
        return whole(self, *crops)

    monkeypatch.setattr(training.Trainer, "_step", broken)


@pytest.mark.parametrize("step", [1, 3, 4, 11])
def test_interrupted_at_any_step_it_goes_on_as_if_nothing_had_happened(
    few_orbits, tmp_path, monkeypatch, step
):
    train(few_orbits, SMALL, out=tmp_path / "whole")
    with monkeypatch.context() as patch:
        stop_at(step, patch)
        with pytest.raises(KeyboardInterrupt):
            train(few_orbits, SMALL, out=tmp_path / "broken")
    train(few_orbits, SMALL, out=tmp_path / "broken")
    assert_same_run(tmp_path / "whole", tmp_path / "broken")


def test_killed_between_any_two_files_it_ends_as_if_nothing_had_happened(
    few_orbits, tmp_path, monkeypatch
):
    """The last state may be there without its weights: then these are written."""
    written, save = [], training.save_tensors
    monkeypatch.setattr(training, "save_tensors", lambda *a: (written.append(a[0]), save(*a)))
    train(few_orbits, SMALL, out=tmp_path / "whole")
    assert len(written) >= 8
    for number in range(len(written)):
        left, place = iter(range(number)), tmp_path / f"broken_{number}"

        def broken(*arguments, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            save(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(training, "save_tensors", broken)
            with pytest.raises(KeyboardInterrupt):
                train(few_orbits, SMALL, out=place)
        train(few_orbits, SMALL, out=place)
        assert_same_run(tmp_path / "whole", place)


@pytest.mark.parametrize("damage", [b"{}", b"[1]", b"\xff", b'{"step": null}', b"}", b'{"step": 1'])
def test_a_damaged_log_stops_no_training(few_orbits, tmp_path, monkeypatch, damage):
    with monkeypatch.context() as patch:
        stop_at(5, patch)
        with pytest.raises(KeyboardInterrupt):
            train(few_orbits, SMALL, out=tmp_path / "run")
    with open(tmp_path / "run/metrics.jsonl", "ab") as file:
        file.write(damage + b"\n")
    train(few_orbits, SMALL, out=tmp_path / "run")
    train(few_orbits, SMALL, out=tmp_path / "whole")
    assert_same_run(tmp_path / "whole", tmp_path / "run")


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_state(
    few_orbits, tmp_path, monkeypatch
):
    real = training.loss_of

    def poisoned(config, scales, output, *rest):
        value = real(config, scales, output, *rest)
        poisoned.calls += torch.is_grad_enabled()  # of held-out contexts there is none
        return value * float("nan") if poisoned.calls == 7 and value.requires_grad else value

    poisoned.calls = 0
    monkeypatch.setattr(training, "loss_of", poisoned)
    with pytest.raises(ValueError, match=r"not a finite number at step 7 .* last good state"):
        train(few_orbits, SMALL, out=tmp_path / "run")
    model = WorldModel.load(tmp_path / "run")
    assert all(torch.isfinite(p).all() for p in model.network.parameters())


def test_on_a_cpu_it_is_the_plain_loop_to_the_bit(few_orbits, tmp_path):
    train(few_orbits, SMALL, out=tmp_path / "run")
    with threads(1):
        record, state, _ = training._prepare(DatasetSource(few_orbits), SMALL, 0, on_gpu=False)
        matrices = state.optimizers[0].param_groups[0]["params"]  # Muon's alone are cut
        numbers = []
        for step in range(SMALL.steps):
            set_learning_rates(state.optimizers, SMALL, step)
            crops = state.batches.next()
            seen, following = crops[:, :-1], crops[:, 1:]
            seen = seen + SMALL.context_noise * torch.randn(seen.shape, generator=state.noise)
            output = state.network(seen)
            loss = training.loss_of(SMALL, record.scales, output, seen, following)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(matrices, 1.0)
            for optimizer in state.optimizers:
                optimizer.step()
                optimizer.zero_grad()
            numbers.append((float(loss.detach()), float(norm)))
    lines = [line for line in read_metrics(tmp_path / "run") if "loss" in line]
    assert [(line["loss"], line["gradient_norm"]) for line in lines] == numbers
    last = weights_of(tmp_path / "run")
    assert all(torch.equal(last[k], v) for k, v in state.network.state_dict().items())


def read_seldom(monkeypatch):
    """As on a GPU: numbers are read only where they are written."""
    whole = training.Trainer.__post_init__

    def seldom(self):
        whole(self)
        self.reads_always = False

    monkeypatch.setattr(training.Trainer, "__post_init__", seldom)


def test_numbers_that_are_read_seldom_are_the_same(few_orbits, tmp_path, monkeypatch):
    config = replace(SMALL, steps=50, evaluate_every=40)
    train(few_orbits, config, out=tmp_path / "always")
    read_seldom(monkeypatch)
    train(few_orbits, config, out=tmp_path / "seldom")
    assert_same_run(tmp_path / "always", tmp_path / "seldom")


def test_a_loss_that_is_no_number_is_found_at_its_step_before_anything_is_saved(
    few_orbits, tmp_path, monkeypatch
):
    read_seldom(monkeypatch)
    real, calls = training.loss_of, iter(range(1, 100))

    def poisoned(*given):
        bad = torch.is_grad_enabled() and next(calls) == 38  # of held-out contexts there is none
        return real(*given) * (np.nan if bad else 1)

    monkeypatch.setattr(training, "loss_of", poisoned)
    config = replace(SMALL, steps=50, evaluate_every=35)  # written every three steps
    with pytest.raises(ValueError, match=r"not a finite number at step 38 .* last good state"):
        train(few_orbits, config, out=tmp_path / "run")
    assert read_metrics(tmp_path / "run")[-1]["step"] == 36
    model = WorldModel.load(tmp_path / "run")
    assert all(torch.isfinite(p).all() for p in model.network.parameters())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.parametrize("attention", ["softmax", "lssar"])
def test_compiled_it_is_the_same_network(few_orbits, tmp_path, monkeypatch, attention):
    config = replace(SMALL, attention=attention, context_length=16, context_noise=0.0)
    train(few_orbits, config, out=tmp_path / "eager")
    monkeypatch.setattr(training, "pays_to_compile", lambda network, on_gpu: True)
    train(few_orbits, config, out=tmp_path / "compiled")
    eager, compiled = (
        [line for line in read_metrics(tmp_path / name) if "loss" in line]
        for name in ("eager", "compiled")
    )
    for name in ("loss", "gradient_norm"):
        # float32 sums in another order, of which later steps make a little more
        assert compiled[0][name] == pytest.approx(eager[0][name], rel=1e-6)
        assert [x[name] for x in compiled] == pytest.approx([x[name] for x in eager], rel=1e-4)


def test_in_mixed_precision_positions_and_the_last_layer_are_whole():
    network = Network(SMALL.model, Scales.of_one(SMALL.model))
    seen = {}
    for name in ("embed", "head", "blocks.0.mlp.0"):
        network.get_submodule(name).register_forward_hook(
            lambda _, given, output, name=name: seen.update({name: output.dtype})
        )
    with torch.autocast("cpu", torch.bfloat16):
        network(torch.randn(3, 8, 1, 2))
    wide, narrow = torch.float32, torch.bfloat16
    assert seen == {"embed": wide, "head": wide, "blocks.0.mlp.0": narrow}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("attention", ["softmax", "lssar"])
def test_no_step_on_a_gpu_waits_for_it(few_orbits, monkeypatch, attention):
    whole = training.Trainer._step

    def step(self, *crops):
        if self.state.step < 3:  # the first ones compile
            return whole(self, *crops)
        torch.cuda.set_sync_debug_mode("error")
        try:
            return whole(self, *crops)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(training.Trainer, "_step", step)
    monkeypatch.setattr(training, "pays_to_compile", lambda network, on_gpu: True)
    train(few_orbits, replace(SMALL, attention=attention, accelerator="cuda"))


@pytest.mark.slow
def test_two_processes_make_the_steps_of_one(few_orbits, tmp_path):
    config = replace(SMALL, steps=4, evaluate_every=2, context_length=4)  # 64 = 2 · 8 · 4
    train(few_orbits, config, out=tmp_path / "one")
    train(few_orbits, config, devices=2, out=tmp_path / "two")
    losses = [
        [line["loss"] for line in read_metrics(tmp_path / name) if "loss" in line]
        for name in ("one", "two")
    ]
    # float32 sums in another order
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert WorldModel.load(tmp_path / "two").record.train.devices == 2


@pytest.mark.parametrize(
    "options",
    [
        {"stream": True},
        {"kicked": 0.5, "target": "residual"},
        {"target": "displacement(inertia=0.5)"},
        {"head": "tokens", "bins": 64, "bin_range": 4.0},
        {"attention": "lssar(p=15)", "context_length": 8, "window": 3},
        {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"},
        {"inputs": "differences", "norm": "layer"},
    ],
    ids=str,
)
def test_every_way_of_training_goes_on_from_where_it_stopped(
    few_orbits, tmp_path, monkeypatch, options
):
    config = replace(SMALL, **options)
    train(few_orbits, config, out=tmp_path / "whole")
    with monkeypatch.context() as patch:
        stop_at(7, patch)
        with pytest.raises(KeyboardInterrupt):
            train(few_orbits, config, out=tmp_path / "broken")
    train(few_orbits, config, out=tmp_path / "broken")
    assert_same_run(tmp_path / "whole", tmp_path / "broken")


@pytest.mark.parametrize("layout", ["joint", "interleaved"])
def test_several_bodies_are_learned_together(make_orbits, tmp_path, layout):
    data = make_orbits(tmp_path / "two.zarr", system="barycentric", mass=(0.5, 2.0))
    config = replace(SMALL, layout=layout, steps=60, batch_tokens=256, target="displacement")
    train(data, config, out=tmp_path / "run")
    losses = [line["loss"] for line in read_metrics(tmp_path / "run") if "loss" in line]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    model = WorldModel.load(tmp_path / "run")
    assert model.record.scales.bodies == 2
    paths = [str(tmp_path / "run"), data, str(tmp_path / "out.json")]
    assert main(["probe", *paths, "--readout", "evaluate"]) == 0


def run_command(*arguments):
    return main([str(a) for a in arguments])


def test_another_configuration_in_the_same_folder_is_refused(few_orbits, tmp_path, refused):
    options = ("--steps", 2, "--d-model", 16, "--n-layers", 1, "--batch-tokens", 64)
    assert run_command("train", few_orbits, tmp_path / "run", *options) == 0
    said = refused("worldmodel", "train", few_orbits, tmp_path / "run", *options, "--seed", 5)
    assert "belongs to another configuration (seed 0 there, 5 here)" in said


def test_weights_of_another_run_are_never_loaded(few_orbits, tmp_path):
    for name, seed in (("run", 0), ("other", 1)):
        train(few_orbits, replace(SMALL, seed=seed), out=tmp_path / name)
    path = tmp_path / "run/last.safetensors"
    path.write_bytes((tmp_path / "other/last.safetensors").read_bytes())
    with pytest.raises(ValueError, match="belongs to another configuration"):
        WorldModel.load(tmp_path / "run")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is damaged: it is cut short"):
        WorldModel.load(tmp_path / "run")


def test_one_flipped_bit_is_noticed_in_any_file(few_orbits, tmp_path):
    train(few_orbits, SMALL, out=tmp_path / "run")
    identity = read_record(tmp_path / "run").identity
    rng = np.random.default_rng(0)
    for name in ("last", "best", "resume", "config"):
        path = tmp_path / "run" / (f"{name}.json" if name == "config" else f"{name}.safetensors")
        content = path.read_bytes()
        header = 8 + int.from_bytes(content[:8], "little") if name != "config" else len(content)
        places = [*rng.integers(0, header, 40), *rng.integers(0, len(content), 40)]
        for place in places:
            flipped = bytearray(content)
            flipped[place] ^= 1 << int(rng.integers(0, 8))
            path.write_bytes(flipped)
            with pytest.raises(ValueError, match=path.name):
                read_record(path.parent) if name == "config" else load_tensors(path, identity)
        path.write_bytes(content)


@pytest.mark.parametrize("stream", [False, True])
def test_held_out_orbits_are_never_trained_on(few_orbits, stream):
    """Other positions in the held-out orbits leave every weight as it is; in the last one trained
    on they do not (it is missing from 384 contexts of 36 orbits with a chance of 2e-5)."""
    known = open_dataset(few_orbits).load()
    found = []
    for first, last in ((40, 40), (36, 40), (35, 36)):
        data = known.copy(deep=True)
        data["position"][first:last] *= 1.5
        model = train(data, SMALL, stream=stream)
        found.append(model.fingerprint)
    assert found[0] == found[1] != found[2]


FLAGS = (
    "--d-model", 16, "--n-layers", 1, "--batch-tokens", 64, "--context-noise", 1e-3,
    "--accelerator", "cpu",
)  # fmt: skip


def test_two_processes_never_train_in_one_folder(few_orbits, tmp_path, capsys):
    with held(tmp_path / "run", "held"):
        assert run_command("train", few_orbits, tmp_path / "run", *FLAGS, "--steps", 1) == 2
    assert "another process is training in" in capsys.readouterr().err
    assert run_command("train", few_orbits, tmp_path / "run", *FLAGS, "--steps", 1) == 0


def watched(monkeypatch, name, seen):
    """Let a method of the trainer add what it gives to a list."""
    whole = getattr(training.Trainer, name)
    monkeypatch.setattr(
        training.Trainer, name, lambda self, *given: seen.append(whole(self, *given)) or seen[-1]
    )


def test_the_held_out_loss_is_that_of_held_out_orbits(few_orbits, monkeypatch):
    """Other held-out orbits change it; other training orbits do not, where nothing is learned."""
    known, losses = open_dataset(few_orbits).load(), []
    watched(monkeypatch, "held_out_loss", losses)
    plain = {"inputs": "coordinates", "outputs": "coordinates"}  # of no scale that knows a sense
    still = replace(SMALL, steps=1, muon_lr=1e-30, adamw_lr=1e-30, **plain)
    for first, last in ((40, 40), (36, 40), (20, 21)):
        data = known.copy(deep=True)
        data["position"][first:last] = data["position"][first:last].values[:, ::-1]
        train(data, still)
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[2], rel=1e-6), "reversed in time, of the same scales"


def test_noise_is_on_what_is_seen_and_not_on_targets(few_orbits, monkeypatch):
    shown, given = [], []
    watched(monkeypatch, "_with_noise", shown)
    whole = training.Batches.next
    monkeypatch.setattr(
        training.Batches, "next", lambda self: given.append(whole(self)) or given[-1]
    )
    train(few_orbits, replace(SMALL, steps=20, context_noise=0.1))
    noise = []
    for (seen, following), crops in zip(shown, given, strict=True):
        assert torch.equal(following, crops[:, 1:])
        noise.append((seen - crops[:, :-1]).flatten())
    # 2560 normal numbers: their rms is known to 1/sqrt(2 * 2560) = 1.4 %
    assert torch.cat(noise).square().mean().sqrt().item() == pytest.approx(0.1, rel=0.06)


def test_the_best_weights_are_kept(few_orbits, tmp_path, monkeypatch):
    values = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(training.Trainer, "held_out_loss", lambda self: next(values))
    train(few_orbits, SMALL, out=tmp_path / "run")
    assert WorldModel.load(tmp_path / "run", "best").step == 8
    assert WorldModel.load(tmp_path / "run").step == 12


def test_the_learning_rates_rise_and_fall():
    """A line over the warm-up, then half a cosine to a hundredth."""
    config = TrainConfig(steps=1000, warmup=10, muon_lr=0.02, adamw_lr=3e-3)
    network = Network(config.model, Scales.of_one(config.model))
    optimizers = make_optimizers(network, config)
    for step, factor in ((0, 0.1), (4, 0.5), (9, 1.0), (500, 0.505), (750, 0.155), (999, 0.01)):
        # the cosine has fallen by 2e-4 at the end of the warm-up; 0.155 = 0.01 + 0.99 (1 - √½)/2
        assert set_learning_rates(optimizers, config, step) == pytest.approx(factor, rel=3e-3)
        for optimizer, lr in zip(optimizers, (config.muon_lr, config.adamw_lr), strict=True):
            assert optimizer.param_groups[0]["lr"] == pytest.approx(lr * factor, rel=3e-3)


def test_matrices_of_one_shape_are_made_orthogonal_together_as_one_by_one(monkeypatch):
    # in bfloat16 the iteration blows sums in another order up to some per cent
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.clone)
    torch.manual_seed(0)
    shapes = [(8, 24), (24, 8), (8, 24), (8, 8), (24, 8)]
    start = [torch.randn(shape) for shape in shapes]
    ends = []
    for kind in (torch.optim.Muon, StackedMuon):
        weights = [torch.nn.Parameter(weight.clone()) for weight in start]
        muon = kind(weights, lr=0.02, momentum=0.95, weight_decay=0.0)
        generator = torch.Generator().manual_seed(1)
        for rate in (0.02, 0.01, 0.005):
            muon.param_groups[0]["lr"] = rate
            for weight in weights:
                weight.grad = torch.randn(weight.shape, generator=generator)
            muon.step()
        ends.append(weights)
        assert set(muon.state[weights[0]]) == {"momentum_buffer"}
    for one, other, begun in zip(*ends, start, strict=True):
        moved = (one - begun).norm()
        assert moved > 0.05
        assert (one - other).norm() < 1e-4 * moved


@pytest.mark.parametrize("shape", [(3, 8, 24), (2, 24, 8), (1, 16, 16)], ids=str)
def test_an_orthogonal_matrix_keeps_the_axes_and_loses_the_sizes(shape):
    """Singular values of the Newton-Schulz iteration lie about 1; the directions are kept."""
    torch.manual_seed(0)
    matrices = torch.randn(shape, dtype=torch.float64)
    settings = {"ns_coefficients": (3.4445, -4.7750, 2.0315), "ns_steps": 5, "eps": 1e-7}
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    found = orthogonal(matrices, **settings)
    inner = u.mT @ found @ v.mT
    sizes = inner.diagonal(dim1=-2, dim2=-1)
    assert sizes.min() > 0.3  # the smallest of a square matrix come last
    assert sizes.max() < 1.25
    assert (inner - torch.diag_embed(sizes)).abs().max() < 1e-10
    single = orthogonal(matrices.float(), **settings)
    assert single.dtype == torch.float32, "no bfloat16 on a CPU"
    torch.testing.assert_close(single.double(), found, rtol=0, atol=1e-4)
