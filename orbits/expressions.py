"""Formulas written by users, read without ever running them."""

import ast
import math
from collections.abc import Callable, Mapping

import sympy

MAX_LENGTH = 500
"""Characters; longer formulas are a mistake or an attack."""

MAX_DEPTH = 40
"""Nesting of a formula's tree."""

MAX_EXPONENT = 64
"""Largest constant exponent: sympy would multiply out 2**10**9 for ever."""

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    name: getattr(sympy, name)
    for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")
}
"""Functions that a formula may call, each with one argument."""

MAX_NUMBER = 1e100
"""Largest constant, and largest value of a constant part, of a formula."""

CONSTANTS = {"pi": sympy.pi}
"""Numbers that have a name."""

_OPERATIONS: dict[type[ast.operator], Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def parse_expression(text: str, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """A formula as a sympy expression; nothing in the text is ever executed.

    Allowed are numbers, names, + - * / ** (also ^), brackets, the functions of `FUNCTIONS` and the
    constants of `CONSTANTS`.

    Args:
        text: the formula, as Python writes it: `k*r**-2.5`, `GM*exp(-r/2)/r^2`.
        symbols: the names that may occur, with what they become; without it every name is allowed
            and becomes a positive symbol.

    Raises:
        ValueError: if the text is anything but such a formula (says which part).
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"the formula has {len(text)} characters; at most {MAX_LENGTH} are allowed."
        )
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(
            f"the formula {text!r} cannot be read; write it as in k*r**-2.5 or GM*exp(-r/2)/r**2."
        ) from None
    try:
        found = _build(tree, text, symbols, 0)
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"the formula {text!r} has no finite value.") from None
    if found.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
        raise ValueError(f"the formula {text!r} has no finite real value.")
    return found


def _build(
    node: ast.expr, text: str, symbols: Mapping[str, sympy.Symbol] | None, depth: int
) -> sympy.Expr:
    if depth > MAX_DEPTH:
        raise ValueError(f"the formula {text!r} is nested deeper than {MAX_DEPTH} levels.")
    number = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        if not abs(number) <= MAX_NUMBER:
            raise ValueError(f"the formula {text!r} has a number above {MAX_NUMBER:g}.")
        return sympy.Integer(number) if isinstance(number, int) else _exact(number)
    if isinstance(node, ast.Name):
        return _named(node.id, text, symbols)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        operand = _build(node.operand, text, symbols, depth + 1)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp) and type(node.op) in (*_OPERATIONS, ast.Pow):
        left = _build(node.left, text, symbols, depth + 1)
        right = _build(node.right, text, symbols, depth + 1)
        if isinstance(node.op, ast.Pow):
            return _power(left, right, text)
        return _OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in FUNCTIONS or len(node.args) != 1 or node.keywords:
            raise ValueError(
                f"the formula {text!r} calls {ast.unparse(node)!r}; known, with one argument each: "
                f"{', '.join(sorted(FUNCTIONS))}."
            )
        argument = _build(node.args[0], text, symbols, depth + 1)
        if argument.is_number and not abs(complex(argument)) <= 200:  # exp(200) = 7e86
            raise ValueError(
                f"the formula {text!r} calls {node.func.id} with {argument}; at most 200."
            )
        return FUNCTIONS[node.func.id](argument)
    raise ValueError(
        f"the formula {text!r} contains {ast.unparse(node)!r}; allowed are numbers, names, "
        f"+ - * / ** and {', '.join(sorted(FUNCTIONS))}."
    )


def _exact(number: float) -> sympy.Expr:
    """Short decimals such as -2.5 as fractions: they are meant exactly."""
    fraction = sympy.Rational(repr(number))
    return fraction if fraction.q <= 1000 else sympy.Float(number)


def _named(name: str, text: str, symbols: Mapping[str, sympy.Symbol] | None) -> sympy.Expr:
    if symbols is not None and name in symbols:
        return symbols[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    if symbols is None:
        return sympy.Symbol(name, positive=True)
    raise ValueError(
        f"the formula {text!r} contains the name {name!r}; known: "
        f"{', '.join(sorted((*symbols, *CONSTANTS)))}."
    )


def _power(base: sympy.Expr, exponent: sympy.Expr, text: str) -> sympy.Expr:
    if exponent.is_number and not abs(complex(exponent)) <= MAX_EXPONENT:
        raise ValueError(
            f"the formula {text!r} has the exponent {exponent}; at most {MAX_EXPONENT} is allowed."
        )
    if base.is_number and exponent.is_number:
        size = abs(complex(base))
        if size == 0 and float(exponent) <= 0:
            raise ZeroDivisionError
        if size and abs(float(exponent) * math.log(size)) > math.log(MAX_NUMBER):
            raise ValueError(f"the formula {text!r} has a number above {MAX_NUMBER:g}.")
    return base**exponent
