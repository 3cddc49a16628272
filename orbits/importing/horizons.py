"""JPL Horizons vector tables: the text between $$SOE and $$EOE.

Positions and velocities of one body, as the service sends or prints them (`Type: VECTORS`), with
labels (X = ... Y = ...) or as comma-separated values. Units are read from the header.

Source: https://ssd.jpl.nasa.gov/horizons/manual.html, "Vector table".
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

BEGIN, END = "$$SOE", "$$EOE"
HEAD = 200_000
"""Characters searched for the mark of such a table: its header is a few thousand."""
_NUMBER = r"[-+]?\d+\.?\d*(?:[EeDd][-+]?\d+)?"
_LABELLED = re.compile(rf"\b(VX|VY|VZ|X|Y|Z)\s*=\s*({_NUMBER})")
_DATE = re.compile(rf"^[ \t]*({_NUMBER})\s*=\s*A\.D\.", re.MULTILINE)
UNITS = {"KM-S": ("km", "km/s"), "AU-D": ("au", "au/d")}
COLUMNS = ("JD", "X", "Y", "Z", "VX", "VY", "VZ")


@dataclass(frozen=True)
class VectorTable:
    """One Horizons table: its rows (JD in days, X to VZ) and units."""

    table: pd.DataFrame
    length_unit: str
    velocity_unit: str
    target: str
    """Name of the body, from the header; empty if it has none."""


def is_vector_table(path: Path) -> bool:
    """Whether a file has the mark of a Horizons table near its beginning."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return BEGIN in file.read(HEAD)


def read_vector_table(path: Path) -> VectorTable:
    """Read a Horizons vector table.

    Raises:
        ValueError: if it is cut short, in unknown units, or a record cannot be read (says its
            line).
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    header, begin, rest = text.partition(BEGIN)
    body, end, _ = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} is cut short: {BEGIN} or {END} is missing.")
    units = re.search(r"Output units\s*:\s*([A-Z]+-[A-Z]+)", header)
    named = units[1] if units else "KM-S"
    if named not in UNITS:
        raise ValueError(f"{path} has the units {named}; ask Horizons for AU-D or KM-S.")
    target = re.search(r"Target body name:\s*([^({\n]+?)\s*(?:[({]|$)", header, re.MULTILINE)
    first = header.count("\n") + 1
    rows = _comma_separated(path, body, first) or _labelled(path, body, first)
    if not rows:
        raise ValueError(f"{path} holds no states between {BEGIN} and {END}.")
    table = pd.DataFrame(np.array(rows), columns=list(COLUMNS))
    return VectorTable(table, *UNITS[named], target[1].strip().lower() if target else "")


def _labelled(path: Path, body: str, first: int) -> list[list[float]]:
    rows, dates = [], list(_DATE.finditer(body))
    ends = [*(date.start() for date in dates[1:]), len(body)]
    for date, end in zip(dates, ends, strict=True):
        found = _LABELLED.findall(body[date.end() : end])
        values = {name: _number(text) for name, text in found}
        missing = [name for name in COLUMNS[1:4] if name not in values]
        if missing:
            line = first + body.count("\n", 0, date.start())
            raise ValueError(f"{path}, line {line}: the state lacks {', '.join(missing)}.")
        rows.append([float(date[1]), *(values.get(name, np.nan) for name in COLUMNS[1:])])
    return rows


def _comma_separated(path: Path, body: str, first: int) -> list[list[float]]:
    rows = []
    for number, line in enumerate(body.splitlines(), first):
        parts = [part.strip() for part in line.split(",")]
        if not line.strip():
            continue
        if len(parts) < 5:
            return []
        try:
            values = [_number(part) for part in (parts[0], *parts[2:8]) if part]
        except ValueError:
            raise ValueError(f"{path}, line {number}: {line.strip()[:60]!r} is no state.") from None
        rows.append(values + [np.nan] * (len(COLUMNS) - len(values)))
    return rows


def _number(text: str) -> float:
    return float(text.replace("D", "E").replace("d", "e"))
