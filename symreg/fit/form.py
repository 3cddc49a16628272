"""A user's formula with its constants fitted: no search, but the right basin.

Constants in which the formula is linear are solved for; the others start from many values, each on
the scale of its neighbours in the formula, and the best starts are polished.

Source: Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for the linear part.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import sympy

from orbits.powers import scaled_columns
from symreg.fit.refine import Fit, Law, fit
from symreg.fit.samples import Samples
from symreg.formulas.expressions import (
    CONSTANT_PREFIX,
    complexity,
    constant_symbol,
    evaluate,
    feature_symbols,
    symbol,
)
from symreg.formulas.reading import read_formula

PLACES = 2048
"""Starts of the nonlinear constants; a power of two, for Sobol points."""
DECADES = 2.0
"""Decades tried below and above a constant's natural scale."""
TIMES = 200.0
"""Largest multiple of that scale tried in equal steps, as frequencies need."""
POLISHED = 16
"""Best starts, which are polished."""
MOST_FLIPPED = 7
"""Constants of which all signs are tried, 2^7 ways."""
EQUAL = 1e-24
"""Mean square of rounding."""
STEPS = 100
"""Of a polish, at most."""
HUGE = 1e100
"""Rows with larger values are left out of a linear fit."""


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
    constants = [constant_symbol(i) for i in range(len(names))]
    linear = _linear(form, constants)
    others = [i for i in range(len(names)) if i not in linear]
    if not others:
        places = np.ones((1, len(names)))
    else:
        scales = np.array([_scale(form, constants[i], samples) for i in others])
        places = np.ones((PLACES, len(names)))
        places[:, others] = scales * _multiples(len(others))
    solved = [_solved(form, place, linear, samples) for place in places]
    with np.errstate(all="ignore"):
        errors = [
            float(np.mean(samples.residuals(evaluate(form, samples.names, samples.X, s)) ** 2))
            for s in solved
        ]
    return [solved[place] for place in np.argsort(errors, kind="stable")[:POLISHED]]


def _multiples(count: int) -> np.ndarray:
    """(place, constant) of the scales: half in equal ratios, half in equal steps, either sign."""
    # scipy.stats takes half a second to load, which every search would pay
    from scipy.stats import qmc

    drawn = 2 * qmc.Sobol(count, seed=0).random(PLACES) - 1
    ratios = np.sign(drawn) * 10 ** (DECADES * (2 * np.abs(drawn) - 1))
    return np.where(np.arange(PLACES)[:, None] % 2 == 0, ratios, TIMES * drawn)


def _linear(form: sympy.Expr, constants: Sequence[sympy.Symbol]) -> list[int]:
    """Indices of constants in which the formula is jointly linear."""
    chosen: list[int] = []
    for i, constant in enumerate(constants):
        slope = sympy.diff(form, constant)
        if not slope.free_symbols & {constants[j] for j in (i, *chosen)}:
            chosen.append(i)
    return chosen


def _scale(form: sympy.Expr, constant: sympy.Symbol, samples: Samples) -> float:
    """Scale where a constant matters: of the other terms, or one over the other factors."""
    for node in sympy.preorder_traversal(form):
        if not (node.is_Add or node.is_Mul):
            continue
        mine = [part for part in node.args if part.has(constant)]
        if len(mine) != 1:
            continue
        base, power = mine[0].as_base_exp()
        if base != constant or not power.is_number:
            continue
        rest = node.func(*(part for part in node.args if not part.has(constant)))
        rest = rest.xreplace(
            {s: sympy.Integer(1) for s in rest.free_symbols if s.name.startswith(CONSTANT_PREFIX)}
        )
        size = float(np.nanmedian(np.abs(evaluate(rest, samples.names, samples.X))))
        if not (np.isfinite(size) and size > 0):
            continue
        return float(size ** ((1 if node.is_Add else -1) / float(power)))
    return 1.0


def _solved(
    form: sympy.Expr, place: np.ndarray, linear: Sequence[int], samples: Samples
) -> np.ndarray:
    """(constant,) with the linear ones solved for, at equal relative errors."""
    if not linear:
        return place
    divided = samples.scale if samples.deviations is None else samples.deviations

    def at(values: dict[int, float]) -> np.ndarray:
        constants = place.copy()
        constants[list(linear)] = 0.0
        for i, value in values.items():
            constants[i] = value
        with np.errstate(all="ignore"):
            return evaluate(form, samples.names, samples.X, constants) / divided

    rest = at({})
    design = np.column_stack([at({i: 1.0}) - rest for i in linear])
    good = (np.abs(rest) < HUGE) & np.all(np.abs(design) < HUGE, axis=1)
    if good.sum() < len(linear):
        return place
    scaled, size = scaled_columns(design[good])
    solution, *_ = np.linalg.lstsq(scaled, (samples.y / divided - rest)[good], rcond=1e-12)
    solved = place.copy()
    solved[list(linear)] = solution / size
    return solved
