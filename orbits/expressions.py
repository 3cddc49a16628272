"""Formulas written by users, read without ever running them.

What a formula may be is decided on its syntax, before any algebra: its length and depth, its
numbers, and how large it would be if it were multiplied out. The algebra after that is limited in
its time, too.
"""

import ast
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

import sympy

from orbits.time_limit import limited

MAX_LENGTH = 500
"""Characters; longer formulas are a mistake or an attack."""

MAX_DEPTH = 40
"""Nesting of a formula's tree."""

MAX_EXPONENT = 64
"""Largest constant exponent: sympy would multiply out 2**10**9 for ever."""

MAX_DEGREE = 512
"""Largest power of a name, powers of powers multiplied: ((r + 1)**64)**64 has 4096."""

MAX_TERMS = 2000
"""Most terms of a formula that is multiplied out: (a + b + c + d)**64 has 47 905."""

MAX_ARGUMENT = 200
"""Largest constant argument of a function; exp(200) is 7e86."""

MAX_NUMBER = 1e100
"""Largest constant, and largest value of a constant part, of a formula."""

SECONDS = 5.0
"""Computing time that sympy may take for one formula."""

SHOWN = 120
"""Characters of a formula that a message repeats."""

FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    name: getattr(sympy, name)
    for name in (
        "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "sinh", "cosh", "tanh", "atan", "Abs",
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
    """A formula as a message repeats it: a long one is cut."""
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


def algebra(text: str, seconds: float = SECONDS) -> AbstractContextManager[None]:
    """A limit on the computing time of what sympy does with a formula.

    Raises:
        TooLongError: names the formula.
    """
    message = f"the formula {shown(text)} takes sympy longer than {seconds:g} s; write it simpler."
    return limited(seconds, message)


def parse_expression(text: str, symbols: Symbols = None) -> sympy.Expr:
    """A formula as a sympy expression; nothing in the text is ever executed.

    Allowed are numbers, names, + - * / ** (also ^), brackets, the functions of `FUNCTIONS` and the
    constants of `CONSTANTS`.

    Args:
        text: the formula, as Python writes it: `k*r**-2.5`, `GM*exp(-r/2)/r^2`.
        symbols: the names that may occur, with what they become; without it every name is allowed
            and becomes a positive symbol.

    Raises:
        ValueError: if the text is anything but such a formula, or larger than any law is (says
            which part).
    """
    tree = syntax_of(text)
    try:
        _Measure(text, symbols).of(tree)
        with algebra(text):
            found = _build(tree, text, symbols)
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"the formula {shown(text)} has no finite value.") from None
    return found


@dataclass(frozen=True)
class _Size:
    """How large a part of a formula would be if it were multiplied out."""

    degree: float = 0
    terms: float = 1
    value: float | None = None
    """Of a part without names."""


