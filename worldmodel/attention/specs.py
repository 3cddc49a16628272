"""What an attention is called: a kind with its parameters, read without importing torch."""

import pkgutil

from orbits.options import require_known
from orbits.specs import Spec, parse_spec
from worldmodel.attention import kinds


def attention_kinds() -> tuple[str, ...]:
    """The names of all kinds: one for every file in `worldmodel/attention/kinds/`."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(kinds.__path__)))


def parse_attention(text: str) -> Spec:
    """Read `softmax`, `lssar`, `lssar(p=15)`, ...

    Raises:
        ValueError: if the text has another form, or the kind is not known (names the nearest).
    """
    spec = parse_spec("attention", text, "lssar(p=15)")
    require_known("attention", spec.name, attention_kinds())
    return spec
