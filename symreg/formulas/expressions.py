"""Expressions over positive symbols: normal form, free constants, complexity, evaluation.

Every symbol here is positive (separations, masses, parameters of laws are), so log(r**2) is
2*log(r) and a product of powers merges into one.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import sympy
from sympy.core.parameters import distribute
from sympy.printing.str import StrPrinter

from orbits.expressions import SECONDS, in_range, is_beyond
from orbits.time_limit import limited
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.program import (
    COLUMN,
    CONSTANT,
    NUMBER,
    OPAQUE,
    Opaque,
    Program,
    ProgramRows,
)

CONSTANT_PREFIX = "_c"
"""Free constants of a skeleton are _c0, _c1, ...: no feature may start with this."""

Factors = dict[sympy.Expr, sympy.Expr]


def symbol(name: str) -> sympy.Symbol:
    """The positive symbol of a feature or parameter."""
    return sympy.Symbol(name, positive=True)


def feature_symbols(names: Sequence[str], X: np.ndarray) -> list[sympy.Symbol]:
    """A symbol per column: positive where the column is, else real (a coordinate)."""
    return [
        symbol(name) if np.all(column > 0) else sympy.Symbol(name, real=True)
        for name, column in zip(names, X.T, strict=True)
    ]


def normal_form(expression: sympy.Expr) -> sympy.Expr:
    """One constant in front, powers merged, sums with leading coefficient one: no redundant
    constant.

    `exp(3.7 - 2*log(0.9*r))` becomes `c*r**(-2)`; `1/(0.5*r + 0.1)` becomes `2/(r + 0.2)`.

    Raises:
        TooLongError: if sympy takes longer than for any useful formula.
    """
    message = f"sympy takes longer than {SECONDS:g} s for a formula; write it simpler."
    return limited(SECONDS, message, lambda: in_range(_normal_form(expression)))


def _normal_form(expression: sympy.Expr) -> sympy.Expr:
    return _assemble(*_product(expression))


def merged(expression: sympy.Expr) -> sympy.Expr:
    """The normal form with e and pi as floats, so that one constant is one number."""
    form = normal_form(expression)
    numbers = {number: sympy.Float(number) for number in form.atoms(sympy.NumberSymbol)}
    return in_range(form.xreplace(numbers)) if numbers else form


def _assemble(coefficient: sympy.Expr, factors: Factors, exponent: sympy.Expr) -> sympy.Expr:
    product = coefficient
    for base, power in factors.items():
        product = product * base**power
    return product * sympy.exp(exponent) if exponent != 0 else product


def _product(expression: sympy.Expr) -> tuple[sympy.Expr, Factors, sympy.Expr]:
    """Coefficient, {base: power} and the argument of the remaining exponential."""
    one, zero = sympy.Integer(1), sympy.Integer(0)
    if expression.is_number:
        return expression, {}, zero
    if expression.is_Symbol:
        return one, {expression: one}, zero
    if expression.is_Mul:
        coefficient, factors, exponent = one, Factors(), zero
        for argument in expression.args:
            c, f, e = _product(argument)
            coefficient, exponent = coefficient * c, exponent + e
            _multiply(factors, f, one)
        return _within(coefficient, factors, exponent)
    if expression.is_Pow and expression.exp.is_number:
        c, f, e = _product(expression.base)
        power = expression.exp
        if c.is_positive or power.is_integer:
            return c**power, _raised(f, power), e * power
        return one, {_assemble(c, f, e): power}, zero
    if isinstance(expression, sympy.exp):
        return _within(*_exponential(expression.args[0]))
    if expression.is_Add:
        return _sum(expression)
    inside = expression.args[0]
    if isinstance(expression, sympy.log) and inside.is_Pow and inside.base.is_positive:
        return _product(inside.exp * sympy.log(inside.base))
    arguments = [_normal_form(argument) for argument in expression.args]
    opaque = expression.func(*arguments)
    return (one, {opaque: one}, zero) if not opaque.is_number else (opaque, {}, zero)


def _within(
    coefficient: sympy.Expr, factors: Factors, exponent: sympy.Expr
) -> tuple[sympy.Expr, Factors, sympy.Expr]:
    """The same, where floats do not hold the coefficient with its logarithm in the exponent."""
    if exponent == 0 or not is_beyond(coefficient):
        return coefficient, factors, exponent
    return sympy.sign(coefficient), factors, exponent + sympy.log(abs(coefficient))


def _raised(factors: Factors, power: sympy.Expr) -> Factors:
    """Factors to a power; of a root those whose sign is not known stay under one.

    Both terms of sqrt((a - x)/(b - x)) may be negative, and have no root of their own then.
    """
    whole = power.is_integer or len(factors) < 2  # signs are asked for last: they take milliseconds
    unsure = {} if whole else {base: p for base, p in factors.items() if not base.is_positive}
    if len(unsure) < 2:
        return Factors({base: p * power for base, p in factors.items()})
    sure = {base: p * power for base, p in factors.items() if base not in unsure}
    return Factors({**sure, _assemble(sympy.Integer(1), Factors(unsure), sympy.Integer(0)): power})


def _multiply(factors: Factors, more: Factors, power: sympy.Expr) -> None:
    for base, exponent in more.items():
        total = factors.get(base, sympy.Integer(0)) + exponent * power
        if total == 0:
            factors.pop(base, None)
        else:
            factors[base] = total


def _exponential(argument: sympy.Expr) -> tuple[sympy.Expr, Factors, sympy.Expr]:
    coefficient, factors, exponent = sympy.Integer(1), Factors(), sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand_mul(argument)):
        number, rest = term.as_coeff_Mul()
        if rest == 1:
            coefficient *= sympy.exp(number)
        elif isinstance(rest, sympy.log):
            c, f, e = _product(rest.args[0])
            if not c.is_positive:
                exponent += term
                continue
            coefficient *= c**number
            _multiply(factors, _raised(f, number), sympy.Integer(1))
            exponent += number * e
        else:
            exponent += number * _normal_form(rest)
    return coefficient, factors, exponent


def _sum(expression: sympy.Expr) -> tuple[sympy.Expr, Factors, sympy.Expr]:
    terms: dict[sympy.Expr, sympy.Expr] = {}
    for argument in expression.args:
        c, f, e = _product(argument)
        key = _assemble(sympy.Integer(1), f, e)
        terms[key] = terms.get(key, sympy.Integer(0)) + c
    terms = {key: c for key, c in terms.items() if c != 0}
    if not terms:
        return sympy.Integer(0), {}, sympy.Integer(0)
    if len(terms) == 1:
        ((key, c),) = terms.items()
        if key.is_number:
            return c * key, {}, sympy.Integer(0)
        again = _product(key) if not key.is_Add else (sympy.Integer(1), {key: 1}, sympy.Integer(0))
        return c * again[0], again[1], again[2]
    first = max(terms, key=lambda key: (not key.is_number, sympy.default_sort_key(key)))
    leading = terms[first]
    base = sympy.Add(*(key if key == first else key * (c / leading) for key, c in terms.items()))
    return leading, {base: sympy.Integer(1)}, sympy.Integer(0)


def skeleton(expression: sympy.Expr, first: int = 0) -> tuple[sympy.Expr, list[float]]:
    """The expression with `_c0`, `_c1`, ... in place of its floats, and these in order.

    Integers and rationals stay: they are structure (`r**2`); floats are fitted. `first` is the
    number of the first constant, if the expression has some.
    """
    values: list[float] = []

    def replaced(node: sympy.Expr) -> sympy.Expr:
        if node.is_Float:
            values.append(float(node))
            return constant_symbol(first + len(values) - 1)
        if not node.args:
            return node
        return node.func(*(replaced(argument) for argument in node.args))

    return replaced(expression), values


def substituted(form: sympy.Expr, constants: Sequence[float]) -> sympy.Expr:
    """A skeleton with numbers in place of its free constants."""
    return in_range(
        form.xreplace({constant_symbol(i): sympy.Float(value) for i, value in enumerate(constants)})
    )


def in_order(form: sympy.Expr) -> tuple[sympy.Expr, list[int]]:
    """A skeleton with its constants numbered as they are read, and their numbers before."""
    read = re.findall(rf"{CONSTANT_PREFIX}(\d+)", sympy.sstr(form))
    order = list(dict.fromkeys(map(int, read)))
    return form.xreplace(
        {constant_symbol(i): constant_symbol(place) for place, i in enumerate(order)}
    ), order


def with_floats(expression: sympy.Expr, ones: bool = False) -> sympy.Expr:
    """The expression with numbers to fit: floats, except exponents, signs and factors of a free
    constant. With `ones` a term that is one, and the factor of a function's argument, are such."""
    if expression.is_Rational:
        return expression if expression in (-1, 0, 1) else sympy.Float(expression)
    if not expression.args:
        return expression
    if expression.is_Pow:
        return with_floats(expression.base, ones) ** expression.exp
    number, rest = expression.as_coeff_Mul()
    if number != 1 and _is_scaled(rest):
        return number * with_floats(rest, ones)
    parts = [with_floats(argument, ones) for argument in expression.args]
    if ones and expression.is_Add:
        parts = [sympy.Float(part) if part.is_Rational else part for part in parts]
    elif ones and expression.is_Function and not isinstance(expression, sympy.Abs):
        parts = [with_coefficients(part) for part in parts]
    return expression.func(*parts)


