"""From a table of positions to a law, in one command."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import orbits
import symreg
from symreg.cli import main
from symreg.recovery.leftovers import leftovers

QUICK = ["--engine", "projection", "--seeds", "1", "--no-null"]
DAY, AU = 1 / 365.25, 1.495978707e8


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two bodies of 3 and 1 solar masses under 1/r^1.8, in km and days."""
    m, n = np.array([3.0, 1.0]), 1.8

    def rates(_, y):
        line = y[2:4] - y[:2]
        pull = orbits.G * line / np.hypot(*line) ** (n + 1)
        return np.concatenate([y[4:], m[1] * pull, -m[0] * pull])

    v = 0.7 * np.sqrt(orbits.G * m.sum())
    state = np.array([-0.25, 0, 0.75, 0, 0, -v / 4, 0, 3 * v / 4])
    t = np.linspace(0, 2, 1500)
    found = solve_ivp(rates, (0, 2), state, t_eval=t, rtol=1e-12, atol=1e-12, method="DOP853")
    columns = {"when": t / DAY} | dict(zip(("x1", "y1", "x2", "y2"), AU * found.y, strict=False))
    path = tmp_path_factory.mktemp("table") / "stars.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


UNITS = ["--time", "when", "--time-unit", "d", "--length-unit", "km"]
BODIES = ["--position", "x1,y1", "--position", "x2,y2"]


def test_one_command_from_positions_to_the_law(table, tmp_path, capsys):
    out = tmp_path / "law.json"
    words = ["recover", str(table), str(out), "--trajectories", *UNITS, *BODIES, *QUICK]
    assert main(words) == 0, capsys.readouterr().err
    found = json.loads(out.read_text())
    assert found["exponents"]["r"]["value"] == pytest.approx(-1.8, abs=1e-3)
    assert found["found"]
    assert found["matches"] != "newton"
    # the same options from a file
    options = tmp_path / "options.yaml"
    options.write_text(
        "{trajectories: true, time: when, time_unit: d, length_unit: km, "
        "position: ['x1,y1', 'x2,y2']}\n"
    )
    again = tmp_path / "again.json"
    assert main(["recover", str(table), str(again), "--config", str(options), *QUICK]) == 0
    assert json.loads(again.read_text())["expression"] == found["expression"]


def test_positions_without_order_hold_no_law(tmp_path):
    random = np.random.default_rng(0).standard_normal((600, 2))
    frame = pd.DataFrame(random, columns=["x", "y"]).assign(time=0.01 * np.arange(600))
    frame.to_csv(tmp_path / "noise.csv", index=False)
    out = tmp_path / "law.json"
    code = main(["recover", str(tmp_path / "noise.csv"), str(out), "--trajectories", *QUICK])
    assert code == 2 or not json.loads(out.read_text())["recovered"]


def test_a_dataset_needs_no_such_word(tmp_path, capsys):
    orbits.generate(tmp_path / "d.zarr", orbits=4, samples=64)
    words = ["recover", str(tmp_path / "d.zarr"), str(tmp_path / "law.json"), *QUICK]
    assert main([*words, "--trajectories"]) == 2
    assert "is a dataset already" in capsys.readouterr().err
    assert main([*words, "--noise", "1e-9"]) == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("drag", [0.0, 0.05])
def test_an_unknown_law_has_no_truth_and_a_drag_stands_beside_it(drag, two_stars):
    found = symreg.recover(two_stars(drag=drag), engine="projection", seeds=1, null=False)
    told = str(found)
    assert "is that of a towards b" in told
    assert "`symreg weigh` finds the law" in told
    assert found.constant.truth is None
    assert "true value" not in told
    assert not any(gate.name.startswith("constant") for gate in found.gates)
    assert found.exponents["r"].value == pytest.approx(-2, abs=1e-3)
    assert ("a drag against the velocity, k·v" in told) == bool(drag)
    parts = [part for part in found.metrics.get("left_over", ()) if part["name"] == "drag"]
    assert [part["value"] for part in parts] == ([pytest.approx(drag, rel=1e-3)] if drag else [])


def drag_of(data):
    left = leftovers(orbits.measure_forces(data))
    return {part.kind.name: part.components[-1].value for part in left.parts if part.kind.joins}


@pytest.mark.few(2)
@pytest.mark.parametrize("drag", [0.0, 0.003])
@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_a_drag_of_one_body(drag, noise):
    def rates(_, y):
        return [*y[2:], *(-orbits.G * y[:2] / np.hypot(*y[:2]) ** 3 - drag * y[2:])]

    t = 0.005 * np.arange(800)
    y = solve_ivp(rates, (0, 4), [1, 0, 0, 5], t_eval=t, rtol=1e-11, atol=1e-12, method="DOP853").y
    y = y[:2].T + noise * np.random.default_rng(0).standard_normal((800, 2))
    # noise in r bends the curve: two per cent of so weak a drag
    assert drag_of(orbits.from_arrays(y[None], 0.005)) == (
        {"drag": pytest.approx(drag, rel=0.02)} if drag else {}
    )


