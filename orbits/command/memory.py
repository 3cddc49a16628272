"""How much memory there is, what does not fit into it, and how what is freed is kept."""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup/memory.max")
"""Limit of a container, where there is one."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Numbers of M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, glibc, mallopt(3)."""
LARGEST_KEPT = 32 << 20
"""Bytes of the largest array that is kept: glibc admits no larger threshold."""
KEPT = 256 << 20
"""Bytes that are kept at most."""


def keep_freed_memory() -> None:
    """Keep the memory of freed arrays for the next ones, where the C library is glibc.

    It gives back what is freed at the end of its heap, and every step of a training asks for as
    much again: 1 700 page faults a step of README's run, a seventh of its time.
    """
    with suppress(AttributeError, OSError):
        if sys.platform == "linux":
            mallopt = ctypes.CDLL(None).mallopt
            mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
            mallopt(TRIM_THRESHOLD, KEPT)


def memory_limit() -> float:
    """Bytes that this process can have at most: the machine's memory, or its container's."""
    try:
        whole = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return float("inf")
    try:
        return min(whole, float(CGROUP.read_text()))
    except (OSError, ValueError):  # none, or `max`
        return whole


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse what cannot fit, before a part of it fills the machine.

    Args:
        needed: bytes.
        what: needs them, as the beginning of a sentence.
        advice: what to do instead.

    Raises:
        ValueError: if there is not so much memory.
    """
    limit = memory_limit()
    if needed > limit:
        raise ValueError(
            f"{what} would need {needed / 1e9:.3g} GB of memory, and there are {limit / 1e9:.3g} "
            f"GB; {advice}."
        )


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out: Python's, numpy's or torch's own."""
    told = ("alloc", "out of memory", "overflow when calculating", "Storage size calculation")
    return isinstance(error, MemoryError) or any(
        word in str(error) or type(error).__name__ == "OutOfMemoryError" for word in told
    )
