"""What an attention is called: a kind with its parameters, read without importing torch."""

import dataclasses
import pkgutil

from orbits.options import require_known
from orbits.specs import Spec, parse_spec
from worldmodel.attention import kinds

EXAMPLE = "lssar(p=15)"


@dataclasses.dataclass(frozen=True)
class AttentionSpec:
    """A kind of attention and the parameters that were given with it."""

    kind: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return str(Spec(self.kind, self.parameters))


def attention_kinds() -> tuple[str, ...]:
    """The names of all kinds: one for every file in `worldmodel/attention/kinds/`."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(kinds.__path__)))


def parse_attention(text: str) -> AttentionSpec:
    """Read `softmax`, `lssar`, `lssar(p=15)`, ...

    Raises:
        ValueError: if the text has another form, or the kind is not known (names the nearest).
    """
    spec = parse_spec("attention", text, EXAMPLE)
    return AttentionSpec(require_known("attention", spec.name, attention_kinds()), spec.parameters)
