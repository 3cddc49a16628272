"""Probes, found by their files: see `worldmodel.probes.readouts.base`."""

from contextlib import suppress
from typing import Any, get_origin

from orbits.options import OptionError, hints_of, require_known, with_options
from orbits.registry import Registry
from orbits.specs import split_spec
from worldmodel.probes.readouts.base import ReadOut

READOUTS: Registry[type[ReadOut]] = Registry("worldmodel.probes.readouts", ReadOut, of_classes=True)
"""Classes of probes by name."""


def parse_readout(text: str) -> ReadOut:
    """The probe of a text: `jacobian`, `linear(states=200)`, `extrapolate(factors=1 4 16)`.

    Raises:
        ValueError: if it cannot be read, or names no probe or no option (says the nearest).
        OptionError: if a value is not allowed.
    """
    name, words = split_spec("readout", text, "linear(states=200)")
    readout = READOUTS[require_known("readout", name, READOUTS)]
    values = {option: _read(word) for option, word in words.items()}
    for option, hint in hints_of(readout).items():
        if get_origin(hint) is tuple and option in values and not isinstance(values[option], tuple):
            values[option] = (values[option],)
    try:
        return with_options(readout(), values)
    except OptionError as error:
        raise error.within(name) from None


def _read(word: str) -> Any:
    """A value as written: several numbers, a number, true or false, or a word."""
    if " " in word:
        return tuple(_read(part) for part in word.split())
    for kind in (int, float):
        with suppress(ValueError):
            return kind(word)
    return {"true": True, "false": False}.get(word, word)
