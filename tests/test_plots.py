"""What every result shows of itself."""

import warnings
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import orbits
import symreg
import worldmodel
from orbits.printing import html_table
from symreg.recovery.result import Recovery
from symreg.weighing.plot import plot_weighing
from symreg.weighing.records import CurvePoint, Mass
from worldmodel.plot import save_figure


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def table(noise=0.01):
    rng = np.random.default_rng(0)
    r = rng.uniform(0.5, 4.0, 300)
    return pd.DataFrame({"r": r, "F": 39.5 / r**2 * (1 + noise * rng.normal(size=300))})


@pytest.fixture(scope="module")
def law():
    quick = {"engine": "projection", "seeds": 1, "null": False}
    return symreg.recover(table(), target="F", features="r", **quick)


@pytest.fixture(scope="module")
def held_out():
    return orbits.generate(orbits=30, samples=64, simulator="kepler", seed=5)


def test_a_law_is_drawn_with_its_data_and_what_it_leaves(law, tmp_path):
    above, below = law.plot().figure.axes
    drawn = np.asarray(above.collections[0].get_offsets())
    assert len(drawn) == 200
    rows = {(r, f) for r, f in table().to_numpy()}
    assert all((r, f) in rows for r, f in drawn)
    curve = above.lines[0].get_xydata()
    np.testing.assert_allclose(curve[:, 1], law.predict({"r": curve[:, 0]}))
    left = np.asarray(below.collections[0].get_offsets())[:, 1]
    assert np.std(left) == pytest.approx(1.0, rel=0.2)  # per cent, of 200 rows
    law.write(tmp_path / "law.json")
    again = Recovery.read(tmp_path / "law.json").plot()
    np.testing.assert_array_equal(again.collections[0].get_offsets(), drawn)


def test_a_law_of_several_features_is_drawn_against_its_own_values():
    rng = np.random.default_rng(0)
    many = pd.DataFrame(rng.uniform(1, 2, (120, 2)), columns=["r", "m"])
    many["F"] = 39.5 * many.m / many.r**2
    quick = {"engine": "projection", "seeds": 1, "null": False}
    above, _ = symreg.recover(many, target="F", features="r,m", **quick).plot().figure.axes
    x, y = np.asarray(above.collections[0].get_offsets()).T
    np.testing.assert_allclose(x, y, rtol=1e-6)


def test_the_pareto_front_has_its_own_name(law):
    axes = law.plot_pareto()
    assert axes.get_ylabel() == "loss"
    assert len(axes.collections[0].get_offsets()) > 1


