"""Pictures of the read-outs show the numbers that were written."""

import pytest
from matplotlib.figure import Figure

from worldmodel.probes.plot import LOWEST, plot_jacobian, plot_kick_response, plot_linear


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


def test_linear_probes_stand_side_by_side(axes):
    layers = ["embed", "blocks.0", "norm"]
    reading = {
        "layers": layers,
        "targets": ["force"],
        "trained": {layer: {"force": 0.9} for layer in layers},
        "untrained": {layer: {"force": 0.5} for layer in layers},
        "positions": {"force": -3.0},
    }
    trained, untrained, bare = plot_linear(axes, reading).get_lines()
    assert list(trained.get_ydata()) == [0.9] * 3
    assert list(untrained.get_ydata()) == [0.5] * 3
    assert bare.get_ydata()[0] == LOWEST
    with pytest.raises(ValueError, match="'mass' is not a target; there are force"):
        plot_linear(axes, reading, "mass")


def test_jacobians_are_bars_by_lag(axes):
    data = {"bodies": 1, "axes": 2}
    readings = {
        "two": {"norm_by_lag": [2.8, 1.4], "data": data},
        "five": {"norm_by_lag": [1.0, 0.8, 0.6, 0.4, 0.2], "data": data},
    }
    drawn = plot_jacobian(axes, readings, lags=4)
    heights = [[bar.get_height() for bar in group] for group in drawn.containers]
    assert heights == [[2.8, 1.4], [1.0, 0.8, 0.6, 0.4]]
    assert [text.get_text() for text in drawn.get_xticklabels()][:2] == ["x(t)", "x(t−1)"]
