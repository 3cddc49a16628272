"""Description length: the nats that it takes to write a formula and what it leaves down.

n/2·log of the mean square that it leaves, and for every number and symbol what a choice among so
many takes. A number is written to its standard error; a simple one by what it is.

Source: Rissanen, Automatica 14, 465 (1978); the prices are this project's.
"""

from collections.abc import Iterable

import numpy as np
import sympy

from symreg.formulas.numbers import price
from symreg.formulas.precision import LAST_DIGITS

SYMBOL = 2.0
"""Nats per symbol: a choice among eight, columns and functions, is log 8 = 2.1."""
MOST_NATS = 8.0
"""Of a simple number within a formula: another one is fitted."""
FUNCTION = 3
"""Symbols for a function, two of them since laws have fewer functions than sums and products; two
more for each inside another, as in `symreg.enumeration`."""
RARE = (sympy.tan, sympy.tanh, sympy.asin, sympy.acos, sympy.atan)
"""Functions that cost another symbol: laws have fewer of them than sines and exponentials."""
USUAL = (sympy.Integer(1), sympy.Integer(2), sympy.Integer(3), sympy.Rational(1, 2))
"""Exponents that cost one symbol, as squares and roots do; others cost two, and one more for each
power beyond the fourth."""


def charged(formula: sympy.Expr) -> int:
    """Description length of a formula in symbols, of about two nats each.

    The measure of `symreg.enumeration`, where the number of formulas of k symbols grows as e^(2k):
    a variable, an operation, a power and a fitted number are one; a step by one and a sign are the
    operation alone; another simple number costs its own nats.
    """
    if formula.is_Rational:
        return round(min(price(float(formula)), MOST_NATS) / 2) if abs(formula) != 1 else 0
    if not formula.args or formula.is_number:
        return 1
    if formula.is_Mul:
        parts = [part for part in formula.args if part != -1]
        below = [part.is_Pow and part.exp.is_number and part.exp < 0 for part in parts]
        turned = [part.base**-part.exp if b else part for part, b in zip(parts, below, strict=True)]
        return sum(map(charged, turned)) + len(parts) - 1 + all(below)
    if formula.is_Pow and formula.exp.is_number:
        steep = max(0.0, abs(float(formula.exp)) - 4)
        return charged(formula.base) + 1 + (abs(formula.exp) not in USUAL) + round(steep)
    own = sum(map(charged, formula.args))
    if isinstance(formula, sympy.Function) and not isinstance(formula, sympy.Abs):
        nested = sum(len(part.atoms(sympy.Function)) for part in formula.args)
        return own + FUNCTION + 2 * nested + isinstance(formula, RARE)
    return own + max(1, len(formula.args) - 1)


def length(
    mean_square: float, rows: int, symbols: float, numbers: Iterable[float],
    least: float = LAST_DIGITS,
) -> float:  # fmt: skip
    """Nats to write a formula and what it leaves down: every number simple or fitted, whichever
    costs less."""
    fitted = of_fitted(mean_square, rows)
    own = sum(min(price(value), fitted) for value in numbers)
    return of_errors(mean_square, rows, least) + SYMBOL * symbols + own


def of_errors(mean_square: float, rows: int, least: float = LAST_DIGITS) -> float:
    """Nats for what a formula leaves, errors below the least being alike."""
    return 0.5 * rows * float(np.log(mean_square + least**2))


def of_fitted(mean_square: float, rows: int) -> float:
    """Nats for a fitted number: written to its standard error, sqrt(mean square/rows) of its size.

    So a simple number that errs little more is the better, the less noise there is.
    """
    return 0.5 * float(np.log(rows) - np.log(min(1.0, mean_square + LAST_DIGITS**2)))
