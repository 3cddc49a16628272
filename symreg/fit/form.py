"""A user's formula with its constants fitted: no search, but the right basin.

Constants in which the formula is linear are solved for; the others start from many values, each on
the scale of its neighbours in the formula, and the best starts are polished.

Source: Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for the linear part.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy

from symreg.fit.refine import Fit, Law, fit
from symreg.fit.samples import Samples
from symreg.formulas.expressions import (
    CONSTANT_PREFIX,
    complexity,
    constant_symbol,
    evaluate,
    feature_symbols,
    on_rows,
    symbol,
)
from symreg.formulas.reading import read_formula
from symreg.search.polish import WORST, Projected, least_squares, projected

PLACES = 2048
"""Starts of the nonlinear constants; a power of two, for Sobol points."""
DECADES = 2.0
"""Decades tried below and above a constant's natural scale."""
TIMES = 200.0
"""Largest multiple of that scale tried in equal steps, as frequencies need."""
ROWS = 64
"""Rows that tell where a constant's neighbours lie."""
POLISHED = 16
"""Best starts, which are polished."""
MOST_FLIPPED = 7
"""Constants of which all signs are tried, 2^7 ways."""
EQUAL = 1e-24
"""Mean square of rounding."""
STEPS = 100
"""Of a polish, at most."""
VALUES = 1_000_000
"""Evaluated at once: of many places a block at a time stays in the cache."""


def fit_form(text: str, samples: Samples) -> Law:
    """The formula with fitted constants: names in it that are no feature.

    Raises:
        ValueError: if it is not a formula, or has no feature or no constant.
    """
    form = read_formula(text)
    names = sorted(s.name for s in form.free_symbols if s.name not in samples.names)
    if not names or len(names) == len(form.free_symbols):
        raise ValueError(
            f"--form {text}: name features ({', '.join(samples.names)}) and constants, as in "
            f"a*{samples.names[0]} + b."
        )
    symbols = {s.name: s for s in form.free_symbols}
    form = form.xreplace({symbols[name]: constant_symbol(i) for i, name in enumerate(names)})
    signed = feature_symbols(samples.names, samples.X)
    form = form.xreplace({symbol(s.name): s for s in signed})
    fits = [
        fit(form, list(start), samples, most_steps=STEPS) for start in _starts(form, names, samples)
    ]
    best = min(fits, key=lambda found: found.mean_square)
    return Law(
        form, _plainest(form, best, samples), best.mean_square, best.smooth, complexity(form),
        "form", names=tuple(names),
    )  # fmt: skip


def _plainest(form: sympy.Expr, best: Fit, samples: Samples) -> tuple[float, ...]:
    """Of equivalent numbers, those with the fewest minus signs, and phases within a turn."""

    def same(constants: np.ndarray) -> bool:
        errors = samples.residuals(evaluate(form, samples.names, samples.X, constants))
        return bool(np.mean(errors**2) <= best.mean_square * (1 + 1e-7) + EQUAL)

    numbers = np.array(best.constants)
    few = len(numbers) <= MOST_FLIPPED
    flips = [numbers * s for s in product((1.0, -1.0), repeat=len(numbers))] if few else [numbers]
    others = list(flips)
    # a phase may be whole turns away, and half a turn is a change of sign, too
    for i, angle in product(range(len(numbers)), (0.0, np.pi)):
        for flip in flips:
            turned = flip.copy()
            turned[i] = np.remainder(turned[i] + angle + np.pi, 2 * np.pi) - np.pi
            others.append(turned)
    others.sort(key=lambda c: (int(np.sum(c < 0)), float(np.sum(np.abs(c)))))
    return tuple(map(float, next((other for other in others if same(other)), numbers)))


