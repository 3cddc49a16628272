"""Options as frozen dataclasses that check themselves: types, ranges and names, declared once.

    @dataclass(frozen=True)
    class SearchOptions(Options):
        \"\"\"How a law is searched.\"\"\"

        seeds: Annotated[int, AtLeast(1)] = 5
        \"\"\"Independent searches.\"\"\"
        loss: Literal["relative", "l1"] = "relative"
        \"\"\"Error that the search lowers.\"\"\"

`SearchOptions(seeds=0)` and `SearchOptions(loss="l2")` say in one line what is allowed. The command
line (`orbits.command.parser`), configuration files and Python build the same objects; a field's
docstring is the option's help.
"""

import dataclasses
import functools
import math
import operator
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin

from orbits.command.near_misses import nearest, require_known

T = TypeVar("T")

LARGEST_INT = 2**64 - 1
"""Whole numbers beyond this fit nowhere."""


class OptionError(ValueError):
    """An option with a value that is not allowed: which one, and what is.

    Attributes:
        option: its dotted name, as in `train.context_length`.
        problem: the rest of the sentence.
    """

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option} {problem}")
        self.option = option
        self.problem = problem

    def within(self, group: str) -> "OptionError":
        """The same, of an option that lies in a group of options."""
        return OptionError(f"{group}.{self.option}", self.problem)


@dataclasses.dataclass(frozen=True)
class Range:
    """The numbers that an option allows, from `low` to `high`.

    `above` and `below` leave the ends themselves out. Only finite numbers are
    allowed.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value: float) -> bool:
        """Whether the range holds a number."""
        low = value > self.low if self.above else value >= self.low
        high = value < self.high if self.below else value <= self.high
        finite = isinstance(value, int) or math.isfinite(value)  # an int may exceed any float
        return finite and low and high

    @property
    def words(self) -> str:
        """What is allowed."""
        low = f"{'above' if self.above else 'of at least'} {self.low:g}"
        high = f"{'below' if self.below else 'at most'} {self.high:g}"
        known = [part for part, end in ((low, self.low), (high, self.high)) if math.isfinite(end)]
        return " and ".join(known) or "that is finite"


def AtLeast(low: float) -> Range:  # noqa: N802 - reads as a type in an annotation
    """Numbers from `low` on."""
    return Range(low=low)


def Above(low: float) -> Range:  # noqa: N802
    """Numbers above `low`."""
    return Range(low=low, above=True)


def Between(low: float, high: float) -> Range:  # noqa: N802
    """Numbers from `low` to `high`, both allowed."""
    return Range(low=low, high=high)


FRACTION = Range(0.0, 1.0)
"""From 0 to 1."""
FINITE = Range()
"""Any finite number."""


@dataclasses.dataclass(frozen=True)
class Output:
    """Marks an option that is the path of a file or folder to write: `Annotated[str, Output()]`."""


def outputs(options: Any) -> Iterator[tuple[str, str]]:
    """Names and values of the options that are paths to write to, where they are given."""
    for name, hint in hints_of(type(options)).items():
        value = getattr(options, name)
        if is_group(hint):
            yield from ((f"{name}.{own}", path) for own, path in outputs(value))
        elif value is not None and _is_output(hint):
            yield name, value


def _is_output(hint: Any) -> bool:
    parts = get_args(hint)
    if get_origin(hint) is Annotated:
        return any(isinstance(mark, Output) for mark in parts[1:])
    return any(_is_output(part) for part in parts)


class Options:
    """Base of frozen dataclasses of options: the values are checked against the annotations."""

    def __post_init__(self) -> None:
        """Check the type, the range and the name of every value.

        A list becomes a tuple and a whole number a float where one is meant, as JSON and YAML
        write them.

        Raises:
            OptionError: names the option, what was given and what is allowed.
        """
        for name, hint in hints_of(type(self)).items():
            value = checked(name, hint, getattr(self, name))
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Options from what JSON or YAML holds: nested mappings, or dotted names.

        Raises:
            OptionError: for an option that is not known (names the near miss), or as the class
                itself does.
        """
        return with_options(cls(), values)


def with_options(options: Any, values: Mapping[str, Any]) -> Any:
    """The same options with other values, given as nested mappings, by dotted or short names.

    Short names are those of the class attribute `ALIASES`.

    Raises:
        OptionError: for an option that is not known (names the near miss), or a value that is not
            allowed.
    """
    hints = hints_of(type(options))
    aliases: Mapping[str, str] = getattr(options, "ALIASES", {})
    own: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        group, _, rest = aliases.get(str(name), str(name)).partition(".")
        try:
            require_known("option", group, [*hints, *aliases], show=12)
        except ValueError as error:
            raise OptionError(group, str(error).removeprefix(f"option {group!r} ")) from None
        if rest:
            nested.setdefault(group, {})[rest] = value
        elif is_group(hints[group]) and isinstance(value, Mapping):
            nested.setdefault(group, {}).update(value)
        else:
            own[group] = value
    for group, inner in nested.items():
        if not is_group(hints[group]):
            raise OptionError(group, f"has no options of its own; {next(iter(inner))!r} was given.")
        try:
            own[group] = with_options(own.get(group, getattr(options, group)), inner)
        except OptionError as error:
            raise error.within(group) from None
    return dataclasses.replace(options, **own)


