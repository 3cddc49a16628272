"""What a force along the line to the centre leaves of a motion, and what that is.

Whatever a free curve of the distance does not explain is sought among parts that have a name: along
the velocity, across it, in fixed directions, towards another centre, and with time (growing, or of
one frequency). All are fitted at once to the weak equations of the path, whose errors are known
(`symreg.recovery.weak_path`), so that size and significance decide. What no name explains is
described by the symmetry that it breaks (`orbits.whole_field`), or as a function of time.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import minimize_scalar
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from orbits.derivatives.methods import truncation
from orbits.estimates import Estimate
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.whole_field import PARTS, field_terms
from symreg.recovery.weak_path import FLOOR, NARROWEST, Path, Vectors, WeakPath

SURE = 1e-4
"""Chance of a part that is not there: with a dozen tried, one clean path in a thousand has one."""
MOST_PARTS = 4
DEGREE = 5
"""Of the curve: quintic pieces of a fifth of a factor e err by 1e-7."""
LEAST_SHARE = 3 * FLOOR
"""Of an acceleration: smaller parts are no more than what curves and sums leave."""
CURVE_ERROR = 1e-5
"""Relative error of an acceleration state by state, apart from its noise."""
NOISE_LIKE = 2.0
"""Mean square of rows, in standard errors, up to which nothing is left."""
AS_GOOD = 6.0
"""Longer descriptions by less are as good: odds of twenty to one."""
MOST_SHARE = 0.7
"""Of an acceleration that a part may have beside a central force."""
MOST_UNNAMED = 0.15
"""Of an acceleration: beyond, the components say more than the distance does."""
MOST_FREQUENCIES = 600
FARTHEST = 0.3
"""Of the typical distance: how far from the origin a centre is looked for."""
ROUNDS = 25
"""Of fits: the pull that grows with time, or has another centre, is that of the last fit."""


@dataclass(frozen=True)
class Kind:
    """A part of a force.

    Attributes:
        name: of it.
        words: what it is, for people.
        powers: of length and time in the unit of its coefficients.
        columns: (row, axis, component) accelerations of unit coefficients, by the motion.
        joins: whether it is a force that a law can stand beside.
    """

    name: str
    words: str
    powers: tuple[float, float]
    columns: Callable[["Motion"], np.ndarray]
    joins: bool = True


@dataclass(frozen=True)
class Motion:
    """A path, and the pull along the line to the centre as the last fit has it."""

    path: Path
    pull: Vectors
    slope: np.ndarray

    @property
    def elapsed(self) -> np.ndarray:
        """(row,) yr since the first state of the table."""
        return self.path.time


def _drag(power: float, of_speed: float = 0.0) -> Callable[[Motion], np.ndarray]:
    def columns(motion: Motion) -> np.ndarray:
        v, r = motion.path.velocity, np.linalg.norm(motion.path.position, axis=1)
        speed = np.linalg.norm(v, axis=1)
        return -(v * (r**power * speed**of_speed)[:, None])[:, :, None]

    return columns


def _across(motion: Motion) -> np.ndarray:
    v = motion.path.velocity
    if v.shape[1] == 2:  # v x e, e out of the plane
        return (v[:, ::-1] * [1, -1])[:, :, None]
    return np.stack([np.cross(v, axis) for axis in np.eye(3)], axis=2)


def _uniform(motion: Motion) -> np.ndarray:
    rows, axes = motion.pull.shape
    return np.tile(np.eye(axes), (rows, 1, 1))


def _broken(name: str) -> Callable[[Motion], np.ndarray]:
    """The terms of a part of the whole field."""

    def columns(motion: Motion) -> np.ndarray:
        path = motion.path
        law: Any = SimpleNamespace(acceleration=lambda position, gm: motion.pull)
        logs = np.log(np.linalg.norm(path.position, axis=1))
        scale = float(logs.mean()), float(logs.std()) or 1.0
        gm = np.ones(len(logs))
        terms, names = field_terms(path.position, path.velocity, gm, law, scale)
        return terms[:, :, [each == name for each in names]]

    return columns


AGAINST = "a force against the velocity"
CENTRE = Kind("centre", "a centre of the force elsewhere than the origin, at", (1, 0),
              lambda motion: -motion.slope)  # fmt: skip
KINDS = (
    Kind("drag", AGAINST, (0, -1), _drag(0)),
    Kind("quadratic drag", AGAINST, (-1, 0), _drag(0, 1)),
    Kind("drag over r", AGAINST, (1, -1), _drag(-1)),
    Kind("drag over r^2", AGAINST, (2, -1), _drag(-2)),
    Kind("magnetic",
         "a part across the velocity, as of a magnetic field or a turning frame (Coriolis)",
         (0, -1), _across),
    Kind("uniform", "a uniform field", (1, -2), _uniform),
    CENTRE,
    Kind("growth", "a strength that changes with time, from its first value by", (0, -1),
         lambda motion: (motion.pull * motion.elapsed[:, None])[:, :, None]),
)  # fmt: skip
BROKEN = tuple(
    Kind(name, f"a part {PARTS[name]}", (0, 0), _broken(name), joins=False)
    for name in ("swirl", "anisotropy", "speed", "heading", "rotation", "bearing")
)


@dataclass(frozen=True)
class Part:
    """A part that is there.

    Attributes:
        kind: which.
        components: its coefficients, au and yr, with intervals.
        share: rms of its acceleration over that of the whole.
        sure: size in standard errors.
        also: other kinds that explain as much.
    """

    kind: Kind
    components: tuple[Estimate, ...]
    share: float
    sure: float
    also: tuple[Kind, ...] = ()


@dataclass(frozen=True)
class Leftovers:
    """What is there beside a force along the line to the centre.

    Attributes:
        parts: that have a name, the largest first.
        acceleration: (row, axis) of those that join the law, of the rows of the table, au/yr^2.
        growth: (row,) central force over that at the first state.
        centre: (axis,) of the central force, au.
        unnamed: rms of what no part explains, over that of the acceleration; 0 if nothing is left.
    """

    parts: tuple[Part, ...]
    acceleration: Vectors
    growth: np.ndarray
    centre: np.ndarray
    unnamed: float

    @property
    def complete(self) -> bool:
        """Whether a law and forces that have a name leave nothing but noise."""
        return not self.unnamed and all(part.kind.joins for part in self.parts)

    @property
    def significant(self) -> bool:
        """Whether there is anything."""
        return bool(self.parts) or self.unnamed > 0

    @property
    def central(self) -> bool:
        """Whether a force along the line to the centre is most of it; else it has no name."""
        return self.unnamed <= MOST_UNNAMED


def path_of(samples: ForceSamples) -> Path | None:
    """The path along which forces were measured; None for forces of any other origin."""
    table, dt = samples.table, samples.attributes.get("dt")
    needed = {"time", "v_x", "orbit"}
    if samples.attributes.get("readout") != "measured" or not dt or not needed <= set(table):
        return None
    if "body" in table or len(samples.attributes.get("bodies") or ()) > 2:
        return None
    position, time = vectors(table), table["time"].to_numpy()
    moved = position
    if "x1" in table:
        moved = table[[f"{axis}1" for axis in axes_of(table)]].to_numpy()
    orbit = table["orbit"].to_numpy()
    cuts = np.flatnonzero((np.diff(orbit) != 0) | (np.abs(np.diff(time) / dt - 1) > 1e-3)) + 1
    ends = [0, *cuts.tolist(), len(table)]
    stretches = [slice(a, b) for a, b in itertools.pairwise(ends) if b - a >= 2 * NARROWEST - 1]
    noise = float(samples.metrics["noise"])
    if starts := samples.attributes.get("starts"):
        time = time + np.array(starts)[orbit] - min(starts)
    coarse = np.zeros_like(moved)
    for rows in stretches:
        coarse[rows] = truncation(moved[rows], float(dt), noise)
    return Path(time, position, moved, vectors(table, "v_"), stretches, float(dt), noise, coarse)


class _Curve:
    """Accelerations along the line to the centre: splines in log r times a power of r."""

    def __init__(self, position: Vectors, acceleration: Vectors) -> None:
        r = np.linalg.norm(position, axis=1)
        self.r, self.unit, logs = r, position / r[:, None], np.log(r)
        size = np.abs(np.sum(acceleration * self.unit, axis=1))
        span, some = float(np.ptp(logs)), size > 0
        fits = span > 1e-9 and some.sum() > 1
        self.power = float(np.polyfit(logs[some], np.log(size[some]), 1)[0]) if fits else 0.0
        pieces = int(np.clip(np.ceil(span / 0.2), 1, min(16, max(1, len(r) // 50))))
        low, high = logs.min() - 1e-9, logs.max() + 1e-9
        inner = np.linspace(low, high, pieces + 1)[1:-1]
        ends = np.ones(DEGREE + 1)
        self.knots = np.concatenate([low * ends, inner, high * ends])
        # where the distance hardly varies, no more than a power of it can be seen
        self.basis = BSpline(self.knots, np.eye(len(self.knots) - DEGREE - 1), DEGREE)
        self.logs = logs

    @property
    def columns(self) -> np.ndarray:
        """(row, axis, spline)."""
        return (
            self.unit[:, :, None] * (self.basis(self.logs) * (self.r**self.power)[:, None])[:, None]
        )

    def pull(self, coefficients: np.ndarray) -> tuple[Vectors, np.ndarray]:
        """The acceleration, and its derivative by the position."""
        spline = BSpline(self.knots, coefficients, DEGREE)
        scale = self.r**self.power
        value = spline(self.logs) * scale
        change = spline.derivative()(self.logs) * scale / self.r + self.power * value / self.r
        along = self.unit[:, :, None] * self.unit[:, None, :]
        across = np.eye(self.unit.shape[1]) - along
        slope = (value / self.r)[:, None, None] * across + change[:, None, None] * along
        return value[:, None] * self.unit, slope


@dataclass(frozen=True)
class _Fit:
    square: float
    solution: np.ndarray
    design: np.ndarray
    residual: np.ndarray
    numbers: int


def _fitted(design: np.ndarray, wanted: np.ndarray) -> _Fit:
    scale = np.linalg.norm(design, axis=0)
    scale[scale == 0] = 1.0
    solution, _, rank, _ = np.linalg.lstsq(design / scale, wanted, rcond=1e-10)
    residual = wanted - design @ (solution / scale)
    return _Fit(float(residual @ residual), solution / scale, design, residual, int(rank))


def _chance(before: _Fit, after: _Fit) -> float:
    """Probability of so much less by chance, errors being the known ones or what is left."""
    more = after.numbers - before.numbers
    free = len(after.residual) - after.numbers
    gain = before.square - after.square
    if more <= 0 or free <= 0 or gain <= 0:
        return 1.0
    if after.square <= free:
        return float(chi2.sf(gain, more))
    return float(f_distribution.sf(gain / more / (after.square / free), more, free))


def _length(fit: _Fit) -> float:
    """Description length, nats times two: errors are no less than the known ones."""
    count = len(fit.residual)
    free = max(count - fit.numbers, 1)
    misfit = fit.square / free
    return count * (np.log(misfit) if misfit > 1 else misfit - 1) + fit.numbers * np.log(count)


class _Search:
    """Fits of a path by the curve and parts."""

    def __init__(
        self, path: Path, acceleration: Vectors, error: Vectors, centre: np.ndarray | float = 0.0
    ) -> None:
        self.centre = centre + np.zeros(path.position.shape[1])
        self.origin: _Search | None = None
        self.reach = float(np.median(np.linalg.norm(path.position, axis=1)))
        self.path, self.acceleration, self.error = path, acceleration, error
        self.size = float(np.sqrt(np.mean(np.sum(acceleration**2, axis=1))))
        self.curve = _Curve(path.position, acceleration)
        flat = self.curve.columns.reshape(acceleration.size, -1)
        start = _fitted(flat, acceleration.ravel()).solution
        self.motion = Motion(path, *self.curve.pull(start))
        self.weak = WeakPath(path, acceleration, self.motion.slope)
        self.curved = self.weak.rows(self.curve.columns)
        self.known: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def columns(self, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Of a part: accelerations and their rows."""
        if kind.name not in self.known:
            values = kind.columns(self.motion)
            self.known[kind.name] = values, self.weak.rows(values)
        return self.known[kind.name]

    def fit(self, kinds: Sequence[Kind], more: Sequence[np.ndarray] = ()) -> _Fit:
        """Curve first, then the parts."""
        rows = [self.curved, *(self.columns(kind)[1] for kind in kinds), *more]
        return _fitted(np.concatenate(rows, axis=1), self.weak.wanted)

    def renew(self, fit: _Fit) -> None:
        """Take the pull of a fit for the parts that are made of it."""
        pull, slope = self.curve.pull(fit.solution[: self.curved.shape[1]])
        if not np.sqrt(np.mean(pull**2)) <= self.size / MOST_SHARE:  # parts that cancel each other
            return
        self.motion = replace(self.motion, pull=pull, slope=slope)
        for name in ("centre", "growth", *(kind.name for kind in BROKEN)):
            self.known.pop(name, None)

    def reweigh(self) -> None:
        """Take the derivative of the last pull for the errors of the rows."""
        self.weak = WeakPath(self.path, self.acceleration, self.motion.slope)
        self.curved = self.weak.rows(self.curve.columns)
        self.known.clear()

    def about(self, shift: np.ndarray) -> "_Search":
        """The same about another centre, so far from this one."""
        path = replace(self.path, position=self.path.position - shift)
        other = _Search(path, self.acceleration, self.error, self.centre + shift)
        other.origin = self.origin or self
        return other

    def without(self, kinds: Sequence[Kind], kind: Kind) -> _Fit:
        """The fit without one of the parts; without another centre it is about the origin."""
        others = [other for other in kinds if other is not kind]
        return (self.origin or self if kind is CENTRE else self).fit(others)

    def split(self, kinds: Sequence[Kind], values: np.ndarray) -> list[np.ndarray]:
        """Numbers of the parts, one array each; those of the curve left out."""
        sizes = [self.curved.shape[1], *(self.columns(kind)[1].shape[1] for kind in kinds)]
        return np.split(values, np.cumsum(sizes)[:-1])[1:]

    def coefficients(self, kinds: Sequence[Kind], fit: _Fit) -> list[np.ndarray]:
        """Of the parts."""
        return self.split(kinds, fit.solution)

    def errors(self, kinds: Sequence[Kind], fit: _Fit) -> list[np.ndarray]:
        """Their standard errors, by the known errors of the rows or what is left of them."""
        size = np.linalg.norm(fit.design, axis=0)
        size[size == 0] = 1.0
        _, values, turned = np.linalg.svd(fit.design / size, full_matrices=False)
        values = np.maximum(values, 1e-10 * values[0])
        scale = max(1.0, fit.square / max(len(fit.residual) - fit.numbers, 1))
        variance = scale * np.sum((turned / values[:, None]) ** 2, axis=0)
        return self.split(kinds, np.sqrt(variance) / size)

    def share(self, kinds: Sequence[Kind], kind: Kind) -> float:
        """Rms acceleration of one of the parts, over that of all."""
        values = self.coefficients(kinds, self.fit(kinds))[list(kinds).index(kind)]
        if kind is CENTRE:
            values = values + self.centre
        acceleration = self.columns(kind)[0] @ values
        return float(np.sqrt(np.mean(np.sum(acceleration**2, axis=1)))) / self.size

    def rest(self, fit: _Fit) -> float:
        """Rms of what curve and parts leave beyond the errors, over that of the acceleration."""
        axes = self.motion.pull.shape[1]
        return max(self.weak.unexplained(fit.residual) * axes**0.5 / self.size, LEAST_SHARE)


