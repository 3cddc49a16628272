"""From `package.module:make` or `path/to/mine.py:make` to a predictor that is checked."""

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from orbits.files import sha256_of_file
from orbits.options import nearest, options_from
from worldmodel.config import PredictorConfig
from worldmodel.predictors.base import Predictor
from worldmodel.predictors.checked import (
    OWN_ERRORS,
    CheckedPredictor,
    as_predictor,
    circles,
    in_a_line,
    name_of,
)

TOLD = ("data", "seed", "folder", "dt")
"""What a factory may ask for, by the names of its arguments."""


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
    """A model of one's own as a predictor that every read-out takes, checked before it is used.

    Args:
        model: an object with `context_length` and `predict(positions)`; a plain function of
            positions, with `model_context` said; or the name of either, or of a factory, as
            `package.module:make` or `path/to/mine.py:make`, whose code is executed. That of
            `config` if left out.
        config: its units, and the context of a plain function.
        untrained: the same before training: a factory or its name, which is given `seed` if it
            takes that.
        data: path of the data set that a factory which trains is given.
        seed: that a factory which takes `seed` is given.
        folder: where a factory which trains keeps its weights, and finds them again.
        dt: step of the data that it will see, yr. Where it is given, it is compared with the step
            that the predictor was made for, and the predictor's answer to two circles is checked.
        axes: coordinates of a body in these data.
        bodies: visible in these data.
        options: further options by name: `model_context`, `length_unit`, `time_unit`.

    Raises:
        ValueError: if it cannot be made, or its answers do not fit: shape, type, finiteness, step.
    """
    config = options_from(PredictorConfig, config, options)
    model = config.model if model is None else model
    untrained = config.untrained_model if untrained is None else untrained
    if model is None:
        raise ValueError("no model is given; say --model package.module:make or mine.py:make.")
    if isinstance(model, CheckedPredictor):
        return model
    told: dict[str, Any] = {
        "data": None if data is None else str(Path(data).resolve()),
        "seed": seed,
        "folder": None if folder is None else str(Path(folder).resolve()),
        "dt": dt,
    }
    code, thing = None, model
    name = model if isinstance(model, str) else None
    if isinstance(model, str):
        place = source_of(model)
        code = sha256_of_file(place) if place is not None and place.is_file() else None
        thing = _named(model)
        if is_factory(thing):
            thing = _call(thing, told, f"--model {model}")
    if isinstance(untrained, str):
        source_of(untrained)  # whether it is there is said before anything is computed
    elif untrained is not None and not callable(untrained):
        raise ValueError(f"untrained is {name_of(untrained)}; a factory or its name is needed.")

    def fresh(own_seed: int) -> Any:
        factory = _named(untrained) if isinstance(untrained, str) else untrained
        is_made = not isinstance(untrained, str) or is_factory(factory)
        what = "the factory of the untrained model"
        return _call(factory, {"seed": own_seed}, what) if is_made else factory

    found = CheckedPredictor(
        as_predictor(thing, config.model_context),
        config,
        None if untrained is None else fresh,
        name,
        code,
        told["data"],
    )
    if dt is not None:
        found.require_step(dt, "the data")
        found.predict(circles(found.context_length + 3, axes, bodies, dt))
    return found


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


def _named(spec: str) -> Any:
    """The object of that name, its module executed.

    Raises:
        ValueError: if it is not there, or its module does not run: one line that says why.
    """
    place, _, name = spec.rpartition(":")
    source_of(spec)
    try:
        of_file = _is_file(place)
        module = _executed(Path(place)) if of_file else importlib.import_module(place)
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


def is_factory(found: Any) -> bool:
    """Whether something is called to make the predictor: a class, or a function that needs nothing
    but what it can be told."""
    if inspect.isclass(found):
        return True
    if isinstance(found, Predictor) or not callable(found):
        return False
    needed = [
        parameter.name
        for parameter in _parameters(found)
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return all(name in TOLD for name in needed)


def _call(factory: Callable[..., Any], told: Mapping[str, Any], what: str) -> Any:
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
        hint = " (--fit of a run, data= in Python)" if "data" in lacking else ""
        raise ValueError(
            f"{what} needs {', '.join(lacking)}{hint}; a factory may take data, folder, seed "
            "and dt."
        )
    try:
        return factory(**known)
    except OWN_ERRORS:
        raise
    except Exception as error:
        raise ValueError(f"{what} fails: {in_a_line(error)}") from error


def _parameters(factory: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return []


def _is_file(place: str) -> bool:
    return place.endswith(".py") or os.sep in place


def _executed(path: Path) -> Any:
    """A file as a module; what lies beside it can be imported by it."""
    path = path.expanduser()
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
