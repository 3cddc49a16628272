"""The reader of tables: CSV, Parquet, NumPy arrays and DataFrames, column by column."""

import codecs
import csv
import io
import itertools
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from orbits.files import parsing, require_input
from orbits.memory import gigabytes, require_memory
from orbits.options import is_table, nearest, require_known
from orbits.printing import plural
from orbits.quantities import carried_unit, require_no_unit

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


def as_table(source: Any) -> Source:
    """The path of a file as it is; any other table as `as_frame` gives it."""
    return source if isinstance(source, (str, os.PathLike)) else as_frame(source)


def as_frame(source: Any) -> pd.DataFrame:
    """A DataFrame as it is, any other table in memory, such as polars', Arrow's, astropy's and
    NumPy's arrays of records, as one.

    Raises:
        ValueError: if it is no table, or a column of astropy's carries a unit.
    """
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, np.ndarray) and is_table(source):
        return frame_of(source)
    for name in getattr(source, "colnames", ()):  # its to_pandas would drop units
        require_no_unit(source[name], f"the column {name}")
    if not is_table(source) or hasattr(source, "collect"):
        made = [each for each in ("to_dataframe", "collect") if hasattr(source, each)]
        of_it = f", as {made[0]}() of it makes" if made else ""
        raise ValueError(
            f"a {type(source).__name__} is no table; give a DataFrame (of pandas, polars or "
            f"Arrow){of_it}, or the path of a CSV or Parquet file."
        )
    try:
        return source.to_pandas() if hasattr(source, "colnames") else _frame(pa.table(source))
    except (pa.ArrowException, TypeError, ValueError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"the {type(source).__name__} cannot be read as a table ({first:.200})."
        ) from None


def name_of(source: Source) -> str:
    """A table's name in messages."""
    return "the table" if isinstance(source, pd.DataFrame) else str(source)


def read_columns(
    source: Source,
    wanted: Sequence[str] = (),
    blank_lines: bool = True,
    labels: Sequence[str] = (),
) -> tuple[pd.DataFrame, list[str]]:
    """The requested columns that a table has, and the names of all.

    A DataFrame is taken as it is, but for its labels; a file whose ending is not known is read like
    .csv. With `blank_lines`, those of a text are rows without values. Labels are names, whatever
    they look like (`labels_of`). The index counts the rows from zero, below the header.

    Raises:
        ValueError: if there is no such file, it is not a table, or a row of a text has more fields
            than the header (says which line).
    """
    try:
        frame, there = _read(source, wanted, blank_lines, labels)
        frame.index = pd.RangeIndex(len(frame))
        names = {name for name in labels if there.count(name) == 1 and name in frame}
        return frame.assign(**{name: labels_of(frame[name]) for name in names}), there
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name_of(source)}: the name {error.object!a} holds half of a surrogate pair, "
            "which is no character; rename it."
        ) from None


