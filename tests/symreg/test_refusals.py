"""Formulas that keep sympy busy for ever, and devices that are not there: one line, exit 2."""

import numpy as np
import pandas as pd
import pytest
import sympy
import torch

from symreg import compare, recover
from symreg.engines.pysr import read_hall_of_fame
from symreg.formulas.compare import UNDECIDED

HOSTILE = [
    "k*(((r+1)**64)**64)**64", "9**9**9*r", "1" * 400 + "*r", "2**sqrt(-1)*r",
    "(" * 2000 + "r" + ")" * 2000, "expand((r+1)**64)", "power_law(n=1e300)",
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    r = np.linspace(0.3, 3, 40)
    pd.DataFrame({"r": r, "F": 1 / r**2}).to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


@pytest.mark.parametrize("formula", HOSTILE)
def test_hostile_formulas_are_refused_wherever_they_are_typed(formula, table, tmp_path, refused):
    out = str(tmp_path / "out.json")
    own = ["--target", "F", "--features", "r", "--engine", "projection", "--seeds", "1"]
    refused("symreg", *["compare", formula, "newton"])
    refused("symreg", *["compare", "newton", formula])
    refused("symreg", *["recover", table, out, *own, f"--law={formula}"])
    refused("symreg", *["recover", table, out, *own, f"--guesses={formula}"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]


def test_a_comparison_that_takes_too_long_is_undecided(monkeypatch, table):
    def for_ever(*_, **__):
        while True:
            pass

    monkeypatch.setattr("symreg.formulas.compare.decide", for_ever)
    assert compare("1/r", "1/r**2", limit=0.05).verdict == UNDECIDED
    monkeypatch.setattr("symreg.recovery.finding.COMPARING", 0.05)
    options = {"seeds": 1, "null": False, "engine": "projection"}
    found = recover(table, target="F", features="r", law="newton", **options)
    assert found.verdict == UNDECIDED


def test_formulas_in_a_hall_of_fame_that_are_none_of_ours_are_left_out(tmp_path, capsys):
    no_numbers = ["Inf", "NaN", "-Inf", "r / Inf"]
    too_much = ["inv(" * 400 + "r" + ")" * 400, "((r+1)^64)^64", "r\x00"]
    equations = ["1/r^2", "r^-157.9", *no_numbers, *too_much]
    path = tmp_path / "hall_of_fame.csv"
    pd.DataFrame({"Complexity": 1, "Loss": 1.0, "Equation": equations}).to_csv(path, index=False)
    r = sympy.Symbol("r", positive=True)
    assert read_hall_of_fame(path, ["r"]) == [r**-2]
    said = capsys.readouterr().err
    assert said == "PySR: 8 of 9 formulas cannot be read here and were dropped, such as r^-157.9\n"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_run_on_a_device_that_is_not_there_is_refused_before_any_stage(tmp_path, refused):
    arguments = ["run", "--accelerator", "cuda", "--out", str(tmp_path / "run")]
    said = refused("symreg", *arguments)
    assert "--accelerator is cuda, but there is no CUDA device" in said
    assert not list(tmp_path.iterdir())
