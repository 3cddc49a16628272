"""Laws of force: each an object with a potential, an acceleration and a sympy form."""

import dataclasses

from orbits.config import UNKNOWN
from orbits.expressions import FUNCTIONS, shown, syntax_of
from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, exact
from orbits.forces.formula import Formula, parse_formula
from orbits.options import checked, require_known
from orbits.registry import Registry
from orbits.specs import parse_spec

__all__ = [
    "GM_SYMBOL",
    "LAWS",
    "RADIUS",
    "UNKNOWN",
    "ForceLaw",
    "Formula",
    "known_law",
    "law_of_power",
    "parse_law",
]

LAWS: Registry[type[ForceLaw]] = Registry(
    "orbits.forces",
    ForceLaw,
    of_classes=True,
    order=(
        "newton", "power_law", "logarithmic", "hooke", "yukawa", "plummer", "newton_gr",
        "deep_mond",
    ),
    skip=("formula",),
)  # fmt: skip
"""The named laws, one file each."""


@checked
def parse_law(text: str) -> ForceLaw:
    """The law that a text names or spells out.

    Args:
        text: a name of `LAWS`, with parameter values in brackets where wanted
            (`newton`, `power_law(n=3)`, `yukawa(length=1.0)`), or the magnitude of an attraction
            as a formula (`k*r**-2.5`, `GM*exp(-r/b)/r**2; b=0.5`).

    Raises:
        ValueError: if the law or a parameter is unknown, a value is not a number, or the formula is
            no law.
    """
    if not isinstance(text, str):
        raise ValueError(f"law is {type(text).__name__}; a name or a formula is needed, as text.")
    name = text.partition("(")[0].strip()
    if name.isidentifier() and name != "r" and name not in FUNCTIONS:
        law = LAWS[require_known("law", name, LAWS)]
        names = [field.name for field in dataclasses.fields(law)]
        example = f"{law.name}({names[0]}=1.5)" if names else law.name
        values = dict(parse_spec("law", text, example).parameters)
        if values and not names:
            raise ValueError(f"law {text!r}: {law.name} has no parameters; write {law.name}.")
        for parameter in values:
            require_known(f"parameter of {law.name}", parameter, names)
        return law(**values)
    try:
        syntax_of(text.split(";")[0])
    except ValueError:
        raise ValueError(
            f"law {shown(text)} cannot be read; write a name, a name with values, as in "
            "power_law(n=3), or a formula of r, as in k*r**-2.5. "
            f"Known: {', '.join(sorted(LAWS))}."
        ) from None
    return parse_formula(text)


def law_of_power(n: float) -> ForceLaw:
    """The law GM/r^n, under a name of its own where it has one: newton for 2."""
    for law in LAWS.values():
        if not dataclasses.fields(law) and law().expression() == GM_SYMBOL / RADIUS ** exact(n):
            return law()
    return LAWS["power_law"](n)  # type: ignore[call-arg]


def known_law(text: str) -> ForceLaw | None:
    """The law that a dataset names; None if unknown. ValueError as `parse_law`."""
    return None if text == UNKNOWN else parse_law(text)
