"""One writer in a folder at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(folder: Path, message: str) -> Iterator[None]:
    """Hold a folder for this process; it is made if it does not exist.

    The lock is an advisory one on `folder/.lock` and ends with the process, however that ends.

    Raises:
        ValueError: with the message, if another process holds the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(message) from None
        yield