@pytest.mark.slow
@pytest.mark.parametrize("law", ["yukawa(length=1)", "plummer(softening=0.5)"])
def test_another_law_and_an_unseen_body_are_no_drag(law, world):
    made = orbits.generate(orbits=8, samples=256, law=law, seed=1, dtype="float64")
    assert drag_of(orbits.from_arrays(made.position.values, float(made.dt))) == {}
    seen = world().position.values[:, :, :2]
    assert drag_of(orbits.from_arrays(seen, 0.01)) == {}


def motion_of(rates, start, years=3.0, count=600):
    """Positions of one body by its (position, velocity) -> acceleration."""
    t = np.linspace(0, years, count)
    axes = len(start) // 2
    found = solve_ivp(
        lambda _, y: [*y[axes:], *rates(y[:axes], y[axes:])], (0, years), start, t_eval=t,
        rtol=1e-11, atol=1e-12, method="DOP853",
    )  # fmt: skip
    return t, found.y[:axes].T


PULL = np.array([0.0, -9.81])


@pytest.mark.parametrize(
    ("rates", "parts"),
    [
        (lambda x, v: PULL - 0.1 * v, {"drag": 0.1, "uniform": -9.81}),
        (lambda x, v: PULL - 0.05 * np.hypot(*v) * v, {"quadratic drag": 0.05, "uniform": -9.81}),
        (lambda x, v: -5 * x - 0.2 * v, {"drag": 0.2}),
        (lambda x, v: -x / np.hypot(*x) ** 3 + 1.4 * v[::-1] * [1, -1] + 0.49 * x,
         {"magnetic": 1.4}),
        (lambda x, v: -x / np.hypot(*x) ** 3, {}),
    ],
)  # fmt: skip
def test_terms_of_the_velocity_are_told_by_name(rates, parts):
    t, x = motion_of(rates, [1.0, 0.3, 0.4, 1.1])
    assert drag_of(orbits.from_arrays(x[None], t[1])) == pytest.approx(parts, rel=1e-3)


@pytest.mark.few(2)
@pytest.mark.parametrize("turning", [0.5, 1.5, 2.0, 3.0])
def test_a_frame_that_turns_as_fast_as_the_bodies_is_told(turning):
    """What is left of the force where centrifugal and Coriolis's cancel most of it is no error."""
    parts = []
    for k in range(3):
        t, x = motion_of(
            lambda x, v: -orbits.G * x / np.hypot(*x) ** 3,
            [1 + 0.5 * k, 0.0, 0.3 * k, (1 - 0.12 * k) * 6.28 / (1 + 0.5 * k) ** 0.5],
        )
        c, s = np.cos(turning * t), np.sin(turning * t)
        parts.append(np.stack([c * x[:, 0] + s * x[:, 1], c * x[:, 1] - s * x[:, 0]], axis=1))
    data = orbits.from_arrays(np.stack(parts), t[1])
    assert drag_of(data) == {"magnetic": pytest.approx(2 * turning, rel=1e-4)}


def test_a_charge_in_three_dimensions_turns_about_the_field():
    t, x = motion_of(lambda x, v: np.cross(v, [0.3, 0.0, 2.0]), [1.0, 0.3, 0.0, 0.4, 1.1, 0.2], 9)
    left = leftovers(orbits.measure_forces(orbits.from_arrays(x[None], t[1])))
    assert not left.central
    (part,) = left.parts
    assert [each.value for each in part.components] == pytest.approx([0.3, 0, 2], abs=1e-3)


SECONDS = ["--trajectories", "--time", "t", "--length-unit", "m", "--time-unit", "s", *QUICK]


def test_a_spring_comes_back_in_metres_and_seconds(tmp_path, capsys):
    t, x = motion_of(lambda x, v: -4 * x, [1.0, 0.3, 0.4, 1.5], 10, 500)
    frame = pd.DataFrame({"t": t, "x": x[:, 0], "y": x[:, 1]})
    frame.to_csv(tmp_path / "spring.csv", index=False)
    words = ["recover", str(tmp_path / "spring.csv"), str(tmp_path / "out.json"), *SECONDS]
    assert main(words) == 0
    told = capsys.readouterr()
    whole = told.out + told.err
    assert re.search(r"law +4(\.0+)?·r", told.out)
    assert "s^-2" in told.out
    assert "GM" not in whole
    assert "e+" not in whole  # neither au nor solar masses, in progress as in the result
    constant = json.loads((tmp_path / "out.json").read_text())["constant"]
    assert constant["low"] <= 4 <= constant["high"]


@pytest.mark.slow
def test_a_charge_in_a_magnetic_field_comes_back_by_components(tmp_path, capsys):
    t, x = motion_of(lambda x, v: 2 * v[::-1] * [1, -1], [1.0, 0.3, 0.4, 1.5], 10, 500)
    frame = pd.DataFrame({"t": t, "x": x[:, 0], "y": x[:, 1]})
    frame.to_csv(tmp_path / "charge.csv", index=False)
    words = ["recover", str(tmp_path / "charge.csv"), str(tmp_path / "out.json"), *SECONDS]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert re.search(r"a_x = 2(\.0+)?·v_y", told)
    assert re.search(r"a_y = -2(\.0+)?·v_x", told)
    assert "s^-1" in told
    assert "across the velocity" in told
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["status"] == "found"
    assert found["constant"]["unit"] == "s^-1"
    assert found["constant"]["value"] == pytest.approx(2, rel=1e-6)
