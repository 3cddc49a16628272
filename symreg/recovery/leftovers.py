"""What a force along the line to the centre leaves of a motion, and what that is.

Whatever a free curve of the distance does not explain is sought among parts that have a name
(`symreg.recovery.parts`): along the velocity, across it, in fixed directions, towards another
centre, and with time. All are fitted at once to the weak equations of the path, whose errors are
known (`symreg.recovery.weak_path`), so that size and significance decide. What no name explains is
described by the symmetry that it breaks (`orbits.whole_field`), or as a function of time.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.interpolate import BSpline
from scipy.optimize import minimize_scalar
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from orbits.estimates import Estimate
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.powers import scaled_columns
from orbits.statistics import TINY
from symreg.recovery.parts import (
    BROKEN,
    CENTRE,
    DEGREE,
    MOVING,
    OF_PATH,
    OF_STATE,
    OF_VELOCITY,
    CentralMotion,
    Kind,
    force_of_time,
    time_splines,
    uniform,
    wave,
)
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.weak_path import (
    CURVE_ERROR,
    FLOOR,
    Path,
    PointRows,
    Vectors,
    WeakPath,
    path_of,
)

SURE = 1e-4
"""Chance of a part that is not there: with a dozen tried, one clean path in a thousand has one."""
RANK = 1e-10
"""Singular value, over the largest, of a combination of numbers left undetermined."""
MOST_PARTS = 4
"""Beside one another."""
LEAST_SHARE = 3 * FLOOR
"""Of an acceleration: smaller parts are no more than what curves and sums leave."""
NOISE_LIKE = 2.0
"""Mean square of rows, in standard errors, up to which nothing is left."""
AS_GOOD = 6.0
"""Longer descriptions by less are as good: odds of twenty to one."""
MOST_SHARE = 0.7
"""Of an acceleration that a part may have beside a central force that leaves nothing alone: what is
larger is taken away again by the curve, as across the velocity on a circle."""
TRIED = 100
"""Sets of parts, of which the shortest description is taken."""
MOST_UNNAMED = 0.15
"""Of an acceleration: beyond, the components say more than the distance does."""
MOST_ROWS = 2000
"""Of accelerations state by state: of neighbours, more say nothing new."""
MOST_FREQUENCIES = 600
"""Tried of a periodic field, from the lowest on."""
FARTHEST = 0.3
"""Of the typical distance: how far from where it was first a centre is looked for."""
CENTRES = CENTRE, MOVING
ROUNDS = 25
"""Of fits: the pull that grows with time, or has another centre, is that of the last fit."""


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
        centre: (axis,) of the central force, au, or (row, axis) if it moves.
        unnamed: size of what no part explains, over that of the acceleration; 0 if nothing is left.
        central: whether a force along the line to the centre is needed beside the parts.
        measured: whether the errors are known, so that nothing but noise may be left.
        fitted: the curve and the parts, by which they were told.
        rivals: in words, what else another central force may stand beside and explain as much.
    """

    parts: tuple[Part, ...]
    acceleration: Vectors
    growth: np.ndarray
    centre: np.ndarray
    unnamed: float
    central: bool = True
    measured: bool = True
    fitted: "_Fitted | None" = None
    rivals: tuple[str, ...] = ()

    def beyond(self, law: Float[np.ndarray, "row axis column"]) -> float | None:
        """Chance that the noise alone makes a free curve better than a law, both with the parts.

        Args:
            law: accelerations by the law, and their derivatives by its constants, au/yr^2.

        Returns:
            None if the errors are not known.
        """
        if self.fitted is None or not self.measured:
            return None
        search, wanted = self.fitted.search, self.fitted.search.rows.wanted
        own = [search.rows.rows(law), *(search.columns(kind)[1] for kind in self.fitted.kinds)]
        return _beyond(own, search.rows.rows(search.curve_columns), wanted)

    @property
    def complete(self) -> bool:
        """Whether a law and forces that have a name leave nothing but noise."""
        return not self.unnamed and all(part.kind.joins for part in self.parts)

    def central_force(self, samples: ForceSamples) -> ForceSamples:
        """Force samples about the centre, at their first strength, less what joins the law."""
        table, axes = samples.table, axes_of(samples.table)
        position = vectors(table) - self.centre
        rest = (vectors(table, "a_") - self.acceleration) / self.growth[:, None]
        columns = {f"a_{axis}": rest[:, k] for k, axis in enumerate(axes)}
        columns |= {axis: position[:, k] for k, axis in enumerate(axes)}
        r, size = (np.linalg.norm(values, axis=1) for values in (position, rest))
        return replace(samples, table=table.assign(**columns, r=r, a_norm=size))


