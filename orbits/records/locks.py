"""One lock for folders: held by one process at a time, and gone with it."""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(folder: Path, message: str) -> Iterator[None]:
    """Hold a folder while the block runs.

    The lock belongs to the process: a killed one leaves none behind.

    Args:
        folder: made if it does not exist.
        message: what is said if another process holds it.

    Raises:
        ValueError: with that message.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise ValueError(message) from None
        yield
