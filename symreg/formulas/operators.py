"""Which operators a formula needs: what a search that is restricted to some may hand over.

A number in front of a term needs none: every engine scales what it finds.
"""

from collections.abc import Collection

import sympy

OPERATORS = ("+", "-", "*", "/", "inv", "^", "sqrt", "square", "exp", "log", "sin", "cos")
"""Operators that a search may be restricted to; `inv` is 1/x."""

SUMS, PRODUCTS = ("+", "-"), ("*", "/")
"""Either subtracts, a number in front of a term being free; and a·b is a/(1/b) too."""


def lacking(formula: sympy.Expr, operators: Collection[str]) -> str | None:
    """An operator that a formula needs and that is not among these; None if it needs no other."""
    if formula.is_number or formula.is_Symbol:
        return None
    parts = (formula.base,) if formula.is_Pow and formula.exp.is_number else formula.args
    if isinstance(formula, sympy.exp) and any(each in operators for each in PRODUCTS):
        parts = sympy.Add.make_args(formula.args[0])  # sympy writes exp(a)·exp(b) as exp(a + b)
    needed = [lacking(part, operators) for part in parts]
    if formula.is_Add:
        needed.append(_one_of(SUMS, operators))
    elif formula.is_Mul:
        if len(_own(formula)) > 1:  # a number in front is free
            needed.append(_one_of(PRODUCTS, operators))
    elif formula.is_Pow:
        needed += _of_power(formula.exp, operators)
    else:
        root = isinstance(formula, sympy.Abs) and {"square", "*"} & set(operators)  # √(x²) is |x|
        needed.append(_one_of((formula.func.__name__, *(("sqrt", "^") if root else ())), operators))
    return next(filter(None, needed), None)


def _own(product: sympy.Expr) -> list[sympy.Expr]:
    """The factors that are no numbers."""
    return [factor for factor in product.args if not factor.is_number]


def _one_of(wanted: tuple[str, ...], operators: Collection[str]) -> str | None:
    """The first of some operators, if none of them is there."""
    return None if any(operator in operators for operator in wanted) else wanted[0]


def _of_power(exponent: sympy.Expr, operators: Collection[str]) -> list[str | None]:
    """What a power needs: x^(3/4) is sqrt(x·sqrt(x)), and x^4 the square of a square."""
    if not exponent.is_number:
        return [_one_of(("^",), operators)]
    below = _one_of(("/", "inv"), operators) if exponent < 0 else None
    if abs(exponent) == 1 or "^" in operators:
        return [below]
    times, roots = sympy.Rational(abs(exponent)).as_numer_denom()
    if roots > 8 or times > 32 or not _is_power_of_two(roots):  # no one writes these so
        return [below, "^"]
    twice = ("square", *PRODUCTS) if _is_power_of_two(times) else PRODUCTS
    return [
        below,
        _one_of(("sqrt",), operators) if roots > 1 else None,
        _one_of(twice, operators) if times > 1 else None,
    ]


def _is_power_of_two(number: int) -> bool:
    return int(number) & (int(number) - 1) == 0
