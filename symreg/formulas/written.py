"""A fitted formula as a person would write it.

`simplest` writes the same function with fewer numbers or in fewer characters: powers instead of
exp(y·log x), no factor 1.0, sin² + cos² gone, sums expanded or factored, whichever is shorter.
Numbers are symbols meanwhile, since sympy's algebra is for exact ones, and the result is evaluated
against the original. `simple_together` chooses the numbers that are simple, in what is written and
in what is predicted, and `simple_numbers` writes others with the digits that their intervals
support.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
import sympy
from scipy.stats import chi2
from sympy.core.parameters import distribute

from orbits.estimates import CONFIDENCE, Estimate
from orbits.expressions import in_range
from orbits.time_limit import TooLongError, limited
from symreg.fit.samples import Samples
from symreg.formulas.expressions import (
    DIGITS,
    complexity,
    constant_symbol,
    evaluate,
    in_order,
    substituted,
    written,
)
from symreg.formulas.numbers import exact, is_simple, simple
from symreg.formulas.precision import SAME

SECONDS = 2.0
"""For all ways of writing a formula."""
LETTERS, WIDTH = 0x2460, 4
"""The first of many characters that no name begins with, a circled one; how many of them stand for
a number in the length of a formula, whatever its digits."""
LONGEST = 60
"""Nodes of a formula that sympy still expands and factors quickly."""
DECIMALS = 11
"""Digits of a number that is a product of others, as of the square of one with five."""
USUAL_DENOMINATOR, USUAL_INTEGER, SURE = 4, 10, 0.01
"""Of numbers that are simple within their interval, which has at most that half-width, relative: in
wider ones there would be a simple number by chance."""


def _power(exponent: sympy.Expr) -> sympy.Expr:
    """`exp(y·log x + z)` as `x^y·exp(z)`."""
    product, rest = sympy.Integer(1), sympy.Integer(0)
    for term in sympy.Add.make_args(exponent):
        logs = [factor for factor in sympy.Mul.make_args(term) if isinstance(factor, sympy.log)]
        if len(logs) == 1:
            product *= logs[0].args[0] ** (term / logs[0])
        else:
            rest += term
    return product * sympy.exp(rest)


WAYS: tuple[Callable[[sympy.Expr], sympy.Expr], ...] = (
    lambda formula: formula.replace(sympy.exp, _power),
    sympy.powsimp,
    sympy.expand,
    sympy.factor,
    sympy.together,
    sympy.cancel,
    sympy.trigsimp,
    lambda formula: sympy.trigsimp(sympy.together(formula)),
    lambda formula: sympy.factor(formula, deep=True),
)


def simplest(formula: sympy.Expr, samples: Samples) -> sympy.Expr:
    """The way to write a formula that has the fewest numbers; of these, the shortest.

    sympy multiplies out a number times a sum, so that GM·(1/r + k)·exp(-k·r) would be read as one
    with three numbers.

    Args:
        formula: with floats.
        samples: rows at which both evaluate alike, to 1e-12 of the values' size.
    """
    values = evaluate(formula, samples.names, samples.X)
    size = np.maximum(np.abs(values), np.sqrt(np.mean(values**2)))
    best = _exact_where_simple(formula)
    length = _length(best)

    def shorten() -> None:
        nonlocal best, length
        for other in _ways(formula):
            shorter = _length(other)
            if shorter >= length or other.has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
                continue
            if "pi" in samples.names and other.has(sympy.pi):
                continue
            apart = np.abs(evaluate(other, samples.names, samples.X) - values)
            if np.all(apart <= SAME * size):
                best, length = other, shorter

    with suppress(TooLongError):
        limited(SECONDS, "it takes too long", shorten)
    return best


def recast(
    form: sympy.Expr, constants: Sequence[float], samples: Samples
) -> tuple[sympy.Expr, list[float]]:
    """A skeleton whose constants are the numbers that one reads in its formula, and these.

    `c1/(r**3 + 43*r**2 + c2*r)`, which reads 84476.2/(r*(r + 21.5)**2), is c1/(r*(c2 + r)**2). Of
    the numbers read, those of the skeleton and exponents are exact, others constants. The skeleton
    itself where it has fewer numbers, or one that would be lost: an exponent, or a one.

    Args:
        form: with free constants.
        constants: their values.
        samples: rows at which both evaluate alike.
    """
    kept = form, list(constants)
    own = {constant_symbol(i) for i in range(len(constants))}
    fixed = {abs(float(number)) for number in form.atoms(sympy.Rational)} | {1.0}
    exponents = {number for power in form.atoms(sympy.Pow) for number in power.exp.free_symbols}
    if exponents & own or fixed & set(map(abs, constants)):
        return kept
    read = simplest(substituted(form, constants), samples)
    if read.atoms(sympy.NumberSymbol) or any(p.base.is_number for p in read.atoms(sympy.Pow)):
        return kept
    values: dict[float, tuple[float, sympy.Symbol]] = {}

    def freed(node: sympy.Expr) -> sympy.Expr:
        if node.is_Number:
            size = abs(float(node))
            if node.is_Rational and size in fixed:
                return node
            first, constant = values.setdefault(size, (float(node), constant_symbol(len(values))))
            return constant if node * first > 0 else -constant
        if node.is_Pow:
            return freed(node.base) ** node.exp
        return node.func(*map(freed, node.args)) if node.args else node

    with distribute(False):
        made, order = in_order(freed(read))
    numbers = [value for value, _ in values.values()]
    fewer = len(numbers) <= len(constants)
    return (made, [numbers[place] for place in order]) if fewer else kept


def _length(formula: sympy.Expr) -> tuple[int, bool, int, int]:
    """Different numbers of a formula that are not simple; without them whether a sum stands below,
    where what divides out has a hole; then its characters, as read, so many for each of these
    numbers, and its fractions."""
    odd = {number for number in formula.atoms(sympy.Float) if not is_simple(float(number))}
    count = len({f"{abs(float(number)):.12g}" for number in odd})
    below = any(power.base.is_Add and power.exp.is_negative for power in formula.atoms(sympy.Pow))
    letters = {number: sympy.Symbol(WIDTH * chr(LETTERS + k)) for k, number in enumerate(odd)}
    signed = {number: own if number > 0 else -own for number, own in letters.items()}
    text = written(formula.xreplace(signed)).replace("**", "^")
    return count, below and not count, len(text), text.count("/")


def _ways(formula: sympy.Expr) -> Iterator[sympy.Expr]:
    """The formula in other ways, numbers back in place."""
    floats = _numbers(formula)
    symbols: dict[float, sympy.Symbol] = {}
    whole: dict[sympy.Expr, sympy.Expr] = {}
    for number in floats:
        value = float(number)
        if is_simple(value):
            whole[number] = exact(value)
        else:
            own = _tied(abs(value), symbols)
            if own is None:
                own = symbols[abs(value)] = sympy.Dummy(positive=True)
            whole[number] = own if value > 0 else -own
    bare = formula.xreplace(whole)
    numbers = {own: sympy.Float(value) for value, own in symbols.items()}
    ways = WAYS if complexity(formula) <= LONGEST else ()
    written_so = (other.xreplace(numbers) for other in (bare, *(way(bare) for way in ways)))
    forms = (form for back in written_so for form in (back, *_divided(back)))
    made: set[sympy.Expr] = set()
    for form in itertools.chain(forms, _decimals(formula) if ways else ()):
        exactly = _exact_where_simple(form)
        if exactly not in made:
            made.add(exactly)
            yield from (exactly, with_plain_quotients(exactly))


def _exact_where_simple(formula: sympy.Expr) -> sympy.Expr:
    formula = in_range(formula)
    numbers = formula.atoms(sympy.Float, sympy.Rational)
    return in_range(formula.xreplace({number: exact(float(number)) for number in numbers}))


def _tied(value: float, symbols: Mapping[float, sympy.Symbol]) -> sympy.Expr | None:
    """A number as the root of a simple one, or as a simple one times π, its inverse or their roots,
    or another, its inverse, or the product or ratio of two: by chance none is to 1e-12."""
    if is_simple(value**2):
        return sympy.sqrt(exact(value**2))
    for power in (1, -1):
        if is_simple(value / np.pi**power):
            return exact(value / np.pi**power) * sympy.pi**power
        if is_simple(value**2 / np.pi**power):
            return sympy.sqrt(exact(value**2 / np.pi**power) * sympy.pi**power)
    for (one, first), (other, second) in itertools.product(symbols.items(), repeat=2):
        for product, made in (
            (one, first),
            (1 / one, 1 / first),
            (one * other, first * second),
            (one / other, first / second),
        ):
            if is_simple(value / product):
                return exact(value / product) * made
    return None


def _decimals(formula: sympy.Expr) -> Iterator[sympy.Expr]:
    """Factors and partial fractions over the decimals of a formula, where symbols in place of its
    numbers have none: `r³ + 43·r² + 462.25·r` is `r·(r + 21.5)²`."""
    inside: dict[sympy.Expr, sympy.Expr] = {}

    def is_no_quotient(node: sympy.Expr) -> bool:
        return bool(node.is_Function or (node.is_Pow and not node.exp.is_Integer))

    above, below = sympy.fraction(formula)
    formula = sympy.expand_mul(above) / below  # no quotients of decimals, from a number in front
    # exp(0.37·x) over decimals would be the 37th power of exp(x/100)
    plain = formula.replace(is_no_quotient, lambda node: inside.setdefault(node, sympy.Dummy()))
    numbers = {number: sympy.Rational(f"{number:.{DECIMALS}g}") for number in _numbers(plain)}
    plain = plain.xreplace(numbers)
    symbols = sorted(plain.free_symbols, key=str)
    for way in (sympy.factor(plain), *(sympy.apart(plain, symbol) for symbol in symbols)):
        for form in _divided(way):
            for node, name in reversed(inside.items()):  # a function may hold others
                form = form.xreplace({name: node})
            yield form


def _numbers(formula: sympy.Expr) -> list[sympy.Float]:
    return sorted(formula.atoms(sympy.Float), key=lambda number: abs(float(number)))


def _divided(formula: sympy.Expr) -> Iterator[sympy.Expr]:
    """Sums that are factors, divided by the number before their highest term, and by their constant
    one, which goes in front: `a/sqrt(b - v²)` is `c/sqrt(1 - v²/b)`, and the other way."""
    formula = _divided_by(formula, lambda total: sympy.Poly(total).LC())
    yield formula
    yield _divided_by(formula, lambda total: total.as_coeff_Add()[0])


def _divided_by(formula: sympy.Expr, number_of: Callable[[sympy.Expr], sympy.Expr]) -> sympy.Expr:
    def divided(product: sympy.Expr) -> sympy.Expr:
        factors = []
        for factor in sympy.Mul.make_args(product):
            base, power = factor.as_base_exp()
            number = number_of(base) if base.is_Add and power.is_number else sympy.S.One
            if number != 1 and number.is_positive:
                number = number if power.is_integer else sympy.Float(number)
                factors.append(number**power)
                factor = sympy.expand_mul(base / number) ** power
            factors.append(factor)
        return sympy.Mul(*factors)

    return formula.replace(lambda node: node.is_Mul or node.is_Pow, divided)


def with_plain_quotients(formula: sympy.Expr) -> sympy.Expr:
    """`-a/(b - c)` as `a/(c - b)`, and `sqrt(1/a)` as `1/sqrt(a)`."""

    def turned(product: sympy.Expr) -> sympy.Expr:
        number, rest = product.as_coeff_Mul()
        factors = list(sympy.Mul.make_args(rest))
        for place, factor in enumerate(factors):
            base, power = factor.as_base_exp()
            if base.is_Add and abs(power) == 1 and number.is_negative:
                factors[place], number = (-base) ** power, -number
        return number * sympy.Mul(*factors)

    def is_root_of_inverse(node: sympy.Expr) -> bool:
        return bool(node.is_Pow and node.base.is_Pow and node.base.exp == -1)

    formula = formula.replace(lambda node: node.is_Mul, turned)
    return in_range(formula.replace(is_root_of_inverse, lambda root: root.base.base**-root.exp))


def simple_numbers(
    formula: sympy.Expr, numbers: Sequence[Estimate], chosen: Sequence[sympy.Number]
) -> sympy.Expr:
    """The formula with simple numbers, and others with the digits that their intervals support.

    Args:
        formula: with floats; one that is none of the fitted numbers keeps six digits.
        numbers: as fitted, with their intervals.
        chosen: what each is to be, by `simple_together`.
    """
    simple: dict[sympy.Expr, sympy.Expr] = {}
    for each in formula.atoms(sympy.Float):
        number, half = each, None
        for fitted, choice in zip(numbers, chosen, strict=True):
            if abs(abs(fitted.value or 0.0) - abs(float(each))) <= SAME * abs(float(each)):
                number, half = choice * (1 if each * choice > 0 else -1), fitted.half_width
        simple[each] = _in_digits(number, half)
    return in_range(formula.xreplace(simple))


def _simple_within(value: float, half: float | None) -> sympy.Rational | None:
    """The simple number that an interval holds, if it is narrow enough to hold none by chance."""
    if half is None or not 0 < half <= SURE * abs(value):
        return None
    near = simple(value, USUAL_DENOMINATOR, USUAL_INTEGER)
    return sympy.Rational(near) if near and abs(float(near) - value) <= half else None


def simple_together(
    numbers: Sequence[Estimate], covariance: Sequence[Sequence[float]] | np.ndarray
) -> list[sympy.Number]:
    """Fitted numbers, simple ones where their intervals hold these; the others follow, as if they
    were fitted again. All as fitted if the rows tell the simple ones, together, from the fitted.

    Args:
        numbers: with their intervals.
        covariance: (number, number) of their errors, from which come both: Wald's test at 95 %, and
            the mean of a normal distribution of which some components are known.
    """
    fitted = np.array([number.value for number in numbers], dtype=float)
    within = [_simple_within(v, n.half_width) for v, n in zip(fitted, numbers, strict=True)]
    near = {place: number for place, number in enumerate(within) if number is not None}
    at, told = list(near), True
    spread = np.asarray(covariance, dtype=float)
    if at and spread.shape == 2 * fitted.shape:
        move = np.array([float(number) for number in near.values()]) - fitted[at]
        pull = np.linalg.pinv(spread[np.ix_(at, at)], hermitian=True) @ move
        told = bool(move @ pull > chi2.ppf(CONFIDENCE, len(at)))
        if not told:
            fitted = fitted + spread[:, at] @ pull
    # one without an interval has a unit, or was not fitted
    free = [sympy.Float if number.half_width is None else exact for number in numbers]
    return [near[k] if k in near and not told else kind(fitted[k]) for k, kind in enumerate(free)]


def _in_digits(number: sympy.Number, half: float | None) -> sympy.Number:
    if number.is_Rational:
        return number
    rounded = sympy.Float(number, digits_of(float(number), half))
    # a factor that reads 1.0 is none, and 13.0 of two digits is 13
    whole = half is not None and float(str(rounded)).is_integer() and abs(rounded) < 10**DIGITS
    return sympy.Integer(round(rounded)) if whole else rounded


def digits_of(value: float, half: float | None) -> int:
    """Significant digits that an interval supports: two of the half-width, at least two.

    `DIGITS` without an interval, and at most.
    """
    if half is None or not (half > 0 and value and math.isfinite(half)):
        return DIGITS
    places = math.floor(math.log10(abs(value))) - math.floor(math.log10(half)) + 2
    return max(2, min(DIGITS, places))
