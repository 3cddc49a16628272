"""How much memory there is, and refusing what exceeds it."""

import errno
import math
import os
from contextlib import suppress
from pathlib import Path


def gigabytes(size: float) -> str:
    """A number of bytes in words."""
    return f"{size / 10**9:.3g} GB"


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse what needs more bytes than there are, before a part of it fills the machine.

    Raises:
        ValueError: begins with `what` needs them, ends with the advice.
    """
    limit = math.inf
    with suppress(ValueError, OSError, AttributeError):
        limit = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # no container, or one without a limit: `max`
        limit = min(limit, float(Path("/sys/fs/cgroup/memory.max").read_text()))
    if needed > limit:
        raise ValueError(
            f"{what} would need {gigabytes(needed)} of memory, and there are {gigabytes(limit)}; "
            f"{advice}."
        )


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out: Python's, numpy's or torch's own."""
    messages = ("alloc", "out of memory", "overflow when calculating", "Storage size calculation")
    return isinstance(error, MemoryError) or any(
        word in str(error) or type(error).__name__ == "OutOfMemoryError" for word in messages
    )


def out_of_resources(error: BaseException) -> bool:
    """Whether an error says that this process gets no more memory, threads or open files: what it
    reads is not damaged by that."""
    limits = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
    said = "start new thread" in str(error) or getattr(error, "errno", None) in limits
    return said or out_of_memory(error)
