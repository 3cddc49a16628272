"""Unseen bodies by what one body does on the sky and along the line of sight.

The tables are made by another code than the one that is tested: positions by integrating the
equations of motion (scipy), projected by hand.
"""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import symreg
from orbits.units import SPEEDS
from symreg.cli import main
from symreg.weighing.config import SkyConfig
from symreg.weighing.observed.orbit import Fit
from symreg.weighing.observed.table import read_observations
from tests.benchmarks.discovery_laws import SHARED

G = 4 * np.pi**2
MASS, DISTANCE = 4.3e6, 8300.0
START = np.array([-200.0, 1400.0, 900.0]), np.array([60.0, -20.0, -90.0])
"""(north, east, towards us), au and au/yr."""


def followed(times, exponent=2.0, mass=MASS, start=START):
    """(time, axis) of a test particle about a mass, whose pull is Newton's at 1000 au."""

    def rates(_, state):
        r = np.linalg.norm(state[:3])
        pull = G * mass / 1000.0**2 * (1000.0 / r) ** exponent
        return np.concatenate([state[3:], -pull * state[:3] / r])

    span = (0.0, float(times[-1]))
    path = solve_ivp(rates, span, np.concatenate(start), "DOP853", times, rtol=1e-11, atol=1e-9)
    return path.y.T[:, :3], path.y.T[:, 3:]


def star(seed=0, exponent=2.0, rows=(90, 40), errors=(4e-4, 30.0)):
    """Places and radial velocities of a star about an unseen mass, in one table."""
    random = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.sort(random.uniform(0, 20, sum(rows) - 1))])
    place, speed = followed(times, exponent)
    on_sky = random.permutation(sum(rows)) < rows[0]
    sigma, sigma_v = errors
    drift = 1e-4 * times  # arcsec, of the frame
    offsets = place[:, [1, 0]] / DISTANCE + 0.001 + drift[:, None]
    x, y = (offsets + sigma * random.standard_normal(offsets.shape)).T
    rv = -speed[:, 2] / SPEEDS["km/s"] + 12.0 + sigma_v * random.standard_normal(len(times))
    columns = {"time": 1995.0 + times, "x": x, "x_error": sigma, "y": y, "y_error": sigma}
    table = pd.DataFrame(columns | {"rv": rv, "rv_error": sigma_v})
    table.loc[~on_sky, ["x", "y"]] = np.nan
    table.loc[on_sky, "rv"] = np.nan
    return table


SEEN = {"observe": ("x", "y", "rv")}


@pytest.fixture(scope="module")
def found():
    return symreg.weigh_sky(star(), **SEEN)


def test_mass_distance_and_exponent_hold_the_truth(found):
    (orbit,) = found.orbits
    assert MASS in orbit.mass
    assert DISTANCE in found.distance
    assert 2.0 in found.exponent
    assert found.exponent.high - found.exponent.low < 0.1
    assert found.gain > 3 * found.needed


def test_the_orbit_is_that_of_the_star(found):
    """By an independent reduction of its first state."""
    (orbit,) = found.orbits
    x, v = START
    momentum = np.cross(x, v)
    size = 1 / (2 / np.linalg.norm(x) - v @ v / (G * MASS))
    e = np.linalg.norm(np.cross(v, momentum) / (G * MASS) - x / np.linalg.norm(x))
    assert size in orbit.semi_major_axis
    assert e in orbit.eccentricity
    # north, east and towards us are right-handed: along +z the position angle grows
    inclination = np.degrees(np.arccos(momentum[2] / np.linalg.norm(momentum)))
    assert inclination in orbit.inclination
    times = np.linspace(0, 20, 20001)
    place, _ = followed(times)
    nearest = 1995.0 + times[np.argmin(np.linalg.norm(place, axis=1))]
    period = orbit.period.value
    assert abs((nearest - orbit.pericentre.value + period / 2) % period - period / 2) < 0.1


@pytest.mark.slow
def test_another_exponent_is_told():
    found = symreg.weigh_sky(star(seed=3, exponent=2.05), **SEEN)
    assert 2.05 in found.exponent
    assert 2.0 not in found.exponent


