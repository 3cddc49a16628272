"""Names of attentions: a point of the composition, or a kind in its own file, with its parameters;
read without importing torch."""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from orbits.options import Above, OptionError, Options, checked, require_known, with_options
from orbits.registry import Registry
from orbits.specs import Spec, parse_spec


@dataclass(frozen=True)
class Composed(Options):
    """Attention as map, norm, scale and sharpening of the scores of a row."""

    map: Literal["exp", "softplus", "relu", "sigmoid"] = "exp"
    """What a score becomes."""
    norm: Literal["l1", "none"] = "l1"
    """Divided by the row's sum (where that is 0, all its keys count equally); or by N, the keys it
    sees (sigmoid: σ(s − log N))."""
    scale: Literal["sqrt", "logn", "learned", "logdlogn"] = "sqrt"
    """A score is q·k/√d; that times log N / log 64; times s·log N, s learned for each head from
    1/log 64; or log d · log N · q̂·k̂, of queries and keys of unit length."""
    sharpen: Annotated[float, Above(0)] | None = None
    """Re-weighting: relu(A·N − O)^p of the weights A, divided by the row's sum again, with O = 1,
    but 0 in the first three rows and where 1 would leave nothing (norm=l1)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sharpen is not None and self.norm != "l1":
            raise OptionError("sharpen", "needs norm=l1: weights whose mean is 1/N.")

    def __str__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return " ".join(f"{k}={'none' if v is None else v}" for k, v in values.items())


POINTS = {
    "softmax": "map=exp norm=l1 scale=sqrt",
    "ssmax": "map=exp norm=l1 scale=learned",
    "sigmoid": "map=sigmoid norm=none scale=sqrt",
    "relu": "map=relu norm=none scale=sqrt",
    "lssa": "map=softplus norm=l1 scale=logdlogn",
    "lssar": "map=softplus norm=l1 scale=logdlogn sharpen=3",
}
"""Attention by name: softmax (Vaswani et al., arXiv:1706.03762v7, eq. 1), scalable softmax
(Nakanishi, arXiv:2501.19399v1), sigmoid (Ramapuram et al., arXiv:2409.04431, with the bias −log n
of the N keys that a row sees), ReLU (Wortsman et al., arXiv:2309.08586, divided by that N), and
length-scaled softplus attention without and with re-weighting (Gao, Spratling & Gionfrida,
arXiv:2501.13428v5; p = 3 for lengths near those of training, 15 for extrapolation)."""


KINDS: Registry[Any] = Registry(
    "worldmodel.attention.kinds",
    "worldmodel.attention.base.Attention",
    of_classes=True,
    by_file=True,
)
"""Kinds that are no point of the composition, one file each."""


@checked
def attention_kinds() -> tuple[str, ...]:
    """The names of all kinds: points of the composition, and files of their own."""
    return tuple(sorted({*POINTS, *KINDS}))


def parse_attention(text: str) -> Spec | Composed:
    """Read `softmax`, `lssar(p=15)`, `map=relu norm=l1 scale=logdlogn sharpen=3`, ...

    Returns:
        Its point in the composition; for a kind in its own file, name and parameters.

    Raises:
        ValueError: if the text has another form, or a name is not known (names the nearest).
    """
    if "=" in text.partition("(")[0]:
        return _composed(text)
    spec = parse_spec("attention", text, "lssar(p=15)")
    require_known("attention", spec.name, attention_kinds())
    if spec.name not in POINTS:
        return spec
    point = _composed(POINTS[spec.name])
    require_parameters(spec, ["p"] if point.sharpen else [])
    try:
        return replace(point, sharpen=dict(spec.parameters).get("p", point.sharpen))
    except OptionError:
        raise ValueError(
            f"attention {text!r}: the power p must be a finite number above 0, for example "
            "3 near the training length or 15 to extrapolate."
        ) from None


def require_parameters(spec: Spec, known: list[str]) -> None:
    """Refuse parameters that a kind lacks."""
    for name, _ in spec.parameters:
        if not known:
            raise ValueError(f"attention {spec.name!r} has no parameters; {name!r} was given.")
        require_known(f"parameter of attention {spec.name!r}:", name, known)


def _composed(text: str) -> Composed:
    values: dict[str, object] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or name in values:
            raise ValueError(
                f"attention {text!r} cannot be read; write it as one of softmax, "
                "lssar(p=15), 'map=relu norm=l1 scale=logdlogn sharpen=3'."
            )
        values[name] = value
    if "sharpen" in values:
        try:
            given = str(values["sharpen"])
            values["sharpen"] = None if given == "none" else float(given)
        except ValueError:
            raise ValueError(f"attention {text!r}: sharpen must be a number.") from None
    try:
        return with_options(Composed(), values)
    except OptionError as error:
        raise ValueError(f"attention {text!r}: {error}") from None
