"""The columns of a table of trajectories: CSV, Parquet, NumPy arrays, Horizons text, DataFrames."""

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from orbits.config import ImportConfig
from orbits.files import require_input
from orbits.importing.horizons import COLUMNS, is_vector_table, read_vector_table
from orbits.memory import require_memory
from orbits.options import require_known

ROWS_AT_ONCE = 500_000
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz", ".gz")
ARRAY_COLUMNS = {
    3: ("time", "x", "y"),
    4: ("time", "x", "y", "z"),
    5: ("time", "x", "y", "vx", "vy"),
    7: ("time", "x", "y", "z", "vx", "vy", "vz"),
}
"""Names of the columns of an array without names, by their number."""
UNREADABLE = (
    pa.ArrowException, OSError, EOFError, zlib.error, ValueError, OverflowError, KeyError,
)  # fmt: skip
WHILE_READ = 4.0
"""Memory over the size of the columns: the parts that were read, joined and sorted."""

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray


@dataclass(frozen=True)
class Table:
    """The columns that were asked for.

    Attributes:
        frame: numbers as float64; those of bodies and trajectories as they are.
        name: of the source, for messages.
        first: what the first row is called in messages: its line or its number.
        unit: `line` of a text, `row` of anything else.
    """

    frame: pd.DataFrame
    name: str
    first: int = 1
    unit: str = "row"

    def place(self, row: int) -> str:
        """What a row is called, by its position in the source."""
        return f"{self.unit} {row + self.first}"


def read_table(source: Source, config: ImportConfig) -> tuple[Table, ImportConfig]:
    """The columns of a source, and the options, with what the source itself says of units.

    Raises:
        ValueError: if there is no such file, it is no table, or a column is missing or holds
            anything but numbers (says which and where).
    """
    if isinstance(source, np.ndarray):
        source = _of_array(source)
    if isinstance(source, pd.DataFrame):
        _require_columns(list(map(str, source.columns)), config, "the table")
        chosen = source.rename(columns=str)[_wanted(config)].reset_index(drop=True)
        return Table(_numbers(chosen, config, Table(chosen, "the table")), "the table"), config
    path = require_input(source)
    try:
        if path.suffix not in (".parquet", ".npy", ".npz") and is_vector_table(path):
            return _horizons(path, config)
        if path.suffix == ".parquet":
            return _parquet(path, config), config
        if path.suffix in (".npy", ".npz"):
            found, _ = read_table(_of_arrays(path), config)
            return replace(found, name=str(path)), config
        return _csv(path, config), config
    except _RefusedError as error:
        raise ValueError(str(error)) from None
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty.") from None
    except UnicodeDecodeError:
        known = ", ".join(ENDINGS)
        raise ValueError(f"{path} is no text; known are tables ending in {known}.") from None
    except UNREADABLE as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if str(path) in first:
            raise ValueError(first) from None
        raise ValueError(f"{path} is not a readable table ({first:.200}).") from None


class _RefusedError(Exception):
    """What is wrong with the contents, once the file itself could be read."""


def _wanted(config: ImportConfig) -> list[str]:
    names = [config.time, *(n for group in config.position_names for n in group)]
    names += [name for group in config.velocity_names for name in group]
    names += [name for name in (config.body, config.orbit) if name]
    return list(dict.fromkeys(names))


def _labels(config: ImportConfig) -> set[str]:
    return {name for name in (config.body, config.orbit) if name}


def _require_columns(there: Sequence[str], config: ImportConfig, name: str) -> None:
    for column in _wanted(config):
        try:
            require_known("column", column, there)
        except ValueError as error:
            raise (
                _RefusedError(f"{name}: {error}")
                if name != "the table"
                else ValueError(f"{name}: {error}")
            ) from None


def _csv(path: Path, config: ImportConfig) -> Table:
    separator = "\t" if ".tsv" in path.suffixes else ","
    settings: dict[str, Any] = {"sep": separator, "skipinitialspace": True}
    header = list(pd.read_csv(path, nrows=0, **settings).columns)
    _require_columns(header, config, str(path))
    wanted = _wanted(config)
    share = len(wanted) / max(len(header), 1)
    _require_room(path.stat().st_size * share, path)
    chunks = pd.read_csv(
        path, usecols=wanted, chunksize=ROWS_AT_ONCE, low_memory=False, skip_blank_lines=False,
        **settings,
    )  # fmt: skip
    return _joined(chunks, config, Table(pd.DataFrame(), str(path), 2, "line"))


