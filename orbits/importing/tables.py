"""The columns of a table of trajectories: CSV, Parquet, NumPy arrays, Horizons text, DataFrames."""

import bz2
import gzip
import itertools
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from orbits.config import ImportConfig
from orbits.files import require_input
from orbits.importing.dates import JULIAN, in_parts, years_of
from orbits.importing.horizons import COLUMNS, is_vector_table, read_vector_table
from orbits.memory import require_memory
from orbits.options import require_known
from orbits.units import NO_LENGTH, YEARS, angle_in

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz", ".gz")
ARRAY_COLUMNS = {
    3: ("time", "x", "y"),
    4: ("time", "x", "y", "z"),
    5: ("time", "x", "y", "vx", "vy"),
    7: ("time", "x", "y", "z", "vx", "vy", "vz"),
}
"""Names of the columns of an array without names, by their number."""
UNREADABLE = (
    pa.ArrowException, OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    ValueError, OverflowError, LookupError, RuntimeError,
)  # fmt: skip
NO_NUMBERS = {
    "boolean", "complex", "date", "datetime", "datetime64", "time", "timedelta", "timedelta64",
    "period",
}  # fmt: skip
"""What pandas would read as numbers but nobody meant so."""
LARGEST = 1e45
"""Larger numbers are useless: products and powers of a few of them overflow."""
PACKED: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open,
    ".zip": lambda path: (packed := zipfile.ZipFile(path)).open(packed.namelist()[0]),
}  # fmt: skip
"""Compressions of text files, which pandas infers from the ending, and what unpacks them."""
HEAD = 10_000
"""Bytes from which separators of columns and decimals are guessed."""
MOST_COMPRESSED = 100
"""Size of an array or text over that of its file above which it is a trap, not data."""
WHILE_READ = 4.0
"""Memory over the size of the columns: as read, as numbers, and sorted."""

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray


@dataclass(frozen=True)
class Table:
    """The requested columns.

    Attributes:
        frame: numbers as float64; names of bodies and trajectories as they are.
        name: of the source, for messages.
        first: the first row's number in messages: its line or row.
        unit: `line` for a text, `row` for anything else.
        dated: whether the times were dates.
    """

    frame: pd.DataFrame
    name: str
    first: int = 1
    unit: str = "row"
    dated: bool = False

    def place(self, row: int) -> str:
        """A row's name, by its position in the source."""
        return f"{self.unit} {row + self.first}"


def read_table(source: Source, config: ImportConfig) -> tuple[Table, ImportConfig]:
    """The columns of a source, and the options with the source's own units.

    Raises:
        ValueError: if there is no such file, it is not a table, or a column is missing or holds
            anything but numbers (says which and where).
    """
    if isinstance(source, np.ndarray):
        source = _of_array(source)
    where = (1, "row")
    if not isinstance(source, pd.DataFrame):
        path = require_input(source)
        if path.suffix not in (".parquet", ".npy", ".npz"):
            if is_vector_table(path):
                return _horizons(path, config)
            where = (2, "line")
    frame, columns = read_columns(source, _wanted(config))
    return _chosen(frame, columns, config, Table(frame, name_of(source), *where)), config


def name_of(source: str | os.PathLike[str] | pd.DataFrame) -> str:
    """A table's name in messages."""
    return "the table" if isinstance(source, pd.DataFrame) else str(source)


def read_columns(
    source: str | os.PathLike[str] | pd.DataFrame,
    wanted: Sequence[str] = (),
    blank_lines: bool = True,
) -> tuple[pd.DataFrame, list[str]]:
    """The requested columns that a table has, and the names of all.

    A DataFrame is taken as it is; a file whose ending is not known is read like .csv. With
    `blank_lines`, those of a text are rows without values.

    Raises:
        ValueError: if there is no such file, or it is not a table.
    """
    if isinstance(source, pd.DataFrame):
        return source.rename(columns=str), list(map(str, source.columns))
    path = require_input(source)
    try:
        return _read(path, wanted, blank_lines)
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


def _wanted(config: ImportConfig) -> list[str]:
    states = itertools.chain(*config.position_names, *config.velocity_names)
    return list(dict.fromkeys([config.time, *states, *filter(None, (config.body, config.orbit))]))


def _chosen(frame: pd.DataFrame, known: Sequence[str], config: ImportConfig, table: Table) -> Table:
    """The requested columns, numbers as float64; `known` are all that the source has."""
    for column in _wanted(config):
        require_column(column, known, table.name)
    for column in itertools.chain(*config.position_names):
        if word := angle_in(column):
            raise ValueError(
                f"{table.name}: by its name ({word}) the column {column!r} holds an angle; "
                f"{NO_LENGTH}"
            )
    if config.time_unit != "d" and JULIAN & set(re.findall("[a-z]+", config.time.lower())):
        raise ValueError(
            f"{table.name}: by its name the column {config.time!r} holds Julian dates, which are "
            "in days; add --time-unit d."
        )
    frame = frame[_wanted(config)].reset_index(drop=True)
    years = years_of(frame[config.time])
    found: dict[str, pd.Series] = {}
    for column in _wanted(config):
        values = frame[column]
        if column in (config.body, config.orbit):
            found[column] = values.astype("category")
            continue
        numbers = pd.Series(np.nan, values.index)
        if column == config.time and years is not None:
            numbers = pd.Series(years / YEARS[config.time_unit], values.index)
        elif holds_numbers(values):
            numbers = pd.to_numeric(values, errors="coerce").astype("float64")
        wrong = (numbers.isna() & values.notna()).to_numpy() | (
            numbers.abs().between(LARGEST, np.inf, inclusive="neither").to_numpy()
        )
        if wrong.any():
            row = int(np.argmax(wrong))
            dates = (
                "; dates are read in the column of the time only, as 2015-01-31, "
                "2015-01-31T12:00:00 or 2015-Jan-31"
            )
            raise ValueError(
                f"{table.name}, {table.place(row)}: {column} is {str(values.iloc[row])[:30]!r}; a "
                f"number is needed, all of one unit, at most {LARGEST:g}"
                f"{dates if in_parts(values.iloc[row]) else ''}."
            )
        found[column] = numbers
    return replace(table, frame=pd.DataFrame(found), dated=years is not None)


