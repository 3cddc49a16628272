"""What an hour of breaking found: odd data, odd names, odd files, and units by their constants."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import orbits
import worldmodel
from orbits.cli import main as orbits_command
from orbits.options import OptionError
from orbits.powers import power_law
from symreg.cli import main as symreg_command
from symreg.experiments.figures.law import plot_field
from symreg.recovery.user_table import written_names
from worldmodel.cli import main as worldmodel_command
from worldmodel.config import PredictorConfig, TrainConfig
from worldmodel.data import training_positions
from worldmodel.source import DatasetSource

TOGETHER = {"together": True, "frame": "icrf"}


@pytest.mark.parametrize(
    "settings",
    [
        {"bodies": ("sun", "jupiter", "saturn", "uranus")},
        {"bodies": ("sun", "earth", "moon", "jupiter")},
    ],
)
def test_real_bodies_side_by_side_are_valid_and_damage_is_seen(settings):
    data = orbits.ephemeris(**TOGETHER, **{"stop": 1954} | settings).load()
    assert orbits.validate(data) == []
    for body in range(len(settings["bodies"])):
        damaged = data.copy(deep=True)
        damaged["position"].values[0, 60, body, 0] += 1e-4
        assert "velocity is not the derivative" in " ".join(orbits.validate(damaged))


def test_what_is_sampled_too_coarsely_is_not_called_wrong():
    data = orbits.ephemeris(
        **TOGETHER, bodies=("sun", "mercury", "jupiter"), dt=0.08, stop=1961
    ).load()
    assert orbits.validate(data) == []


def test_bodies_side_by_side_begin_with_the_sun_that_attracts_them():
    with pytest.raises(OptionError, match="the sun first"):
        orbits.ephemeris(bodies=("jupiter", "saturn", "sun"), **TOGETHER)


@pytest.mark.parametrize("seed", [28, 30])
def test_bodies_that_part_are_valid(seed):
    # far from one another they hardly turn, and the force falls as fast as ever
    settings = {"system": "barycentric", "law": "power_law(n=3)", "samples": 16, "seed": seed}
    data = orbits.generate(**settings, orbits=200, simulator="scipy").load()
    assert orbits.validate(data) == []
    data["velocity"].values[124, 8] *= 1.001
    assert "velocity is not the derivative" in " ".join(orbits.validate(data))


@pytest.mark.parametrize("simulator", ["scipy", "scipy-lsoda", "heyoka"])
def test_standard_errors_hold_for_the_data_of_every_simulator(simulator):
    data = orbits.generate(
        system="nbody", orbits=3, samples=256, dt=0.005, dtype="float64", simulator=simulator,
        semi_major_axis=(1.0, 5.0), planets=2,
    )  # fmt: skip
    assert orbits.measure_forces(data).metrics["within_95"] > 0.9


def test_the_constant_of_a_law_too_steep_to_have_one_is_not_known():
    r = 1e30 * np.linspace(1.0, 1.1, 20)
    with warnings.catch_warnings(action="error"):
        fit = power_law((r / r[0]) ** -40, {"r": r}, np.arange(20) % 4, 50, 0)
    assert fit.exponents["r"].value == pytest.approx(-40)
    assert fit.constant.value is None


def test_a_force_that_only_repels_is_drawn(tmp_path):
    r = np.linspace(1, 2, 20)
    table = pd.DataFrame({"r": r, "x": r, "y": 0.0, "a_x": r, "a_y": 0.0, "a_r": r})
    axes = Figure().subplots()
    plot_field(axes, table, None, lambda distance: -distance, title="", color="k")
    with warnings.catch_warnings(action="error"):
        axes.figure.savefig(tmp_path / "law.png")
    assert "20 of 20 points repel" in axes.get_title()
    (hollow,) = axes.collections
    assert not len(hollow.get_facecolors())
    assert np.all(np.asarray(hollow.get_offsets())[:, 1] > 0), "at the size of the repulsion"


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; every warning is an error."""
    monkeypatch.chdir(tmp_path)

    def run(command, *arguments):
        with warnings.catch_warnings(action="error"):
            code = command(list(arguments))
        return code, "".join(capsys.readouterr())

    return run


