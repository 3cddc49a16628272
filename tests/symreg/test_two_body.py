"""Masses as features: F = G m1 m2 / r^2 between two bodies, and G M / r^2 about a central mass."""

import numpy as np
import pandas as pd
import pytest

from orbits.command_line import main as run_command
from orbits.files import read_json
from orbits.force_samples import ForceSamples
from orbits.units import G
from symreg.cli import COMMANDS
from symreg.recovery.config import RecoverConfig
from symreg.recovery.force_field import radial_field
from symreg.recovery.problem import of_force_samples
from symreg.recovery.recover import recover

FAST = RecoverConfig(null=False)
ATTRIBUTES = {
    "readout": "implied",
    "states": "orbit",
    "model": {"kind": "synthetic"},
    "law": "newton",
    "dt": 0.008,
}


def gate(found, name):
    """The gate of that name."""
    (one,) = (g for g in found.gates if g.name == name)
    return one


def pairs(seed=0, noise=0.01, orbits=120, rows=8, masses="both", source=lambda m1, m2: m2):
    """Force samples of two bodies, as a probe writes them: orbits with masses of their own.

    `masses` says which vary (both, second, neither), `source` the mass that attracts the first.
    """
    rng = np.random.default_rng(seed)
    m1, m2 = np.exp(rng.uniform(np.log(0.1), 0, (2, orbits)))
    if masses != "both":
        m1[:] = 0.4
    if masses == "neither":
        m2[:] = 0.7
    orbit = np.repeat(np.arange(orbits), rows)
    m1, m2 = m1[orbit], m2[orbit]
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), orbit.size))
    angle = rng.uniform(0, 2 * np.pi, orbit.size)
    line = r[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    first = -G * (source(m1, m2) / r**3)[:, None] * line
    second = -first * (m1 / m2)[:, None]
    for a in (first, second):
        a += noise * np.linalg.norm(a, axis=1)[:, None] * rng.standard_normal(a.shape)
    share = (m2 / (m1 + m2))[:, None]
    columns = {"orbit": orbit, "time": np.tile(0.008 * np.arange(rows), orbits), "r": r}
    columns |= {"m1": m1, "m2": m2, "a_norm": np.hypot(*first.T)}
    for i, axis in enumerate("xy"):
        columns |= {axis: line[:, i], f"a_{axis}": first[:, i]}
        columns |= {f"{axis}1": (share * line)[:, i], f"{axis}2": ((share - 1) * line)[:, i]}
        columns |= {f"a{axis}1": first[:, i], f"a{axis}2": second[:, i]}
    table = pd.DataFrame(columns)
    table["r"] = np.hypot(table["x"], table["y"])
    return table


def test_the_force_between_two_bodies_is_found_from_force_samples(tmp_path):
    path, out = tmp_path / "forces.parquet", tmp_path / "law.json"
    ForceSamples(pairs(seed=41), ATTRIBUTES).write(path)
    options = ["--no-null"]
    run_command("symreg", COMMANDS, ["recover", str(path), str(out), *options])
    found = read_json(out)
    assert found["recovered"], found["explanation"]
    assert found["reference"] == "newton"
    assert {g["name"]: g for g in found["gates"]}["third law"]["passed"]
    assert found["constant"]["name"] == "G"
    # 960 rows of 1 % noise: 0.03 % statistical
    assert found["constant"]["value"] == pytest.approx(G, rel=0.005)
    for name, truth in {"r": -2, "m1": 1, "m2": 1}.items():
        exponent = found["exponents"][name]
        assert exponent["low"] <= truth <= exponent["high"]
        assert exponent["truth"] == pytest.approx(truth)


@pytest.mark.slow
def test_action_equals_reaction_or_there_is_no_law():
    table = pairs(seed=42)
    found = recover(ForceSamples(table, ATTRIBUTES), FAST)
    assert found.recovered, found.explanation
    # both accelerations have noise of 1 % in each of two components: sqrt(2) * sqrt(2) %
    assert radial_field(table).third_law == pytest.approx(0.02, rel=0.2)
    table[["ax2", "ay2"]] *= 0.5
    found = recover(ForceSamples(table, ATTRIBUTES), FAST)
    assert not gate(found, "third law").passed
    assert not found.recovered
    assert "third law" in found.explanation


def test_one_mass_that_varies_is_a_feature_and_none_is_a_plain_field():
    field = radial_field(pairs(masses="second"))
    assert field.samples.names == ("r", "m2")
    found = recover(ForceSamples(pairs(seed=44, masses="second"), ATTRIBUTES), FAST)
    assert found.recovered, found.explanation
    assert found.constant.value == pytest.approx(G, rel=0.005)
    assert found.constant.truth == pytest.approx(G)
    field = radial_field(pairs(masses="neither"))
    assert field.samples.names == ("r",)
    assert field.samples.target == "a"
    assert field.constants["gm"] == pytest.approx(0.7 * G)


@pytest.mark.few(1)
@pytest.mark.parametrize("column", ["mass", "gm"])
def test_a_central_mass_that_varies_by_orbit(column, make_force_table):
    table, attributes = make_force_table("newton", seed=45, noise=0.02, gm_spread=1.1)
    if column == "mass":
        table["mass"] = table.pop("gm") / G
    found = recover(ForceSamples(table, attributes), FAST)
    assert found.recovered, found.explanation
    assert found.constant.value == pytest.approx(G if column == "mass" else 1.0, rel=0.03)
    exponent = found.exponents[column]
    assert exponent.low <= 1 <= exponent.high
    assert exponent.high - exponent.low < 0.1


@pytest.mark.parametrize(("reaction", "passes"), [(0.86, True), (0.84, False), (1.16, False)])
def test_the_third_law_may_be_broken_by_the_margin_alone(reaction, passes):
    table = pairs(noise=0.0)
    table[["ax2", "ay2"]] *= reaction
    (found,) = of_force_samples(ForceSamples(table, ATTRIBUTES), RecoverConfig()).gates
    assert (found.name, found.passed) == ("third law", passes)
