"""One form with constants of its own for every group of rows, some of them shared by all.

Elsewhere such a law is a formula with a column per group: one in its rows, zero in others.

Source: Russeil et al., arXiv:2402.04298, for one form with constants for every group.
"""

from dataclasses import dataclass, replace

import numpy as np
import sympy

from orbits.expressions import in_range
from symreg.fit.noise import smooth_mean_square
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol, evaluate, named, symbol

STEP = 1e-6
"""Relative, of a derivative."""


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
    def is_shared(self) -> np.ndarray:
        """(constant,) whether all groups have it in common."""
        return np.isin(np.arange(self.values.shape[1]), list(self.shared))

    @property
    def places(self) -> np.ndarray:
        """(group, constant) index of the constant among all fitted."""
        groups, count = self.values.shape
        indices, following = np.zeros((groups, count), dtype=int), 0
        for j in range(count):
            own = 1 if j in self.shared else groups
            indices[:, j] = following + np.arange(groups) % own
            following += own
        return indices

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

    @property
    def expression(self) -> sympy.Expr:
        """The form with a number for what all groups share, and names for the rest."""
        numbers = {
            constant_symbol(j): sympy.Float(self.values[0, j]) if j in self.shared else symbol(name)
            for j, name in enumerate(self.base.constant_names)
        }
        return in_range(self.base.form.xreplace(numbers))

    def of_group(self, group: int) -> Law:
        """The law in one group."""
        return replace(self.base, constants=tuple(map(float, self.values[group])))

    def predicted(self, samples: Samples) -> np.ndarray:
        """(row,) values, each by its group's constants."""
        own = self.values[samples.indicated].T
        return evaluate(self.base.form, samples.names, samples.X, list(own))

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
        residuals = samples.residuals(self.predicted(samples))
        return replace(
            self.base,
            form=self.base.form.xreplace(swapped),
            constants=tuple(map(float, constants)),
            mean_square=float(np.mean(residuals**2)),
            smooth=smooth_mean_square(residuals, samples),
            names=self.names,
        )


def _residuals(law: GroupedLaw, samples: Samples, values: np.ndarray) -> np.ndarray:
    """(row,) with (group, constant) values."""
    return samples.residuals(replace(law, values=values).predicted(samples))


MOST_STEPS = 50
"""Of Levenberg and Marquardt."""


def refit_grouped(law: GroupedLaw, samples: Samples) -> GroupedLaw:
    """The same form, sharing the same constants, fitted to samples.

    Levenberg and Marquardt's steps of all groups together. The normal matrix is an arrowhead, as
    own constants meet only themselves and the shared ones, so a step costs what its rows do
    (`Arrowhead`). Without shared constants each group goes its own way: a damping, and a step that
    is taken or not.
    """
    groups, shared = samples.indicated, law.is_shared
    values = law.values.copy()
    if not law.places.size or len(samples.y) <= law.places.max() + 1:
        return law
    weight = np.bincount(groups, minlength=len(values))
    values[:, shared] = weight @ values[:, shared] / weight.sum()
    errors, damping = _residuals(law, samples, values), np.full(len(values), 1e-3)
    for _ in range(MOST_STEPS):
        trial = values - arrowhead(law, samples, values, errors).solved(damping)
        residuals = _residuals(law, samples, trial)
        before, after = (np.bincount(groups, e**2, len(values)) for e in (errors, residuals))
        if shared.any():
            before, after = (np.full(len(values), cost.sum()) for cost in (before, after))
        better = after < before
        values[better] = trial[better]
        errors = np.where(better[groups], residuals, errors)
        damping = np.where(better, damping / 10, damping * 10)
        # a step that gains nothing, or a damping that leaves none
        if np.all(np.where(better, before - after <= 1e-12 * before, damping > 1e8)):
            break
    return replace(law, values=values)


