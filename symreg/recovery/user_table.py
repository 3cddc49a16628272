"""Users' tables: CSV, Parquet or a DataFrame with a target and its features."""

import keyword
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from orbits.expressions import CONSTANTS, FUNCTIONS, TYPED
from orbits.files import parsing
from orbits.options import require_known
from orbits.quantities import carried_unit
from orbits.tables import (
    LARGEST,
    label_order,
    name_of,
    named_rows,
    numbers_of,
    read_columns,
    require_column,
)
from orbits.units import parse_unit
from symreg.fit.samples import Samples, floored
from symreg.formulas.expressions import CONSTANT_PREFIX
from symreg.formulas.precision import SAME
from symreg.formulas.units import HEADER_UNIT
from symreg.recovery.config import words

LARGEST_TARGET = TYPED.number / 10
"""Of a target's numbers, so that a formula can hold them, and of their standard errors."""
LEAST_ROWS, FEW_ROWS = 5, 20
"""Without which nothing is searched, or is searched with a warning."""
MOST_GROUPS = 500
"""With their own constants."""
MOST_ROWS = 50_000
"""In larger tables so many random rows are searched and judged, and all are fitted."""


@dataclass(frozen=True)
class UserTable:
    """The rows kept of the requested columns, checked, and all of them if only a part was kept.

    `rows` is their number in the file, and the index their places there (`read_columns`); notes say
    what was done to them.
    """

    table: pd.DataFrame
    rows: int
    notes: tuple[str, ...]
    every: pd.DataFrame | None = None


def read_user_table(
    source: str | os.PathLike[str] | pd.DataFrame,
    columns: Sequence[str],
    seed: int,
    labels: Sequence[str] = (),
    bad_rows: Literal["refuse", "mend"] = "refuse",
    targets: Sequence[str] = (),
) -> UserTable:
    """The columns of a file or a DataFrame, and at most `MOST_ROWS` of their rows to search.

    Labels need not be numbers. Bad rows have no finite number, or no label, somewhere: refused, or
    left out with mend. Of targets no powers are taken but squares, so that they may be larger.

    Raises:
        ValueError: if the file is missing or unreadable, a column is missing, not numeric, or has
            values that are not finite, or there are too few rows (says which).
    """
    table, there = read_columns(source, columns, blank_lines=False, labels=labels)
    name = name_of(source)
    for column in columns:
        require_column(column, there, name, without_unit)
    table, rows = table[list(columns)], len(table)
    notes: tuple[str, ...] = ()
    if bad_rows == "mend" and rows:
        table = _without_bad_rows(table, labels)
        if lost := rows - len(table):
            notes = (f"{lost} of {rows} rows have no finite number somewhere, and were left out",)
        rows = len(table)
    table = table.copy()
    if rows < LEAST_ROWS:
        raise ValueError(
            f"{name} has {rows} row(s); a law needs at least {LEAST_ROWS}, better hundreds."
        )
    for column in columns:
        if column in labels:
            _require_labels(table[column], source)
        else:
            table[column] = _numeric(table[column], source, column in targets)
    if rows < FEW_ROWS:
        notes += (f"{rows} rows are few: many formulas fit them, and little can be held out",)
    every = None
    if rows > MOST_ROWS:
        drawn = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
        table, every = table.iloc[np.sort(drawn)], table
    return UserTable(table, rows, notes, every)


def samples_of(
    read: UserTable,
    target: str,
    features: Sequence[str],
    groups: str | None = None,
    sigma: str | None = None,
    sigma_of: Mapping[str, str] | None = None,
    trials: str | None = None,
) -> Samples:
    """The regression problem of a table.

    Equal values of the column `groups` are one observation (an orbit). `sigma` is a column of the
    target's standard errors, or a number; `sigma_of` the same by feature, or a share as in 5%;
    `trials` a column of numbers of trials of which the target is a share, or a number.

    Raises:
        ValueError: for a target that is constant, or no share of trials, standard errors that are
            not positive (of features, negative), or the same column twice (says which).
    """
    table = read.table
    require_names(target, features)
    if table[target].nunique() == 1:
        raise ValueError(
            f"the target {target} is {table[target].iloc[0]:g} in every row; a constant column "
            "tells nothing. Choose another."
        )
    y = table[target].to_numpy(dtype=float)
    samples = Samples(
        table[list(features)].to_numpy(dtype=float),
        y,
        tuple(features),
        group_numbers(table, groups),
        target=target,
        row_numbers=table.index.to_numpy(),
    )
    unit = 1.0
    if trials is not None:
        samples = replace(samples, trials=_trials(table, trials, target))
    if sigma is not None:
        errors = _errors(table, sigma)
        # residuals stay relative in size
        unit = float(np.sqrt(np.mean((floored(y) / errors) ** 2)))
        samples = replace(samples, errors=unit * errors, unit=unit)
    given = {name: text for name, text in (sigma_of or {}).items() if name in features}
    if not given:
        return samples
    of_features = [
        _errors(table, given[name], name) if name in given else np.zeros(len(y))
        for name in features
    ]
    shares = [given.get(name, "").endswith("%") for name in features]
    return replace(
        samples, feature_errors=unit * np.column_stack(of_features), shares=np.array(shares)
    )


