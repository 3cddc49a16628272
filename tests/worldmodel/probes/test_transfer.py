"""Fine-tuning on labels of force: what comes out, what stays fixed, and what is refused."""

import numpy as np
import pytest
import torch

from orbits.force_samples import read_force_samples
from worldmodel import probe
from worldmodel.predictors.backbone import Stream
from worldmodel.probes.finetune import fine_tune
from worldmodel.world_model import WorldModel

SMALL = {"labelled": 300, "few": 40, "points": 200, "steps": 300, "batch_tokens": 512}


def transferred(run, data, tmp_path, control="none", states="orbit", **options):
    out = tmp_path / "forces.parquet"
    small = SMALL | options
    forces = probe(run, data, readout="transfer", control=control, states=states, transfer=small)
    forces.write(out)
    return forces.metrics, *read_force_samples(out)


def test_a_model_learns_to_say_the_force(trained, newton_orbits, tmp_path):
    metrics, table, attributes = transferred(trained, newton_orbits, tmp_path)
    assert metrics["r2_size"] > 0.9
    assert metrics["exponent"]["value"] == pytest.approx(2, abs=0.3)
    assert len(table) == 200
    assert table["orbit"].min() >= 360, "the last 40 orbits have two labels each"
    assert attributes["readout"] == "transfer"
    # The size of a force has no direction: it is pointed at the centre.
    assert metrics["non_central"] == pytest.approx(0, abs=1e-6)


def test_the_law_s_own_labels_are_the_law(trained, newton_orbits, tmp_path):
    metrics, *_ = transferred(trained, newton_orbits, tmp_path, control="injected")
    assert metrics["r2_size"] == pytest.approx(1)
    assert metrics["exponent"]["value"] == pytest.approx(2, abs=1e-6)


def test_a_frozen_untrained_network_says_less_than_a_trained_one(trained, newton_orbits, tmp_path):
    options = {"frozen": True, "target": "vector", "steps": 150}
    known, *_ = transferred(trained, newton_orbits, tmp_path, **options)
    nothing, *_ = transferred(trained, newton_orbits, tmp_path, control="untrained", **options)
    assert nothing["r2"] < known["r2"]
    assert known["non_central"] > 0.001, "the components are the head's own"


def test_tokens_and_pairs_are_fine_tuned_too(some_run, make_orbits, few_orbits, tmp_path):
    small = {"labelled": 20, "few": 10, "points": 50, "steps": 3}
    run = some_run(few_orbits, head="tokens", bins=50, context_length=4)
    assert len(transferred(run, few_orbits, tmp_path, **small)[1]) == 50
    data = make_orbits(tmp_path / "pairs.zarr", system="barycentric", mass=(0.5, 2.0))
    run = some_run(data, layout="interleaved", context_length=3)
    _, table, _ = transferred(run, data, tmp_path, **small)
    force, reaction = (
        table[[f"m{body}"]].to_numpy() * table[[f"ax{body}", f"ay{body}"]] for body in (1, 2)
    )
    np.testing.assert_allclose(force.to_numpy(), -reaction.to_numpy(), rtol=1e-9)


def test_a_frozen_network_is_not_changed_and_the_original_never_is(some_run, few_orbits):
    network = WorldModel.load(some_run(few_orbits, context_length=3)).network
    before = {name: value.clone() for name, value in network.state_dict().items()}
    positions = torch.randn(8, 3, 1, 2, generator=torch.Generator().manual_seed(0))

    def batch(_step):
        return positions, torch.ones(8, 3, 1)

    def error_of(tuned):
        return (tuned(positions) - 1).square().mean()

    for frozen in (True, False):
        start = fine_tune(Stream(network), batch, 1, 1, 1e-12, 1e-12, frozen, seed=0)
        tuned = fine_tune(Stream(network), batch, 1, 60, 1e-2, 1e-2, frozen, seed=0)
        same = [
            torch.equal(before[name], value)
            for name, value in tuned.backbone.network.state_dict().items()
            if name in before
        ]
        assert all(same) == frozen
        assert all(torch.equal(before[k], v) for k, v in network.state_dict().items())
        assert error_of(tuned) < 0.5 * error_of(start)
