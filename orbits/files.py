"""Files that are whole or absent: written aside, then renamed into place; JSON and YAML."""

import copy
import errno
import glob
import hashlib
import json
import math
import os
import platform
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from orbits.memory import out_of_resources

T = TypeVar("T")


def require_output(path: str | os.PathLike[str]) -> Path:
    """The path, if a file or folder may be written there.

    Raises:
        ValueError: if it is empty, there is a symbolic link, a device, a pipe or a socket (what is
            written replaces what is there, and goes nowhere else), or the folder that it would be
            in is none, or takes no files, or is a dataset: what lies in one belongs to it.
    """
    if not os.fspath(path):
        raise ValueError("the path to write to is empty; give one.")
    kind = _kind(path, follow=False)
    if kind not in (None, "a file", "a folder"):
        raise ValueError(f"{path} is {kind}; nothing is written through it: give another path.")
    above = Path(path).absolute().parent
    while _kind(above, follow=True) is None and above != above.parent:
        above = above.parent
    data = next((each for each in (above, *above.parents) if (each / "zarr.json").is_file()), None)
    own = Path(path).name == "zarr.json" or Path(path).name.startswith(".")  # a dataset's own files
    if data is not None and not own:
        raise ValueError(f"{path} lies in the dataset {data}; give another path.")
    try:
        with tempfile.TemporaryFile(dir=above):  # asks the file system itself; leaves nothing
            return Path(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise ValueError(f"{path} cannot be written: {above}: {why}. Give another path.") from None


def require_ending(path: str | os.PathLike[str], ending: str) -> None:
    """Refuse a name that promises another format than the one that is written.

    Raises:
        ValueError: for the ending of another format; one of no format is as good as none.
    """
    formats = (".csv", ".tsv", ".txt", ".json", ".yaml", ".parquet", ".png", ".html", ".zarr")
    suffix = Path(path).suffix.lower()
    if suffix in formats and suffix != ending:
        raise ValueError(f"{path} ends in {suffix}, but a {ending} file is written; name it so.")


def require_input(path: str | os.PathLike[str]) -> Path:
    """The path of a file that can be read from its beginning to its end.

    Raises:
        ValueError: if there is no file, or what is there is a folder, a device, a pipe or a
            socket.
    """
    kind = _kind(path, follow=True)
    if kind != "a file":
        problem = f"is {kind}; a file is needed" if kind else "does not exist"
        raise ValueError(f"{path} {problem}.")
    return Path(path)


def _kind(path: str | os.PathLike[str], follow: bool) -> str | None:
    """What is at a path; None if nothing is."""
    try:
        mode = os.stat(path, follow_symlinks=follow).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:  # a null byte
        raise ValueError(f"{str(path)!r} is no path.") from None
    kinds = {
        stat.S_IFREG: "a file", stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "a device")


@contextmanager
def folder_for(path: Path) -> Iterator[None]:
    """Make a folder for a block; if the block fails and leaves it empty, it is removed."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # something is in it by now
            for folder in missing:
                folder.rmdir()
        raise


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it into place when the block succeeds.

    An interruption at any moment leaves the earlier file, or none, never half of one.

    Raises:
        ValueError: if the path is empty, or a link, a device, a pipe or a socket.
        OSError: if the folder cannot be written or the disk is full.
    """
    path = require_output(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with folder_for(path.parent):
        _sweep(path)
        mark = f"{_numbered_by()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        aside = path.with_name(f".{path.name[:100]}.{mark}.partial")
        try:
            yield aside
            with open(aside, "rb") as file:
                os.fsync(file.fileno())
            os.replace(aside, path)
        except OSError as error:  # of a full disk it does not say which
            error.filename = error.filename or str(path)
            raise
        finally:
            aside.unlink(missing_ok=True)


ABANDONED = 86400.0
"""Seconds since a process that cannot be asked, of another host, last wrote to its file."""


@cache
def _numbered_by() -> str:
    """What gives processes their numbers, in eight characters: a host, since it was started, and on
    Linux a container. Elsewhere the same number is another process."""
    marks = [platform.node()]
    with suppress(OSError):
        marks += [Path("/proc/sys/kernel/random/boot_id").read_text()]
        marks += [os.readlink("/proc/self/ns/pid")]
    return sha256_of_json(marks)[:8]  # two hosts of one folder in four thousand million


def _sweep(path: Path) -> None:
    """Remove what a killed process left of the same file."""
    for left in path.parent.glob(f".{glob.escape(path.name[:100])}.*-*.partial"):
        numbered_by, process, *_ = left.name.split(".")[-2].split("-")
        try:
            if numbered_by == _numbered_by():
                os.kill(int(process), 0)
            elif time.time() - left.stat().st_mtime > ABANDONED:
                raise ProcessLookupError
        except ProcessLookupError:
            left.unlink(missing_ok=True)
        except (OSError, ValueError, OverflowError):  # it runs, or is no process of ours
            continue


LOCK = ".lock"


@contextmanager
def held(folder: Path, message: str) -> Iterator[None]:
    """Lock a folder for this process while the block runs; a killed one leaves no lock behind.

    Nor does a block that fails before writing anything leave a folder behind.

    Raises:
        ValueError: with the message, if another process holds it; or as `require_output` does.
    """
    from filelock import FileLock, Timeout

    require_output(folder)
    with folder_for(folder):
        lock = FileLock(require_output(folder / LOCK), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise ValueError(message) from None
        try:
            yield
        except BaseException:
            if os.listdir(folder) == [LOCK]:
                (folder / LOCK).unlink()
            raise
        finally:
            lock.release()


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with written_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write a JSON file, whole or not at all; NaN and infinity become null."""
    write_text(path, json.dumps(as_json(value, "null"), indent=2) + "\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file.

    Raises:
        ValueError: if the file is missing or is not JSON (says which).
    """
    file = require_input(path)
    try:
        return json_of(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a JSON file ({error}).") from None


def write_sealed(path: str | os.PathLike[str], value: dict[str, Any]) -> None:
    """Write a JSON object with a checksum of itself, whole or not at all."""
    write_json(path, value | {"sha256": sha256_of_json(value)})


def read_sealed(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_sealed` wrote.

    Raises:
        ValueError: if the file is missing, is not JSON, or was changed after it was written.
    """
    return _unsealed(read_json(path), path)


def _unsealed(stored: Any, path: str | os.PathLike[str]) -> dict[str, Any]:
    """An object without its checksum; ValueError if that is not its own."""
    if not isinstance(stored, dict) or stored.pop("sha256", None) != sha256_of_json(stored):
        raise ValueError(f"{path} is damaged: it was changed after it was written; make it again.")
    return stored


def json_of(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: if it is none, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_yaml(path: str | os.PathLike[str]) -> Any:
    """Read a user's YAML file; `1e-3` is a number, and `*name` repeats nothing.

    Raises:
        ValueError: if the file is missing, is not YAML, gives a key twice, or is larger than
            options are (says which).
    """
    import yaml

    # bytes: more is a mistake or an attack
    most = 1_000_000
    with open(require_input(path), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{path} is larger than {most:,} bytes; that is no options.")
    try:
        return yaml.load(content.decode(), Loader=_yaml_loader())
    except Exception as error:  # forged values make the parser raise anything
        raise ValueError(f"{path} is not a YAML file: {error}") from None


@contextmanager
def parsing(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Whatever a parser raises as one line that names the file: damage makes it raise anything.

    Raises:
        ValueError: if the block raised, but for want of memory or of a package.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, ImportError) or out_of_resources(error):
            raise
        first = (str(error).strip().splitlines() or [type(error).__name__])[0].removesuffix(".")
        if str(path) not in first:
            first = f"{path} is not a readable {kind} ({first:.200})"
        raise ValueError(f"{first}.") from None


@cache
def _yaml_loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # a few lines of them can stand for gigabytes
                raise ValueError("it repeats a part by *name; write that out.")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for number, key in enumerate(keys):
                if key in keys[:number]:
                    line = node.value[number][0].start_mark.line + 1
                    raise ValueError(f"it gives {key} twice, the second time on line {line}.")
            return super().construct_mapping(node, deep)

        def construct_yaml_int(self, node: Any) -> Any:
            # Python itself reads no more than 4300 digits, and no number here is as large
            if ":" in node.value:  # 1:30 was 90 to YAML 1.1, and is a text since
                return node.value
            if len(node.value) > 400:
                raise ValueError(f"it has a whole number of {len(node.value)} digits.")
            return super().construct_yaml_int(node)

        def construct_yaml_float(self, node: Any) -> Any:
            return node.value if ":" in node.value else super().construct_yaml_float(node)

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
    Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_yaml_float)
    number = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    return Loader


def numbers_in(record: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """The numbers of nested mappings, and what is None, by names joined with underscores."""
    numbers: dict[str, float | None] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            numbers |= numbers_in(value, f"{prefix}{name}_")
        elif value is None or isinstance(value, (int, float)):
            numbers[f"{prefix}{name}"] = None if value is None else float(value)
    return numbers


def as_json(value: Any, nan: Literal["constants", "null"] = "constants") -> Any:
    """JSON's own types, from dataclasses, mappings, sequences, arrays and numpy's scalars."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(
        value, inf_nan_mode=nan, fallback=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)
    )


def of_json(kind: type[T], value: Any, name: str) -> T:
    """A dataclass from what `as_json` gave, `name` in messages; unknown keys are ignored.

    A null where a number must be is one that JSON cannot hold, written so: it is NaN.

    Raises:
        ValueError: if a field is missing or has another type (says which).
    """
    from pydantic import ValidationError

    try:
        adapter: Any = _adapter(kind)  # type: ignore[arg-type]
        try:
            return adapter.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            nulls = [each["loc"] for each in error.errors() if each["type"] == "float_type"]
            if not nulls:
                raise
            return adapter.validate_json(json.dumps(_with_nan(value, nulls)), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{first['msg']} at {'.'.join(map(str, first['loc']))}"
    except (TypeError, ValueError) as error:
        where = str(error)
    raise ValueError(f"{name} is damaged or of another version ({where}).")


def _with_nan(value: Any, places: Iterable[tuple[int | str, ...]]) -> Any:
    """A copy of a JSON value with NaN in place of the nulls that stand there."""
    value = copy.deepcopy(value)
    for place in places:
        part = value
        with suppress(LookupError, TypeError):  # names of types stand between, if several may be
            for key in place:
                if part[key] is None:
                    part[key] = math.nan
                part = part[key]
    return value


def read_typed(kind: type[T], path: str | os.PathLike[str]) -> T:
    """A dataclass from a JSON file; ValueError as `read_json` and `of_json`, and for one with a
    checksum that was changed after it was written."""
    value = read_json(path)
    if isinstance(value, dict) and "sha256" in value:
        value = _unsealed(value, path)
    return of_json(kind, value, str(path))


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter

    own = is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, dict))
    return TypeAdapter(kind, config=None if own else ConfigDict(arbitrary_types_allowed=True))


def sha256_of_json(value: Any) -> str:
    """Fingerprint of anything JSON can hold, whatever the order of keys."""
    return hashlib.sha256(json.dumps(as_json(value, "null"), sort_keys=True).encode()).hexdigest()


def sha256_of_file(path: str | os.PathLike[str]) -> str:
    """Fingerprint of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file, or of the names and contents of a folder; None if there is nothing."""
    if path.is_file():
        return sha256_of_file(path)
    if not path.is_dir():
        return None
    files = (file for file in path.rglob("*") if file.is_file() and file.name != LOCK)
    return sha256_of_json({str(file.relative_to(path)): sha256_of_file(file) for file in files})


def remove(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
