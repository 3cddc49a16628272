"""Adapters: each on a small model made here, saved to disk and read back."""

import pathlib
import types

import numpy as np
import pytest
import torch
from causal_lm import CausalLM
from forecasters import Chronos, TimesFM, TiRex
from inductive_bias_probes import InductiveBiasProbes
from newton_kepler import NewtonKepler

import worldmodel
from worldmodel import predictor


def circles(times, bodies=1):
    x = predictor.circles(times, bodies=bodies)
    return x[:, :, 0] if bodies == 1 else x


class Drift:
    """A forecaster that continues every series by its last step, as each package would say it."""

    def predict_quantiles(self, inputs, prediction_length, quantile_levels):
        return self.forecast(inputs, prediction_length, None)[1][:, None, None], None

    def forecast(self, inputs, prediction_length, batch_size):
        return None, 2 * inputs[:, -1] - inputs[:, -2]

    def predict_batch(self, inputs, horizon):
        said = [2 * series[-1] - series[-2] for series in inputs]
        return [types.SimpleNamespace(forecast=np.array([value])) for value in said]


@pytest.mark.parametrize("kind", [Chronos, TimesFM, TiRex])
def test_a_forecaster_sees_each_coordinate_as_a_series(kind, few_orbits):
    model = kind(Drift(), 8)
    x = circles(12)
    line = worldmodel.StraightLine().predict(x)
    np.testing.assert_allclose(model.predict(x)[:, 7:], line[:, 7:], atol=1e-6)  # float32
    answers(model, few_orbits)


def needs(name):
    return pytest.importorskip(name, reason=f"the package {name} of an extra is missing")


def answers(predictor, data, **options):
    """What the kick test gives on a few orbits: numbers, whatever the model."""
    found = worldmodel.probe(predictor, data, states="kicked", orbits=6, **options)
    assert np.isfinite(found.table["a_norm"]).all()
    return found


