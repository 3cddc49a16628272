"""A formula's neighbours: what a search missed, and what a table cannot tell from it.

A search ends with the best of what it proposed. Before a formula is called the law, everything one
edit away is fitted too: another function with the same leading term, one term or factor fewer, an
exponent freed, an extra variable in one place. A better one replaces it and is edited in turn;
those that explain the table as well are kept, and then no single law was found.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from scipy.stats import qmc

from orbits.statistics import TINY
from symreg.fit.refine import (
    CLEARLY_BETTER,
    Law,
    agree_between,
    is_same_law,
    preferred,
    refit_law,
    refitted,
    simplified,
)
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate, feature_symbols, with_floats
from symreg.formulas.precision import FITTED, LAST_DIGITS, NOISELESS
from symreg.formulas.watch import Watch
from symreg.projection.bases import is_angle
from symreg.recovery.evidence import misfit_of
from symreg.search.description import FUNCTION, SYMBOL

EXPLAINED = 0.01
"""Chance of a misfit as smooth as a formula's above which nothing is added to it."""
LONGER = 2 * SYMBOL * (FUNCTION + 1)
"""Twice the nats by which the description of a rival may be longer, errors included: a function and
the number in it. Of right formulas the nearest that part are 20 and more behind, of look-alikes 11
to 17 (log of discovery)."""


@dataclass(frozen=True)
class Parting:
    """Where two formulas part: the next measurement to tell them apart.

    Attributes:
        at: value of every feature.
        difference: relative, there.
        inside: whether it is within the table's ranges.
    """

    at: dict[str, float]
    difference: float
    inside: bool


MOST_EDITS, ROUNDS = 200, 4
"""Of a pool in all (a long formula has more, and gains less from them), and rounds of them."""
CORRECTION, CORRECTED = 0.3, 3
"""Largest small correction of a shorter form, rms, and how many forms and corrections are tried."""


def widened(
    pool: Sequence[Law], samples: Samples, floor: float,
    allowed: Callable[[Sequence[Law]], list[Law]] = list, watch: Watch | None = None,
) -> list[Law]:  # fmt: skip
    """A pool with its best formulas' neighbours, the best of those edited again.

    The selected formula and the next best are edited, as long as an edit was better. Only those
    that are `allowed` join. A watch that ended left some untried: then no law may be called the
    only one.
    """
    watch = watch or Watch()
    n, pool = samples.n_effective, list(pool)
    known = {law.key for law in pool}
    edited: set[str] = set()
    left = MOST_EDITS
    for _ in range(ROUNDS):
        chosen = preferred(pool, n, floor)
        longer = misfit_of(chosen, samples) < EXPLAINED  # else nothing is missing
        ranked = sorted(pool, key=lambda law: law.criterion(n, floor))
        turn = [law for law in (chosen, *ranked[:2]) if law.key not in edited]
        proposed: list[tuple[sympy.Expr, Law]] = []
        for law in turn[:2]:
            edited.add(law.key)
            some = list(itertools.islice(edits(law.expression, samples, longer), left))
            left -= len(some)
            proposed += [(each, law) for each in some]
        proposed += [(each, chosen) for each in corrected(chosen.expression, samples)]
        new: list[Law] = []
        for expression, law in proposed:
            if watch.over:
                break
            made = refitted(with_floats(expression), samples, law.source, law.seed)
            if made is not None and made.key not in known:
                known.add(made.key)
                new.append(made)
        new = sorted(allowed(new), key=lambda law: law.criterion(n, floor))
        new += allowed([simplified(law, samples, floor) for law in new[:3]])
        pool += new
        if not left or watch.ended or preferred(pool, n, floor) is chosen:
            break
    return pool


def shortened(law: Law, samples: Samples) -> Iterator[Law]:
    """The law without one of its terms or factors, fitted again."""
    for node in sympy.preorder_traversal(law.expression):
        for other in _shorter(node):
            expression = law.expression.xreplace({node: other})
            if expression.free_symbols and not expression.has(sympy.nan, sympy.zoo):
                made = refitted(with_floats(expression), samples, law.source, law.seed)
                if made is not None:
                    yield made


