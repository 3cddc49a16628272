"""Pictures of the read-outs show the numbers that were written."""

import pytest
from matplotlib.figure import Figure

from worldmodel.probes.plot import LOWEST, plot_kick_response


@pytest.fixture
def axes():
    return Figure().add_subplot()


def response(r2, context_length=2):
    return {
        "steps": list(range(1, len(r2) + 1)),
        "r2_velocity": r2,
        "context_length": context_length,
    }


def test_a_response_is_a_line_and_the_end_of_its_context(axes):
    responses = {"law": response([1.0] * 5), "ellipse": response([-20.0, None, 0.2, 1, 1], 4)}
    drawn = plot_kick_response(axes, responses)
    law, ellipse, left, _zero = drawn.get_lines()
    assert law.get_label() == "law"
    assert list(law.get_ydata()) == [1] * 5
    assert ellipse.get_ydata()[0] == LOWEST
    assert list(left.get_xdata()) == [3, 3]
    with pytest.raises(ValueError, match="law has no response to a kick in gm"):
        plot_kick_response(axes, responses, kick="gm")
