"""Uncertainty of masses and exponents: noise propagated through every step, and misfit."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from orbits.derivatives.noise import white_noise
from orbits.powers import scaled_columns
from orbits.statistics import TINY
from symreg.weighing.fit import NULL, LawFit, solved
from symreg.weighing.weak import Equations

ENOUGH = 30
"""Least integrals for estimating a body's noise."""
CHANCE = 4.0
"""Standard errors by which a mean square must exceed the noise's to be something else."""
BLOCKS = 5
"""Parts of the time, left out one at a time."""
STEP = 1e-5
"""Relative step of dg/dr."""


@dataclass(frozen=True)
class Errors:
    """Covariances of a fit.

    Attributes:
        covariance: (estimate, estimate) of masses and parameters.
        noise: (body,) standard error of its positions, au.
        misfit: (body,) rms of what is neither law nor noise, over the rms acceleration.
        free: (estimate,) whether the data leave it undetermined.
    """

    covariance: np.ndarray
    noise: np.ndarray
    misfit: np.ndarray
    free: np.ndarray


def errors_of(equations: Equations, fit: LawFit, noise: float) -> Errors:
    """Covariance of a fit.

    The noise of every position (au; 0 takes the lesser estimate from positions and residuals)
    passes through both sides of the equations, exactly to first order: through the bumps' second
    derivatives on the left, and through the forces on the right. Any remaining residual enters as
    well, as if overlapping bumps, and those of different widths, were fully correlated; if there is
    one, so does the variation among parts of the equations (with stretches of time or widths left
    out).
    """
    # The estimates are theta = E (left - right): E, the pseudoinverse of the weighted jacobian,
    # says how each row moves them. Three things move rows, and their covariances add up:
    #  1. noise of every position, on both sides: E (phi'' - phi da/dx) dx, white in x and therefore
    #     exactly propagated, whatever rows overlap (`_of_noise`);
    #  2. what neither law nor noise explains, by group of rows, as if all widths of a body erred
    #     together (`_of_misfit`), and what leaving out parts of the time or a width moves;
    #  3. pulls wrong by a common share, which single bodies' disagreement about the heaviest one's
    #     mass betrays (`_of_pulls`).
    equations.watch.say(lambda: "how sure the masses are")
    estimator, free = _estimator(fit)
    sigma = _noise(equations, fit, noise)
    covariance = _of_noise(equations, fit, estimator, sigma)
    unexplained, misfit = _unexplained(equations, fit, sigma)
    if np.any(unexplained):
        systematic = _of_misfit(equations, estimator, unexplained)
        apart = of_subsets(equations, fit, np.diag(covariance))
        covariance += systematic + np.diag(apart)
    covariance += _of_pulls(equations, fit, estimator)
    return Errors(covariance, sigma, misfit, free)


def misfit_of(equations: Equations, fit: LawFit, noise: float) -> np.ndarray:
    """(body,) rms of what is neither law nor noise, over the rms acceleration."""
    return _unexplained(equations, fit, _noise(equations, fit, noise))[1]


def rough_covariance(equations: Equations, fit: LawFit) -> np.ndarray:
    """(estimate, estimate) covariance from the residuals alone: quick and approximate.

    Every integral has the variance of its width and body; overlapping ones are correlated.
    """
    estimator, _ = _estimator(fit)
    square = equations.mean_square(fit.residuals) * equations.overlap
    return np.asarray((estimator * square[equations.group]) @ estimator.T)


def _estimator(fit: LawFit) -> tuple[np.ndarray, np.ndarray]:
    """(estimate, row) sensitivity of the estimates to rows, and which are undetermined."""
    weighted, scale = scaled_columns(fit.jacobian * fit.weights[:, None])
    u, s, vt = np.linalg.svd(weighted, full_matrices=False)
    determined = s > NULL * s[0]
    free = np.sum(vt[~determined] ** 2, axis=0) > 1e-6
    inverse = (vt[determined].T / s[determined]) @ u[:, determined].T
    return inverse / scale[:, None] * fit.weights, free


def _noise(equations: Equations, fit: LawFit, noise: float) -> np.ndarray:
    """(body,) noise of the positions, au: from high differences, or narrow bumps if less."""
    system = equations.system
    sigma = np.zeros(system.bodies)
    if noise or not equations.set_of(0).noise:
        sigma[equations.seen] = noise
        return sigma
    for i in equations.seen:
        sigma[i] = min(white_noise(stretch[:, i]) for stretch in system.position)
    # High differences keep white noise only, if the sampling is fine; otherwise motion too. So no
    # more than the residuals of any width allow; the least of many is low by chance alone
    square = equations.mean_square(fit.residuals) * _chance(equations)
    for group in np.flatnonzero(equations.counts >= ENOUGH * equations.overlap).tolist():
        i = equations.body_of(group)
        sigma[i] = min(sigma[i], np.sqrt(square[group]) / equations.set_of(group).noise)
    return sigma


