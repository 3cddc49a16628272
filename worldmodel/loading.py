"""From `package.module:make` or `path/to/mine.py:make` to a checked predictor."""

import ast
import importlib
import importlib.util
import inspect
import os
import symtable
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from orbits.files import sha256_of_file
from orbits.options import checked, options_from, require_known
from worldmodel.config import PredictorConfig
from worldmodel.own_code import called, in_lines, name_of
from worldmodel.own_predictor import CheckedPredictor, as_predictor
from worldmodel.predictor import Predictor

TOLD = ("data", "seed", "folder", "dt")
"""What a factory may request, by the names of its arguments."""


@checked
def load_predictor(
    model: Any = None,
    config: PredictorConfig | None = None,
    *,
    untrained: Any = None,
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    dt: float | None = None,
    axes: int = 2,
    bodies: int = 1,
    **options: Any,
) -> CheckedPredictor:
    """Your own model as a predictor for every probe, checked before use.

    Args:
        model: an object with `context_length` and `predict(positions)`; a plain function of
            positions, with `model_context` given; or the name of either, or of a factory, as
            `package.module:make` or `path/to/mine.py:make`, whose code is executed. By default that
            of `config`.
        config: its units, and the context of a plain function.
        untrained: makes the untrained model: a factory or its name, called with `seed` if it takes
            one.
        data: path of the data set for a factory that trains.
        seed: for a factory that takes `seed`.
        folder: where a factory that trains keeps its weights and finds them again.
        dt: step of the data it will see, yr. If given, it is compared with the step that the
            predictor was made for, and the predictor's output for two circles is checked.
        axes: coordinates of a body in these data.
        bodies: visible in these data.
        options: further options by name: `model_context`, `length_unit`, `time_unit`.

    Raises:
        ValueError: if it cannot be made, or its output does not fit: shape, type, finiteness, step.
    """
    config = options_from(PredictorConfig, config, options)
    model = config.model if model is None else model
    untrained = config.untrained_model if untrained is None else untrained
    if model is None:
        raise ValueError("no model is given; say --model package.module:make or mine.py:make.")
    if isinstance(model, CheckedPredictor):
        return model
    arguments: dict[str, Any] = {"data": data, "seed": seed, "folder": folder, "dt": dt}
    for name in ("data", "folder"):
        arguments[name] = None if arguments[name] is None else str(Path(arguments[name]).resolve())
    code = label = None
    thing = model
    if isinstance(model, str):
        source, label = source_of(model), model
        code = sha256_of_file(source) if source is not None else None
        thing = _named(model, arguments)
    if isinstance(untrained, str):
        # whether it is there is said before anything is computed
        source_of(untrained, "--untrained-model")
    elif untrained is not None and not callable(untrained):
        raise ValueError(f"untrained is {name_of(untrained)}; a factory or its name is needed.")

    def fresh(own_seed: int) -> Any:
        if isinstance(untrained, str):
            return _named(untrained, {"seed": own_seed}, "--untrained-model")
        return _called(untrained, {"seed": own_seed}, "the factory of the untrained model")

    predictor = CheckedPredictor(
        as_predictor(thing, config.model_context),
        config,
        None if untrained is None else fresh,
        label,
        code,
        arguments["data"],
    )
    if dt is not None:
        predictor.require_step(dt, "the data")
        predictor.try_out(axes, bodies, dt)
    return predictor