def recovered(shell, table, *features, engine="rational"):
    settings = f"--target F --engine {engine} --seeds 1 --no-null --features".split()
    return shell(symreg_command, "recover", table, "law.json", *settings, *features)


RADII = np.random.default_rng(0).uniform(1, 5, 60)
TIMES = 0.01 * np.arange(40)
TRACK = {"time": TIMES, "x": np.cos(6 * TIMES), "y": np.sin(6 * TIMES)}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("r²", "r2"),
        ("x₁", "x1"),
        ("½", "x1_2"),
        ("area (m²)", "area"),
        ("\u00b5", "\u03bc"),  # the micro sign is read as the Greek letter
        ("log P (days)", "log_P_days"),
        ("২৹", "x২"),
        ("lambda", "lambda_"),
        ("r_1", "r_1"),
        ("_", "x"),
    ],
)
def test_a_column_is_written_as_python_reads_names(name, written):
    assert written_names([name]) == {name: written}


@pytest.mark.parametrize("name", ["r²", " r"])
def test_a_law_is_found_of_a_column_with_an_odd_name(shell, name):
    pd.DataFrame({"F": 3 / RADII**2, name: RADII}).to_csv("t.csv", index=False)
    code, text = recovered(shell, "t.csv", name.strip())
    assert code == 0, text
    assert "A law was found" in text or "3.0/r2^2" in text


def test_the_index_of_a_parquet_file_is_a_column(shell):
    pd.DataFrame({"F": 3 / RADII**2, "r": RADII}).set_index("r").to_parquet("t.parquet")
    code, text = recovered(shell, "t.parquet", "r")
    assert code == 0, text
    pd.DataFrame(TRACK).set_index("time").to_parquet("o.parquet")
    code, text = shell(orbits_command, "import", "o.parquet", "o.zarr")
    assert code == 0, text


def test_a_column_that_is_there_twice_is_refused(shell):
    pq.write_table(pa.table([pa.array(RADII)] * 3, names=["F", "r", "r"]), "t.parquet")
    assert recovered(shell, "t.parquet", "r") == (
        2, "symreg recover: t.parquet: there are several columns 'r'; rename them.\n"
    )  # fmt: skip
    names = ["time", "x", "x", "y"]
    pq.write_table(pa.table([pa.array(TIMES)] * 4, names=names), "o.parquet")
    code, text = shell(orbits_command, "import", "o.parquet", "o.zarr")
    assert code == 2
    assert "several columns 'x'" in text


@pytest.mark.parametrize(
    ("target", "feature"), [(1e160, 1), (1e100, 1), (1e-200, 1), (1, 1e200), (1, 1e-160)]
)
def test_numbers_that_overflow_are_refused_with_advice(shell, target, feature):
    table = {"F": 3 / RADII**2 * target, "r": RADII * feature}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, text = recovered(shell, "t.csv", "r")
    assert code == 2
    assert "take another unit" in text
    assert text.count("\n") == 1


WIDE = [-3.05, 2.87, 0.05, 2.0, -9.2e-106, 3.98, 1.9e15, -7.6, 1.6e-19, -2.6e16, -2.8e16, -2.6e-234]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "table",
    [
        {"F": 3 / RADII**2, "r": [5e-324, *RADII[1:]]},
        {"F": [*np.ones(len(RADII) - 1), 9e-106], "r": [*np.ones(len(RADII) - 1), 0.0]},
        {"F": WIDE, "r": WIDE},
        {"F": np.exp(-(np.linspace(1, 27, len(RADII)) ** 2)), "r": np.linspace(1, 27, len(RADII))},
    ],
)
def test_a_number_too_small_beside_others_counts_as_none(shell, table):
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, text = recovered(shell, "t.csv", "r", engine="projection")
    assert code == 0, text
    assert "Warning" not in text
    if min(table["F"]) >= 0:
        # of the tail alone, or without the one row
        assert ("A law was found" in text) == (list(table["F"])[-1] < 1e-200 or min(table["r"]) > 0)


