"""What a report shows beside its figures: the command again, and the front."""

import shlex

import pytest

from orbits.command_line import Command, main
from orbits.options import with_options
from symreg.experiments.config import RunConfig
from symreg.experiments.report import command_of
from symreg.recovery.plot import undominated
from symreg.recovery.result import FrontPoint


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"law": "power_law(n=3)", "context_length": 8, "attention": "lssar(p=3)", "seed": 4},
        {"sources": ["orbit", "kicked"], "mass": [0.5, 2.0], "system": "relative"},
        {"fit": False, "null": False, "kick_angle": 0.3},
        {"controls": [], "readouts": [], "steps": 20, "out": "elsewhere", "workers": 3},
    ],
)
def test_the_command_makes_the_same_options(options):
    config, seen = with_options(RunConfig(), options), []
    again = Command("run", lambda found: seen.append(found), RunConfig, "Run.")
    program, *words = shlex.split(command_of(config))
    assert main(program, [again], words) == 0
    free = {"out": None, "workers": 0}
    assert with_options(seen[0], free) == with_options(config, free)


def test_a_pareto_front_has_no_dominated_formula():
    losses = [(1, 5.0), (3, 2.0), (3, 1.0), (5, 1.5), (7, 0.5), (9, None)]
    front = [FrontPoint("r", size, loss, None, 0, "portfolio") for size, loss in losses]
    kept = [(point.complexity, point.loss) for point in undominated(front)]
    assert kept == [(1, 5.0), (3, 1.0), (7, 0.5)]
