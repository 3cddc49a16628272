"""How much memory there is, and refusing what exceeds it."""

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup/memory.max")
"""Limit of a container, if any."""


def memory_limit() -> float:
    """Most bytes that this process can have: the machine's memory, or its container's."""
    try:
        whole = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return float("inf")
    try:
        return min(whole, float(CGROUP.read_text()))
    except (OSError, ValueError):  # none, or `max`
        return whole


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse what needs more bytes than there are, before a part of it fills the machine.

    Raises:
        ValueError: begins with `what` needs them, ends with the advice.
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
