"""Formulas written by users, parsed without ever being run.

A formula's length, depth, numbers and powers are checked part by part before anything is done with
it. The time for algebra is limited, too.
"""

import ast
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import sympy

from orbits.time_limit import limited

MAX_LENGTH = 500
"""Characters; longer formulas are a mistake or an attack."""

MAX_EXPONENT = 64
"""Largest constant exponent: sympy would multiply out 2**10**9 for ever."""

MAX_NUMBER = 1e100
"""Largest constant, and largest value of a constant part, of a formula."""

SECONDS = 5.0
"""Computing time allowed to sympy for one formula."""

SHOWN = 120
"""Characters of a formula quoted in a message."""

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    name: getattr(sympy, name)
    for name in (
        "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
        "Abs",
    )
}  # fmt: skip
"""Functions that a formula may call, each with one argument."""

CONSTANTS = {"pi": sympy.pi}
"""Numbers that have a name."""

_OPERATIONS: dict[type[ast.operator], Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}

Symbols = Mapping[str, sympy.Symbol] | None


def shown(text: str) -> str:
    """A formula as quoted in a message: a long one is cut."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def syntax_of(text: str) -> ast.expr:
    """The syntax of a formula, `^` read as `**`.

    Raises:
        ValueError: if the text is too long, or is no expression.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"the formula {shown(text)} has {len(text)} characters; at most {MAX_LENGTH} are "
            "allowed."
        )
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(
            f"the formula {shown(text)} cannot be read; write it as in k*r**-2.5 or "
            "GM*exp(-r/2)/r**2."
        ) from None


def names_of(text: str) -> set[str]:
    """The variables of a formula."""
    names = {node.id for node in ast.walk(syntax_of(text)) if isinstance(node, ast.Name)}
    return names - FUNCTIONS.keys() - CONSTANTS.keys()


def algebra(text: str, seconds: float = SECONDS) -> AbstractContextManager[None]:
    """A limit on the computing time that sympy spends on a formula.

    Raises:
        TooLongError: names the formula.
    """
    message = f"the formula {shown(text)} takes sympy longer than {seconds:g} s; write it simpler."
    return limited(seconds, message)


def parse_expression(text: str, symbols: Symbols = None) -> sympy.Expr:
    """A formula as a sympy expression; nothing in the text is ever executed.

    Allowed are numbers, names, + - * / ** (also ^), brackets, the functions of `FUNCTIONS` and the
    constants of `CONSTANTS`: `k*r**-2.5`, `GM*exp(-r/2)/r^2`. `symbols` are the names allowed, with
    what they become; by default every name is allowed and becomes a positive symbol.

    Raises:
        ValueError: if the text is anything but such a formula, or larger than any law is (says
            which part).
    """
    tree = syntax_of(text)
    try:
        with algebra(text):
            return _read(tree, text, symbols)[0]
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"the formula {shown(text)} has no finite value.") from None


def _read(node: ast.expr, text: str, symbols: Symbols, depth: int = 0) -> tuple[sympy.Expr, float]:
    """A part of a formula, and the largest power of a name in it once multiplied out."""

    def refused(why: str) -> ValueError:
        return ValueError(f"the formula {shown(text)} {why}")

    def read(part: ast.expr) -> tuple[sympy.Expr, float]:
        return _read(part, text, symbols, depth + 1)

    source = ast.get_source_segment(text.strip().replace("^", "**"), node) or type(node).__name__
    most = 40
    if depth > most:
        raise refused(f"is nested deeper than {most} levels.")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number: Any = node.value
        if not abs(number) <= MAX_NUMBER:
            raise refused(f"has a number above {MAX_NUMBER:g}.")
        value, degree = sympy.Integer(number) if type(number) is int else _exact(number), 0.0
    elif isinstance(node, ast.Name):
        value = _named(node.id, text, symbols)
        degree = 0.0 if value.is_number else 1.0
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value, degree = read(node.operand)
        value = -value if isinstance(node.op, ast.USub) else value
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        (left, first), (right, second) = read(node.left), read(node.right)
        degree = max(first, second) if isinstance(node.op, (ast.Add, ast.Sub)) else first + second
        if isinstance(node.op, ast.Pow) and right.is_number:
            power = _float(right)
            if abs(power) > MAX_EXPONENT:
                raise refused(f"has the exponent {power:.6g}; at most {MAX_EXPONENT} is allowed.")
            size = abs(_float(left)) if left.is_number else 0.0
            if size and abs(power * math.log(size)) > math.log(MAX_NUMBER):
                raise refused(f"has a number above {MAX_NUMBER:g}.")
            degree = first * abs(power)
        value = _OPERATIONS[type(node.op)](left, right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name not in FUNCTIONS or len(node.args) != 1 or node.keywords:
            raise refused(
                f"calls {shown(source)}; known, with one argument each: "
                f"{', '.join(sorted(FUNCTIONS))}."
            )
        inner, degree = read(node.args[0])
        # these grow faster than any power: exp(200) is 7e86
        most = 200
        if name in {"exp", "sinh", "cosh"} and inner.is_number and not abs(_float(inner)) <= most:
            raise refused(f"calls {name} with {_float(inner):.6g}; at most {most}.")
        value = FUNCTIONS[name](inner)
    else:
        raise refused(
            f"contains {shown(source)}; allowed are numbers, names, + - * / ** and "
            f"{', '.join(sorted(FUNCTIONS))}."
        )
    if value.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
        raise refused("has no finite real value.")
    if any(abs(number) > MAX_NUMBER for number in value.atoms(sympy.Number)):
        raise refused(f"has a number above {MAX_NUMBER:g}.")
    # powers of powers multiplied: ((r + 1)**64)**64 has 4096
    most = 512
    if degree > most:
        raise refused(
            f"would have a power of {degree:.3g} if it were multiplied out; at most {most} "
            "is allowed."
        )
    return value, degree


def _float(number: sympy.Expr) -> float:
    return float(number.evalf())


def _exact(number: float) -> sympy.Expr:
    """Short decimals such as -2.5 as fractions: they are exact."""
    fraction = sympy.Rational(repr(number))
    return fraction if fraction.q <= 1000 else sympy.Float(number)


def _named(name: str, text: str, symbols: Symbols) -> sympy.Expr:
    if symbols is not None and name in symbols:
        return symbols[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    if symbols is None:
        return sympy.Symbol(name, positive=True)
    raise ValueError(
        f"the formula {shown(text)} contains the name {name!r}; known: "
        f"{', '.join(sorted((*symbols, *CONSTANTS)))}."
    )
