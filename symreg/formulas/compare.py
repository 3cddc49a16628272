"""Are two formulas the same law? Decided by numbers, then by sympy, in a limited time.

Verdicts: `exact` (the difference simplifies to zero), `up_to_scale` (the ratio simplifies to a
positive or negative constant), `same_exponents` (both are one product of powers, whose exponents
agree within a margin), `different`, `undecided` (sympy ran out of time, or neither formula can be
evaluated). An additive constant is never equivalence. Every symbol is positive.

Numbers can prove that two formulas differ; they cannot prove that they agree, so agreement at
random points inside and outside the domain is confirmed by sympy. Sympy may never finish, so the
whole decision has a time limit.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy
from scipy.optimize import least_squares

from orbits.options import checked
from orbits.printing import facts, html_table
from orbits.time_limit import TooLongError, limited
from symreg.formulas.config import (
    DOMAIN,
    EXPONENT_MARGIN,
    SECONDS,
    Limit,
    Margin,
    Range,
    Variables,
)
from symreg.formulas.expressions import evaluate, normal_form, symbol
from symreg.formulas.precision import FITTED
from symreg.formulas.reading import read_formula

EXACT, UP_TO_SCALE, SAME_EXPONENTS = "exact", "up_to_scale", "same_exponents"
DIFFERENT, UNDECIDED = "different", "undecided"
MATCHING = (EXACT, UP_TO_SCALE)
"""Verdicts that mean: it is the reference law."""

CONSTANT_NAMES = frozenset(
    {"G", "GM", "g", "k", "K", "c", "C", "A", "B", "a0", "b", "alpha", "length", "softening", "n"}
)
"""Symbols that are constants unless named as variables."""

OUTSIDE = 10.0
"""Points are also drawn up to this factor outside the domain."""
NUMERICAL_TOLERANCE = 1e-8
"""Relative spread of a ratio that counts as constant: float64 rounding times conditioning."""
UNUSABLE = 1e3
"""Difference of logarithms if a formula has no finite value."""
POINTS = 64
"""At which formulas are compared."""
DIGITS = 50
"""With which two formulas that agree to rounding are told apart, if sympy cannot say."""


@dataclass(frozen=True)
class Comparison:
    """How two formulas compare.

    Attributes:
        verdict: one of the five.
        scale: first over second, if that is a number.
        parameters: values of the second formula's own constants at which it equals the first.
        reason: in words.
        margin: for exponents, in `same_exponents`.
        domain: (low, high) by variable.
        seconds: taken.
    """

    verdict: str
    reason: str
    scale: float | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    margin: float = EXPONENT_MARGIN
    domain: dict[str, tuple[float, float]] = field(default_factory=dict)
    seconds: float = 0.0

    def __str__(self) -> str:
        return facts(self._words())

    def _repr_html_(self) -> str:
        return html_table(self._words().items())

    def _words(self) -> dict[str, str]:
        ranges = (f"{name} from {low:g} to {high:g}" for name, (low, high) in self.domain.items())
        return {
            "verdict": self.verdict,
            "why": self.reason,
            **{name: f"{value:.10g}" for name, value in self.parameters.items()},
            "compared for": ", ".join(ranges) or "no variables",
            "margin of exponents": f"{self.margin:g}",
        }


@checked
def compare(
    first: sympy.Expr | str,
    second: sympy.Expr | str,
    variables: Variables | None = None,
    domain: Mapping[str, Range] | None = None,
    margin: Margin = EXPONENT_MARGIN,
    limit: Limit = SECONDS,
) -> Comparison:
    """Compare two formulas in limited time.

    Args:
        first: sympy, or text (a formula, or a reference law such as `yukawa(length=1)`).
        second: the same.
        variables: names that a scale may not depend on, or one text with commas; by default every
            symbol of both formulas except names of constants (`CONSTANT_NAMES`).
        domain: (low, high) by variable, above 0; 0.3 to 3 by default.
        margin: of exponents, below 1.
        limit: seconds of computing; unlimited outside the main thread.

    Raises:
        ValueError: if a text is not a formula, a variable or a name of the domain is in neither of
            them, or a domain no range (says what is wrong).
    """
    if isinstance(variables, str):
        variables = tuple(word.strip() for word in variables.split(",") if word.strip())
    formulas = [_formula(each) for each in (first, second)]
    names = sorted({s.name for formula in formulas for s in formula.free_symbols})
    for name in (*(variables or ()), *(domain or ())):
        if name not in names:
            there = f"they have {', '.join(names)}" if names else "they have no variables"
            raise ValueError(f"{name} is in neither formula; {there}.")
    for name, (low, high) in (domain or {}).items():
        if not low < high:
            raise ValueError(f"the domain of {name} is {low:g} to {high:g}; a range is needed.")
    return decided(formulas[0], formulas[1], variables, domain, margin, limit)


def decided(
    first: sympy.Expr,
    second: sympy.Expr,
    variables: Sequence[str] | None,
    domain: Mapping[str, tuple[float, float]] | None,
    margin: float,
    limit: float,
) -> Comparison:
    """The comparison of two formulas in limited time; names that are in neither do no harm."""
    began = time.monotonic()
    try:
        answer = limited(
            limit, "it takes too long", lambda: decide(first, second, variables, domain, margin)
        )
    except TooLongError:
        answer = Comparison(
            UNDECIDED, f"no decision within {limit:g} s of computing.", margin=margin
        )
    return replace(answer, seconds=time.monotonic() - began)


def _formula(given: Any) -> sympy.Expr:
    if isinstance(given, str):
        return read_formula(given)
    if not isinstance(given, sympy.Expr):
        raise ValueError(f"{type(given).__name__} is no formula; give text, or sympy.")
    return given


def decide(
    first: sympy.Expr,
    second: sympy.Expr,
    variables: Sequence[str] | None = None,
    domain: Mapping[str, tuple[float, float]] | None = None,
    margin: float = EXPONENT_MARGIN,
) -> Comparison:
    """The decision itself, without a time limit; see `compare`."""
    first, second = _positive(first), _positive(second)
    names = {s.name for s in first.free_symbols | second.free_symbols}
    chosen = sorted(set(names - CONSTANT_NAMES if variables is None else names & set(variables)))
    box = {name: (domain or {}).get(name, DOMAIN) for name in chosen}
    made: dict[str, Any] = {"margin": margin, "domain": box}
    if first == second:
        return Comparison(EXACT, "the formulas are written alike.", 1.0, **made)
    if first == 0 or second == 0:
        return Comparison(DIFFERENT, "one of the formulas is zero.", **made)
    points, constants = _points(first, second, chosen, box)
    values = [_magnitude(e, points, constants) for e in (first, second)]
    usable = np.isfinite(values[0]) & np.isfinite(values[1]) & (values[0] != 0) & (values[1] != 0)
    if np.count_nonzero(usable) < POINTS // 8:
        return Comparison(UNDECIDED, "a formula has no finite values to compare.", **made)
    solved: dict[str, float] = {}
    if not _constant_ratio(values[0][usable], values[1][usable]):
        solved = _solve(first, second, chosen, points, constants)
        if not solved:
            return _by_exponents(first, second, chosen, margin, made)
    if solved:
        exact_values = {
            symbol(name): sympy.nsimplify(value, tolerance=FITTED, rational=True)
            for name, value in solved.items()
        }
        second = second.subs(exact_values)
    ratio = normal_form(_in_decimals(first) / _in_decimals(second))
    variable = {symbol(name) for name in chosen}
    if ratio.free_symbols & variable:
        ratio = sympy.simplify(ratio)
    if ratio.free_symbols & variable:
        answer = _by_exponents(first, second, chosen, margin, made)
        if answer.verdict == SAME_EXPONENTS or _differs(ratio, points, constants):
            return answer
        reason = "the ratio is constant at random points, but sympy cannot confirm that it is."
        return Comparison(UNDECIDED, reason, **made)
    scale = float(ratio) if ratio.is_number and ratio.is_real else None
    if ratio == 1:
        return Comparison(EXACT, "the difference simplifies to zero.", 1.0, solved, **made)
    told = sympy.sstr(ratio.evalf(8)) if scale is None else f"{scale:.15g}"
    return Comparison(UP_TO_SCALE, f"the ratio simplifies to {told}.", scale, solved, **made)


def _in_decimals(expression: sympy.Expr) -> sympy.Expr:
    """The formula with its floats as the decimals that they are written as: 1.00000001 is no 1.

    A square of 0.1 is 0.01 to two units of the last place, and that is meant.
    """
    decimals = {}
    for number in expression.atoms(sympy.Float):
        value = float(number)
        short = f"{value:.15g}"
        same = abs(float(short) - value) <= 2 * math.ulp(value)
        decimals[number] = sympy.Rational(short if same else repr(value))
    return expression.xreplace(decimals)


def _differs(
    ratio: sympy.Expr, points: Mapping[str, np.ndarray], constants: Mapping[str, float]
) -> bool:
    """Whether a ratio without floats is no constant by fifty digits, which no rounding explains."""
    values = []
    for place in range(3):
        at = {name: column[place] for name, column in points.items()} | dict(constants)
        exactly = {symbol(name): sympy.Rational(repr(float(v))) for name, v in at.items()}
        values.append(ratio.xreplace(exactly).evalf(DIGITS, maxn=2 * DIGITS))
    if not all(value.is_number and value.is_finite for value in values):
        return False
    return any(abs(value - values[0]) > abs(values[0]) * 10 ** (-DIGITS // 2) for value in values)


def _positive(expression: sympy.Expr) -> sympy.Expr:
    return expression.xreplace({s: symbol(s.name) for s in expression.free_symbols})


def _points(
    first: sympy.Expr,
    second: sympy.Expr,
    variables: Sequence[str],
    domain: Mapping[str, tuple[float, float]],
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Log-uniform points inside (half of them) and outside the domain; values of constants."""
    rng = np.random.default_rng(0)
    points = {}
    for name in variables:
        low, high = np.log(domain[name])
        inside = rng.uniform(low, high, POINTS // 2)
        reach = np.log(OUTSIDE)
        outside = rng.uniform(low - reach, high + reach, POINTS - POINTS // 2)
        points[name] = np.exp(np.concatenate([inside, outside]))
    rest = {s.name for s in first.free_symbols | second.free_symbols} - set(variables)
    # a factor of two either way
    return points, {name: float(np.exp(rng.uniform(-0.7, 0.7))) for name in sorted(rest)}


def _magnitude(
    expression: sympy.Expr, points: Mapping[str, np.ndarray], constants: Mapping[str, float]
) -> np.ndarray:
    columns = [*points.values(), *(np.full(POINTS, value) for value in constants.values())]
    X = np.column_stack(columns) if columns else np.zeros((POINTS, 0))
    return evaluate(expression, [*points, *constants], X)


def _constant_ratio(first: np.ndarray, second: np.ndarray) -> bool:
    ratio = first / second
    middle = float(np.median(ratio))
    return bool(
        np.isfinite(middle)
        and middle != 0
        and np.all(np.abs(ratio / middle - 1) <= NUMERICAL_TOLERANCE)
    )


def _solve(
    first: sympy.Expr,
    second: sympy.Expr,
    variables: Sequence[str],
    points: Mapping[str, np.ndarray],
    constants: Mapping[str, float],
) -> dict[str, float]:
    """Values of the second formula's own constants that make the ratio constant, if any.

    Mere factors are left alone. Values near 0 or infinity do not count: there the formula is
    another law, as Newton's is not a Yukawa force of infinite length.
    """
    known = {s.name for s in first.free_symbols} | set(variables)
    own = sorted(s.name for s in second.free_symbols if s.name not in known)
    target = _magnitude(first, points, constants)
    usable = np.isfinite(target) & (target != 0)

    def spread(values: Mapping[str, float]) -> np.ndarray:
        error = np.log(np.abs(_magnitude(second, points, {**constants, **values}) / target))
        error = error[usable]
        finite = np.isfinite(error)
        middle = np.median(error[finite]) if finite.any() else 0.0
        return np.where(finite, error - middle, UNUSABLE)

    def matters(name: str, values: Mapping[str, float]) -> bool:
        """Whether a constant changes the ratio by more than rounding does."""
        change = spread({**values, name: 1.01 * values[name]}) - spread(values)  # by 1 %
        return bool(np.max(np.abs(change)) > 10 * NUMERICAL_TOLERANCE)

    shapes = [name for name in own if matters(name, constants)]
    if not shapes:
        return {}

    def named(logarithms: np.ndarray) -> dict[str, float]:
        return dict(zip(shapes, map(float, np.exp(logarithms)), strict=True))

    for start in (0.0, -2.0, 2.0):
        # to the last digit
        solution = least_squares(
            lambda logarithms: spread(named(logarithms)), np.full(len(shapes), start),
            xtol=1e-15, ftol=1e-15, gtol=1e-15,
        )  # fmt: skip
        values = named(solution.x)
        agree = np.max(np.abs(solution.fun)) <= NUMERICAL_TOLERANCE
        if agree and all(matters(name, values) for name in shapes):
            return values
    return {}


def _by_exponents(
    first: sympy.Expr,
    second: sympy.Expr,
    variables: Sequence[str],
    margin: float,
    made: dict[str, Any],
) -> Comparison:
    powers = [monomial_exponents(e, variables) for e in (first, second)]
    if powers[0] is not None and powers[1] is not None and variables:
        apart = max(abs(powers[0][name] - powers[1][name]) for name in variables)
        if apart <= margin:
            reason = f"both are one product of powers; exponents differ by at most {apart:.2g}."
            return Comparison(SAME_EXPONENTS, reason, **made)
    return Comparison(DIFFERENT, "the ratio is not constant.", **made)


def monomial_exponents(expression: sympy.Expr, variables: Sequence[str]) -> dict[str, float] | None:
    """Exponents of the variables if the formula is a product of powers, else None."""
    chosen = {symbol(name) for name in variables}
    exponents = dict.fromkeys(variables, 0.0)
    for factor in sympy.Mul.make_args(normal_form(_positive(expression))):
        base, power = factor.as_base_exp()
        if base in chosen and power.is_number:
            exponents[base.name] += float(power)
        elif factor.free_symbols & chosen:
            return None
    return exponents
