"""The module of attention that a text names."""

import inspect

from orbits.options import arguments_checked
from worldmodel.attention.base import Attention
from worldmodel.attention.composition import Composition
from worldmodel.attention.specs import KINDS, Composed, parse_attention, require_parameters


@arguments_checked
def make_attention(spec: str, d_head: int, n_heads: int) -> Attention:
    """The attention module that a specification names.

    Args:
        spec: a kind, with its parameters if any: "softmax", "lssar(p=15)"; or a point of
            the composition: "map=relu norm=l1 scale=logdlogn sharpen=3".
        d_head: width of one head.
        n_heads: number of heads.

    Raises:
        ValueError: if the kind or a parameter is not known (names the nearest), or a
            parameter's value is not allowed.
    """
    parsed = parse_attention(spec)
    if isinstance(parsed, Composed):
        return Composition(d_head, n_heads, parsed)
    kind = KINDS[parsed.name]
    require_parameters(
        parsed, sorted(set(inspect.signature(kind).parameters) - {"d_head", "n_heads"})
    )
    return kind(d_head, n_heads, **dict(parsed.parameters))
