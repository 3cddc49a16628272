"""What else the observations allow: draws from the posterior of orbits.

The curvature at the best orbit says little of an eccentricity or of an inclination that the data
hardly tell; draws do. Priors are flat in the logarithms of mass, period and distance (within a
factor of a million of the best), in eccentricity and angles, and in the cosine of the inclination;
errors of instruments are kept.

Source: Foreman-Mackey et al., PASP 125 (2013) 306: emcee, an ensemble sampler.
"""

from typing import Any

import numpy as np

from symreg.formulas.watch import Watch
from symreg.weighing.observed.orbit import Fit

WALKERS = 4
"""For each parameter."""
STEPS, MOST = 2000, 10_000
"""Of every walker, and of those at most where the chains are not long enough; a quarter is thrown
away."""
THINNED = 10
TINY = 1e-18
"""Least variance of a parameter."""
UNKNOWN = 1.0
"""Largest standard error with which chains begin, of logarithms and of angles."""
RIDGE = 1e-9
"""Added to correlations of one, of a curvature that rounding left without an inverse."""
INDEPENDENT = 20
"""Times that a chain must be longer than it stays alike, for its quantiles to count."""


def draws(fit: Fit, watch: Watch) -> tuple[np.ndarray, bool]:
    """(draw, parameter) from the posterior, and whether the chains were long enough."""
    import emcee

    model, best = fit.model, fit.vector
    random = np.random.default_rng(0)
    error = np.sqrt(np.maximum(np.diag(fit.covariance), TINY))
    alike = fit.covariance / np.outer(error, error)
    root = np.linalg.cholesky(alike + RIDGE * np.eye(len(best)))
    spread = np.minimum(error, UNKNOWN)[:, None] * root
    walkers = best + 0.3 * random.normal(size=(WALKERS * len(best), len(best))) @ spread.T

    def logarithm(vectors: np.ndarray) -> np.ndarray:
        found = np.full(len(vectors), -np.inf)
        inside = model.possible(vectors, best)
        if model.seen.on_sky:
            at = np.arange(model.companions) * model.per_orbit + model.per_orbit - 2
            inclined = np.sin(vectors[:, at])
            inside &= np.all(inclined > 0, axis=1)
        if inside.any():
            left = model.left(vectors[inside])
            found[inside] = -0.5 * np.einsum("mr,mr->m", left, left)
            if model.seen.on_sky:
                found[inside] += np.sum(np.log(inclined[inside]), axis=1)
        return found

    sampler = emcee.EnsembleSampler(len(walkers), len(best), logarithm, vectorize=True)
    sampler.random_state = np.random.RandomState(0).get_state()
    enough = False
    start: Any = walkers
    while not enough and sampler.iteration < MOST:
        with np.errstate(invalid="ignore"):  # steps from one place outside the prior to another
            for _ in sampler.sample(start, iterations=STEPS):
                watch.say(lambda: f"posterior: {sampler.iteration} steps")
            memory = np.max(sampler.get_autocorr_time(tol=0, quiet=True))
        start = sampler.get_last_sample()
        enough = bool(sampler.iteration > INDEPENDENT * memory)
    chain = sampler.get_chain(discard=sampler.iteration // 4, thin=THINNED, flat=True)
    return np.asarray(chain), enough
