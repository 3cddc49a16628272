"""How results are written to a terminal: a short table, then sentences, as wide as it allows.

print(table([("states", "law"), ("kicked", "39.5/r**2")]))
print(facts({"law": "39.5/r**2", "recovered": "yes"}))
print(wrapped("The model believes in newton."))

On a terminal heads and names are bold, yes is green and no is red, unless NO_COLOR is set
(https://no-color.org).
"""

import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from html import escape
from itertools import zip_longest
from typing import TextIO

from orbits.estimates import Estimate

TIED = "\N{NO-BREAK SPACE}"
"""What stands in brackets stays on one line."""
BOLD, RED, GREEN = 1, 31, 32
"""Codes of ECMA-48."""


def columns() -> int:
    """The width of text here: the terminal's, within limits."""
    narrowest, widest = 40, 120  # the widest in a file or a notebook
    width = shutil.get_terminal_size((widest, 24)).columns
    return max(narrowest, min(widest, width))


def plain(text: str) -> str:
    """A text that others may have written (names of columns and files, messages of a model's own
    code) as a terminal may show it: what is no letter, sign or space is written as its code, so
    that nothing moves the cursor, rings, or turns the order of what follows. Lines stay lines."""
    return "".join(
        each
        if each.isprintable() or each in f"\n{TIED}"
        else each.encode("unicode_escape").decode()
        for each in text
    )


def shortened(text: str, most: int) -> str:
    """A text on one line, of at most so many characters: its beginning and its end."""
    line = " ".join(text[: 8 * most].split() + text[8 * most :][-most:].split())
    middle = " ... "
    end = most // 3
    cut = f"{line[: most - end - len(middle)]}{middle}{line[-end:]}"
    return line if len(line) <= most else cut


def wrapped(text: str) -> str:
    """A text whose lines are no wider than the terminal."""
    width = columns()
    return "\n".join(textwrap.fill(line, width) for line in plain(text).split("\n"))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; programs without any have none."""
    return stream is not None and stream.isatty()


def styled(text: str, code: int | None, stream: TextIO | None = None) -> str:
    """A text as bold or coloured, if `stream` (by default the standard output) is a terminal."""
    plain = code is None or "NO_COLOR" in os.environ or not is_terminal(stream or sys.stdout)
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


def number(value: float | None, digits: int = 4, missing: str = "none") -> str:
    """A number to so many significant digits."""
    return missing if value is None else f"{value:.{digits}g}"


MOST_DECIMALS, LARGEST_WRITTEN = 8, 1e6
"""Beyond these an interval is written as by itself, in powers of ten."""


def interval(quantity: Estimate) -> str:
    """A value with its interval, all to as many decimals: `39.40 [38.35, 40.45]`.

    They have two digits of the half-width, in powers of ten where that cannot be written out.
    """
    if quantity.value is None:
        return "none"
    low, high = quantity.low, quantity.high
    if low is None or high is None:
        return f"{quantity.value:.5g}"
    half = (high - low) / 2
    decimals = max(0, 1 - math.floor(math.log10(half))) if half > 0 else math.inf
    if max(abs(low), abs(high)) >= LARGEST_WRITTEN or decimals > MOST_DECIMALS:
        return str(quantity)
    return f"{quantity.value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def fixed(value: float | None, decimals: int = 4, missing: str = "none") -> str:
    """A number with so many decimals."""
    return missing if value is None else f"{value:.{decimals}f}"


def percent(value: float | None, decimals: int = 0, missing: str = "none") -> str:
    """A share with so many decimals of a per cent: `95%`."""
    return missing if value is None else f"{value:.{decimals}%}"


def share(value: float | None, digits: int = 3, missing: str = "none") -> str:
    """A share to so many significant digits, without powers of ten: `3.21 %`."""
    return missing if value is None else f"{Decimal(number(100 * value, digits)):f} %"


def in_a_line(formula: str) -> str:
    """A formula of Python's within a sentence: `2·x^3`."""
    return formula.replace("**", "^").replace("*", "·")


def plural(count: int, noun: str) -> str:
    """`1 step`, `4 steps`, `4 searches`."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table, its first row the header; cells wrap where the terminal is narrower."""
    widths, (head, *body) = _laid_out(rows)
    rule = [tuple("-" * width for width in widths)]
    top = (styled(line, BOLD) for line in _lines([head, rule], widths))
    return "\n".join([*top, *_lines(body, widths)])


def facts(values: Mapping[str, object]) -> str:
    """A table of two columns without a header: names and values."""
    texts = {k: f"{v:.3g}" if isinstance(v, float) else str(v) for k, v in values.items()}
    widths, rows = _laid_out(list(texts.items()))
    return "\n".join(_lines(rows, widths, first=BOLD))


def html_table(rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook, its first column bold."""
    lines = ([escape(str(cell)) for cell in row] for row in rows)
    cells = (f"<th>{name}</th><td>{'</td><td>'.join(rest)}</td>" for name, *rest in lines)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"


Row = Sequence[tuple[str, ...]]
"""Lines in cells."""


def _laid_out(rows: Sequence[Sequence[str]]) -> tuple[list[int], list[Row]]:
    """Widths of the columns, and the rows, wrapped until all fits the terminal."""
    cells = [
        [re.sub(r"\[.*?\]", lambda part: part[0].replace(" ", TIED), plain(cell)) for cell in row]
        for row in rows
    ]
    by_column = list(zip(*cells, strict=True))
    widths = [max(1, *map(len, column)) for column in by_column]
    least = [max(1, *(len(w) for cell in column for w in cell.split(" "))) for column in by_column]
    room = columns() - 2 * (len(widths) - 1)
    while sum(widths) > room and widths != least:
        spare = [width if width > short else 0 for width, short in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    wrap = partial(textwrap.wrap, break_on_hyphens=False)
    lines = [[wrap(*pair) or [""] for pair in zip(row, widths, strict=True)] for row in cells]
    return widths, [list(zip_longest(*row, fillvalue="")) for row in lines]


def _lines(rows: Sequence[Row], widths: Sequence[int], first: int | None = None) -> Iterator[str]:
    """Rows as lines of text; `first` is the style of the first column."""
    for line in (line for row in rows for line in row):
        styles = [first, *({"yes": GREEN, "no": RED}.get(cell) for cell in line[1:])]
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        padded[-1] = padded[-1].rstrip()
        cells = [styled(*pair) for pair in zip(padded, styles, strict=True)]
        yield "  ".join(cells).rstrip().replace(TIED, " ")
