"""Projection: products of powers and functions, and short sums, searched exhaustively.

It comes first because it can say that nothing in its family is better; otherwise engines that
evolve formulas follow, its best formulas among their guesses.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from orbits.statistics import TINY
from symreg.engines.base import Family, Question, explains_all, is_exact
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import EXACT
from symreg.formulas.watch import Watch
from symreg.projection.atoms import EXPONENTIAL, WAVES, atoms_of, scaled_terms, with_waves
from symreg.projection.bases import (
    Argument,
    Column,
    composites,
    distances,
    monomials,
    plain_factors,
    variables,
)
from symreg.projection.bases import with_composites as combined
from symreg.projection.product_search import (
    best_of,
    search_products,
    with_one_factor,
    without_factors,
)
from symreg.projection.products import Product, Target, error, least_error
from symreg.projection.simplification import (
    description,
    expression_of,
    set_roughly,
    set_to_one,
    simplified,
)
from symreg.projection.sums import MOST_TERMS, Sum, Weighted, best_sums, search_sums, straight_lines
from symreg.search.outer import AROUND_PRODUCTS, LOGARITHMS, Outer

SIMPLIFIED = 24
"""Products of a search whose numbers are set to simple ones where possible."""
POOR, FEW_SIMPLIFIED = 0.25, 3
"""Mean square of relative errors above which no product is the law, and so few are simplified."""
SUMS = 8
"""Sums of each number of terms."""
MOST_VARIABLES = 10
"""Of more the functions have no arguments: monomials of three among 20 are 30 000."""
LOGARITHMIC = 0.8
"""Share of the rows in which nothing is zero, at least, for logarithms to be taken."""
FEW = 100
"""With so few rows structure is hard to see and sums cost little: they are tried too."""
SIMPLE = 2
"""Numbers up to which a product that explains all ends the search; a sum may need fewer than one of
more."""
UNEQUAL = 2.0
"""Ratio of relative errors of small and large targets above which errors may be absolute."""
OF_ONE_SIGN = 0.5
"""Share of rows in which y without the step must have one sign, noise aside."""
PLAIN = 3
"""Products with a plain factor tried inside a step."""
NEARLY = 0.05
"""Mean square of relative errors above which a product is not inside a step."""
LOGARITHM_LEFT = 0.2
"""Largest share of a target's variance that powers may leave for it to count as a logarithm of more
than powers."""


class ProjectionEngine(Family):
    """Products of powers with up to two functions, and sums of up to six terms.

    Args:
        question: what is searched.
        sums: whether to search longer sums, where no product is the law.
        factors: whether to search functions in products, which takes nearly all of the time.
        after: one that has searched the same rows without them, and hands on what it found.
    """

    name: ClassVar[str] = "projection"

    def __init__(
        self, question: Question | None = None, sums: bool = True, factors: bool = True,
        after: "ProjectionEngine | None" = None,
    ) -> None:  # fmt: skip
        super().__init__(question)
        self.sums, self.factors, self._after = sums, factors, after
        self._short: list[sympy.Expr] = []

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Of both searches."""
        rows = X, y, symbols, watch
        self._short = self._after._short if self._after else short_formulas(*rows)
        return search(*rows, self.sums, self.factors, self._short)


def search(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol], watch: Watch, sums: bool = True,
    factors: bool = True, short: list[sympy.Expr] | None = None,
) -> list[sympy.Expr]:  # fmt: skip
    """The best formulas of both families for the rows given.

    Args:
        X: (row, feature).
        y: (row,).
        symbols: (feature,) of sympy.
        watch: may end the search between its parts.
        sums: whether to search longer sums, where no product is the law.
        factors: whether to search functions in products.
        short: the `short_formulas`, if they are known.
    """
    short = short_formulas(X, y, symbols, watch) if short is None else short
    usable = _usable(X, y)
    if not usable.any():
        return short
    X, y = X[usable], y[usable]
    names = [s.name for s in symbols]
    columns = variables(X, symbols)
    expressions = [*short, *_lines(y, columns)]
    if watch.over or any(is_exact(each, X, y, names) for each in short):
        return expressions
    watch.say(lambda: f"projection, {watch.taken:.0f} s: products follow sums of two terms")
    if not factors:
        return expressions
    simple = len(y) > FEW and any(_explains(each, X, y, names) for each in short)
    arguments, alike = _arguments(columns, watch), np.ones(len(y))
    products, best = _products(columns, y, alike, arguments, watch, 1 if simple else 2)
    expressions += products
    few = (e for e in products[:3] if len(e.atoms(sympy.Float)) <= SIMPLE)
    explained = simple or (len(y) > FEW and any(_explains(e, X, y, names) for e in few))
    if best < EXACT**2 or explained or watch.over:
        # a sum of two terms is a product with a factor 1 + u: nothing is left for longer ones
        return expressions
    watch.say(lambda: f"projection, {watch.taken:.0f} s: longer sums follow products")
    longer = _sums(X, y, columns, watch) if sums else []
    expressions += longer
    if watch.over or (len(y) > FEW and any(explains_all(e, X, y, names) for e in longer[:SUMS])):
        return expressions
    inner = _inner(LOGARITHMS[0], X, y, symbols)
    if inner is not None and without_factors(inner[0]).mean_square < LOGARITHM_LEFT * np.var(y):
        deep = search_products(inner[0], arguments, watch)
        expressions += [LOGARITHMS[0].written(formula) for formula in _written(deep, *inner)]
        if least_error(deep) < EXACT**2:
            return expressions
    if _errors_are_absolute(products[:1], X, y, symbols):
        expressions += _products(columns, y, _equal(y), arguments, watch)[0]
    return expressions