def with_coefficients(expression: sympy.Expr, ones: bool = False) -> sympy.Expr:
    """`with_floats`, and every term of the outermost sum with a number or constant in front."""
    terms = (term.as_coeff_Mul() for term in sympy.Add.make_args(with_floats(expression, ones)))
    return sympy.Add(*((c if _is_scaled(rest) else sympy.Float(c)) * rest for c, rest in terms))


def _is_scaled(product: sympy.Expr) -> bool:
    """Whether one of the factors is a free constant."""
    return any(
        f.is_Symbol and f.name.startswith(CONSTANT_PREFIX) for f in sympy.Mul.make_args(product)
    )


def constant_symbol(index: int) -> sympy.Symbol:
    """The free constant of that number (of either sign, so not assumed positive)."""
    return sympy.Symbol(f"{CONSTANT_PREFIX}{index}", real=True)


def named(form: sympy.Expr, names: Sequence[str]) -> str:
    """A skeleton as text with all digits, its free constants called by these names."""
    symbols = {constant_symbol(i): sympy.Symbol(name) for i, name in enumerate(names)}
    return in_full(form.xreplace(symbols))


def complexity(expression: sympy.Expr) -> int:
    """Number of operators, functions, symbols and constants in the expression as written.

    A minus sign or a division costs one operator, not the -1 that sympy stores.
    """
    if not expression.args:
        return 1
    if expression.is_Mul:
        arguments = [argument for argument in expression.args if argument != -1]
        return sum(map(complexity, arguments)) + max(len(arguments) - 1, 0)
    if expression.is_Add:
        return sum(map(complexity, expression.args)) + len(expression.args) - 1
    return 1 + sum(map(complexity, expression.args))


