"""Formulas from text: in positive symbols, or the name of a reference law."""

import sympy

from orbits.expressions import FUNCTIONS, TYPED, parse_expression, shown
from orbits.forces import LAWS, parse_law
from orbits.options import nearest

VALUES = ";"
"""Stands between the formula of a law and the values of its constants."""


def is_law(text: str) -> bool:
    """Whether a text is a law for `orbits.parse_law`, perhaps misspelt, and no formula of columns.

    That is a name, a name with values, or a formula of r with values of its constants.
    """
    name, bracket, rest = text.strip().partition("(")
    return VALUES in text or (
        name.strip().isidentifier()
        and (not bracket or (name.strip() not in FUNCTIONS and rest.endswith(")")))
    )


def read_formula(text: str) -> sympy.Expr:
    """The formula in a text; nothing in it is ever executed.

    `^` is a power, `pi` the number; every other name is a positive symbol, including sympy's own
    (`E`, `I`, `N`, `S`, `beta`, `gamma`).

    Args:
        text: as in `GM/r**2`, `39.478*m1*m2/r^2`, `yukawa(length=2)` or
            `GM*exp(-r/b)/r**2; b=3`.

    Raises:
        ValueError: if it is neither a formula nor a law (says what is not allowed).
    """
    name = text.strip().split("(")[0].strip()
    if name in LAWS or VALUES in text:
        return parse_law(text).numeric_expression()
    near = nearest(name, LAWS, cutoff=0.75) if name.isidentifier() else None
    if near and len(name) > 4:
        raise ValueError(
            f"{shown(text)} is not a law; did you mean {near!r}? Known: {', '.join(sorted(LAWS))}."
        )
    return parse_expression(text)


def is_readable(expression: sympy.Expr) -> bool:
    """Whether our own reader takes a formula that a search wrote: no law has larger numbers."""
    powers = (power.exp for power in expression.atoms(sympy.Pow) if power.exp.is_number)
    return all(abs(exponent) <= TYPED.exponent for exponent in powers) and all(
        abs(number) <= TYPED.number for number in expression.atoms(sympy.Float, sympy.Integer)
    )