def test_a_form_that_was_given_has_no_front_and_warns_of_nothing():
    x = np.linspace(1, 2, 20)
    table = pd.DataFrame({"x": x, "y": 3 * x})
    law = symreg.recover(table, target="y", features="x", form="k*x", null=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law.plot_pareto()


def test_forces_are_drawn_beside_the_true_ones(held_out, verlet):
    forces = worldmodel.probe(verlet, held_out, states="kicked", model_context=2)
    implied, true = forces.plot().collections
    assert len(implied.get_offsets()) == len(true.get_offsets()) == len(forces)
    # Störmer's rule errs by 2.4 % where an orbit is closest, at 0.3 au, and far less elsewhere
    np.testing.assert_allclose(implied.get_offsets(), true.get_offsets(), rtol=0.03)


def test_a_kick_response_is_its_curve(held_out, verlet):
    reading = worldmodel.probe(verlet, held_out, readout="kick_response", model_context=2)
    axes = reading.plot()
    steps, r2 = axes.lines[0].get_xydata().T
    assert list(steps) == reading.details["steps"]
    np.testing.assert_allclose(r2, reading.details["r2_velocity"])


@pytest.mark.parametrize("name", ["far", "evaluate", "jacobian"])
def test_a_reading_draws_itself(held_out, name, verlet):
    reading = worldmodel.probe(verlet, held_out, readout=name, model_context=2, orbits=20)
    axes = reading.plot()
    assert axes.has_data()


def test_a_weighing_is_drawn_with_its_masses():
    data = orbits.generate(
        orbits=1, system="nbody", planets=2, samples=600, dt=0.02, dtype="float64", seed=0
    )
    found = symreg.weigh(data)
    left, right = found.plot().figure.axes
    shown = {line.get_ydata()[0] for line in left.lines if line.get_marker() == "o"}
    assert shown == {mass.body for mass in found.masses if mass.value}
    assert len(right.lines[0].get_xdata()) == len(found.curve)


def test_every_plot_gives_its_axes(law, held_out, verlet):
    forces = worldmodel.probe(verlet, held_out, states="kicked", model_context=2)
    maps = np.full((1, 2, 4, 4), 0.25)
    for drawn in (
        law.plot(), law.plot_pareto(), forces.plot(), orbits.plot_orbits(held_out),
        orbits.plot_phase_portrait(held_out), worldmodel.plot_attention(maps),
    ):  # fmt: skip
        assert isinstance(drawn, Axes)


@pytest.mark.slow
def test_no_setting_of_a_users_loses_a_picture(law, held_out, verlet, broken_style, tmp_path):
    kicked, far = (
        worldmodel.probe(verlet, held_out, model_context=2, orbits=20, **what)
        for what in ({"states": "kicked"}, {"readout": "far"})
    )
    maps, unit = np.full((1, 2, 4, 4), 0.25), {"mass": "M", "length": "au"}
    weighed = [Mass(1, 0.9, 1.1, body="sun")], [CurvePoint(1, 1, 1, r=1)], "law", unit
    for draw in (
        law.plot, law.plot_pareto, kicked.plot, far.plot, partial(orbits.plot_orbits, held_out),
        partial(orbits.plot_phase_portrait, held_out), partial(orbits.plot_energy_drift, held_out),
        partial(worldmodel.plot_attention, maps),
        partial(plot_weighing, *weighed),
    ):  # fmt: skip
        draw().figure.canvas.draw()
    save_figure(worldmodel.plot_attention(maps).figure, tmp_path / "maps.png")
    orbits.plot.save_figure(held_out, tmp_path / "orbits.png")


def test_the_force_against_distance_shows_below_how_far_off_the_law_it_is():
    r = np.linspace(0.5, 2, 50)
    pull = 1.02 * orbits.GM_SUN / r**2
    columns = {"r": r, "x": r, "y": 0.0, "a_x": -pull, "a_y": 0.0, "a_r": pull, "gm": orbits.GM_SUN}
    _, (above, below) = plt.subplots(2)
    symreg.plot_field(
        above, pd.DataFrame(columns), lambda r, gm: gm / r**2, lambda r: 40 / r**2,
        title="", color="k", below=below,
    )  # fmt: skip
    np.testing.assert_allclose(np.asarray(below.collections[0].get_offsets())[:, 1], 2)
    _, formula = below.lines
    np.testing.assert_allclose(formula.get_ydata(), 100 * (40 / orbits.GM_SUN - 1))
    low, high = below.get_ylim()
    assert low == -high
    assert low < -2


def test_a_single_front_says_its_formulas_and_several_do_not(law):
    axes = symreg.plot_pareto_front(plt.figure().gca(), {"one": law})
    told = [text.get_text() for text in axes.texts]
    assert told
    assert "r²" in " ".join(told)
    assert all("**" not in each for each in told)
    both = symreg.plot_pareto_front(plt.figure().gca(), {"one": law, "other": law})
    assert not both.texts


def test_maps_of_attention_have_whole_steps():
    axes = worldmodel.plot_attention(np.full((1, 2, 3, 3), 1 / 3))
    axes.figure.canvas.draw()
    ticks = [*axes.get_xticks(), *axes.get_yticks()]
    assert all(tick == round(tick) for tick in ticks)


def test_the_legend_of_kicks_lies_beside_the_points_and_small_errors_keep_their_digits(
    held_out, verlet
):
    forces = worldmodel.probe(verlet, held_out, states="kicked", model_context=2)
    axes = symreg.plot_kicks(plt.figure().gca(), {"kicked": forces.table}, required=0.97)
    axes.figure.canvas.draw()
    legend = axes.get_legend().get_window_extent()
    assert legend.x0 >= axes.get_window_extent().x1
    assert axes.yaxis.get_major_formatter()(0.001, 0) == "0.1 %"


def test_a_notebook_shows_results_as_small_tables_that_say_how_to_draw_them(law, held_out, verlet):
    reading = worldmodel.probe(verlet, held_out, readout="kick_response", model_context=2)
    beside = symreg.compare("39.5/r**2", "4*pi**2/r**2")
    for result in (law, reading, beside, law.gates[0]):
        shown = result._repr_html_()
        assert "<table>" in shown
        assert "<pre>" not in shown
        assert len(repr(result)) < 500 or result is beside
    gate = next(each for each in law.gates if each.value is not None)
    assert repr(gate).startswith(f"Gate({gate.name}: found {gate.found}, required {gate.required}")
    assert [len(repr(each)) < 120 for each in law.gates] == [True] * len(law.gates)
    for result in (law, reading):
        assert "<code>.plot()</code>" in result._repr_html_()
    assert "<td>b &lt; c</td>" in html_table([("a", "b < c")])
