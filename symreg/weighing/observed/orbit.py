"""One body that is seen, and what must pull at it: forward model and least squares.

Axes are north, east and towards us; a radial velocity is positive for what recedes. Every unseen
body and the one that is seen move about each other under a central force, exactly (Kepler) or
integrated, and several displacements add: what unseen bodies do to each other is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq, least_squares

from orbits.elements import Elements, perifocal_axes, propagate_kepler, state_from_elements
from orbits.forces import ForceLaw, parse_law
from orbits.simulators import SIMULATORS, IntegrationError
from orbits.units import G
from symreg.formulas.watch import Watch
from symreg.weighing.config import SkyConfig
from symreg.weighing.observed.start import Guess, LinearFit, best_guesses
from symreg.weighing.observed.table import Block, Observations

AXES = {"x": 1, "y": 0, "rv": 2}
OF_PLANE = ("inclination", "node")
OF_ORBIT = ("log_period", "e_cosine", "e_sine", "longitude", "log_mass")
"""e cos and e sin of the pericentre's argument, over root e; mean longitude at the first time."""
WIDEST = float(np.log(1e6))
"""Largest change of the logarithm of a mass, a period or a distance, in a fit or a chain."""
STEP = 1e-6
"""Of differences, by parameter, all of order one."""
ROUNDS = 60
ROUNDEST = 0.98
"""Eccentricity beyond which an orbit follows single rows."""
STRENGTH = 1e-3
"""Of a term beside Newton's pull, by which its effect is found."""
LOST = 1e6
TRIED = 4
"""Starts that are fitted in full."""
ROUNDS_OF_ERRORS = 4
"""In which errors of the instruments are found."""
SHUFFLES, CHANCE = 3, 0.01
"""Searches of shuffled residuals; how often chance alone may reach the gain that is asked for.
Maxima of chi square over many orbits have the distribution of Gumbel, of scale 2."""
MOST_TURNS = 4000
"""Of an orbit that is looked for, in the time that was watched."""
NEWTON = parse_law("newton")
SCIPY = SIMULATORS["scipy"]


