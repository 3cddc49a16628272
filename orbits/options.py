"""Options as frozen dataclasses that check themselves: types, ranges and names, declared once.

    @dataclass(frozen=True)
    class SearchOptions(Options):
        \"\"\"How a law is searched.\"\"\"

        seeds: Annotated[int, AtLeast(1)] = 5
        \"\"\"Independent searches.\"\"\"
        loss: Literal["relative", "l1"] = "relative"
        \"\"\"Error that the search lowers.\"\"\"

`SearchOptions(seeds=0)` and `SearchOptions(loss="l2")` say in one line what is allowed. The command
line (`orbits.command_line`), configuration files and Python build the same objects; a field's
docstring is the option's help. A function that takes the fields as keywords is declared with
`keywords_of`, every other public one with `checked`.
"""

import collections.abc
import contextlib
import dataclasses
import difflib
import functools
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar, get_args

from annotated_types import Ge as AtLeast
from annotated_types import Gt as Above
from annotated_types import Interval, MinLen

from orbits.settings import own_settings

__all__ = [
    "FRACTION", "Above", "AtLeast", "Between", "Interval", "MinLen", "Option", "OptionError",
    "Options", "Output", "Quantified", "arguments_checked", "changed", "checked",
    "every_option", "flag_of", "gone", "hints_of", "keywords_of", "leaves", "nearest",
    "option_names", "options_from", "require_known", "values_of", "with_options",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def Between(low: float, high: float) -> Interval:  # noqa: N802 - reads as a type in an annotation
    """Numbers from `low` to `high`, both allowed."""
    return Interval(ge=low, le=high)


FRACTION = Between(0.0, 1.0)
"""From 0 to 1."""


class OptionError(ValueError):
    """An option with a forbidden value: which one, and what is allowed.

    Attributes:
        option: its name, as in `context_length`.
        problem: the rest of the sentence.
    """

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option} {problem}")
        self.option = option
        self.problem = problem

    def within(self, group: str) -> "OptionError":
        """The same, for an option in a group of options."""
        return OptionError(f"{group}.{self.option}", self.problem)


@dataclasses.dataclass(frozen=True)
class Output:
    """Marks an option that is the path of a file or folder to write: `Annotated[str, Output()]`."""


class Options:
    """Base of frozen dataclasses of options: the values are checked against the annotations."""

    RARE: ClassVar[tuple[str, ...]] = ()
    """Options that only the long help shows."""
    GONE: ClassVar[Mapping[str, str]] = {}
    """Options of earlier versions, and what to write."""

    def __post_init__(self) -> None:
        """Check the type and the range of every value that is not the default.

        Raises:
            OptionError: names the option, what was given and what is allowed.
        """
        own: Any = type(self)
        for name, hint in hints_of(own).items():
            value = getattr(self, name)
            if value is not _default(own, name):
                object.__setattr__(self, name, _checked(name, hint, value))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Options from JSON or YAML.

        Raises:
            ValueError: if it holds no options by name; OptionError as `with_options` does.
        """
        if not isinstance(values, Mapping):
            raise ValueError("it holds no options; a line of it reads `name: value`.")
        return with_options(cls(), values)


def checked(function: F) -> F:
    """Let a public function check its arguments as `arguments_checked` does, and work with the
    settings of this project, whatever those of the process are."""
    return own_settings()(arguments_checked(function))


def arguments_checked(function: F) -> F:
    """Let a function check its arguments as options are: against its annotations.

    What an annotation cannot say (shapes, columns) the function checks itself; an annotation that
    cannot be read, of a package that is not imported, says nothing.

        @checked
        def plot_orbits(data: Dataset | str, orbits: int = 5) -> Figure: ...

    `plot_orbits(data, orbits="5")` raises a ValueError, which names the argument, what was given
    and what is allowed.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checking(*args: Any, **given: Any) -> Any:
        try:
            bound = signature.bind(*args, **given)
        except TypeError:  # Python says it better
            return function(*args, **given)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            if value is not parameter.default:
                hint = _argument_hints(function).get(name, Any)
                try:
                    bound.arguments[name] = _argument(name, hint, value)
                except OptionError as error:  # it is none of a command
                    raise ValueError(str(error)) from None
        return function(*bound.args, **bound.kwargs)

    return typing.cast(F, checking)


@functools.cache
def _argument_hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Annotations of a function's arguments by name, those that can be read."""
    hints: dict[str, Any] = {}
    for name, annotation in inspect.get_annotations(function).items():
        own = types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError):  # imported for type checkers only
            hints |= typing.get_type_hints(own, function.__globals__, include_extras=True)
    return hints


PLAIN = (str, int, float, bool)


class Quantified(Protocol):
    """A number or an array that carries a unit: a function so annotated converts it, all others
    refuse it, since numpy would drop the unit."""

    def to(self, unit: Any) -> Any: ...


