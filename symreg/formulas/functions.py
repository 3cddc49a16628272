"""The functions that a formula may contain, each once: its values, its derivative, its notation."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sympy

Value = Any
"""(row,) float64, or a number that all rows share."""


class Function(NamedTuple):
    """One function of one argument.

    Attributes:
        value: numpy, of the argument u.
        slope: numpy, the derivative, of u and the value there.
        write: sympy.
    """

    value: Callable[[Value], Value]
    slope: Callable[[Value, Value], Value]
    write: Callable[[sympy.Expr], sympy.Expr]


FUNCTIONS: dict[str, Function] = {
    "exp": Function(np.exp, lambda u, v: v, sympy.exp),
    "log": Function(np.log, lambda u, v: 1 / u, sympy.log),
    "sqrt": Function(np.sqrt, lambda u, v: 0.5 / v, sympy.sqrt),
    "sin": Function(np.sin, lambda u, v: np.cos(u), sympy.sin),
    "cos": Function(np.cos, lambda u, v: -np.sin(u), sympy.cos),
    "tan": Function(np.tan, lambda u, v: 1 + v * v, sympy.tan),
    "sinh": Function(np.sinh, lambda u, v: np.cosh(u), sympy.sinh),
    "cosh": Function(np.cosh, lambda u, v: np.sinh(u), sympy.cosh),
    "tanh": Function(np.tanh, lambda u, v: 1 - v * v, sympy.tanh),
    "asin": Function(np.arcsin, lambda u, v: 1 / np.sqrt(1 - u * u), sympy.asin),
    "acos": Function(np.arccos, lambda u, v: -1 / np.sqrt(1 - u * u), sympy.acos),
    "atan": Function(np.arctan, lambda u, v: 1 / (1 + u * u), sympy.atan),
    "Abs": Function(np.abs, lambda u, v: np.sign(u), sympy.Abs),
}
"""By the name that sympy gives them."""