def leftovers(samples: ForceSamples) -> Leftovers | None:
    """What is there beside a central force in forces along a path; None where none was measured."""
    path = path_of(samples)
    if path is None or not path.stretches:
        return None
    acceleration, error = vectors(samples.table, "a_"), vectors(samples.table, "sigma_a_")
    ways = [_named(_Search(path, acceleration, error), first) for first in (_of_state, _periodic)]
    # a wave beside a wrong part, or a part beside a wrong wave: the shorter description
    search, named = min(ways, key=lambda way: _length(way[0].fit(way[1])))
    if not _left(search, named):
        return _told(search, named)
    plain = _Search(path, acceleration, error)
    for further in (_of_time, _of_symmetry):
        for beside, among in (([], plain), (named, search)):
            if more := further(among, beside):
                return _told(among, beside + more)
    # beside what is explained by nothing the numbers of a part mean nothing
    return _told(search, named) if _most_of_it(search, named) else _told(plain, [])


def _named(
    search: "_Search", first: Callable[["_Search", Sequence[Kind]], list[Kind]]
) -> tuple["_Search", list[Kind]]:
    """Parts that have a name, those of one sort first, and the search with them settled."""
    kinds = first(search, [])
    search = _settled(search, kinds)
    then = _periodic if first is _of_state else _of_state
    kinds = kinds + then(search, kinds)
    search = _settled(search, kinds)
    kept = _pruned(search, kinds)
    if CENTRE not in kept and search.origin is not None:  # not sure: back to the origin
        search = _settled(search.origin, kept)
        kept = _pruned(search, kept)
    return search, kept


