"""From a polished product to a formula: simple exponents, signs, sympy.

A number costs what it takes to write it down (description length): a fitted one half the logarithm
of the number of rows and a few nats, a simple one less, none nothing. A number is set where that
shortens the whole description, so noisy data get simple formulas and exact data keep an exponent of
1.97.

Source: Rissanen, Automatica 14, 465 (1978) for description length; the prices are this project's.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import sympy

from symreg.formulas.numbers import exact
from symreg.formulas.precision import SOLVED
from symreg.projection.bases import Column, exponent_of
from symreg.projection.products import Product, Target, cost_of_setting, polished, simple_scale
from symreg.projection.shapes import BINOMIAL, EXPONENTIAL, IDENTITY
from symreg.search.description import FUNCTION, length

MORE_STEPS = 60
"""Of the polish before numbers are set, four times the usual: it decides what is near a simple one.
"""
LARGEST_LOG = 700.0
"""Largest logarithm of a float64 constant."""
PROMISING = 2
"""Exponents to set in turn."""
NEAR, NEAR_SCALE = 0.35, 0.2
"""Distance beyond which an exponent is not set to a half-integer, and relative one beyond which an
inner constant is not set to a simple number."""


def description(product: Product, rows: int) -> float:
    """Nats to write the residuals and the formula down."""
    powers = product.linear[1:][product.linear[1:] != 0]
    scales = [
        scale
        for scale, without in zip(product.scales, _without_scale(product), strict=True)
        if not without
    ]
    arguments = [h for factor in product.factors for _, h in factor.terms]
    symbols = len(powers) + FUNCTION * len(arguments) + sum(h.variables for h in arguments)
    numbers = (*powers[powers != 1], *scales)
    return length(product.mean_square, rows, symbols, numbers, SOLVED)


def _without_scale(product: Product) -> list[bool]:
    return [f.shape in (EXPONENTIAL, IDENTITY) for f in product.factors for _ in f.terms]


def simplified(products: Sequence[Product], target: Target) -> list[Product]:
    """Exponents and inner constants set to simple numbers wherever that is shorter; products that
    are not finite in every row are left out."""
    rows, best = len(target.y), polished(products, target, MORE_STEPS)
    best = [product for product in best if np.isfinite(product.mean_square)]
    moving = list(range(len(best)))
    while moving:
        before = [description(best[place], rows) for place in moving]
        for trials in (_all_set, _one_set, _with_simple_scales):
            proposed = [(place, trial) for place in moving for trial in trials(best[place], target)]
            made = polished([trial for _, trial in proposed], target)
            for (place, _), trial in zip(proposed, made, strict=True):
                if description(trial, rows) < description(best[place], rows):
                    best[place] = trial
        moving = [
            place
            for place, length in zip(moving, before, strict=True)
            if description(best[place], rows) < length
        ]
    return best


def set_roughly(products: Sequence[Product], target: Target) -> list[Product]:
    """Every exponent set to the nearest half-integer, the constant in front fitted."""
    return polished([_set_to_halves(product, target, np.inf) for product in products], target, 3)


def set_to_one(product: Product, target: Target) -> list[Product]:
    """Factors 1 + u to the power 1 or -1 instead: for small u nearly the same."""
    width = target.design.shape[1]
    places = [i for i, f in enumerate(product.factors) if f.shape is BINOMIAL]
    trials = []
    for power in (1.0, -1.0) if places else ():
        factors = list(product.factors)
        for i in places:
            ratio = product.linear[width + i] / power
            factors[i] = factors[i].with_scales([s * ratio for s, _ in factors[i].terms])
        free = tuple(False if without is False else kept for kept, without in zip(
            product.kept, _without_scale(product), strict=True))  # fmt: skip
        powers = product.with_powers({width + i: power for i in places})
        trials.append(replace(powers, factors=tuple(factors), kept=free))
    trials = polished(trials, target)
    return [trial for trial in trials if np.isfinite(trial.mean_square) and not trial.degenerate]


def _may_be_set(product: Product, target: Target) -> list[int]:
    """Indices of exponents that can be set: all but an exponential's."""
    width = target.design.shape[1]
    exponential = [width + i for i, f in enumerate(product.factors) if f.shape is EXPONENTIAL]
    free = range(1, len(product.linear))
    return [i for i in free if not product.fixed[i] and i not in exponential]


