"""Which errors a table's target has: relative, additive or in the logarithm, given or chosen.

The three have different densities of y: additive errors p(y) = N(y; f, s), relative ones
N(y; f, s f), errors of the logarithm N(log y; log f, s)/y. A share of n trials errs by
sqrt(f (1 - f)/n), in rows of no successes, too; errors of counts go like sqrt(f). Where the table
does not say which it has, the likelihood of the best formula under each decides. A scatter of 0.11
dex taken for a relative error would bias a constant by half its variance, 3 %.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from symreg.fit.orthogonal import scatter_beyond, slopes_of
from symreg.fit.refine import Law, refit_law
from symreg.fit.samples import Samples, floored
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import DOUBLE, is_single, rounded_by

Noise = Literal["additive", "relative", "logarithmic", "counts"]
Kind = Literal["given", "none", "additive", "relative", "logarithmic", "counts", "binomial"]
Refit = Callable[[Law, Samples], Law]

ROUNDED = 2.0
"""Errors of rounding, rms, up to which it is all that a formula leaves."""
COARSE = 1e-3
"""Errors of rounding beside the scatter of targets above which they are noise."""
COMPARED = 25
"""Formulas, best first, that are compared."""
LARGEST_RELATIVE = 0.3
"""Larger errors are not relative to the target: zero would be a good prediction. They are compared
as relative to the law's own."""
LARGE_COMPARED = 8
"""Formulas for which errors relative to their own prediction are tried."""
HALF_A_COUNT = 0.5
"""What a count is at least for its error: where none is expected one may come."""
FEW_COUNTS = 4
"""Whole numbers so few may be grades or classes."""
SETTLING = 3
"""Fits in which errors relative to a law follow it."""


@dataclass(frozen=True)
class ErrorModel:
    """Divisors of residuals if no errors are given; by default as in `Samples`.

    Attributes:
        kind: of errors; none if only rounding, or a field's own systematic error, is left.
        size: of additive errors.
        law: relative errors are relative to its prediction, those of counts to its root, binomial
            ones those of its shares.
            Relative to the noisy target, what is too low by chance would count for more, and
            constants be off by twice the variance.
        through: the law whose slopes propagate the errors of features.
        scatter: factor on the target's errors besides those.
        rounded: the law whose slopes propagate the rounding of features, the only errors.

    Source: Wedderburn, Biometrika 61, 439 (1974) for a variance that follows the mean.
    """

    kind: Kind = "none"
    size: float | None = None
    law: Law | None = None
    through: Law | None = None
    scatter: float = 1.0
    rounded: Law | None = None

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
            unit=None if samples.unit is None else unit * samples.unit,
        )  # fmt: skip

    def _of_the_target(self, samples: Samples) -> Samples:
        law = self.rounded or self.law
        if samples.errors is not None or (self.size is None and law is None):
            return samples
        if law is None:
            return replace(samples, errors=np.full(len(samples.y), self.size), weights=None)
        predicted = law.values(samples)
        predicted = np.where(np.isfinite(predicted), predicted, samples.y)
        if self.kind == "relative":
            errors = floored(predicted)
            # a law that is zero in most rows gives these no size of their own
            errors = np.where(errors > 0, errors, float(np.max(np.abs(samples.y))) or 1.0)
            return replace(samples, errors=errors, weights=None)
        if self.kind == "counts":
            known = root_of(predicted)
        elif self.rounded:
            known = rounding_of(law, samples)
        else:
            known = binomial(predicted, samples.trials)
        unit = float(np.sqrt(np.mean((samples.y / known) ** 2)))
        # how many shares are off by more than their trials allow is as sure as given errors
        own = unit if self.kind == "binomial" else None
        return replace(samples, errors=unit * known, unit=own, weights=None)


def binomial(shares: np.ndarray, trials: np.ndarray | None) -> np.ndarray:
    """(row,) standard errors of shares of successes; half a trial of either kind is added, as none
    are never certain to be none."""
    assert trials is not None  # for the type checker: chosen for such samples only
    likely = (np.clip(shares, 0.0, 1.0) * trials + 0.5) / (trials + 1)
    return np.asarray(np.sqrt(likely * (1 - likely) / trials))


def root_of(counts: np.ndarray) -> np.ndarray:
    """(row,) what the errors of expected counts go like."""
    return np.asarray(np.sqrt(np.maximum(counts, HALF_A_COUNT)))


