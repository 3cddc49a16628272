"""Choosing one of several named things, with a helpful answer to a near miss."""

import difflib
from collections.abc import Iterable

CUTOFF = 0.5
"""Likeness (difflib) from which a name is taken for another one misspelt."""


def nearest(name: str, known: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The known name that a misspelt one is most like, if any is."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=cutoff)
    return near[0] if near else None


def require_known(kind: str, name: str, known: Iterable[str], show: int | None = None) -> str:
    """The name itself, if it is one of the known ones.

    Args:
        kind: what is named, for the message ("law", "attention").
        name: the name received.
        known: all names allowed.
        show: where more names than this are known, and one is near, the others are not listed.

    Raises:
        ValueError: if the name is not known; names the nearest one and all that are.
    """
    names = sorted(known)
    if name in names:
        return name
    near = nearest(name, names)
    if near and show is not None and len(names) > show:
        raise ValueError(f"{kind} {name!r} is not known; did you mean {near!r}?")
    hint = f"; did you mean {near!r}?" if near else "."
    raise ValueError(f"{kind} {name!r} is not known{hint} Known: {', '.join(names)}.")
