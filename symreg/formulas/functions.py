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
        inverse: numpy, an argument of a value; of waves and other even functions one of several.
    """

    value: Callable[[Value], Value]
    slope: Callable[[Value, Value], Value]
    write: Callable[[sympy.Expr], sympy.Expr]
    inverse: Callable[[Value], Value]


FUNCTIONS: dict[str, Function] = {
    "exp": Function(np.exp, lambda u, v: v, sympy.exp, np.log),
    "log": Function(np.log, lambda u, v: 1 / u, sympy.log, np.exp),
    "sqrt": Function(np.sqrt, lambda u, v: 0.5 / v, sympy.sqrt, np.square),
    "sin": Function(np.sin, lambda u, v: np.cos(u), sympy.sin, np.arcsin),
    "cos": Function(np.cos, lambda u, v: -np.sin(u), sympy.cos, np.arccos),
    "tan": Function(np.tan, lambda u, v: 1 + v * v, sympy.tan, np.arctan),
    "sinh": Function(np.sinh, lambda u, v: np.cosh(u), sympy.sinh, np.arcsinh),
    "cosh": Function(np.cosh, lambda u, v: np.sinh(u), sympy.cosh, np.arccosh),
    "tanh": Function(np.tanh, lambda u, v: 1 - v * v, sympy.tanh, np.arctanh),
    "asin": Function(np.arcsin, lambda u, v: 1 / np.sqrt(1 - u * u), sympy.asin, np.sin),
    "acos": Function(np.arccos, lambda u, v: -1 / np.sqrt(1 - u * u), sympy.acos, np.cos),
    "atan": Function(np.arctan, lambda u, v: 1 / (1 + u * u), sympy.atan, np.tan),
    "Abs": Function(np.abs, lambda u, v: np.sign(u), sympy.Abs, np.abs),
}
"""By the name that sympy gives them."""
