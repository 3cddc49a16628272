"""A product of powers, fitted by weighted linear least squares in logarithms."""

from dataclasses import dataclass

import numpy as np

from symreg.fit.samples import Samples


@dataclass(frozen=True)
class Monomial:
    """c * x1**p1 * x2**p2 ...: the natural logarithm of c, and (feature,) exponents."""

    log_constant: float
    exponents: np.ndarray


def usable(samples: Samples) -> bool:
    """Whether a monomial can be fitted: all positive, and more rows than constants."""
    positive = samples.logarithmic and bool(np.all(samples.X > 0))
    return positive and len(samples.y) > samples.X.shape[1]


def fit_monomial(samples: Samples) -> Monomial:
    """Weighted least squares of log y on the log features.

    Raises:
        ValueError: if a target or a feature is not positive, or rows are fewer than constants.
    """
    for name, values in zip(
        (samples.target, *samples.names), (samples.y, *samples.X.T), strict=True
    ):
        bad = int(np.count_nonzero(values <= 0))
        if bad:
            raise ValueError(
                f"{name} has {bad} value(s) that are zero or negative, of {len(values)}; a product "
                "of powers needs logarithms of all of them. Choose another engine (portfolio)."
            )
    if not usable(samples):
        raise ValueError(
            f"a product of powers of {samples.X.shape[1]} feature(s) needs more rows than "
            f"{len(samples.y)}."
        )
    design = np.column_stack([np.ones(len(samples.y)), np.log(samples.X)])
    target = np.log(samples.y)
    weights = samples.log_weights
    if weights is not None:
        design, target = design * weights[:, None], target * weights
    solution, *_ = np.linalg.lstsq(design, target, rcond=None)
    return Monomial(float(solution[0]), solution[1:])