def without_lone_part(
    law: Law, shorter: Iterable[Law], samples: Samples, floor: float,
    refit: Callable[[Law, Samples], Law] = refit_law,
) -> Law | None:  # fmt: skip
    """A shorter form that explains all groups but one as well; None if there is none.

    A pole beside one row, or a factor that vanishes there, is for that row alone: without the row
    nothing says how large it is.
    """
    n, (_, group) = samples.n_effective, np.unique(samples.groups, return_inverse=True)
    squares = law.residuals(samples) ** 2
    for short in shorter:
        if short.criterion(n, floor) < law.criterion(n, floor) + CLEARLY_BETTER:
            continue
        gains = np.bincount(group, short.residuals(samples) ** 2 - squares)
        others = samples.rows(group != np.argmax(gains))
        its, ours = (refit(each, others).criterion(n - 1, floor) for each in (short, law))
        if its <= ours:
            return short
    return None


def edits(expression: sympy.Expr, samples: Samples, longer: bool = True) -> Iterator[sympy.Expr]:
    """Every formula one edit away; its numbers need refitting.

    Args:
        expression: to edit.
        samples: with the allowed features.
        longer: whether to try an extra variable or wave in every place too.
    """
    symbols = {s.name: s for s in feature_symbols(samples.names, samples.X)}
    known = {s.name: s for s in expression.free_symbols}
    variables = [known.get(name, s) for name, s in symbols.items()]
    more: list[sympy.Expr] = [v**p for v in variables for p in (1, -1)]
    for v, column in zip(variables, samples.X.T, strict=True):
        if is_angle(column):
            more += [sympy.sin(v), sympy.cos(v)]
    seen: set[sympy.Expr] = {expression}
    nodes = list(sympy.preorder_traversal(expression))
    pairs = (
        (n, o) for n in nodes for o in (*_squared(n), *_swapped(n), *_shorter(n), *_loosened(n))
    )
    middles = {
        v: float(np.median(column))
        for v, column in zip(variables, samples.X.T, strict=True)
        if 0 < np.max(column) <= 4 * np.min(column)  # there another function looks like a power
    }
    like_powers = ((n, o) for n in nodes for o in _like_power(n, middles))
    extended = ((n, o) for n in (nodes if longer else ()) for o in _longer(n, more))
    summed = ((expression, other) for other in _geometric(expression))
    for node, other in itertools.chain(pairs, summed, like_powers, extended):
        try:
            made = expression.xreplace({node: other})
        except (ValueError, ZeroDivisionError):
            continue
        if made not in seen and made.free_symbols:
            seen.add(made)
            yield made


def corrected(expression: sympy.Expr, samples: Samples) -> Iterator[sympy.Expr]:
    """A formula's shorter forms times 1 + c·m or 1/(1 + c·m), m a product of one or two features.

    Where a law is a shorter one with a small correction, a table may hardly tell how that depends
    on the features. The nearest of both are tried.
    """
    nodes = list(sympy.preorder_traversal(expression))
    shorter = {expression.xreplace({n: o}) for n in nodes for o in _shorter(n)} - {expression}
    constants = np.empty(0)
    departing: list[tuple[float, sympy.Expr, np.ndarray]] = []
    for base in sorted(shorter, key=str):
        if not base.free_symbols or base.has(sympy.nan, sympy.zoo):
            continue
        # what is not finite is small
        ratio = samples.y / evaluate(base, samples.names, samples.X, constants)
        middle = float(np.median(ratio))
        departure = ratio / middle - 1
        size = float(np.sqrt(np.mean(departure**2)))
        if size < CORRECTION:
            departing.append((size, middle * base, departure))
    nearest = sorted(departing, key=lambda each: each[0])[:CORRECTED]
    departures = np.array([departure - departure.mean() for *_, departure in nearest])
    slopes: list[tuple[sympy.Expr, np.ndarray, np.ndarray]] = []
    for product, column in _products(expression, samples) if nearest else ():
        centred = column - column.mean()
        size = max(float(centred @ centred), TINY)
        slope = departures @ centred / size
        slopes.append((product, slope, slope**2 * size))
    for k, (_, base, _) in enumerate(nearest):
        for product, slope, _ in sorted(slopes, key=lambda each: -each[2][k])[:CORRECTED]:
            change = sympy.Float(slope[k]) * product
            yield base * (1 + change)
            yield base / (1 - change)