@dataclass(frozen=True)
class Model:
    """Parameters by name, and what an observer would see.

    Attributes:
        seen: what was observed.
        config: masses and distance that are known, and which origins are fitted.
        companions: unseen bodies.
        exponent: fitted beside the orbits, in place of Newton's 2.
        jitter: (quantity, instrument) error beyond the given one, arcsec or au/yr.
        scale: au: the distance from which the pull is Newton's, where the law is another.
        law: in place of Newton's; its GM is 1 at `scale`.
    """

    seen: Observations
    config: SkyConfig
    companions: int = 1
    exponent: bool = False
    jitter: tuple[tuple[float, ...], ...] = ()
    scale: float = 1.0
    law: ForceLaw = NEWTON

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the parameters."""
        per = (OF_ORBIT + OF_PLANE)[: self.per_orbit]
        found = [f"{name}_{k}" for k in range(self.companions) for name in per]
        more = {"log_distance": self.distance_free, "exponent": self.exponent}
        return (*found, *(name for name, fitted in more.items() if fitted))

    @property
    def distance_free(self) -> bool:
        """Whether the distance is fitted: angles and speeds of one orbit tell it."""
        told = self.seen.on_sky and self.seen.velocities and self.companions > 0
        return told and not self.config.distance

    @property
    def per_orbit(self) -> int:
        """Parameters of one orbit."""
        return len(OF_ORBIT) + (len(OF_PLANE) if self.seen.on_sky else 0)

    def elements(self, vectors: np.ndarray, k: int) -> tuple[Elements, np.ndarray, np.ndarray]:
        """(motion,) elements at the first time, gm, au^3/yr^2, and mass, of an unseen body."""
        own = vectors[:, k * self.per_orbit : (k + 1) * self.per_orbit]
        period, mass = np.exp(own[:, 0]), np.exp(own[:, 4])
        gm = G * (self.config.seen_mass + mass)
        size = np.cbrt(gm * (period / (2 * np.pi)) ** 2)
        e = np.minimum(self.eccentricities(vectors)[:, k], 0.999)
        argument = np.arctan2(own[:, 2], own[:, 1])
        right = np.full(len(own), np.pi / 2)
        inclination, node = (own[:, 5], own[:, 6]) if self.seen.on_sky else (right, 0 * right)
        return Elements(size, e, inclination, node, argument, own[:, 3] - argument), gm, mass

    def eccentricities(self, vectors: np.ndarray) -> np.ndarray:
        """(motion, companion) of the orbits."""
        at = np.arange(self.companions) * self.per_orbit
        return np.asarray(vectors[:, at + 1] ** 2 + vectors[:, at + 2] ** 2)

    def possible(self, vectors: np.ndarray, near: np.ndarray) -> np.ndarray:
        """(motion,) whether orbits are closed, of a mass, size and distance like those nearby."""
        logs = [name.startswith("log_") for name in self.names]
        alike = np.all(np.abs(vectors - near)[:, logs] < WIDEST, axis=1)
        closed = np.all(self.eccentricities(vectors) < ROUNDEST, axis=1)
        return np.asarray(alike & closed)

    def states(self, vectors: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(motion, time, axis) displacement, au, and velocity, au/yr, of the body that is seen."""
        place, speed = np.zeros((2, len(vectors), len(times), 3))
        for k in range(self.companions):
            elements, gm, mass = self.elements(vectors, k)
            start = state_from_elements(elements, gm)
            if self.exponent:
                found = []
                for n, x, v, one in zip(vectors[:, -1].tolist(), *start, gm, strict=True):
                    # each under a power that is Newton's pull at the scale
                    strength = one[None] * self.scale ** (n - 2.0)
                    law = parse_law(f"power_law(n={n!r})")
                    found.append(SCIPY.relative(law, x[None], v[None], strength, times))
                moved = tuple(np.concatenate(part) for part in zip(*found, strict=True))
            elif self.law is NEWTON:
                moved = propagate_kepler(*start, gm, times)
            else:
                moved = SCIPY.relative(self.law, *start, gm, times)
            share = (mass / (self.config.seen_mass + mass))[:, None, None]
            # the unseen body lies the other way
            place, speed = place - share * moved[0], speed - share * moved[1]
        return place, speed

    @cached_property
    def times(self) -> np.ndarray:
        """All times, each once, the first of them 0."""
        return np.unique(np.concatenate([[0.0], *(block.times for block in self.seen.blocks)]))

    def distance(self, vectors: np.ndarray) -> np.ndarray:
        """(motion,) pc."""
        if self.distance_free:
            return np.exp(vectors[:, self.names.index("log_distance")])
        return np.full(len(vectors), self.config.distance or 1.0)

    @cached_property
    def sigmas(self) -> list[np.ndarray]:
        """(row,) standard errors of each block, with the instruments' own."""
        if not self.jitter:
            return [block.sigma for block in self.seen.blocks]
        return [
            np.hypot(block.sigma, np.array(own)[block.group])
            for block, own in zip(self.seen.blocks, self.jitter, strict=True)
        ]

    @cached_property
    def bases(self) -> list[np.ndarray]:
        """(row, term) of each block, weighted and orthonormal: origins and drifts."""
        return [
            np.linalg.qr(_origins(block, self.config) / sigma[:, None]).Q
            for block, sigma in zip(self.seen.blocks, self.sigmas, strict=True)
        ]

    def predicted(self, vectors: np.ndarray) -> list[np.ndarray]:
        """(motion, row) of each block: arcsec and au/yr, without origins and drifts."""
        place, speed = self.states(vectors, self.times)
        arcsec = 1 / self.distance(vectors)[:, None]  # of an au, by what a parsec is
        found = []
        for block in self.seen.blocks:
            at, axis = np.searchsorted(self.times, block.times), AXES[block.quantity]
            sky = block.quantity != "rv"
            found.append(place[:, at, axis] * arcsec if sky else -speed[:, at, axis])
        return found

    def left(self, vectors: np.ndarray) -> np.ndarray:
        """(motion, row) of all blocks, in standard errors; origins and drifts are put aside."""
        parts = []
        shown = zip(self.seen.blocks, self.sigmas, self.bases, self.predicted(vectors), strict=True)
        for block, sigma, basis, values in shown:
            weighted = (block.value - values) / sigma
            parts.append(weighted - weighted @ basis @ basis.T)
        return np.concatenate(parts, axis=1)

    def fit(self, start: np.ndarray, watch: Watch) -> "Fit":
        """Least squares from parameters that are near."""

        def residuals(vector: np.ndarray) -> np.ndarray:
            lost = np.full(sum(len(block.value) for block in self.seen.blocks), LOST)
            if not self.possible(vector[None], start)[0]:
                return lost
            try:
                found = self.left(vector[None])[0]
            except (IntegrationError, ValueError):
                return lost
            watch.say(lambda: f"{self.companions} orbits: chi square {found @ found:.6g}")
            return found

        found = least_squares(residuals, start, jac=self.jacobian, x_scale="jac", max_nfev=ROUNDS)
        return Fit(self, found.x, found.fun, found.jac)

    def jacobian(self, vector: np.ndarray) -> np.ndarray:
        """(row, parameter) derivatives of what is left."""
        moves = STEP * np.eye(len(vector))
        found = self.left(np.concatenate([vector + moves, vector - moves]))
        return ((found[: len(vector)] - found[len(vector) :]) / (2 * STEP)).T