def _chance(equations: Equations) -> np.ndarray:
    """(group,) largest factor by which chance raises a mean square.

    For k independent numbers its relative error is sqrt(2/k).
    """
    return np.asarray(1 + CHANCE * np.sqrt(2 * equations.overlap / equations.counts))


def _unexplained(
    equations: Equations, fit: LawFit, sigma: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean square by group of what is not noise, and its part of the acceleration by body."""
    square, whole = (equations.mean_square(v) for v in (fit.residuals, equations.left))
    body = np.array([equations.body_of(g) for g in range(equations.groups)])
    sets = [equations.set_of(g) for g in range(equations.groups)]
    # Expected of noise alone: |phi''| sigma on the left, and on the right the change of the pull,
    # |da/dx| sigma averaged over the bump: sqrt(sum phi^2) times it.
    tide = _tides(equations, fit, sigma)
    expected = np.array([s.noise for s in sets]) * sigma[body]
    expected = np.hypot(expected, np.sqrt([s.square for s in sets]) * tide[body])
    excess = np.where(square > _chance(equations) * expected**2, square - expected**2, 0.0)
    misfit = np.zeros(equations.system.bodies)
    for i in equations.seen:
        own = body == i
        signal = np.maximum(whole - expected**2, 0.0)[own].max()
        misfit[i] = np.sqrt(np.median(excess[own]) / signal) if signal > 0 else 0.0
    return excess, misfit


def share_left(equations: Equations, fit: LawFit, sigma: np.ndarray) -> np.ndarray:
    """(group,) rms of what is neither law nor noise, over the rms of the group."""
    excess, _ = _unexplained(equations, fit, sigma)
    return np.sqrt(excess / np.maximum(equations.mean_square(equations.left), TINY))


def _tides(equations: Equations, fit: LawFit, sigma: np.ndarray) -> np.ndarray:
    """(body,) rms change of its acceleration from the noise of all positions, au/yr^2 per axis.

    In bumps longer than a revolution this exceeds the noise of the left side.
    """
    system = equations.system
    axes = system.position.shape[-1]
    own, others = np.zeros(system.bodies), np.zeros(system.bodies)
    for pair in system.pairs:
        g, slope = _slope(fit, pair.r)
        size = np.sqrt(np.mean(slope**2 + (axes - 1) * (g / pair.r) ** 2) / axes)
        for i, j in ((pair.i, pair.j), (pair.j, pair.i)):
            own[i] += abs(fit.masses[j]) * size
            others[i] += (fit.masses[j] * size * sigma[j]) ** 2
    return np.sqrt((own * sigma) ** 2 + others)


def _slope(fit: LawFit, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g and dg/dr."""
    ends = [fit.strength(r * (1 + sign * STEP)) for sign in (1, -1)]
    return fit.strength(r), (ends[0] - ends[1]) / (2 * STEP * r)


def of_subsets(equations: Equations, fit: LawFit, noise: np.ndarray) -> np.ndarray:
    """(estimate,) variance among parts of the equations beyond the noise's.

    Jackknife over fifths of the time, and over widths: what is not in the law (an unseen body,
    relativity) affects them differently.
    """
    width = equations.group // len(equations.seen)
    block = np.minimum((equations.when * BLOCKS).astype(int), BLOCKS - 1)
    variance = np.zeros(len(noise))
    for part in (block, width):
        shifts = np.array(
            [
                solved(fit.jacobian[rows], fit.residuals[rows], fit.weights[rows])
                for rows in (part != one for one in np.unique(part))
                if np.count_nonzero(rows) > 2 * len(noise)
            ]
        )
        if len(shifts) > 1:
            among = (len(shifts) - 1) * np.mean((shifts - shifts.mean(axis=0)) ** 2, axis=0)
            variance += np.maximum(among - noise, 0.0)
    return variance


def _of_pulls(equations: Equations, fit: LawFit, estimator: np.ndarray) -> np.ndarray:
    """Covariance from pulls with a relative error, one per pair.

    Relativity, coarse sampling or a non-spherical figure change the pulls so. Single bodies'
    motions reveal its size: the heaviest's mass from each scatters by it.

    Source: Paule & Mandel, J. Res. Natl. Bur. Stand. 87 (1982) 377, for the scatter.
    """
    heaviest = int(np.argmax(fit.masses))
    square = (equations.mean_square(fit.residuals) * equations.overlap)[equations.group]
    values, variances = [], []
    for body in range(len(equations.seen)):
        rows = equations.group % len(equations.seen) == body
        pull = fit.jacobian[rows, heaviest]  # by which the others are as the whole fit has them
        if np.any(pull):
            row = pull * fit.weights[rows] ** 2
            row = row / (row @ pull)
            values.append(float(row @ fit.residuals[rows]))
            by_width = np.bincount(equations.group[rows], row**2 * square[rows])
            variances.append(float(np.sum(np.sqrt(by_width)) ** 2))  # widths say the same
    part = _scatter(np.array(values), np.array(variances)) / fit.masses[heaviest] ** 2
    if not part:
        return np.zeros((len(estimator), len(estimator)))
    moved = estimator @ equations.by_pair(fit.strength, fit.masses)
    return np.asarray(part * (moved @ moved.T))


def _scatter(values: np.ndarray, variances: np.ndarray) -> float:
    """The extra variance that explains the values' scatter; 0 if none is needed."""
    if len(values) < 2:
        return 0.0

    def excess(further: float) -> float:
        weights = 1 / (variances + further)
        mean = np.sum(weights * values) / np.sum(weights)
        return float(np.sum(weights * (values - mean) ** 2)) - (len(values) - 1)

    chance = CHANCE * np.sqrt(2 * (len(values) - 1))
    largest = float(np.sum((values - values.mean()) ** 2))
    return float(brentq(excess, 0.0, largest)) if excess(0.0) > chance else 0.0


def _of_misfit(equations: Equations, estimator: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Covariance from the unexplained part: smooth, so widths of one body add up."""
    total = np.zeros((len(estimator), len(estimator)))
    starts = np.searchsorted(equations.group, np.arange(equations.groups + 1))
    for i in equations.seen:
        roots = np.zeros(len(estimator))
        parts = []
        for group in range(equations.groups):
            if equations.body_of(group) != i or not square[group]:
                continue
            rows = estimator[:, starts[group] : starts[group + 1]]
            part = equations.overlap[group] * square[group] * (rows @ rows.T)
            parts.append(part)
            roots += np.sqrt(np.diag(part))
        if parts:
            whole = np.sum(parts, axis=0)
            grown = roots / np.sqrt(np.maximum(np.diag(whole), TINY))
            total += whole * np.outer(grown, grown)
    return total


def _of_noise(
    equations: Equations, fit: LawFit, estimator: np.ndarray, sigma: np.ndarray
) -> np.ndarray:
    """Covariance from the noise of positions, through both sides of the equations."""
    weights, totals = equations.spread(estimator)
    system = equations.system
    for pair in system.pairs:
        g, slope = _slope(fit, pair.r)
        both = fit.masses[pair.j] * weights[pair.i] - fit.masses[pair.i] * weights[pair.j]
        along = np.sum(both * pair.towards, axis=-1, keepdims=True)
        # d(g e)/dx = g/r (1 - e e) + g' e e: across the line the pull turns, along it it grows
        moved = (g / pair.r)[..., None] * both
        moved += (slope - g / pair.r)[..., None] * along * pair.towards
        totals[pair.i] = totals[pair.i] + moved
        totals[pair.j] = totals[pair.j] - moved
    covariance = np.zeros((len(estimator), len(estimator)))
    for i in range(0 if system.inertial else 1, system.bodies):
        flat = totals[i].reshape(len(estimator), -1)
        covariance += sigma[i] ** 2 * (flat @ flat.T)
    return covariance


def momentum(equations: Equations, masses: np.ndarray, sigma: np.ndarray) -> tuple[float, float]:
    """Violation of momentum conservation: rms of sum m a over the largest m a; that from noise.

    Uses only positions and the masses found, no law.
    """
    n = len(equations.seen)
    ends = np.cumsum(equations.counts)[n - 1 :: n]
    least, expected = np.inf, np.inf
    for s, part in zip(equations.sets, np.split(equations.left, ends[:-1]), strict=True):
        values = part.reshape(n, -1)
        whole = np.sqrt(np.mean((masses @ values) ** 2))
        largest = np.max(np.abs(masses) * np.sqrt(np.mean(values**2, axis=1)))
        share = float(whole / largest)
        if share < least:
            noise = s.noise * np.sqrt(np.sum((masses * sigma) ** 2))
            least, expected = share, float(noise / largest)
    return least, expected
