"""One process at a time: a lock on a folder that dies with its process."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orbits.records.files import folder_for, require_output

NAME = ".lock"


@contextmanager
def held(folder: Path, message: str) -> Iterator[None]:
    """Hold a folder for this process while the block runs; a killed one leaves no lock behind.

    A block that fails before it has written anything leaves no folder behind either.

    Args:
        folder: made if it does not exist; the lock is its file `.lock`.
        message: what to say if another process holds it.

    Raises:
        ValueError: with that message; or if the folder is a link, a device, a pipe or a socket.
    """
    require_output(folder)
    with folder_for(folder):
        lock = _locked(folder, message)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                if os.listdir(folder) == [NAME]:
                    (folder / NAME).unlink()
            raise
        finally:
            os.close(lock)


def _locked(folder: Path, message: str) -> int:
    """The descriptor of the folder's lock, held."""
    path = folder / NAME
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except OSError as error:
            os.close(lock)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise ValueError(message) from None
        os.close(lock)  # its holder removed it between opening and locking
        folder.mkdir(parents=True, exist_ok=True)