@dataclass(frozen=True)
class Arrowhead:
    """Normal equations of a grouped law, every column of slopes scaled to length one.

    Attributes:
        shared: (constant,) whether all groups have it in common.
        scale: (group, constant) lengths of the columns.
        own: (group, own, own) products of a group's own columns.
        across: (group, own, shared) of its own columns with the shared ones.
        common: (shared, shared).
        side: (group, constant) products with the residuals, those of shared constants in each row.
    """

    shared: np.ndarray
    scale: np.ndarray
    own: np.ndarray
    across: np.ndarray
    common: np.ndarray
    side: np.ndarray

    def solved(self, damping: np.ndarray) -> np.ndarray:
        """(group, constant) the damped step: the shared constants from their Schur complement."""
        inverse, carried, complement = self.eliminated(damping)
        side = self.side[:, ~self.shared]
        rest = self.side[0, self.shared] - np.einsum("gos,go->s", carried, side)
        step = np.zeros_like(self.side)
        step[:, self.shared] = common = complement @ rest
        step[:, ~self.shared] = np.einsum("gop,gp->go", inverse, side) - carried @ common
        return np.asarray(step / self.scale)

    def eliminated(self, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inverses of each group's block, these times its shared columns, and the inverse of the
        Schur complement."""
        one = np.eye(self.own.shape[1])
        inverse = np.linalg.pinv(self.own + damping[:, None, None] * one, hermitian=True)
        carried = inverse @ self.across
        complement = self.common - np.einsum("gos,got->st", self.across, carried)
        complement = complement + damping.max() * np.eye(len(self.common))
        return inverse, carried, np.linalg.pinv(complement, hermitian=True)


def arrowhead(
    law: GroupedLaw, samples: Samples, values: np.ndarray, errors: np.ndarray
) -> Arrowhead:
    """The normal equations at (group, constant) values that leave (row,) residuals."""
    groups, shared, (count, width) = samples.indicated, law.is_shared, values.shape
    slopes = np.zeros((len(errors), width))
    for j in range(width):
        step = np.zeros_like(values)
        step[:, j] = STEP * np.where(values[:, j] == 0, 1e-3, np.abs(values[:, j]))
        up, down = (_residuals(law, samples, values + s) for s in (step, -step))
        slopes[:, j] = (up - down) / (2 * step[groups, j])

    def of_groups(products: np.ndarray) -> np.ndarray:
        """(group, column) sums over the rows of each group."""
        return np.stack([np.bincount(groups, p, count) for p in products.T], axis=1)

    squares = of_groups(slopes**2)
    squares[:, shared] = squares[:, shared].sum(axis=0)
    scale = np.sqrt(np.where(squares > 0, squares, 1.0))
    slopes /= scale[groups]
    side = of_groups(slopes * errors[:, None])
    side[:, shared] = side[:, shared].sum(axis=0)
    pairs = (slopes[:, :, None] * slopes[:, None, :]).reshape(len(errors), width**2)
    blocks = of_groups(pairs).reshape(count, width, width)
    return Arrowhead(
        shared, scale, blocks[:, ~shared][:, :, ~shared], blocks[:, ~shared][:, :, shared],
        blocks[:, shared][:, :, shared].sum(axis=0), side,
    )  # fmt: skip


def group_parts(samples: Samples) -> list[Samples]:
    """The samples of every group, without indicator columns."""
    width = samples.X.shape[1] - samples.indicators
    own = replace(samples, X=samples.X[:, :width], names=samples.names[:width], indicators=0)
    if own.feature_errors is not None and own.shares is not None:
        own = replace(own, feature_errors=own.feature_errors[:, :width], shares=own.shares[:width])
    return [own.rows(samples.indicated == g) for g in range(samples.indicators)]


def started(base: Law, samples: Samples) -> GroupedLaw:
    """A form fitted to each group alone, from its own start and from the groups' median."""
    law = GroupedLaw(base, np.tile(base.constants, (samples.indicators, 1)))
    first = refit_grouped(law, samples)
    second = refit_grouped(replace(law, values=0 * law.values + np.median(first.values, axis=0)),
                           samples)  # fmt: skip
    first_cost, second_cost = (
        np.bincount(samples.indicated, _residuals(each, samples, each.values) ** 2)
        for each in (first, second)
    )
    better = (second_cost < first_cost)[:, None]
    return replace(law, values=np.where(better, second.values, first.values))