def _of_state(search: "_Search", kinds: Sequence[Kind]) -> list[Kind]:
    return _chosen(search, KINDS, kinds)


def _settled(search: "_Search", kinds: Sequence[Kind]) -> "_Search":
    """The search about the centre of the force, with the pull as the parts leave it."""
    for _ in range(ROUNDS if kinds else 0):
        fit, before = search.fit(kinds), search.motion.pull
        if CENTRE in kinds:
            shift = search.coefficients(kinds, fit)[kinds.index(CENTRE)]
            # a centre so far away is none that the first was near to
            if not np.linalg.norm(search.centre + shift) <= FARTHEST * search.reach:
                return search.origin or search
            search = search.about(shift)
        else:
            search.renew(fit)
        if np.max(np.abs(search.motion.pull - before)) <= 1e-9 * search.size:
            break
    if kinds:
        search.reweigh()
    return search


def _most_of_it(search: "_Search", kinds: Sequence[Kind]) -> bool:
    """Whether parts explain all but a tenth of what the curve leaves."""
    return bool(kinds) and search.fit(kinds).square <= 0.01 * search.fit([]).square


def _of_symmetry(search: "_Search", kinds: Sequence[Kind]) -> list[Kind]:
    more = _chosen(search, BROKEN, kinds)
    return [] if _left(search, [*kinds, *more]) else more