def _starts(form: sympy.Expr, names: Sequence[str], samples: Samples) -> list[np.ndarray]:
    """(constant,) the best starts, with linear constants solved for."""
    linear = _linear(form, [constant_symbol(i) for i in range(len(names))])
    others = [i for i in range(len(names)) if i not in linear]
    projection = _Projection(form, linear, others, samples)
    places = _places(form, len(names), others, samples)[:, others]
    blocks = np.array_split(places, 1 + len(places) * len(samples.y) // VALUES)
    left = (samples.residuals(projection.at(block)[2]) for block in blocks)
    errors = np.concatenate([np.mean(each**2, axis=1) for each in left])
    best = places[np.argsort(errors, kind="stable")[:POLISHED]]
    if linear:
        best = least_squares(projection.slopes, best, STEPS)
    return list(projection.at(best)[0])


class _Projection:
    """A form at many other numbers, those in which it is linear solved for: at equal relative
    errors, so that exp(0.2·x) in years, whose factor is 1e-174, costs no digits."""

    def __init__(
        self, form: sympy.Expr, linear: Sequence[int], others: Sequence[int], samples: Samples
    ) -> None:
        self._rows, self._linear, self._others = (
            on_rows(form, samples.names, samples.X), list(linear), list(others)
        )  # fmt: skip
        self._y = samples.y
        self._divided = samples.scale if samples.deviations is None else samples.deviations

    def at(self, numbers: np.ndarray) -> tuple[np.ndarray, Projected, np.ndarray, np.ndarray]:
        """Of (model, other) numbers: all constants, the projection, (model, row) values, and
        (model, row, other) slopes in relative errors."""
        constants = np.zeros((len(numbers), len(self._linear) + len(self._others)))
        constants[:, self._others] = numbers
        rest, design = self._sloped(constants, self._linear)
        wanted = (self._y - rest) / self._divided
        good = np.isfinite(wanted) & np.all(np.isfinite(design), axis=2)
        wanted, design = np.where(good, wanted, 0.0), np.where(good[:, :, None], design, 0.0)
        size = np.max(np.abs(design), axis=1)
        size[size == 0] = 1.0
        found = projected(design / size[:, None], wanted)
        constants[:, self._linear] = found.linear / size
        found = found._replace(residuals=np.where(good, found.residuals, WORST))
        values, slopes = self._sloped(constants, self._others)
        return constants, found, values, slopes

    def slopes(self, numbers: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and slopes, as the polish of many takes them."""
        _, found, _, slopes = self.at(numbers)
        return found.residuals, found.slopes(np.where(np.isfinite(slopes), slopes, 0.0))

    def _sloped(self, constants: np.ndarray, by: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """(model, row) values, and their relative slopes by some of the constants."""
        value, slopes = self._rows.at(constants.T[:, :, None])
        shape = len(constants), len(self._y)
        of = np.zeros((*shape, len(by)))
        for place, i in enumerate(by):
            of[:, :, place] = slopes.get(i, 0.0) / self._divided
        return np.broadcast_to(value, shape), of


def _places(form: sympy.Expr, count: int, others: Sequence[int], samples: Samples) -> np.ndarray:
    """(place, constant) with the others where they matter beside their neighbours, the rest one.

    Half of the places go by how large the neighbours are, half by where they lie and how far they
    spread: of years 2000 and 10. Neighbours are placed first.
    """
    if not others:
        return np.ones((1, count))
    # scipy.stats takes half a second to load, which every search would pay
    from scipy.stats import qmc

    drawn = 2 * qmc.Sobol(len(others), seed=0).random(PLACES) - 1
    # a quarter each, as Sobol points one after another, which alone fill the space evenly
    steps, near = (np.arange(PLACES) // (PLACES // share) % 2 == 1 for share in (4, 2))
    rows, places = samples.thinned(ROWS, np.random.default_rng(0)).X, np.ones((PLACES, count))
    waiting = {i: _neighbours(form, constant_symbol(i)) for i in others}

    def at(formula: sympy.Expr) -> np.ndarray:
        value, _ = on_rows(formula, samples.names, rows).at(places.T[:, :, None], False)
        return np.broadcast_to(value, (PLACES, len(rows)))

    for draw in drawn.T:
        later = {constant_symbol(i) for i in waiting}
        ready = (i for i, (*parts, _) in waiting.items()
                 if not any(part.free_symbols & later for part in parts))  # fmt: skip
        place = next(ready, next(iter(waiting)))
        rest, power, is_added = waiting.pop(place)
        values, power = at(rest), at(power)[:, 0]
        spread, size = np.std(values, axis=1), np.median(np.abs(values), axis=1)
        ratios = np.sign(draw) * 10 ** (DECADES * (2 * np.abs(draw) - 1))
        scale = np.where(near & (spread > 0), spread, size)
        numbers = np.where(steps, TIMES * draw, ratios) * scale ** ((1 if is_added else -1) / power)
        if is_added:
            ends = -np.mean(values, axis=1) - spread * np.where(steps, 2 * draw, ratios)
            there = np.where(power % 2 == 1, np.sign(ends), 1) * np.abs(ends) ** (1 / power)
            numbers = np.where(near & (spread > 0), there, numbers)
        places[:, place] = np.where(np.isfinite(numbers) & (numbers != 0), numbers, ratios)
    return places


def _linear(form: sympy.Expr, constants: Sequence[sympy.Symbol]) -> list[int]:
    """Indices of constants in which the formula is jointly linear."""
    chosen: list[int] = []
    for i, constant in enumerate(constants):
        slope = sympy.diff(form, constant)
        if not slope.free_symbols & {constants[j] for j in (i, *chosen)}:
            chosen.append(i)
    return chosen


class _Neighbours(NamedTuple):
    """What a constant to a power is added to, over what stands before it, or multiplied with."""

    rest: sympy.Expr = sympy.Integer(1)
    power: sympy.Expr = sympy.Integer(1)
    is_added: bool = False


def _neighbours(form: sympy.Expr, constant: sympy.Symbol) -> _Neighbours:
    """Of the outermost sum or product that holds the constant but once, and alone."""
    for node in sympy.preorder_traversal(form):
        mine = [part for part in node.args if part.has(constant)]
        if not (node.is_Add or node.is_Mul) or len(mine) != 1:
            continue
        rest = node.func(*(part for part in node.args if part is not mine[0]))
        before, own = mine[0].as_independent(constant, as_Add=False)
        base, power = own.as_base_exp()
        names = {each.name for each in (before * power).free_symbols}
        if base == constant and all(name.startswith(CONSTANT_PREFIX) for name in names):
            return _Neighbours(rest / before, power, bool(node.is_Add))
    return _Neighbours()
