"""Options: what is refused, by its name and with what is allowed."""

import pytest

from worldmodel.config import TrainConfig
from worldmodel.targets import inertia


def test_options_that_change_no_number_do_not_change_the_identity():
    assert TrainConfig(stream=True).identity() == TrainConfig().identity()
    assert TrainConfig(seed=1).identity() != TrainConfig().identity()
    assert TrainConfig(threads=1).identity() != TrainConfig(threads=2).identity()


@pytest.mark.parametrize(
    "target", ["velocity", "residual(inertia=0.5)", "displacement(inertia=2)", "displacement(x=1)"]
)
def test_a_target_that_is_none_is_refused(target):
    with pytest.raises(ValueError, match="target"):
        TrainConfig(target=target)


def test_targets_lie_between_displacement_and_residual():
    known = {"displacement": 0, "displacement(inertia=0.9)": 0.9, "residual": 1, "position": None}
    assert {target: inertia(target) for target in known} == known