def planets(seed=0, amplitudes=(0.05, 0.02), rows=150):
    """Radial velocities, km/s, of a star of one solar mass with two planets, and what moves it."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0, 8, rows))
    rv = np.zeros(rows)
    for k, period in zip(amplitudes, (2.2, 0.31), strict=True):
        rv += k * np.sin(2 * np.pi * times / period + random.uniform(0, 6))
    which = random.integers(2, size=rows)
    rv += np.array([3.0, -1.0])[which] + 0.004 * random.standard_normal(rows)
    tel = np.array(["b", "a"])[which]
    return pd.DataFrame(
        {"time": 2_450_000 + 365.25 * times, "rv": 1e3 * rv, "rv_err": 4.0, "tel": tel}
    )


def test_two_planets_of_a_star_by_velocities_alone():
    found = symreg.weigh_sky(
        planets(), observe="rv", instrument="tel", velocity_unit="m/s", seen_mass=1.0, companions=2
    )
    assert "JD" in found.notes[0]
    for orbit, period, k in zip(found.orbits, (2.2, 0.31), (0.05, 0.02), strict=True):
        assert period in orbit.period
        assert k in orbit.velocity
        # K = (2 pi G m^3 / P M^2)^(1/3) of a circle, for a light planet
        mass = k * SPEEDS["km/s"] * (period / (2 * np.pi * G)) ** (1 / 3)
        assert abs(orbit.mass.value / mass - 1) < 0.1
        assert orbit.least
        assert orbit.inclination.value is None


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_unseen_body(seed):
    """Nor has a motion in a straight line."""
    table = planets(seed, amplitudes=(0.0, 0.0), rows=80)
    found = symreg.weigh_sky(
        table, observe="rv", velocity_unit="m/s", instrument="tel", seen_mass=1
    )
    assert found.orbits == ()
    assert "no unseen body is needed" in found.explanation


def test_dates_of_every_kind_are_one_time():
    table = star()[lambda t: t.x.notna()]
    years = table.time.to_numpy()
    dates = {
        "yr": years,
        "JD": 2_451_545.0 + (years - 2000) * 365.25,
        "MJD": 51_544.5 + (years - 2000) * 365.25,
        "dates": [
            str(
                np.datetime64("2000-01-01T12:00")
                + np.timedelta64(round((y - 2000) * 31557600), "s")
            )
            for y in years
        ],
    }
    config = SkyConfig(observe=("x", "y"), distance=DISTANCE)
    read = [read_observations(table.assign(time=given), config) for given in dates.values()]
    for other in read[1:]:
        np.testing.assert_allclose(other.blocks[0].times, read[0].blocks[0].times, atol=1e-7)
        assert abs(other.epoch - read[0].epoch) < 1e-7


def test_right_ascensions_become_offsets():
    """Sexagesimal text and degrees alike; east is cos(dec) times the right ascension."""
    east, north = np.linspace(-2, 2, 10), np.linspace(1, -1, 10) ** 3
    ra, dec = 266.4 + east / 3600 / np.cos(np.radians(-29.0)), -29.0 + north / 3600

    def text(value, hours, mark=":"):
        value = abs(value) / (15 if hours else 1)
        whole, minutes = int(value), int(value * 60 % 60)
        seconds = (value * 3600) % 60
        return f"{'' if hours else '-'}{whole}{mark}{minutes:02d}:{seconds:.9f}"

    times, error = np.linspace(2000, 2010, 10), np.full(10, 1e-4)
    base = {"time": times, "ra_error": error, "dec_error": error}
    degrees = pd.DataFrame(base | {"ra": ra, "dec": dec})
    marked, plain = (
        pd.DataFrame(
            base | {"ra": [text(v, True, m) for v in ra], "dec": [text(v, False) for v in dec]}
        )
        for m in ("h", ":")
    )
    for table, unit in ((degrees, "deg"), (marked, "deg"), (plain, "deg"), (plain, "mas")):
        config = SkyConfig(observe=("ra", "dec"), angle_unit=unit, distance=10)
        read = read_observations(table, config)
        blocks = {block.quantity: block.value for block in read.blocks}
        np.testing.assert_allclose(blocks["x"] - blocks["x"].mean(), east - east.mean(), atol=1e-4)
        np.testing.assert_allclose(
            blocks["y"] - blocks["y"].mean(), north - north.mean(), atol=1e-4
        )


@pytest.mark.slow
def test_a_known_distance_weighs_by_places_alone():
    table = star(rows=(90, 1))
    found = symreg.weigh_sky(table, observe=("x", "y"), distance=DISTANCE)
    (orbit,) = found.orbits
    assert MASS in orbit.mass
    assert any("180 degrees" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--observe", "x,y"], "give the distance"),
        (["--observe", "rv"], "--seen-mass"),
        (["--observe", "x,rv"], "needs x and y"),
        (["--observe", "rw"], "did you mean 'rv'"),
        (["--observe", "rv,rv"], "rv twice"),
        (["--observe", "rv=speed", "--seen-mass", "1"], "column 'speed' is not known"),
        (["--observe", "rv=time", "--seen-mass", "1"], "no column of standard errors"),
        (["--observe", "x,y,rv", "--time", "when"], "column 'when' is not known"),
        (["--observe", "x,y,rv", "--law", "newton"], "--law says nothing"),
        (["--instrument", "tel"], "--instrument counts only with --observe"),
        (["--observe", "x,y,rv", "--time", "x"], "no time"),
        (["--observe", "rv", "--seen-mass", "1", "--companions", "3"], "cannot tell"),
    ],
)
def test_a_mistake_is_answered_with_a_line(options, said, tmp_path, capsys):
    star(rows=(9, 9)).to_csv(tmp_path / "star.csv", index=False)
    assert main(["weigh", str(tmp_path / "star.csv"), str(tmp_path / "o.json"), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [(4e5, "not below the speed of light; see --velocity-unit"), (np.inf, "finite")],
)
def test_a_velocity_that_cannot_be_is_refused(value, said):
    table = star(rows=(9, 9))
    at = int(np.flatnonzero(table.rv.notna())[2])
    table.loc[table.index[at], "rv"] = value
    with pytest.raises(ValueError, match=f"row {at + 1}.*{said}"):
        symreg.weigh_sky(table, observe="x,y,rv", velocity_unit="km/s")


def test_errors_do_not_depend_on_the_units_of_parameters():
    random = np.random.default_rng(0)
    jacobian, scale = random.standard_normal((50, 3)), np.array([1.0, 1e-9, 1e9])
    plain, scaled = (
        Fit(None, np.zeros(3), np.zeros(50), each).covariance
        for each in (jacobian, jacobian / scale)
    )
    np.testing.assert_allclose(scaled, plain * np.outer(scale, scale), rtol=1e-6)


def test_the_command_writes_what_python_reads(found, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("symreg.weighing.observed.weigh_sky.weigh_sky", lambda *_, **__: found)
    table, out = tmp_path / "star.csv", tmp_path / "star.json"
    star().to_csv(table, index=False)
    assert main(["weigh", str(table), str(out), "--observe", "x,y,rv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance"]["value"] == found.distance.value
    again = symreg.SkyWeighing.read(out)
    assert again.orbits == found.orbits
    assert str(again) == str(found)


def test_the_picture_has_orbit_and_observations(found):
    sky, velocities, left = found.plot().axes
    east, north = sky.lines[0].get_xydata().T
    assert np.hypot(np.diff(east), np.diff(north)).max() < 0.01
    assert sky.xaxis_inverted()
    assert velocities.get_ylabel().startswith("radial velocity")
    assert left.get_xlabel() == "year"
    series = {each.quantity: each for each in found.series}
    apart = np.subtract(series["rv"].value, series["rv"].fitted) / series["rv"].error
    assert 0.7 < apart.std() < 1.3


needs_shared = pytest.mark.skipif(
    not (SHARED / "s2").is_dir(), reason="the tables of other people's measurements are not here"
)


def star_s2():
    """S2 about the centre of the Galaxy: Gillessen et al., ApJ 837 (2017) 30, table 5."""
    files = sorted((SHARED / "s2").glob("*_*.csv"))
    names = {"t": "time", "vz": "rv", "vz_err": "rv_err"}
    tables = [pd.read_csv(f).assign(telescope=f.stem.split("_")[1]) for f in files]
    return pd.concat(tables, ignore_index=True).rename(columns=names)


@needs_shared
@pytest.mark.slow
def test_the_black_hole_of_the_galaxy():
    """Published: 4.3 million solar masses at 8.3 kpc, within 5 %."""
    found = symreg.weigh_sky(star_s2(), instrument="telescope", zero_point="common", **SEEN)
    (orbit,) = found.orbits
    assert abs(orbit.mass.value / 4.3e6 - 1) < 0.05
    assert abs(found.distance.value / 8300 - 1) < 0.05
    assert 2.0 in found.exponent


@needs_shared
@pytest.mark.slow
def test_the_planets_of_hd_164922():
    """Published (Fulton et al. 2016): 1201 and 75.8 days, 7.2 and 2.2 m/s."""
    table = pd.read_csv(SHARED / "hd164922" / "radial_velocities.txt", sep=r"\s+")
    table = table.rename(columns={"mnvel": "rv", "errvel": "rv_err"})
    found = symreg.weigh_sky(
        table, observe="rv", instrument="tel", velocity_unit="m/s", seen_mass=0.874, companions=2
    )
    for orbit, days, speed in zip(found.orbits, (1201.1, 75.765), (7.15, 2.22), strict=True):
        assert days / 365.25 in orbit.period
        assert speed / 1000 in orbit.velocity


@pytest.mark.filterwarnings("error")
@pytest.mark.slow
def test_a_table_that_hardly_tells_the_orbit_has_wide_intervals_and_no_warning():
    (orbit,) = symreg.weigh_sky(star(rows=(20, 10), errors=(0.01, 1000.0)), **SEEN).orbits
    assert MASS in orbit.mass
    assert orbit.mass.high > 3 * orbit.mass.low
