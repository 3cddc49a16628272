"""Products: y = C · ∏ x^p · g1(s1 h1)^q1 · g2(s2 h2)^q2, by projection in logarithms.

In log|y| the monomial part is one linear subspace. It is projected out once; then every candidate
factor is a residual vector, and the best of a million of them is one matrix product away. A second
factor, or a second term inside a factor 1 + u, is the same step again from the best dozen starts.
Only the inner constants s are polished (variable projection: everything else is linear inside).

Source: Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for variable projection.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy
from scipy.optimize import least_squares

from orbits.command.watch import Watch
from symreg.projection.bases import Argument
from symreg.projection.shapes import BINOMIAL, EXPONENTIAL, IDENTITY, Shape

CHUNK = 20_000
"""Columns projected at a time."""
SCREENED_ROWS = 150
"""About so many rows rank candidates."""
MOST_COLUMNS = 300_000
"""Columns of a dictionary; arguments with large exponents are left out beyond."""
LEAST_NOVELTY = 1e-9
"""Part of a column's mean square that the monomials must leave over for it to count."""
KEPT = 120
STARTS = (14, 60)
"""Fewest and most starts of a second step."""
STEEPEST = 20.0
"""Largest exponent: (1 + u/n)^n with a large n is an exponential in disguise."""
LOOKED_ELSEWHERE = 8.0
"""Nats that the best of many thousand alike columns takes off noise."""
NESTED = 8
"""Starts whose function is tried inside a second factor."""
PAIRS = 3_000_000
"""Columns times starts that a second step may take."""
POLISHED = 60
STEPS = 15
"""Of a polish; the best products are polished again."""
ZOOMS = 4
"""Times that the grid about a scale is drawn four times closer."""
EXACT = 3e-13
"""Relative error of a fit to exact data: rounding of float64 times the conditioning."""
LARGEST = 9.0
"""Size of an argument that holds a function."""
SIMPLE = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""Inner constants that cost no more than an exponent."""
NEARLY = 0.3
MOST_PAIRED = 6000
"""Columns of which all pairs are tried."""
PAIRED_ROWS = 400
WORST = 1e6


@dataclass(frozen=True)
class Factor:
    """A function of a sum of scaled arguments; nearly always of one."""

    shape: Shape
    terms: tuple[tuple[float, Argument], ...]

    def values(self) -> np.ndarray:
        """(row,) g(u)."""
        with np.errstate(all="ignore"):
            return self.shape.value(np.sum([s * h.values for s, h in self.terms], axis=0))

    def logarithm(self) -> np.ndarray:
        """(row,) log|g(u)|."""
        if self.shape is EXPONENTIAL:
            return np.sum([s * h.values for s, h in self.terms], axis=0)
        with np.errstate(all="ignore"):
            return np.log(np.abs(self.values()))

    def slope(self) -> np.ndarray:
        """(row,) derivative of log|g(u)| with respect to u."""
        with np.errstate(all="ignore"):
            return self.shape.slope(np.sum([s * h.values for s, h in self.terms], axis=0))

    @property
    def degenerate(self) -> bool:
        """Whether its argument is so small that it is a power, or so large that it is one."""
        reach = min(float(np.max(np.abs(s * h.values))) for s, h in self.terms)
        if self.shape is BINOMIAL:
            least = min(float(np.min(np.abs(s * h.values))) for s, h in self.terms)
            return reach < self.shape.least or least * self.shape.least > 1
        return reach < self.shape.least

    def with_scales(self, scales: Sequence[float]) -> "Factor":
        """The same terms with other constants."""
        pairs = zip(scales, self.terms, strict=True)
        return replace(self, terms=tuple((float(s), h) for s, (_, h) in pairs))


@dataclass(frozen=True)
class Target:
    """What is explained, in logarithms.

    Attributes:
        y: (row,) target, no zeros.
        design: (row, 1 + variable) a column of ones and log|x|.
        weights: (row,) of the logarithms.
    """

    y: np.ndarray
    design: np.ndarray
    weights: np.ndarray

    @property
    def logarithm(self) -> np.ndarray:
        """(row,) weighted log|y|."""
        return self.weights * np.log(np.abs(self.y))

    @property
    def screened(self) -> slice:
        """The rows that candidates are ranked on; what is kept is fitted to all."""
        return slice(0, None, max(1, len(self.y) // SCREENED_ROWS))

    @property
    def wanted(self) -> np.ndarray:
        """(screened row,) weighted log|y|."""
        return self.logarithm[self.screened]

    def weighted(self, values: np.ndarray) -> np.ndarray:
        """(screened row, column) weighted logarithms of the screened rows."""
        return self.weights[self.screened, None] * values


@dataclass(frozen=True)
class Product:
    """A fitted product: factors, exponents of variables and of factors, and its error.

    Attributes:
        factors: functions, polished.
        linear: (1 + variable + factor,) log C, exponents of the variables, of the factors.
        fixed: (1 + variable + factor,) whether that number is set, not fitted.
        kept: for every inner constant whether it is set, not fitted.
        mean_square: of the weighted residuals of the logarithm.
    """

    factors: tuple[Factor, ...]
    linear: np.ndarray
    fixed: np.ndarray
    kept: tuple[bool, ...]
    mean_square: float = field(default=np.inf)

    @property
    def scales(self) -> list[float]:
        """Every inner constant that is a number of its own (an exponential's is its exponent)."""
        return [s for factor in self.factors for s, _ in factor.terms]

    def factors_at(self, scales: Sequence[float]) -> tuple[Factor, ...]:
        """The same factors with other inner constants, in the order of `scales`."""
        rest = iter(scales)
        return tuple(f.with_scales([next(rest) for _ in f.terms]) for f in self.factors)

    @property
    def holds(self) -> frozenset:
        """The sets of variables that its factors hold."""
        return frozenset(frozenset().union(*(_names(h) for _, h in f.terms)) for f in self.factors)

    @property
    def degenerate(self) -> bool:
        """Whether one of its factors is, or an exponent is so large that it makes one of two."""
        steep = np.any(np.abs(self.linear[1:]) > STEEPEST)
        return bool(steep) or any(factor.degenerate for factor in self.factors)

    @property
    def key(self) -> tuple:
        """What two products share that differ in their numbers only."""
        return tuple(
            sorted(
                (f.shape.name, *sorted(str(h.expression) for _, h in f.terms)) for f in self.factors
            )
        )


@dataclass(frozen=True)
class Screened:
    """One column of the dictionary: a shape of an argument at a scale."""

    shape: Shape
    argument: Argument
    scale: float


def factors_of(
    shapes: Sequence[Shape], arguments: Sequence[Argument], rows: slice
) -> Iterator[tuple[list[Screened], np.ndarray]]:
    """The dictionary in chunks: what each column is, and (screened row, column) log|g(s h)|."""
    known: list[Screened] = []
    columns: list[np.ndarray] = []
    for argument in arguments:
        h = argument.values
        for shape in shapes:
            if argument.size > shape.largest or argument.alone != (shape is IDENTITY):
                continue
            scales = shape.scales(h, argument.size)
            if shape is EXPONENTIAL:
                block = h[rows, None] * scales
            else:
                with np.errstate(all="ignore"):
                    block = np.log(np.abs(shape.value(h[rows, None] * scales)))
            good = np.all(np.isfinite(block), axis=0)
            known += [Screened(shape, argument, float(s)) for s in scales[good]]
            columns.append(block[:, good])
        if len(known) >= CHUNK:
            yield known, np.concatenate(columns, axis=1)
            known, columns = [], []
    if known:
        yield known, np.concatenate(columns, axis=1)


def affordable(shapes: Sequence[Shape], arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments with the smallest exponents, as many as make `MOST_COLUMNS` columns."""
    kept, columns = [], 0
    for argument in sorted(arguments, key=lambda h: (not h.alone, h.size)):
        for shape in shapes:
            if argument.size <= shape.largest and argument.alone == (shape is IDENTITY):
                columns += len(shape.scales(argument.values, argument.size))
        if columns > MOST_COLUMNS:
            break
        kept.append(argument)
    return kept


def search_products(
    target: Target, shapes: Sequence[Shape], arguments: Sequence[Argument], watch: Watch
) -> list[Product]:
    """The best products of a monomial and at most two factors, polished.

    Args:
        target: with its design.
        shapes: functions to try.
        arguments: of the functions.
        watch: that ends the search between its steps.
    """
    bare = without_factors(target)
    found = [bare]
    if bare.mean_square < EXACT**2 or not arguments:
        return found
    arguments = affordable(shapes, arguments)

    def done() -> bool:
        return _exact(found) or watch.over

    singles = _next_factors([bare], target, shapes, arguments, watch)
    found += singles
    if done() or not pays(bare, singles, target):
        return found
    columns = sum(len(known) for known, _ in factors_of(shapes, arguments[::20], slice(1))) * 20
    count = int(np.clip(PAIRS // max(columns, 1), *STARTS))
    starts = best_of(singles, count)
    simple = [h for p in best_of(singles, STARTS[1]) for h in _simple(p, target)]
    starts += best_of(simple, STARTS[0])
    grown = _grown(starts, target, arguments)
    found += grown
    if not done():
        found += _pairs(target, shapes, arguments)
    if not done():
        found += _next_factors(starts, target, shapes, arguments, watch)
        deeper = pays(min(singles, key=lambda p: p.mean_square), found, target)
        if deeper and not done():
            found += _grown(best_of(grown, STARTS[0]), target, arguments)
        if deeper and not done():
            found += _nested(starts, target, arguments, watch)
    return found


def without_factors(target: Target) -> Product:
    """The best product of powers alone."""
    return polished(_bare(target), target)


def _pairs(target: Target, shapes: Sequence[Shape], arguments: Sequence[Argument]) -> list[Product]:
    """Two factors at once: the closed form over all pairs of the columns of small arguments.

    What leaves little over with its partner can leave much over alone, as sin x in sin x / sin y.
    """
    bare = _bare(target)
    basis = _orthonormal(target, bare)
    want = target.wanted - basis @ (basis.T @ target.wanted)
    known: list[Screened] = []
    blocks = []
    for found, block in factors_of(shapes, arguments, target.screened):
        thin = [j for j in range(len(found)) if j % 3 == 0 or found[j].scale in SIMPLE]
        room = MOST_PAIRED - len(known)
        thin = thin[:room]
        known += [found[j] for j in thin]
        blocks.append(target.weighted(block[:, thin]))
        if len(known) >= MOST_PAIRED:
            break
    columns = np.concatenate(blocks, axis=1)
    norm = np.linalg.norm(columns, axis=0)
    columns = columns - basis @ (basis.T @ columns)
    left = np.linalg.norm(columns, axis=0)
    usable = left > np.sqrt(LEAST_NOVELTY) * norm
    known = [found for found, use in zip(known, usable, strict=True) if use]
    columns = columns[:, usable] / left[usable]
    shared = want @ columns
    best: dict[tuple, tuple[float, int, int]] = {}
    for first in range(0, len(known), PAIRED_ROWS):
        rows = slice(first, first + PAIRED_ROWS)
        cosine = columns[:, rows].T @ columns
        with np.errstate(all="ignore"):
            gain = (
                shared[rows, None] ** 2 + shared**2 - 2 * shared[rows, None] * shared * cosine
            ) / (1 - cosine**2)
        gain = np.where(1 - cosine**2 > 1e-7, gain, 0.0)
        for place in np.argpartition(gain.ravel(), -5 * KEPT)[-5 * KEPT :]:
            i, j = first + place // len(known), place % len(known)
            key = tuple(sorted((id(known[k].argument), known[k].shape.name) for k in (i, j)))
            if key not in best or gain.flat[place] > best[key][0]:
                best[key] = (float(gain.flat[place]), i, j)
    ranked = sorted(best.values(), key=lambda item: -item[0])

    def held(item: tuple[float, int, int]) -> Hashable:
        return frozenset(frozenset(_names(known[k].argument)) for k in item[1:])

    return [
        product
        for _, i, j in spread(ranked, held, POLISHED)
        if not (product := polished(_with(_with(bare, known[i]), known[j]), target)).degenerate
    ]


def _names(argument: Argument) -> frozenset[str]:
    return frozenset(map(str, argument.expression.free_symbols))


def pays(simple: Product, others: Sequence[Product], target: Target) -> bool:
    """Whether the best of others explains more than chance would: another step is worth while."""
    best = min((product.mean_square for product in others), default=np.inf)
    return worth(simple.mean_square, best, len(target.y))


def worth(before: float, after: float, rows: int) -> bool:
    """Whether an error falls by more than the best of a large dictionary takes off noise."""
    gain = 0.5 * rows * (np.log(max(before, 1e-300)) - np.log(max(after, 1e-300)))
    return bool(gain > np.log(rows) + LOOKED_ELSEWHERE)


def _exact(products: Sequence[Product]) -> bool:
    return min(product.mean_square for product in products) < EXACT**2


def _nested(
    starts: Sequence[Product], target: Target, arguments: Sequence[Argument], watch: Watch
) -> list[Product]:
    """A factor 1 + s·g·h in which g is a factor that a start has already."""
    found = []
    starts = sorted(starts, key=lambda p: (not all(p.kept), p.mean_square))
    outer = [p for p in starts if p.factors[0].shape not in (BINOMIAL, EXPONENTIAL, IDENTITY)]
    for start in outer[:NESTED]:
        (factor,) = start.factors
        ((scale, inner),) = factor.terms
        g, form = factor.values(), factor.shape.write(sympy.Float(scale) * inner.expression)
        more = [Argument(g, form, inner.variables, LARGEST)]
        for h in arguments:
            if h.variables <= 2 and h.size <= 2 and not h.alone:
                more.append(Argument(g * h.values, form * h.expression, h.variables + 1, LARGEST))
                more.append(Argument(g / h.values, form / h.expression, h.variables + 1, LARGEST))
        more = [h for h in more if np.all(np.isfinite(h.values))]
        found += _next_factors([start], target, (BINOMIAL,), more, watch)
        if watch.over:
            break
    return found


def _bare(target: Target) -> Product:
    width = target.design.shape[1]
    return Product((), np.zeros(width), np.zeros(width, dtype=bool), ())


def best_of(
    products: Sequence[Product],
    count: int,
    order: Callable[[Product], float] = lambda product: product.mean_square,
) -> list[Product]:
    """The best of each form, spread over the sets of variables that the factors hold."""
    best: dict[tuple, Product] = {}
    for product in sorted(products, key=order):
        best.setdefault(product.key, product)
    return spread(list(best.values()), lambda product: product.holds, count)


def spread(ranked: Sequence[Any], group: Callable[[Any], Hashable], count: int) -> list[Any]:
    """So many of a ranking: two thirds of them the first, a third the first of every group."""
    chosen = list(range(min(len(ranked), (2 * count + 2) // 3)))
    groups: dict[Hashable, list[int]] = {}
    for place, item in enumerate(ranked):
        groups.setdefault(group(item), []).append(place)
    turn = 0
    while len(chosen) < min(count, len(ranked)):
        for places in groups.values():
            if turn < len(places) and places[turn] not in chosen:
                chosen.append(places[turn])
        turn += 1
    return [ranked[place] for place in chosen[:count]]


def _orthonormal(target: Target, product: Product) -> np.ndarray:
    """(screened row, column) basis of what a product explains linearly, its factors with it."""
    basis, _ = np.linalg.qr(_design(product.factors, target)[target.screened])
    return basis


def _next_factors(
    starts: Sequence[Product], target: Target, shapes: Sequence[Shape],
    arguments: Sequence[Argument], watch: Watch,
) -> list[Product]:  # fmt: skip
    """The best further factor of every start: screened, zoomed, polished."""
    bases = [_orthonormal(target, start) for start in starts]
    wanted = [target.wanted - q @ (q.T @ target.wanted) for q in bases]
    best: dict[tuple, tuple[float, int, Screened]] = {}
    for known, block in factors_of(shapes, arguments, target.screened):
        left = _left_over(target.weighted(block), bases, wanted, target.design.shape[1])
        for i, rest in enumerate(left):
            most = min(KEPT, len(rest) - 1)
            for j in np.argpartition(rest, most)[:most]:
                key = (i, known[j].shape.name, id(known[j].argument))
                if key not in best or rest[j] < best[key][0]:
                    best[key] = (float(rest[j]), i, known[j])
        if watch.over:
            break
    ranked = sorted(best.values(), key=lambda item: item[0])
    zoomed = [
        _zoomed(rest, i, found, bases[i], wanted[i], target)
        for rest, i, found in ranked[: KEPT + len(starts)]
    ]
    zoomed.sort(key=lambda item: item[0])
    return [
        product
        for _, i, found in zoomed[: max(POLISHED, len(starts))]
        if not (product := polished(_with(starts[i], found), target)).degenerate
    ]


def _left_over(
    block: np.ndarray, bases: Sequence[np.ndarray], wanted: Sequence[np.ndarray], width: int
) -> np.ndarray:
    """(start, column) sum of squares that each start leaves over with each further column.

    All starts share the monomials, which are the first `width` columns of their bases.
    """
    shared = bases[0][:, :width]
    norm = np.einsum("ij,ij->j", block, block)
    block = block - shared @ (shared.T @ block)
    new = np.einsum("ij,ij->j", block, block)
    rests = []
    with np.errstate(all="ignore"):
        for basis, want in zip(bases, wanted, strict=True):
            own = basis[:, width:]
            size = new - np.sum((own.T @ block) ** 2, axis=0) if own.size else new
            # the square of a difference of nearly equal numbers is rounding
            usable = size > LEAST_NOVELTY * norm
            gain = np.where(usable, (want @ block) ** 2 / np.where(usable, size, 1.0), 0.0)
            rests.append(np.maximum(want @ want - np.where(np.isfinite(gain), gain, 0.0), 0.0))
    return np.array(rests)


def _zoomed(
    rest: float, start: int, found: Screened, basis: np.ndarray, want: np.ndarray, target: Target
) -> tuple[float, int, Screened]:
    """The scale improved on ever closer grids about the best one."""
    if found.shape in (EXPONENTIAL, IDENTITY):
        return rest, start, found
    h, wave = found.argument.values[target.screened], found.shape.name in ("sin", "cos")
    step = 0.2 / float(np.ptp(h)) if wave else 0.35
    for _ in range(ZOOMS):
        steps = np.linspace(-step, step, 9)
        grid = found.scale + steps if wave else found.scale * np.exp(steps)
        with np.errstate(all="ignore"):
            block = np.log(np.abs(found.shape.value(h[:, None] * grid)))
        good = np.all(np.isfinite(block), axis=0)
        block = target.weighted(np.where(good, block, 0.0))
        rests = _left_over(block, [basis], [want], target.design.shape[1])[0]
        best = int(np.argmin(np.where(good, rests, np.inf)))
        if good[best] and rests[best] < rest:
            rest, found = float(rests[best]), replace(found, scale=float(grid[best]))
        step /= 4
    return rest, start, found


def _with(start: Product, found: Screened) -> Product:
    factor = Factor(found.shape, ((found.scale, found.argument),))
    return Product(
        (*start.factors, factor),
        np.append(start.linear, 1.0),
        np.append(start.fixed, False),
        (*start.kept, found.shape in (EXPONENTIAL, IDENTITY)),
    )


def _grown(
    starts: Sequence[Product], target: Target, arguments: Sequence[Argument]
) -> list[Product]:
    """One more term in a factor 1 + u: linear in its constant near zero, so projected as well."""
    ranked: list[tuple[float, Product]] = []
    arguments = [h for h in arguments if not h.alone]
    if not arguments:
        return []
    rows = target.screened
    values = np.column_stack([h.values[rows] for h in arguments])
    for start in starts:
        for place, factor in enumerate(start.factors):
            if not factor.shape.grows:
                continue
            base = factor.values()
            tangents = np.column_stack([h.values / base for _, h in factor.terms])
            basis, _ = np.linalg.qr(
                np.column_stack([_orthonormal(target, start), target.weighted(tangents[rows])])
            )
            want = target.wanted - basis @ (basis.T @ target.wanted)
            block = target.weighted(values / base[rows, None])
            rest = _left_over(block, [basis], [want], basis.shape[1])[0]
            power = start.linear[target.design.shape[1] + place]
            for j in np.argsort(rest)[:6]:
                shared = basis.T @ block[:, j]
                new = block[:, j] - basis @ shared
                slope = float(want @ new / max(new @ new, 1e-300))
                scale = slope / power if power else slope
                # a step that turns the factor's sign is too long: half of what it bears
                reach = np.max(np.abs(scale * arguments[j].values / base))
                scale *= min(1.0, 0.5 / max(reach, 1e-300))
                terms = (*factor.terms, (scale, arguments[j]))
                factors = list(start.factors)
                factors[place] = replace(factor, terms=terms)
                before = sum(len(f.terms) for f in start.factors[: place + 1])
                kept = (*start.kept[:before], False, *start.kept[before:])
                trial = replace(start, factors=tuple(factors), kept=kept)
                ranked.append((float(rest[j]), trial))
    ranked.sort(key=lambda item: item[0])
    grown = (polished(trial, target) for _, trial in ranked[:POLISHED])
    return [product for product in grown if not product.degenerate]


def _simple(product: Product, target: Target) -> list[Product]:
    """The same factor, its constant set to the nearest simple number if that is near."""
    (factor,) = product.factors
    nearest = min(SIMPLE, key=lambda simple: abs(simple - product.scales[0]))
    if abs(nearest - product.scales[0]) > NEARLY * abs(nearest):
        return []
    held = replace(product, factors=(factor.with_scales([nearest]),), kept=(True,))
    return [polished(held, target)]


def polished(product: Product, target: Target, steps: int = STEPS) -> Product:
    """The inner constants by least squares, the linear numbers solved inside."""
    start = np.array(product.scales)
    free = ~np.array(product.kept, dtype=bool) if len(start) else np.zeros(0, dtype=bool)

    def placed(values: np.ndarray) -> tuple[Factor, ...]:
        scales = start.copy()
        scales[free] = start[free] * values
        return product.factors_at(list(scales))

    def residuals(values: np.ndarray) -> np.ndarray:
        solved = _solved(placed(values), product, target)
        return np.full(len(target.y), WORST) if solved is None else solved[1]

    def jacobian(values: np.ndarray) -> np.ndarray:
        return _jacobian(placed(values), product, target)[:, free] * start[free]

    best = np.ones(int(free.sum()))
    if len(best) and len(target.y) > len(best):
        first = residuals(best)
        if np.all(first < WORST):
            found = least_squares(
                residuals, best, jacobian, method="lm", xtol=1e-14, ftol=1e-14, gtol=1e-14,
                max_nfev=steps,
            )  # fmt: skip
            if np.sum(found.fun**2) <= np.sum(first**2):
                best = found.x
    factors = placed(best)
    solved = _solved(factors, product, target)
    if solved is None:
        return product
    return replace(
        product, factors=factors, linear=solved[0], mean_square=float(np.mean(solved[1] ** 2))
    )


def _design(factors: Sequence[Factor], target: Target) -> np.ndarray:
    """(row, column) weighted: one, log|x|, log|g| of every factor."""
    columns = [target.design, *(f.logarithm()[:, None] for f in factors)]
    return target.weights[:, None] * np.concatenate(columns, axis=1)


def _jacobian(factors: Sequence[Factor], product: Product, target: Target) -> np.ndarray:
    """(row, inner constant) of the residuals; Kaufman's form, the basis held still.

    Source: Kaufman, BIT 15, 49 (1975).
    """
    solved = _solved(factors, product, target)
    design = _design(factors, target)
    tangents = -_tangents(factors, product.linear if solved is None else solved[0], target)
    basis, _ = np.linalg.qr(np.where(np.isfinite(design), design, 0.0)[:, ~product.fixed])
    return tangents - basis @ (basis.T @ tangents)


def _tangents(factors: Sequence[Factor], linear: np.ndarray, target: Target) -> np.ndarray:
    """(row, inner constant) derivatives of the weighted logarithm, the linear numbers held."""
    width = target.design.shape[1]
    tangents = np.column_stack(
        [
            linear[width + i] * target.weights * factor.slope() * h.values
            for i, factor in enumerate(factors)
            for _, h in factor.terms
        ]
    )
    return np.where(np.isfinite(tangents), tangents, 0.0)


def cost_of_setting(product: Product, values: np.ndarray, target: Target) -> np.ndarray:
    """(linear number,) by what the mean square grows if that number alone is set to a value.

    The others follow, the inner constants too: exact where they do so linearly.

    Args:
        product: polished.
        values: (linear number,) to set.
        target: it was fitted to.
    """
    free = np.flatnonzero(~product.fixed)
    moved = [place for place, kept in enumerate(product.kept) if not kept]
    columns = _design(product.factors, target)[:, free]
    if moved:
        tangents = _tangents(product.factors, product.linear, target)
        columns = np.column_stack([columns, tangents[:, moved]])
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(columns / size, rcond=1e-10)
    spread = (np.sum(inverse**2, axis=1) / size**2)[: len(free)]
    costs = np.zeros(len(product.linear))
    costs[free] = (product.linear - values)[free] ** 2 / np.maximum(spread, 1e-300)
    return costs / len(target.y)


def _solved(
    factors: Sequence[Factor], product: Product, target: Target
) -> tuple[np.ndarray, np.ndarray] | None:
    """The linear numbers and the residuals; None where a logarithm is not finite."""
    design = _design(factors, target)
    if not np.all(np.isfinite(design)):
        return None
    rest = target.logarithm - design[:, product.fixed] @ product.linear[product.fixed]
    free = ~product.fixed
    linear = product.linear.copy()
    size = np.linalg.norm(design[:, free], axis=0)
    size[size == 0] = 1.0
    solution, *_ = np.linalg.lstsq(design[:, free] / size, rest, rcond=1e-13)
    linear[free] = solution / size
    return linear, rest - design[:, free] @ linear[free]
