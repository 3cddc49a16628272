"""What long work says: a bar in a notebook, gone at its end; lines to a function; or nothing."""

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient

import orbits
import symreg
import worldmodel
from orbits import progress

SMALL = {"steps": 4, "context_length": 2, "d_model": 16, "n_heads": 2}
X = np.linspace(1, 2, 40)
TABLE = pd.DataFrame({"x": X, "y": 3 * X**2})
QUICK = {"target": "y", "features": "x", "time_limit": 2, "null": False}


def work(**options):
    """All functions that take long, small."""
    data = orbits.generate(orbits=20, samples=32, simulator="kepler", **options)
    model = worldmodel.train(data, **SMALL, **options)
    worldmodel.probe(model, data, **options)
    symreg.recover(TABLE, **QUICK, **options)


def test_without_a_terminal_or_a_notebook_nothing_is_said(capfd):
    work()
    work(progress=False)
    assert capfd.readouterr() == ("", "")


def test_a_bar_is_shown_where_one_is_wanted(capfd):
    work(progress=True)
    said = capfd.readouterr().err
    for what in ("generate", "train", "probe", "recover"):
        assert f"{what}:" in said


def test_a_notebook_shows_one_bar_at_a_time_and_takes_it_away(capfd, monkeypatch):
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    with progress.told(None, "run", print) as say:
        say("a step")
        work()
    said = capfd.readouterr()
    assert "run: a step" in said.err
    assert "train" not in said.err
    assert said.err.rstrip(" ").endswith("\r")
    assert said.out == ""


def test_a_function_is_given_the_lines(capfd):
    lines = []
    worldmodel.train(
        orbits.generate(orbits=20, samples=32, simulator="kepler"),
        progress=lines.append, **SMALL,
    )  # fmt: skip
    symreg.recover(TABLE, progress=lines.append, **QUICK)
    assert any("step 4 of 4" in line for line in lines)
    assert any("search 40 rows" in line for line in lines)
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_a_kernel_shows_a_bar_and_leaves_nothing():
    cells = [
        "import orbits, worldmodel\ndata = orbits.generate(orbits=20, samples=32)",
        f"model = worldmodel.train(data, **{SMALL})",
        "forces = worldmodel.probe(model, data)",
        f"model = worldmodel.train(data, progress=False, **{SMALL})",
    ]
    made = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    seen = []

    class Client(NotebookClient):
        def process_message(self, message, *rest):
            seen.append(message)
            return super().process_message(message, *rest)

    Client(made, timeout=300, kernel_name="python3").execute()
    shown = [each["content"]["data"] for each in seen if each["msg_type"] == "display_data"]
    assert [each["text/plain"].split(":")[0] for each in shown] == ["generate", "train", "probe"]
    left = [output for cell in made.cells for output in cell.outputs]
    assert all(output.data == {"text/plain": ""} for output in left)
    assert made.cells[3].outputs == []