def assigned(texts: Iterable[str], names: Sequence[str], option: str, form: str) -> dict[str, str]:
    """The values that texts such as `r=au` give to columns, by name.

    Several stand in one text, apart at commas or where the name of a column follows. A column may
    be named without its unit; its whole name goes before commas and equals signs in it.

    Raises:
        ValueError: if a text is no assignment (says its `form`), or a column is not known or is
            given twice.
    """
    stems = {without_unit(name): name for name in names} | {name: name for name in names}
    longest = sorted(stems, key=len, reverse=True)
    column = "|".join(map(re.escape, longest))
    values: dict[str, str] = {}
    for text in texts:
        # a name may hold what stands between assignments: its number is put in its place
        marked = re.sub(
            rf"(?:^|[\s,]+)({column})\s*=", lambda m: f",\0{longest.index(m[1])}=", text
        )
        for part in words(marked):
            name, equals, value = (each.strip() for each in part.partition("="))
            name = longest[int(name[1:])] if name.startswith("\0") else name
            if not (equals and value):
                raise ValueError(f"--{option} {name + equals!r}: write {form}.")
            name = require_known("column", stems.get(name, name), names)
            if name in values:
                raise ValueError(f"--{option} gives {name} twice; give it once.")
            values[name] = value
    return values


def written_names(names: Sequence[str], there: Sequence[str] = ()) -> dict[str, str]:
    """How formulas write columns: by name, without what a formula cannot contain.

    `log P (days)` is written `log_P_days`, `r²` `r2`, `lambda` is `lambda_`, and `pi`, a number,
    `pi_`. A column that a formula can name keeps its name, whatever others are called; and none
    takes the name of another column of the table (`there`).
    """
    plain = {name: _plain(name) for name in names}
    written = {
        name: name
        for name, text in plain.items()
        if name.isidentifier() and text == name.strip("_") and not _reserved(name)
    }
    taken = {*written, *(each for each in there if each not in plain)}
    for name, text in plain.items():
        if name not in written:
            while _reserved(text) or text in taken:
                text += "_"
            written[name] = text
            taken.add(text)
    return {name: written[name] for name in names}


def _plain(name: str) -> str:
    # as Python reads names: r² is r2
    text = unicodedata.normalize("NFKC", without_unit(name))
    text = "".join(each if f"_{each}".isidentifier() else "_" for each in text)
    text = re.sub("__+", "_", text).strip("_") or "x"
    text = text if text.isidentifier() else f"x{text}"
    return unicodedata.normalize("NFKC", text)  # the x and what stood alone may be one letter


def _reserved(text: str) -> bool:
    return keyword.iskeyword(text) or text in FUNCTIONS or text in CONSTANTS


def in_written_names(text: str, written: Mapping[str, str]) -> str:
    """A user's formula with columns as formulas write them.

    A name that is a column's, letter by letter, is that column: Python would read `µ` (micro) as
    `μ` (mu), and `lambda` as no name.
    """

    def replaced(match: re.Match[str]) -> str:
        name = match[0]
        called = name in FUNCTIONS and text[match.end() :].lstrip().startswith("(")
        number = re.fullmatch(r"[\d.]+([eE]\d*)?", name)
        return name if called or number else written.get(name, name)

    return re.sub(r"[^\s()+\-*/^,;=]+", replaced, text)


def without_unit(header: str) -> str:
    """A header without the unit that stands behind it: `F` of `F [N]`; others as they are."""
    match = HEADER_UNIT.search(header)
    try:
        if match is None or not header[: match.start()].strip():
            return header
        parse_unit(match[1])
    except ValueError:
        return header
    return header[: match.start()].strip()


def full_headers(texts: Iterable[str], there: Sequence[str]) -> tuple[str, ...]:
    """The columns meant by texts, apart at commas: `F` is the column `F [N]`, if none is called F.

    A text that is the whole name of a column is that column, commas and all.
    """
    names = [name for text in texts for name in ((text,) if text in there else words(text))]
    stems: dict[str, list[str]] = {}
    for header in there:
        stems.setdefault(without_unit(header), []).append(header)
    return tuple(
        stems[name][0] if name not in there and len(stems.get(name, ())) == 1 else name
        for name in names
    )


