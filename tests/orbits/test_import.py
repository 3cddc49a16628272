"""Trajectories of any origin come in as they are, or not at all with one line that says where."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import orbits
from orbits.cli import main
from orbits.importing.horizons import read_vector_table
from orbits.units import LENGTHS, YEARS

TWO = ("x1,y1", "x2,y2")


def circles(count=200, bodies=2, dt=0.01):
    """Bodies on circles, a turn a year each about another centre."""
    t = dt * np.arange(count)
    columns = {"time": t}
    for body in range(bodies):
        columns[f"x{body + 1}"] = (body + 1) * np.cos(2 * np.pi * t + body)
        columns[f"y{body + 1}"] = (body + 1) * np.sin(2 * np.pi * t + body)
    return pd.DataFrame(columns)


def long_form(frame, bodies=2):
    parts = [
        pd.DataFrame(
            {"time": frame["time"], "x": frame[f"x{k}"], "y": frame[f"y{k}"], "name": f"b{k}"}
        )
        for k in range(1, bodies + 1)
    ]
    return pd.concat(parts).sort_values("time", kind="stable")


def test_even_positions_are_kept_to_the_bit_and_the_law_is_unknown():
    frame = circles()
    data = orbits.from_table(frame, position=TWO, bodies=("a", "b"))
    np.testing.assert_array_equal(data.position.values[0, :, 1, 0], frame["x2"])
    assert data.attrs["law"] == "unknown"
    assert data.attrs["system"] == "barycentric"
    assert data.attrs["bodies"] == ["a", "b"]
    assert np.isnan(data.gm).all()
    np.testing.assert_allclose(data.velocity.values[0, :, 0, 1], 2 * np.pi * frame["x1"], atol=1e-5)
    assert orbits.validate(data) == []
    assert "unknown" in orbits.describe(data)["law"]


@pytest.mark.parametrize("bodies", [1, 2, 3])
def test_the_number_of_bodies_decides_the_system(bodies):
    position = tuple(f"x{k},y{k}" for k in range(1, bodies + 1))
    data = orbits.from_table(circles(bodies=bodies), position=position)
    assert data.attrs["system"] == ("relative", "barycentric", "nbody")[bodies - 1]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy", "npz", "tsv", "csv.gz"])
def test_every_format_gives_the_same(tmp_path, ending):
    frame = circles(bodies=1).rename(columns={"x1": "x", "y1": "y"})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "npy":
        np.save(path, frame.to_numpy())
    elif ending == "npz":
        np.savez(path, **{name: frame[name].to_numpy() for name in frame})
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    found = orbits.from_table(path, tmp_path / "x.zarr")
    # at a radius of 1: pandas before 3.1 may round the last digit of a text
    atol = np.finfo(float).eps if "sv" in ending else 0
    expected = orbits.from_table(frame).position
    np.testing.assert_allclose(found.position, expected, rtol=0, atol=atol)
    assert orbits.validate(tmp_path / "x.zarr") == []


def test_long_and_wide_form_agree():
    frame = circles()
    wide = orbits.from_table(frame, position=TWO)
    long = orbits.from_table(long_form(frame), position="x,y", body="name")
    np.testing.assert_array_equal(wide.position, long.position)
    assert long.attrs["bodies"] == ["b1", "b2"]


@given(st.sampled_from(sorted(LENGTHS)), st.sampled_from(sorted(YEARS)))
@settings(max_examples=20, deadline=None)
def test_units_are_converted_there_and_back(length, time):
    frame = circles(bodies=1)
    there = frame.assign(
        time=frame["time"] / YEARS[time], x1=frame["x1"] / LENGTHS[length],
        y1=frame["y1"] / LENGTHS[length],
    )  # fmt: skip
    data = orbits.from_table(there, position="x1,y1", length_unit=length, time_unit=time)
    np.testing.assert_allclose(data.position.values[0, :, 0], frame["x1"], rtol=1e-12, atol=1e-12)
    assert data.attrs["dt"] == pytest.approx(0.01, rel=1e-9)


def test_a_velocity_in_another_unit_is_refused():
    frame = circles(bodies=1)
    frame["vx"], frame["vy"] = -2 * np.pi * frame["y1"], 2 * np.pi * frame["x1"]
    options = {"position": "x1,y1", "velocity": "vx,vy"}
    assert orbits.from_table(frame, **options).attrs["velocity"] == "as in the table"
    with pytest.raises(ValueError, match=r"change .* times as fast"):
        orbits.from_table(frame, **options, velocity_unit="km/s")


def test_irregular_samples_are_resampled_and_their_noise_is_told():
    random = np.random.default_rng(0)
    t = np.sort(random.uniform(0, 3, 900))
    noise = 1e-4
    frame = pd.DataFrame({"time": t, "x": np.cos(6 * t), "y": np.sin(6 * t)})
    exact = orbits.from_table(frame)
    frame[["x", "y"]] += noise * random.standard_normal((len(t), 2))
    rough = orbits.from_table(frame)
    assert 0.8 * noise < rough.attrs["smoothed_noise"] < 1.2 * noise
    grid = t[0] + rough.time.values
    assert np.max(np.abs(exact.position.values[0, :, 0] - np.cos(6 * grid))) < 1e-6
    # a spline of p coefficients keeps sqrt(p/n) of the noise: less than the noise itself
    assert np.sqrt(np.mean((rough.position.values[0, :, 0] - np.cos(6 * grid)) ** 2)) < noise
    assert any("resampled" in line for line in rough.attrs["remarks"])


def test_a_gap_cuts_and_nothing_is_filled_in():
    frame = circles(300)
    data = orbits.from_table(frame.drop(index=range(100, 180)), position=TWO)
    assert data.sizes["orbit"] == 2
    assert data.attrs["one_system"]
    starts = [row["start"] for row in data.attrs["trajectories"]]
    assert starts == pytest.approx([0.0, 1.8])
    assert any("gap" in line for line in data.attrs["remarks"])
    kept = set(np.round(frame["x1"], 12))
    assert set(np.round(data.position.values[:, :, 0, 0].ravel(), 12)) <= kept


def test_frames():
    frame = circles(bodies=3)
    three = ("x1,y1", "x2,y2", "x3,y3")
    seen = orbits.from_table(frame, position=three, bodies=("a", "b", "c"), relative_to="a")
    assert seen.attrs["bodies"] == ["a", "b", "c"]
    assert not seen.position.values[:, :, 0].any()
    np.testing.assert_allclose(seen.position.values[0, :, 1, 0], frame["x2"] - frame["x1"])
    sun = orbits.from_table(frame[["time", "x1", "y1"]], position="x1,y1", origin="sun")
    assert sun.attrs["system"] == "relative"
    assert sun.attrs["frame"] == "relative to sun"


def row(frame, index, **values):
    changed = frame.copy().astype(object)
    for name, value in values.items():
        changed.loc[index, name] = value
    return changed


BAD = {
    "column 'x9'": (lambda f: f, {"position": ("x9,y1", "x2,y2")}),
    "did you mean 'time'": (lambda f: f, {"time": "tme"}),
    r"row 6: x1 is '1.2 km'": (lambda f: row(f, 5, x1="1.2 km"), {}),
    r"row 8: y2 has no finite value": (lambda f: row(f, 7, y2=np.nan), {}),
    r"row 4: x1 has no finite value": (lambda f: row(f, 3, x1=np.inf), {}),
    r"row 5: the time goes backwards": (lambda f: row(f, 4, time=0.001), {}),
    r"row 5: the time is there twice": (lambda f: row(f, 4, time=0.03), {}),
    "has 1 state": (lambda f: f.iloc[:1], {}),
    "holds no rows": (lambda f: f.iloc[:0], {}),
    "every position of .* is zero": (lambda f: f.assign(x2=0.0, y2=0.0), {}),
    "does not move": (lambda f: f.assign(x2=1.0, y2=2.0), {}),
    "at one place": (lambda f: f.assign(x2=f["x1"], y2=f["y1"]), {}),
    "--samples 900|samples 900": (lambda f: f, {"samples": 900}),
    "relative-to z is not one of": (lambda f: f, {"relative_to": "z"}),
    "has 1 name": (lambda f: f, {"bodies": ("a",)}),
    "two or three columns": (lambda f: f, {"position": ("x1", "x2")}),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables_are_refused_with_the_place(message):
    change, options = BAD[message]
    with pytest.raises(ValueError, match=message):
        orbits.from_table(change(circles()), **{"position": TWO, **options})


def test_a_body_that_vanishes_is_refused():
    frame = long_form(circles())
    gone = frame[(frame["name"] == "b1") | (frame["time"] < 1.5)]
    with pytest.raises(ValueError, match=r"b2 is seen until time 1\.49 only"):
        orbits.from_table(gone, position="x,y", body="name")
    alone = orbits.from_table(gone, position="x,y", body="name", bodies=("b1",))
    assert alone.attrs["system"] == "relative"


def test_bad_rows_can_be_mended():
    frame = row(circles(), 7, y2=np.nan).sample(frac=1, random_state=0)
    data = orbits.from_table(frame, position=TWO, bad_rows="mend")
    assert data.sizes["time"] == 200
    assert len(data.attrs["remarks"]) == 3
    assert np.max(np.abs(data.position.values[0, :, 0, 0] - circles()["x1"])) < 1e-6


def test_commands_say_one_line_and_the_line_of_the_file(tmp_path, refused):
    path = tmp_path / "t.csv"
    row(circles(), 5, x1="many").to_csv(path, index=False)
    words = ["import", path, tmp_path / "x.zarr", "--position", "x1,y1", "--position", "x2,y2"]
    said = refused("orbits", *words)
    assert "line 7: x1 is 'many'" in said
    assert not (tmp_path / "x.zarr").exists()


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_table_or_one_clear_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"\S"):
        orbits.from_table(path)


HORIZONS = """
Target body name: Mars (499)                      {source: mar097}
Center body name: Sun (10)                        {source: mar097}
Output units    : %s
$$SOE
%s$$EOE
"""


def horizons(labelled, units="AU-D", states=5):
    lines = ""
    for k in range(states):
        date, x, v = 2451544.5 + k, np.cos(0.01 * k), -0.01 * np.sin(0.01 * k)
        y, w = np.sin(0.01 * k), 0.01 * np.cos(0.01 * k)
        when = "A.D. 2000-Jan-01 00:00:00.0000 TDB"
        if labelled:
            lines += (
                f"{date:.9f} = {when} \n X ={x: .15E} Y ={y: .15E} Z = 0.000000000000000E+00\n"
                f" VX={v: .15E} VY={w: .15E} VZ= 0.000000000000000E+00\n"
                " LT= 7.996E-03 RG= 1.384E+00 RR= 5.1E-05\n"
            )
        else:
            lines += f"{date:.9f}, {when}, {x:.15E}, {y:.15E}, 0.0E+00, {v:.15E}, {w:.15E}, 0.0,\n"
    return HORIZONS % (units, lines)


@pytest.mark.parametrize("labelled", [True, False])
def test_vector_tables_of_horizons(tmp_path, labelled):
    path = tmp_path / "mars.txt"
    path.write_text(horizons(labelled))
    data = orbits.from_table(path, position="ignored,too")
    assert data.attrs["frame"] == "as in the table"
    assert data.sizes["axis"] == 3
    assert data.attrs["dt"] == pytest.approx(1 / 365.25, rel=1e-9)
    np.testing.assert_allclose(data.position.values[0, :, 0], np.cos(0.01 * np.arange(5)))
    np.testing.assert_allclose(data.velocity.values[0, 0, 1], 0.01 * 365.25)
    assert read_vector_table(path).target == "mars"


ANGULAR = {
    "holds an angle": (("ra", "dec"), {}),
    r"\(mas\).*holds an angle": (("x_mas", "y_mas"), {}),
    r"length_unit is 'mas', an angle": (("x1", "y1"), {"length_unit": "mas"}),
}


@pytest.mark.parametrize("message", ANGULAR)
def test_angles_are_not_read_as_lengths(message):
    names, options = ANGULAR[message]
    frame = circles(bodies=1).set_axis(["time", *names], axis=1)
    with pytest.raises(ValueError, match=message) as told:
        orbits.from_table(frame, position=",".join(names), **options)
    assert "lengths" in str(told.value)


def days(count=40):
    return pd.date_range("2015-01-31", periods=count, freq="D")


DATES = {
    "iso": lambda: days().strftime("%Y-%m-%d"),
    "iso with a time of day": lambda: days().strftime("%Y-%m-%dT%H:%M:%SZ"),
    "calendar": lambda: days().strftime("%Y-%b-%d %H:%M"),
    "pandas": days,
}


@pytest.mark.parametrize("form", DATES)
def test_dates_are_read_and_said(form, tmp_path):
    frame = circles(40, 1, 1 / 365.25).assign(time=DATES[form]())
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        data = orbits.from_table(source, position="x1,y1")
        assert data.attrs["dt"] == pytest.approx(1 / 365.25, rel=1e-9)
        # 5508.5 days after noon of the first of January 2000
        assert data.attrs["trajectories"][0]["start"] == pytest.approx(5508.5 / 365.25)
        assert any("dates" in line for line in data.attrs["remarks"])


@pytest.mark.parametrize("text", ["31.01.2015", "1/31/2015", "12:34:56.7", "2015-13-01"])
def test_other_dates_are_refused_in_a_line_about_dates(text):
    with pytest.raises(ValueError, match=r"row 1: time is .* dates are read .* as 2015-01-31"):
        orbits.from_table(circles(bodies=1).assign(time=text), position="x1,y1")


def test_julian_dates_are_in_days():
    frame = circles(40, 1, 1.0).rename(columns={"time": "MJD"})
    with pytest.raises(ValueError, match="add --time-unit d"):
        orbits.from_table(frame, time="MJD", position="x1,y1")
    data = orbits.from_table(frame, time="MJD", position="x1,y1", time_unit="d")
    assert data.attrs["dt"] == pytest.approx(1 / 365.25)


def test_semicolons_and_decimal_commas(tmp_path):
    frame = circles(bodies=1)
    for decimal in ".,":
        frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=decimal)
        data = orbits.from_table(tmp_path / "t.csv", position="x1,y1")
        np.testing.assert_allclose(data.position.values[0, :, 0], frame["x1"], rtol=1e-15)


def test_velocities_of_horizons_are_said_to_be_its_own(tmp_path):
    (tmp_path / "mars.txt").write_text(horizons(True))
    assert orbits.from_table(tmp_path / "mars.txt").attrs["velocity"] == "as in the table"


@pytest.mark.parametrize("eccentricity", [0.0, 0.9])
def test_a_wild_row_is_told_and_a_pericentre_is_none(eccentricity):
    random = np.random.default_rng(0)
    anomaly = np.linspace(0, 20, 4000)
    frame = pd.DataFrame({
        "time": (anomaly - eccentricity * np.sin(anomaly)) / (2 * np.pi),
        "x": np.cos(anomaly) - eccentricity + 1e-7 * random.standard_normal(4000),
        "y": np.sqrt(1 - eccentricity**2) * np.sin(anomaly),
    }).iloc[:: 20 if eccentricity else 7].reset_index(drop=True)  # fmt: skip
    assert not any("far off" in line for line in orbits.from_table(frame).attrs["remarks"])
    frame.loc[57, "y"] += 0.5
    (line,) = (s for s in orbits.from_table(frame).attrs["remarks"] if "far off" in s)
    assert line.startswith("1 position(s) x,y")
    assert "row 58 by 0.5 au" in line


def test_arrays_are_a_dataset_with_their_law(tmp_path):
    made = orbits.generate(orbits=5, samples=200, seed=3, dtype="float64")
    data = orbits.from_arrays(
        made.position.values, float(made.dt), "newton", made.gm.values, made.velocity.values
    )
    assert data.attrs["law"] == "newton"
    assert orbits.validate(data) == []
    np.testing.assert_array_equal(data.gm, made.gm)
    own = orbits.from_arrays(made.position.values, float(made.dt), "newton", made.gm.values)
    assert orbits.validate(own) == []
    bare = orbits.from_arrays(made.position.values, float(made.dt), out=tmp_path / "a.zarr")
    assert bare.attrs["law"] == "unknown"
    assert orbits.validate(tmp_path / "a.zarr") == []
    np.testing.assert_allclose(bare.velocity, made.velocity, atol=1e-3 * abs(made.velocity).max())


REFUSED = {
    "1.01 times|0.5 times": ("newton", 2 * orbits.G),
    "do not obey hooke": ("hooke", orbits.G),
    "are given together": ("newton", 0.0),
    "did you mean 'newton'": ("newtno", orbits.G),
    "gm must be above 0": ("newton", np.array([orbits.G, -1.0])),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_law_that_orbits_do_not_obey_is_refused(message):
    made = orbits.generate(orbits=5, samples=200, seed=3, dtype="float64")
    law, gm = REFUSED[message]
    with pytest.raises(ValueError, match=message):
        orbits.from_arrays(made.position.values, float(made.dt), law, gm)


def test_a_table_may_say_its_law(tmp_path, capsys):
    path, out = tmp_path / "t.csv", str(tmp_path / "t.zarr")
    circles(bodies=1).to_csv(path, index=False)
    words = ["import", str(path), out, "--position", "x1,y1", "--law", "newton", "--gm"]
    assert main([*words, "20"]) == 2
    assert "1.97 times those of the law" in capsys.readouterr().err
    assert main([*words, str(orbits.G)]) == 0
    assert "law         newton" in capsys.readouterr().out
