"""From tables to verdicts: every law as its own, Newton only where it is, nothing from nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from orbits.command_line import main as run_command
from orbits.files import read_json, read_sealed
from orbits.force_samples import ForceSamples
from symreg.cli import COMMANDS
from symreg.fit.samples import Samples
from symreg.recovery import finding
from symreg.recovery.config import RecoverConfig
from symreg.recovery.force_field import radial_field
from symreg.recovery.problem import Problem
from symreg.recovery.recover import recover, solve
from symreg.recovery.references import of_field
from symreg.recovery.result import Recovery

LAWS = ("newton", "hooke", "logarithmic", "power_law(n=3)", "yukawa(length=1)")
FAST = RecoverConfig()


def gate(found, name):
    """The gate of that name."""
    (one,) = (g for g in found.gates if g.name == name)
    return one


@pytest.mark.few(1)
@pytest.mark.parametrize("law", LAWS)
def test_each_law_is_recovered_as_itself(law, make_force_table):
    # 1 % noise and 1 % of smooth error, as fields of trained models have
    table, attributes = make_force_table(law, seed=31, noise=0.01, bias=0.01)
    found = recover(ForceSamples(table, attributes), FAST)
    assert found.recovered, found.explanation
    assert found.verdict == "up_to_scale"
    assert found.reference == law
    # the smooth error moves the constant by at most about its size
    assert found.constant.relative_error == pytest.approx(0, abs=0.03)
    assert found.agreement.resamples == 100
    assert not found.nulls["permuted"].recovered
    assert found.nulls["permuted"].verdict == "different"
    assert law.split("(")[0] in found.explanation
    assert "<math" in found.mathml or "<m" in found.mathml


@pytest.mark.few(1)
@pytest.mark.parametrize("law", [law for law in LAWS if law != "newton"])
def test_newton_is_not_claimed_on_other_laws(law, make_force_table):
    table, attributes = make_force_table(law, seed=32, noise=0.01, bias=0.01)
    samples = ForceSamples(table, attributes)
    found = recover(samples, FAST, law="newton", null=False)
    assert not found.recovered
    assert found.verdict == "different"
    assert "not count as recovered" in found.explanation


def test_the_injected_truth_is_recovered_exactly(make_force_table):
    table, attributes = make_force_table("newton", seed=33)
    found = recover(ForceSamples(table, attributes), FAST)
    assert found.recovered
    assert abs(found.constant.relative_error) < 1e-6
    assert found.constant.low <= found.constant.truth * (1 + 1e-6)
    assert found.exponent.value == pytest.approx(-2, abs=1e-6)
    assert found.exponent.truth == pytest.approx(-2, abs=1e-6)
    assert {"exponent of r", "constant GM"} < {gate.name for gate in found.gates}
    assert "4π²" in found.explanation


@pytest.mark.slow
@pytest.mark.parametrize("n", [1.7, 2.05])
def test_an_exact_model_of_another_power_is_recovered(n, make_force_table):
    """The error floor of a model's field forgives 5/3 and 2, and its own exponent does not."""
    table, attributes = make_force_table(f"power_law(n={n})", seed=37, orbits=60, bias=3e-4)
    found = recover(ForceSamples(table, attributes), FAST, null=False, seeds=1)
    assert found.recovered, found.explanation
    assert abs(found.constant.relative_error) < 1e-3


def test_a_varying_gm_becomes_a_feature(make_force_table):
    table, attributes = make_force_table("newton", seed=34, noise=0.01, gm_spread=0.7)
    found = recover(ForceSamples(table, attributes), FAST)
    assert found.recovered, found.explanation
    assert found.exponents["gm"].value == pytest.approx(1, abs=0.02)
    assert found.constant.name == "scale"
    assert found.constant.value == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_a_table_without_a_law_is_compared_with_every_reference(make_force_table):
    table, attributes = make_force_table("logarithmic", seed=35, noise=0.01)
    found = recover(ForceSamples(table, attributes | {"law": None}), FAST)
    assert found.recovered
    assert found.reference == "logarithmic"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["permuted", "noise", "nonsense"])
def test_nothing_is_never_called_a_law(kind, make_force_table):
    table, _ = make_force_table("newton", seed=41, noise=0.01, orbits=20)
    field = radial_field(table).samples
    known = of_field(field.names, {}, None)
    rng = np.random.default_rng(0)
    y = {
        "permuted": field.y[rng.permutation(len(field.y))],
        "noise": np.exp(rng.normal(size=len(field.y))),
        "nonsense": rng.normal(size=len(field.y)) * np.sin(40 * field.X[:, 0]),
    }[kind]
    config = RecoverConfig(seeds=2, null=False)
    found = solve(Problem(replace(field, y=y), known, False, len(y)), config)
    assert not found.recovered
    assert found.verdict == "different", found.explanation


def test_a_field_that_is_not_central_is_no_central_law(make_force_table):
    table, attributes = make_force_table("newton", seed=36)
    x, y, r = (table[c].to_numpy() for c in "xyr")
    swirl = 0.4 * 39.478 / r**3
    table["a_x"] += -swirl * y
    table["a_y"] += swirl * x
    table["a_norm"] = np.hypot(table["a_x"], table["a_y"])
    found = recover(ForceSamples(table, attributes), FAST)
    assert found.verdict == "up_to_scale"  # the radial part alone would pass
    assert not found.recovered
    assert not gate(found, "central").passed
    assert found.non_central == pytest.approx(0.4 / np.hypot(1, 0.4), rel=1e-4)