def leftovers(samples: ForceSamples) -> Leftovers | None:
    """What is there beside a central force in force samples; None without velocities."""
    path = path_of(samples)
    if path is None:
        return None
    acceleration = vectors(samples.table, "a_")
    error = np.zeros_like(acceleration)
    if f"sigma_a_{axes_of(samples.table)[0]}" in samples.table:
        error = vectors(samples.table, "sigma_a_")
    if not path.stretches:
        return _of_points(path, acceleration, error)
    plain = _Fitted(_Search(path, acceleration, error))
    # a wave beside a wrong part, or a part beside a wrong wave: the shorter description
    named = min((_named(plain, first) for first in (False, True)), key=_length)
    if TRIED * _chance(plain.fit, named.fit) >= SURE:
        named = plain
    if (bare := _without_centre(plain, named)) is not None:
        return _told(bare)
    if named.left:
        named = min((named, *_elsewhere(plain)), key=_length)
    if not named.left:
        return replace(_told(named), rivals=tuple(_rivals(named)))
    for further in (_of_time, _of_symmetry):
        for beside in (plain, named):
            if (more := further(beside)) is not None:
                return _told(more)
    # beside what nothing explains parts may be others than they seem: a body that is not seen
    # turns a velocity as a magnetic field would
    return _told(plain)


