"""Frozen dataclasses to JSON and back, with a clear line for a damaged file."""

import dataclasses
import os
from functools import cache
from typing import Any, TypeVar

import cattrs

from orbits.records.files import read_json

T = TypeVar("T")


def as_json(value: Any) -> Any:
    """JSON's own types of a dataclass: its fields, by name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def of_json(kind: type[T], value: Any, name: str) -> T:
    """A dataclass from what `as_json` gave; keys that it does not have are left aside.

    Args:
        kind: of dataclass.
        value: as JSON has it.
        name: what the value is, for the message.

    Raises:
        ValueError: if a field is missing or has another type (says which).
    """
    try:
        return _converter().structure(value, kind)
    except (cattrs.BaseValidationError, TypeError, ValueError, KeyError) as error:
        if isinstance(error, cattrs.BaseValidationError):
            where = cattrs.transform_error(error)[0].replace("@ $", "at ")
        else:
            where = str(error)
        raise ValueError(f"{name} is damaged or of another version ({where}).") from None


def read_typed(kind: type[T], path: str | os.PathLike[str]) -> T:
    """A dataclass from a JSON file.

    Raises:
        ValueError: if the file is missing, is not JSON or holds something else (says where).
    """
    return of_json(kind, read_json(path), str(path))


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind in (float, int, bool, str):
        converter.register_structure_hook(kind, _strict(kind))
    return converter


def _strict(kind: type) -> Any:
    """JSON's own type or nothing: cattrs would make a text of a number, and 1 of true."""

    def structure(value: Any, _: type) -> Any:
        right = isinstance(value, (int, float) if kind is float else kind)
        if not right or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"{value!r:.40} where {kind.__name__} is meant")
        return kind(value)

    return structure
