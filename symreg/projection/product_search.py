"""The best products of powers with at most two factors, by projection in logarithms.

In log|y| the monomial part is one linear subspace. It is projected out once; every candidate factor
is then a residual vector, and one matrix product finds the best of a million. A second factor, or a
second term inside a factor 1 + u, is the same step again from the best dozen starts.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from orbits.statistics import TINY
from symreg.formulas.precision import EXACT
from symreg.formulas.watch import Watch
from symreg.projection.bases import Argument
from symreg.projection.products import (
    SIMPLE,
    Factor,
    Product,
    Target,
    design_of,
    error,
    least_error,
    polished,
    simple_scale,
)
from symreg.projection.shapes import BINOMIAL, EXPONENTIAL, IDENTITY, SHAPES, Shape
from symreg.search.scan import Scan, State

CHUNK = 20_000
"""Columns projected at a time."""
MOST_COLUMNS = 300_000
"""Columns of a dictionary; beyond it large exponents are left out."""
MOST_KEPT = 20_000_000
"""Numbers in a dictionary that is evaluated once and kept."""
LEAST_NOVELTY = 1e-9
"""Share of a column's mean square that the monomials must leave for it to count."""
KEPT, POLISHED = 120, 60
"""Columns of a chunk that a ranking keeps, and those of all that are polished: grids are coarse, so
that the law's own column is often only among the first few dozen before a polish."""
STARTS = (14, 60)
"""Fewest and most starts of a second step."""
LOOKED_ELSEWHERE = 8.0
"""Nats that the best of many thousand like columns gains from noise."""
NESTED = 8
"""Starts with a function to try inside a second factor."""
PAIRS = 3_000_000
"""Columns times starts allowed in a second step."""
ZOOMS = 4
"""Times that the grid around a scale is refined fourfold."""
LARGEST = 9.0
"""Size of arguments with a function."""
NEARLY = 0.3
"""Relative distance of a scale to a simple number that is tried in its place."""
LEAST_LEFT = 1e-7
"""Share of a column's square that its partner must leave."""
MOST_PAIRED = 6000
"""Columns with all pairs tried."""


class Dictionary:
    """Every shape of every argument at every scale, as columns of logarithms.

    Args:
        shapes: functions to try.
        arguments: of the functions; beyond `MOST_COLUMNS` columns those with the largest exponents
            are left out.
        rows: to evaluate.
    """

    def __init__(self, shapes: Sequence[Shape], arguments: Sequence[Argument], rows: slice):
        self.arguments: list[Argument] = []
        self.columns = 0
        self._parts: list[tuple[Argument, list[tuple[Shape, np.ndarray]]]] = []
        self._rows = rows
        self._kept: list[Chunk] = []
        self._rest = self._made()
        for argument in sorted(arguments, key=_order):
            scales = [
                (shape, shape.scales(argument.values, argument.size))
                for shape in shapes
                if argument.size <= shape.largest and argument.alone == (shape is IDENTITY)
            ]
            self.columns += sum(len(each) for _, each in scales)
            if self.columns > MOST_COLUMNS:
                break
            self.arguments.append(argument)
            self._parts.append((argument, scales))

    def chunks(self) -> Iterator["Chunk"]:
        """All columns, so many at a time, made when asked for; of a small dictionary once."""
        rows = len(self.arguments[0].values[self._rows]) if self.arguments else 0
        if self.columns * rows > MOST_KEPT:
            yield from self._made()
            return
        yield from self._kept
        for chunk in self._rest:
            self._kept.append(chunk)
            yield chunk

    def _made(self) -> Iterator["Chunk"]:
        known: list[tuple[Shape, Argument, np.ndarray]] = []
        blocks: list[np.ndarray] = []
        columns = 0
        for argument, parts in self._parts:
            h = argument.values[self._rows, None]
            for shape, scales in parts:
                exponent = shape is EXPONENTIAL
                block = h * scales if exponent else np.log(np.abs(shape.value(h * scales)))
                good = np.all(np.isfinite(block), axis=0)
                known.append((shape, argument, scales[good]))
                blocks.append(block[:, good])
                columns += int(good.sum())
            if columns >= CHUNK:
                yield Chunk(known, np.concatenate(blocks, axis=1))
                known, blocks, columns = [], [], 0
        if columns:
            yield Chunk(known, np.concatenate(blocks, axis=1))