@lru_cache(maxsize=4096)
def program_of(expression: sympy.Expr) -> Program:
    """The steps of a formula, its columns called by name, its free constants by number."""
    program, expression = Program(), in_range(expression)
    if expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        program.add(NUMBER, of=np.nan)
    elif expression.has(sympy.I):
        _opaque(expression, program)
    else:
        _add(expression, program)
    return program


def _add(expression: sympy.Expr, program: Program) -> int:
    """The place of a formula's value in a program."""
    if expression.is_Symbol:
        place = _place_of(expression)
        if place is not None:
            return program.add(CONSTANT, of=place)
        return program.add(COLUMN, of=expression.name)
    if expression.is_Number or expression.is_NumberSymbol:
        return program.add(NUMBER, of=float(expression))
    if expression.is_Pow:
        return _add_power(expression.base, expression.exp, program)
    if expression.is_Mul:
        # one division, as it is written: a rounding less than by multiplying with an inverse
        above = [part for part in expression.args if not _is_below(part)]
        below = [part for part in expression.args if _is_below(part)]
        whole = _add_all("*", [_add(part, program) for part in above], program)
        if not below:
            return whole
        under = [_add_power(part.base, -part.exp, program) for part in below]
        return program.add("/", (whole, _add_all("*", under, program)))
    if expression.is_Add:
        return _add_all("+", [_add(part, program) for part in expression.args], program)
    if type(expression).__name__ in FUNCTIONS:
        return program.add(type(expression).__name__, (_add(expression.args[0], program),))
    return _opaque(expression, program)


def _add_power(base: sympy.Expr, exponent: sympy.Expr, program: Program) -> int:
    if exponent.is_Rational and exponent < 0:
        under = _add_power(base, -exponent, program)
        return program.add("/", (program.add(NUMBER, of=1.0), under))
    part = _add(base, program)
    if exponent == 1:
        return part
    if exponent == sympy.S.Half:
        return program.add("sqrt", (part,))
    return program.add("^", (part, _add(exponent, program)))


def _add_all(kind: str, parts: Sequence[int], program: Program) -> int:
    if len(parts) < 2:
        return parts[0] if parts else program.add(NUMBER, of=1.0)
    return program.add(kind, parts)


def _is_below(factor: sympy.Expr) -> bool:
    """Whether a factor is written in the denominator."""
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp < 0)


def _opaque(expression: sympy.Expr, program: Program) -> int:
    """What has no rule, compiled by sympy."""
    symbols = sorted(expression.free_symbols, key=str)
    columns = [symbol for symbol in symbols if _place_of(symbol) is None]
    constants = {symbol: place for symbol in symbols if (place := _place_of(symbol)) is not None}
    function = sympy.lambdify([*columns, *constants], expression, modules=["scipy", "numpy"])
    names = tuple(column.name for column in columns)
    return program.add(OPAQUE, of=Opaque(function, names, tuple(constants.values())))


