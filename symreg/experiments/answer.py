"""A study's answer: its cells grouped by setting, over the seeds, in a table and in words."""

from collections.abc import Iterable

import pandas as pd

from orbits.printing import number, plural, table, wrapped
from symreg.experiments.study_figure import LABEL, frequency, measured
from symreg.experiments.verdict import EVERY_KIND, FIELD, LAW, OBEYS

FIXED = ("cell", "status", "error", "world_model", "recovered", "gates_failed", "seconds")
"""Columns in the table of every study, whatever was asked."""
SEED = "seed"
MEASURES = {
    "kicked.kick_r2_first": "kick R²",
    "kicked.kick_r2_4": "kick R², 4 steps on",
    "far.error": "error on far states",
    "holds_to": "holds to, au",
    "kicked.exponent": "exponent",
    "kicked.exponent_of_m2": "exponent of m2",
    "transfer.r2": "R², fine-tuned",
    "orbit.r2": "R² on orbits",
    "evaluate.error_16": "roll-out error, 16 steps",
    "extrapolate.ratio_16": "loss at 16× over that at 1×",
}
"""Columns that answer, with their names; the first one present leads."""


def telling_axes(frame: pd.DataFrame, axes: list[str]) -> list[str]:
    """Options with more than one value, except seeds; labels, if any."""
    if measured(frame, LABEL):
        return [LABEL]
    return [
        axis
        for axis in axes
        if axis.rsplit(".", 1)[-1] != SEED
        and frame[axis].astype("string").nunique(dropna=False) > 1
    ]


def settings(frame: pd.DataFrame, axes: list[str]) -> pd.Series:
    """(cell,) what distinguishes a cell's setting, without its seeds, in words."""
    telling = telling_axes(frame, axes)
    if telling == [LABEL]:
        return frame[LABEL].astype(object).fillna("all others")
    words = [
        ", ".join(
            f"{_short(axis)} {row[axis]}"
            for axis in telling
            if not (pd.isna(row[axis]) or row[axis] in ("none", ""))
        )
        for row in frame.to_dict("records")
    ]
    rest = "all others" if telling else "all cells"
    return pd.Series([word or rest for word in words], index=frame.index, dtype=object)


def _short(axis: str) -> str:
    return axis.rsplit(".", 1)[-1].replace("_", " ")


def answer_table(frame: pd.DataFrame, axes: list[str], most: int | None = None) -> list[list[str]]:
    """Rows of a table of cells that are done, header first: numbers over the seeds of each setting.

    A number is the median with the lowest and the highest; a share has its 95 % interval. At most
    so many columns of numbers are shown.
    """
    words = settings(frame, axes)
    measures = {name: MEASURES[name] for name in [n for n in MEASURES if measured(frame, n)][:most]}
    judged = measured(frame, "world_model")
    rows = [["setting", "cells", *([FIELD, LAW] if judged else []), *measures.values()]]
    for word in dict.fromkeys(words):
        part = frame[words == word]
        shares = [_how_often(part, kinds) for kinds in (OBEYS, (LAW,))] if judged else []
        rows.append([word, str(len(part)), *shares, *(over(part[name]) for name in measures)])
    return rows


def _how_often(part: pd.DataFrame, kinds: Iterable[str]) -> str:
    return frequency(part["world_model"].isin(list(kinds)))


def over(values: pd.Series) -> str:
    """Median over seeds with the lowest and the highest: `0.98 [0.97, 0.99]`."""
    known = values.dropna().astype(float)
    if known.empty:
        return "–"
    if len(known) == 1:
        return number(float(known.iloc[0]), 3)
    ends = ", ".join(number(float(end), 3) for end in (known.min(), known.max()))
    return f"{number(float(known.median()), 3)} [{ends}]"


def answer(frame: pd.DataFrame, axes: list[str]) -> str:
    """The answer in sentences: the kinds found, and how often for each option's value."""
    if frame.empty:
        return "No cell is done yet."
    sentences = []
    if measured(frame, "world_model"):
        counts = frame["world_model"].value_counts()
        every = ", ".join(f"{int(counts[kind])} {kind}" for kind in EVERY_KIND if kind in counts)
        sentences.append(f"Of {plural(len(frame), 'cell')} that are done: {every}.")
        held: dict[str, tuple[str, ...]] = {FIELD: OBEYS, LAW: (LAW,)}
        for what, kinds in held.items():
            if 0 < sum(counts.get(kind, 0) for kind in kinds) < len(frame):
                told = (_by_value(frame, axis, what, kinds) for axis in telling_axes(frame, axes))
                sentences += told
    leading = next((name for name in MEASURES if measured(frame, name)), None)
    if leading is not None:
        sentences += _ends(frame, leading, settings(frame, axes))
    return " ".join(sentences) or f"{plural(len(frame), 'cell')} done."


def _by_value(frame: pd.DataFrame, axis: str, what: str, kinds: Iterable[str]) -> str:
    """How often a model has the field, or holds the law, by the value of an option."""
    values = frame[axis].astype("string").fillna("none")
    shares = {value: _how_often(frame[values == value], kinds) for value in dict.fromkeys(values)}
    parts = (f"at {value} {share}" for value, share in shares.items())
    return f"The {what} by {_short(axis)}: {'; '.join(parts)}."


def _ends(frame: pd.DataFrame, name: str, words: pd.Series) -> list[str]:
    """The settings with the largest and the smallest median."""
    measured = frame[name].astype(float).groupby(words, sort=False)
    medians = measured.median().dropna().sort_values()
    if len(medians) < 2:
        return []
    ends = ((medians.index[-1], "largest"), (medians.index[0], "smallest"))
    best = (f"{word} with {setting}: {over(measured.get_group(setting))}" for setting, word in ends)
    return [f"The {MEASURES[name]} is {'; '.join(best)}."]


PRINTED = 3
"""Columns of numbers on a terminal."""


def in_a_terminal(frame: pd.DataFrame, axes: list[str]) -> str:
    """Table and answer as printed."""
    if frame.empty:
        return answer(frame, axes)
    return f"{table(answer_table(frame, axes, PRINTED))}\n\n{wrapped(answer(frame, axes))}"
