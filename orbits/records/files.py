"""Files that are whole or absent: written aside, then renamed into place."""

import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it into place when the block succeeds.

    An interruption at any moment leaves the earlier file, or none, never half of one.

    Raises:
        OSError: if the folder cannot be written or the disk is full.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        yield aside
        with open(aside, "rb") as file:
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write a JSON file, whole or not at all; NaN and infinity become null."""
    write_text(path, json.dumps(_plain(value), indent=2, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file.

    Raises:
        ValueError: if the file is missing or is not JSON (says which).
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist.") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a JSON file ({error}).") from None


LARGEST_YAML = 1_000_000
"""Bytes of a YAML file; larger ones are a mistake or an attack."""
DEEPEST_YAML = 30
"""Levels of nesting of a YAML file."""
MOST_ALIASES = 100
"""Repetitions by alias (`*name`) in a YAML file; a few lines of them can stand for gigabytes."""


def read_yaml(path: str | os.PathLike[str]) -> Any:
    """Read a YAML file of people's own.

    Raises:
        ValueError: if the file is missing, is not YAML, or is larger, deeper or more repetitive
            than any file of options is (says which).
    """
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LARGEST_YAML + 1)
        if len(text) > LARGEST_YAML:
            raise ValueError(f"{path} is larger than {LARGEST_YAML:,} bytes; that is no options.")
        depth = aliases = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
            depth -= isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
            aliases += isinstance(event, yaml.AliasEvent)
            if depth > DEEPEST_YAML or aliases > MOST_ALIASES:
                raise ValueError(
                    f"{path} is nested deeper than {DEEPEST_YAML} levels or repeats itself more "
                    f"than {MOST_ALIASES} times; write it out."
                )
        return yaml.safe_load(text)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not a YAML file: {error}") from None


def sha256_of_json(value: Any) -> str:
    """Fingerprint of anything JSON can hold, independent of the order of keys."""
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()


def sha256_of_file(path: str | os.PathLike[str]) -> str:
    """Fingerprint of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    """JSON's own types, from numpy scalars, arrays, tuples, paths and dictionaries of them."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, (str, int, bool)) or value is None:
        return value
    return str(value)
