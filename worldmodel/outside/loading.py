"""From `package.module:make` or `path/to/mine.py:make` to the object that is meant."""

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from orbits.command.near_misses import nearest
from worldmodel.predictors.base import Predictor


def source_of(spec: str) -> Path | None:
    """The file that a spec's code lies in, without executing any; None if there is none.

    Raises:
        ValueError: if no such file or module exists.
    """
    place = spec.rpartition(":")[0]
    if _is_file(place):
        path = Path(place).expanduser()
        if not path.is_file():
            raise ValueError(f"--model {spec}: there is no file {place}.")
        return path.resolve()
    found: ModuleSpec | None = None
    path_of: list[str] | None = None
    parts = place.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        # neither executes anything; within a package find_spec would import that
        find = importlib.util.find_spec if count == 1 else PathFinder.find_spec
        found = find(name, path_of)  # type: ignore[arg-type]
        if found is None:
            raise ValueError(
                f"--model {spec}: there is no module {'.'.join(parts[:count])}; it must be "
                "installed or on PYTHONPATH, or give the file: path/to/mine.py:make."
            )
        path_of = list(found.submodule_search_locations or [])
    return Path(found.origin).resolve() if found is not None and found.origin else None


def resolved(spec: str) -> str:
    """The same with an absolute path, which means the same in any folder."""
    place, _, name = spec.rpartition(":")
    return f"{source_of(spec)}:{name}" if _is_file(place) else spec


def named(spec: str) -> Any:
    """The object of that name, its module executed.

    Raises:
        ValueError: if it is not there, or its module does not run: one line that says why.
    """
    place, _, name = spec.rpartition(":")
    source_of(spec)
    try:
        module = _executed(Path(place).expanduser()) if _is_file(place) else _imported(place)
    except ModuleNotFoundError as error:
        raise ValueError(f"--model {spec}: it needs the package {error.name!r}: {error}") from None
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"--model {spec} does not run: {in_a_line(error)}") from error
    if not hasattr(module, name):
        near = nearest(name, [known for known in vars(module) if not known.startswith("_")])
        hint = f"; did you mean {near!r}?" if near else "."
        raise ValueError(f"--model {spec}: {place} has no {name!r}{hint}")
    return getattr(module, name)


def made(spec: str, told: Mapping[str, Any]) -> Any:
    """What a spec means: the object, or what the factory makes.

    A class or function whose needed arguments are among `told` is a factory, and is called; any
    other function is taken for the predictor itself.

    Args:
        spec: module and name.
        told: what a factory may be told, by the names of its arguments.

    Raises:
        ValueError: if the factory fails, or needs something else.
    """
    found = named(spec)
    return call(found, told, f"--model {spec}") if is_factory(found, told) else found


def is_factory(found: Any, told: Mapping[str, Any]) -> bool:
    """Whether something is called to make the predictor."""
    if isinstance(found, Predictor) and not inspect.isclass(found):
        return False
    if not callable(found):
        return False
    needed = [
        parameter.name
        for parameter in _parameters(found)
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return inspect.isclass(found) or all(
        name in ("data", "seed", "folder", "dt") for name in needed
    )


def call(factory: Callable[..., Any], told: Mapping[str, Any], what: str) -> Any:
    """What a factory makes of what it is told.

    Raises:
        ValueError: if it fails, or needs something that it is not told.
    """
    takes = {parameter.name: parameter for parameter in _parameters(factory)}
    known = {name: value for name, value in told.items() if name in takes and value is not None}
    lacking = [
        name
        for name, parameter in takes.items()
        if parameter.default is parameter.empty
        and name not in known
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    if lacking:
        hint = " (--fit of a run, --data of `worldmodel adopt`)" if "data" in lacking else ""
        raise ValueError(
            f"{what} needs {', '.join(lacking)}{hint}; a factory may take data, folder, seed "
            "and dt."
        )
    try:
        return factory(**known)
    except (ValueError, ModuleNotFoundError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"{what} fails: {in_a_line(error)}") from error


def in_a_line(error: BaseException) -> str:
    """An exception of somebody else's code in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return []


def _is_file(place: str) -> bool:
    return place.endswith(".py") or os.sep in place


def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)


def _executed(path: Path) -> ModuleType:
    """A file as a module; what lies beside it can be imported by it."""
    name = f"principia_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec.loader.exec_module(module)
    return module
