"""Tables: which rows, labels, numbers and units are read, from whatever holds them."""

import decimal
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import orbits
from orbits.tables import labels_of, named_rows, numbers_of, read_columns, require_column
from orbits.units import parse_unit

quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
cells = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(
        ['"a, b"', '"two\nlines"', '"a ""quoted"" word"', "5' pipe", '6" pipe', "word"]
    ),
)


@quick
@given(
    header=st.sampled_from(["note", '"note\n(free\r\ntext)"', '"a ""b"" note"', '5" note']),
    above=st.integers(0, 3),
    rows=st.lists(st.tuples(cells, st.integers(0, 2)), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_every_row_of_a_text_is_read_and_named_by_its_line(header, above, rows, end, tmp_path):
    """Quoted line breaks, blank lines and stray quotation marks move no row, and hide none."""
    text = end * above + f"{header},k" + end
    lines = []
    for k, (cell, blanks) in enumerate(rows):
        text += end * blanks
        lines.append(len(text.encode().splitlines()) + 1)
        text += f"{cell},{k}" + end
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    frame, there = read_columns(path, ["k"], blank_lines=False)
    assert there[1] == "k"
    assert frame["k"].tolist() == list(range(len(rows)))
    assert frame.index.tolist() == list(range(len(rows)))
    for k, line in enumerate(lines):
        assert named_rows(path, [k]) == f"row {k + 1}, line {line}"


@quick
@given(
    texts=st.lists(
        st.one_of(
            st.from_regex(r"0?[1-3](\.0)?", fullmatch=True),
            st.integers(10**18, 10**18 + 5).map(str),
            st.sampled_from(["NA", "nan", "None", "1e3", "-0", "true", "µ", "μ"]),
        ),
        min_size=1,
        max_size=20,
    )
)
@example(texts=["1", "1.0"])
def test_labels_are_one_where_their_texts_are_one(texts, tmp_path):
    """In a text, in Parquet and in memory: 1, 01 and 1.0 are three, and 19 digits are all read."""
    frame = pd.DataFrame({"g": texts})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet", frame, frame.astype("category")):
        read, _ = read_columns(source, ["g"], labels=["g"])
        assert read["g"].notna().all()
        assert len(set(zip(texts, read["g"], strict=True))) == len(set(texts)) == read.g.nunique()


def test_a_column_of_numbers_stays_what_it_is():
    """Whole numbers of 19 digits too, beside a missing one."""
    large = [10**18 + 1, None, 10**18 + 2]
    table = pa.table({"g": pa.array(large, pa.int64()), "x": [1.0, 2.0, 3.0]})
    read, _ = read_columns(orbits.tables.as_table(table), ["g"], labels=["g"])
    assert read["g"].isna().tolist() == [False, True, False]
    assert read["g"].tolist()[::2] == large[::2]
    assert labels_of(pd.Series([2.5, 1.0])).tolist() == [2.5, 1.0]
    assert labels_of(pd.Series(["77", "4.2"])).tolist() == [77, 4.2]


def test_numbers_are_read_from_objects_and_text():
    """Decimals, integers above 2**64 and text; no booleans, dates, durations or complex numbers."""
    given = [1.5, 10**20, decimal.Decimal("2.50"), "3e2", None, "a", True, 1j, 10**400]
    numbers = numbers_of(pd.Series(given, dtype=object))
    assert numbers[:4].tolist() == [1.5, 1e20, 2.5, 300.0]
    assert np.isnan(numbers[4:]).all()
    others = [pd.to_timedelta([1, 2], unit="s"), pd.to_datetime(["2020-01-01"] * 2), [True, False]]
    assert all(np.isnan(numbers_of(pd.Series(each))).all() for each in others)


@pytest.mark.parametrize(
    ("text", "rows"),
    {
        'r;F;by\n1.5;2;"a, b, c, d, e"\n2.5;3;x\n': [[1.5, 2.0], [2.5, 3.0]],
        "r;F;of, the, four, five\n1.5;2;x\n": [[1.5, 2.0]],
        "r;F\n" + "1;2\n" * 3000 + "0,5;1,5\n": [[1.0, 2.0]] * 3000 + [[0.5, 1.5]],
        "r\tF\tby\n0,5\t2\ta;b;c;d\n": [[0.5, 2.0]],
        "\n\nr,F,by\n1.5,2,a;b;c;d\n": [[1.5, 2.0]],
        "r,F\n100000000000000000000,2\n1,3\n": [[1e20, 2.0], [1.0, 3.0]],
    }.items(),
)
def test_what_parts_columns_and_decimals_is_seen_in_all_rows(text, rows, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    frame, _ = read_columns(path, ["r", "F"])
    assert np.column_stack([numbers_of(frame[name]) for name in ("r", "F")]).tolist() == rows


def test_points_beside_decimal_commas_are_no_numbers(tmp_path):
    """1.500 is a thousand and a half there: it is refused, not read as 1.5."""
    (tmp_path / "t.csv").write_text("r;F\n0,5;1.500\n1,5;2\n")
    with pytest.raises(ValueError, match=r"the column F has '1.500', and others decimal commas"):
        read_columns(tmp_path / "t.csv", ["r", "F"])
    assert read_columns(tmp_path / "t.csv", ["r", "F"], labels=["F"])[0]["F"].tolist()[1] == "2"


@pytest.mark.parametrize(
    ("text", "line"),
    {
        'r,"m,F\n1,2,3\n4,5,6\n': 1,
        'r,"m,F,by\n1,2,3,"Smith, J."\n4,5,6,"Doe, J."\n': 1,
        'r,m,F\n1,2,3\n4,"5,6\n7,8,9\n': 3,
        'r,m,F\n1,2,3\n4,5,"6': 3,
    }.items(),
)
def test_an_open_quotation_mark_is_named_by_its_line(text, line, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"line {line}: a quotation mark opens there") as said:
        read_columns(path, ["r"])
    assert len(str(said.value).splitlines()) == 1


def test_near_names_do_without_units():
    for name, near in {"F": "Force", "force": "Force", "Force N": "Force", "dist": "r"}.items():
        with pytest.raises(ValueError, match="not known") as said:
            require_column(name, ["Force [N]", "r (m)"], "t", lambda h: h.partition(" ")[0])
        assert (f"did you mean {near!r}?" in str(said.value)) == (name != "dist")


@dataclass
class Quantity:
    """The least that carries a unit: as astropy calls the parts, or as pint does."""

    value: np.ndarray
    unit: str

    def to(self, unit):
        one, other = parse_unit(self.unit), parse_unit(unit)
        if one.powers != other.powers:
            raise TypeError(f"{self.unit} and {unit} are not convertible")
        return type(self)(np.asarray(self.value) * (one.size / other.size), unit)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value, dtype)  # without its unit, as theirs


class Pint(Quantity):
    """The same with pint's names."""

    units = property(lambda self: self.unit)
    magnitude = property(lambda self: self.value)


time = np.arange(120) * 0.01
positions = np.stack([np.cos(6 * time), np.sin(6 * time)], -1)[None]
velocities = np.stack([-6 * np.sin(6 * time), 6 * np.cos(6 * time)], -1)[None]


@quick
@given(
    kind=st.sampled_from([Quantity, Pint]),
    length=st.sampled_from(["au", "km", "m", "pc"]),
    years=st.sampled_from(["yr", "d", "h", "s"]),
    length_unit=st.sampled_from(["au", "km"]),
    time_unit=st.sampled_from(["yr", "d"]),
)
def test_units_that_arrays_carry_are_converted(kind, length, years, length_unit, time_unit):
    x, t, v, gm = (
        kind(np.asarray(values), own).to(unit)
        for values, own, unit in (
            (positions, "au", length),
            (time, "yr", years),
            (velocities, "au/yr", f"{length}/{years}"),
            (36.0, "au^3/yr^2", f"{length}^3/{years}^2"),
        )
    )
    of_law = {"velocities": v, "law": "newton", "gm": gm}
    data = orbits.from_arrays(x, **of_law, length_unit=length_unit, time_unit=time_unit, time=t)
    dt = kind(np.asarray(0.01), "yr").to(years)
    stepped = orbits.from_arrays(x, dt, **of_law, length_unit=length_unit, time_unit=time_unit)
    for each in (data, stepped):
        assert each.attrs["dt"] == pytest.approx(0.01, rel=1e-12)
    np.testing.assert_allclose(data.position, positions, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(data.velocity, velocities, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(data.gm, 36.0, rtol=1e-12)


def test_arrays_of_a_dataset_carry_their_units():
    data = orbits.from_arrays(positions, time=time)
    again = orbits.from_arrays(data.position, time=data.time, length_unit="km", time_unit="d")
    np.testing.assert_allclose(again.position, positions, rtol=1e-12)
    assert again.attrs["dt"] == pytest.approx(0.01, rel=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"positions": Quantity(positions, "s")},
        {"positions": [Quantity(each, "km") for each in positions]},
        {"positions": np.ma.masked_greater(positions, 0.9)},
        {"time": Pint(time, "km")},
        {"time": xr.DataArray(time, attrs={"units": "au"})},
        {"time": pd.Timestamp("2020-01-01") + pd.to_timedelta(time, unit="D")},
        {"time": None, "dt": Quantity(np.asarray(0.01), "m")},
        {"gm": Quantity(np.asarray(36.0), "au"), "law": "newton"},
    ],
)
def test_other_units_dates_and_masks_are_refused(wrong):
    with pytest.raises(ValueError) as said:
        orbits.from_arrays(**{"positions": positions, "time": time} | wrong)
    assert len(str(said.value).splitlines()) == 1


@pytest.mark.parametrize("kind", [Quantity, Pint])
def test_what_converts_nothing_takes_no_units(kind):
    law = orbits.parse_law("newton")
    for k in range(3):
        given = [positions, velocities, np.array([36.0])]
        given[k] = kind(given[k], "km")
        with pytest.raises(ValueError, match="carries a unit; give its numbers alone"):
            orbits.specific_energy(law, *given)


durations = pd.to_timedelta(time * 365.25, unit="D")


@pytest.mark.parametrize("unit", ["yr", "s"])
@pytest.mark.parametrize(
    "given",
    [durations, durations.to_numpy(), pd.Series(durations), list(durations.to_pytimedelta())],
)
def test_durations_are_times_whatever_the_unit(given, unit):
    data = orbits.from_arrays(positions, time=given, time_unit=unit)
    assert data.attrs["dt"] == pytest.approx(0.01, rel=1e-9)


def test_durations_in_tables(tmp_path):
    frame = pd.DataFrame({"time": durations, "x": positions[0, :, 0], "y": positions[0, :, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    for table in (frame, tmp_path / "t.parquet", pa.table(frame)):
        data = orbits.from_table(table, time_unit="d")
        assert data.attrs["dt"] == pytest.approx(0.01, rel=1e-9)
        np.testing.assert_allclose(data.position[0], positions[0], rtol=1e-12)
    for wrong in ({"time": pd.Timestamp("2020-01-01") + durations}, {"x": durations}):
        with pytest.raises(ValueError, match=r"time|x"):
            orbits.from_table(frame.assign(**wrong))


def test_a_constant_of_a_law_has_one_value():
    for text in ("k*r; k=1; k=2", "k*r**-2; k=1; k=1", "µ*r; µ=1; μ=2"):
        with pytest.raises(ValueError, match="twice"):
            orbits.parse_law(text)
    assert orbits.parse_law("µ*r; µ=2").radial_acceleration(3.0, 1.0) == pytest.approx(-6)


ROWS = "".join(f"{0.5 + 0.01 * k},{4 / (0.5 + 0.01 * k) ** 2}\n" for k in range(60))


@pytest.mark.parametrize(
    "written",
    {
        "utf-16": ("r,F\n" + ROWS).encode("utf-16"),
        "utf-16 without its mark": ("r,F\n" + ROWS).encode("utf-16-le"),
        "big-endian": ("r,F\n" + ROWS).encode("utf-16-be"),
        "latin-1": ("r,F,Größe\n" + ROWS.replace("\n", ",Ål\n")).encode("latin-1"),
        "numpy.savetxt": ("# made by hand\n# r,F\n" + ROWS).encode(),
        "numpy.savetxt, blanks": ("# r F\n" + ROWS.replace(",", " ")).encode(),
        "remarks": ("# made\n#\nr,F\n" + ROWS + "# a pause\n" + ROWS).encode(),
        "blanks": ("  r    F\n" + ROWS.replace(",", "   ").replace("\n", "\n  ")).encode(),
        "30 000 columns": "".join(
            line + f",{k:.9g}" * 30_000 + "\n" for k, line in enumerate(["r,F", *ROWS.split()[:9]])
        ).encode(),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_a_text_is_read_as_programs_write_it(written, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(written[1])
    frame, there = read_columns(path, ["r", "F"], blank_lines=False)
    assert {"r", "F"} <= set(there)
    assert len(frame) >= 9
    assert frame["F"].to_numpy()[-1] == pytest.approx(4 / frame["r"].to_numpy()[-1] ** 2)


def test_numbers_without_a_header_are_columns_as_of_an_array(tmp_path):
    path = tmp_path / "table.txt"
    np.savetxt(path, np.column_stack([np.arange(20.0)] * 3))
    frame, there = read_columns(path, ["time", "x", "y"])
    assert there == ["time", "x", "y"]
    assert len(frame) == 20
    assert named_rows(path, [4]) == "row 5, line 5"
    path.write_text("# from here\n# a b\n1 2\n\n# and on\n3 x\n", encoding="utf-8")
    assert named_rows(path, [1]) == "row 2, line 6"


def test_a_name_that_is_no_text_is_named():
    frame = pd.DataFrame(np.ones((9, 2)), columns=pd.Index(["r", "F\ud800"], dtype=object))
    labels = pd.DataFrame({"r": np.ones(9), "g": pd.Series(["a\udc80"] * 9, dtype=object)})
    for table, options in ((frame, {}), (labels, {"labels": ["g"]})):
        with pytest.raises(
            ValueError, match=r"the table: the name '\w.u[0-9a-f]{4}' holds half of"
        ):
            read_columns(table, ["r", "g"], **options)
    with pytest.raises(ValueError, match="cannot be read"):
        parse_unit("N\udcff")