def _of_points(path: Path, acceleration: Vectors, error: Vectors) -> Leftovers:
    """Of forces state by state: parts of place and velocity, if they leave nothing."""
    some = slice(None, None, max(1, -(-len(acceleration) // MOST_ROWS)))
    thinned = replace(
        path, time=path.time[some], position=path.position[some], velocity=path.velocity[some]
    )
    plain = _Fitted(_Search(thinned, acceleration[some], error[some]))
    named = _chosen(plain, OF_STATE)
    best = _without_centre(plain, named) or named
    told = _told(plain if best.left else best)
    whole = CentralMotion(path, np.zeros_like(acceleration), np.zeros(0))
    values = [[each.value or 0.0 for each in part.components] for part in told.parts]
    forces = [part.kind.columns(whole) @ v for part, v in zip(told.parts, values, strict=True)]
    return replace(
        told, acceleration=sum(forces, np.zeros_like(acceleration)),
        growth=np.ones(len(acceleration)), measured=False,
    )  # fmt: skip


class _Curve:
    """Accelerations along the line to the centre: splines in log r times a power of r."""

    def __init__(self, position: Vectors, acceleration: Vectors) -> None:
        r = np.linalg.norm(position, axis=1)
        self.r, self.unit, logs = r, position / r[:, None], np.log(r)
        size = np.abs(np.sum(acceleration * self.unit, axis=1))
        span, some = float(np.ptp(logs)), size > 0
        fits = span > 1e-9 and some.sum() > 1
        # where the distance hardly varies, no more than a power of it can be seen
        self.power = float(np.polyfit(logs[some], np.log(size[some]), 1)[0]) if fits else 0.0
        pieces = int(np.clip(np.ceil(span / 0.2), 1, min(16, max(1, len(r) // 50))))
        # the outermost distances lie inside
        low, high = logs.min() - 1e-9, logs.max() + 1e-9
        inner = np.linspace(low, high, pieces + 1)[1:-1]
        ends = np.ones(DEGREE + 1)
        self.knots = np.concatenate([low * ends, inner, high * ends])
        self.count, self.logs = len(self.knots) - DEGREE - 1, logs

    @property
    def columns(self) -> np.ndarray:
        """(row, axis, spline)."""
        splines = BSpline(self.knots, np.eye(self.count), DEGREE)(self.logs)
        return self.unit[:, :, None] * (splines * (self.r**self.power)[:, None])[:, None]

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


class _Search:
    """A path with the curve of its central force, and the rows of what is fitted to it."""

    def __init__(
        self, path: Path, acceleration: Vectors, error: Vectors, centre: np.ndarray | float = 0.0
    ) -> None:
        self.path, self.acceleration, self.error = path, acceleration, error
        # at the time 0, and by how much it moves in a year
        self.centre = centre + np.zeros((2, path.position.shape[1]))
        self.origin = self
        self.reach = float(np.median(np.linalg.norm(path.position, axis=1)))
        self.size = float(np.sqrt(np.mean(np.sum(acceleration**2, axis=1))))
        self.curve = _Curve(path.position, acceleration)
        self.curve_columns = self.curve.columns
        flat = self.curve_columns.reshape(acceleration.size, -1)
        start = _least_squares(flat, acceleration.ravel()).solution
        self.motion = CentralMotion(path, *self.curve.pull(start))
        self._weigh()

    def _weigh(self) -> None:
        self.rows: WeakPath | PointRows = (
            WeakPath(self.path, self.acceleration, self.motion.slope) if self.path.stretches
            else PointRows(self.acceleration, self.error)
        )  # fmt: skip
        self.curved = self.rows.rows(self.curve_columns)
        self.known: dict[Kind, tuple[np.ndarray, np.ndarray]] = {}

    def columns(self, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Of a part: accelerations and their rows."""
        if kind not in self.known:
            values = kind.columns(self.motion)
            self.known[kind] = values, self.rows.rows(values)
        return self.known[kind]

    def renewed(self, fit: "_Fit") -> "_Search":
        """The same with the pull of a fit, for the parts that are made of it."""
        pull, slope = self.curve.pull(fit.solution[: self.curved.shape[1]])
        if not np.sqrt(np.mean(pull**2)) <= self.size / MOST_SHARE:  # parts that cancel each other
            return self
        other = copy.copy(self)
        other.motion, other.known = replace(self.motion, pull=pull, slope=slope), {}
        return other

    def reweighed(self) -> "_Search":
        """The same with the derivative of the last pull in the errors of the rows."""
        other = copy.copy(self)
        other._weigh()
        return other

    def without_curve(self) -> "_Search":
        """The same without a central force."""
        other = copy.copy(self)
        other.curved, other.known = self.curved[:, :0], {}
        other.motion = replace(self.motion, pull=0 * self.motion.pull)
        return other

    def about(self, centre: np.ndarray) -> "_Search":
        """The same about another centre: its place at the time 0 and its velocity."""
        path = self.origin.path
        moved = path.position - centre[0] - path.time[:, None] * centre[1]
        other = _Search(replace(path, position=moved), self.acceleration, self.error, centre)
        other.origin = self.origin
        return other

    @property
    def pointed(self) -> Iterator[np.ndarray]:
        """The points nearest to all lines along the accelerations: at rest, and moving."""
        # c with â × (x − c) = 0, of the mean of x for the digits
        x, unit = (
            self.path.position,
            self.acceleration / np.linalg.norm(self.acceleration, axis=1).clip(TINY)[:, None],
        )
        axes, mean, time = x.shape[1], x.mean(axis=0), self.path.time[:, None]
        across = [
            np.outer(np.eye(axes)[j], np.eye(axes)[i]) - np.outer(np.eye(axes)[i], np.eye(axes)[j])
            for i, j in itertools.combinations(range(axes), 2)
        ]
        design = np.concatenate([unit @ each for each in across])
        wanted = np.concatenate([np.sum((unit @ each) * (x - mean), axis=1) for each in across])
        for moving in (False, True):
            columns = [design, design * np.tile(time, (len(across), 1))]
            found = _least_squares(np.concatenate(columns[: 1 + moving], axis=1), wanted).solution
            centre = np.zeros((2, axes))
            centre[: 1 + moving] = found.reshape(-1, axes)
            centre[0] += mean
            yield centre


@dataclass(frozen=True)
class _Fit:
    square: float
    solution: np.ndarray
    design: np.ndarray
    residual: np.ndarray
    numbers: int

    @property
    def free(self) -> int:
        """Rows beyond the numbers fitted."""
        return len(self.residual) - self.numbers


def _least_squares(design: np.ndarray, wanted: np.ndarray) -> _Fit:
    scaled, scale = scaled_columns(design)
    solution, _, rank, _ = np.linalg.lstsq(scaled, wanted, rcond=RANK)
    residual = wanted - design @ (solution / scale)
    return _Fit(float(residual @ residual), solution / scale, design, residual, int(rank))


def _beyond(own: Sequence[np.ndarray], curve: np.ndarray, wanted: np.ndarray) -> float:
    """Chance of a free curve that explains rows beyond what is their own by so much."""
    plain, free = (
        _least_squares(np.concatenate(parts, axis=1), wanted) for parts in (own, [*own, curve])
    )
    return _chance(plain, free)


def _any_time(time: np.ndarray, rows: int) -> np.ndarray:
    """(row, spline) of any smooth function of time that so many rows tell: four for each."""
    return time_splines(time, int(np.clip(rows // 4, DEGREE + 1, 16)))


def beyond_time(samples: ForceSamples, axis: int, law: np.ndarray) -> float | None:
    """Chance that noise alone makes a function of time better than the law of one component.

    Args:
        samples: along a path, else nothing is known.
        axis: of the component.
        law: (row, column) accelerations by the law, and their derivatives by its constants.
    """
    path, own = path_of(samples), slice(axis, axis + 1)
    if path is None or not path.stretches:
        return None
    along = replace(
        path, position=path.position[:, own], moved=path.moved[:, own],
        velocity=path.velocity[:, own], truncation=path.truncation[:, own],
    )  # fmt: skip
    acceleration = vectors(samples.table, "a_")[:, own]
    rows = WeakPath(along, acceleration, np.zeros((*acceleration.shape, 1)))
    splines = _any_time(path.time, len(rows.wanted))
    return _beyond([rows.rows(law[:, None])], rows.rows(splines[:, None]), rows.wanted)


def _chance(before: _Fit, after: _Fit) -> float:
    """Probability of so much less by chance, errors being the known ones or what is left."""
    more = after.numbers - before.numbers
    free, gain = after.free, before.square - after.square
    if more <= 0 or free <= 0 or gain <= 0:
        return 1.0
    if after.square <= free:
        return float(chi2.sf(gain, more))
    return float(f_distribution.sf(gain / more / (after.square / free), more, free))


@dataclass(frozen=True)
class _Fitted:
    """The curve of a search, if it has one, and parts, fitted together."""

    search: _Search
    kinds: tuple[Kind, ...] = ()

    def beside(self, *kinds: Kind) -> "_Fitted":
        """With more parts."""
        return replace(self, kinds=(*self.kinds, *kinds))

    def without(self, kind: Kind) -> "_Fitted":
        """Without one of the parts; without another centre it is about the origin."""
        others, search = tuple(other for other in self.kinds if other is not kind), self.search
        if kind in CENTRES:
            kept = [own in others for own in CENTRES]
            centre = search.centre * np.array(kept)[:, None]
            search = search.about(centre) if any(kept) else search.origin
        return _Fitted(search, others)

    @cached_property
    def fit(self) -> _Fit:
        """Curve first, then the parts."""
        rows = [self.search.curved, *(self.search.columns(kind)[1] for kind in self.kinds)]
        return _least_squares(np.concatenate(rows, axis=1), self.search.rows.wanted)

    @property
    def pull(self) -> Vectors:
        """The central force."""
        return self.search.curve.pull(self.fit.solution[: self.search.curved.shape[1]])[0]

    @cached_property
    def scale(self) -> float:
        """Variance of the rows over that of the known errors, if it is larger."""
        return max(1.0, self.fit.square / max(self.fit.free, 1))

    @cached_property
    def errors(self) -> np.ndarray:
        """Standard errors of all numbers, by the known errors of the rows or what is left."""
        scaled, size = scaled_columns(self.fit.design)
        _, values, turned = np.linalg.svd(scaled, full_matrices=False)
        values = np.maximum(values, RANK * values[0])
        return np.asarray(np.sqrt(self.scale * np.sum((turned / values[:, None]) ** 2, 0)) / size)

    def numbers(self, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of one of the parts, and their standard errors."""
        at, search = self.kinds.index(kind), self.search
        first = search.curved.shape[1]
        first += sum(search.columns(each)[1].shape[1] for each in self.kinds[:at])
        own = slice(first, first + search.columns(kind)[1].shape[1])
        offset = self.search.centre[CENTRES.index(kind)] if kind in CENTRES else 0.0
        return self.fit.solution[own] + offset, self.errors[own]

    def acceleration(self, kind: Kind) -> Vectors:
        """Of one of the parts, au/yr^2."""
        return np.asarray(self.search.columns(kind)[0] @ self.numbers(kind)[0])

    def share(self, kind: Kind) -> float:
        """Rms acceleration of one of the parts, over that of all."""
        square = np.sum(self.acceleration(kind) ** 2, axis=1)
        share = float(np.sqrt(np.mean(square))) / self.search.size
        return min(share, 1.0) if kind in CENTRES else share  # far away no tide tells

    @cached_property
    def rest(self) -> float:
        """Size of what curve and parts leave beyond the errors, over that of the acceleration."""
        residual, wanted = self.fit.residual, self.search.rows.wanted
        if not self.search.path.stretches:  # errors unknown, and some may be far larger
            return float(np.median(np.abs(residual)) / np.median(np.abs(wanted)))
        excess = max(self.fit.square - self.fit.free, 0.0)
        return max(float(np.sqrt(excess / np.sum(wanted**2))), LEAST_SHARE)

    @cached_property
    def left(self) -> bool:
        """Whether more than noise is left: of any size, or as a function of time."""
        fit, path = self.fit, self.search.path
        if fit.free <= 0:
            return False
        if fit.square > NOISE_LIKE * fit.free or not path.stretches:
            return fit.square > NOISE_LIKE * fit.free
        axes = path.position.shape[1]
        splines = _any_time(path.time, fit.free // axes)
        columns = (uniform(self.search.motion)[..., None] * splines[:, None, None]).reshape(
            len(splines), axes, -1
        )
        smooth = Kind("smooth", "", lambda _: columns)
        return _chance(fit, self.beside(smooth).fit) < SURE / 100

    def is_sure(self, kind: Kind) -> bool:
        """Whether a part is beyond chance, in a number of its own, and of a size that counts."""
        without = self.without(kind)
        # about another centre the curve may have another number of pieces
        moved = kind in CENTRES and _length(without) - _length(self) > -2 * np.log(SURE)
        if not moved and _chance(without.fit, self.fit) >= SURE:
            return False
        values, errors = self.numbers(kind)
        small = moved or not self.search.curved.size or self.share(kind) <= MOST_SHARE
        return bool(
            self.share(kind) >= LEAST_SHARE
            and np.max(np.abs(values) / errors) > 3  # standard errors
            and (small or (without.left and not self.left))
        )

    def pruned(self) -> "_Fitted":
        """With the parts alone that are sure beside one another."""
        doubtful = [kind for kind in self.kinds if not self.is_sure(kind)]
        return self.without(min(doubtful, key=self.share)).pruned() if doubtful else self


def _length(fitted: _Fitted) -> float:
    """Description length, nats times two: errors are no less than the known ones."""
    fit = fitted.fit
    count = len(fit.residual)
    misfit = fit.square / max(fit.free, 1)
    return count * (np.log(misfit) if misfit > 1 else misfit - 1) + fit.numbers * np.log(count)


def _chosen(fitted: _Fitted, offered: Sequence[Kind]) -> _Fitted:
    """With those parts that describe the motion shortest, each of them sure."""
    offered = [kind for kind in offered if kind not in fitted.kinds]
    pairs = (p for p in itertools.combinations(offered, 2) if p[0].words != p[1].words)
    sets = [(), *((kind,) for kind in offered), *pairs]
    best = min((fitted.beside(*kinds) for kinds in sets), key=_length)
    while best.kinds and len(best.kinds) < MOST_PARTS + len(fitted.kinds):
        words = {kind.words for kind in best.kinds}
        more = [best.beside(kind) for kind in offered if kind.words not in words]
        wider = min((best, *more), key=_length)
        if wider is best:
            break
        best = wider
    return best.pruned()


def _named(plain: _Fitted, wave_first: bool) -> _Fitted:
    """With the parts that have a name."""
    fitted = plain
    for periodic in (wave_first, not wave_first):
        fitted = _settled(_periodic(fitted) if periodic else _chosen(fitted, OF_PATH))
        shorter = min((fitted, *_alike(fitted)), key=_length)
        fitted = fitted if shorter is fitted else _settled(shorter)
    kept = fitted.pruned()
    if CENTRE not in kept.kinds and kept.search.origin is not kept.search:  # back to the origin
        kept = _settled(replace(kept, search=kept.search.origin)).pruned()
    return kept


def _alike(fitted: _Fitted) -> list[_Fitted]:
    """With one of the parts in another form."""
    return [fitted.without(kind).beside(other) for kind in fitted.kinds for other in kind.others]


def _rivals(named: _Fitted) -> Iterator[str]:
    """What a motion may have in place of each of its parts, beside another central force."""
    for kind in named.kinds:
        rest = named.without(kind)
        others = [each for each in (*OF_PATH, *BROKEN) if each.words != kind.words]
        for other in (_chosen(rest, others), _periodic(rest, kind.frequency)):
            other = _settled(other)
            new = [each.words for each in other.kinds if each not in named.kinds]
            apart = np.sqrt(np.mean(np.sum((other.pull - named.pull) ** 2, axis=1)))
            alike = apart <= THRESHOLDS.field_part * named.search.size
            if new and not alike and not other.left and _length(other) < _length(named) + AS_GOOD:
                yield " and ".join(new)


def _settled(fitted: _Fitted) -> _Fitted:
    """About the centre of the force, with the pull as the parts leave it."""
    search, first = fitted.search, fitted.search.centre
    for _ in range(ROUNDS if fitted.kinds else 0):
        fitted, before = replace(fitted, search=search), search.motion.pull
        if any(kind in CENTRES for kind in fitted.kinds):
            centre = search.centre.copy()
            for place, kind in enumerate(CENTRES):
                if kind in fitted.kinds:
                    centre[place] = fitted.numbers(kind)[0]
            # a centre so far away is none that the first was near to
            if not np.linalg.norm(centre[0] - first[0]) <= FARTHEST * search.reach:
                return replace(fitted, search=search.origin)
            search = search.about(centre)
        else:
            search = search.renewed(fitted.fit)
        if np.max(np.abs(search.motion.pull - before)) <= 1e-9 * search.size:
            break
    return replace(fitted, search=search.reweighed()) if fitted.kinds else fitted


def _elsewhere(plain: _Fitted) -> Iterator[_Fitted]:
    """With the parts that have a name, about the point to which the accelerations point."""
    for kinds, centre in zip((CENTRES[:1], CENTRES), plain.search.pointed, strict=True):
        about = _Fitted(plain.search.about(centre), kinds)
        alone = _settled(about)
        yield (_settled(_chosen(about, OF_PATH)) if alone.left else alone).pruned()


def _without_centre(plain: _Fitted, named: _Fitted) -> _Fitted | None:
    """Parts of the velocity that explain the motion with no central force, if there are."""
    if not plain.left:
        return None
    bare = _chosen(_Fitted(plain.search.without_curve()), OF_VELOCITY)
    if bare.left or _chance(bare.fit, plain.beside(*bare.kinds).fit) < SURE:
        return None
    return bare if named.left or len(bare.kinds) <= len(named.kinds) else None


def _periodic(fitted: _Fitted, beside: float = 0.0) -> _Fitted:
    """With a uniform field of one frequency, if there is one; not of one that is given."""
    fit, search = fitted.fit, fitted.search
    assert isinstance(search.rows, WeakPath)  # for the type checker
    # from half a turn in all the time to half a bump a turn
    lowest = np.pi / np.ptp(search.path.time)
    highest = np.pi / (search.rows.half_width * search.path.dt)
    # a frequency is known to about 1/T: a third of that apart
    frequencies = np.arange(lowest, highest, lowest / 1.5)[:MOST_FREQUENCIES]
    # as far from another that the two are told apart
    frequencies = frequencies[np.abs(frequencies - beside) > 2 * lowest]
    basis = np.linalg.qr(fit.design)[0]

    def gain(frequency: float) -> float:
        rows = search.rows.rows(wave(frequency).columns(search.motion))
        rows = np.linalg.qr(rows - basis @ (basis.T @ rows))[0]
        return float(np.sum((rows.T @ fit.residual) ** 2))

    if not len(frequencies):
        return fitted
    best = max(frequencies, key=gain)
    fine = minimize_scalar(lambda w: -gain(w), bounds=(best - lowest, best + lowest),
                           method="bounded", options={"xatol": 1e-7 * lowest})  # fmt: skip
    kind = wave(float(fine.x))
    waving = fitted.beside(kind)
    sure = len(frequencies) * _chance(fit, waving.fit) < SURE and _length(waving) < _length(fitted)
    return waving if sure and waving.share(kind) >= LEAST_SHARE else fitted


def _of_time(fitted: _Fitted) -> _Fitted | None:
    """With a force of one direction, if what is across it is explained without.

    The direction is the principal axis of what is left; curve and parts are fitted to the other
    components alone, and the axis is taken again, until both agree.
    """
    search, a = fitted.search, fitted.search.acceleration
    axes = a.shape[1]
    columns = [search.curve_columns, *(search.columns(kind)[0] for kind in fitted.kinds)]
    design = np.concatenate(columns, axis=2)
    error = np.hypot(search.error, CURVE_ERROR * np.linalg.norm(a, axis=1)[:, None])
    across, rest = np.eye(axes), a
    for _ in range(ROUNDS):
        whole = np.einsum("ab,nbc->nac", across, design) / error[:, :, None]
        wanted = ((a @ across) / error).ravel()
        rest = a - design @ _least_squares(whole.reshape(a.size, -1), wanted).solution
        axis = np.linalg.svd(rest, full_matrices=False)[2][0]
        across = np.eye(axes) - np.outer(axis, axis)
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    force = (rest @ axis)[:, None] * axis
    if (
        np.mean((rest @ across / error) ** 2) > NOISE_LIKE * (axes - 1) / axes
        or float(np.sqrt(np.mean(force**2) * axes)) > MOST_SHARE * search.size
    ):
        return None
    return fitted.beside(force_of_time(force, axis))


def _of_symmetry(fitted: _Fitted) -> _Fitted | None:
    """With parts that break a symmetry, if they leave nothing."""
    more = _chosen(fitted, BROKEN)
    return None if more.left else more


def _told(fitted: _Fitted) -> Leftovers:
    """All parts with their numbers."""
    search, parts = fitted.search, []
    acceleration, growth = np.zeros_like(search.acceleration), np.ones(len(search.acceleration))
    for kind in fitted.kinds:
        values, errors = fitted.numbers(kind)
        without = fitted.without(kind)
        gain = max(without.fit.square - fitted.fit.square, 0) / fitted.scale
        also = [
            other for other in kind.others
            if _length(without.beside(other)) < _length(fitted) + AS_GOOD
        ]  # fmt: skip
        parts.append(Part(
            kind, kind.estimates(values, errors), fitted.share(kind), float(np.sqrt(gain)),
            tuple(also),
        ))  # fmt: skip
        if kind.percent:  # what the pull itself is multiplied by
            pull = search.motion.pull
            own = np.einsum("ra,rac->rc", pull, search.columns(kind)[0]) @ values
            growth = growth + own / np.sum(pull**2, axis=1)
        elif kind not in CENTRES and (kind.joins or kind.name == "time"):
            acceleration = acceleration + fitted.acceleration(kind)
    parts.sort(key=lambda part: -part.share)
    centre, velocity = search.centre
    if velocity.any():
        centre = centre + search.path.time[:, None] * velocity
    return Leftovers(
        tuple(parts), acceleration, growth, centre, fitted.rest if fitted.left else 0.0,
        central=bool(search.curved.size), fitted=fitted,
    )  # fmt: skip
