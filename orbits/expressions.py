"""Formulas written by users, parsed without ever being run.

A formula's length, depth, numbers and powers are checked part by part before anything is done with
it. The time for algebra is limited, too.
"""

import ast
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import sympy

from orbits.time_limit import limited

T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """The largest formula that is read: a larger one is a mistake or an attack.

    Attributes:
        length: characters, each name counted as one, since a column's may be long.
        depth: levels of brackets, powers and signs; a sum or product is one.
        exponent: of constants: sympy would multiply out 2**10**9 for ever.
        number: of constants, and of constant parts.
        exponential: argument of exp, sinh and cosh, which grow faster than any power.
        degree: of powers of powers multiplied: ((r + 1)**64)**64 has 4096.
    """

    length: float
    depth: int
    exponent: float
    number: float
    exponential: float
    degree: float


TYPED = Bounds(500, 40, 64, 1e100, 200, 512)
"""Of formulas that a user gives."""
OWN = Bounds(math.inf, 200, math.inf, sys.float_info.max, math.log(sys.float_info.max), math.inf)
"""Of formulas that a search wrote: whatever floats can hold. Python's stack ends the depth."""

SECONDS = 5.0
"""Computing time allowed to sympy for one formula."""

SHOWN = 120
"""Characters of a formula quoted in a message."""

NAME = re.compile(r"[^\W\d]\w*")

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


def syntax_of(text: str, limits: Bounds = TYPED) -> ast.expr:
    """The syntax of a formula, `^` read as `**`.

    Raises:
        ValueError: if the text is too long or nested too deeply, or is no expression.
    """
    if len(text) > limits.length and (length := len(NAME.sub("x", text))) > limits.length:
        raise ValueError(
            f"the formula {shown(text)} has {length} characters; at most {limits.length} are "
            "allowed."
        )
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(
            f"the formula {shown(text)} cannot be read; write it as in k*r**-2.5 or "
            "GM*exp(-r/2)/r**2."
        ) from None
    level, depth = [tree], 0
    while level := [part for node in level for part in parts_of(node)]:
        depth += 1
        if depth > limits.depth:
            raise ValueError(
                f"the formula {shown(text)} is nested deeper than {limits.depth} levels."
            )
    return tree


def parts_of(node: ast.expr) -> list[ast.expr]:
    """What a part of a formula is made of: of a sum or product all terms, however many."""
    if not isinstance(node, ast.BinOp):
        return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    first, steps = _chain(node)
    return [first, *(step.right for step in steps)]


def _chain(node: ast.expr) -> tuple[ast.expr, list[ast.BinOp]]:
    """Where `a + b - c + ...` begins, and its steps in order."""
    steps = []
    while isinstance(node, ast.BinOp):
        steps.append(node)
        node = node.left
    return node, steps[::-1]


def names_of(text: str, limits: Bounds = TYPED) -> set[str]:
    """The variables of a formula."""
    names = {node.id for node in ast.walk(syntax_of(text, limits)) if isinstance(node, ast.Name)}
    return names - FUNCTIONS.keys() - CONSTANTS.keys()


def algebra(text: str, call: Callable[[], T], seconds: float = SECONDS) -> T:
    """What a call returns, in the computing time that sympy may spend on a formula.

    Raises:
        TooLongError: names the formula.
    """
    message = f"the formula {shown(text)} takes sympy longer than {seconds:g} s; write it simpler."
    return limited(seconds, message, call)


def parse_expression(text: str, symbols: Symbols = None, limits: Bounds = TYPED) -> sympy.Expr:
    """A formula as a sympy expression; nothing in the text is ever executed.

    Allowed are numbers, names, + - * / ** (also ^), brackets, the functions of `FUNCTIONS` and the
    constants of `CONSTANTS`: `k*r**-2.5`, `GM*exp(-r/2)/r^2`. `symbols` are the names allowed, with
    what they become; by default every name is allowed and becomes a positive symbol. `limits` are
    `OWN` for what a search wrote.

    Raises:
        ValueError: if the text is anything but such a formula, or larger than any law is (says
            which part).
    """
    tree = syntax_of(text, limits)
    try:
        return algebra(text, lambda: _Reader(text, symbols, limits).read(tree)[0])
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"the formula {shown(text)} has no finite value.") from None
    except RecursionError:
        raise ValueError(f"the formula {shown(text)} is nested too deeply.") from None


