"""Force samples keep to their schema, on the way in and on the way out."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orbits.force_samples import ForceSamples, vectors
from orbits.statistics import r_squared

ATTRIBUTES = {"readout": "implied", "states": "orbit", "model": "m", "law": "newton", "dt": 0.01}


def table(rows=6):
    rng = np.random.default_rng(0)
    position = rng.uniform(0.5, 1, (rows, 2))
    r = np.linalg.norm(position, axis=1)
    acceleration = -position / r[:, None] ** 3
    return pd.DataFrame(
        {
            "orbit": np.arange(rows) // 2, "time": np.arange(rows) * 0.01, "r": r,
            "x": position[:, 0], "y": position[:, 1], "a_x": acceleration[:, 0],
            "a_y": acceleration[:, 1], "a_norm": np.linalg.norm(acceleration, axis=1),
        }
    )  # fmt: skip


def test_round_trip_keeps_values_types_and_attributes(tmp_path):
    path = tmp_path / "forces.parquet"
    ForceSamples(table(), ATTRIBUTES | {"metrics": {"r2": 0.5}}).write(path)
    read, attributes = ForceSamples.read(path).table, ForceSamples.read(path).attributes
    pd.testing.assert_frame_equal(read, table())
    assert attributes["metrics"] == {"r2": 0.5}
    assert attributes["units"]["acceleration"] == "au/yr^2"
    np.testing.assert_array_equal(vectors(read, "a_"), table()[["a_x", "a_y"]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="a_x"), r"lacks the column\(s\) a_x"),
        (lambda t: t.iloc[:0], "holds no rows"),
        (lambda t: t.assign(a_y=np.nan), "column a_y has 6 value"),
        (lambda t: t.assign(sigma_a_x=1e300), "column sigma_a_x has 6 value"),
        (lambda t: t.assign(x="far"), "column x is not numeric"),
        (lambda t: t.assign(r=t["r"] * 1.01), "column r is not the length"),
        (lambda t: t.assign(a_norm=-t["a_norm"]), "column a_norm is not the length"),
    ],
)
def test_a_table_that_breaks_the_schema_is_refused_both_ways(tmp_path, change, message):
    bad = change(table())
    with pytest.raises(ValueError, match=message):
        ForceSamples(bad, ATTRIBUTES)
    bad.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=message):
        ForceSamples.read(tmp_path / "b.parquet")


def test_a_file_that_is_missing_torn_or_of_another_format_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.parquet does not exist"):
        ForceSamples.read(tmp_path / "none.parquet")
    path = tmp_path / "a.parquet"
    ForceSamples(table(), ATTRIBUTES).write(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        ForceSamples.read(path)
    forged = {"index_columns": ["none"], "columns": [], "column_indexes": []}
    own = pa.Table.from_pandas(table()).replace_schema_metadata({"pandas": json.dumps(forged)})
    pq.write_table(own, path)
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        ForceSamples.read(path)


def test_r_squared_is_zero_for_the_mean_and_one_for_the_truth():
    """Of values far from zero, to which saying their mean is no merit."""
    true = 100 + np.random.default_rng(0).normal(size=(50, 2))
    assert r_squared(true, true) == 1
    assert r_squared(np.broadcast_to(true.mean(axis=0), true.shape), true) == pytest.approx(0)
    assert r_squared(np.zeros_like(true), true) < -1000
    assert r_squared(true, np.ones((50, 2))) == -np.inf, "what does not vary explains nothing"