def options_from(kind: type[T], given: T | None, values: Mapping[str, Any]) -> T:
    """What a function was asked for by an object of options, by keywords, or by both.

    Args:
        kind: class of the options.
        given: such an object, or None for the defaults.
        values: options that differ from it.

    Raises:
        ValueError: if it is an object of another kind, or as `with_options` does.
    """
    if given is not None and not isinstance(given, kind):
        raise ValueError(f"config is {_shown(given)}; a {kind.__name__} is needed.")
    return with_options(kind() if given is None else given, values)


def refuse_decided(options: Any) -> None:
    """Refuse what a command decides by itself: the options of its groups in `DECIDED`.

    Raises:
        OptionError: for one that is not what the command's own default has.
    """
    for name in options.DECIDED:
        group, _, own = name.partition(".")
        if option_value(options, name) != option_value(default_of(type(options), group), own):
            raise OptionError(name, "is decided by the command itself; leave it out.")


def hints_of(options: type) -> dict[str, Any]:
    """Annotations of the fields by name, in order."""
    hints = typing.get_type_hints(options, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(options)}


def default_of(options: type, name: str) -> Any:
    """The default of an option or group; `dataclasses.MISSING` of one that must be given."""
    (field,) = (field for field in dataclasses.fields(options) if field.name == name)
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def is_group(hint: Any) -> bool:
    """Whether an option is a group of options."""
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def option_names(options: type, prefix: str = "") -> Iterator[str]:
    """Dotted names of all options, those of groups included."""
    for name, hint in hints_of(options).items():
        if is_group(hint):
            yield from option_names(hint, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def option_value(options: Any, name: str) -> Any:
    """The value of an option, by its dotted name."""
    for part in name.split("."):
        options = getattr(options, part)
    return options


def plain_hint(hint: Any) -> Any:
    """An annotation without its ranges, as a parser takes it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return plain_hint(inner[0])
    if origin is Literal or not inner:
        return hint
    plain = tuple(part if part is ... else plain_hint(part) for part in inner)
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, plain)
    return origin[plain]


def checked(name: str, hint: Any, value: Any) -> Any:
    """The value, with the type that the annotation asks for.

    Raises:
        OptionError: if it has another, or is out of range.
    """
    try:
        return _of_type(hint, value)
    except TypeError:
        problem = f"is {_shown(value)}; {in_words(hint)} is needed"
        known = [str(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else []
        near = nearest(str(value), known)
        hint_at = f"; did you mean {near!r}?" if near else "."
        raise OptionError(name, problem + hint_at) from None


def in_words(hint: Any) -> str:
    """What an annotation allows."""
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        ranges = " and ".join(mark.words for mark in marks if isinstance(mark, Range))
        return f"{in_words(inner)} {ranges}".strip()
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(in_words(part) for part in get_args(hint))
    if origin is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if origin is tuple:
        inner, *rest = get_args(hint)
        count = "a list" if rest == [...] else f"a list of {len(rest) + 1}"
        return f"{count}, each item {in_words(inner)},"
    words = {
        str: "a text", int: "a whole number", float: "a number", bool: "true or false",
        type(None): "nothing",
    }  # fmt: skip
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _of_type(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *marks = get_args(hint)
        value = _of_type(inner, value)
        for mark in marks:
            if isinstance(mark, Range) and value is not None and not mark.holds(value):
                raise TypeError
        return value
    if origin in (Union, types.UnionType):
        for part in get_args(hint):
            try:
                return _of_type(part, value)
            except TypeError:
                continue
        raise TypeError
    if origin is Literal:
        # 1 == True in Python, but no user means that
        if not any(value == known and type(value) is type(known) for known in get_args(hint)):
            raise TypeError
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        inner, *rest = get_args(hint)
        if rest != [...] and len(value) != len(rest) + 1:
            raise TypeError
        kinds = [inner] * len(value) if rest == [...] else [inner, *rest]
        return tuple(_of_type(kind, item) for kind, item in zip(kinds, value, strict=True))
    if hint is Any:
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a number of numpy
    if hint is float:
        return _float(value)
    if isinstance(value, bool) and hint is not bool:
        raise TypeError
    if not isinstance(value, hint):
        raise TypeError
    if hint is int and abs(value) > LARGEST_INT:
        raise TypeError
    return value


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    try:
        return float(value)  # YAML reads 1e-3 as a text
    except (ValueError, OverflowError):
        raise TypeError from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