def spreadsheet(path: str | os.PathLike[str]) -> pd.DataFrame | None:
    """The first sheet of a spreadsheet; None for any other file.

    Raises:
        ValueError: if it cannot be read, or the package that reads it is missing (says which).
    """
    engines: dict[str, Any] = {".xlsx": "openpyxl", ".ods": "odf", ".xls": "xlrd"}
    engine = engines.get(os.path.splitext(os.fspath(path))[1].lower())
    if engine is None:
        return None
    try:
        with parsing(path, "spreadsheet"):
            return pd.read_excel(path, engine=engine)
    except ImportError:
        package = {"odf": "odfpy"}.get(engine, engine)
        raise ValueError(
            f"{path}: a spreadsheet is read with {package} (pip install {package}); or save the "
            "sheet as CSV."
        ) from None


def require_names(target: str, features: Sequence[str]) -> None:
    """Check that no column is requested twice or named like our constants."""
    names = [target, *features]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} is given twice; target and features differ.")
    for name in names:
        if name.startswith(CONSTANT_PREFIX):
            raise ValueError(f"the column {name} starts with {CONSTANT_PREFIX}; rename it.")


def telling(table: pd.DataFrame, features: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The informative features, and notes on those left out; ValueError if none is left.

    A constant column has no measurable exponent, and a multiple of another adds nothing to it.
    """
    kept: list[str] = []
    notes = []
    units = table[list(features)].to_numpy(dtype=float)
    units = units / np.max(np.abs(units), axis=0)
    units /= np.linalg.norm(units, axis=0)
    # of many columns few pairs point the same way, and only these are looked at row by row
    alike = dict(zip(features, np.abs(units.T @ units) > 1 - SAME, strict=True))
    for name in features:
        values = table[name].to_numpy(dtype=float)
        if np.ptp(values) <= SAME * np.max(np.abs(values)):
            notes.append(f"{name} is {values[0]:g} in every row, and was left out")
            continue
        near = {each for each, same in zip(features, alike[name], strict=True) if same}
        factors = ((_multiple(values, table[other]), other) for other in kept if other in near)
        twin = next((f"{factor:g} times {other}" for factor, other in factors if factor), None)
        if twin is not None:
            notes.append(f"{name} is {twin} in every row, and was left out")
            continue
        kept.append(name)
    if not kept:
        raise ValueError(f"no feature is left: {'; '.join(notes)}. Choose others.")
    return kept, tuple(notes)


def _multiple(values: np.ndarray, others: pd.Series) -> float | None:
    """The constant ratio of a column to another; None if not constant."""
    other = others.to_numpy(dtype=float)
    place = int(np.argmax(np.abs(other)))
    if other[place] == 0:
        return None
    factor = float(values[place] / other[place])
    away = np.max(np.abs(values - factor * other))
    return factor if factor and away <= SAME * np.max(np.abs(values)) else None


def in_own_order(read: UserTable, target: str, labels: Sequence[str] = ()) -> UserTable:
    """The rows without copies, in the order of what they hold.

    What is drawn at random is then the same however rows and columns are ordered, and in any unit.
    Rows are copies if all of one target, or of equal other columns, are equal: what is measured
    twice differs somewhere. Else a table whose rows are all there so many times is one there once.
    """
    every = None if read.every is None else _ordered_rows(read.every, target, labels)
    table, notes = _ordered_rows(read.table, target, labels), read.notes
    if copies := len(read.table) - len(table):
        rows = len(read.table)
        notes += (f"rows that repeat others ({copies} of {rows}) count with them as one",)
    return replace(read, table=table, every=every, notes=notes)


def _ordered_rows(table: pd.DataFrame, target: str, labels: Sequence[str]) -> pd.DataFrame:
    if (copies := table.duplicated()).any():
        apart = (table[[target]], table.drop(columns=target))
        place = (same := table.groupby([*table], sort=False, dropna=False)).cumcount()
        times = same[table.columns[0]].transform("size")
        once = any(part.shape[1] and part.duplicated().equals(copies) for part in apart)
        table = table[place < (1 if once else times // np.gcd.reduce(times))]
    ranks = table.drop(columns=[*labels]).rank()
    order = np.lexsort([(ranks**2).sum(axis=1), ranks.sum(axis=1), table[target]])
    # shuffled: rows of one x that stand by their y would leave what looks like a smooth misfit
    return table.iloc[np.random.default_rng(0).permutation(order)]


def group_numbers(table: pd.DataFrame, groups: str | None) -> np.ndarray:
    """(row,) numbers of the groups: equal values of a column, or each row alone."""
    return np.arange(len(table)) if groups is None else _ordered(table[groups])[1]


def _ordered(values: pd.Series) -> tuple[list[Any], np.ndarray]:
    """The labels in a column, numbers by size before text, and (row,) the place of each row's."""
    if pd.api.types.is_numeric_dtype(values):
        places, labels = pd.factorize(values, sort=True)
        return list(labels), places
    places, labels = pd.factorize(values)
    order = sorted(range(len(labels)), key=lambda k: label_order(labels[k]))
    return [labels[k] for k in order], np.argsort(order)[places]


def with_indicators(
    samples: Samples, table: pd.DataFrame, column: str, taken: Sequence[str]
) -> tuple[Samples, tuple[str | int | float, ...]]:
    """Samples with an indicator column, of an unused name, for every value of a column; and those.

    Raises:
        ValueError: for one group, too many, or none with rows enough.
    """
    labels, places = _ordered(table[column])
    counts = np.bincount(places)
    if not 2 <= len(counts) <= MOST_GROUPS:
        raise ValueError(
            f"--per-group {column}: the column has {len(counts)} value(s); 2 to {MOST_GROUPS} "
            "groups can have constants of their own."
        )
    if (large := int(np.sum(counts >= LEAST_ROWS))) < 2:
        raise ValueError(
            f"--per-group {column}: {large} of {len(counts)} groups have {LEAST_ROWS} rows; two at "
            "least are needed to choose a form. Join some to others."
        )
    stem = written_names([column])[column]
    while any(f"{stem}_{g + 1}" in taken for g in range(len(counts))):
        stem += "_"
    names = tuple(f"{stem}_{g + 1}" for g in range(len(counts)))
    ones = (places[:, None] == np.arange(len(counts))).astype(float)
    indicated = replace(
        samples, X=np.column_stack([samples.X, ones]), names=(*samples.names, *names),
        indicators=len(names),
    )  # fmt: skip
    if samples.feature_errors is not None and samples.shares is not None:
        none = np.zeros(len(names), dtype=bool)
        indicated = replace(
            indicated, feature_errors=np.column_stack([samples.feature_errors, 0 * ones]),
            shares=np.concatenate([samples.shares, none]),
        )  # fmt: skip
    return indicated, tuple(map(_label, labels))


def _label(label: Any) -> str | int | float:
    """A label of Python's own types: a whole number is an int where no float holds it."""
    if isinstance(label, str):
        return label
    large = isinstance(label, (int, np.integer)) and abs(int(label)) >= 2**sys.float_info.mant_dig
    return int(label) if large else float(label)


def label_columns(
    source: str | os.PathLike[str] | pd.DataFrame, used: Sequence[str]
) -> tuple[str, ...]:
    """Other columns of text whose values, each in several rows, may tell groups apart."""
    others = [name for name in read_columns(source)[1] if name not in used]
    if not others or len(others) > 50:  # of a wide table reading them all would take long
        return ()
    table, _ = read_columns(source, others, blank_lines=False)
    texts = (name for name in others if not pd.api.types.is_numeric_dtype(table[name]))
    most = min(MOST_GROUPS, len(table) // LEAST_ROWS)
    return tuple(name for name in texts if 2 <= table[name].astype(str).nunique() <= most)


def sigma_column(sigma: str | None) -> str | None:
    """The column named by standard errors; None if a number or a share, or not given."""
    if sigma is None:
        return None
    try:
        float(sigma.removesuffix("%"))
    except ValueError:
        return sigma
    return None


def _errors(table: pd.DataFrame, sigma: str, feature: str | None = None) -> np.ndarray:
    """(row,) standard errors of the target, or of a feature: zero if it is exact."""
    column = sigma_column(sigma)
    if column is not None:
        errors = table[column].to_numpy(dtype=float)
    elif not sigma.endswith("%"):
        errors = np.full(len(table), float(sigma))
    elif feature is not None:
        errors = float(sigma[:-1]) / 100 * np.abs(table[feature].to_numpy(dtype=float))
    else:  # the target's are no share of it
        errors = np.zeros(len(table))
    good = errors >= 0 if feature else errors > 0
    if np.all(np.isfinite(errors) & good) and not np.all(
        (errors == 0) | ((errors >= 1 / LARGEST) & (errors <= LARGEST_TARGET))
    ):
        raise ValueError(
            f"standard errors of {np.max(errors):.3g} cannot be reckoned with (from "
            f"{1 / LARGEST:g} to {LARGEST_TARGET:g}); take another unit."
        )
    if not np.all(np.isfinite(errors) & good):
        raise ValueError(
            f"--sigma-of {feature}={sigma}: standard errors must be finite, and none below 0."
            if feature
            else f"--sigma {sigma}: standard errors must be finite and above 0."
        )
    return errors


def _trials(table: pd.DataFrame, trials: str, target: str) -> np.ndarray:
    """(row,) numbers of trials of which the target is a share."""
    column = sigma_column(trials)
    numbers = (
        np.full(len(table), float(trials)) if column is None else table[column].to_numpy(float)
    )
    if not np.all(np.isfinite(numbers) & (numbers >= 1)):
        raise ValueError(f"--trials {trials}: numbers of trials must be finite and at least 1.")
    y = table[target].to_numpy(dtype=float)
    if not np.all((y >= 0) & (y <= 1)):
        raise ValueError(
            f"--trials: {target} must be a share of trials, from 0 to 1; it goes from {y.min():g} "
            f"to {y.max():g}. Divide counts by their trials."
        )
    return numbers


def _without_bad_rows(table: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The rows with a finite number, or a label, in every column."""
    good = np.ones(len(table), dtype=bool)
    for column, values in table.items():
        if column in labels:
            good &= values.notna().to_numpy()
            continue
        finite = np.isfinite(numbers_of(values))
        if 2 * finite.sum() >= len(finite):  # else it is no column of numbers
            good &= finite
    return table[good]


def is_complex(value: object) -> bool:
    """Whether a value is a complex number, or the text of one."""
    if isinstance(value, (complex, np.complexfloating)):
        return True
    text = str(value).strip("() ").replace(" ", "").replace("i", "j")
    try:
        return text.endswith("j") and complex(text) is not None
    except ValueError:
        return False


def _require_labels(values: pd.Series, source: str | os.PathLike[str] | pd.DataFrame) -> None:
    if missing := values.index[values.isna()].to_list():
        raise ValueError(
            f"{name_of(source)}: the column {values.name} names groups, and {len(missing)} row(s) "
            f"have no value there: {named_rows(source, missing)}; give one, or leave such rows out "
            "with --bad-rows mend."
        )


def _numeric(
    values: pd.Series, source: str | os.PathLike[str] | pd.DataFrame, target: bool
) -> np.ndarray:
    path, name, numbers = name_of(source), values.name, numbers_of(values)
    if (wrong := np.isnan(numbers) & values.notna().to_numpy()).any():
        row = int(np.argmax(wrong))
        text = str(values.iloc[row])[:30]
        if is_complex(values.iloc[row]):
            raise ValueError(
                f"{path}: the column {name} has complex values, such as {values.iloc[row]}; give "
                "their real and imaginary parts, or size and phase, as columns of their own."
            )
        if 2 * wrong.sum() < values.notna().sum():
            raise ValueError(
                f"{path}, {named_rows(source, [values.index[row]])}: {name} is {text!r}; a number "
                "is needed. Correct it, or leave such rows out with --bad-rows mend."
            )
        advice = ""
        if target and isinstance(values.iloc[row], str):
            advice = " A law is for a quantity in numbers: name another target."
        elif isinstance(values.iloc[row], str):
            advice = (
                " If it tells materials or other groups apart, --per-group gives each its own "
                f"constants: --per-group {name} (per_group in Python)."
            )
        elif carried_unit(values) is not None:
            advice = " Give its numbers alone, and their unit with --units."
        elif pd.api.types.infer_dtype(values, skipna=True).startswith("timedelta"):
            advice = " Divide durations by a unit first, as by pd.Timedelta('1d') for days."
        raise ValueError(f"{path}: the column {name} is not numeric (it has {text!r}).{advice}")
    finite = np.isfinite(numbers)
    if not finite.all():
        first = named_rows(source, [values.index[int(np.argmin(finite))]])
        raise ValueError(
            f"{path}: the column {name} has {np.sum(~finite)} value(s) that are not finite, of "
            f"{len(numbers)}, the first in {first}; "
            "find out where they come from, or leave those rows out with --bad-rows mend."
        )
    most = LARGEST_TARGET if target else LARGEST
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest and not 1 / LARGEST <= largest <= most:
        raise ValueError(
            f"{path}: the column {name} has numbers of {largest:.3g}, which cannot be reckoned "
            f"with (from {1 / LARGEST:g} to {most:g}); take another unit."
        )
    return np.where(np.abs(numbers) < np.finfo(float).tiny, 0.0, numbers)  # 1 / 5e-324 is infinite