def _set_to_halves(product: Product, target: Target, near: float) -> Product:
    """Every exponent that is so near to a half-integer set to it at once."""
    halves = np.round(2 * product.linear) / 2
    places = _may_be_set(product, target)
    return product.with_powers(
        {i: halves[i] for i in places if abs(product.linear[i] - halves[i]) <= near}
    )


def _all_set(product: Product, target: Target) -> list[Product]:
    """Those that are near to one, if there are any."""
    trial = _set_to_halves(product, target, NEAR)
    return [] if np.array_equal(trial.fixed, product.fixed) else [trial]


def _one_set(product: Product, target: Target) -> list[Product]:
    """One exponent set, each in turn of those that promise the shortest description."""
    halves, rows = np.round(2 * product.linear) / 2, len(target.y)
    costs = product.mean_square + cost_of_setting(product, halves, target)
    promised = [
        (length(float(costs[i]), rows, 0, halves[[i]], SOLVED), i)
        for i in _may_be_set(product, target)
    ]
    return [product.with_powers({i: halves[i]}) for _, i in sorted(promised)[:PROMISING]]


def _with_simple_scales(product: Product, target: Target) -> list[Product]:
    """One inner constant set to 1, 2, 1/2 or their negatives, each in turn."""
    trials = []
    for place, without in enumerate(_without_scale(product)):
        if without or product.kept[place]:
            continue
        scales = product.scales
        near = simple_scale(scales[place], NEAR_SCALE)
        if near is not None:
            scales[place] = near
            kept = tuple(k or i == place for i, k in enumerate(product.kept))
            trials.append(replace(product, factors=product.factors_at(scales), kept=kept))
    return trials


def expression_of(product: Product, target: Target, columns: Sequence[Column]) -> sympy.Expr | None:
    """The formula, its sign taken from the signs of its parts; None if no signs fit.

    Args:
        product: polished, exponents set or not.
        target: it was fitted to.
        columns: the variables, in the order of the design.
    """
    width = target.design.shape[1]
    signs = np.ones(len(target.y))
    written: list[sympy.Expr] = []
    turning: list[tuple[np.ndarray, int]] = []
    parts = [
        (column.values, column.expression, product.linear[1 + i], product.fixed[1 + i])
        for i, column in enumerate(columns)
    ]
    for i, factor in enumerate(product.factors):
        power = product.linear[width + i]
        if factor.shape is EXPONENTIAL:
            inner = sympy.Add(*(sympy.Float(power * s) * h.expression for s, h in factor.terms))
            written.append(sympy.exp(inner))
            continue
        inner = sympy.Add(*(exact(s) * h.expression for s, h in factor.terms))
        form = factor.shape.write(inner)
        parts.append((factor.values(), form, power, product.fixed[width + i]))
    for values, form, power, fixed in parts:
        if fixed and power == 0:
            continue
        exponent = exponent_of(power) if fixed else sympy.Float(power)
        if np.any(values < 0):
            whole = fixed and power % 1 == 0
            if whole and power % 2:
                signs = signs * np.sign(values)
                turning.append((np.sign(values), len(written)))
            elif not whole:
                form = sympy.Abs(form)
        written.append(form**exponent)
    sign = _sign(target.y / np.sum(np.abs(target.y)), signs, turning, written)
    if sign is None:
        return None
    constant = sign * float(np.exp(np.clip(product.linear[0], -LARGEST_LOG, LARGEST_LOG)))
    if abs(product.linear[0]) > LARGEST_LOG or not np.isfinite(constant) or constant == 0:
        return None
    return sympy.Mul(sympy.Float(constant), *written)


MISMATCHES = 0.02
"""Share of the target's size in rows with a sign that noise may flip: those near zero."""


def _sign(
    wanted: np.ndarray, signs: np.ndarray, turning: Sequence[tuple[np.ndarray, int]],
    written: list[sympy.Expr],
) -> float | None:  # fmt: skip
    """1 or -1 if the signs fit, some odd parts written as magnitudes if need be."""
    for count in range(min(len(turning), 3) + 1):
        for chosen in combinations(turning, count):
            trial = signs.copy()
            for flips, _ in chosen:
                trial = trial * flips
            agreement = float(np.sum(trial * wanted))
            if abs(agreement) >= 1 - 2 * MISMATCHES:
                for _, place in chosen:
                    written[place] = sympy.Abs(written[place])
                return float(np.sign(agreement))
    return None
