"""Features that depend on one another: what a formula may say with one, it may say with the other.

Of s + i + r = 1, a law of s and i is one of s and r as well, and rows cannot tell which. Linear
dependence is a small singular value of the columns about their means, a product of powers one of
their logarithms; a feature that follows another is smooth where rows are in the order of that one.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np
import sympy

from orbits.printing import in_a_line, share
from symreg.fit.form import fit_form
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol, written
from symreg.formulas.numbers import exact

FOLLOWS = 0.05
"""Rms of what one feature leaves of another, over its standard deviation: of independent rows it is
one, and a table with 5 % of a feature's own can tell the two apart."""
LEAST_ROWS, MOST_FEATURES, MOST_TOLD = 20, 12, 4
"""Rows and features of a table that is looked at, and pairs that may be noted."""
EXACT, NEAR = 1e-3, 2.0
"""What a formula may leave of the scatter of a feature, at least, and beside neighbours."""
FORMS = (
    "a0 + a1*{0}", "a0 + a1*{0}**2", "a1*{0}**a2", "a1*exp(a2*{0})", "a0 + a1*log({0})",
    "a1*tanh(a2*{0})", "a1*sin(a2*{0})", "a1*cos(a2*{0})", "a1*(1 - exp(-a2*{0}))",
)  # fmt: skip
"""Of a substitution, by one feature."""
ROWS, DIGITS = 60, 3
"""Rows and digits of a substitution."""


def dependences(samples: Samples) -> Iterator[str]:
    """What depends on what among the features, one note each, with the substitution."""
    # of a setting that is measured again, the other rows know all
    X, names = np.unique(samples.measured, axis=0), samples.features
    if not 2 <= len(names) <= MOST_FEATURES or len(X) < LEAST_ROWS or not np.std(X, axis=0).all():
        return
    taken = set()
    positive = np.flatnonzero(np.all(X > 0, axis=0))
    sums = [_combined(X, names)]
    sums += [_combined(X[:, positive], [names[i] for i in positive], True)] if positive.size else []
    if line := min((each for each in sums if each), key=lambda each: each[2], default=None):
        taken = {line[0], *(each.name for each in line[1].free_symbols)}
        yield _told(*line)
    ways = [(_left(x, u), i, j) for (i, x), (j, u) in permutations(enumerate(X.T), 2)]
    for left, i, j in sorted(ways)[:MOST_TOLD]:
        if left < FOLLOWS and not {names[i], names[j]} <= taken:
            taken |= {names[i], names[j]}
            way = _substitution(X, names, i, j, NEAR * left) or _substitution(X, names, j, i, EXACT)
            name, own, rest = way or (names[j], None, left)
            yield _told(name, own, rest, names[i])


def _told(name: str, formula: sympy.Expr | None, left: float, other: str = "") -> str:
    what = f"follows {other}" if formula is None else f"is {_short(formula)}"
    if left < EXACT / 10:
        return (
            f"{name} {what} in every row: a formula with that in its place says the same of these "
            "rows, and they cannot tell the two apart"
        )
    return (
        f"{name} {what} to {share(left, 1)} of its scatter: a formula of one may be one of "
        "the other; rows in which they part would tell"
    )


def _short(formula: sympy.Expr) -> str:
    """A formula with numbers of a few digits."""
    near = {f: sympy.sympify(f"{float(f):.{DIGITS}g}") for f in formula.atoms(sympy.Float)}
    return in_a_line(written(formula.xreplace(near)))


Way = tuple[str, sympy.Expr, float]
"""A feature, what it is in terms of others, and the share of its scatter that this leaves."""


def _combined(X: np.ndarray, names: Sequence[str], product: bool = False) -> Way | None:
    """A feature as a sum of others, each with a factor, or as a product of their powers."""
    values = np.log(X) if product else X
    about = (values - values.mean(axis=0)) / values.std(axis=0)
    vector = np.linalg.svd(about, full_matrices=False)[2][-1]
    place = int(np.argmax(np.abs(vector)))
    others = [i for i in range(len(names)) if i != place and abs(vector[i]) > FOLLOWS]
    design = np.column_stack([np.ones(len(X)), values[:, others]])
    factors, *_ = np.linalg.lstsq(design, values[:, place], rcond=None)
    made = np.exp(design @ factors) if product else design @ factors
    left = float(np.std(X[:, place] - made) / np.std(X[:, place]))
    factors[np.abs(factors) < 1e-9 * np.max(np.abs(values[:, place]))] = 0.0
    first, *numbers = map(exact, factors.tolist())
    pairs = [(number, symbol(names[i])) for number, i in zip(numbers, others, strict=True)]
    formula = sympy.Add(first, *(number * each for number, each in pairs))
    if product:
        formula = sympy.Mul(sympy.exp(first), *(each**number for number, each in pairs))
    return (names[place], formula, left) if left <= FOLLOWS else None


def _left(x: np.ndarray, u: np.ndarray) -> float:
    """Rms of what a line between the neighbours in x leaves of u, over its standard deviation."""
    order = np.lexsort((u, x))
    x, u = x[order], u[order]
    step = x[2:] - x[:-2]
    inside = step > 0
    if inside.mean() < 0.5:  # of a few values: groups
        return np.inf
    share = (x[1:-1] - x[:-2])[inside] / step[inside]
    between = u[:-2][inside] * (1 - share) + u[2:][inside] * share
    # neighbours that scatter as much add half of a variance
    return float(np.sqrt(np.mean((u[1:-1][inside] - between) ** 2) / 1.5) / np.std(u))


def _substitution(X: np.ndarray, names: Sequence[str], i: int, j: int, most: float) -> Way | None:
    """The shortest description of a feature j by i among `FORMS`; None if it leaves more."""
    some = np.random.default_rng(0).permutation(len(X))[:ROWS]
    x, u = X[some, i : i + 1], X[some, j]
    size = np.full(len(u), np.sqrt(np.mean(u**2)))
    samples = Samples(x, u, ("x",), np.arange(len(u)), errors=size)
    laws = [fit_form(form.format("x"), samples) for form in FORMS]
    best = min(laws, key=lambda law: law.criterion(len(u), 0.0))
    rest = float(np.std(best.values(samples) - u) / np.std(u))
    own = best.expression.xreplace({symbol("x"): symbol(names[i])})
    return (names[j], own, rest) if rest < max(most, EXACT) else None