def _read(
    source: Source, wanted: Sequence[str], blank_lines: bool, labels: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    if isinstance(source, pd.DataFrame):
        return source.rename(columns=str), list(map(str, source.columns))
    path = require_input(source)
    with parsing(path, "table"):
        return _parsed(path, wanted, blank_lines, labels)


def _parsed(
    path: Path, wanted: Sequence[str], blank_lines: bool, labels: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    try:
        if path.suffix in (".gz", ".bz2", ".xz", ".zip", ".zst"):
            raise ValueError(f"{path} is compressed; unpack it first")
        if path.suffix in (".npy", ".npz"):
            return _arrays(path, wanted)
        if path.suffix == ".parquet":
            return _parquet(path, wanted)
        return _text(path, wanted, blank_lines, labels)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty.") from None
    except UnicodeDecodeError:
        endings = ".csv, .tsv, .txt, .parquet, .npy, .npz"
        raise ValueError(f"{path} is no text; tables end in {endings}.") from None


def require_column(
    column: str, there: Sequence[str], table: str, short: Callable[[str], str] = str
) -> None:
    """Refuse a column that a table lacks or has twice; `short` is how else a header may be called.

    Raises:
        ValueError: names the column, the table and the near miss.
    """
    if column not in there:
        names = list(dict.fromkeys(map(short, there)))
        begin = [name for name in names if column and name.lower().startswith(column.lower())]
        near = begin[0] if len(begin) == 1 else nearest(column, names)
        try:
            require_known("column", column, (" ".join(each.split()) for each in there), near=near)
        except ValueError as error:
            raise ValueError(f"{table}: {error}") from None
        (spaced, *_) = (each for each in there if " ".join(each.split()) == column)
        raise ValueError(f"{table}: column {column!r} is not known; did you mean {spaced!r}?")
    if list(there).count(column) > 1:
        raise ValueError(f"{table}: there are several columns {column!r}; rename them.")


def named_rows(source: Source, rows: Iterable[int], blank_lines: bool = False) -> str:
    """Rows of a table in words, and the lines of a text that they begin on: `row 91, line 92`.

    In words they are counted from one, below the header, but given as `read_columns` counts them;
    `blank_lines` as there.
    """
    rows, most = [row + 1 for row in rows], 8
    shown, more = rows[:most], ", ..." if len(rows) > most else ""
    lines: list[int] = []
    if not isinstance(source, pd.DataFrame) and Path(source).suffix not in BINARY:
        with suppress(OSError, ValueError, csv.Error):  # it may be gone since
            lines = _lines(Path(source), shown, blank_lines)
    if len(rows) == 1:
        return f"row {rows[0]}" + "".join(f", line {line}" for line in lines)
    beside = f" (lines {', '.join(map(str, lines))}{more})" if lines else ""
    return f"rows {', '.join(map(str, shown))}{more}{beside}"


def holds_numbers(values: pd.Series) -> bool:
    """Whether a column is meant as numbers, not dates, durations, booleans or complex numbers."""
    others = "boolean complex date datetime datetime64 time timedelta timedelta64 period"
    return pd.api.types.infer_dtype(values, skipna=True) not in others.split()


def numbers_of(values: pd.Series) -> np.ndarray:
    """(row,) the numbers of a column in float64, also those in text or in objects such as decimals;
    NaN where there is none, and where they carry a unit."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if not holds_numbers(values) or carried_unit(values) is not None:
        return np.full(len(values), np.nan)
    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy(dtype="float64", na_value=np.nan)
    return np.fromiter(map(_number, values), dtype=np.float64, count=len(values))


def _number(value: Any) -> float:
    try:
        return float(value) if holds_number(value) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan


def holds_number(value: Any) -> bool:
    """Whether float() may be asked for the number in a value: it takes some that are none."""
    if isinstance(value, str):
        return "_" not in value
    return not isinstance(value, (bool, np.bool_, np.complexfloating, np.timedelta64))


def labels_of(values: pd.Series) -> pd.Series:
    """The labels in a column, one a group: a text as it stands, a number as it is.

    A column of text is one of numbers where nothing is lost: 77 and 4.2 are, but where 1 stands
    beside 01, or 1.0, each of them is a text.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return values
    labels = [_label(each) for each in values.astype(object).where(values.notna(), None)]
    texts = set(labels) - {None}
    "".join(map(str, texts)).encode()  # what is no text is refused here, not in pandas
    numbers = {text: _written_number(text) for text in texts}
    if len(set(numbers.values()) - {None}) == len(texts):
        labels = [None if each is None else numbers[each] for each in labels]
    return pd.Series(labels, values.index, dtype=object, name=values.name)


def _label(value: Any) -> Any:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return value if number or value is None else str(value)


def _written_number(text: Any) -> float | None:
    """The number that is written so and not otherwise."""
    if not isinstance(text, str):
        return None
    for kind in (int, float):
        with suppress(ValueError):
            if str(number := kind(text)) == text and math.isfinite(number):
                return number
    return None


def spellings(label: Any) -> tuple[Any, ...]:
    """A label as it is, as a number and as text: a table may have held another of these."""
    return label, _written_number(label), str(label)


def label_order(label: Any) -> tuple[int, Decimal, str]:
    """Sorts labels: numbers by size, also those in text, then other text."""
    try:
        if (number := Decimal(str(label))).is_finite():
            return 0, number, str(label)
    except InvalidOperation:
        pass
    return 1, Decimal(0), str(label)


BINARY = (".parquet", ".npy", ".npz")
"""Endings of tables that are no text."""
WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
"""A number with a decimal comma."""
WITH_POINT = re.compile(WITH_COMMA.pattern.replace(",", "[.]", 1))


CONTROL = frozenset(range(32)) - frozenset(b"\t\n\f\r")
"""Bytes that no text has."""
LOOKED_AT = 2**16
"""Bytes that tell text from something else, and records that tell what parts the columns."""
RECORDS = 50


def _text(
    path: Path, wanted: Sequence[str], blank_lines: bool, labels: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    text = TextFormat(path)
    separator, columns = text.separator, text.columns
    there = [name for name in dict.fromkeys(wanted) if columns.count(name) == 1]
    if not there:
        return pd.DataFrame(), columns
    _require_room(path.stat().st_size * len(there) / len(columns), path)

    def read(names: Sequence[str], **options: Any) -> pd.DataFrame:
        places = [columns.index(name) for name in names]
        with text.opened() as file:
            # pandas itself counts records, and quotation marks inside words
            for _ in range(text.above):
                file.readline()
            below = enumerate(file, text.above + 1) if text.remarks else ()
            kept = "".join(line for number, line in below if number not in text.remarks)
            frame = pd.read_csv(
                io.StringIO(kept) if text.remarks else file,
                sep=r"\s+" if separator == " " else separator, skipinitialspace=True, header=None,
                index_col=False, names=range(len(columns)), usecols=sorted(places),
                low_memory=False, skip_blank_lines=not blank_lines, **options,
            )  # fmt: skip
        return frame[places].set_axis(names, axis=1)

    numbers = [name for name in there if name not in labels]
    frame = read(numbers) if numbers else pd.DataFrame()
    # 1,5 is a number where columns are not parted by commas, and 1.500 is then none of that size
    if separator != "," and any(_written(frame, WITH_COMMA)):
        frame = read(numbers, decimal=",")
        for name, number in _written(frame, WITH_POINT):
            raise ValueError(
                f"{path}: the column {name} has {number!r}, and others decimal commas; write all "
                "numbers in one way"
            )
    if len(numbers) < len(there):
        texts = read([name for name in there if name in labels], dtype=str, keep_default_na=False)
        texts = texts.apply(lambda text: text.str.strip())
        frame = pd.concat([frame, texts.where(texts != "", None)], axis=1)
    return frame[there], columns


def _written(frame: pd.DataFrame, number: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Columns that were not read as numbers, each with a text that is such a number."""
    for name, values in frame.items():
        if not pd.api.types.is_numeric_dtype(values):
            for text in values[values.astype("str").str.fullmatch(number)][:1]:
                yield str(name), text


class TextFormat:
    """How a text holds a table.

    Attributes:
        encoding: UTF-8, UTF-16, or Latin-1 where it is neither and holds no control characters.
        separator: what parts the columns: comma, semicolon, tab, or blanks.
        columns: their names; of numbers without any those of an array (`ARRAY_COLUMNS`).
        above: lines above the first row.
        remarks: numbers of the lines below that begin with # and are no row.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.encoding = path, _encoding(path)
        self.separator = self._separator()
        self.columns, self.above, self.remarks = self._header()

    def opened(self) -> TextIO:
        return open(self.path, encoding=self.encoding, newline="")

    def _fields(self, lines: Iterable[str], separator: str, **options: Any) -> Any:
        if separator == " ":
            lines, separator = ("\t".join(line.split()) for line in lines), "\t"
        return csv.reader(lines, delimiter=separator, skipinitialspace=True, **options)

    def _separator(self) -> str:
        """The one that gives the first records as many fields as the header, and most of them."""
        if self.path.suffix == ".tsv":
            return "\t"

        def fields(separator: str) -> tuple[bool, int]:
            with self.opened() as file, suppress(csv.Error):  # all 30 000 fields of a row as one
                rows = self._fields((line for line in file if line[:1] != "#"), separator)
                lengths = [len(row) for row in itertools.islice(rows, RECORDS) if row] or [0]
                return lengths[0] > 1 and len(set(lengths)) == 1, lengths[0]
            return False, 0

        return max(",;\t ", key=fields)

    def _header(self) -> tuple[list[str], int, set[int]]:
        """Names of the columns, the number of lines down to them, and the lines that are remarks.

        pandas would take the first field of rows that are longer than the header for an index, and
        shift all others by one; the rows are counted here.
        """
        columns: list[str] = []
        remarks: dict[int, list[str]] = {}
        above = 0
        for line, last, row in self.records():
            remark = bool(row) and row[0].startswith("#")
            if not columns and row and not remark:
                above, columns = last, row
                # names stand behind a # where numpy.savetxt writes them
                named = [names for names in remarks.values() if len(names) == len(row)]
                numbers = [math.isfinite(_number(field)) for field in row]
                if named and any(numbers):
                    above, columns = line - 1, named[-1]
                # whole numbers may be names
                elif all(numbers) and any(WITH_POINT.fullmatch(field) for field in row):
                    above, columns = line - 1, list(_array_names(len(row)))
            elif remark and len(row) != len(columns):
                remarks[line] = self._without_mark(row)
            elif len(row) > len(columns):
                raise ValueError(
                    f"{self.path}, line {line}: the line has {len(row)} fields, the header "
                    f"{len(columns)}; give every column a name, or repair the line"
                )
        if not columns:
            raise ValueError(f"{self.path} is empty")
        names = [name or f"Unnamed: {k}" for k, name in enumerate(columns)]
        return names, above, {line for line in remarks if line > above}

    def _without_mark(self, row: list[str]) -> list[str]:
        first = row[0].lstrip("# ")
        return row[1:] if not first and self.separator == " " else [first or "#", *row[1:]]

    def records(self) -> Iterator[tuple[int, int, list[str]]]:
        """First line, last line and fields of every record.

        Raises:
            ValueError: if a quotation mark is not closed: all lines up to the next one are one
                field.
        """
        held: list[str] = []

        def kept(file: TextIO) -> Iterator[str]:
            for line in file:
                held.append(line)
                yield line

        with self.opened() as file:
            records = self._fields(kept(file), self.separator)
            first = 1
            for row in records:
                if sum(line.count('"') for line in held) % 2:
                    try:
                        list(self._fields(held, self.separator, strict=True))
                    except csv.Error as error:
                        if len(held) > 1 or "end of data" in str(error):
                            raise ValueError(
                                f"{self.path}, line {first}: a quotation mark opens there and is "
                                f"not closed, so that one row would be {plural(len(held), 'line')} "
                                "long"
                            ) from None
                yield first, records.line_num, row
                first = records.line_num + 1
                held.clear()


def _encoding(path: Path) -> str:
    with open(path, "rb") as file:
        start = file.read(LOOKED_AT)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for name, zeros, others in (("le", start[1::2], start[::2]), ("be", start[::2], start[1::2])):
        if zeros.count(0) > len(zeros) / 2 and not others.count(0):
            return f"utf-16-{name}"
    try:
        with open(path, encoding="utf-8-sig") as text:
            while text.read(LOOKED_AT):
                pass
    except UnicodeDecodeError:
        if CONTROL & set(start):
            raise
        return "latin-1"
    return "utf-8-sig"


def _lines(path: Path, rows: Sequence[int], blank_lines: bool) -> list[int]:
    """The first line of each row."""
    text = TextFormat(path)
    lines: dict[int, int] = {}
    count = 0
    for line, _, record in text.records():
        blank = not record or (len(record) == 1 and not record[0].strip())
        if line > text.above and line not in text.remarks and (blank_lines or not blank):
            count += 1
            lines[count] = line
            if count >= max(rows):
                break
    return [lines[row] for row in rows]


def _parquet(path: Path, wanted: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    file = pq.ParquetFile(path)
    columns = list(file.schema_arrow.names)
    there = [name for name in wanted if columns.count(name) == 1]
    _require_room(8.0 * file.metadata.num_rows * len(there), path)
    return _frame(file.read(there)), columns


def _frame(table: pa.Table) -> pd.DataFrame:
    """Whole numbers stay whole beside missing ones: labels of 19 digits are no floats."""
    return table.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def frame_of(values: np.ndarray) -> pd.DataFrame:
    """The columns of a structured array, or of rows of numbers (`ARRAY_COLUMNS`).

    Raises:
        ValueError: if it is neither.
    """
    if values.dtype.names and values.ndim == 1:
        own = values.astype(values.dtype.newbyteorder("="))  # FITS writes the other order
        return pd.DataFrame({name: own[name] for name in values.dtype.names})
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"the array has the shape {values.shape} and the type {values.dtype}; rows of numbers "
            "are needed: time, x, y, ... (arrays by orbit, time and axis: orbits.from_arrays)"
        )
    return pd.DataFrame(values, columns=list(_array_names(values.shape[1])))


def _array_names(count: int) -> tuple[str, ...]:
    return ARRAY_COLUMNS.get(count, tuple(f"c{k}" for k in range(count)))


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
        raise ValueError(f"{gigabytes(unpacked)} are packed into it, as no trajectory can be")
    _require_room(unpacked, path)
    arrays = {}
    with np.load(path, allow_pickle=False) as members:
        for name in members.files:
            arrays[name] = _array(members, name)
    return arrays


def _array(members: Any, name: str) -> np.ndarray:
    try:
        values = members[name]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise ValueError(
            f"its member {name!r} is of Python objects, as of rows of unequal length; an array of "
            "numbers is needed. Orbits of unequal length come in one table, with --orbit"
        ) from None
    if not isinstance(values, np.ndarray):
        raise ValueError(f"its member {name!r} is no array")
    return values


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
