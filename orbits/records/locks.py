"""One process at a time: a lock on a folder that dies with its process."""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(folder: Path, message: str) -> Iterator[None]:
    """Hold a folder for this process while the block runs; a killed one leaves no lock behind.

    Args:
        folder: made if it does not exist; the lock is its file `.lock`.
        message: what to say if another process holds it.

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
