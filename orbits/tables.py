"""The reader of tables: CSV, Parquet, NumPy arrays and DataFrames, column by column."""

import csv
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from orbits.files import require_input
from orbits.memory import require_memory
from orbits.options import require_known

Source = str | os.PathLike[str] | pd.DataFrame

ARRAY_COLUMNS = {
    3: ("time", "x", "y"),
    4: ("time", "x", "y", "z"),
    5: ("time", "x", "y", "vx", "vy"),
    7: ("time", "x", "y", "z", "vx", "vy", "vz"),
}
"""Names of the columns of an array without names, by their number."""
LARGEST = 1e45
"""Largest number of a trajectory: the sixth power of it is still finite in float64 (1e308)."""


def name_of(source: Source) -> str:
    """A table's name in messages."""
    return "the table" if isinstance(source, pd.DataFrame) else str(source)


def read_columns(
    source: Source, wanted: Sequence[str] = (), blank_lines: bool = True
) -> tuple[pd.DataFrame, list[str]]:
    """The requested columns that a table has, and the names of all.

    A DataFrame is taken as it is; a file whose ending is not known is read like .csv. With
    `blank_lines`, those of a text are rows without values.

    Raises:
        ValueError: if there is no such file, it is not a table, or a row of a text has more fields
            than the header (says which line).
    """
    if isinstance(source, pd.DataFrame):
        return source.rename(columns=str), list(map(str, source.columns))
    unreadable = (
        pa.ArrowException, OSError, EOFError, zipfile.BadZipFile, csv.Error, ValueError,
        OverflowError, LookupError, RuntimeError,
    )  # fmt: skip
    path = require_input(source)
    try:
        if path.suffix in (".gz", ".bz2", ".xz", ".zip", ".zst"):
            raise ValueError(f"{path} is compressed; unpack it first")
        if path.suffix in (".npy", ".npz"):
            return _arrays(path, wanted)
        if path.suffix == ".parquet":
            return _parquet(path, wanted)
        return _text(path, wanted, blank_lines)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty.") from None
    except UnicodeDecodeError:
        endings = ".csv, .tsv, .txt, .parquet, .npy, .npz"
        raise ValueError(f"{path} is no text; tables end in {endings}.") from None
    except unreadable as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0].removesuffix(".")
        if str(path) in first:
            raise ValueError(f"{first}.") from None
        raise ValueError(f"{path} is not a readable table ({first:.200}).") from None


def require_column(column: str, there: Sequence[str], table: str) -> None:
    """Refuse a column that a table lacks or has twice.

    Raises:
        ValueError: names the column, the table and the near miss.
    """
    try:
        require_known("column", column, there)
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from None
    if list(there).count(column) > 1:
        raise ValueError(f"{table}: there are several columns {column!r}; rename them.")


def holds_numbers(values: pd.Series) -> bool:
    """Whether a column is meant as numbers, not dates, durations, booleans or complex numbers."""
    others = "boolean complex date datetime datetime64 time timedelta timedelta64 period"
    return pd.api.types.infer_dtype(values, skipna=True) not in others.split()


def _text(path: Path, wanted: Sequence[str], blank_lines: bool) -> tuple[pd.DataFrame, list[str]]:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        head, *rows = file.read(10_000).splitlines() or [""]
    separator = "\t" if path.suffix == ".tsv" else max(",;\t", key=head.count)
    # 1,5 is a number where columns are parted by semicolons
    decimal = "," if separator == ";" and any("," in row for row in rows) else "."
    columns, above = _header(path, separator)
    there = [name for name in dict.fromkeys(wanted) if columns.count(name) == 1]
    if not there:
        return pd.DataFrame(), columns
    _require_room(path.stat().st_size * len(there) / len(columns), path)
    frame = pd.read_csv(
        path, sep=separator, decimal=decimal, skipinitialspace=True, compression=None, header=None,
        names=range(len(columns)), usecols=[columns.index(name) for name in there], skiprows=above,
        index_col=False, low_memory=False, skip_blank_lines=not blank_lines,
    )  # fmt: skip
    frame = frame[[columns.index(name) for name in there]]
    return frame.set_axis(there, axis=1), columns


def _header(path: Path, separator: str) -> tuple[list[str], int]:
    """Names of the columns of a text, and the number of lines down to them.

    pandas would take the first field of rows that are longer than the header for an index, and
    shift all others by one; the rows are counted here.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator, skipinitialspace=True)
        columns = next((row for row in rows if row), None)
        if columns is None:
            raise ValueError(f"{path} is empty")
        above = rows.line_num
        for row in rows:
            if len(row) > len(columns):
                raise ValueError(
                    f"{path}, line {rows.line_num}: the line has {len(row)} fields, the header "
                    f"{len(columns)}; give every column a name, or repair the line"
                )
    return [name or f"Unnamed: {k}" for k, name in enumerate(columns)], above


def _parquet(path: Path, wanted: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    file = pq.ParquetFile(path)
    columns = list(file.schema_arrow.names)
    there = [name for name in wanted if columns.count(name) == 1]
    _require_room(8.0 * file.metadata.num_rows * len(there), path)
    return file.read(there).to_pandas(ignore_metadata=True), columns


def frame_of(values: np.ndarray) -> pd.DataFrame:
    """The columns of a structured array, or of rows of numbers (`ARRAY_COLUMNS`).

    Raises:
        ValueError: if it is neither.
    """
    if values.dtype.names:
        return pd.DataFrame({name: values[name] for name in values.dtype.names})
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"the array has the shape {values.shape} and the type {values.dtype}; rows of numbers "
            "are needed: time, x, y, ... (arrays by orbit, time and axis: orbits.from_arrays)"
        )
    names = ARRAY_COLUMNS.get(values.shape[1], tuple(f"c{k}" for k in range(values.shape[1])))
    return pd.DataFrame(values, columns=list(names))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file by name, read only if their size is plausible.

    Nothing is unpickled.

    Raises:
        ValueError: if a member is no array of numbers, or far more is packed into it than there is.
    """
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    # deflate packs zeros 1000 to 1, numbers of a motion hardly at all
    if unpacked > max(100 * path.stat().st_size, 1e6):
        raise ValueError(f"{unpacked / 1e9:.3g} GB are packed into it, as no trajectory can be")
    _require_room(unpacked, path)
    with np.load(path, allow_pickle=False) as members:
        arrays = dict(members.items())
    for name, values in arrays.items():
        if not isinstance(values, np.ndarray):
            raise ValueError(f"its member {name!r} is no array")
    return arrays


def _arrays(path: Path, wanted: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    if path.suffix == ".npy":
        frame = frame_of(np.load(path, allow_pickle=False))
        return frame, list(frame.columns)
    columns: list[tuple[str, np.ndarray]] = []
    for name, values in read_npz(path).items():
        if values.ndim == 2:
            ends = "xyz"[: values.shape[1]] if values.shape[1] <= 3 else range(values.shape[1])
            columns += [(f"{name}_{end}", values[:, k]) for k, end in enumerate(ends)]
        elif values.ndim == 1:
            columns.append((name, values))
    lengths = {len(values) for _, values in columns}
    if len(lengths) > 1:
        raise ValueError(f"the arrays have {sorted(lengths)} rows; they must have as many each")
    names = [name for name, _ in columns]
    return pd.DataFrame({n: v for n, v in columns if n in wanted and names.count(n) == 1}), names


def _require_room(size: float, path: Path) -> None:
    # four times: as read, as numbers, sorted, and the dataset
    require_memory(4 * size, f"the columns of {path}", "take fewer rows, or read them in parts")
