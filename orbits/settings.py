"""Settings of the process that numpy and torch keep: their own while this project works, and a
user's outside and in the user's code."""

import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple


class Settings(NamedTuple):
    """numpy's answers to errors; torch's default type, whether it keeps gradients, its device."""

    errors: tuple[tuple[str, Any], ...]
    kind: str = "float32"
    grad: bool = True
    device: str = "cpu"


FIRST = Settings((("divide", "warn"), ("over", "warn"), ("under", "ignore"), ("invalid", "warn")))
"""With which numpy and torch begin."""
OWN = Settings(tuple((name, "ignore") for name, _ in FIRST.errors))
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
    errors = FIRST.errors if numpy is None else tuple(numpy.geterr().items())
    if torch is None:
        return Settings(errors)
    kind = str(torch.get_default_dtype()).removeprefix("torch.")
    return Settings(errors, kind, torch.is_grad_enabled(), str(torch.get_default_device()))


def _apply(settings: Settings) -> None:
    numpy, torch = _loaded()
    if _current() == settings:
        return
    if numpy is not None:
        numpy.seterr(**dict(settings.errors))
    if torch is not None:
        torch.set_default_dtype(getattr(torch, settings.kind))
        torch.set_grad_enabled(settings.grad)
        torch.set_default_device(None if settings.device == OWN.device else settings.device)


@contextmanager
def own_settings() -> Iterator[None]:
    """Around our own work: a user's torch.set_default_dtype or np.seterr changes nothing in it."""
    before = _current()
    around: Any = nullcontext()
    _apply(OWN)
    if _current().device != OWN.device:
        # by `with torch.device(...)`, which only another one overrides
        before = before._replace(device=OWN.device)
        around = sys.modules["torch"].device(OWN.device)
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
    given = wanted._replace(grad=wanted.grad and here.grad)
    _apply(given)
    try:
        yield
    finally:
        left = _current()
        grad = wanted.grad if left.grad == given.grad else left.grad
        _changed_to[outside] = left._replace(grad=grad)
        _apply(here)
