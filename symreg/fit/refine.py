"""Make an engine's formula fit for judgement: refit, prune, snap, score.

The same for every engine: constants merged (`expressions.normal_form`), refitted in float64 on
the samples' residuals, terms pruned and exponents snapped to half-integers where an information
criterion allows it. It knows two things that plain BIC does not: a field read off a model has a
smooth systematic error, so explaining a smooth error below a floor buys nothing; and rows of one
orbit share that error, so the sample size is the number of groups, not rows.

Source: Schwarz, Annals of Statistics 6, 461 (1978) for BIC; the floor and the effective sample
size are this project's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy

from orbits.statistics import TINY
from orbits.time_limit import TooLongError
from symreg.fit.noise import LARGEST, smooth_mean_square
from symreg.fit.samples import LARGE, Samples
from symreg.formulas.expressions import (
    constant_symbol,
    evaluate,
    in_order,
    merged,
    on_rows,
    skeleton,
    substituted,
    with_coefficients,
    with_floats,
)
from symreg.formulas.numbers import exact, simple_near
from symreg.formulas.precision import DOUBLE, LAST_DIGITS
from symreg.formulas.reading import is_readable
from symreg.search.description import SYMBOL, charged, of_errors, of_fitted
from symreg.search.polish import least_squares

EXACT_RATIO = 20.0
"""Data count as exact if a formula with at most two constants fits this far below the floor; the
floor then shrinks to this many times its error."""
CLEARLY_BETTER = 10.0
"""Difference in twice the log-likelihood at which a law explains a table less well: 'very strong'
on the scale of Kass & Raftery, JASA 90, 773 (1995), section 3.2."""
SNAP_DISTANCE = 0.1
"""Exponents farther than this from a half and a third are left alone, and other numbers from a
simple one, relative to their size."""
DENOMINATORS = (1, 2, 3, 4, 5, 10)
"""Of exponents as one writes them: whole numbers, halves, thirds, quarters, and
decimals of one digit. Another, such as 7/11, is what lay nearest among noise."""
UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo, sympy.I)
MOST_CONSTANTS = 7
FAILURES = (ArithmeticError, ValueError, TypeError, RecursionError)
"""What numpy, scipy and sympy raise for a formula whose numbers overflow; an error of linear
algebra is a ValueError."""
LEAST_GROUPS = 5


@dataclass(frozen=True, eq=False)
class Law:
    """A formula with fitted constants and its merit; equal to another of the same form.

    Attributes:
        form: skeleton with free constants `_c0`, `_c1`, ...
        constants: their fitted values.
        mean_square: of the samples' residuals.
        smooth: the part of it smooth in a feature (`symreg.fit.noise.smooth_mean_square`).
        nodes: complexity charged.
        source: the engine, or `named-laws`.
        seed: of the search that found it.
        name: of the law, if it has one.
        parameters: names of the constants of a named law, in order.
        names: of the constants in a user's form.
    """

    form: sympy.Expr
    constants: tuple[float, ...]
    mean_square: float
    smooth: float
    nodes: int
    source: str
    seed: int = 0
    name: str | None = None
    parameters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """The form as text, which identifies the law."""
        return str(self.form)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def expression(self) -> sympy.Expr:
        """The formula with its numbers."""
        return substituted(self.form, self.constants)

    @property
    def constant_names(self) -> tuple[str, ...]:
        """The user's, a named law's behind c, or c1, c2, ... (k1, ... beside a feature c1)."""
        count, taken = len(self.constants), {s.name for s in self.form.free_symbols}
        numbered = (tuple(f"{letter}{i + 1}" for i in range(count)) for letter in "ckab")
        lists = (self.names, ("c", *self.parameters) * bool(self.parameters), *numbered)
        return next(each for each in lists if len(each) == count and not taken & set(each))

    def values(self, samples: Samples) -> np.ndarray:
        """(row,) predictions."""
        return evaluate(self.form, samples.names, samples.X, self.constants)

    def residuals(self, samples: Samples) -> np.ndarray:
        """(row,) of the predictions."""
        return samples.residuals(self.values(samples))

    def criterion(self, n: int, floor: float) -> float:
        """Information criterion; lower is better. Smooth errors below the floor cost nothing.

        An exponent fitted to a law with a smooth error of rms `floor` is off by up to
        `floor * 3.70 / span`, span the range of log r; snapping it back leaves a smooth error of
        at most `LARGEST * floor`, which costs nothing. Few samples cannot support many constants:
        the last term is Hurvich & Tsai's (Biometrika 76, 297, 1989), negligible for many.
        """
        n = max(n, LEAST_GROUPS)
        error = self.error(floor)
        fitted = len(self.constants) + 1
        if n <= fitted + 1:
            return np.inf
        few = 2 * fitted * (fitted + 1) / (n - fitted - 1)
        # a floor is no noise, and says nothing of how well numbers are known
        known = 1.0 if floor else error
        numbers = 2 * len(self.constants) * of_fitted(known, n)
        return 2 * of_errors(error, n, 0.0) + few + numbers + 2 * SYMBOL * self.nodes

    def error(self, floor: float) -> float:
        """Mean square of the residuals, with the smooth error that the floor allows for free."""
        free = (LARGEST * floor) ** 2
        return max(self.mean_square + max(free - self.smooth, 0.0), LAST_DIGITS**2)

    def length(self, n: int) -> float:
        """Description length: twice the nats of its numbers and nodes."""
        numbers = 2 * len(self.constants) * of_fitted(1.0, max(n, LEAST_GROUPS))
        return numbers + 2 * SYMBOL * self.nodes


@dataclass(frozen=True)
class Fit:
    """Law constants, the mean squared residual, and its smooth part."""

    constants: tuple[float, ...]
    mean_square: float
    smooth: float


def fit(form: sympy.Expr, start: Sequence[float], samples: Samples, most_steps: int = 30) -> Fit:
    """Least squares of the free constants, float64; the start itself if no step improves it."""
    best = np.array(start, dtype=float)
    if not np.all(np.isfinite(best)):
        # an engine's constant beyond float64: nothing to fit from
        return Fit(tuple(map(float, start)), LARGE**2, 0.0)
    fitting = _Fitting(form, best, samples)
    errors = fitting.first
    if 0 < len(best) <= len(errors):
        numbers = least_squares(fitting.slopes, best[None, fitting.others], most_steps)[0]
        constants, left, _ = fitting.at(numbers)
        if np.mean(left**2) < np.mean(errors**2):
            best, errors = constants, left
    square, smooth = float(np.mean(errors**2)), smooth_mean_square(errors, samples)
    return Fit(tuple(map(float, best)), square, smooth)


class _Fitting:
    """A form's residuals on samples, and their slopes by its constants.

    A constant in front of all is solved for at every step, as the rest may be large where it is
    small; so a sum in its normal form, c·(x + d·y), is linear. The slopes are those that it leaves.
    """

    def __init__(self, form: sympy.Expr, start: np.ndarray, samples: Samples):
        self._rows, self._start, self._samples = (
            on_rows(form, samples.names, samples.X), start, samples
        )  # fmt: skip
        every, factors = range(len(start)), sympy.Mul.make_args(form)
        self._front = [i for i in every if constant_symbol(i) in factors][:1]
        self.others = [i for i in every if i not in self._front]

    @property
    def first(self) -> np.ndarray:
        """(row,) residuals at the start."""
        return self._samples.residuals(self._values(self._start)[0])

    def slopes(self, numbers: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and slopes of one model, as the polish of many takes them."""
        _, errors, slopes = self.at(numbers[0])
        return errors[None], slopes[None]

    def at(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All constants, (row,) residuals, and their (row, number) slopes by those searched."""
        constants = self._start.copy()
        constants[self.others] = numbers
        value, by_constant = self._values(constants)
        factor = self._samples.factor(value) if self._front else 1.0
        constants[self._front] *= factor
        errors, gain = self._samples.with_gain(factor * value)
        slopes = np.zeros((len(errors), len(self.others)))
        for place, i in enumerate(self.others):
            slopes[:, place] = gain * factor * by_constant.get(i, 0.0)
        slopes[~np.isfinite(slopes)] = 0.0
        if self._front:
            known = np.nan_to_num(gain * factor * value)
            slopes -= np.outer(known, known @ slopes) / max(float(known @ known), TINY)
        return constants, errors, slopes

    def _values(self, constants: np.ndarray) -> tuple[np.ndarray, dict]:
        value, by_constant = self._rows.at(constants)
        return np.broadcast_to(value, len(self._samples.y)), by_constant


def refit_law(law: Law, samples: Samples) -> Law:
    """The same formula with its constants fitted to other samples."""
    return replace(law, **vars(fit(law.form, law.constants, samples)))


def refitted(expression: sympy.Expr, samples: Samples, source: str, seed: int = 0) -> Law | None:
    """The formula with its floats refitted; None if it has too many, is undefined,
    too slow, or larger than any law is, or its fit fails."""
    try:
        form, start = skeleton(merged(expression))
    except TooLongError:
        return None
    return _fitted(form, start, samples, source, seed)


def _fitted(
    form: sympy.Expr, start: Sequence[float], samples: Samples, source: str, seed: int
) -> Law | None:
    """A skeleton with its constants fitted, as `refitted` has it."""
    if len(start) > MOST_CONSTANTS or form.has(*UNDEFINED):
        return None
    try:
        best = fit(form, start, samples)
    except FAILURES:
        return None
    whole = substituted(form, best.constants)
    if not is_readable(whole):
        return None
    nodes = charged(whole)
    return Law(form, **vars(best), nodes=nodes, source=source, seed=seed)


def freed(law: Law, samples: Samples, ones: bool = False) -> Law:
    """The same with a fitted number in front of every term, and for every exact one inside: with
    `ones`, for the 1 of a sum and in front of a function's argument too.

    A search sets numbers to simple ones where that is the shorter description; with noise each of
    them has an interval, and with units a dimension. Usual exponents stay, a named law, and what
    one constant ties: GM in front of a sum is not one for each of its terms.
    """
    if law.name is not None:
        return law
    form = law.form.replace(
        lambda part: part.is_Pow and part.exp.is_Rational and part.exp.q not in DENOMINATORS,
        lambda part: part.base ** sympy.Float(part.exp),
    )
    form, more = skeleton(with_coefficients(form, ones), len(law.constants))
    if not more:
        return law
    form, order = in_order(form)
    start = [(*law.constants, *more)[index] for index in order]
    return _fitted(form, start, samples, law.source, law.seed) or law


def in_any_unit(law: Law, samples: Samples) -> Law:
    """The same with every number free but exponents, as they are in other units of target and
    columns: 1 + x is 1 + 60·y there. Among noise that is what a form costs."""
    if law.name is not None:
        return law

    def with_numbers(total: sympy.Expr) -> sympy.Expr:
        terms = (term.as_coeff_Mul() for term in total.args)
        return sympy.Add(*(sympy.Float(number) * rest for number, rest in terms))

    whole = law.expression.replace(lambda part: part.is_Add, with_numbers)
    try:
        form, start = skeleton(merged(with_coefficients(whole, ones=True)))
    except TooLongError:
        return law
    nodes = charged(substituted(form, start))
    return _fitted(form, start, samples, law.source, law.seed) or replace(
        law, form=form, constants=tuple(start), nodes=nodes
    )


def simplified(law: Law, samples: Samples, floor: float, snap: bool = True) -> Law:
    """Drop terms, and set exponents and numbers to simple ones, while the criterion does not rise.

    Without `snap` only constants are dropped; numbers are set where no floor makes it free.
    """
    n = samples.n_effective
    best = law
    # what leaves rounding has its numbers already
    numbers = snap and not floor and law.mean_square > DOUBLE**2
    improving = True
    while improving and best.constants:
        improving = False
        for form, start in _simpler(best, snap, numbers):
            if len(start) and not np.all(np.isfinite(start)):
                continue
            try:
                trial_form, trial_start = skeleton(merged(substituted(form, start)))
            except TooLongError:
                continue
            if len(trial_start) >= len(best.constants) or trial_form.has(*UNDEFINED):
                continue
            try:
                refit = fit(trial_form, trial_start, samples)
            except FAILURES:
                continue
            nodes = charged(substituted(trial_form, refit.constants))
            trial = replace(best, form=trial_form, nodes=nodes, **vars(refit))
            if trial.criterion(n, floor) <= best.criterion(n, floor):
                best, improving = trial, True
                break
    return best


def _simpler(law: Law, snap: bool, numbers: bool) -> Iterable[tuple[sympy.Expr, list[float]]]:
    """Skeletons with one constant fewer: a number snapped, a term or factor dropped."""
    exponents = _exponents(law.form)
    for index, value in enumerate(law.constants):
        here = constant_symbol(index)
        targets: list[sympy.Expr] = []
        if here in exponents:
            if snap:
                # laws have thirds up to 5/3: a 13/3 is what lay nearest
                ways = (2, 3) if abs(value) < 2 else (2,)
                parts = {sympy.Rational(round(part * value), part): None for part in ways}
                targets += [n for n in parts if abs(float(n) - value) <= SNAP_DISTANCE]
        elif index or len(law.constants) == 1 or not law.form.is_Mul:
            targets.append(sympy.Integer(0))
        if numbers and here not in exponents:
            near = [n for n in simple_near(value) if abs(n - value) <= SNAP_DISTANCE * abs(value)]
            targets += map(exact, near[:1])
        for target in targets:
            form = law.form.xreplace({here: target})
            if form.has(*UNDEFINED) or form == 0:
                continue
            kept = [i for i in range(len(law.constants)) if i != index]
            renumbered = form.xreplace(
                {constant_symbol(i): constant_symbol(j) for j, i in enumerate(kept)}
            )
            yield renumbered, [law.constants[i] for i in kept]


def _exponents(form: sympy.Expr) -> set[sympy.Expr]:
    """Free constants that only form the exponent of a power."""
    return {power.exp for power in form.atoms(sympy.Pow) if power.exp.is_Symbol}


def effective_floor(laws: Iterable[Law], floor: float) -> float:
    """The error floor, lowered if the data prove to be exact."""
    errors = [np.sqrt(law.mean_square) for law in laws if len(law.constants) <= 2]
    best = min(errors, default=floor)
    return float(min(floor, EXACT_RATIO * best))


def preferred(laws: Sequence[Law], n: int, floor: float) -> Law:
    """The law with the shortest description of itself and of what it leaves."""
    return min(laws, key=lambda law: (law.criterion(n, floor), law.length(n), law.key))


def structure(law: Law) -> str:
    """What laws that differ only in constants share."""
    return law.name or law.key


SAME_LAW = 1e-5
"""Relative difference of two formulas that are the same, written differently."""


def is_same_law(law: Law, other: Law, samples: Samples, within: float = np.inf) -> bool:
    """Whether a law equals another one once its numbers are changed.

    So x + 2y and c·y·(x/y + 2) are the same, but not a law with one more term. Numbers are
    constants, free or set, and fitted exponents, which may differ so much.
    """
    if structure(law) == structure(other):
        return True
    form, start = skeleton(merged(with_floats(law.expression)))
    given = other.values(samples)
    size = float(np.sqrt(np.mean(given**2)))
    if not 0 < size < np.inf or len(start) > MOST_CONSTANTS:
        return False
    alike = replace(samples, y=given, weights=None, errors=np.full(len(given), size))
    again = fit(form, start, alike)
    moved = np.abs(np.subtract(again.constants, start))
    exponents = [constant_symbol(i) in _exponents(form) for i in range(len(start))]
    close = again.mean_square < SAME_LAW**2 and np.all(moved[exponents] <= within)
    fitted = replace(law, form=form, constants=again.constants)
    return bool(close and agree_between(fitted, other, samples, SAME_LAW))


def agree_between(law: Law, other: Law, samples: Samples, within: float) -> bool:
    """Whether two formulas that agree in the rows do so between them, relative to their size: many
    go through a few points."""
    ours, its = (
        evaluate(each.form, samples.names, samples.between, each.constants) for each in (law, other)
    )
    # where one is undefined it says nothing
    apart, size = np.abs(ours - its), np.maximum(np.abs(ours), np.abs(its))
    share = (apart / size)[np.isfinite(apart) & (size > 0)]
    return not len(share) or bool(np.median(share) <= within)