@pytest.mark.few(2)
@pytest.mark.parametrize(("target", "feature"), [(1e44, 1e44), (1e98, 1), (1e-43, 1e-43), (1, -1)])
def test_large_small_and_negative_numbers_are_searched_without_a_warning(shell, target, feature):
    table = {"F": 3 / RADII**2 * target, "r": RADII * feature}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, text = recovered(shell, "t.csv", "r")
    assert code == 0, text


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_positions_that_overflow_are_refused_and_leave_nothing(shell, size, tmp_path):
    track = TRACK | {"x": size * TRACK["x"], "y": size * TRACK["y"]}
    pd.DataFrame(track).to_csv("o.csv", index=False)
    code, text = shell(orbits_command, "import", "o.csv", "o.zarr")
    assert (code, text.count("\n")) == (2, 1)
    assert os.listdir(tmp_path) == ["o.csv"]


NO_NUMBERS = {
    "complex": TRACK["x"] + 1j,
    "truth": TRACK["x"] > 0,
    "dates": pd.to_datetime("2020-01-01") + pd.to_timedelta(TIMES, unit="D"),
    "durations": pd.to_timedelta(TIMES, unit="D"),
}


@pytest.mark.parametrize("values", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_number_is_refused(values):
    with pytest.raises(ValueError, match=r"row 1: x is .*; a number is needed"):
        orbits.from_table(pd.DataFrame(TRACK | {"x": values}))


@pytest.mark.parametrize("x", [NO_NUMBERS["complex"], NO_NUMBERS["truth"]])
def test_an_array_of_no_numbers_is_refused(shell, x):
    columns = [TRACK["time"], x, TRACK["y"]]
    kind = x.dtype if x.dtype.kind == "c" else bool
    np.save("o.npy", np.stack(columns, axis=1).astype(kind))
    assert shell(orbits_command, "import", "o.npy", "o.zarr")[0] == 2
    np.savez("o.npz", time=columns[0], x=x, y=columns[2])
    assert shell(orbits_command, "import", "o.npz", "o.zarr")[0] == 2
    assert sorted(os.listdir()) == ["o.npy", "o.npz"]


def flipped(content, place):
    """A byte changed, counted from the first array's name, which stands before its numbers."""
    place += content.index(b".npy")
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda all: all[: len(all) // 2],
        lambda all: b"some text",
        *(lambda all, k=k: flipped(all, k) for k in (90, 170, 400)),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("by_orbit", [True, False])
def test_a_damaged_npz_is_one_line(shell, damage, save, by_orbit):
    track = {"time": TRACK["time"], "position": np.stack([TRACK["x"], TRACK["y"]], axis=-1)[None]}
    save("o.npz", **(track if by_orbit else TRACK))
    with open("o.npz", "rb+") as file:
        whole = file.read()
        file.seek(0)
        file.truncate()
        file.write(damage(whole))
    code, text = shell(orbits_command, "import", "o.npz", "o.zarr")
    assert (code, text.count("\n")) == (2, 1)
    assert "not a readable table" in text


def test_an_npz_is_refused_before_it_is_unpacked(shell, monkeypatch):
    np.savez_compressed("o.npz", time=np.arange(2e6), x=np.zeros(2_000_000), y=np.zeros(2_000_000))
    np.savez_compressed("z.npz", **{name: np.zeros(2_000_000) for name in TRACK})
    with monkeypatch.context() as patched:
        patched.setattr(np, "load", lambda *a, **k: pytest.fail("it was unpacked"))
        code, text = shell(orbits_command, "import", "z.npz", "z.zarr")
    assert code == 2
    assert "0.048 GB are packed into it" in text


PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@pytest.mark.parametrize("ending", [*PACKED, ".zip"])
def test_a_packed_table_is_refused_unread(shell, monkeypatch, ending):
    pd.DataFrame({"F": 3 / RADII**2, "r": RADII}).to_csv(f"t.csv{ending}", index=False)
    with monkeypatch.context() as patched:
        patched.setattr(pd, "read_csv", lambda *a, **k: pytest.fail("it was unpacked"))
        for code, text in (
            recovered(shell, f"t.csv{ending}", "r"),
            shell(orbits_command, "import", f"t.csv{ending}", "o.zarr"),
        ):
            assert (code, text.count("\n")) == (2, 1)
            assert "unpack it first" in text


@pytest.mark.parametrize("ending", [*PACKED, ".zip", ".zst", ".tar"])
def test_a_damaged_packed_table_is_one_line(shell, ending):
    with open(f"t.csv{ending}", "wb") as file:
        file.write(bytes(range(256)))
    code, text = recovered(shell, f"t.csv{ending}", "r")
    assert (code, text.count("\n")) == (2, 1)
    code, text = shell(orbits_command, "import", f"t.csv{ending}", "o.zarr")
    assert (code, text.count("\n")) == (2, 1)


def test_an_empty_archive_is_one_line(shell):
    zipfile.ZipFile("t.csv.zip", "w").close()
    code, text = recovered(shell, "t.csv.zip", "r")
    assert (code, text.count("\n")) == (2, 1)


def test_an_npz_is_read_with_its_columns(shell):
    np.savez("o.npz", time=TIMES, r=np.stack([TRACK["x"], TRACK["y"]], axis=1), unused=TIMES)
    code, text = shell(
        orbits_command, "import", "o.npz", "o.zarr", "--position", "r_x,r_y", "--time", "time"
    )
    assert code == 0, text
    there = orbits.open_dataset("o.zarr").position.values[0]
    np.testing.assert_array_equal(there, np.stack([TRACK["x"], TRACK["y"]], axis=1))


def test_what_is_not_finite_leaves_no_folder(shell, tmp_path):
    # the positions are finite, and their derivatives are not
    track = TRACK | {"time": TIMES * 1e-290, "x": TRACK["x"] * 1e40, "y": TRACK["y"] * 1e40}
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="not finite"):
        orbits.from_table(pd.DataFrame(track), tmp_path / "o.zarr")
    assert os.listdir(tmp_path) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_a_closed_stream_changes_nothing(tmp_path, closed):
    command = f"{sys.executable} -m orbits generate o.zarr --orbits 2 --samples 4 {closed}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=_environment())
    assert done.returncode == 0
    assert orbits.validate(tmp_path / "o.zarr") == []


def test_standard_streams_that_are_none_change_nothing(monkeypatch, tmp_path):
    for name in ("stdin", "stdout", "stderr"):  # as of a program with a window and no terminal
        monkeypatch.setattr(sys, name, None)
    assert orbits_command(["generate", str(tmp_path / "o.zarr"), "--orbits", "20"]) == 0
    assert orbits_command(["generate", str(tmp_path / "p.zarr"), "--orbits", "x"]) == 2
    worldmodel.train(str(tmp_path / "o.zarr"), steps=1)
    assert orbits.validate(tmp_path / "o.zarr") == []


@pytest.mark.slow  # two processes, 6 s
def test_a_home_that_cannot_be_written_to_is_not_spoken_of(tmp_path):
    for words in (
        ["generate", "o.zarr", "--orbits", "2", "--samples", "4"],
        ["plot", "o.zarr", "o.png"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "orbits", *words, "--quiet"], cwd=tmp_path, check=True,
            env={**_environment(), "HOME": "/proc"}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.stderr == ""


def test_c_code_that_aborts_when_taken_down_does_not_after_an_interruption(tmp_path):
    (tmp_path / "abrupt").mkdir()
    (tmp_path / "abrupt/cli.py").write_text(
        "import atexit, ctypes, logging\n"
        "def main():\n"
        "    c = ctypes.CDLL(None)\n"
        "    c.__cxa_atexit(c.abort, None, None)\n"
        "    atexit.register(print, 'tidied')\n"
        "    atexit.register(logging.warning, 'a thread did not end')\n"
        "    atexit.register(int, 'no number')\n"  # of zarr's loop in mid-work
        "    return 130\n"
    )
    line = "from orbits.entry import enter; enter('abrupt')"
    done = subprocess.run(
        [sys.executable, "-c", line], cwd=tmp_path, env=_environment(), capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"tidied\n", b"")


def _environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path)])}