def _products(expression: sympy.Expr, samples: Samples) -> Iterator[tuple[sympy.Expr, np.ndarray]]:
    """Products of powers, -2 to 2, of one or two features, and their values by row.

    One at a time: all of a wide table would fill the memory. There one of two is the formula's own.
    """
    symbols = feature_symbols(samples.names, samples.X)
    powers = [
        [(symbol**p, column ** float(p)) for p in (1, 2, -1, -2)]
        for symbol, column in zip(symbols, samples.X.T, strict=True)
    ]
    own = {symbol.name for symbol in expression.free_symbols}
    wide = len(symbols) > 20  # a thousand features have half a million pairs
    pairs = (
        (a * b, x * y)
        for (first, one), (second, other) in itertools.combinations(
            zip(samples.names, powers, strict=True), 2
        )
        if not wide or first in own or second in own
        for (a, x), (b, y) in itertools.product(one, other)
    )
    for product, column in itertools.chain(*powers, pairs):
        if np.all(np.isfinite(column)):
            yield product, column


def _swapped(node: sympy.Expr) -> Iterator[sympy.Expr]:
    """A function for another that starts alike, a power of a sum for another."""
    odd = (sympy.sin, sympy.tan, sympy.tanh, sympy.asin, sympy.atan)  # f(u) = u + O(u²)
    u = node.args[0] if node.is_Function else node
    if node.func in odd:
        yield from (other(u) for other in odd if other is not node.func)
        yield from (u, u / (1 + u), u / sympy.sqrt(1 + u**2), sympy.log(1 + u), 1 - sympy.exp(-u))
    elif node.func is sympy.cos:  # 1 − u²/2 + O(u⁴)
        yield from (1 - u**2 / 2, sympy.exp(-(u**2) / 2), 1 / (1 + u**2 / 2))
    elif node.func is sympy.exp:  # 1 + u + O(u²)
        yield from (1 + u, 1 / (1 - u), (1 + u / 2) ** 2, 1 / (1 - u / 2) ** 2)
    elif node.func is sympy.log:  # u − 1 + O((u − 1)²)
        yield from (u - 1, 1 - 1 / u, sympy.sqrt(u) - 1)
    elif node.is_Pow and node.base.is_Add and node.exp.is_number:
        halves = (sympy.Rational(n, 2) for n in range(1, 5))  # up to two
        yield from (node.base ** (sign * p) for p in halves for sign in (1, -1))
        first, rest = node.base.as_coeff_Add()
        if first:
            yield sympy.exp(node.exp * rest / first)
    elif node.is_Add:
        first, rest = node.as_coeff_Add()
        if first:
            yield sympy.exp(rest / first)


def _squared(node: sympy.Expr) -> Iterator[sympy.Expr]:
    """A quadratic as a square, as x + 2·b + b²/x: among noise its two roots fall apart."""
    for symbol in sorted(node.free_symbols, key=str) if node.is_Add else ():
        by_power: dict[sympy.Expr, sympy.Expr] = {}
        for term in node.args:
            factor, power = term.as_coeff_exponent(symbol)
            by_power[power] = by_power.get(power, 0) + factor
        if len(by_power) == 3 and not any(factor.has(symbol) for factor in by_power.values()):
            low, middle, top = sorted(by_power)
            if top - middle == middle - low:
                half = by_power[middle] / (2 * by_power[top])
                yield by_power[top] * symbol**low * (symbol ** (middle - low) + half) ** 2


