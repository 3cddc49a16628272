"""Formulas from text, read through a whitelist of Python's grammar: nothing is ever executed."""

import ast
import math
from collections.abc import Callable

import sympy

from orbits.forces import LAWS, parse_law
from symreg.expressions import symbol

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "atan": sympy.atan,
    "abs": sympy.Abs,
    "Abs": sympy.Abs,
    "square": lambda a: a**2,
    "cube": lambda a: a**3,
    "inv": lambda a: 1 / a,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
}
"""Functions that a formula may call."""
OPERATORS: dict[type, Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
LONGEST = 2000
LARGEST_POWER = 100
DEEPEST = 60


def read_formula(text: str) -> sympy.Expr:
    """The formula that a text says: an expression in positive symbols, or a reference law's name.

    `^` is a power, `pi` the number; every other name is a symbol, those that sympy owns
    (`E`, `I`, `N`, `S`, `beta`, `gamma`) too.

    Args:
        text: as in `GM/r**2`, `39.478*m1*m2/r^2` or `yukawa(length=2)`.

    Raises:
        ValueError: if it is not an expression (says what is not allowed).
    """
    name = text.strip().split("(")[0].strip()
    if name in LAWS:
        return parse_law(text).numeric_expression()
    tree = _parsed(text)
    value = _build(tree, text, 0)
    if value.has(sympy.zoo, sympy.nan, sympy.oo):
        raise ValueError(f"{_short(text)} divides by zero or overflows; it has no value.")
    return value


def names_in(*texts: str) -> set[str]:
    """Names of the symbols that formulas have; functions and `pi` are none.

    Raises:
        ValueError: if a text is not a formula.
    """
    names: set[str] = set()
    for text in texts:
        law = text.strip().split("(")[0].strip()
        if law in LAWS:
            names |= {s.name for s in parse_law(text).numeric_expression().free_symbols}
            continue
        tree = _parsed(text)
        called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names |= {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called
        }
    return names - {"pi"}


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"a formula of {len(text)} characters; at most {LONGEST} are read.")
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f"{_short(text)} is not a formula; write it as in GM/r**2 or 39.5*m1*m2/r**2."
        ) from None


def _build(node: ast.expr, text: str, depth: int) -> sympy.Expr:
    if depth > DEEPEST:
        raise ValueError(f"{_short(text)} is nested more than {DEEPEST} deep.")
    if isinstance(node, ast.Constant):
        return _number(node.value, text)
    if isinstance(node, ast.Name):
        return sympy.pi if node.id == "pi" else symbol(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _build(node.operand, text, depth + 1)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _build(node.left, text, depth + 1), _build(node.right, text, depth + 1)
        if isinstance(node.op, ast.Pow):
            _check_power(left, right, text)
        return OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ValueError(
                f"{_short(text)}: the function {node.func.id!r} is not known. "
                f"Known: {', '.join(sorted(FUNCTIONS))}."
            )
        arguments = [_build(argument, text, depth + 1) for argument in node.args]
        if node.func.id == "pow" and len(arguments) == 2:
            _check_power(arguments[0], arguments[1], text)
        try:
            return FUNCTIONS[node.func.id](*arguments)
        except TypeError:
            raise ValueError(
                f"{_short(text)}: {node.func.id} is called with {len(arguments)} value(s)."
            ) from None
    raise ValueError(
        f"{_short(text)} is not a formula: {type(node).__name__} is not allowed in one; "
        "numbers, names, + - * / ** and functions are."
    )


def _number(value: object, text: str) -> sympy.Expr:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{_short(text)}: {value!r} is not a number.")
    if isinstance(value, int):
        return sympy.Integer(value)
    if not math.isfinite(value):
        raise ValueError(f"{_short(text)}: {value!r} is not a finite number.")
    return sympy.Float(value)


def _check_power(base: sympy.Expr, power: sympy.Expr, text: str) -> None:
    if power.is_number and power.is_real and abs(power) > LARGEST_POWER:
        raise ValueError(f"{_short(text)}: a power above {LARGEST_POWER} is not read.")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