# Units, written here and taken from nowhere: a year is 365.25 days of 86 400 s, an au
# 149 597 870 700 m (IAU 2012 B2), a parsec 648 000/pi au.
TIMES_IN_YEARS = {
    "yr": 1.0,
    "d": 0.0027378507871321013,
    "h": 0.00011407711613050422,
    "min": 1.9012852688417370e-06,
    "s": 3.1688087814028950e-08,
}
LENGTHS_IN_AU = {
    "au": 1.0,
    "km": 6.6845871222684454e-09,
    "m": 6.6845871222684454e-12,
    "cm": 6.6845871222684454e-14,
    "pc": 206264.80624709636,
}


@pytest.mark.parametrize("unit", TIMES_IN_YEARS)
def test_times_of_a_table_are_in_years(unit):
    data = orbits.from_table(pd.DataFrame(TRACK), time_unit=unit)
    assert data.attrs["dt"] == pytest.approx(0.01 * TIMES_IN_YEARS[unit], rel=1e-12)
    if unit != "min":
        assert PredictorConfig(time_unit=unit).time == pytest.approx(TIMES_IN_YEARS[unit], 1e-12)


@pytest.mark.parametrize("unit", LENGTHS_IN_AU)
def test_positions_of_a_table_are_in_au(unit):
    data = orbits.from_table(pd.DataFrame(TRACK), length_unit=unit)
    assert data.position.values[0, 0, 0] == pytest.approx(LENGTHS_IN_AU[unit], rel=1e-12)
    assert PredictorConfig(length_unit=unit).length == pytest.approx(LENGTHS_IN_AU[unit], 1e-12)