def _argument(name: str, hint: Any, value: Any) -> Any:
    """The value of an argument, with the annotated type.

    Raises:
        OptionError: if it is none that the annotation allows.
    """
    if type(value) in (str, int, bool) and hint is type(value):
        return value  # without pydantic, whose import takes longer than most calls
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    given = get_args(hint) if union else (hint,)
    kinds = [kind for kind in given if kind is not Quantified]
    bases = [typing.get_origin(kind) or kind for kind in kinds]
    if Any in kinds or (value is None and type(None) in kinds):
        return value
    if hasattr(value, "to") and (hasattr(value, "unit") or hasattr(value, "units")):
        if Quantified not in given:
            raise OptionError(name, "carries a unit; give its numbers alone.")
        return value
    if Quantified in given and hasattr(value, "jd1"):
        return value  # times and durations of astropy
    if any(isinstance(base, type) and issubclass(base, Options) for base in bases):
        return value  # `options_from` checks it
    if isinstance(value, (str, os.PathLike)) and os.PathLike in bases:
        return _path(name, value)
    for kind, base in zip(kinds, bases, strict=True):
        if base is collections.abc.Callable:
            fits = callable(value)
        elif base in PLAIN or _is_plain(kind):
            continue
        elif not isinstance(base, type):  # a type variable, say
            return value
        elif base.__name__ == "ndarray" or "jaxtyping" in base.__module__:
            # a list is as good, but where a path is, it is a table of nothing that has columns
            fits = _is_array(value) and not (os.PathLike in bases and isinstance(value, list))
        else:
            fits = isinstance(value, base) or (base.__name__ == "DataFrame" and is_table(value))
        if fits:
            return value
    plain = [kind for kind in kinds if _is_plain(kind)]
    others = [kind for kind in kinds if kind not in (*plain, type(None))]
    if plain:
        try:
            return _checked(name, typing.Union[tuple(plain)], value)  # noqa: UP007 - at run time
        except OptionError:
            if not others:
                raise
    wanted = dict.fromkeys(
        _word(base)
        for base in bases
        if base is not type(None) and not (base is str and os.PathLike in bases)
    )
    raise OptionError(name, f"is {_shown(value)}; it should be {' or '.join(wanted)}.")


def is_table(value: Any) -> bool:
    """Whether a value is a table of another package than pandas: of polars, Arrow or astropy, or
    an array of records."""
    if getattr(getattr(value, "dtype", None), "names", None):
        return True
    own = ("__arrow_c_stream__", "colnames", "collect")
    return any(hasattr(value, each) for each in own) and not hasattr(value, "dims")  # of xarray


def _is_plain(kind: Any) -> bool:
    """Whether pydantic checks values of a type: numbers, texts, tuples of them, and what holds
    those that have limits."""
    base, parts = typing.get_origin(kind), list(leaves(kind))
    if base is typing.Literal:
        return True
    if base is typing.Annotated:
        return _is_plain(get_args(kind)[0])
    types_of = [leaf for leaf in parts if isinstance(leaf, type)]
    if isinstance(base, type) and base is not tuple:
        limited = len(types_of) < len(parts) and issubclass(base, (Sequence, Mapping))
        if not limited:
            return False
    return bool(types_of) and all(each in PLAIN for each in types_of)


def _is_array(value: Any) -> bool:
    """Whether an array of numbers or durations can be made of a value; dates are refused later."""
    import numpy as np

    try:
        array = np.asarray(value)
        first = next(array.flat, None)
        others = hasattr(first, "total_seconds") or hasattr(first, "isoformat")
        return array.dtype.kind in "biufcmM" or others
    except Exception:  # of another package's array, on a device
        return hasattr(value, "__array__")


def _path(name: str, value: Any) -> Any:
    try:
        os.lstat(value)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # who reads or writes there says so
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OptionError(name, f"is {_shown(value)}, which is no path: {why}.") from None
    return value


def _word(kind: Any) -> str:
    """A type in words."""
    name = getattr(kind, "__name__", str(kind))
    named = {"str": "text", "PathLike": "a path", "ndarray": "an array", "Callable": "a function"}
    return named.get(name, _article(name))


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def keywords_of(kind: type) -> Callable[[F], F]:
    """Let a function's signature show the fields of a dataclass of options as its keywords.

        @keywords_of(TrainConfig)
        def train(data: Data, config: TrainConfig | None = None, **options: Any) -> WorldModel:
            config = options_from(TrainConfig, config, options)

    Its arguments are checked as by `checked`. `help(train)` and notebooks show
    `train(data, config=None, *, context_length=8, ...)`; editors and type checkers read the same in
    the package's `__init__.pyi`, which `tests/signatures.py` writes.
    """

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters.values()
        own = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        plain, only = typing.get_type_hints(kind), inspect.Parameter.KEYWORD_ONLY  # without limits
        fields = [
            inspect.Parameter(name, only, default=_default(kind, name), annotation=plain[name])
            for name in hints_of(kind)
        ]
        checking = checked(function)
        checking.__signature__ = inspect.Signature([*own, *fields])  # type: ignore[attr-defined]
        return checking

    return decorate


