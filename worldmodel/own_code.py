"""Code of a user's own: what it is called, and its exceptions as one line with their place."""

import os
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def name_of(thing: Any) -> str:
    """Of a function or an object's class."""
    try:
        own = getattr(thing, "__name__", None)
    except Exception:  # of an object whose attributes are its own code
        own = None
    return str(own or type(thing).__name__)


def in_a_line(what: str, error: Exception) -> ValueError:
    """What to raise for an exception in a user's code: one line, with its place.

    A ValueError that this package raised when called by that code is returned unchanged.
    """
    place, here, library = None, Path(__file__).parents[1], sysconfig.get_paths()["stdlib"]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if any(path.is_relative_to(here / name) for name in ("orbits", "worldmodel", "symreg")):
            break
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        if not installed and not frame.filename.startswith((library, "<frozen")):
            place = f"{os.path.relpath(path)}, line {frame.lineno}"
            break
    if place is None and isinstance(error, ValueError):
        return error
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return ValueError(f"{what}: {message}" + (f" ({place})" if place else ""))


@contextmanager
def in_lines(what: str) -> Iterator[None]:
    """Raise an exception of a user's code inside the block as one line with its place."""
    try:
        yield
    except (MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise in_a_line(what, error) from error
