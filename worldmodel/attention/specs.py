"""What an attention is called: a kind with its parameters, read without importing torch."""

import dataclasses
import pkgutil
import re

from orbits.command.near_misses import require_known
from worldmodel.attention import kinds

_SPEC = re.compile(r"\s*(?P<kind>[A-Za-z_]\w*)\s*(?:\((?P<parameters>[^()]*)\))?\s*")


@dataclasses.dataclass(frozen=True)
class AttentionSpec:
    """A kind of attention and the parameters that were given with it."""

    kind: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.kind
        return f"{self.kind}({', '.join(f'{name}={value:g}' for name, value in self.parameters)})"


def attention_kinds() -> tuple[str, ...]:
    """The names of all kinds: one for every file in `worldmodel/attention/kinds/`."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(kinds.__path__)))


def parse_attention(text: str) -> AttentionSpec:
    """Read `softmax`, `lssar`, `lssar(p=15)`, ...

    Raises:
        ValueError: if the text has another form, or the kind is not known (names the nearest).
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise ValueError(
            f"attention {text!r} cannot be read; write a kind, with its parameters in brackets "
            f"where it has any: softmax, lssar(p=15). Known: {', '.join(attention_kinds())}."
        )
    kind = require_known("attention", match["kind"], attention_kinds())
    parameters = []
    for part in (match["parameters"] or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = None
        if not (equals and name.isidentifier() and number is not None):
            raise ValueError(
                f"attention {text!r}: {part.strip()!r} is not of the form name=number; "
                f"write for example lssar(p=15)."
            )
        parameters.append((name, number))
    return AttentionSpec(kind, tuple(parameters))
