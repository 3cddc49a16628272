"""Names of variants with parameters: `yukawa(length=2)`, `lssar(p=15)`, `newton`."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Spec:
    """A name, and the parameter values given with it."""

    name: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        inside = ", ".join(
            f"{key}={repr(value).removesuffix('.0')}" for key, value in self.parameters
        )
        return f"{self.name}({inside})"


def split_spec(kind: str, text: str, example: str) -> tuple[str, dict[str, str]]:
    """The name and the values, as written, of `name` or `name(parameter=value, ...)`.

    Raises:
        ValueError: if the text has another form, or a parameter has no name or is given twice.
    """
    pattern = r"\s*(?P<name>[A-Za-z_][\w-]*)\s*(?:\((?P<parameters>[^()]*)\))?\s*"
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(
            f"{kind} {text!r} cannot be read; write a name, with values in brackets where it has "
            f"any: {example}."
        )
    values: dict[str, str] = {}
    for part in (match["parameters"] or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier():
            raise ValueError(f"{kind} {text!r}: name each parameter, as in {example}.")
        if name in values:
            raise ValueError(f"{kind} {text!r} gives {name} twice.")
        values[name] = value
    return match["name"], values


def parse_spec(kind: str, text: str, example: str) -> Spec:
    """Read `name` or `name(parameter=value, ...)` of a kind ("law", "attention").

    Raises:
        ValueError: as `split_spec`, or if a value is no number (says which, with the example).
    """
    name, words = split_spec(kind, text, example)
    values: dict[str, float] = {}
    for parameter, word in words.items():
        try:
            values[parameter] = float(word)
        except ValueError:
            raise ValueError(
                f"{kind} {text!r}: {parameter} must be a number, as in {example}."
            ) from None
    return Spec(name, tuple(values.items()))
