"""The regression problem: features, a target, groups, and what counts as an error."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

LEAST_GROUPS = 4
"""Drawn as wholes; of fewer, rows are."""
LARGE = 1e3
"""Residual of a prediction that is undefined, or not positive where the target is."""
BY_ROW = (
    "X", "y", "groups", "weights", "errors", "smooth", "feature_errors", "spread", "trials",
    "row_numbers",
)  # fmt: skip
"""Attributes of samples with a value for every row."""


def floored(y: np.ndarray) -> np.ndarray:
    """(row,) magnitudes, at least a tenth of the median."""
    magnitude = np.abs(y)
    # targets near zero do not dominate
    return np.asarray(np.maximum(magnitude, 0.1 * np.median(magnitude)))


def relative_weights(y: np.ndarray, errors: np.ndarray) -> np.ndarray | None:
    """(row,) weights of relative residuals from standard errors of the target, mean square one.

    None if an error is zero: nothing beats exact.
    """
    if not np.all(errors > 0):
        return None
    weights = floored(y) / errors
    return np.asarray(weights / np.sqrt(np.mean(weights**2)))


@dataclass(frozen=True)
class Samples:
    """Rows of features and a target, in groups that each count as one observation.

    Attributes:
        X: (row, feature) float64, every feature positive unless it is a coordinate.
        y: (row,) target.
        names: (feature,) names.
        groups: (row,) integer; rows of one group (one orbit) share their systematic error.
        weights: (row,) relative weights of the residuals (1 by default).
        errors: (row,) divisors of residuals, if errors are not relative: the target's standard
            errors, or one number for all rows. Then no logarithms are taken.
        smooth: (row,) relative size of an error that is smooth in the features and shared by all
            rows, if the table shows it; otherwise the error floor replaces it.
        target: name of the target.
        feature_errors: (row, feature) standard errors of the features, in the scale of `errors` if
            given; zero for those without.
        shares: (feature,) whether its errors are a share of the (unknown) true value.
        spread: (row,) their contribution to `errors` through a law's slopes.
        signed: whether other rows of the same table have targets that are not positive.
        trials: (row,) numbers of trials of which the target is the share of successes.
        unit: `errors` over the standard errors that were given; None if none were.
        indicators: how many last columns indicate a row's group of constants: one in the column of
            that group, zero elsewhere.
        row_numbers: (row,) its number in the table that it is from, counted from zero.
    """

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    groups: np.ndarray
    weights: np.ndarray | None = None
    target: str = "F"
    errors: np.ndarray | None = None
    smooth: np.ndarray | None = None
    feature_errors: np.ndarray | None = None
    shares: np.ndarray | None = None
    spread: np.ndarray | None = None
    signed: bool = False
    trials: np.ndarray | None = None
    unit: float | None = None
    indicators: int = 0
    row_numbers: np.ndarray | None = None

    @property
    def few(self) -> bool:
        """Whether there are too few rows to keep some aside."""
        return len(self.y) < 50

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the measured columns."""
        return self.names[: len(self.names) - self.indicators]

    @property
    def measured(self) -> np.ndarray:
        """(row, feature) the measured columns."""
        return self.X[:, : len(self.features)]

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest value of each measured column."""
        columns = zip(self.features, self.measured.T, strict=True)
        return {name: (float(column.min()), float(column.max())) for name, column in columns}

    @cached_property
    def ranks(self) -> np.ndarray:
        """(feature, row) the rows in the order of each measured column."""
        return np.argsort(self.measured, axis=0, kind="stable").T.copy()

    @property
    def indicated(self) -> np.ndarray:
        """(row,) index of the group of constants."""
        return np.asarray(np.argmax(self.X[:, len(self.features) :], axis=1))

    @cached_property
    def by_group(self) -> tuple[np.ndarray, np.ndarray]:
        """(row,) the same index, and the place of the row among those of its group."""
        counted = np.cumsum(self.X[:, len(self.features) :], axis=0, dtype=int)
        return self.indicated, counted[np.arange(len(counted)), self.indicated] - 1

    @property
    def deviations(self) -> np.ndarray | None:
        """(row,) divisors of residuals if errors are not relative: all causes together."""
        if self.errors is None or self.spread is None:
            return self.errors
        return np.asarray(np.hypot(self.errors, self.spread))

    @property
    def logarithmic(self) -> bool:
        """Whether residuals are logarithms of ratios: every target is positive."""
        return not self.signed and bool(np.all(self.y > 0))

    @property
    def scale(self) -> np.ndarray:
        """(row,) reference of a relative error."""
        return np.abs(self.y) if self.logarithmic else floored(self.y)

    @property
    def log_weights(self) -> np.ndarray | None:
        """(row,) weights of the residuals of log y; None if all rows count equally."""
        deviations = self.deviations
        return self.weights if deviations is None else np.abs(self.y) / deviations

    @property
    def n_effective(self) -> int:
        """Number of groups: the observations in an information criterion."""
        return len(np.unique(self.groups))

    def residuals(self, prediction: np.ndarray) -> np.ndarray:
        """(row,) log(prediction/y) for positive targets, else the relative error.

        If the rows' errors are known, the deviation over them. A relative error refers to at least
        a tenth of the median magnitude, so targets that cross zero do not dominate the fit.
        """
        return self.with_gain(prediction)[0]

    def with_gain(self, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row,) residuals, and their slope by the prediction: zero where that is too far off."""
        deviations = self.deviations
        if deviations is None and self.logarithmic:
            error, gain = np.log(prediction / self.y), 1 / prediction
        else:
            gain = 1 / (self.scale if deviations is None else deviations)
            error = (prediction - self.y) * gain
        gain = np.where(np.abs(error) < LARGE, gain, 0.0)
        error = np.where(np.isfinite(error), np.clip(error, -LARGE, LARGE), LARGE)
        weights = 1.0 if self.weights is None else self.weights
        return error * weights, gain * weights

    def factor(self, prediction: np.ndarray) -> float:
        """By which a prediction fits best; one if there is none."""
        errors, gain = self.with_gain(prediction)
        weights = 1.0 if self.weights is None else self.weights
        if self.deviations is None and self.logarithmic:
            size = weights * (np.abs(errors) < LARGE * weights)
            factor = float(np.exp(-(size @ errors) / (size @ size)))
        else:
            values = prediction * gain
            factor = float(1 - (values @ errors) / (values @ values))
        return factor if np.isfinite(factor) and factor else 1.0

    def rows(self, chosen: np.ndarray) -> "Samples":
        """The samples of some rows (indices or a mask)."""
        columns = {name: getattr(self, name) for name in BY_ROW}
        return replace(
            self,
            **{name: values[chosen] for name, values in columns.items() if values is not None},
        )

    def without_copies(self) -> "Samples":
        """One of the rows of a group that are equal."""
        rows = np.column_stack([self.groups, self.X, self.y])
        return self.rows(np.sort(np.unique(rows, axis=0, return_index=True)[1]))

    def thinned(self, most: int, rng: np.random.Generator) -> "Samples":
        """At most so many rows, drawn at random with every group in proportion."""
        if len(self.y) <= most:
            return self
        return self.rows(np.sort(rng.choice(len(self.y), most, replace=False)))

    @cached_property
    def between(self) -> np.ndarray:
        """(row, feature) as many points, each between a row and another at random: forms that agree
        in few places part there."""
        rng = np.random.default_rng(0)
        others = self.X[rng.permutation(len(self.y))]
        return np.asarray(self.X + rng.random((len(self.y), 1)) * (others - self.X))

    def permuted(self, rng: np.random.Generator) -> "Samples":
        """The same rows with the target shuffled: nothing left to find."""
        order = rng.permutation(len(self.y))
        errors = None if self.errors is None else self.errors[order]
        trials = None if self.trials is None else self.trials[order]
        return replace(
            self, y=self.y[order], weights=None, errors=errors, smooth=None, spread=None,
            trials=trials,
        )  # fmt: skip

    def split(self, fraction: float, rng: np.random.Generator) -> tuple["Samples", "Samples"]:
        """Training and held-out samples; whole groups are held out if there are several."""
        groups = np.unique(self.groups)
        if len(groups) < LEAST_GROUPS:
            out = rng.permutation(len(self.y)) < max(1, round(fraction * len(self.y)))
        else:
            held = rng.choice(groups, max(1, round(fraction * len(groups))), replace=False)
            out = np.isin(self.groups, held)
        return self.rows(~out), self.rows(out)