def in_range(formula: sympy.Expr) -> sympy.Expr:
    """The formula with no number in front of an exponential that floats cannot hold.

    sympy takes exp(803.7) out of exp(803.7 - 0.4*x); here it goes back.
    """
    if not any(map(is_beyond, formula.atoms(sympy.Float))):
        return formula
    parts = tuple(map(in_range, formula.args))
    same = parts == formula.args
    factors = [factor for part in parts for factor in sympy.Mul.make_args(part)]
    powers = [factor.args[0] for factor in factors if isinstance(factor, sympy.exp)]
    if not (formula.is_Mul and powers):
        whole = formula if same else formula.func(*parts)
        return in_range(whole) if whole.is_Mul and not formula.is_Mul else whole
    # built without sympy's evaluation, which would take the number out again
    others = [factor for factor in factors if not isinstance(factor, sympy.exp)]
    number, rest = sympy.Mul(*others).as_coeff_Mul()
    if same and not is_beyond(number):
        return formula
    if is_beyond(number):
        number, powers = sympy.sign(number), [sympy.log(abs(number)), *powers]
    before = [factor for factor in (number, *sympy.Mul.make_args(rest)) if factor != 1]
    power = sympy.exp(sympy.Add(*powers), evaluate=False)
    return sympy.Mul(*before, power, evaluate=False) if before else power


def is_beyond(number: sympy.Expr) -> bool:
    """Whether a float, or exp of a number times others, is larger or smaller than any in a law."""
    if not (number.is_Float or number.has(sympy.exp)):
        return False
    return not 1 / TYPED.number <= abs(float(number)) <= TYPED.number and number != 0


Part = tuple[sympy.Expr, float]
"""A part of a formula, and the largest power of a name in it once multiplied out."""


@dataclass(frozen=True)
class _Reader:
    """Builds a formula part by part, and checks each."""

    text: str
    symbols: Symbols
    limits: Bounds

    def refused(self, why: str) -> ValueError:
        return ValueError(f"the formula {shown(self.text)} {why}")

    def read(self, node: ast.expr) -> Part:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self.checked(self._number(node.value), 0.0)
        if isinstance(node, ast.Name):
            value = _named(node.id, self.text, self.symbols)
            return self.checked(value, 0.0 if value.is_number else 1.0)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value, degree = self.read(node.operand)
            return self.checked(-value if isinstance(node.op, ast.USub) else value, degree)
        if isinstance(node, ast.BinOp):
            first, steps = _chain(node)
            if all(type(step.op) in _OPERATIONS for step in steps):
                part = self.read(first)
                for step in steps:
                    part = self.checked(*self._combined(step.op, part, self.read(step.right)))
                return part
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.checked(*self._called(node, node.func.id))
        raise self.refused(
            f"contains {shown(self._source(node))}; allowed are numbers, names, + - * / ** and "
            f"{', '.join(sorted(FUNCTIONS))}."
        )

    def _source(self, node: ast.expr) -> str:
        plain = self.text.strip().replace("^", "**")
        return ast.get_source_segment(plain, node) or type(node).__name__

    def _number(self, number: Any) -> sympy.Expr:
        if not abs(number) <= self.limits.number:
            raise self.refused(f"has a number above {self.limits.number:g}.")
        return sympy.Integer(number) if type(number) is int else _exact(number)

    def _combined(self, operator: ast.operator, left: Part, right: Part) -> Part:
        limits, (base, first), (other, second) = self.limits, left, right
        value = _OPERATIONS[type(operator)]
        if isinstance(operator, (ast.Add, ast.Sub)):
            return value(base, other), max(first, second)
        if not (isinstance(operator, ast.Pow) and other.is_number):
            return value(base, other), first + second
        power = _float(other)
        if abs(power) > limits.exponent:
            raise self.refused(
                f"has the exponent {power:.6g}; at most {limits.exponent} is allowed."
            )
        size = abs(_float(base)) if base.is_number else 0.0
        if size and abs(power * math.log(size)) > math.log(limits.number):
            raise self.refused(f"has a number above {limits.number:g}.")
        return value(base, other), first * abs(power)

    def _called(self, node: ast.Call, name: str) -> Part:
        if name not in FUNCTIONS or len(node.args) != 1 or node.keywords:
            raise self.refused(
                f"calls {shown(self._source(node))}; known, with one argument each: "
                f"{', '.join(sorted(FUNCTIONS))}."
            )
        inner, degree = self.read(node.args[0])
        most = self.limits.exponential
        grows = name in {"exp", "sinh", "cosh"} and inner.is_number
        if grows and not abs(_float(inner)) <= most:
            raise self.refused(f"calls {name} with {_float(inner):.6g}; at most {most:g}.")
        return FUNCTIONS[name](inner), degree

    def checked(self, value: sympy.Expr, degree: float) -> Part:
        limits, value = self.limits, in_range(value)
        if value.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I) or (
            # a number such as log(0.5)**exp(2) is complex without a letter I in it
            value.is_number and not value.is_real and complex(value.evalf()).imag
        ):
            raise self.refused("has no finite real value.")
        if any(abs(number) > limits.number for number in value.atoms(sympy.Number)):
            raise self.refused(f"has a number above {limits.number:g}.")
        if degree > limits.degree:
            raise self.refused(
                f"would have a power of {degree:.3g} if it were multiplied out; at most "
                f"{limits.degree} is allowed."
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
