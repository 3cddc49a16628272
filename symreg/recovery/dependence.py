"""Features that depend on one another: what a formula may say with one, it may say with the other.

Of s + i + r = 1, a law of s and i is one of s and r as well, and rows cannot tell which. Linear
dependence is a small singular value of the columns about their means; a feature that follows
another is smooth where rows are in the order of that one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import sympy

from symreg.fit.form import fit_form
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol, written

FOLLOWS = 0.05
"""Rms of what one feature leaves of another, over its standard deviation: of independent rows it is
one, and a table with 5 % of a feature's own can tell the two apart."""
LEAST_ROWS, MOST_FEATURES, MOST_TOLD = 20, 12, 4
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
    several = 2 <= len(names) <= MOST_FEATURES and np.all(np.std(X, axis=0) > 0)
    if not several or len(X) < LEAST_ROWS:
        return
    taken = set()
    if (line := _linear(X, names)) is not None:
        name, formula, left = line
        taken = {s.name for s in formula.free_symbols} | {name}
        yield _told(name, formula, left)
    ways = [(_left(x, u), i, j) for (i, x), (j, u) in permutations(enumerate(X.T), 2)]
    for left, i, j in sorted(ways)[:MOST_TOLD]:
        if left < FOLLOWS and not {names[i], names[j]} <= taken:
            taken |= {names[i], names[j]}
            formula = _substitution(X[:, i], X[:, j], "x", left)
            own = None if formula is None else formula.xreplace({symbol("x"): symbol(names[i])})
            yield _told(names[j], own, left, names[i])


def _told(name: str, formula: sympy.Expr | None, left: float, other: str = "") -> str:
    what = f"follows {other}" if formula is None else f"is {_short(formula)}"
    if left < EXACT / 10:
        return (
            f"{name} {what} in every row: a formula with that in its place says the same of these "
            "rows, and they cannot tell the two apart"
        )
    return (
        f"{name} {what} to {100 * left:.1g} % of its scatter: a formula of one may be one of the "
        "other; rows in which they part would tell"
    )


def _short(formula: sympy.Expr) -> str:
    """A formula with numbers of a few digits."""
    numbers = {f: float(f"{float(f):.{DIGITS}g}") for f in formula.atoms(sympy.Float)}
    near = {f: sympy.Integer(v) if v.is_integer() else sympy.Float(v) for f, v in numbers.items()}
    return written(formula.xreplace(near)).replace("**", "^").replace("*", "·")


def _linear(X: np.ndarray, names: Sequence[str]) -> tuple[str, sympy.Expr, float] | None:
    """A feature as a sum of others, each with a factor, and the share of its scatter left."""
    about = (X - X.mean(axis=0)) / X.std(axis=0)
    vector = np.linalg.svd(about, full_matrices=False)[2][-1]
    place = int(np.argmax(np.abs(vector)))
    others = [i for i in range(len(names)) if i != place and abs(vector[i]) > FOLLOWS]
    if not others or len(X) <= len(others) + 1:
        return None
    design = np.column_stack([np.ones(len(X)), X[:, others]])
    factors, *_ = np.linalg.lstsq(design, X[:, place], rcond=None)
    left = float(np.std(X[:, place] - design @ factors) / np.std(X[:, place]))
    if left > FOLLOWS:
        return None
    factors[np.abs(factors) < 1e-9 * np.max(np.abs(X[:, place]))] = 0.0
    terms = [sympy.Float(f) * symbol(names[i]) for f, i in zip(factors[1:], others, strict=True)]
    return names[place], sympy.Add(sympy.Float(factors[0]), *terms), left


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


def _substitution(x: np.ndarray, u: np.ndarray, name: str, left: float) -> sympy.Expr | None:
    """The shortest description of u by x among `FORMS`; None if it leaves much more than x does."""
    some = np.random.default_rng(0).permutation(len(x))[:ROWS]
    samples = Samples(x[some, None], u[some], (name,), np.arange(len(some)))
    samples = replace(samples, errors=np.full(len(some), np.sqrt(np.mean(u[some] ** 2))))
    with np.errstate(all="ignore"):
        laws = [fit_form(form.format(name), samples) for form in FORMS]
    best = min(laws, key=lambda law: law.criterion(len(some), 0.0))
    rest = float(np.std(best.values(samples) - samples.y) / np.std(samples.y))
    return best.expression if rest < max(NEAR * left, EXACT) else None