def source_of(spec: str, option: str = "--model") -> Path | None:
    """The file with a spec's code; None if it is in no file. ValueError if no such file or module
    exists, or has no such name. Only what its text does not show is looked for by executing it."""
    place, _, name = spec.rpartition(":")
    source = _file_of(place, f"{option} {spec}")
    if source is None or source.suffix != ".py":
        return source
    try:
        code = source.read_text(encoding="utf-8")
        table = symtable.symtable(code, str(source), "exec")
        tree = ast.parse(code)
    except SyntaxError as error:
        where = f"{place}, line {error.lineno}" if error.lineno else place
        raise ValueError(f"{option} {spec}: SyntaxError: {error.msg} ({where})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{option} {spec}: {place} is no text in UTF-8.") from None
    names = set(_bound(table))
    if name not in names and _makes_names(tree):
        _found(executed(place, f"{option} {spec}"), name, f"{option} {spec}")
    elif name not in names:
        _require_name(name, names, f"{option} {spec}")
    return source


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    """The names to which the text of a module gives a meaning, in its functions too."""
    for symbol in table.get_symbols():
        own = table.get_type() == "module" or symbol.is_declared_global()
        if own and (symbol.is_assigned() or symbol.is_imported()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _bound(inner)


NAMESPACES = {
    "globals", "locals", "vars", "exec", "eval", "setattr", "__setattr__", "__dict__", "modules",
    "_getframe", "__getattr__", "__name__",
}  # fmt: skip
"""What a module can make names by that its text does not show."""


def _makes_names(tree: ast.Module) -> bool:
    """Whether a module may have names that its text does not show: a star, or its namespace."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return True
        if {getattr(node, key, None) for key in ("id", "attr", "name")} & NAMESPACES:
            return True
    return False


def _found(module: ModuleType, name: str, what: str) -> Any:
    """What a module calls by a name; ValueError if nothing."""
    with in_lines(f"{what} fails"):
        if hasattr(module, name):
            return getattr(module, name)
    return _require_name(name, vars(module), what)


def _require_name(name: str, names: Iterable[str], what: str) -> str:
    """The name, if it is one of these; ValueError says the nearest that is public."""
    try:
        return require_known("name", name, [each for each in names if each[0] != "_"], show=0)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


def _file_of(place: str, what: str) -> Path | None:
    """The file of a path or a module; None if a module is in no file."""
    if _is_file(place):
        path = Path(place).expanduser()
        if not path.is_file():
            raise ValueError(f"{what}: there is no file {place}.")
        return path.resolve()
    try:
        spec = importlib.util.find_spec(place)
    except (ImportError, ValueError):  # a package that it would lie in is none
        spec = None
    if spec is None:
        raise ValueError(
            f"{what}: there is no module {place}; it must be installed or on PYTHONPATH, "
            "or give the file: path/to/mine.py:make."
        )
    source = Path(spec.origin or "")
    return source.resolve() if source.is_file() else None


def _named(spec: str, arguments: Mapping[str, Any], option: str = "--model") -> Any:
    """The object of that name, or a factory's product; its module is executed. ValueError if it is
    missing, or its code fails: one line that says why."""
    place, _, name = spec.rpartition(":")
    what = f"{option} {spec}"
    thing = _found(executed(place, what), name, what)
    with in_lines(f"{what} fails"):
        makes = _is_factory(thing)
    return _called(thing, arguments, what) if makes else thing


def _is_factory(thing: Any) -> bool:
    """Whether something is called to make the predictor: a class, or a function that needs only
    what it can be given."""
    if inspect.isclass(thing):
        return True
    if isinstance(thing, Predictor) or not callable(thing):
        return False
    return {name for name, needed in _arguments(thing).items() if needed} <= set(TOLD)


def _called(factory: Callable[..., Any], arguments: Mapping[str, Any], what: str) -> Any:
    """A factory's product, given what it requests; ValueError if it fails or lacks something."""
    takes = _arguments(factory)
    known = {n: value for n, value in arguments.items() if n in takes and value is not None}
    lacking = [name for name, needed in takes.items() if needed and name not in known]
    if lacking:
        hint = " (--fit of a run, data= in Python)" if "data" in lacking else ""
        raise ValueError(
            f"{what} needs {', '.join(lacking)}{hint}; a factory may take data, folder, seed "
            "and dt."
        )
    return called(f"{what} fails", factory, **known)


def _arguments(factory: Any) -> dict[str, bool]:
    """What something callable takes, and whether it must be given."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {n: p.default is p.empty and p.kind not in several for n, p in parameters.items()}


def _is_file(place: str) -> bool:
    return place.endswith(".py") or os.sep in place


def executed(place: str | os.PathLike[str], what: str) -> ModuleType:
    """A module by its name, or a file as one, which can import its neighbours.

    Args:
        place: its name or path; its code is executed.
        what: asks for it, for messages.

    Raises:
        ValueError: if it does not run: one line that says why.
    """
    path = Path(place).expanduser().resolve()
    try:
        with in_lines(f"{what} does not run"):
            if not _is_file(str(place)):
                return importlib.import_module(str(place))
            name = f"orbitlaw_{path.stem}"
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise ValueError(f"{path} is no Python file.")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            if str(path.parent) not in sys.path:
                sys.path.append(str(path.parent))
            spec.loader.exec_module(module)
            return module
    except ModuleNotFoundError as error:
        raise ValueError(f"{what}: it needs the package {error.name!r}: {error}") from None