def require_column(column: str, known: Sequence[str], table: str) -> None:
    """Refuse a column that a table lacks or has twice.

    Raises:
        ValueError: names the column, the table and the near miss.
    """
    try:
        require_known("column", column, known)
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from None
    if list(known).count(column) > 1:
        raise ValueError(f"{table}: there are several columns {column!r}; rename them.")


def holds_numbers(values: pd.Series) -> bool:
    """Whether a column is meant as numbers, not dates, durations, booleans or complex numbers."""
    return pd.api.types.infer_dtype(values, skipna=True) not in NO_NUMBERS


def _csv_settings(path: Path) -> dict[str, Any]:
    """How pandas should read a text; ValueError if it unpacks to more than a table."""
    unpack = PACKED.get(path.suffix)
    if unpack is not None:
        most, size = max(MOST_COMPRESSED * path.stat().st_size, 1e6), 0
        with unpack(path) as file:
            while block := file.read(1_000_000):
                size += len(block)
                if size > most:
                    raise ValueError(
                        f"more than {most / 1e9:.3g} GB are packed into it, as no table can be"
                    )
    with unpack(path) if unpack else open(path, "rb") as file:
        head, *rows = file.read(HEAD).decode("utf-8", "replace").splitlines() or [""]
    separator = "\t" if ".tsv" in path.suffixes else max(",;\t", key=head.count)
    # 1,5 is a number where columns are parted by semicolons
    decimal = "," if separator == ";" and any("," in row for row in rows) else "."
    compression = "infer" if unpack else None
    return {
        "sep": separator, "decimal": decimal, "skipinitialspace": True, "compression": compression,
    }  # fmt: skip


def _read(path: Path, asked: Sequence[str], blank_lines: bool) -> tuple[pd.DataFrame, list[str]]:
    if path.suffix in (".npy", ".npz"):
        return _of_arrays(path, asked)
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        columns = list(file.schema_arrow.names)
        wanted = [name for name in asked if name in columns]
        _require_room(8.0 * file.metadata.num_rows * len(wanted), path)
        return file.read(wanted).to_pandas(ignore_metadata=True), columns
    settings = _csv_settings(path)
    columns = list(pd.read_csv(path, nrows=0, **settings).columns)
    wanted = [name for name in asked if name in columns]
    if not wanted:
        return pd.DataFrame(), columns
    _require_room(path.stat().st_size * len(wanted) / max(len(columns), 1), path)
    settings |= {"usecols": wanted, "low_memory": False, "skip_blank_lines": not blank_lines}
    return pd.read_csv(path, **settings), columns


def _require_room(size: float, path: Path) -> None:
    require_memory(
        WHILE_READ * size, f"the columns of {path}", "take fewer rows, or import them in parts"
    )


def _horizons(path: Path, config: ImportConfig) -> tuple[Table, ImportConfig]:
    """A Horizons table, which has its own columns and units."""
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
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"the array has the shape {values.shape} and the type {values.dtype}; rows of numbers "
            "are needed: time, x, y, ..."
        )
    names = ARRAY_COLUMNS.get(values.shape[1], tuple(f"c{k}" for k in range(values.shape[1])))
    return pd.DataFrame(values, columns=list(names))


def _of_arrays(path: Path, asked: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The requested columns of a .npy or .npz file, and the names of all.

    Nothing is unpickled, and a .npz is not unpacked before its size is known.
    """
    if path.suffix == ".npy":
        frame = _of_array(np.load(path, allow_pickle=False))
        return frame, list(frame.columns)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > max(MOST_COMPRESSED * path.stat().st_size, 1e6):
        raise ValueError(f"{unpacked / 1e9:.3g} GB are packed into it, as no trajectory can be")
    _require_room(unpacked, path)
    columns: dict[str, np.ndarray] = {}
    with np.load(path, allow_pickle=False) as read:
        for name, values in read.items():
            if values.ndim == 1:
                columns[name] = values
            elif values.ndim == 2:
                ends = "xyz"[: values.shape[1]] if values.shape[1] <= 3 else range(values.shape[1])
                columns |= {f"{name}_{end}": values[:, k] for k, end in enumerate(ends)}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"the arrays have {sorted(lengths)} rows; they must have as many each")
    wanted = [name for name in asked if name in columns]
    return pd.DataFrame({name: columns[name] for name in wanted}), list(columns)
