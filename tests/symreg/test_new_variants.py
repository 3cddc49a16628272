"""An engine and figures of one's own: one file each, and nothing else is touched."""

import numpy as np
import pandas as pd
import pytest

import symreg.engines
from symreg import recover
from symreg.cli import main
from symreg.engines import ENGINES

ENGINE = """
import numpy as np
import sympy

from symreg.engines.base import Engine, pareto_front


class Squares(Engine):
    name = "squares"

    def search(self, X, y, names, seed, budget):
        r = sympy.Symbol("r", positive=True)
        found = [sympy.Float(np.median(y * X[:, 0] ** n)) * r**-n for n in (1, 2, 3)]
        return pareto_front(found, X, y, names, seed, self.name)
"""

STUDY_FIGURE = """
from matplotlib.figure import Figure

from symreg import StudyFigure


def draw(frame):
    figure = Figure()
    figure.subplots().plot(frame["seed"], frame["orbit.r2"], "o")
    return {"r2_alone": (figure, "R\u00b2 by seed.")}


FIGURE = StudyFigure(draw)
"""


def test_a_new_engine_is_found_and_searches(add_variant, tmp_path, capsys):
    add_variant(symreg.engines, "squares", ENGINE)
    assert "squares" in ENGINES
    r = np.geomspace(0.3, 3, 200)
    table = pd.DataFrame({"r": r, "a": 5 / r**2})
    found = recover(table, features=("r",), target="a", engine="squares")
    assert found.engine == "squares"
    assert found.predict({"r": 2.0}) == pytest.approx(1.25, rel=1e-6)
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--features", "r", "--target", "a", "--engine", "squares"]
    assert main(["recover", str(tmp_path / "t.csv"), str(tmp_path / "law.json"), *options]) == 0
    assert "squares" in capsys.readouterr().err


@pytest.mark.slow
def test_a_new_figure_of_a_study_is_drawn_where_the_study_asks_for_it(tmp_path):
    (tmp_path / "alone.py").write_text(STUDY_FIGURE)
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nquestion: does it draw?\nfigure: alone.py\n"
        "base: {orbits: 30, steps: 2, search_seeds: 2, sources: [orbit], controls: []}\n"
        "grid: {seed: [0]}\n"
    )
    out = tmp_path / "out"
    assert main(["study", str(tmp_path / "mine.yaml"), "--out", str(out)]) == 0
    assert (out / "figures" / "r2_alone.png").stat().st_size > 1000