def _geometric(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    """Two terms, a + b, as the beginning of the series of a/(1 - b/a): T/v + b·T/v², T/(v - b)."""
    terms = sympy.expand_mul(expression).as_ordered_terms()
    # longer sums are series themselves
    for a, b in itertools.permutations(terms, 2) if len(terms) <= 4 else ():
        if (b / a).free_symbols:
            yield sympy.Add(*terms) - a - b + a / (1 - sympy.cancel(b / a))


def _like_power(node: sympy.Expr, middles: Mapping[sympy.Symbol, float]) -> Iterator[sympy.Expr]:
    """What has the same slope as a power in the middle of a short range."""
    base, exponent = node.as_base_exp()
    if base in middles and exponent.is_number and not node.is_Function:
        u = exponent * (base / middles[base] - 1)
        yield sympy.exp(u)
        yield 1 + u


def _shorter(node: sympy.Expr) -> Iterator[sympy.Expr]:
    """A sum without one of its terms, a product without one of its factors."""
    if node.is_Add or node.is_Mul:
        for argument in node.args:
            if not (node.is_Mul and argument.is_number):
                yield node.func(*(other for other in node.args if other is not argument))


def _loosened(node: sympy.Expr) -> Iterator[sympy.Expr]:
    """An exponent as a number to fit, from its value and neighbouring ones."""
    if node.is_Pow and node.exp.is_Rational and not node.base.is_number:
        yield node.base ** sympy.Float(float(node.exp) + 0.01)
        yield from (node.base ** (node.exp + step) for step in (-1, 1) if node.exp + step != 0)
    elif node.is_Symbol:
        yield node ** sympy.Float(1.01)


def _longer(node: sympy.Expr, more: Sequence[sympy.Expr]) -> Iterator[sympy.Expr]:
    """A term, or a function's argument, with an extra variable or wave."""
    if node.is_Add:
        for argument in node.args:
            rest = node - argument
            yield from (rest + argument * factor for factor in more)
        yield node + sympy.Float(1e-3)
    elif node.is_Function:
        yield from (node.func(node.args[0] * factor) for factor in more)


def explains_as_well(other: Law, law: Law, n: int) -> bool:
    """Whether a formula fits as well as the law, and its description is at most `LONGER`; or is not
    clearly worse with fewer numbers, errors included.

    Some edit bends like any law if it may be long enough: x·sqrt(1 + x) beside x^1.5. And with more
    numbers than a shorter one a formula may be an approximation.
    """
    if other == law:
        return False
    if len(other.constants) < len(law.constants):
        return other.criterion(n, 0.0) <= law.criterion(n, 0.0) + CLEARLY_BETTER
    fits = other.mean_square <= max(law.mean_square, LAST_DIGITS**2) * np.exp(CLEARLY_BETTER / n)
    return bool(fits and other.criterion(n, 0.0) <= law.criterion(n, 0.0) + LONGER)


def as_good(law: Law, pool: Sequence[Law], samples: Samples) -> dict[Law, Parting]:
    """The formulas in a pool that explain a table as well as the law.

    Equivalent ones, up to ten times the table's ranges, do not count, nor those with the law as a
    special case: with noise every law is one of a longer one.

    Returns:
        Each with the place where it departs from the law.
    """
    ours = law.values(samples)
    partings: dict[Law, Parting] = {}
    for each in sorted(pool, key=lambda other: other.nodes):
        if not explains_as_well(each, law, samples.n_effective):
            continue
        alike = np.allclose(each.values(samples), ours, rtol=FITTED, atol=0.0)
        if alike and agree_between(law, each, samples, FITTED):
            continue
        if any(is_same_law(each, other, samples) for other in (law, *partings)):
            continue
        if len(each.constants) < len(law.constants) and is_same_law(law, each, samples):
            continue  # the law with a simple number, and no other
        if (place := parting(law, each, samples)) is not None:
            partings[each] = place
    return partings


def parting(law: Law, other: Law, samples: Samples) -> Parting | None:
    """Where two formulas part by ten times the table's errors, as near its ranges as can be.

    Returns:
        None if they do not within ten times the ranges.
    """
    low, high = samples.X.min(axis=0), samples.X.max(axis=0)
    # a power of two, for Sobol points
    unit = qmc.Sobol(len(low), seed=0).random(2048)
    # half of the targets may be zero
    usual = float(np.median(np.abs(samples.y)) or np.sqrt(np.mean(samples.y**2)))
    # where both are nearly zero they do not part
    least = 0.1 * usual
    error = max(float(np.sqrt(law.mean_square)), NOISELESS)
    if samples.deviations is not None:
        error *= float(np.median(samples.deviations)) / usual
    # as near the ranges as can be
    for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 10.0):
        positive = low > 0
        ends = np.where(positive, np.log(low), low), np.where(positive, np.log(high), high)
        room = np.where(positive, np.log(factor), (high - low) * (factor - 1) / 2)
        X = ends[0] - room + unit * (ends[1] - ends[0] + 2 * room)
        X = np.where(positive, np.exp(X), X)
        ours, its = (evaluate(f.form, samples.names, X, f.constants) for f in (law, other))
        size = np.maximum(np.maximum(np.abs(ours), np.abs(its)), least)
        difference = np.abs(ours - its) / size
        difference = np.where(np.isfinite(difference), difference, 0.0)
        place = int(np.argmax(difference))
        if difference[place] > min(10 * error, 0.5):
            at = {name: float(f"{v:.3g}") for name, v in zip(samples.names, X[place], strict=True)}
            return Parting(at, float(difference[place]), factor == 1.0)
    return None
