"""A study: a grid of runs to answer one question, read from a YAML file and checked."""

import itertools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orbits.files import as_json, read_yaml, sha256_of_json
from orbits.options import OptionError, require_known, with_options
from symreg.experiments.config import RunConfig, file_name
from symreg.experiments.grid_figure import ANY_GRID
from symreg.experiments.own_data import of_data
from symreg.experiments.run import check
from symreg.experiments.study_figure import LABEL, StudyFigure, figure_in

KEYS = ("name", "question", "base", "grid", "figure", "cost")
LONGEST_NAME = 120
"""Characters in a cell's name, also its folder's; longer ones are cut."""
FIGURES: dict[str, StudyFigure | None] = {"grid": ANY_GRID, "none": None}
"""Besides a file of one's own; `grid` is for a study that names none."""


@dataclass(frozen=True)
class Cell:
    """One run of a study: its name, place in the grid, options and label."""

    name: str
    place: dict[str, Any]
    config: RunConfig
    label: str | None = None


@dataclass(frozen=True)
class Study:
    """A question and the runs that answer it; `figures` are those that `figure` names."""

    name: str
    question: str
    base: dict[str, Any]
    grid: list[dict[str, Any]]
    figure: str
    figures: StudyFigure | None
    cost: str
    cells: tuple[Cell, ...]

    @property
    def axes(self) -> list[str]:
        """The options that vary, in the order of the file."""
        return _axes(self.grid)

    def to_dict(self) -> dict[str, Any]:
        """The study's identity, without its cells."""
        return {name: as_json(getattr(self, name)) for name in KEYS}


def load_study(source: str | os.PathLike[str]) -> Study:
    """Read and check a study in a YAML file.

    Raises:
        ValueError: if there is no such study, or it cannot run: one line that says where and why.
    """
    content = read_yaml(source)
    try:
        return parse_study(content, Path(source).parent)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def parse_study(content: Any, folder: Path = Path()) -> Study:
    """Make a study from a YAML file's content; the figure's file lies in the folder.

    The content is a mapping with `name`, `question`, `grid` (a mapping of options of `symreg run`
    to lists of values, every combination of which runs, or a list of such mappings, each optionally
    with a `label` in words), and optionally `base` (options of all cells), `figure` (`grid`,
    `none`, or a Python file with a `StudyFigure` called `FIGURE`) and `cost` (in words).

    Raises:
        ValueError: for an unknown key or option, a wrong type, an empty grid, identical cells, or
            anything that `symreg run` would refuse.
    """
    if not isinstance(content, dict):
        raise ValueError(f"a study is a mapping with {', '.join(KEYS)}.")
    for key in content:
        require_known("key", str(key), KEYS)
    for key in ("name", "question"):
        if not isinstance(content.get(key), str) or not content[key].strip():
            raise ValueError(f"{key} is missing: a text.")
    figure = str(content.get("figure") or "grid")
    figures = (
        figure_in(folder / figure)
        if figure.endswith(".py")
        else FIGURES[require_known("figure", figure, FIGURES)]
    )
    base = content.get("base") or {}
    if not isinstance(base, dict):
        raise ValueError(f"base must be a mapping of options, not {base!r}.")
    try:
        _with(RunConfig(), base)
    except OptionError as error:
        raise ValueError(f"base: {error}") from None
    grid = _grid(content.get("grid"))
    return Study(
        name=file_name(content["name"]),
        question=" ".join(content["question"].split()),
        base=base,
        grid=grid,
        figure=figure,
        figures=figures,
        cost=" ".join(str(content.get("cost") or "").split()),
        cells=_cells(base, grid),
    )


def _grid(grid: Any) -> list[dict[str, Any]]:
    """The parts of a grid, checked."""
    parts = grid if isinstance(grid, list) else [grid]
    if not parts or not all(isinstance(part, dict) and part for part in parts):
        raise ValueError("grid is empty: give options with lists of values.")
    for name, values in (option for part in parts for option in part.items()):
        if name == LABEL:
            if not isinstance(values, str) or not values.strip():
                raise ValueError(f"grid: label must be a text, not {values!r}.")
            continue
        if not isinstance(values, list) or not values:
            raise ValueError(f"grid: {name} must be a list of one or more values, not {values!r}.")
    sizes = [[len(v) for name, v in part.items() if name != LABEL] for part in parts]
    # each cell is a run of minutes, so more are a slip of the hand
    if (cells := sum(map(math.prod, sizes))) > 10_000:
        raise ValueError(f"grid: {cells:,} cells; at most 10,000 are one study.")
    return parts


def _with(config: RunConfig, values: Mapping[str, Any]) -> RunConfig:
    """A cell's options, except where it is kept."""
    for name in RunConfig.FREE:
        if name in values:
            raise OptionError(name, "is no option of a cell.")
    return with_options(config, values)


def _cells(base: dict[str, Any], grid: list[dict[str, Any]]) -> tuple[Cell, ...]:
    seen: dict[str, Cell] = {}
    axes = _axes(grid)
    for part in grid:
        options = {name: values for name, values in part.items() if name != LABEL}
        for values in itertools.product(*options.values()):
            chosen = dict(zip(options, values, strict=True))
            where = ", ".join(f"{name} {_text(value)}" for name, value in chosen.items())
            try:
                check(of_data(config := _with(RunConfig(), {**base, **chosen})))
            except ValueError as error:
                raise ValueError(f"cell {where}: {error}") from None
            place = {axis: getattr(config, axis) for axis in axes}
            fingerprint = sha256_of_json(config.identity)
            name = ",".join(f"{axis}={file_name(_text(value))}" for axis, value in place.items())
            if len(name) > LONGEST_NAME:
                name = f"{name[:LONGEST_NAME]}-{fingerprint[:8]}"
            if fingerprint in seen:
                raise ValueError(f"grid: the cell {where} is there twice.")
            if name in [cell.name for cell in seen.values()]:
                raise ValueError(f"grid: two cells would both be called {name}.")
            seen[fingerprint] = Cell(name, place, config, part.get(LABEL))
    return tuple(seen.values())


def _axes(grid: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for part in grid for name in part if name != LABEL))


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
