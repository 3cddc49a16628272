"""One form with constants of its own for every group of rows, some of them shared by all.

Elsewhere such a law is a formula with a column per group: one in its rows, zero in others.

Source: Russeil et al., arXiv:2402.04298, for one form with constants for every group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from scipy.optimize import least_squares

from symreg.fit.noise import smooth_mean_square
from symreg.fit.refine import Law, fit
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol, evaluate, named, symbol

STEP = 1e-6


@dataclass(frozen=True)
class GroupedLaw:
    """A form with constants for every group.

    Attributes:
        base: the form over the features.
        values: (group, constant).
        shared: constants common to all groups.
    """

    base: Law
    values: np.ndarray
    shared: frozenset[int] = frozenset()

    @property
    def places(self) -> np.ndarray:
        """(group, constant) index of the constant among all fitted."""
        groups, count = self.values.shape
        found, following = np.zeros((groups, count), dtype=int), 0
        for j in range(count):
            own = 1 if j in self.shared else groups
            found[:, j] = following + np.arange(groups) % own
            following += own
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Of fitted constants, `c1_2` for the second group's c1."""
        return tuple(name for names in self.by_name.values() for name in names)

    @property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Names of fitted constants, by the form's: one if shared, else one per group."""
        groups, _ = self.values.shape
        mark, own = "_", self.base.constant_names
        while any(f"{name}{mark}1" in own for name in own):
            mark += "_"
        return {
            name: (name,) if j in self.shared else tuple(
                f"{name}{mark}{g + 1}" for g in range(groups)
            )
            for j, name in enumerate(own)
        }  # fmt: skip

    @property
    def form(self) -> str:
        """The form as text with named constants."""
        return named(self.base.form, self.base.constant_names)

    def of_group(self, group: int) -> Law:
        """The law in one group."""
        return replace(self.base, constants=tuple(map(float, self.values[group])))

    def joint(self, samples: Samples) -> Law:
        """The law of all rows, with columns for groups."""
        places, columns = self.places, samples.names[-samples.indicators :]
        swapped = {}
        for j in range(self.values.shape[1]):
            if j in self.shared:
                swapped[constant_symbol(j)] = constant_symbol(places[0, j])
            else:
                pairs = zip(places[:, j], columns, strict=True)
                own = (constant_symbol(p) * symbol(n) for p, n in pairs)
                swapped[constant_symbol(j)] = sympy.Add(*own)
        constants = np.zeros(places.max(initial=-1) + 1)
        constants[places] = self.values
        residuals = _residuals(self, samples, self.values)
        return replace(
            self.base,
            form=self.base.form.xreplace(swapped),
            constants=tuple(map(float, constants)),
            mean_square=float(np.mean(residuals**2)),
            smooth=smooth_mean_square(residuals, samples.X),
            names=self.names,
        )


def _residuals(law: GroupedLaw, samples: Samples, values: np.ndarray) -> np.ndarray:
    """(row,) with (group, constant) values."""
    own = values[samples.indicated].T
    return samples.residuals(evaluate(law.base.form, samples.names, samples.X, list(own)))


def refit_grouped(law: GroupedLaw, samples: Samples) -> GroupedLaw:
    """The same form, sharing the same constants, fitted to samples."""
    places, groups = law.places, samples.indicated
    if not places.size:
        return law
    start = np.zeros(places.max() + 1)
    weight = np.bincount(groups, minlength=len(places))[:, None] * np.ones(places.shape)
    np.add.at(start, places, weight * law.values)
    start /= np.bincount(places.ravel(), weight.ravel())
    scale = np.where(start == 0, 1e-3, np.abs(start))

    def residuals(place: np.ndarray) -> np.ndarray:
        return _residuals(law, samples, (place * scale)[places])

    def jacobian(place: np.ndarray) -> np.ndarray:
        found = np.zeros((len(samples.y), len(start)))
        values = (place * scale)[places]
        for j in range(places.shape[1]):
            step = np.zeros_like(values)
            step[:, j] = STEP * scale[places[:, j]]
            up, down = (_residuals(law, samples, values + s) for s in (step, -step))
            found[np.arange(len(samples.y)), places[groups, j]] += (up - down) / (2 * STEP)
        return found

    if len(samples.y) <= len(start):
        return law
    found = least_squares(
        residuals, start / scale, jacobian, method="lm", x_scale="jac", max_nfev=30
    )
    return replace(law, values=(found.x * scale)[places])


def group_parts(samples: Samples) -> list[Samples]:
    """The samples of every group, without indicator columns."""
    width = samples.X.shape[1] - samples.indicators
    own = replace(samples, X=samples.X[:, :width], names=samples.names[:width], indicators=0)
    if own.feature_errors is not None and own.shares is not None:
        own = replace(own, feature_errors=own.feature_errors[:, :width], shares=own.shares[:width])
    return [own.rows(samples.indicated == g) for g in range(samples.indicators)]


def started(base: Law, parts: Sequence[Samples]) -> GroupedLaw:
    """A form fitted to each group alone, from its own start and its neighbour's result."""
    values = np.zeros((len(parts), len(base.constants)))
    before = base.constants
    for g, part in enumerate(parts):
        fits = [fit(base.form, start, part) for start in (base.constants, before)]
        before = min(fits, key=lambda each: each.mean_square).constants
        values[g] = before
    return GroupedLaw(base, values)
