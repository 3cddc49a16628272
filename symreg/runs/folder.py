"""A folder that belongs to one configuration and to one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orbits.records.files import read_json, write_json
from orbits.records.locks import held
from symreg.runs.config import RunConfig, changed_options

CONFIGURATION = "configuration.json"


@contextmanager
def claimed(folder: Path, config: RunConfig) -> Iterator[None]:
    """Hold a run directory for this configuration and this process.

    Raises:
        ValueError: if the directory belongs to another configuration, or is in use.
    """
    with held_as(folder, CONFIGURATION, "symreg run"):
        require_same_run(folder, config)
        write_json(folder / CONFIGURATION, config.identity)
        yield


@contextmanager
def held_as(folder: Path, marker: str, command: str) -> Iterator[None]:
    """Hold a folder of one kind for one process at a time; the lock dies with the process.

    Args:
        folder: made if it does not exist.
        marker: a file that only a folder of this kind has.
        command: that may hold it, for the message.

    Raises:
        ValueError: if the folder is somebody else's, or in use.
    """
    if folder.exists() and not (folder / marker).exists():
        others = sorted(p.name for p in folder.iterdir() if p.name != ".lock")
        if others:
            raise ValueError(
                f"{folder} is not a directory of `{command}` and not empty (it has {others[0]}); "
                "choose another --out."
            )
    used = f"{folder} is in use by another `{command}`; wait for it or choose another --out."
    with held(folder, used):
        yield


def require_same_run(
    folder: Path, config: RunConfig, free: tuple[str, ...] = RunConfig.QUESTIONS
) -> None:
    """Check that a run directory, if it was begun, has this configuration.

    An option that the program did not have when the run began has its default.

    Raises:
        ValueError: naming the options that differ.
    """
    path = folder / CONFIGURATION
    if not path.exists():
        return
    stored = read_json(path)
    try:
        if not isinstance(stored, dict):
            raise ValueError("it is no mapping")
        earlier = RunConfig.of(stored)
    except ValueError as error:
        raise ValueError(
            f"{path} is damaged or was written by another version ({error}); choose another "
            "--out, or delete that folder."
        ) from None
    changed = changed_options(earlier, config, free)
    if changed:
        raise ValueError(
            f"{folder} belongs to another configuration: {', '.join(changed)}; "
            "choose another --out, or delete that folder."
        )
