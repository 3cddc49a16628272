"""Trajectories whose law nobody knows go through every command; what needs the law is refused."""

import numpy as np
import pandas as pd
import pytest

import orbits
import symreg
import worldmodel

SMALL = {"d_model": 16, "n_layers": 1, "n_heads": 2, "steps": 6, "batch_tokens": 64}


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Thirty orbits as somebody else would have them: one table, a column for the orbit."""
    made = orbits.generate(orbits=30, samples=48, dtype="float64", seed=1)
    rows = [
        pd.DataFrame({"time": made["time"], "x": p[:, 0], "y": p[:, 1], "run": k})
        for k, p in enumerate(made["position"].values)
    ]
    path = tmp_path_factory.mktemp("unknown") / "x.zarr"
    orbits.from_table(pd.concat(rows), path, orbit="run")
    return path


@pytest.fixture(scope="module")
def model(imported):
    return worldmodel.train(imported, context_length=2, **SMALL)


def test_a_model_of_it_is_trained_and_evaluated(imported, model):
    found = worldmodel.evaluate(model, imported, steps=5)
    assert found.rollout.energy_drift is None
    assert np.isfinite(found.next_step.error)
    with pytest.raises(ValueError, match="Leave --kicked out"):
        worldmodel.train(imported, context_length=2, kicked=0.5, **SMALL)


@pytest.mark.parametrize("control", ["none", "untrained"])
def test_a_probe_leaves_out_what_needs_the_truth(imported, model, control):
    forces = worldmodel.probe(model, imported, control=control)
    assert forces.law == "unknown"
    assert "true_a_x" not in forces.table
    assert "r2" not in forces.metrics
    assert forces.metrics["exponent"] is not None


@pytest.mark.parametrize(
    "options", [{"states": "kicked"}, {"control": "injected"}, {"readout": "kick_response"}]
)
def test_what_needs_the_law_says_so(imported, model, options):
    with pytest.raises(ValueError, match="is not known"):
        worldmodel.probe(model, imported, **options)


def test_the_oracle_beside_a_model(imported):
    measured = orbits.measure_forces(imported)
    law = symreg.recover(measured, engine="projection", seeds=1, null=False)
    assert law.exponent.value == pytest.approx(-2, abs=0.01)
    assert "unknown" not in law.explanation
