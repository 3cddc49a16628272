"""Trajectories of any origin come in as they are, or not at all with one line that says where."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import orbits
import symreg
from orbits.cli import main
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
    data = orbits.from_table(frame, position=TWO)
    np.testing.assert_array_equal(data.position.values[0, :, 1, 0], frame["x2"])
    assert data.attrs["law"] == "unknown"
    assert data.attrs["system"] == "barycentric"
    assert data.attrs["bodies"] == ["body1", "body2"]
    assert np.isnan(data.gm).all()
    np.testing.assert_allclose(data.velocity.values[0, :, 0, 1], 2 * np.pi * frame["x1"], atol=1e-5)
    assert orbits.validate(data) == []
    assert "unknown" in orbits.describe(data)["law"]


@pytest.mark.parametrize("bodies", [1, 2, 3])
def test_the_number_of_bodies_decides_the_system(bodies):
    position = tuple(f"x{k},y{k}" for k in range(1, bodies + 1))
    data = orbits.from_table(circles(bodies=bodies), position=position)
    assert data.attrs["system"] == ("relative", "barycentric", "nbody")[bodies - 1]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy", "npz", "tsv"])
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
    frame[["vx", "vy"]] *= 4.74  # km/s
    with pytest.raises(ValueError, match=r"change 0\.2108 times as fast"):
        orbits.from_table(frame, **options)


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


def test_times_rounded_to_float32_are_said():
    days, x = 2459000.5 + 1.83 * np.arange(300), circles(300, 1)[["x1", "y1"]].to_numpy()
    for dtype in (np.float32, np.float64):
        time = days.astype(dtype)
        table = pd.DataFrame({"time": time, "x": x[:, 0], "y": x[:, 1]})
        for data in (
            orbits.from_table(table, time_unit="d"),
            orbits.from_arrays(x[None], time=time, time_unit="d"),
        ):
            said = any("rounded to 0.25 d" in line for line in data.attrs["remarks"])
            assert said == (dtype is np.float32)


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


def test_an_origin_is_the_first_of_several_bodies_and_the_centre_of_one():
    frame = circles(bodies=2)
    sun = orbits.from_table(frame, position=TWO, origin="sun")
    assert sun.attrs["bodies"] == ["sun", "body1", "body2"]
    assert not sun.position.values[:, :, 0].any()
    one = orbits.from_table(frame, position="x1,y1", origin="sun")
    assert one.attrs["system"] == "relative"
    assert one.attrs["frame"] == "relative to sun"


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
    r"row 5: the time is there twice, at positions up to 0.0\d+ au apart": (
        lambda f: row(f, 4, time=0.03),
        {},
    ),
    "has 1 state": (lambda f: f.iloc[:1], {}),
    "holds no rows": (lambda f: f.iloc[:0], {}),
    "every position of .* is zero": (lambda f: f.assign(x2=0.0, y2=0.0), {}),
    "does not move": (lambda f: f.assign(x2=1.0, y2=2.0), {}),
    "at one place": (lambda f: f.assign(x2=f["x1"], y2=f["y1"]), {}),
    "--samples 900|samples 900": (lambda f: f, {"samples": 900}),
    "needs at least 3": (lambda f: f, {"samples": 1}),
    r"row 1: time is '2015-01-31'": (lambda f: f.assign(time="2015-01-31"), {}),
    r"row 2: x1 is '1e\+300'": (lambda f: row(f, 1, x1=1e300), {}),
    "several columns 'x1'": (lambda f: f.set_axis(["time", "x1", "y1", "x1", "y2"], axis=1), {}),
    "two or three columns": (lambda f: f, {"position": ("x1", "x2")}),
    "names the column x2 twice": (lambda f: f, {"position": ("x1,y1", "x2,x2")}),
    "names the column time twice": (lambda f: f, {"position": ("x1,y1", "time,y2")}),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables_are_refused_with_the_place(message):
    change, options = BAD[message]
    with pytest.raises(ValueError, match=message):
        orbits.from_table(change(circles()), **{"position": TWO, **options})


def test_bodies_that_are_not_seen_at_the_same_times_are_refused():
    frame = long_form(circles())
    gone = frame[(frame["name"] == "b1") | (frame["time"] < 1.5)]
    with pytest.raises(ValueError, match=r"not seen at the same times, the first 1\.5"):
        orbits.from_table(gone, position="x,y", body="name")
    gone = frame.assign(run=np.where(frame["time"] < 1, "r1", "r2"))
    gone = gone[(gone["name"] == "b1") | (gone["run"] == "r1")]
    with pytest.raises(ValueError, match=r"body b2 has no rows in orbit r2"):
        orbits.from_table(gone, position="x,y", body="name", orbit="run")


FIELDS = {  # R's write.table names no rows; one row with a decimal comma; a comma too many
    "line 2: the line has 4 fields, the header 3": "time,x,y\n1,0.0,1.0,0.0\n2,0.1,1.1,0.1\n",
    "line 3: the line has 4 fields, the header 3": "time,x,y\n0.0,1.0,0.0\n0,1,1.1,0.1\n",
    "line 4: the line has 5 fields, the header 3": 'time,x,y\n0,"1\n1",0\n0,1,1,0,1\n',
    "several columns 'x'": "time,x,y,x\n0,1,2,3\n1,2,3,4\n2,3,4,5\n",
}


@pytest.mark.parametrize("message", FIELDS)
def test_shifted_fields_and_repeated_names_of_a_text_are_refused(message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(FIELDS[message])
    with pytest.raises(ValueError, match=message):
        orbits.from_table(path)
    with pytest.raises(ValueError, match=message):  # the same reader
        symreg.recover(path, target="x", features=("y",))


def test_a_table_of_a_measuring_program_is_read(tmp_path):
    """A byte order mark, spaces after the commas, an empty line, names in quotes."""
    path = tmp_path / "t.csv"
    rows = [f"{t}, {np.cos(t):.17g}, {np.sin(t):.17g}" for t in np.arange(0, 6, 0.125)]
    path.write_text("\n".join(['\ufeff"time", "x", y', *rows, ""]), encoding="utf-8")
    assert orbits.from_table(path).sizes["time"] == 48
    path.write_text("\n".join(["time,x,y", *rows[:3], "", *rows[3:]]))
    with pytest.raises(ValueError, match=r"line 5: time has no finite value"):
        orbits.from_table(path)


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zip", "csv.bz2"])
def test_a_compressed_text_is_sent_to_be_unpacked(ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    circles(bodies=1).to_csv(path)
    with pytest.raises(ValueError, match="is compressed; unpack it first"):
        orbits.from_table(path)


def test_a_member_of_npz_that_is_no_array_is_refused(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, time=np.arange(9.0), x=np.arange(9.0), y=np.ones(9))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "three columns")
    with pytest.raises(ValueError, match=r"its member 'readme.txt' is no array"):
        orbits.from_table(path)


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


def test_semicolons_and_decimal_commas(tmp_path):
    frame = circles(bodies=1)
    for decimal in ".,":
        frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=decimal)
        data = orbits.from_table(tmp_path / "t.csv", position="x1,y1")
        np.testing.assert_allclose(data.position.values[0, :, 0], frame["x1"], rtol=1e-15)


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


def test_arrays_with_times_in_other_units():
    t = np.sort(np.random.default_rng(0).uniform(0, 3, (2, 900)), axis=1)
    circle = np.stack([np.cos(6 * t), np.sin(6 * t)], axis=-1)
    km, day = 149_597_870.7, 365.25
    data = orbits.from_arrays(circle * km, time=t * day, length_unit="km", time_unit="d")
    assert data.sizes["orbit"] == 2
    assert any("resampled" in line for line in data.attrs["remarks"])
    grid = data.attrs["trajectories"][1]["start"] + data.time.values
    assert np.max(np.abs(data.position.values[1, :, 0] - np.cos(6 * grid))) < 1e-6
    assert np.max(np.abs(data.velocity.values[1, :, 1] - 6 * np.cos(6 * grid))) < 1e-3
    even = np.arange(200) * 0.01
    circle = np.stack([np.cos(6 * even), np.sin(6 * even)], axis=-1)[None]
    once, dt = orbits.from_arrays(circle, time=even), orbits.from_arrays(circle, 0.01)
    np.testing.assert_array_equal(once.position, dt.position)
    assert once.attrs["dt"] == pytest.approx(dt.attrs["dt"], rel=1e-12)


def test_npz_with_arrays_by_orbit_time_and_axis(tmp_path):
    made = orbits.generate(orbits=3, samples=64, seed=3, dtype="float64")
    names = {"position": made.position, "velocity": made.velocity, "time": made.time}
    np.savez(tmp_path / "a.npz", **{name: values.values for name, values in names.items()})
    out = str(tmp_path / "a.zarr")
    assert main(["import", str(tmp_path / "a.npz"), out, "--law", "newton", "--gm", "39.478"]) == 0
    np.testing.assert_array_equal(orbits.open_dataset(out).velocity, made.velocity)
    del names["time"]
    np.savez(tmp_path / "a.npz", **{name: values.values for name, values in names.items()})
    with pytest.raises(ValueError, match="has no array time beside position"):
        orbits.from_table(tmp_path / "a.npz")


T = np.arange(50) * 0.02
CIRCLE = np.stack([np.cos(6 * T), np.sin(6 * T)], axis=-1)[None]
ARRAYS = {
    "either dt, the time between states, or time": {},
    "dt is a ndarray; it should be a valid number": {"dt": T},
    "the body of orbit 0 does not move": {"dt": 0.1, "positions": 0 * CIRCLE},
    "length_unit 'mas' is not known": {"dt": 0.1, "length_unit": "mas"},
    "time_unit 'year' is not known": {"dt": 0.1, "time_unit": "year"},
    r"time has the shape \(49,\); \(50,\) or \(1, 50\)": {"time": T[1:]},
    "the times of orbit 0 do not rise": {"time": T[::-1]},
    "times of orbit 0 do not rise; .* each time once": {"time": np.where(T == 0.04, 0.02, T)},
    "are given together": {"dt": 0.02, "gm": 1e30},
    "must be finite throughout, and at most": {"dt": 0.02, "positions": CIRCLE * 1e300},
    r"orbit 0 every 0\.02 yr and orbit 2 every 2e\+07 yr are sampled": {
        "positions": CIRCLE.repeat(3, axis=0),
        "time": np.stack([T, T, 1e9 * T]),
    },
    "has no finite value at 1 au": {"dt": 0.02, "law": "GM*(r-3)**0.5", "gm": 36.0},
    "does not depend on r": {"dt": 0.02, "law": "0*r", "gm": 36.0},
    "gm is 1e.300; at most 1e45": {"dt": 0.02, "law": "newton", "gm": 1e300},
}


@pytest.mark.parametrize("message", ARRAYS)
@pytest.mark.filterwarnings("error")
def test_arrays_that_are_no_orbits_are_refused(message):
    options = {"positions": CIRCLE, **ARRAYS[message]}
    with pytest.raises(ValueError, match=message):
        orbits.from_arrays(**options)


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