def are_counts(y: np.ndarray) -> bool:
    """Whether targets may be counts: whole numbers, none negative, of more than `FEW_COUNTS`."""
    return bool(np.all((y >= 0) & (y == np.round(y)))) and len(np.unique(y)) > FEW_COUNTS


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
    size = float(np.sqrt(np.mean(samples.y**2)))
    if floor or not laws or not 0 < size < np.inf:
        return ErrorModel(), laws
    shown = sorted(laws, key=lambda law: law.mean_square)[:COMPARED]
    additive = ErrorModel("additive", size=size)
    if samples.trials is not None:
        return _following(ErrorModel("binomial"), laws, additive.of(samples), samples, refit)
    if noise is None and any(is_single(column) for column in samples.measured.T):
        for law in sorted(shown, key=lambda law: law.nodes):
            errors = ErrorModel(rounded=law)
            again = refit(law, errors.of(samples))
            small = COARSE * np.std(samples.y) > np.sqrt(np.mean(rounding_of(law, samples) ** 2))
            if small and rounding_left(again, samples) < ROUNDED:
                under = errors.of(samples)
                return errors, [refit(law, under) for law in laws[: 4 * COMPARED]]
    share = min(1.0, float(np.std(samples.y)) / size)
    if shown[0].mean_square < DOUBLE * share**2 and noise is None:
        return ErrorModel(), laws
    others = [refit(law, additive.of(samples)) for law in shown]
    rows = len(samples.y)
    # the density of y under relative errors has the factor 1/|y|
    relative = min(law.criterion(rows, 0.0) for law in shown)
    zeros = bool((samples.scale == 0).any())  # they have no relative error
    if not zeros:
        relative += 2 * float(np.sum(np.log(samples.scale / size)))
    even = min(others, key=lambda law: law.criterion(rows, 0.0))
    rest = even.criterion(rows, 0.0)
    if noise == "counts" or (noise is None and are_counts(samples.y)):
        counts = ErrorModel("counts", law=even)
        under = counts.of(samples)
        assert under.errors is not None  # for the type checker: that model gives them
        ours = min(refit(law, under).criterion(rows, 0.0) for law in others)
        ours += 2 * float(np.sum(np.log(under.errors / size)))
        if noise == "counts" or ours < (rest if zeros else min(rest, relative)):
            return _following(counts, laws, under, samples, refit)
    if noise is None and shown[0].mean_square > LARGEST_RELATIVE**2:
        noise = _of_large(shown, others, samples, size, refit)
    if noise is None and (zeros or rest < relative):
        noise = "additive"
    if noise == "additive":
        return additive, [refit(law, additive.of(samples)) for law in laws]
    if noise == "relative" and shown[0].mean_square > LARGEST_RELATIVE**2:
        return _following(ErrorModel("relative"), laws, additive.of(samples), samples, refit)
    laws.sort(key=lambda law: law.criterion(rows, floor))
    errors = ErrorModel("relative", law=laws[0])
    best = refit(laws[0], errors.of(samples))
    if noise == "logarithmic" or (noise is None and _is_logarithmic(laws[0], best, samples)):
        return ErrorModel("logarithmic"), laws
    return errors, [refit(law, errors.of(samples)) for law in laws[: 2 * COMPARED]]


def _following(
    errors: ErrorModel, laws: list[Law], start: Samples, samples: Samples, refit: Refit
) -> tuple[ErrorModel, list[Law]]:
    """Errors that follow the best law, which is fitted under them in turn, and all laws so; from
    other errors on."""
    n = samples.n_effective
    laws = [refit(law, start) for law in laws[: 8 * COMPARED]]
    laws = sorted(laws, key=lambda law: law.criterion(n, 0.0))[: 2 * COMPARED]
    for _ in range(SETTLING):
        errors = replace(errors, law=min(laws, key=lambda law: law.criterion(n, 0.0)))
        under = errors.of(samples)
        laws = [refit(law, under) for law in laws]
    return errors, laws


def _of_large(
    shown: list[Law], others: list[Law], samples: Samples, size: float, refit: Refit
) -> Noise:
    """The likeliest kind of large errors, by laws fitted to logarithms or ratios, and others with
    equal errors."""
    n = samples.n_effective
    costs: dict[Noise, float] = {"additive": min(law.criterion(n, 0.0) for law in others)}
    if samples.logarithmic:
        left = min(law.criterion(n, 0.0) for law in shown)
        costs["logarithmic"] = left + 2 * float(np.sum(np.log(samples.y / size)))
    best = sorted(others, key=lambda law: law.criterion(n, 0.0))[:LARGE_COMPARED]
    costs["relative"] = np.inf
    for law in best:
        for _ in range(SETTLING):
            own = ErrorModel("relative", law=law).of(samples)
            law = refit(law, own)
        assert own.errors is not None  # for the type checker: just made
        left = law.criterion(n, 0.0) + 2 * float(np.sum(np.log(own.errors / size)))
        costs["relative"] = min(costs["relative"], left)
    return min(costs, key=lambda kind: costs[kind])


def rounding_of(law: Law, samples: Samples) -> np.ndarray:
    """(row,) standard errors of the target by its own rounding and, through a law's slopes, by that
    of the features; positive, as arithmetic rounds too."""
    columns = np.column_stack([rounded_by(column) for column in samples.X.T])
    own = np.maximum(rounded_by(samples.y), np.finfo(float).eps * floored(samples.y))
    return np.hypot(own, _spread(law, replace(samples, feature_errors=columns)))


def rounding_left(law: Law, samples: Samples) -> float:
    """What a law leaves (rms), in errors of rounding."""
    errors = (law.values(samples) - samples.y) / rounding_of(law, samples)
    left = float(np.sqrt(np.mean(errors**2)))
    return left if np.isfinite(left) else np.inf


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
    # an exact law leaves nothing
    as_logarithm = rows * np.log(np.mean(logarithms**2)) + 2 * np.sum(np.log(samples.y))
    as_share = rows * np.log(np.mean(shares**2)) + 2 * np.sum(np.log(other))
    return bool(as_logarithm < as_share)


def _own(samples: Samples) -> np.ndarray:
    """(row,) errors of the target, up to a factor."""
    return samples.scale if samples.errors is None else samples.errors


def _spread(law: Law, samples: Samples) -> np.ndarray:
    """(row,) error in a law's prediction from those of the features."""
    slopes = slopes_of(law.form, samples, samples.X, law.constants)
    spread = np.linalg.norm(slopes * samples.feature_errors, axis=1)
    return np.where(np.isfinite(spread), spread, 0.0)
