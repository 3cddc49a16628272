"""Laws of force: each one an object with a potential, an acceleration and a sympy form."""

import ast
import dataclasses

from orbits.command.near_misses import require_known
from orbits.expressions import FUNCTIONS
from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw
from orbits.forces.deep_mond import DeepMOND
from orbits.forces.formula import Formula, parse_formula
from orbits.forces.hooke import Hooke
from orbits.forces.logarithmic import Logarithmic
from orbits.forces.newton import Newton
from orbits.forces.newton_gr import NewtonGR
from orbits.forces.plummer import Plummer
from orbits.forces.power_law import PowerLaw
from orbits.forces.yukawa import Yukawa

__all__ = ["GM_SYMBOL", "LAWS", "RADIUS", "ForceLaw", "Formula", "parse_law"]

LAWS: dict[str, type[ForceLaw]] = {
    law.name: law
    for law in (Newton, PowerLaw, Logarithmic, Hooke, Yukawa, Plummer, NewtonGR, DeepMOND)
}
"""The laws known by name."""


def parse_law(text: str) -> ForceLaw:
    """The law that a text names or writes down.

    Args:
        text: a name of `LAWS`, with values for its parameters in brackets where wanted
            (`newton`, `power_law(n=3)`, `yukawa(length=1.0)`), or the magnitude of an attraction
            as a formula (`k*r**-2.5`, `GM*exp(-r/b)/r**2; b=0.5`).

    Raises:
        ValueError: if the law or a parameter is not known, a value is not a number, or the
            formula is no law.
    """
    tree = _tree(text)
    if isinstance(tree, ast.Name) and tree.id != "r":
        return LAWS[require_known("law", tree.id, LAWS)]()
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id not in FUNCTIONS
    ):
        law = LAWS[require_known("law", tree.func.id, LAWS)]
        return law(**_parameters(tree, law, text))
    return parse_formula(text)


def _tree(text: str) -> ast.expr:
    formula = text.split(";")[0].strip().replace("^", "**")
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(
            f"law {text!r} cannot be read; write a name, a name with values, as in "
            "power_law(n=3), or a formula of r, as in k*r**-2.5. "
            f"Known: {', '.join(sorted(LAWS))}."
        ) from None


def _parameters(call: ast.Call, law: type[ForceLaw], text: str) -> dict[str, float]:
    known = [field.name for field in dataclasses.fields(law)]
    if call.args:
        example = f"{law.name}({known[0]}=...)" if known else law.name
        raise ValueError(f"law {text!r}: name each parameter, as in {example}.")
    values = {}
    for keyword in call.keywords:
        name = keyword.arg or "**"
        if not known:
            raise ValueError(f"law {text!r}: {law.name} has no parameters; write {law.name}.")
        require_known(f"parameter of {law.name}", name, known)
        try:
            value = float(ast.literal_eval(keyword.value))
        except (ValueError, TypeError):
            raise ValueError(
                f"law {text!r}: {name} must be a number, as in {law.name}({name}=1.5)."
            ) from None
        values[name] = value
    return values