class _Measure:
    """The sizes of a formula's parts, from its syntax alone.

    Raises:
        ValueError: for anything that is no formula, or that is too large.
    """

    def __init__(self, text: str, symbols: Symbols) -> None:
        self.text = text
        self.symbols = symbols

    def of(self, node: ast.expr, depth: int = 0) -> _Size:
        """The size of a part."""
        if depth > MAX_DEPTH:
            raise self.refused(f"is nested deeper than {MAX_DEPTH} levels.")
        size = self._unchecked(node, depth)
        if size.value is not None and not abs(size.value) <= MAX_NUMBER:
            raise self.refused(f"has a number above {MAX_NUMBER:g}.")
        if size.degree > MAX_DEGREE or size.terms > MAX_TERMS:
            raise self.refused(
                f"would have a power of {size.degree:.3g} and {size.terms:.3g} term(s) if it were "
                f"multiplied out; at most {MAX_DEGREE} and {MAX_TERMS} are allowed."
            )
        return size

    def refused(self, why: str) -> ValueError:
        """The error that names the formula."""
        return ValueError(f"the formula {shown(self.text)} {why}")

    def _unchecked(self, node: ast.expr, depth: int) -> _Size:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if not abs(node.value) <= MAX_NUMBER:  # type: ignore[arg-type]
                raise self.refused(f"has a number above {MAX_NUMBER:g}.")
            return _Size(value=float(node.value))  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            symbol = _named(node.id, self.text, self.symbols)
            return _Size(value=float(symbol)) if symbol.is_number else _Size(degree=1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self.of(node.operand, depth + 1)
            minus = isinstance(node.op, ast.USub) and inner.value is not None
            return _Size(inner.degree, inner.terms, -inner.value) if minus else inner  # type: ignore[operator]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            left, right = self.of(node.left, depth + 1), self.of(node.right, depth + 1)
            return self._power(left, right) if isinstance(node.op, ast.Pow) else _joined(
                node.op, left, right
            )  # fmt: skip
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._called(node, node.func.id, depth)
        raise self.refused(
            f"contains {self._source(node)}; allowed are numbers, names, + - * / ** and "
            f"{', '.join(sorted(FUNCTIONS))}."
        )

    def _called(self, node: ast.Call, name: str, depth: int) -> _Size:
        if name not in FUNCTIONS or len(node.args) != 1 or node.keywords:
            raise self.refused(
                f"calls {self._source(node)}; known, with one argument each: "
                f"{', '.join(sorted(FUNCTIONS))}."
            )
        inner = self.of(node.args[0], depth + 1)
        if inner.value is None:
            return inner
        if not abs(inner.value) <= MAX_ARGUMENT:
            raise self.refused(f"calls {name} with {inner.value:.6g}; at most {MAX_ARGUMENT}.")
        try:
            return _Size(value=getattr(math, name)(inner.value))
        except ValueError:  # sqrt(-1), log(0)
            raise self.refused("has no finite real value.") from None

    def _power(self, base: _Size, exponent: _Size) -> _Size:
        n = exponent.value
        if n is None:  # a power of names: as large as both
            return _Size(base.degree + exponent.degree, base.terms * exponent.terms)
        if abs(n) > MAX_EXPONENT:
            raise self.refused(f"has the exponent {n:.6g}; at most {MAX_EXPONENT} is allowed.")
        if base.value is not None:
            size = abs(base.value)
            if size and abs(n * math.log(size)) > math.log(MAX_NUMBER):
                raise self.refused(f"has a number above {MAX_NUMBER:g}.")
            value = base.value**n
            if isinstance(value, complex):
                raise self.refused("has no finite real value.")
            return _Size(value=value)
        times = math.ceil(abs(n))
        terms = math.comb(times + math.ceil(base.terms) - 1, times) if base.terms > 1 else 1
        return _Size(base.degree * abs(n), float(min(terms, 10**300)))

    def _source(self, node: ast.expr) -> str:
        source = ast.get_source_segment(self.text.strip().replace("^", "**"), node)
        return shown(source or type(node).__name__)


def _joined(operation: ast.operator, left: _Size, right: _Size) -> _Size:
    """The size of a sum, a product or a quotient."""
    value = None
    if left.value is not None and right.value is not None:
        value = {
            ast.Add: lambda a, b: a + b,
            ast.Sub: lambda a, b: a - b,
            ast.Mult: lambda a, b: a * b,
            ast.Div: lambda a, b: a / b,
        }[type(operation)](left.value, right.value)
    if isinstance(operation, (ast.Add, ast.Sub)):
        terms = 1.0 if value is not None else left.terms + right.terms
        return _Size(max(left.degree, right.degree), terms, value)
    return _Size(left.degree + right.degree, left.terms * right.terms, value)


def _build(node: ast.expr, text: str, symbols: Symbols) -> sympy.Expr:
    """Sympy's form of a syntax that has been measured."""
    if isinstance(node, ast.Constant):
        number = node.value
        found = sympy.Integer(number) if isinstance(number, int) else _exact(number)  # type: ignore[arg-type]
    elif isinstance(node, ast.Name):
        found = _named(node.id, text, symbols)
    elif isinstance(node, ast.UnaryOp):
        operand = _build(node.operand, text, symbols)
        found = -operand if isinstance(node.op, ast.USub) else operand
    elif isinstance(node, ast.BinOp):
        left, right = _build(node.left, text, symbols), _build(node.right, text, symbols)
        found = _OPERATIONS[type(node.op)](left, right)
    else:
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        found = FUNCTIONS[node.func.id](_build(node.args[0], text, symbols))
    if found.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
        raise ValueError(f"the formula {shown(text)} has no finite real value.")
    if any(abs(number) > MAX_NUMBER for number in found.atoms(sympy.Number)):
        raise ValueError(f"the formula {shown(text)} has a number above {MAX_NUMBER:g}.")
    return found


def _exact(number: float) -> sympy.Expr:
    """Short decimals such as -2.5 as fractions: they are meant exactly."""
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
