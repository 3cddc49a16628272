"""Settings of the process that numpy and torch keep: their own while this project works, and a
user's outside and in the user's code."""

import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

Settings = tuple[tuple[tuple[str, Any], ...], str, bool, str]
"""numpy's answers to errors; torch's default type, whether it keeps gradients, default device."""
FIRST: Settings = (
    (("divide", "warn"), ("over", "warn"), ("under", "ignore"), ("invalid", "warn")),
    "float32", True, "cpu",
)  # fmt: skip
"""With which numpy and torch begin."""
OWN: Settings = (tuple((name, "ignore") for name, _ in FIRST[0]), *FIRST[1:])
"""Ours: what overflows is told by results and in our words, not by numpy's warnings."""

_outside: list[Settings] = []
"""Of the user, whose calls are at work: the last is that of the innermost."""
_changed_to: dict[Hashable, Settings] = {}
"""To what a user's code has set them, by those that it was called in."""


def _loaded() -> list[Any]:
    """numpy and torch, or None where nobody has imported one yet: then it is as it begins."""
    return [sys.modules.get(name) for name in ("numpy", "torch")]


def _current() -> Settings:
    numpy, torch = _loaded()
    errors = FIRST[0] if numpy is None else tuple(numpy.geterr().items())
    if torch is None:
        return errors, *FIRST[1:]
    kind = str(torch.get_default_dtype()).removeprefix("torch.")
    return errors, kind, torch.is_grad_enabled(), str(torch.get_default_device())


def _apply(settings: Settings) -> None:
    numpy, torch = _loaded()
    errors, kind, grad, device = settings
    if _current() == settings:
        return
    if numpy is not None:
        numpy.seterr(**dict(errors))
    if torch is not None:
        torch.set_default_dtype(getattr(torch, kind))
        torch.set_grad_enabled(grad)
        torch.set_default_device(None if device == OWN[-1] else device)


@contextmanager
def own_settings() -> Iterator[None]:
    """Around our own work: a user's torch.set_default_dtype or np.seterr changes nothing in it."""
    before: Settings = _current()
    around: Any = nullcontext()
    _apply(OWN)
    if _current()[-1] != OWN[-1]:  # by `with torch.device(...)`, which only another one overrides
        before, around = (*before[:-1], OWN[-1]), sys.modules["torch"].device(OWN[-1])
    _outside.append(_outside[-1] if _outside and before == OWN else before)
    try:
        with around:
            yield
    finally:
        _outside.pop()
        _apply(before)


@contextmanager
def their_settings() -> Iterator[None]:
    """Around a user's code: it finds what was set outside, or what it set itself the last time, and
    sets it for itself alone. Where we keep no gradients it keeps none."""
    here = _current()
    outside = _outside[-1] if _outside else here
    wanted = _changed_to.get(outside, outside)
    given = (*wanted[:2], wanted[2] and here[2], wanted[3])
    _apply(given)
    try:
        yield
    finally:
        left = _current()
        _changed_to[outside] = (*left[:2], wanted[2] if left[2] == given[2] else left[2], left[3])
        _apply(here)