def _parquet(path: Path, config: ImportConfig) -> Table:
    file = pq.ParquetFile(path)
    _require_columns(file.schema_arrow.names, config, str(path))
    wanted = _wanted(config)
    _require_room(8.0 * file.metadata.num_rows * len(wanted), path)
    batches = file.iter_batches(batch_size=ROWS_AT_ONCE, columns=wanted)
    return _joined((b.to_pandas() for b in batches), config, Table(pd.DataFrame(), str(path)))


def _require_room(size: float, path: Path) -> None:
    require_memory(
        WHILE_READ * size, f"the columns of {path}", "take fewer rows, or import them in parts"
    )


def _joined(chunks: Iterator[pd.DataFrame], config: ImportConfig, table: Table) -> Table:
    """The rows of all chunks, each made numbers as soon as it is read."""
    parts, rows = [], 0
    for chunk in chunks:
        part = chunk.reset_index(drop=True)
        at = replace(table, first=table.first + rows)
        try:
            parts.append(_numbers(part, config, at))
        except ValueError as error:
            raise _RefusedError(str(error)) from None
        rows += len(part)
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_wanted(config))
    return replace(table, frame=whole)


def _numbers(frame: pd.DataFrame, config: ImportConfig, table: Table) -> pd.DataFrame:
    """The frame with float64 in every column of numbers."""
    found: dict[str, pd.Series] = {}
    for column in _wanted(config):
        values = frame[column]
        if column in _labels(config):
            found[column] = values.astype("category")
            continue
        numbers = pd.to_numeric(values, errors="coerce").astype("float64")
        wrong = numbers.isna().to_numpy() & values.notna().to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{table.name}, {table.place(row)}: {column} is {str(values.iloc[row])[:30]!r}; "
                "a number is needed, all of one unit."
            )
        found[column] = numbers
    return pd.DataFrame(found)


def _horizons(path: Path, config: ImportConfig) -> tuple[Table, ImportConfig]:
    """A Horizons table, whose columns and units are its own."""
    read = read_vector_table(path)
    velocity = ("VX,VY,VZ",) if bool(np.isfinite(read.table["VX"]).all()) else ()
    config = replace(
        config, time="JD", position=("X,Y,Z",), velocity=velocity, time_unit="d", body="", orbit="",
        length_unit=read.length_unit,  # type: ignore[arg-type]
        velocity_unit=read.velocity_unit,  # type: ignore[arg-type]
        bodies=config.bodies or ((read.target,) if read.target else ()),
    )  # fmt: skip
    frame = read.table[[name for name in COLUMNS if name in _wanted(config)]]
    return Table(frame, str(path)), config


def _of_array(values: np.ndarray) -> pd.DataFrame:
    if values.dtype.names:
        return pd.DataFrame({name: values[name] for name in values.dtype.names})
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.number):
        raise ValueError(
            f"the array has the shape {values.shape} and the type {values.dtype}; rows of numbers "
            "are needed: time, x, y, ..."
        )
    names = ARRAY_COLUMNS.get(values.shape[1], tuple(f"c{k}" for k in range(values.shape[1])))
    return pd.DataFrame(values, columns=list(names))


def _of_arrays(path: Path) -> pd.DataFrame:
    """The arrays of a .npy or .npz file, side by side; nothing is unpickled."""
    read = np.load(path, allow_pickle=False)
    if isinstance(read, np.ndarray):
        return _of_array(read)
    columns: dict[str, np.ndarray] = {}
    for name in read.files:
        values = read[name]
        if values.ndim == 1:
            columns[name] = values
        elif values.ndim == 2:
            ends = "xyz" if values.shape[1] <= 3 else range(values.shape[1])
            columns |= {f"{name}_{end}": values[:, k] for k, end in enumerate(ends) if
                        k < values.shape[1]}  # fmt: skip
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"the arrays have {sorted(lengths)} rows; they must have as many each")
    return pd.DataFrame(columns)