def _place_of(symbol: sympy.Symbol) -> int | None:
    """The number of a free constant; None for a feature."""
    number = symbol.name.removeprefix(CONSTANT_PREFIX)
    return int(number) if number != symbol.name and number.isdigit() else None


def on_rows(expression: sympy.Expr, names: Sequence[str], X: np.ndarray) -> ProgramRows:
    """A formula on (row, feature) named columns."""
    program, columns = program_of(expression), np.asarray(X, dtype=float)
    return ProgramRows(program, {name: columns[:, i] for i, name in enumerate(names)})


def evaluate(
    expression: sympy.Expr,
    names: Sequence[str],
    X: np.ndarray,
    constants: Sequence[float] | np.ndarray = (),
) -> np.ndarray:
    """The expression at every row, float64; NaN where undefined.

    X is (row, feature), its columns named; constants are values of `_c0`, `_c1`, ... in a skeleton.
    """
    try:
        value, _ = on_rows(expression, names, X).at(constants, slopes=False)
    except (OverflowError, ZeroDivisionError, TypeError):
        return np.full(len(X), np.nan)
    return np.broadcast_to(np.asarray(value, dtype=float), (len(X),)).copy()


DIGITS = 6
"""Significant ones, of numbers in a formula as text."""


class _FormulaPrinter(StrPrinter):
    """Decimals for fractions, where they are as short; floats with all digits, if `full_prec`."""

    def _print_Exp1(self, _: sympy.Expr) -> str:  # noqa: N802 - as sympy has it
        return "exp(1)"  # E may be a column

    def _print_Rational(self, number: sympy.Rational) -> str:  # noqa: N802 - as sympy has it
        decimal = _decimal(number, DIGITS)
        return str(super()._print_Rational(number) if decimal is number else self._print(decimal))

    def _print_Float(self, number: sympy.Float) -> str:  # noqa: N802 - as sympy has it
        if self._settings["full_prec"]:
            return repr(float(number))
        return str(super()._print_Float(number)).removesuffix(".")  # a rounded 39 is `39.`


def in_full(expression: sympy.Expr) -> str:
    """The formula as text that is read with the same numbers, to the last digit."""
    return str(_FormulaPrinter({"full_prec": True}).doprint(with_decimals(expression)))


def as_text(expression: sympy.Expr) -> str:
    """The formula as text, each number with the digits that it has."""
    return str(_FormulaPrinter({"full_prec": False}).doprint(with_decimals(expression)))


def written(expression: sympy.Expr) -> str:
    """The formula as text, six significant digits."""
    return as_text(rounded(expression, DIGITS))


def mathml(expression: sympy.Expr) -> str:
    """The formula as presentation MathML, four significant digits."""
    return sympy.mathml(rounded(expression, 4), printer="presentation")


def latex(expression: sympy.Expr, digits: int) -> str:
    """The formula in LaTeX, numbers to so many significant digits."""
    return str(sympy.latex(rounded(expression, digits)))


def rounded(expression: sympy.Expr, digits: int) -> sympy.Expr:
    """The formula with numbers to so many significant digits, for reading."""
    numbers = {number: in_digits(number, digits) for number in expression.atoms(sympy.Float)}
    with distribute(False):  # a number in front of a sum stays there
        return with_decimals(expression.xreplace(numbers), digits)


def in_digits(number: sympy.Expr, digits: int) -> sympy.Number:
    """A number to so many significant digits; a whole one, if these end before its point."""
    short = sympy.Float(number, digits)
    whole = 10 ** (digits - 1) <= abs(short) < 10**digits
    return sympy.Integer(round(short)) if whole else short


def with_decimals(expression: sympy.Expr, digits: int = DIGITS) -> sympy.Expr:
    """The formula with tenths, fifths, and fractions of a long numerator as decimals, where these
    have no more than so many digits; but in a sum in `exp`, out of which sympy takes floats."""
    if not expression.args:
        return _decimal(expression, digits)
    fixed, parts = sympy.Integer(0), expression.args
    if isinstance(expression, sympy.exp):
        fixed, *parts = expression.args[0].as_coeff_Add(rational=True)
    with distribute(False):
        changed = [fixed + with_decimals(part, digits) for part in parts]
        same = changed == [*expression.args]
        return in_range(expression if same else expression.func(*changed))


def _decimal(number: sympy.Expr, digits: int) -> sympy.Expr:
    if not number.is_Rational or number.is_Integer or (number.q % 5 and abs(number.p) <= 10):
        return number
    short = sympy.Float(number, digits)
    return sympy.Float(str(short)) if sympy.Rational(str(short)) == number else number