def _chosen(search: _Search, offered: Sequence[Kind], beside: Sequence[Kind] = ()) -> list[Kind]:
    """The kinds that describe the motion shortest; each of them sure."""
    beside = list(beside)
    pairs = [p for p in itertools.combinations(offered, 2) if p[0].words != p[1].words]
    sets: list[tuple[Kind, ...]] = [(), *((kind,) for kind in offered), *pairs]
    best = min(sets, key=lambda kinds: _length(search.fit([*beside, *kinds])))
    while best and len(best) < MOST_PARTS:
        words = {kind.words for kind in best}
        more = [(*best, kind) for kind in offered if kind.words not in words]
        wider = min(more, key=lambda kinds: _length(search.fit([*beside, *kinds])), default=best)
        if _length(search.fit([*beside, *wider])) >= _length(search.fit([*beside, *best])):
            break
        best = wider
    return _pruned(search, list(best), beside)


def _pruned(search: "_Search", kinds: Sequence[Kind], beside: Sequence[Kind] = ()) -> list[Kind]:
    """Those kinds that are sure beside one another."""
    kept = list(kinds)
    while kept:
        doubtful = [kind for kind in kept if not _is_sure(search, [*beside, *kept], kind)]
        if not doubtful:
            break
        kept.remove(min(doubtful, key=lambda kind: search.share([*beside, *kept], kind)))
    return kept


