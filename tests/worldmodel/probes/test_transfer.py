"""Fine-tuning on labels of force: what comes out, what stays fixed, and what is refused."""

import numpy as np
import pytest
import torch

from orbits.force_samples import ForceSamples
from worldmodel import probe
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.finetune import fine_tune
from worldmodel.probes.probe import as_model
from worldmodel.probes.readouts.transfer import Transfer, _split

SMALL = {"labelled": 300, "few": 40, "points": 200, "steps": 300, "batch_tokens": 512}


def transferred(run, data, tmp_path, control="none", states="orbit", **options):
    out = tmp_path / "forces.parquet"
    small = SMALL | options
    forces = probe(run, data, readout=Transfer(**small), control=control, states=states)
    forces.write(out)
    read = ForceSamples.read(out)
    return forces.metrics, read.table, read.attributes


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


def test_a_frozen_untrained_network_says_less_than_a_trained_one(
    trained_on_coordinates, newton_orbits, tmp_path
):
    options = {"learner": "head", "target": "vector", "steps": 150}
    run = trained_on_coordinates
    known, *_ = transferred(run, newton_orbits, tmp_path, **options)
    nothing, *_ = transferred(run, newton_orbits, tmp_path, control="untrained", **options)
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


def test_of_the_network_only_the_part_named_is_trained(some_run, few_orbits):
    for part in ("network", "last_block", "head"):
        backbone = as_model(some_run(few_orbits, n_layers=2)).backbone("this")
        before = {name: weight.clone() for name, weight in backbone.named_parameters()}
        x, labels = torch.randn(4, 3, 1, 2), torch.randn(4, 3, 1)
        fine_tune(backbone, lambda _, x=x, labels=labels: (x, labels), 1, 3, part, 0)
        moved = {n for n, w in backbone.named_parameters() if not torch.equal(w, before[n])}
        last = {name for name in before if name.startswith("network.blocks.1.")}
        assert bool(moved & last) == (part != "head")
        assert bool(moved - last) == (part == "network")


def test_a_forest_knows_the_force_where_it_has_labels_and_not_farther(
    trained, newton_orbits, tmp_path
):
    """Of the size and of the vector; with labels of other states nothing is learned."""
    held_out = {"few_labels": 0, "learner": "forest"}
    for target in ("magnitude", "vector"):
        told, *_ = transferred(trained, newton_orbits, tmp_path, target=target, **held_out)
        assert told["r2_size"] > 0.99
        assert told["median_relative_error"] < 0.02 < 0.3 < told["error_twice"]
    options = held_out | {"target": "vector", "shuffled": True}
    nothing, *_ = transferred(trained, newton_orbits, tmp_path, **options)
    assert nothing["r2"] < 0.1
    right, *_ = transferred(trained, newton_orbits, tmp_path, control="injected", **options)
    assert right["error_tenfold"] < 1e-6


def test_the_two_kinds_of_labels_are_on_different_orbits(some_run, newton_orbits):
    subject = Experiment(
        as_model(some_run(newton_orbits)), newton_orbits, ProbeConfig(readout="transfer")
    )
    full, few = (part.trajectories.index for part in _split(Transfer(**SMALL), subject))
    assert (len(full), len(few)) == (300, 40)
    assert not set(full) & set(few)
