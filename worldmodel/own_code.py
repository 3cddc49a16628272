"""Code of a user's own: what it is called, and whatever ends it as one line with its place."""

import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from orbits.printing import plain, shortened
from orbits.settings import their_settings

MOST = 300
"""Characters of a message that are shown: three lines of a terminal."""


def name_of(thing: Any) -> str:
    """Of a function or an object's class."""
    try:
        own = getattr(thing, "__name__", None)
    except Exception:  # of an object whose attributes are its own code
        own = None
    return str(own or type(thing).__name__)


def in_a_line(what: str, error: BaseException) -> ValueError:
    """What to raise for an exception in a user's code: one line, with its place.

    A ValueError that this package raised when called by that code is returned unchanged.
    """
    place, here, library = None, Path(__file__).parents[1], sysconfig.get_paths()["stdlib"]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path == here / "orbits" / "entry.py":  # in place of os._exit
            continue
        if any(path.is_relative_to(here / name) for name in ("orbits", "worldmodel", "symreg")):
            break
        installed = {"site-packages", "dist-packages"} & set(path.parts)
        if not installed and not frame.filename.startswith((library, "<frozen")):
            with suppress(OSError):  # without a working folder nothing is relative to it
                path = Path(os.path.relpath(path))
            place = f"{path}, line {frame.lineno}"
            break
    try:
        said = str(error)
    except Exception:  # its own code too
        said = ""
    if place is None and isinstance(error, ValueError) and said:
        return error
    message = f"{type(error).__name__}: {said}" if said.strip() else type(error).__name__
    if isinstance(error, SystemExit):
        message = f"it ends the program, with exit code {error.code!r}"
    message = plain(shortened(message, MOST))
    return ValueError(f"{what}: {message}" + (f" ({place})" if place else ""))


@contextmanager
def in_lines(what: str) -> Iterator[None]:
    """Raise whatever ends a user's code inside the block as one line with its place.

    If that code changes the folder, it does so for itself: it finds itself there the next time,
    and the paths that a user gave go on meaning the same files; likewise settings of numpy and
    torch. Streams and hooks that it replaced are put back.
    """
    try:
        with _folder_of_its_own(), _streams_kept(), their_settings():
            yield
    except (MemoryError, ModuleNotFoundError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise in_a_line(what, error) from error


_changed_to: dict[str, str] = {}
"""The folder that users' code has changed to, by the one that it was called in."""


@contextmanager
def _folder_of_its_own() -> Iterator[None]:
    try:
        here = os.getcwd()
    except OSError:  # it was removed, which is not the fault of a user's code
        yield
        return
    with suppress(OSError):  # removed since
        os.chdir(_changed_to.get(here, here))
    try:
        yield
    finally:
        with suppress(OSError):
            _changed_to[here] = os.getcwd()
        os.chdir(here)


@contextmanager
def _streams_kept() -> Iterator[None]:
    kept = {name: getattr(sys, name) for name in ("stdout", "stderr", "excepthook")}
    try:
        yield
    finally:
        for name, own in kept.items():
            setattr(sys, name, own)


def called(what: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a user's function returns.

    Args:
        what: fails, for the message.

    Raises:
        ValueError: one line, if it raises anything, or returns nothing before it is awaited.
    """
    with in_lines(what):
        result = function(*arguments, **named)
    if inspect.iscoroutine(result):
        result.close()
        name = name_of(function)
        raise ValueError(
            f"{what}: {name} is `async def`, and is not awaited here; make it a `def`."
        )
    return result


def attribute_of(thing: Any, name: str) -> Any:
    """An attribute of a user's object, None if it lacks it; ValueError if its code fails."""
    with in_lines(f"{name_of(thing)} fails to give its {name}"):
        return getattr(thing, name, None)
