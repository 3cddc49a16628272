"""Which errors a table's target has: relative, additive or in the logarithm, given or chosen.

The three have different densities of y: additive errors p(y) = N(y; f, s), relative ones
N(y; f, s f), errors of the logarithm N(log y; log f, s)/y. Where the table does not say which it
has, the likelihood of the best formula under each decides. A scatter of 0.11 dex taken for a
relative error would bias a constant by half its variance, 3 %.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from symreg.fit.orthogonal import scatter_beyond, slopes_of
from symreg.fit.refine import Law, refit_law
from symreg.fit.samples import Samples, floored
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import DOUBLE

Noise = Literal["additive", "relative", "logarithmic"]
Kind = Literal["given", "none", "additive", "relative", "logarithmic"]
Refit = Callable[[Law, Samples], Law]

COMPARED = 25
"""Formulas, best first, that are compared."""
LARGEST_RELATIVE = 0.3
"""Larger relative errors are no error model: zero would be a good prediction."""


@dataclass(frozen=True)
class ErrorModel:
    """Divisors of residuals if no errors are given; by default as in `Samples`.

    Attributes:
        kind: of errors; none if only rounding, or a field's own systematic error, is left.
        size: of additive errors.
        law: relative errors are relative to its prediction. Relative to the noisy target, what is
            too low by chance would count for more, and constants be off by twice the variance.
        through: the law whose slopes propagate the errors of features.
        scatter: factor on the target's errors besides those.

    Source: Wedderburn, Biometrika 61, 439 (1974) for a variance that follows the mean.
    """

    kind: Kind = "none"
    size: float | None = None
    law: Law | None = None
    through: Law | None = None
    scatter: float = 1.0

    def of(self, samples: Samples) -> Samples:
        """Samples with these errors; those with their own keep them."""
        own_errors = self._of_the_target(samples)
        if self.through is None or samples.feature_errors is None:
            return own_errors
        own, spread = self.scatter * _own(own_errors), _spread(self.through, samples)
        unit = np.sqrt(np.mean((floored(samples.y) / np.hypot(own, spread)) ** 2))
        return replace(
            own_errors, errors=unit * own, spread=unit * spread, weights=None,
            feature_errors=unit * samples.feature_errors,
        )  # fmt: skip

    def _of_the_target(self, samples: Samples) -> Samples:
        if samples.errors is not None or (self.size is None and self.law is None):
            return samples
        if self.law is None:
            errors = np.full(len(samples.y), self.size)
        else:
            predicted = self.law.values(samples)
            errors = floored(np.where(np.isfinite(predicted), predicted, samples.y))
            # a law that is zero in most rows gives these no size of their own
            errors = np.where(errors > 0, errors, float(np.max(np.abs(samples.y))) or 1.0)
        return replace(samples, errors=errors, weights=None)


def errors_of(
    samples: Samples,
    laws: Sequence[Law],
    floor: float = 0.0,
    refit: Refit = refit_law,
    noise: Noise | None = None,
) -> tuple[ErrorModel, list[Law]]:
    """The error model, including errors of features, and the laws fitted under it.

    Args:
        samples: the rows.
        laws: fitted to them.
        floor: relative error that buys nothing: that of a model's field, which is no noise.
        refit: fits a law to samples.
        noise: the kind of errors, if known.
    """
    errors, laws = _of_target(samples, list(laws), floor, refit, noise)
    if samples.feature_errors is None or not laws:
        return errors, laws
    under, n = errors.of(samples), samples.n_effective
    laws.sort(key=lambda law: law.criterion(n, floor))
    best, scatter = laws[0], 1.0
    if samples.errors is None:
        rest = samples.y - evaluate(best.form, samples.names, samples.X, best.constants)
        good = np.isfinite(rest)
        free = int(good.sum()) - len(best.constants)
        own, spread = _own(under), _spread(best, samples)
        scatter = scatter_beyond(rest[good] ** 2, own[good], spread[good], free)
    errors = replace(errors, through=best, scatter=scatter)
    return errors, [refit(law, errors.of(samples)) for law in laws[: 2 * COMPARED]]


def _of_target(
    samples: Samples, laws: list[Law], floor: float, refit: Refit, noise: Noise | None
) -> tuple[ErrorModel, list[Law]]:
    """The target's errors, and the laws fitted again under them."""
    if samples.errors is not None:
        return ErrorModel("given"), laws
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(samples.y**2)))
    if floor or not laws or not 0 < size < np.inf:
        return ErrorModel(), laws
    shown = sorted(laws, key=lambda law: law.mean_square)[:COMPARED]
    if shown[0].mean_square < DOUBLE and noise is None:
        return ErrorModel(), laws
    additive = ErrorModel("additive", size=size)
    others = [refit(law, additive.of(samples)) for law in shown]
    rows = len(samples.y)
    # the density of y under relative errors has the factor 1/|y|
    relative = min(law.criterion(rows, 0.0) for law in shown)
    zeros = bool((samples.scale == 0).any())  # they have no relative error
    if not zeros:
        relative += 2 * float(np.sum(np.log(samples.scale / size)))
    if noise is None and (
        zeros
        or shown[0].mean_square > LARGEST_RELATIVE**2
        or min(law.criterion(rows, 0.0) for law in others) < relative
    ):
        noise = "additive"
    if noise == "additive":
        return additive, [refit(law, additive.of(samples)) for law in laws]
    laws.sort(key=lambda law: law.criterion(rows, floor))
    errors = ErrorModel("relative", law=laws[0])
    best = refit(laws[0], errors.of(samples))
    if noise == "logarithmic" or (noise is None and _is_logarithmic(laws[0], best, samples)):
        return ErrorModel("logarithmic"), laws
    return errors, [refit(law, errors.of(samples)) for law in laws[: 2 * COMPARED]]


def _is_logarithmic(law: Law, relative: Law, samples: Samples) -> bool:
    """Whether log y scatters evenly about a law, fitted so, rather than y in proportion to it."""
    if not samples.logarithmic:
        return False
    predicted, other = law.values(samples), relative.values(samples)
    if not (np.all(predicted > 0) and np.all(other > 0)):
        return False
    rows = len(samples.y)
    logarithms = np.log(samples.y / predicted)
    shares = samples.y / other - 1
    as_logarithm = rows * np.log(np.mean(logarithms**2)) + 2 * np.sum(np.log(samples.y))
    as_share = rows * np.log(np.mean(shares**2)) + 2 * np.sum(np.log(other))
    return bool(as_logarithm < as_share)


def _own(samples: Samples) -> np.ndarray:
    """(row,) errors of the target, up to a factor."""
    return samples.scale if samples.errors is None else samples.errors


def _spread(law: Law, samples: Samples) -> np.ndarray:
    """(row,) error in a law's prediction from those of the features."""
    slopes = slopes_of(law.form, samples, samples.X, law.constants)
    with np.errstate(all="ignore"):
        spread = np.linalg.norm(slopes * samples.feature_errors, axis=1)
    return np.where(np.isfinite(spread), spread, 0.0)