def test_one_training_orbit_in_eight_is_kicked(tmp_path):
    orbits.generate(tmp_path / "o.zarr", orbits=200, samples=8, simulator="kepler")
    source = DatasetSource(tmp_path / "o.zarr")
    plain, kicked = (
        training_positions(source, range(200), TrainConfig(kicked=share)) for share in (0.0, 0.125)
    )
    changed = (plain != kicked).any(-1).any(-1).any(-1).float().mean()
    # 25 of 200 expected, standard deviation 4.7: five of them
    assert 0.01 < changed < 0.25


@pytest.mark.parametrize(
    ("command", "words", "ending"),
    [
        (orbits_command, "forces data.zarr f.csv", ".parquet"),
        (worldmodel_command, "probe model data.zarr f.txt", ".parquet"),
        (worldmodel_command, "probe model data.zarr f.csv --readout far", ".json"),
        (worldmodel_command, "attention model data.zarr p.json", ".png"),
        (symreg_command, "recover t.csv law.csv --target F --features r", ".json"),
        (symreg_command, "weigh data.zarr masses.csv", ".json"),
    ],
)
def test_a_name_that_promises_another_format_is_refused_before_any_work(
    shell, command, words, ending, tmp_path
):
    code, text = shell(command, *words.split())
    assert (code, text.count("\n")) == (2, 1)
    assert text.endswith(f", but a {ending} file is written; name it so.\n")
    assert os.listdir(tmp_path) == []