def with_options(options: T, values: Mapping[str, Any]) -> T:
    """The same options with other values.

    Raises:
        OptionError: for an unknown option (names the near miss), or a value that is not allowed.
    """
    if not values:
        return options
    kind: Any = type(options)
    hints = hints_of(kind)
    for name in values:
        if name in kind.GONE:
            raise OptionError(name, gone(kind, name))
        try:
            require_known("option", str(name), hints, show=12)
        except ValueError as error:
            problem = str(error).removeprefix(f"option {str(name)!r} ")
            raise OptionError(str(name), problem) from None
    return dataclasses.replace(options, **values)  # type: ignore[type-var]


def gone(kind: type[Options], name: str) -> str:
    """What is said of an option of earlier versions, after its name."""
    return f"is gone; write {kind.GONE[name]}."


def options_from(kind: type[T], config: T | None, values: Mapping[str, Any]) -> T:
    """A function's options, given as an object (None: the defaults), as keywords, or both.

    Raises:
        ValueError: if it is an object of another kind, or as `with_options` does.
    """
    if config is not None and not isinstance(config, kind):
        raise ValueError(f"config is {_shown(config)}; a {kind.__name__} is needed.")
    return with_options(kind() if config is None else config, values)


def values_of(kind: Any, options: Any) -> dict[str, Any]:
    """The values of the options that a base class declares."""
    return {name: getattr(options, name) for name in hints_of(kind)}


@functools.cache
def hints_of(options: Any) -> Mapping[str, Any]:
    """Annotations of the fields of a class of options by name, in order."""
    hints = typing.get_type_hints(options, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(options)}


@functools.cache
def _default(options: Any, name: str) -> Any:
    """The default of an option or group."""
    (field,) = (field for field in dataclasses.fields(options) if field.name == name)
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


@dataclasses.dataclass(frozen=True)
class Option:
    """An option: its name, annotation, default, and the class that declares it."""

    name: str
    hint: Any
    default: Any
    kind: type


def every_option(options: type, given: Any = None) -> Iterator[Option]:
    """All options of a class; the values of `given` are the defaults."""
    for name, hint in hints_of(options).items():
        declared = next(c for c in options.__mro__ if name in inspect.get_annotations(c))
        default = _default(options, name) if given is None else getattr(given, name)
        yield Option(name, hint, default, declared)


def option_names(options: type) -> list[str]:
    """Names of all options of a class."""
    return list(hints_of(options))


def changed(options: Any, usual: Any) -> list[str]:
    """Names of the options in which two objects differ."""
    names = option_names(type(options))
    return [name for name in names if getattr(options, name) != getattr(usual, name)]


def flag_of(name: str) -> str:
    """An option on the command line."""
    return f"--{name.replace('_', '-')}"


def leaves(hint: Any) -> Iterator[Any]:
    """The types, literal values and marks that make up an annotation."""
    if not get_args(hint):
        yield hint
    for part in get_args(hint):
        yield from leaves(part)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The known name closest to a misspelt one, if any is close."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=cutoff)
    return near[0] if near else None


def require_known(
    kind: str, name: str, known: Iterable[str], show: int | None = None, near: str | None = None
) -> str:
    """The name itself, if it is one of the known ones; `kind` is what it names ("law").

    Raises:
        ValueError: if it is not known; says the nearest (or `near`) and all known ones, or the
            nearest alone if more than `show` are known.
    """
    names = sorted(known)
    if name in names:
        return name
    near = near or nearest(name, names)
    if near and show is not None and len(names) > show:
        raise ValueError(f"{kind} {name!r} is not known; did you mean {near!r}?")
    hint = f"; did you mean {near!r}?" if near else "."
    raise ValueError(f"{kind} {name!r} is not known{hint} Known: {', '.join(names)}.")


@functools.cache
def _adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(hint, config=ConfigDict(strict=True, allow_inf_nan=False))


def _checked(name: str, hint: Any, value: Any) -> Any:
    """The value, with the annotated type."""
    # larger whole numbers fit nowhere
    if type(value) is int and abs(value) > 2**64 - 1:
        raise OptionError(name, f"is {_shown(value)}; no number is as large.")
    from pydantic import ValidationError

    try:
        return _adapter(hint).validate_python(_plain(value))
    except ValidationError as error:
        wanted = dict.fromkeys(
            re.sub("^(Input|String|Value|Tuple) ", "", each["msg"]) for each in error.errors()
        )
        choices = [leaf for leaf in leaves(hint) if isinstance(leaf, str)]
        near = nearest(value, choices) if isinstance(value, str) else None
        hint_at = f"; did you mean {near!r}?" if near else "."
        problem = f"is {_shown(value)}; it {' or '.join(wanted)}{hint_at}"
        raise OptionError(name, problem) from None


def _plain(value: Any) -> Any:
    """Python's own type for values of JSON, YAML or numpy: tuples for lists, int for int64."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _shown(value: Any) -> str:
    if not isinstance(value, (*PLAIN, tuple, list, dict, os.PathLike, type(None))):
        return _article(type(value).__name__)
    text = " ".join(repr(value).split())
    most = 60
    return text if len(text) <= most else f"{text[: most - 3]}..."