def test_a_repulsion_is_not_an_attraction(make_force_table):
    table, attributes = make_force_table("newton", seed=37)
    table[["a_x", "a_y"]] *= -1
    assert not recover(ForceSamples(table, attributes), FAST).recovered


def run(*arguments):
    return run_command("symreg", COMMANDS, [str(a) for a in arguments])


def test_the_command_writes_the_result(tmp_path, make_force_table, capsys):
    table, attributes = make_force_table("hooke", seed=39, noise=0.01)
    ForceSamples(table, attributes).write(tmp_path / "forces.parquet")
    code = run(
        "recover", tmp_path / "forces.parquet", tmp_path / "law.json", "--engine", "rational",
    )  # fmt: skip
    assert code == 0
    assert "hooke" in capsys.readouterr().out
    result = read_json(tmp_path / "law.json")
    for name in (
        "reference", "verdict", "recovered", "expression", "raw_expression", "constant",
        "exponent", "parameters", "r2", "agreement", "nulls", "engine", "engine_reason",
        "pareto_front", "rows", "groups", "explanation", "configuration", "versions", "seconds",
    ):  # fmt: skip
        assert name in result
    assert {"name", "value", "low", "high", "truth", "relative_error"} <= set(result["constant"])
    assert Recovery.read(tmp_path / "law.json").to_dict() == read_sealed(tmp_path / "law.json")
    assert {"expression", "complexity", "loss", "score", "seed"} <= set(result["pareto_front"][0])
    assert result["rows"] == len(table)
    assert result["groups"] == 100


def test_a_few_repelled_rows_are_left_out_and_reported(make_force_table):
    table, _ = make_force_table("newton", seed=43)
    table.loc[:9, ["a_x", "a_y"]] *= -1  # 10 of 1000
    field = radial_field(table)
    assert len(field.samples.y) == 990
    assert "10 of 1000 rows repel" in field.notes[0]
    table.loc[:99, ["a_x", "a_y"]] *= -1  # more than a few are part of the field
    assert len(radial_field(table).samples.y) == 1000


QUICK = RecoverConfig(engine="projection", seeds=1)


def test_a_formula_that_predicts_nothing_is_no_law():
    """c·r has the form of Hooke's law; where it explains a third of what varies, it is none."""
    rng = np.random.default_rng(0)
    r = np.exp(rng.uniform(np.log(0.28), np.log(3), 600))
    # log r varies by 2.37²/12 = 0.47, the noise by 1: R² = 0.32
    y = r * np.exp(rng.standard_normal(600))
    samples = Samples(r[:, None], y, ("r",), np.arange(600) // 6)
    problem = Problem(samples, of_field(("r",), {}, "hooke"), True, 600)
    found = solve(problem, QUICK, None)
    assert found.r2 < 0.5
    assert found.verdict == "different"


def test_a_null_that_finds_a_law_leaves_none_to_claim(make_force_table, monkeypatch):
    table, attributes = make_force_table("newton", seed=44, noise=0.01)
    assert recover(ForceSamples(table, attributes), QUICK).recovered
    monkeypatch.setattr(Samples, "permuted", lambda self, rng: self)
    found = recover(ForceSamples(table, attributes), QUICK)
    assert found.nulls["permuted"].recovered
    assert [gate.name for gate in found.gates if not gate.passed] == ["permuted targets"]
    assert not found.recovered


def test_no_formula_is_fitted_to_held_out_groups(make_force_table, monkeypatch):
    """A fifth of the orbits, whole; and it is on them that R² is measured."""
    searched, measured = [], []
    search, r_squared = finding.select, finding.r_squared

    def watched_search(samples, how):
        searched.append(samples)
        return search(samples, how)

    def watched_r_squared(found, true):
        measured.append(true)
        return r_squared(found, true)

    monkeypatch.setattr(finding, "select", watched_search)
    monkeypatch.setattr(finding, "r_squared", watched_r_squared)
    table, attributes = make_force_table("newton", seed=45, noise=0.01)
    recover(ForceSamples(table, attributes), QUICK, null=False)
    assert len(np.unique(searched[0].groups)) == 80
    assert len(searched[0].y) == 800
    assert len(measured[0]) == 200
    assert not set(searched[0].y) & set(measured[0])


def test_a_law_whose_file_cannot_be_written_is_printed(tmp_path, monkeypatch, capsys):
    r = np.linspace(1, 2, 30)
    pd.DataFrame({"F": 3 / r**2, "r": r}).to_csv(tmp_path / "t.csv", index=False)

    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "law.json"))

    monkeypatch.setattr(Recovery, "write", full)
    options = ["--target", "F", "--features", "r", "--form", "k/r**2"]
    paths = [str(tmp_path / name) for name in ("t.csv", "law.json")]
    assert run_command("symreg", COMMANDS, ["recover", *paths, *options]) == 2
    said = capsys.readouterr().err
    assert "3/r^2" in said or "3.0/r^2" in said
    assert "No space left" in said.splitlines()[-1]