def _is_sure(search: "_Search", kinds: Sequence[Kind], kind: Kind) -> bool:
    """Whether a part is beyond chance, in a number of its own too, and of a size that counts."""
    fit = search.fit(kinds)
    if _chance(search.without(kinds, kind), fit) >= SURE:
        return False
    at = list(kinds).index(kind)
    values = search.coefficients(kinds, fit)[at] + (search.centre if kind is CENTRE else 0)
    values = values / search.errors(kinds, fit)[at]
    # what is larger than the force itself is taken away again by the other parts
    return bool(
        LEAST_SHARE <= search.share(kinds, kind) <= MOST_SHARE and np.max(np.abs(values)) > 3
    )


def _periodic(search: _Search, kinds: Sequence[Kind]) -> list[Kind]:
    """A uniform field of one frequency, if there is one."""
    fit = search.fit(kinds)
    elapsed = search.motion.elapsed
    # from half a turn in all the time to half a bump a turn
    lowest, highest = np.pi / np.ptp(elapsed), np.pi / (search.weak.half_width * search.path.dt)
    # a frequency is known to about 1/T: a third of that apart
    frequencies = np.arange(lowest, highest, lowest / 1.5)[:MOST_FREQUENCIES]
    basis = np.linalg.qr(fit.design)[0]

    def gain(frequency: float) -> float:
        rows = search.weak.rows(_wave(frequency)(search.motion))
        rows = np.linalg.qr(rows - basis @ (basis.T @ rows))[0]
        return float(np.sum((rows.T @ fit.residual) ** 2))

    if not len(frequencies):
        return []
    best = max(frequencies, key=gain)
    fine = minimize_scalar(lambda w: -gain(w), bounds=(best - lowest, best + lowest),
                           method="bounded", options={"xatol": 1e-4 * lowest})  # fmt: skip
    frequency = float(fine.x)
    name = f"periodic({frequency!r})"
    kind = Kind(name, "a uniform field of one frequency", (1, -2), _wave(frequency))
    chance = len(frequencies) * _chance(fit, search.fit([*kinds, kind]))
    shorter = _length(search.fit([*kinds, kind])) < _length(fit)
    sure = chance < SURE and shorter and search.share([*kinds, kind], kind) >= LEAST_SHARE
    return [kind] if sure else []