def short_formulas(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol], watch: Watch
) -> list[sympy.Expr]:
    """A constant, products of powers, one more step around them, and sums of two terms."""
    usable, columns = _usable(X, y), variables(X, symbols)
    if not usable.any():
        # columns of zeros and ones have no logarithm; they are terms of sums
        return _sums(X, y, columns, watch)
    X, y = X[usable], y[usable]
    columns = variables(X, symbols)
    atoms = atoms_of(columns)
    relative = Weighted.of(y, np.abs(y))
    pairs = best_sums(relative, atoms, 2)[:4]
    if not watch.over and all(each.mean_square > EXACT**2 for each in pairs):
        # waves and screened forces in space fall as 1/r and 1/r²
        scaled = scaled_terms(columns, (EXPONENTIAL, *WAVES), (1.0, -1.0, -2.0))
        pairs += sorted(best_sums(relative, atoms, 2, scaled), key=error)[:4]
    bare = [f for w in (np.ones(len(y)), _equal(y)) for f in _products(columns, y, w, (), watch)[0]]
    around = _around(X, y, symbols, watch)
    return [sympy.Float(np.median(y)), *around, *(each.expression() for each in pairs), *bare]


def _usable(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(row,) whether all have a logarithm; no row if too few have."""
    usable = np.all(X != 0, axis=1) & (y != 0)
    return usable if usable.sum() >= LOGARITHMIC * len(y) else np.zeros(len(y), dtype=bool)


def _equal(y: np.ndarray) -> np.ndarray:
    """(row,) weights of logarithms for equal errors, not relative ones."""
    return np.abs(y) / np.sqrt(np.mean(y**2))


def _floored(size: np.ndarray) -> np.ndarray:
    """(row,) errors in proportion to the target's size, of small targets those of larger ones."""
    return np.maximum(size, 1e-3 * np.max(size))


def _explains(formula: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> bool:
    """Whether a formula has every target's sign, and relative errors without structure; or equal
    ones, where noise alone may turn a target's sign.

    Its own sign must come from variables alone: where a sum in it changes sign, its logarithm is
    blind to what is missing.
    """
    given, size = evaluate(formula, names, X), evaluate(formula, names, np.abs(X))
    one_sign = np.all(size > 0) or np.all(size < 0)
    with_variables = one_sign and np.allclose(np.abs(given), np.abs(size), rtol=EXACT, atol=0)
    if not with_variables:
        return False
    if np.all(given * y > 0):
        formula, y = sympy.Abs(formula), np.abs(y)
    return explains_all(formula, X, y, names)


def _lines(y: np.ndarray, columns: Sequence[Column]) -> list[sympy.Expr]:
    """Straight lines, for equal absolute and equal relative errors."""
    sigmas = np.ones(len(y)), _floored(np.abs(y))
    return [each.expression() for sigma in sigmas for each in straight_lines(y, sigma, columns)]


def _errors_are_absolute(
    best: Sequence[sympy.Expr], X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> bool:
    """Whether only small targets have large relative errors."""
    if not best:
        return True
    errors = np.abs(evaluate(best[0], [s.name for s in symbols], X) / y - 1)
    small = np.abs(y) < np.median(np.abs(y))
    low, high = (float(np.nanmedian(errors[part])) for part in (small, ~small))
    return low > UNEQUAL * high


def _arguments(columns: Sequence[Column], watch: Watch) -> list[Argument]:
    """Of functions: all kinds, or those for which there was time."""
    arguments: list[Argument] = []
    if len(columns) > MOST_VARIABLES:
        return arguments
    others = composites(columns)
    for made in (
        lambda: monomials(columns), lambda: combined(columns, others),
        lambda: distances(columns), lambda: plain_factors(columns, others),
    ):  # fmt: skip
        if not watch.over:
            arguments += made()
    return arguments


def _target(columns: Sequence[Column], y: np.ndarray, weights: np.ndarray) -> Target:
    logarithms = (np.log(np.abs(column.values)) for column in columns)
    return Target(y, np.column_stack([np.ones(len(y)), *logarithms]), weights)


def _products(
    columns: Sequence[Column], y: np.ndarray, weights: np.ndarray,
    arguments: Sequence[Argument], watch: Watch, most_factors: int = 2,
) -> tuple[list[sympy.Expr], float]:  # fmt: skip
    """Formulas, shortest description first, and the least mean square."""
    target = _target(columns, y, weights)
    products = search_products(target, arguments, watch, most_factors)
    best = least_error(products)
    return _written(products, target, columns, SIMPLIFIED if best < POOR else FEW_SIMPLIFIED), best


def _written(
    products: Sequence[Product], target: Target, columns: Sequence, count: int = SIMPLIFIED
) -> list[sympy.Expr]:
    """Formulas of so many products, shortest description first; of each also simpler ones."""

    def length(product: Product) -> float:
        return description(product, len(target.y))

    rough = [*products, *set_roughly(products, target)]
    short = best_of(rough, count, length)
    short += [other for product in short for other in set_to_one(product, target)]
    simpler = sorted(simplified(sorted(short, key=length)[: 2 * count], target), key=length)
    bare = simplified([product for product in products if not product.factors], target)
    formulas = (expression_of(product, target, columns) for product in (*simpler, *bare))
    return [formula for formula in formulas if formula is not None]


def _around(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol], watch: Watch
) -> list[sympy.Expr]:
    """Monomials and, while there is time, plain factors with one more step around them:
    sqrt(1 + m), acos(m)."""
    return [
        outer.written(formula)
        for outer in AROUND_PRODUCTS
        if (inner := _inner(outer, X, y, symbols)) is not None
        for formula in _written(_plain(*inner, outer.unit, watch), *inner)
    ]


def _inner(
    outer: Outer, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> tuple[Target, list[Column]] | None:
    """The inside of a step as its own target; None where it has no sign."""
    if not outer.allowed(y):
        return None
    z = outer.forward(y)
    # where z is smaller than the noise it may have either sign
    good = np.isfinite(z) & (z * np.sum(z[np.isfinite(z)]) > 0)
    if good.sum() < OF_ONE_SIGN * len(y):
        return None
    columns = variables(X[good], symbols)
    weights = np.ones(good.sum()) if outer.logarithm else _weights(outer, y[good], z[good])
    return _target(columns, z[good], weights), columns


def _plain(target: Target, columns: Sequence[Column], unit: float, watch: Watch) -> list[Product]:
    """Products of powers, also with a factor without its own constant, if they are near."""
    products = [without_factors(target)]
    few = len(columns) <= MOST_VARIABLES
    if few and products[0].mean_square > EXACT**2 and not watch.over:
        plain = plain_factors(columns, composites(columns, unit))
        products += with_one_factor(products[0], target, plain)[:PLAIN]
    return [product for product in products if product.mean_square < NEARLY]


def _weights(outer: Outer, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Of log|z|, for equal relative errors of y."""
    weights = np.abs(z / (outer.slope(y) * y))
    weights = np.where(np.isfinite(weights), weights, 0.0)
    return weights / max(float(np.sqrt(np.mean(weights**2))), TINY)


def _sums(
    X: np.ndarray, y: np.ndarray, columns: Sequence[Column], watch: Watch
) -> list[sympy.Expr]:
    """Short sums, for equal relative and equal absolute errors."""
    atoms = atoms_of(columns)
    waves = with_waves(atoms, columns)
    scaled = scaled_terms(columns, (EXPONENTIAL, *WAVES))
    formulas: list[Sum] = []
    size = np.abs(y)
    floor = _floored(size)
    # where most targets lie below the floor, few rows would decide
    relative = [size] if np.median(size) < np.min(floor) else []
    for sigma in (*relative, floor, np.full(len(y), np.sqrt(np.mean(y**2)))):
        some = search_sums(y, sigma, waves, watch)
        if not watch.over and least_error(some) > EXACT**2:
            some += best_sums(Weighted.of(y, sigma), atoms, MOST_TERMS, scaled)
        some.sort(key=error)
        for terms in {len(s.atoms) for s in some}:
            formulas += [s for s in some if len(s.atoms) == terms][:SUMS]
        if watch.over or least_error(some) < EXACT**2:
            break
    return [each.expression() for each in formulas]
