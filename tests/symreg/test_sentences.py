"""What a report says in sentences: read-outs, what decided the verdict, the command again."""

import shlex
import subprocess

import numpy as np
import pytest

from orbits.command_line import Command, main
from orbits.options import with_options
from symreg.experiments.config import QUESTIONS as ASKED
from symreg.experiments.config import RunConfig
from symreg.experiments.figures.residuals import broken_at_gaps
from symreg.experiments.sentences import (
    QUESTIONS,
    command_of,
    label,
    readout_tables,
    turning,
    undominated,
)
from symreg.recovery.result import FrontPoint, Gate, Quantity
from symreg.recovery.words import interval


@pytest.mark.parametrize(
    ("value", "low", "high", "written"),
    [
        (39.4, 38.352, 40.449, "39.40 [38.35, 40.45]"),
        (-1.9974, -2.0419, -1.953, "-1.9974 [-2.0419, -1.9530]"),
        (-8.0297, -23.036, 5.1914, "-8.0 [-23.0, 5.2]"),
        (4321.0, 4100.0, 4500.0, "4321 [4100, 4500]"),
        (39.4784176, 39.4784174, 39.4784178, "39.478 [39.478, 39.478]"),
        (6.674e-11, 6.67e-11, 6.68e-11, "6.674e-11 [6.67e-11, 6.68e-11]"),
        (2e30, 1.9e30, 2.1e30, "2e+30 [1.9e+30, 2.1e+30]"),
        (2.0, 2.0, 2.0, "2 [2, 2]"),
        (2.5, None, None, "2.5"),
        (None, None, None, "none"),
    ],
)
def test_an_interval_has_the_digits_that_it_bears(value, low, high, written):
    assert interval(Quantity("k", value, low, high)) == written


GATES = (
    Gate("structure", True, "exact or up_to_scale", "up_to_scale"),
    Gate("exponent of r", True, "within 0.05 of -2.000", "-1.960"),
    Gate("constant GM", True, "within 5% of 39.478", "39.4"),
    Gate("kick R² after 1 step", True, "at least 0.97", "0.9991"),
    Gate("central", True, "part across the line at most 15%", "3.0%"),
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"law": "power_law(n=3)", "context_length": 8, "attention": "lssar(p=3)", "seed": 4},
        {"sources": ["orbit", "kicked"], "mass": [0.5, 2.0], "system": "relative"},
        {"train.stream": True, "recover.null": False, "probe.kick_angle": 0.3},
        {"controls": [], "readouts": [], "steps": 20, "out": "elsewhere", "workers": 3},
    ],
)
def test_the_command_makes_the_same_options(options, tmp_path, monkeypatch):
    config, seen = with_options(RunConfig(), options), []
    monkeypatch.chdir(tmp_path)
    *before, line = command_of(config).splitlines()
    if before:
        subprocess.run(["bash", "-c", "\n".join(before)], check=True)
    again = Command("run", lambda found: seen.append(found), RunConfig, "Run.")
    program, *words = shlex.split(line)
    assert main(program, [again], words) == 0
    free = {"out": None, "workers": 0}
    assert with_options(seen[0], free) == with_options(config, free)


def test_every_read_out_is_explained():
    assert set(ASKED) <= set(QUESTIONS)


def test_a_read_out_stands_beside_its_controls():
    found = {
        "jacobian": {"locality": 0.9, "older_sum": 0.1},
        "jacobian_injected": {"locality": 1.0, "older_sum": 0.0},
        "kick_response": {"r2_1": 0.5},
    }
    jacobian, kicks = readout_tables(found)
    assert jacobian.subjects == ("the model", "true law injected")
    assert [numbers for _, numbers in jacobian.rows] == [(0.9, 1.0), (0.1, 0.0)]
    assert kicks.rows == (("R² after 1 step", (0.5,)),)
    assert "_" not in label("older_sum") + label("r2_gm_4")


def test_a_verdict_names_the_gate_closest_to_its_limit():
    said = turning(GATES, True)
    assert "closest to its limit is exponent of r: found -1.960" in said
    assert "80% of the room" in said  # 0.04 of 0.05


def test_a_failed_gate_is_what_would_have_changed_the_verdict():
    failed = (*GATES, Gate("seeds", False, "at least 80% agree", "2 of 5"))
    said = turning(failed, False)
    assert said == (
        "It would count as recovered if this gate held: seeds (found 2 of 5, asked at least 80% "
        "agree)."
    )
    assert turning((), None) == ""


def test_a_median_is_not_drawn_where_there_are_no_states():
    r = np.concatenate((np.linspace(0.3, 0.4, 50), np.linspace(0.7, 0.75, 50)))
    x, y = broken_at_gaps(r, np.array([0.33, 0.38, 0.71, 0.74]), np.arange(4.0))
    np.testing.assert_array_equal(x, [0.33, 0.38, np.nan, 0.71, 0.74])
    np.testing.assert_array_equal(y, [0.0, 1.0, np.nan, 2.0, 3.0])


def test_a_pareto_front_has_no_dominated_formula():
    losses = [(1, 5.0), (3, 2.0), (3, 1.0), (5, 1.5), (7, 0.5), (9, None)]
    front = [FrontPoint("r", size, loss, None, 0, "operon") for size, loss in losses]
    kept = [(point.complexity, point.loss) for point in undominated(front)]
    assert kept == [(1, 5.0), (3, 1.0), (7, 0.5)]
