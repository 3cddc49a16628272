"""Choosing one of several named things, with a helpful answer to a near miss."""

import difflib
from collections.abc import Iterable


def require_known(kind: str, name: str, known: Iterable[str]) -> str:
    """The name itself, if it is one of the known ones.

    Args:
        kind: what is named, for the message ("law", "attention").
        name: the name received.
        known: all names allowed.

    Raises:
        ValueError: if the name is not known; names the nearest one and all that are.
    """
    names = sorted(known)
    if name in names:
        return name
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"{kind} {name!r} is not known{hint} Known: {', '.join(names)}.")