def _origins(block: Block, config: SkyConfig) -> np.ndarray:
    """(row, term) terms that are fitted beside the orbits."""
    own = [block.group == group for group in np.unique(block.group)]
    if block.quantity == "rv":
        free = {"instrument": own, "common": [np.ones(len(block.times))], "none": []}
        terms = free[config.zero_point]
    else:
        terms = [*own, block.times - block.times.mean()] if config.frame == "free" else []
    return np.array(terms, dtype=float).reshape(-1, len(block.times)).T


@dataclass(frozen=True)
class Fit:
    """Orbits of least squares: (parameter,) vector, (row,) residuals in standard errors, and their
    (row, parameter) jacobian.
    """

    model: Model
    vector: np.ndarray
    residuals: np.ndarray
    jacobian: np.ndarray

    @property
    def chi_square(self) -> float:
        """Of all rows."""
        return float(self.residuals @ self.residuals)

    @cached_property
    def covariance(self) -> np.ndarray:
        """(parameter, parameter) by the curvature."""
        size = np.linalg.norm(self.jacobian, axis=0)
        size = np.where(size > 0, size, 1.0)  # parameters differ in unit
        unit = self.jacobian / size
        return np.asarray(np.linalg.pinv(unit.T @ unit, rcond=1e-14) / np.outer(size, size))

    def parts(self) -> list[np.ndarray]:
        """(row,) residuals of each block, in standard errors."""
        ends = np.cumsum([len(block.value) for block in self.model.seen.blocks])
        return np.split(self.residuals, ends[:-1])

    def jitter(self) -> tuple[tuple[float, ...], ...]:
        """Error beyond the given one, by block and instrument, that what is left asks for."""
        rows = len(self.residuals)
        spent = len(self.vector) + sum(basis.shape[1] for basis in self.model.bases)
        kept = max(0.1, 1 - spent / rows)
        found = []
        each = zip(self.model.seen.blocks, self.model.sigmas, self.parts(), strict=True)
        for block, sigma, part in each:
            groups = [block.group == group for group in range(len(self.model.seen.instruments))]
            own = (_jitter(part[at] * sigma[at], block.sigma[at], kept) for at in groups)
            found.append(tuple(own))
        return tuple(found)


def _jitter(left: np.ndarray, sigma: np.ndarray, kept: float) -> float:
    """Error, added in quadrature, with which chi square is what it should be; 0 if it is less."""

    def excess(size: float) -> float:
        return float(np.sum(left**2 / (sigma**2 + size**2)) - kept * len(left))

    if len(left) < 2 or excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, 10 * np.sqrt(np.mean(left**2)) + 1e-300))


@dataclass(frozen=True)
class Search:
    """Orbits, and whether the last of them is needed.

    `gain` is the fall of chi square by the last, on the grid of the search; `by_chance` the mean of
    the same for what the others leave, shuffled.
    """

    fit: Fit
    gain: float
    by_chance: float

    @property
    def needed(self) -> float:
        """Gain that one search in a hundred reaches by chance."""
        return self.by_chance + 2 * np.log(1 / CHANCE)


def fit_orbits(seen: Observations, config: SkyConfig, watch: Watch) -> Search:
    """Orbits of as many unseen bodies as are asked for, one after another, then together."""
    model = Model(seen, config, 0)
    fit = _settled(Fit(model, np.empty(0), model.left(np.empty((1, 0)))[0], np.empty((0, 0))))
    for count in range(1, config.companions + 1):
        linear, shortest = _linear(fit)
        guesses = best_guesses(linear, seen.span, shortest, TRIED)
        gain, by_chance = guesses[0].gain, 0.0
        if count == config.companions:
            random = np.random.default_rng(0)
            shuffles = (linear.shuffled(random) for _ in range(SHUFFLES))
            chances = [best_guesses(each, seen.span, shortest, 1)[0].gain for each in shuffles]
            by_chance = float(np.mean(chances))
        model = replace(fit.model, companions=count)
        starts = [_start(model, guess, fit) for guess in guesses]
        tried = [model.fit(start, watch) for start in starts]
        fit = _settled(min(tried, key=lambda each: each.chi_square), watch)
    return Search(fit, gain, by_chance)


def _settled(fit: Fit, watch: Watch | None = None) -> Fit:
    """The same with the errors that the instruments turn out to have."""
    for _ in range(ROUNDS_OF_ERRORS):
        model = replace(fit.model, jitter=fit.jitter())
        if watch is None:
            fit = replace(fit, model=model, residuals=model.left(fit.vector[None])[0])
        else:
            fit = model.fit(fit.vector, watch)
    return fit