class Chunk:
    """Columns of a dictionary.

    Args:
        parts: shape, argument and scales, in the order of the columns.
        values: (screened row, column) log|g(s h)|.
    """

    def __init__(self, parts: list[tuple[Shape, Argument, np.ndarray]], values: np.ndarray):
        self._parts, self.values = parts, values
        self._ends = np.cumsum([len(scales) for _, _, scales in parts])
        self.scales = np.concatenate([scales for _, _, scales in parts])

    def __getitem__(self, column: int) -> Factor:
        shape, argument, _ = self._parts[np.searchsorted(self._ends, column, side="right")]
        return Factor(shape, ((float(self.scales[column]), argument),))


def _order(h: Argument) -> tuple[bool, float]:
    """Small exponents first; of one with a difference or a wave, each variable counts one more."""
    return not h.alone, h.size + (h.variables if h.composite else 0)


def search_products(
    target: Target, arguments: Sequence[Argument], watch: Watch, most_factors: int = 2
) -> list[Product]:  # fmt: skip
    """The best products of a monomial with at most two factors, polished.

    Args:
        target: with its design.
        arguments: of the functions.
        watch: may end the search between steps.
        most_factors: one, if a second would explain nothing more.
    """
    bare = without_factors(target)
    products = [bare]
    if bare.mean_square < EXACT**2 or not arguments or watch.over:
        return products
    dictionary = Dictionary(SHAPES, arguments, target.screened)

    def done() -> bool:
        return least_error(products) < EXACT**2 or watch.over

    singles = _next_factors([bare], target, dictionary, watch)
    products += singles
    gained = worth(bare.mean_square, least_error(singles), len(target.y))
    if done() or most_factors == 1 or not gained:
        return products
    # with noise many constants hide a pair that has none
    plain = [h for h in dictionary.arguments if h.alone]
    products += _pairs(target, Dictionary((IDENTITY,), plain, target.screened))
    count = int(np.clip(PAIRS // max(dictionary.columns, 1), *STARTS))
    starts = best_of(singles, count)
    simple = _simple(best_of(singles, STARTS[1]), target)
    starts += best_of(simple, STARTS[0])
    grown = _grown(starts, target, dictionary.arguments)
    products += grown
    if not done():
        products += _pairs(target, dictionary)
    if not done():
        products += _next_factors(starts, target, dictionary, watch)
        deeper = worth(least_error(singles), least_error(products), len(target.y))
        if deeper and not done():
            products += _grown(best_of(grown, STARTS[0]), target, dictionary.arguments)
        if deeper and not done():
            products += _nested(starts, target, dictionary.arguments, watch)
    return products


def without_factors(target: Target) -> Product:
    """The best product of powers alone."""
    return polished([_bare(target)], target)[0]


def with_one_factor(bare: Product, target: Target, arguments: Sequence[Argument]) -> list[Product]:
    """A product of powers times one of the given factors, best first."""
    dictionary = Dictionary((IDENTITY,), arguments, target.screened)
    products = _next_factors([bare], target, dictionary, Watch())
    return sorted(products, key=error)


def _pairs(target: Target, dictionary: Dictionary) -> list[Product]:
    """Two factors at once: the closed form over all pairs of columns with small arguments.

    A factor good with its partner can be poor alone, like sin x in sin x / sin y.
    """
    bare = _bare(target)
    known: list[Factor] = []
    blocks = []
    for chunk in dictionary.chunks():
        # the scales are so near each other that a third of them suffices for pairs
        thirds = np.arange(len(chunk.scales)) % 3 == 0
        thin = np.flatnonzero(thirds | np.isin(chunk.scales, SIMPLE))[: MOST_PAIRED - len(known)]
        known += [chunk[j] for j in thin]
        blocks.append(target.weighted(chunk.values[:, thin]))
        if len(known) >= MOST_PAIRED:
            break
    if not known:
        return []
    columns, basis = np.concatenate(blocks, axis=1).T, design_of((), target)[target.screened]
    scan = Scan(columns, target.wanted, basis, LEAST_LEFT)
    kinds = [(id(each.terms[0][1]), each.shape.name) for each in known]

    def held(pair: State) -> Hashable:
        return frozenset(known[k].holds for k in pair)

    # five for each that is kept: many are of one kind
    ranked = spread(scan.pairs_of_kinds(kinds, 5 * KEPT), held, POLISHED)
    pairs = [_with(_with(bare, known[i]), known[j]) for i, j in ranked]
    return _sound(pairs, target)


def _sound(products: Sequence[Product], target: Target) -> list[Product]:
    """Products polished, without those that have become others."""
    return [product for product in polished(products, target) if not product.degenerate]


def worth(before: float, after: float, rows: int) -> bool:
    """Whether an error falls by more than a large dictionary's best gains from noise."""
    gain = 0.5 * rows * (np.log(max(before, TINY)) - np.log(max(after, TINY)))
    return bool(gain > np.log(rows) + LOOKED_ELSEWHERE)


def _nested(
    starts: Sequence[Product], target: Target, arguments: Sequence[Argument], watch: Watch
) -> list[Product]:
    """A factor 1 + s·g·h with g a factor that a start already has."""
    products = []
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
        dictionary = Dictionary((BINOMIAL,), more, target.screened)
        products += _next_factors([start], target, dictionary, watch)
        if watch.over:
            break
    return products


def _bare(target: Target) -> Product:
    width = target.design.shape[1]
    return Product((), np.zeros(width), np.zeros(width, dtype=bool), ())


def best_of(
    products: Sequence[Product],
    count: int,
    order: Callable[[Product], float] = error,
) -> list[Product]:
    """The best of each form, spread over the sets of variables in the factors."""
    best: dict[tuple, Product] = {}
    for product in sorted(products, key=order):
        best.setdefault(product.key, product)
    return spread(list(best.values()), lambda product: product.holds, count)


def spread(ranked: Sequence[Any], group: Callable[[Any], Hashable], count: int) -> list[Any]:
    """So many of a ranking: two thirds the first, one third the first of every group."""
    chosen = list(range(min(len(ranked), (2 * count + 2) // 3)))  # two thirds, rounded up
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
    """(screened row, column) basis of what a product explains linearly, factors included."""
    basis, _ = np.linalg.qr(design_of(product.factors, target)[target.screened])
    return basis


def _next_factors(
    starts: Sequence[Product], target: Target, dictionary: Dictionary, watch: Watch
) -> list[Product]:
    """Every start's best further factor: screened, zoomed, polished."""
    bases = [_orthonormal(target, start) for start in starts]
    wanted = [target.wanted - q @ (q.T @ target.wanted) for q in bases]
    best: dict[tuple, tuple[float, int, Factor]] = {}
    for chunk in dictionary.chunks():
        left = _left_over(target.weighted(chunk.values), bases, wanted, target.design.shape[1])
        for i, rest in enumerate(left):
            most = min(KEPT, len(rest))
            for j in np.argpartition(rest, most - 1)[:most]:
                factor = chunk[j]
                key = (i, factor.shape.name, id(factor.terms[0][1]))
                if key not in best or rest[j] < best[key][0]:
                    best[key] = (float(rest[j]), i, factor)
        if watch.over:
            break
    ranked = sorted(best.values(), key=lambda item: item[0])
    zoomed = [
        _zoomed(rest, i, factor, bases[i], wanted[i], target)
        for rest, i, factor in ranked[: KEPT + len(starts)]
    ]
    zoomed.sort(key=lambda item: item[0])
    chosen = zoomed[: max(POLISHED, len(starts))]
    return _sound([_with(starts[i], factor) for _, i, factor in chosen], target)


def _left_over(
    block: np.ndarray, bases: Sequence[np.ndarray], wanted: Sequence[np.ndarray], width: int
) -> np.ndarray:
    """(start, column) sum of squares that each start leaves with each further column.

    All starts share the monomials, the first `width` columns of their bases.
    """
    shared = bases[0][:, :width]
    norm = np.einsum("ij,ij->j", block, block)
    block = block - shared @ (shared.T @ block)
    new = np.einsum("ij,ij->j", block, block)
    rests = []
    for basis, want in zip(bases, wanted, strict=True):
        own = basis[:, width:]
        size = new - np.sum((own.T @ block) ** 2, axis=0) if own.size else new
        # the square of a difference of nearly equal numbers is rounding
        usable = size > LEAST_NOVELTY * norm
        gain = np.where(usable, (want @ block) ** 2 / np.where(usable, size, 1.0), 0.0)
        rests.append(np.maximum(want @ want - np.where(np.isfinite(gain), gain, 0.0), 0.0))
    return np.array(rests)


def _zoomed(
    rest: float, start: int, factor: Factor, basis: np.ndarray, want: np.ndarray, target: Target
) -> tuple[float, int, Factor]:
    """The scale improved on ever finer grids around the best one."""
    if factor.shape in (EXPONENTIAL, IDENTITY):
        return rest, start, factor
    ((scale, argument),) = factor.terms
    h, wave = argument.values[target.screened], factor.shape.name in ("sin", "cos")
    # somewhat more than half a step of the grids of waves (`STEPS_PER_RADIAN`) and of the others
    step = 0.2 / float(np.ptp(h)) if wave else 0.35
    for _ in range(ZOOMS):
        steps = np.linspace(-step, step, 9)  # a quarter of a step apart, which is the next step
        grid = scale + steps if wave else scale * np.exp(steps)
        block = np.log(np.abs(factor.shape.value(h[:, None] * grid)))
        good = np.all(np.isfinite(block), axis=0)
        block = target.weighted(np.where(good, block, 0.0))
        rests = _left_over(block, [basis], [want], target.design.shape[1])[0]
        best = int(np.argmin(np.where(good, rests, np.inf)))
        if good[best] and rests[best] < rest:
            rest, scale = float(rests[best]), float(grid[best])
        step /= 4  # as far as the places were apart
    return rest, start, factor.with_scales([scale])


def _with(start: Product, factor: Factor) -> Product:
    return Product(
        (*start.factors, factor),
        np.append(start.linear, 1.0),
        np.append(start.fixed, False),
        (*start.kept, factor.shape in (EXPONENTIAL, IDENTITY)),
    )


def _grown(
    starts: Sequence[Product], target: Target, arguments: Sequence[Argument]
) -> list[Product]:
    """One more term in a factor 1 + u: linear in its constant near zero, so projected too."""
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
            # some: a tangent ranks roughly
            for j in np.argsort(rest)[:6]:
                shared = basis.T @ block[:, j]
                new = block[:, j] - basis @ shared
                slope = float(want @ new / max(new @ new, TINY))
                scale = slope / power if power else slope
                # a step that turns the factor's sign is too long: half of what it bears
                reach = np.max(np.abs(scale * arguments[j].values / base))
                scale *= min(1.0, 0.5 / max(reach, TINY))
                terms = (*factor.terms, (scale, arguments[j]))
                factors = list(start.factors)
                factors[place] = replace(factor, terms=terms)
                before = sum(len(f.terms) for f in start.factors[: place + 1])
                kept = (*start.kept[:before], False, *start.kept[before:])
                trial = replace(start, factors=tuple(factors), kept=kept)
                ranked.append((float(rest[j]), trial))
    ranked.sort(key=lambda item: item[0])
    return _sound([trial for _, trial in ranked[:POLISHED]], target)


def _simple(products: Sequence[Product], target: Target) -> list[Product]:
    """The same factors, with their constants set to simple numbers where these are near."""
    held = []
    for product in products:
        (scale,) = product.scales
        near = simple_scale(scale, NEARLY)
        if near is not None:
            held.append(replace(product, factors=product.factors_at([near]), kept=(True,)))
    return polished(held, target)
