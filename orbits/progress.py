"""What long work says meanwhile: in a notebook one bar, which goes away at the end; a bar on a
terminal, where something has a number; or lines for a function that is given."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from orbits.printing import shortened

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a notebook without ipywidgets, whose bar is text
    from tqdm.auto import tqdm

Progress = Callable[[str], object]
Wanted = Progress | bool | None
"""Called with a line of text; True for a bar, False for silence; None for a bar in a notebook."""

_bars: list[Any] = []
"""The bar that is shown: work inside other work has no second one."""


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def quiet(_: str) -> None:
    """Say nothing."""


@contextmanager
def bar(wanted: Wanted, **options: Any) -> Iterator[Any]:
    """A bar of tqdm, with tqdm's own options: if wanted, or in a notebook; else on a terminal."""
    shown = wanted is True or (wanted is None and in_notebook() and not _bars)
    # None: where no terminal is
    hidden = True if wanted is False or sys.stderr is None else False if shown else None
    leave, place = not in_notebook(), None
    # with a delay a notebook's bar is not displayed by tqdm, which could not take it away again
    made: Any
    with tqdm(disable=hidden, leave=leave, file=sys.stderr, delay=1e-9, **options) as made:
        if shown and hasattr(made, "container"):
            made.displayed = True
            place = sys.modules["IPython"].display.display(made.container, display_id=True)
        _bars.append(made)
        try:
            yield made
        finally:
            _bars.remove(made)
            if place is not None:
                place.update({"text/plain": ""}, raw=True)


@contextmanager
def told(wanted: Wanted, what: str, otherwise: Progress = quiet) -> Iterator[Progress]:
    """The function that lines of progress go to; those for a bar stand beside the time they take.

    Args:
        wanted: by the caller.
        what: is done, for the bar.
        otherwise: where nothing is wanted and no notebook runs.
    """
    if callable(wanted):
        yield wanted
    elif wanted is True or (wanted is None and in_notebook() and not _bars):
        with bar(True, desc=what, bar_format="{desc} [{elapsed}]") as made:
            yield lambda line: made.set_description_str(f"{what}: {shortened(line, 120)}")
    else:
        yield otherwise if wanted is None and not _bars else quiet


def advance(count: int) -> None:
    """Count work in the bar that is shown, if there is one."""
    for made in _bars[-1:]:
        made.update(count)
