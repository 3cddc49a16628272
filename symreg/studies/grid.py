"""A study: a grid of runs that answers one question, read from a YAML file and checked."""

import difflib
import itertools
import types
import typing
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from orbits.command.near_misses import require_known
from orbits.forces import parse_law
from orbits.records.files import sha256_of_json
from symreg.engines.choice import choose_engine
from symreg.runs.config import RunConfig, file_name, resolved

KEYS = ("name", "question", "base", "grid", "figure", "cost")
LONGEST_NAME = 120
"""Characters of a cell's name, which is a folder's name too; longer ones are cut."""

FIGURES = ("none", "context", "attention", "extrapolation", "laws", "masses", "published")


@dataclass(frozen=True)
class Cell:
    """One run of a study: its name, where it stands in the grid, and its options."""

    name: str
    place: dict[str, Any]
    config: RunConfig


@dataclass(frozen=True)
class Study:
    """A question and the runs that answer it."""

    name: str
    question: str
    base: dict[str, Any]
    grid: list[dict[str, list[Any]]]
    figure: str
    cost: str
    cells: tuple[Cell, ...]

    @property
    def axes(self) -> list[str]:
        """The options that vary, in the order of the file."""
        return _axes(self.grid)

    def to_json(self) -> dict[str, Any]:
        """What identifies the study, without its cells."""
        return {key: value for key, value in asdict(self).items() if key != "cells"}


def shipped() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    folder = Path(str(files("symreg"))) / "studies"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_study(source: str) -> Study:
    """Read and check a study.

    Args:
        source: a YAML file, or the name of a study that comes with the package.

    Raises:
        ValueError: if there is no such study, or it cannot run: one line that says where and why.
    """
    path = Path(source)
    if path.suffix not in (".yaml", ".yml") and not path.is_file():
        path = shipped()[require_known("study", source, shipped())]
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a YAML file: {error}") from None
    try:
        return parse_study(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_study(content: Any) -> Study:
    """Make a study of what a YAML file holds.

    Args:
        content: a mapping with `name`, `question`, `grid` (a mapping of options to lists of
            values, of which every combination runs, or a list of such mappings), and optionally
            `base` (options of all cells), `figure` and `cost` (in words).

    Raises:
        ValueError: for an unknown key or option, a value of another type, an empty grid, cells
            that are the same, a law or an engine that is not known.
    """
    if not isinstance(content, dict):
        raise ValueError(f"a study is a mapping with {', '.join(KEYS)}.")
    for key in content:
        _require_option("key", key, KEYS)
    for key in ("name", "question"):
        if not isinstance(content.get(key), str) or not content[key].strip():
            raise ValueError(f"{key} is missing: a text.")
    figure = str(content.get("figure") or "none")
    require_known("figure", figure, FIGURES)
    base = _mapping("base", content.get("base") or {})
    base = {name: _value(name, value) for name, value in base.items()}
    grid = [_values(part) for part in _grids(content.get("grid"))]
    return Study(
        name=file_name(content["name"]),
        question=" ".join(content["question"].split()),
        base=base,
        grid=grid,
        figure=figure,
        cost=" ".join(str(content.get("cost") or "").split()),
        cells=_cells(base, grid),
    )


def _grids(grid: Any) -> list[dict[str, Any]]:
    parts = grid if isinstance(grid, list) else [grid]
    if not parts or not all(isinstance(part, dict) and part for part in parts):
        raise ValueError("grid is empty: give options with lists of values.")
    return [_mapping("grid", part) for part in parts]


def _mapping(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{key} must be a mapping of options, not {value!r}.")
    known = [field.name for field in fields(RunConfig) if field.name != "out"]
    for name in value:
        _require_option(f"{key}: option", name, known)
    return value


def _values(part: dict[str, Any]) -> dict[str, list[Any]]:
    for name, values in part.items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"grid: {name} must be a list of one or more values, not {values!r}.")
    return {name: [_value(name, value) for value in values] for name, values in part.items()}


def _cells(base: dict[str, Any], grid: list[dict[str, list[Any]]]) -> tuple[Cell, ...]:
    axes = _axes(grid)
    cells: list[Cell] = []
    seen: dict[str, str] = {}
    for part in grid:
        for values in itertools.product(*part.values()):
            chosen = dict(zip(part, values, strict=True))
            where = ", ".join(f"{name} {_text(value)}" for name, value in chosen.items())
            try:
                config = RunConfig(**(base | chosen))
                parse_law(config.law)
                choose_engine(config.engine)
            except ValueError as error:
                raise ValueError(f"cell {where}: {error}") from None
            place = {axis: getattr(config, axis) for axis in axes}
            fingerprint = sha256_of_json(resolved(config))
            name = ",".join(f"{axis}={file_name(_text(value))}" for axis, value in place.items())
            if len(name) > LONGEST_NAME:
                name = f"{name[:LONGEST_NAME]}-{fingerprint[:8]}"
            if fingerprint in seen:
                raise ValueError(f"grid: the cell {where} is there twice.")
            if name in seen.values():
                raise ValueError(f"grid: two cells would both be called {name}.")
            seen[fingerprint] = name
            cells.append(Cell(name, place, config))
    return tuple(cells)


def _axes(grid: list[dict[str, list[Any]]]) -> list[str]:
    return list(dict.fromkeys(name for part in grid for name in part))


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _require_option(kind: str, name: Any, known: typing.Iterable[str]) -> None:
    """As `require_known`, with the near miss alone: the options are many."""
    known = list(known)
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}."
        raise ValueError(f"{kind} {name!r} is not known{hint}")


def _value(name: str, value: Any) -> Any:
    """A value of the type that an option has.

    Raises:
        ValueError: if it has another.
    """
    hint = get_type_hints(RunConfig)[name]
    try:
        return _of_type(hint, value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; {_in_words(hint)} is needed.") from None


def _of_type(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _of_type(next(t for t in get_args(hint) if t is not type(None)), value)
    if origin is Literal:
        if value not in get_args(hint):
            raise TypeError
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(_of_type(get_args(hint)[0], item) for item in value)
    if isinstance(value, bool):
        raise TypeError
    if hint is float and isinstance(value, (int, float, str)):  # YAML reads 1e-3 as a text
        try:
            return float(value)
        except ValueError:
            raise TypeError from None
    if not isinstance(value, hint):
        raise TypeError
    return value


def _in_words(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        kind = next(t for t in get_args(hint) if t is not type(None))
        return f"{_in_words(kind)} or null"
    if origin is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if origin is tuple:
        return f"a list, each item {_in_words(get_args(hint)[0])},"
    return {str: "a text", int: "a whole number", float: "a number"}[hint]
