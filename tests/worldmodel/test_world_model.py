"""The model in use: contexts as in training, roll-outs, what can be looked at."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from orbits.units import GM_SUN
from worldmodel.attention import attention_kinds
from worldmodel.checkpoint import RunRecord
from worldmodel.cli import main
from worldmodel.config import TrainConfig
from worldmodel.model import Network, Scales
from worldmodel.probes.errors import acceleration_share
from worldmodel.source import DataFacts
from worldmodel.training import train
from worldmodel.world_model import WorldModel

SMALL = TrainConfig(d_model=16, n_layers=2, n_heads=2, context_length=5, steps=4, batch_tokens=64)


def model_of(config=SMALL, bodies=1):
    """An untrained model in float64."""
    torch.manual_seed(0)
    scales = Scales.of_one(config.model, bodies)
    facts = DataFacts("none", "0", "newton", "relative", 0.008, 1, 20, bodies, 2)
    return WorldModel(
        Network(config.model, scales).double(), RunRecord.of(config, facts, scales, (0.3, 2.0))
    )


def positions_of(orbits=3, times=12, bodies=1):
    shape = (orbits, times, 2) if bodies == 1 else (orbits, times, bodies, 2)
    return np.random.default_rng(0).normal(size=shape)


def test_a_prediction_sees_the_last_positions_alone():
    model, positions = model_of(), positions_of()
    before = model.predict(positions)
    positions[:, 3] += 1
    changed = (model.predict(positions) != before) & np.isfinite(before)
    assert np.nonzero(changed.any(axis=(0, 2)))[0].tolist() == [4, 5, 6, 7]
    assert np.isnan(before[:, :4]).all()


@pytest.mark.parametrize("bodies", [1, 2])
@pytest.mark.parametrize("kind", [*attention_kinds(), "lssar(p=15)"])
def test_a_roll_out_repeats_the_prediction(kind, bodies):
    model, positions = model_of(replace(SMALL, attention=kind), bodies), positions_of(bodies=bodies)
    rolled = model.rollout(positions, 6)
    so_far = positions
    for _ in range(6):
        so_far = np.concatenate((so_far, model.predict(so_far)[:, -1:]), axis=1)
    np.testing.assert_allclose(rolled, so_far[:, 12:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"head": "tokens", "bins": 64, "bin_range": 4.0},
        {"window": 2},
        {"target": "position"},
        {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"},
        {"inputs": "differences", "target": "displacement"},
    ],
    ids=str,
)
def test_evaluation_of_a_run(few_orbits, tmp_path, capsys, options):
    train(few_orbits, replace(SMALL, **options), out=tmp_path / "run")
    out = tmp_path / "evaluation.json"
    paths = [str(tmp_path / "run"), few_orbits, str(out)]
    assert main(["probe", *paths, "--readout", "evaluate"]) == 0
    result = json.loads(out.read_text())
    assert len(result["rollout"]["time"]) == 19
    assert result["rollout"]["time"][0] == pytest.approx(0.008)
    assert result["next_step"]["error"] > 0
    assert result["rollout"]["energy_drift"] > 0
    assert "roll-out" in capsys.readouterr().out


def test_a_perfect_model_drifts_nowhere(few_orbits, monkeypatch):
    """Rolled out by the law itself: the drifts and errors measure the model and nothing else."""
    from worldmodel.probes.errors import rollout_errors
    from worldmodel.source import DatasetSource

    chosen = DatasetSource(few_orbits).read(range(10))
    assert np.allclose(chosen.gm, GM_SUN)
    model = model_of()
    true = chosen.position[:, 5:15].astype(float)
    monkeypatch.setattr("worldmodel.probes.errors.roll_out", lambda *_: true)
    result = rollout_errors(model, chosen, 10)
    assert result["energy_drift"] == 0
    assert result["angular_momentum_drift"] == 0
    assert result["median_error"].max() == 0


def test_the_error_stands_beside_that_of_going_straight_on():
    """On circles of radius 2 that turn by 0.1 rad a step, where all of it is known."""
    from worldmodel.probes.errors import next_step
    from worldmodel.source import Trajectories

    angle = 0.1 * np.arange(12) + np.array([[0.0], [1.0]])
    circle = 2 * np.stack((np.cos(angle), np.sin(angle)), axis=-1)[:, :, None]
    model = model_of()
    model.network.float()
    chosen = Trajectories(model.record.data, circle, circle, np.ones(2), np.arange(2))
    model.predict = lambda positions: 1.01 * np.roll(positions, -1, axis=1)
    found = next_step(model, chosen)
    assert found["error"] == pytest.approx(0.02)
    assert found["relative_error"] == pytest.approx(0.01)
    straight = 2 * (1 - np.cos(0.1))
    assert found["straight_line_error"] == pytest.approx(2 * straight)
    assert found["straight_line_relative_error"] == pytest.approx(straight)


def test_the_share_of_a_target_that_is_acceleration_is_known_of_a_circle():
    turn = 0.1 * np.arange(50)
    circle = np.stack((np.cos(turn), np.sin(turn)), axis=-1)[None]
    assert acceleration_share("residual", circle) == pytest.approx(1)
    # chord 2 sin(θ/2), second difference 4 sin²(θ/2)
    assert acceleration_share("displacement", circle) == pytest.approx(4 * np.sin(0.05) ** 2)
    assert acceleration_share("position", circle) == pytest.approx(16 * np.sin(0.05) ** 4)
    shares = [acceleration_share(f"displacement(inertia={x})", circle) for x in (0, 0.5, 0.9, 1)]
    assert shares == sorted(shares)
