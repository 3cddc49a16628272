"""Which masses do a model's accelerations imply? Weighed body by body."""

import pytest

import orbits
import symreg
import worldmodel
from symreg.cli import main
from worldmodel.cli import main as worldmodel_main

SMALL = {"d_model": 16, "n_layers": 1, "n_heads": 2, "steps": 4, "held_out_share": 0.5}
MADE = {
    "system": "nbody", "orbits": 4, "planets": 2, "samples": 300, "dt": 0.005, "dtype": "float64",
    "companion_mass": (1e-3, 3e-3), "semi_major_axis": (0.5, 3.0), "hill_spacing": 6,
}  # fmt: skip


@pytest.fixture(scope="module")
def systems():
    return orbits.generate(**MADE)


@pytest.fixture(scope="module")
def model(systems):
    return worldmodel.train(systems, context_length=2, **SMALL)


def test_the_masses_of_the_injected_law_come_back(systems, model):
    forces = worldmodel.probe(model, systems, control="injected")
    assert forces.metrics["r2"] > 0.999999
    unseen = int(forces.table["orbit"].min())
    assert unseen == 2  # the network trained on the first half
    found = symreg.weigh(forces)
    assert found.law == "newton"
    for mass, truth in zip(found.masses, systems["mass"].values[unseen], strict=True):
        assert mass.weighable
        # what Numerov leaves of a step of 0.005 yr is 1e-9 of the pull of the star in the median,
        # and the planets pull a thousandth as hard; at perihelion it is a hundred times more
        assert mass.value == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize("control", ["untrained", "straight_line"])
def test_a_model_without_a_law_has_no_masses(systems, model, control):
    found = symreg.weigh(worldmodel.probe(model, systems, control=control))
    assert found.law == "none"
    assert not found.central
    assert not any(mass.weighable for mass in found.masses)


def test_two_visible_bodies_and_measured_forces_are_weighed_too(systems):
    pair = orbits.generate(system="barycentric", orbits=2, samples=200, dtype="float64", seed=3)
    found = symreg.weigh(orbits.measure_forces(pair))
    true = pair["mass"].values[0]
    assert [m.value for m in found.masses] == pytest.approx(list(true), rel=1e-4)
    assert found.momentum.unbalanced is not None
    measured = symreg.weigh(orbits.measure_forces(systems), orbit=3)
    truth = systems["mass"].values[3]
    assert [m.value for m in measured.masses] == pytest.approx(list(truth), rel=1e-3)


def test_the_commands(systems, model, tmp_path, refused):
    data, folder, table = tmp_path / "d.zarr", tmp_path / "model", tmp_path / "forces.parquet"
    orbits.generate(data, **MADE)
    model.save(folder)
    probe = ["probe", str(folder), str(data), str(table)]
    assert worldmodel_main([*probe, "--control", "injected"]) == 0
    assert main(["weigh", str(table), str(tmp_path / "masses.json")]) == 0
    assert symreg.Weighing.read(tmp_path / "masses.json").law == "newton"
    orbits.measure_forces(orbits.generate(orbits=2, samples=64)).write(tmp_path / "one.parquet")
    for words, message in (
        (["one.parquet"], "the table shows one body"),
        (["forces.parquet", "--orbit", "9"], "--orbit 9 is not in the table"),
        (["forces.parquet", "--relativity", "einstein"], "needs velocities"),
        (["forces.parquet", "--reference", "sun"], "is not one of"),
    ):
        said = refused("symreg", "weigh", tmp_path / words[0], tmp_path / "x.json", *words[1:])
        assert message in said