def _wave(frequency: float) -> Callable[[Motion], np.ndarray]:
    def columns(motion: Motion) -> np.ndarray:
        phase, fixed = frequency * motion.elapsed, _uniform(motion)
        return np.concatenate(
            [fixed * wave(phase)[:, None, None] for wave in (np.cos, np.sin)], axis=2
        )

    return columns


def _splines(count: int, axes: Sequence[int]) -> Callable[[Motion], np.ndarray]:
    """Any function of time along some axes, of so many numbers each."""

    def columns(motion: Motion) -> np.ndarray:
        elapsed = motion.elapsed
        ends, end = np.ones(DEGREE + 1), float(elapsed.max()) * (1 + 1e-12)
        inner = np.linspace(0, end, count - DEGREE + 1)[1:-1]
        knots = np.concatenate([0 * ends, inner, end * ends])
        splines = BSpline.design_matrix(elapsed, knots, DEGREE).toarray()
        fixed = _uniform(motion)[:, :, list(axes)]
        return (fixed[:, :, :, None] * splines[:, None, None, :]).reshape(*fixed.shape[:2], -1)

    return columns


def _left(search: _Search, kinds: Sequence[Kind]) -> bool:
    """Whether more than noise is left: of any size, or as a function of time."""
    fit = search.fit(kinds)
    free = len(fit.residual) - fit.numbers
    if free <= 0:
        return False
    if fit.square > NOISE_LIKE * free:
        return True
    axes = range(search.motion.pull.shape[1])
    count = int(np.clip(free // (4 * len(axes)), DEGREE + 1, 16))
    smooth = Kind("smooth", "", (1, -2), _splines(count, axes))
    return _chance(fit, search.fit([*kinds, smooth])) < SURE / 100


def _of_time(search: "_Search", kinds: Sequence[Kind]) -> list[Kind]:
    """A force of one direction, if what is across it is explained without.

    The direction is the principal axis of what is left; curve and parts are fitted to the other
    components alone, and the axis is taken again, until both agree.
    """
    axes = search.motion.pull.shape[1]
    columns = [search.curve.columns, *(search.columns(kind)[0] for kind in kinds)]
    design, a = np.concatenate(columns, axis=2), search.acceleration
    error = np.hypot(search.error, CURVE_ERROR * np.linalg.norm(a, axis=1)[:, None])
    across, rest = np.eye(axes), a
    for _ in range(ROUNDS):
        whole = np.einsum("ab,nbc->nac", across, design) / error[:, :, None]
        numbers = _fitted(whole.reshape(a.size, -1), ((a @ across) / error).ravel()).solution
        rest = a - design @ numbers
        axis = np.linalg.svd(rest, full_matrices=False)[2][0]
        across = np.eye(axes) - np.outer(axis, axis)
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    if np.mean((rest @ across / error) ** 2) > NOISE_LIKE * (axes - 1) / axes:
        return []
    force = (rest @ axis)[:, None] * axis
    named = f"{'xyz'[int(np.argmax(axis))]}" if axis.max() > 1 - 1e-6 else (
        f"({', '.join(f'{each:.3g}' for each in axis)})"
    )  # fmt: skip
    words = (
        f"a force along {named} that changes with time, and as nothing of the state that was tried"
    )
    if float(np.sqrt(np.mean(force**2) * axes)) > MOST_SHARE * search.size:
        return []
    return [Kind("time", words, (1, -2), lambda _: force[:, :, None], joins=False)]


def _told(search: _Search, kinds: Sequence[Kind]) -> Leftovers:
    """All parts with their numbers."""
    fit, pull = search.fit(kinds), search.motion.pull
    coefficients = search.coefficients(kinds, fit)
    free = max(len(fit.residual) - fit.numbers, 1)
    scale, errors = max(1.0, fit.square / free), search.errors(kinds, fit)
    acceleration, growth, parts = np.zeros_like(pull), np.ones(len(pull)), []
    for kind, values, error in zip(kinds, coefficients, errors, strict=True):
        others = [other for other in kinds if other is not kind]
        without = search.without(kinds, kind)
        numbers = search.centre + values if kind is CENTRE else values
        also = [
            other for other in KINDS
            if other.words == kind.words and other is not kind
            and _length(search.fit([*others, other])) < _length(fit) + AS_GOOD
        ]  # fmt: skip
        parts.append(Part(
            kind, tuple(map(Estimate.of, numbers.tolist(), error.tolist())),
            search.share(kinds, kind), float(np.sqrt(max(without.square - fit.square, 0) / scale)),
            tuple(also),
        ))  # fmt: skip
        if kind.name == "growth":
            growth = 1 + values[0] * search.motion.elapsed
        elif kind is not CENTRE and (kind.joins or kind.name == "time"):
            acceleration = acceleration + search.columns(kind)[0] @ values
    unnamed = search.rest(fit) if _left(search, kinds) else 0.0
    parts.sort(key=lambda part: -part.share)
    return Leftovers(tuple(parts), acceleration, growth, search.centre, unnamed)
