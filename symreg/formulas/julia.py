"""Formulas for PySR: numbers as floats, one operation at a time, no unary minus."""

from collections.abc import Collection, Mapping

import sympy

LONGEST_PRODUCT = 8
"""Largest whole power written as a product without `^`."""


class UnwritableError(ValueError):
    """A formula needs an operator that the search lacks; `operator` says which."""

    def __init__(self, operator: str) -> None:
        super().__init__(operator)
        self.operator = operator


def written_for_julia(
    expression: sympy.Expr, names: Mapping[str, str], operators: Collection[str]
) -> str:
    """A formula in the operators of a search, as in `+`, `inv`, `exp`.

    PySR's parser knows neither unary minus nor `pi`, and ends the search at an operator that it was
    not given. So signs become factors of -1.0, and powers whatever the search offers. A symbol
    without a name there is the constant 1.0.

    Raises:
        UnwritableError: if an operator is missing.
    """
    if expression.is_number:
        return _number(expression)
    if expression.is_Symbol:
        return names.get(expression.name, "1.0")
    if expression.is_Mul:
        return _product(expression, names, operators)
    # always in the same order
    terms = expression.as_ordered_terms() if expression.is_Add else expression.args
    parts = [written_for_julia(part, names, operators) for part in terms]
    if expression.is_Add:
        return _folded("+", parts, operators)
    if expression.is_Pow:
        return _power(parts[0], expression.exp, names, operators)
    function = "exp" if isinstance(expression, sympy.exp) else expression.func.__name__
    return f"{_allowed(function, operators)}({parts[0]})"


def _number(value: sympy.Expr) -> str:
    number = complex(value)
    if number.imag:
        raise UnwritableError("the square root of a negative number")
    return repr(number.real)


def _allowed(operator: str, operators: Collection[str]) -> str:
    if operator not in operators:
        raise UnwritableError(operator)
    return operator


def _folded(operator: str, parts: list[str], operators: Collection[str]) -> str:
    whole = parts[0]
    for part in parts[1:]:
        whole = f"({whole} {_allowed(operator, operators)} {part})"
    return whole


def _product(expression: sympy.Expr, names: Mapping[str, str], operators: Collection[str]) -> str:
    above: list[str] = []
    below: list[str] = []
    for factor in expression.as_ordered_factors():
        negative = factor.is_Pow and factor.exp.is_number and factor.exp.is_negative
        part = 1 / factor if negative and "/" in operators else factor
        (below if negative and "/" in operators else above).append(
            written_for_julia(part, names, operators)
        )
    whole = _folded("*", above or ["1.0"], operators)
    return f"({whole} / {_folded('*', below, operators)})" if below else whole


def _power(
    base: str, exponent: sympy.Expr, names: Mapping[str, str], operators: Collection[str]
) -> str:
    if exponent.is_number and exponent.is_negative:
        if "/" in operators:
            return f"(1.0 / {_power(base, -exponent, names, operators)})"
        if "inv" in operators:
            return f"inv({_power(base, -exponent, names, operators)})"
    if exponent == 1:
        return base
    if exponent == sympy.Rational(1, 2) and "sqrt" in operators:
        return f"sqrt({base})"
    if exponent == 2 and "square" in operators:
        return f"square({base})"
    if "^" not in operators and exponent.is_Integer and 1 < exponent <= LONGEST_PRODUCT:
        return _folded("*", [base] * int(exponent), operators)
    power = written_for_julia(exponent, names, operators)
    return f"({base} {_allowed('^', operators)} ({power}))"
