"""Moved to `orbits.options`; falls with the next move."""

import functools
import operator
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from orbits.options import *  # noqa: F403
from orbits.options import Interval

FINITE = Interval()


def Range(  # noqa: N802
    low: float | None = None, high: float | None = None, above: bool = False, below: bool = False
) -> Interval:
    """Numbers from low to high."""
    ends = {"gt" if above else "ge": low, "lt" if below else "le": high}
    return Interval(**ends)


def plain_hint(hint: Any) -> Any:
    """An annotation without its ranges, as a parser takes it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return plain_hint(inner[0])
    if origin is Literal or not inner:
        return hint
    plain = tuple(part if part is ... else plain_hint(part) for part in inner)
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, plain)
    return origin[plain]
