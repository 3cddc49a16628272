"""Tables and arrays of other libraries: each row of the page works, or is refused in one line."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import orbits
import symreg
import worldmodel

PAGE = Path(__file__).parents[1] / "notebooks" / "how-to" / "own-trajectories.md"
ROW = re.compile(r"^\| (.+) \| (.+) \| (works|refused.*) \|$", re.MULTILINE)
FORM = {"form": "k*m/r**2", "null": False}
random = np.random.default_rng(0)
table = pd.DataFrame({"r": random.uniform(0.5, 2, 40), "m": random.uniform(1, 3, 40)})
table["F"], table["g"] = 4 * table["m"] / table["r"] ** 2, ["a", "b"] * 20
days = np.arange(200.0)
path = pd.DataFrame({"time": days, "x": np.cos(days / 20), "y": 0.9 * np.sin(days / 20)})
positions = path[["x", "y"]].to_numpy()[None]


def at_the_doors(made):
    """A table given to every door that takes one, by name."""

    def regressor():
        return symreg.LawRegressor(**FORM).fit(made(table[["r", "m"]]), table["F"]).recovery_

    return {
        "recover": lambda: symreg.recover(made(table), target="F", features="r,m", **FORM),
        "groups": lambda: symreg.recover(
            made(table), target="F", features="r,m", per_group="g", **FORM
        ),
        "LawRegressor": regressor,
        "predict": lambda: regressor().predict(made(table)),
        "from_table": lambda: orbits.from_table(made(path), time_unit="d"),
    }


def work(made):
    doors = at_the_doors(made)
    for name in ("recover", "LawRegressor"):
        assert doors[name]().coefficients["k"].value == pytest.approx(4)
    assert doors["groups"]().coefficients
    np.testing.assert_allclose(doors["predict"](), table["F"])
    np.testing.assert_allclose(doors["from_table"]()["position"], positions)


def are_refused(made, match, but=()):
    for name, ask in at_the_doors(made).items():
        if name not in but:
            is_refused(ask, match)


def is_refused(ask, match):
    with pytest.raises(ValueError, match=match) as said:
        ask()
    assert len(str(said.value).splitlines()) == 1


def polars(frame):
    return pytest.importorskip("polars").DataFrame({k: frame[k].to_list() for k in frame})


def astropy_table(frame):
    return pytest.importorskip("astropy.table").Table({k: frame[k].to_numpy() for k in frame})


def of_polars():
    pa = pytest.importorskip("pyarrow")
    work(lambda frame: pa.Table.from_pandas(frame))
    work(polars)


def of_records():
    def made(frame):
        """What FITS gives: the bytes of numbers the other way round."""
        values = frame.to_records(index=False, column_dtypes={"g": "U1"})
        return values.astype(values.dtype.newbyteorder(">"))

    work(made)
    with pytest.raises(ValueError, match=r"the array has the shape \(2, 20\)"):
        symreg.recover(made(table).reshape(2, 20), target="F", features="r,m", **FORM)


def lazy():
    are_refused(lambda frame: polars(frame).lazy(), r"LazyFrame is no table.*collect\(\)")


def of_astropy():
    work(astropy_table)


def with_units():
    u = pytest.importorskip("astropy.units")

    def made(frame, kind="Table"):
        given = pytest.importorskip("astropy.table").QTable(astropy_table(frame))
        for name in {"r", "x"} & set(frame):
            given[name] = given[name] * u.km
        return given if kind == "QTable" else pytest.importorskip("astropy.table").Table(given)

    are_refused(made, "carries the unit 'km'; give its numbers alone")
    are_refused(lambda frame: made(frame, "QTable"), "carries the unit 'km'; give its numbers")


def of_xarray():
    are_refused(lambda frame: frame.to_xarray(), r"to_dataframe\(\)", but=("predict",))


def features_in_an_array():
    X = xr.DataArray(table[["r", "m"]].to_numpy(), dims=("row", "feature"))
    law = symreg.LawRegressor(form="k*x1/x0**2", null=False).fit(X, table["F"])
    np.testing.assert_allclose(law.predict(X), table["F"])


def arrays_with_units():
    far = xr.DataArray(positions * 1.5e8, dims=("orbit", "time", "axis"), attrs={"units": "km"})
    data = orbits.from_arrays(far, time=days, length_unit="km", time_unit="d")
    ours = orbits.from_arrays(positions * 1.5e8, time=days, length_unit="km", time_unit="d")
    np.testing.assert_allclose(data["position"], ours["position"])


def quantities():
    u = pytest.importorskip("astropy.units")
    speed = np.gradient(positions, axis=1) * u.au / u.d
    gm = 39.4784 * u.au**3 / u.yr**2
    t = np.arange(300) / 300
    circle = np.stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)], axis=-1)[None] * u.au
    law = {"law": "newton", "gm": gm.to(u.km**3 / u.s**2)}
    data = orbits.from_arrays(circle.to(u.km), time=t * u.yr, **law)
    np.testing.assert_allclose(data["position"], circle.value, atol=1e-12)
    assert float(data["gm"][0]) == pytest.approx(39.4784)
    assert orbits.from_arrays(circle, (1 / 300) * u.yr).attrs["dt"] == pytest.approx(1 / 300)
    moving = orbits.from_arrays(positions, time=days, velocities=speed, time_unit="d")
    np.testing.assert_allclose(moving["velocity"], speed.to_value(u.au / u.yr))


def quantities_as_targets():
    u = pytest.importorskip("astropy.units")
    X, y = table[["r", "m"]], table["F"].to_numpy()
    one = np.ones(40) * u.N
    for options in ({"y": y * u.N}, {"y": y, "sigma": one}, {"y": y, "sample_weight": one}):
        ask = symreg.LawRegressor(**FORM).fit
        is_refused(lambda ask=ask, options=options: ask(X, **options), "carries the unit 'N'")


def durations():
    Time = pytest.importorskip("astropy.time").Time
    t = Time(2451545.0 + days, format="jd")
    for units in ("d", "yr"):
        data = orbits.from_arrays(positions, time=t - t[0], time_unit=units)
        assert data.attrs["dt"] == pytest.approx(1 / 365.25)
    step = orbits.from_arrays(positions, t[1] - t[0])
    assert step.attrs["dt"] == pytest.approx(1 / 365.25)


def times():
    Time = pytest.importorskip("astropy.time").Time
    t = Time(2451545.0 + days, format="jd")
    for each in (t, t.to_datetime()):
        is_refused(lambda each=each: orbits.from_arrays(positions, time=each), r"t - t\[0\]")
        frame = path.assign(time=list(each))
        is_refused(lambda frame=frame: orbits.from_table(frame), "time is .* a number is needed")


def durations_of_polars():
    frame = path.assign(time=pd.to_timedelta(days, unit="D"))
    data = orbits.from_table(polars(frame), time_unit="d")
    assert data.attrs["dt"] == pytest.approx(1 / 365.25)


def tables_for_models():
    for each in (path, polars(path), astropy_table(path)):
        for ask in (symreg.weigh, worldmodel.train):
            is_refused(lambda ask=ask, each=each: ask(each), "(D|d)ataset")
        still = worldmodel.Parrot()
        is_refused(lambda each=each: worldmodel.probe(still, each), "dataset")  # noqa: B023


CHECKS = {
    "a `DataFrame` of polars, a table of Arrow": of_polars,
    "an array of records, as NumPy and FITS have": of_records,
    "a `LazyFrame` of polars": lazy,
    "a `Table` of astropy": of_astropy,
    "a `Table` or `QTable` of which a column carries a unit": with_units,
    "a `Dataset` of xarray": of_xarray,
    "a `DataArray` of xarray, (row, feature)": features_in_an_array,
    "a `DataArray` of xarray with the attribute `units`": arrays_with_units,
    "a `Quantity` of astropy": quantities,
    "a `Quantity` as `y`, `sigma` or `sample_weight`": quantities_as_targets,
    "a `TimeDelta` of astropy, as `t - t[0]`": durations,
    "a `Time` of astropy, or dates": times,
    "durations of polars": durations_of_polars,
    "any table": tables_for_models,
}


def test_each_row_of_the_page_has_its_check():
    assert [row[0] for row in ROW.findall(PAGE.read_text())] == list(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("what", CHECKS)
def test_it_works_or_is_refused_as_the_page_says(what):
    CHECKS[what]()


@pytest.fixture
def shown():
    """What a block of the page leaves, given what it needs."""

    def run(name, **given):
        block = rf'^```python title="{name}.py"\n(.*?)^```$'
        (code,) = re.findall(block, PAGE.read_text(), re.DOTALL | re.MULTILINE)
        exec(code.replace("recover(data)", "recover(data, null=False, seeds=1)"), given)
        return given

    return run


@pytest.mark.slow
@pytest.mark.needs("galpy")
def test_an_orbit_of_galpy(shown):
    law = shown("with_galpy")["law"]
    assert law.expression.endswith("/r**2")
    gm = law.coefficients["c1"]
    assert gm.unit == "pc^3 yr^-2"
    assert gm.value == pytest.approx(
        4.49850e-15 * 1e10, rel=1e-4
    )  # G in pc^3 a solar mass and yr^2


@pytest.mark.slow
@pytest.mark.needs("skyfield")
def test_bodies_of_skyfield_are_weighed(shown):
    """An ephemeris of two bodies, made here, through Skyfield's own vectors and time."""
    vectors = pytest.importorskip("skyfield.vectorlib")
    mass, turn = 1e-3, 2 * np.pi / (5.2**1.5 * 365.25)  # of the Sun; a day's angle at 5.2 au
    turn *= np.sqrt(1 + mass)

    class Body(vectors.VectorFunction):
        center, target = 0, None

        def __init__(self, share):
            self.share = share

        def _at(self, t):
            mean, e = turn * (np.asarray(t.tdb) - 2451545), 0.3
            angle = mean
            for _ in range(60):
                angle = mean + e * np.sin(angle)  # Kepler's equation
            across = np.sqrt(1 - e**2) * np.sin(angle)
            place = 5.2 * self.share * np.stack([np.cos(angle) - e, across, 0 * mean])
            return place, np.zeros_like(place), None, None

    sun, jupiter = Body(-mass / (1 + mass)), Body(1 / (1 + mass))
    masses = shown("with_skyfield", planets={"sun": sun, "jupiter barycenter": jupiter})["masses"]
    values = [each.value for each in masses]
    np.testing.assert_allclose(values, [1, mass], rtol=2e-4)  # G of the year and au, to 1e-4
