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
from symreg.experiments.sentences import OTHERS, command_of, label, readout_tables, undominated
from symreg.recovery.gates import agreeing, at_least, share, stated, times, turning, within
from symreg.recovery.result import FrontPoint, Quantity
from symreg.recovery.words import interval
from worldmodel.probes.readouts import READOUTS


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
    stated("structure", True, "exact or up_to_scale", "up_to_scale"),
    within("exponent of r", -1.96, -2.0, 0.05),
    within("constant GM", 39.4, 39.478, 0.05, relative=True),
    at_least("kick R² after 1 step", 0.9991, 0.97),
    share("central", 0.03, 0.15, "part across the line"),
)


def test_gates_say_their_numbers_in_words():
    assert [(gate.required, gate.found) for gate in GATES] == [
        ("exact or up_to_scale", "up_to_scale"),
        ("within 0.05 of -2.000", "-1.960"),
        ("within 5% of 39.478", "39.4"),
        ("at least 0.97", "0.9991"),
        ("part across the line at most 15%", "3.0%"),
    ]
    assert agreeing("seeds", 4, 5, 0.8).required == "at least 80% agree"
    assert agreeing("seeds", 4, 5, 0.8).found == "4 of 5"
    assert times("range", 2.5, 3.0, "the error").required == "at most 3 times the error"
    assert at_least("R²", None, 0.9).found == "none"
    assert all(gate.passed for gate in GATES)


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
    assert all((OTHERS.get(name) or READOUTS[name]).question for name in ASKED)


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
    failed = (*GATES, agreeing("seeds", 2, 5, 0.8))
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