def _linear(fit: Fit) -> tuple[LinearFit, float]:
    """What the orbits leave, for the next one to explain, and the shortest period to look for."""
    model = fit.model
    shown = zip(model.seen.blocks, model.predicted(fit.vector[None]), model.sigmas, strict=True)
    blocks = [replace(b, value=b.value - values[0], sigma=sigma) for b, values, sigma in shown]
    gaps = np.diff(model.times)
    shortest = max(2 * np.median(gaps[gaps > 0]), model.seen.span / MOST_TURNS)
    return LinearFit(blocks, model.bases), float(shortest)


def _start(model: Model, guess: Guess, before: Fit) -> np.ndarray:
    """Parameters to begin with: those that are known, and a guess of one orbit more."""
    vector, distance = _parameters(model, guess, before)
    cut = before.model.companions * model.per_orbit
    last = before.vector[cut:]
    if model.distance_free and not len(last):
        last = np.log([distance])
    return np.concatenate([before.vector[:cut], vector, last])


def _parameters(model: Model, guess: Guess, before: Fit) -> tuple[np.ndarray, float]:
    """The parameters of one orbit, and the distance, pc, from a guess."""
    distance = model.config.distance
    p, q = np.zeros(3), np.zeros(3)
    sky = model.seen.on_sky
    if before.model.distance_free:
        distance = float(model.distance(before.vector[None])[0])
    if model.seen.velocities:
        p[2], q[2] = guess.along["rv"], guess.across["rv"]
    if sky:
        flat_p, flat_q = ([part["y"], part["x"]] for part in (guess.along, guess.across))
        unlike = np.dot(flat_p, flat_p) - np.dot(flat_q, flat_q) + 2j * np.dot(flat_p, flat_q)
        if not distance:  # that with which the two are at right angles and of one length
            depth = (p[2] + 1j * q[2]) ** 2
            size = abs(unlike) + 1e-12 * (np.dot(flat_p, flat_p) + np.dot(flat_q, flat_q))
            square = -(np.conj(unlike) * depth).real / size**2
            distance = float(np.sqrt(max(square, 1e-12 * abs(depth) / size)))
        p[:2], q[:2] = (distance * np.array(part) for part in (flat_p, flat_q))
        if not model.seen.velocities:
            depth = np.sqrt(-(distance**2) * unlike)
            p[2], q[2] = depth.real, depth.imag
    # the displacement of the body that is seen; the unseen one lies the other way
    p, q = -p, -q
    size = float(np.sqrt((p @ p + q @ q) / 2)) if sky else float(np.hypot(p[2], q[2]))
    if sky:
        normal = np.cross(p, q)
        normal /= np.linalg.norm(normal)
        inclination = float(np.arccos(np.clip(normal[2], -1, 1)))
        node = float(np.arctan2(normal[0], -normal[1]))
        axes = perifocal_axes(np.array(inclination), np.array(node), np.array(0.0))
        argument = float(np.arctan2(p @ axes[1], p @ axes[0]))
    else:
        argument = float(np.arctan2(p[2], q[2]))
    mass = _companion(size, guess.period, model.config.seen_mass)
    root = np.sqrt(max(guess.eccentricity, 0.01))
    longitude = argument - 2 * np.pi * guess.pericentre / guess.period
    own = [np.log(guess.period), root * np.cos(argument), root * np.sin(argument), longitude]
    plane = [inclination, node] if sky else []
    return np.array([*own, np.log(mass), *plane]), float(distance)


def _companion(size: float, period: float, seen_mass: float) -> float:
    """Mass that moves the body it pulls at on an orbit of this size: m^3 / (m + seen)^2."""
    function = size**3 / period**2
    mass = max(function, np.cbrt(function * seen_mass**2))
    for _ in range(60):
        mass = np.cbrt(function * (mass + seen_mass) ** 2)
    return float(max(mass, 1e-12))


def extra_terms(fit: Fit, terms: Sequence[Callable[[float], ForceLaw]]) -> list[np.ndarray]:
    """(value, standard error) of the strength of terms beside Newton's pull, one at a time.

    Each term gives the whole law by its strength. To first order in it, with all other parameters
    free, from a fit under Newton's law.
    """
    found = []
    for law in terms:
        more, less = (
            replace(fit.model, law=law(strength)).left(fit.vector[None])[0]
            for strength in (STRENGTH, -STRENGTH)
        )
        whole = np.column_stack([fit.jacobian, (more - less) / (2 * STRENGTH)])
        scale = np.linalg.norm(whole, axis=0)
        square = np.linalg.pinv((whole / scale).T @ (whole / scale), rcond=1e-14)
        step = -(square @ ((whole / scale).T @ fit.residuals)) / scale
        found.append(np.array([step[-1], np.sqrt(square[-1, -1]) / scale[-1]]))
    return found
