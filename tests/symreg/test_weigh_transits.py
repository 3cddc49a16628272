"""Planets weighed by their transits; the times are made by another integrator (scipy)."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import symreg
from symreg.cli import main

MASSES = 4e-5, 6e-5
PERIODS = 10.0, 15.1
SPAN = 420.0
ERROR = 1e-3
COLUMNS = "planet,transit,time,error"


def passages(masses):
    """Times (days) at which two planets of a star of mass one cross the line of sight, y."""
    masses = np.array([1.0, *masses])

    def rates(_, state):
        place, speed = state.reshape(2, 3, 2)
        apart = place[None] - place[:, None]
        cubes = np.sum(apart**2, axis=2) ** 1.5
        np.fill_diagonal(cubes, np.inf)
        return np.concatenate([speed, np.einsum("ijk,ij,j->ik", apart, 1 / cubes, masses)]).ravel()

    def crossing(planet):
        def event(_, state):
            return state[2 * planet] - state[0]  # x of the planet and of the star

        event.direction = -1.0  # counterclockwise, in front of the star
        return event

    place, speed = np.zeros((3, 2)), np.zeros((3, 2))
    for k, (period, e, start) in enumerate(zip(PERIODS, (0.02, 0.03), (0.4, 2.0), strict=True), 1):
        size = (period / (2 * np.pi)) ** (2 / 3)
        toward = np.array([np.cos(start), np.sin(start)])
        across = np.array([-np.sin(start), np.cos(start)])
        place[k] = size * (1 - e) * toward
        speed[k] = np.sqrt((1 + e) / (1 - e) / size) * across
    start = np.concatenate([place, speed]).ravel()
    path = solve_ivp(
        rates, (0, SPAN), start, "DOP853", rtol=1e-11, atol=1e-12, events=[crossing(1), crossing(2)]
    )
    return path.t_events


def transits(masses=MASSES, seed=0):
    """A table of transits with errors, some of them not seen."""
    random = np.random.default_rng(seed)
    parts = []
    for name, times in zip("bc", passages(masses), strict=True):
        own = pd.DataFrame({"planet": name, "transit": np.arange(len(times)), "time": times})
        parts.append(own[random.random(len(own)) < 0.9])
    table = pd.concat(parts).sort_values("transit", ignore_index=True)
    noise = ERROR * random.standard_normal(len(table))
    return table.assign(time=7000 + table.time + noise, error=ERROR)


@pytest.fixture(scope="module")
def table():
    return transits()


@pytest.fixture(scope="module")
def found(table):
    return symreg.weigh_transits(table, transits=COLUMNS, star_mass=0.5)


def test_both_masses_are_inside_their_intervals(found):
    assert [planet.name for planet in found.planets] == ["b", "c"]
    for planet, mass in zip(found.planets, MASSES, strict=True):
        assert planet.weighed
        assert mass * 1e6 in planet.mass
        assert mass * 0.5 * 332_946 in planet.earths
    assert found.chi_square == pytest.approx(found.freedom, rel=0.5)
    assert found.wild == 0


def test_planets_without_masses_are_not_weighed():
    found = symreg.weigh_transits(transits((0.0, 0.0), seed=1), transits=COLUMNS)
    assert [planet.weighed for planet in found.planets] == [False, False]
    assert "weigh no planet" in found.explanation
    assert "not weighed" in str(found)
    assert found.planets[0].earths.value is None


def test_a_wild_time_is_left_out_and_counted(table, found):
    wild = table.copy()
    wild.loc[20, "time"] += 0.05
    again = symreg.weigh_transits(wild, transits=COLUMNS, star_mass=0.5)
    assert again.wild == 1
    for planet, mass in zip(again.planets, MASSES, strict=True):
        assert mass * 1e6 in planet.mass


def test_the_command_writes_what_python_finds(table, found, tmp_path, capsys):
    table.to_csv(tmp_path / "times.csv", index=False)
    code = main(
        ["weigh", str(tmp_path / "times.csv"), str(tmp_path / "out.json"), "--transits", COLUMNS,
         "--star-mass", "0.5"]
    )  # fmt: skip
    assert code == 0
    assert "mass, Earths" in capsys.readouterr().out
    written = symreg.TransitWeighing.read(tmp_path / "out.json")
    assert json.loads(json.dumps(written.to_dict()))["planets"][0]["name"] == "b"
    for one, other in zip(written.planets, found.planets, strict=True):
        assert one.mass.value == pytest.approx(other.mass.value, rel=1e-4)
    assert len(found.plot().axes) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t[t.planet == "b"], "planet b is alone"),
        (lambda t: t[(t.planet == "b") | (t.transit < 2)], "planet c has fewer than 3 transits"),
        (lambda t: t.assign(error=0.0), "column error: row 1 holds no standard error above 0"),
        (lambda t: t.assign(transit=t.transit + 0.5), "row 1 holds no whole number"),
        (lambda t: t.assign(time="soon"), "column time: row 1 holds no finite number"),
        (lambda t: t[t.transit < 5], "cannot tell 10 unknowns"),
    ],
)
def test_a_table_that_cannot_tell_is_refused_in_a_line(table, change, said):
    with pytest.raises(ValueError, match=said):
        symreg.weigh_transits(change(table), transits=COLUMNS)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--transits", "planet,time"], "needs four columns"),
        (["--star-mass", "0.5"], "counts only with --transits"),
        (["--transits", COLUMNS, "--unseen", "1"], "says nothing of transits"),
        (["--transits", "planet,epoch,time,error"], "epoch"),
    ],
)
def test_options_of_transits_are_checked(table, flags, said, tmp_path, capsys):
    table.to_csv(tmp_path / "times.csv", index=False)
    assert main(["weigh", str(tmp_path / "times.csv"), str(tmp_path / "o.json"), *flags]) == 2
    assert said in capsys.readouterr().err