def test_a_causal_language_model_over_bins(few_orbits, tmp_path):
    transformers = needs("transformers")
    sizes = {"n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = transformers.GPT2Config(vocab_size=203, bos_token_id=202, eos_token_id=202, **sizes)
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    model = CausalLM(str(tmp_path / "gpt2"), 4, bins=200, bin_range=2.0, start=202)
    answers(model, few_orbits)
    x = circles(8)
    said = model.predict(x)
    assert np.isnan(said[:, :3]).all()
    assert np.abs(said[:, 3:]).max() <= 2
    edges = np.linspace(-2, 2, 201)
    np.testing.assert_array_equal(CausalLM(model.model, 4, edges=edges, start=202).predict(x), said)
    with pytest.raises(ValueError, match="do not fit into a vocabulary of 203"):
        CausalLM(model.model, 4)
    with pytest.raises(ValueError, match="cannot be loaded"):
        CausalLM(str(tmp_path / "nowhere"), 4)


def nano_state(state, width, bias=True):
    """Names of nanoGPT's blocks, as both published repositories have them."""
    names = {
        "ln_1.weight": (width,), "ln_1.bias": (width,), "ln_2.weight": (width,),
        "ln_2.bias": (width,), "attn.c_attn.weight": (3 * width, width),
        "attn.c_attn.bias": (3 * width,), "attn.c_proj.weight": (width, width),
        "attn.c_proj.bias": (width,), "mlp.c_fc.weight": (4 * width, width),
        "mlp.c_fc.bias": (4 * width,), "mlp.c_proj.weight": (width, 4 * width),
        "mlp.c_proj.bias": (width,),
    }  # fmt: skip
    random = torch.Generator().manual_seed(0)
    return {
        f"{state}{name}": 0.1 * torch.randn(shape, generator=random)
        for name, shape in names.items()
    }


def test_a_checkpoint_of_newton_kepler(few_orbits, tmp_path):
    width, block = 8, 10
    state = nano_state("transformer.h.0.", width) | {
        "transformer.wpe.weight": torch.zeros(block, width),
        "transformer.ln_f.weight": torch.ones(width),
        "transformer.ln_f.bias": torch.zeros(width),
        "transformer.h.0.attn.bias": torch.ones(1, 1, block, block),  # a mask, no weight
        "input_embedding.weight": torch.randn(width, 2),
        "input_embedding.bias": torch.zeros(width),
        "output_head.weight": torch.zeros(2, width),
        "output_head.bias": torch.tensor([0.25, -0.5]),
    }
    path = tmp_path / "model.pt"
    torch.save(state, path)
    model = NewtonKepler(path)
    assert model.context_length == block
    # a head of zeros says its bias, whatever it sees
    np.testing.assert_allclose(model.predict(circles(block))[:, -1], [[0.25, -0.5]] * 2)
    torch.save({"model_state_dict": state, "step": 3}, path)
    answers(NewtonKepler(path, context_length=2), few_orbits)
    with pytest.raises(ValueError, match="knows 1 to 10 positions"):
        NewtonKepler(path, context_length=11)
    for prefix in ("module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module."):
        torch.save({"model": {f"{prefix}{name}": value for name, value in state.items()}}, path)
        said = NewtonKepler(path).predict(circles(block))
        np.testing.assert_array_equal(said, model.predict(circles(block)))
    torch.save({"weights": torch.ones(2)}, path)
    with pytest.raises(ValueError, match="holds no GPTCV"):
        NewtonKepler(path)


def inductive_bias_checkpoint(path, bins=50, **changed):
    width, vocabulary, block = 8, bins + 3, 22
    options = {
        "model_type": "gpt", "n_embd": width, "n_layer": 1, "n_head": 2, "bias": True,
        "input_dim": 2, "output_dim": 2, "block_size": block, "mask_id": bins, "dropout": 0.0,
        "input_vocab_size": vocabulary, "output_vocab_size": vocabulary,
        "train_file": pathlib.Path("data") / "obs_train.npy",
    } | changed  # fmt: skip
    bias = torch.zeros(2, vocabulary)
    bias[0, 30], bias[1, 20] = 50.0, 50.0
    state = nano_state("blocks.0.", width) | {
        "embeddings.0.weight": torch.randn(vocabulary, width),
        "embeddings.1.weight": torch.randn(vocabulary, width),
        "input_combiner.weight": torch.randn(width, 2 * width),
        "input_combiner.bias": torch.zeros(width),
        "output_head.weight": torch.zeros(2 * vocabulary, width),
        "output_head.bias": bias.flatten(),
        "pos_emb.weight": torch.randn(block, width),
        "ln_f.weight": torch.ones(width),
        "ln_f.bias": torch.zeros(width),
    }
    state = {f"_orig_mod.{name}": value for name, value in state.items()}  # compiled
    torch.save({"model": state, "model_args": options, "iter_num": 5, "optimizer": {}}, path)
    return path


def test_a_checkpoint_of_inductive_bias_probes(tmp_path):
    path = inductive_bias_checkpoint(tmp_path / "ckpt.pt")
    model = InductiveBiasProbes(path, context_length=10)
    assert model.dt == pytest.approx(0.0189)
    said = model.predict(circles(11, bodies=2))
    assert said.shape == (2, 11, 2, 2)
    # bins of 2 au from -50 on: the middle of number 30 is 11 au, of number 20 is -9 au
    np.testing.assert_allclose(said[:, 9:], np.broadcast_to([11.0, -9.0], (2, 2, 2, 2)), atol=1e-9)
    assert model.predict(circles(11)).shape == (2, 11, 2)
    with pytest.raises(ValueError, match="sees 1 to 10 times"):
        InductiveBiasProbes(path, context_length=11)
    inductive_bias_checkpoint(path, model_type="mamba")
    with pytest.raises(ValueError, match="is a mamba model"):
        InductiveBiasProbes(path)


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("executed",))

    path = tmp_path / "ckpt.pt"
    torch.save({"model": {}, "model_args": Evil()}, path)
    for kind in (InductiveBiasProbes, NewtonKepler):
        with pytest.raises(ValueError, match="no checkpoint that can be read safely"):
            kind(path)
        with pytest.raises(ValueError, match="there is no checkpoint"):
            kind(tmp_path / "nowhere.pt")
