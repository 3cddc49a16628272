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
from symreg.fit.uncertainty import slopes
from symreg.formulas.expressions import constant_symbol, evaluate, named, symbol
from symreg.search.polish import least_squares


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

    def sloped(self, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
        """(group, row) residuals, and their (group, row, constant) slopes: groups with fewer rows
        than others end in zeros."""
        groups, place = at = samples.by_group
        by_constant, errors = slopes(self.base.form, self.values[groups].T, samples)
        residuals = np.zeros((len(self.values), place.max() + 1))
        whole = np.zeros((*residuals.shape, self.values.shape[1]))
        residuals[at], whole[at] = errors, np.where(np.isfinite(by_constant), by_constant, 0.0)
        return residuals, whole

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


def refit_grouped(law: GroupedLaw, samples: Samples) -> GroupedLaw:
    """The same form, sharing the same constants, fitted to samples.

    Groups that share constants are one model. The normal matrix is an arrowhead, as own constants
    meet only themselves and the shared ones, so a step costs what its rows do (`Arrowhead`).
    Without shared constants each group is a model, with a damping and an end of its own.
    """
    shared, values = law.is_shared, law.values.copy()
    if not law.places.size or len(samples.y) <= law.places.max() + 1:
        return law
    weight = np.bincount(samples.indicated, minlength=len(values))
    values[:, shared] = weight @ values[:, shared] / weight.sum()
    by_model = 1 if shared.any() else len(values), -1

    def evaluated(numbers: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved = values.reshape(by_model).copy()
        moved[places] = numbers
        residuals, slopes = replace(law, values=moved.reshape(values.shape)).sloped(samples)
        return residuals.reshape(by_model)[places], slopes.reshape(*by_model, len(shared))[places]

    def step(residuals: np.ndarray, slopes: np.ndarray, damping: np.ndarray) -> np.ndarray:
        groups = len(values) if shared.any() else len(damping)
        slopes = slopes.reshape(groups, -1, len(shared))
        normal = Arrowhead.of(shared, residuals.reshape(groups, -1), slopes)
        return -normal.solved(damping).reshape(len(damping), -1)

    best = least_squares(evaluated, values.reshape(by_model), step_of=step)
    return replace(law, values=best.reshape(values.shape))


@dataclass(frozen=True)
class Arrowhead:
    """Normal equations of a grouped law, every column of slopes scaled to length one.

    Attributes:
        shared: (constant,) whether all groups have it in common.
        scale: (group, constant) lengths of the columns.
        products: (group, constant, constant) of the columns in each group's rows.
        side: (group, constant) products with the residuals, those of shared constants in each row.
    """

    shared: np.ndarray
    scale: np.ndarray
    products: np.ndarray
    side: np.ndarray

    @classmethod
    def of(cls, shared: np.ndarray, residuals: np.ndarray, slopes: np.ndarray) -> "Arrowhead":
        """Of (group, row) residuals and their (group, row, constant) slopes."""
        turned = slopes.swapaxes(1, 2)
        products, side = turned @ slopes, np.einsum("gcr,gr->gc", turned, residuals)
        squares = np.diagonal(products, axis1=1, axis2=2).copy()
        for sums in (squares, side):
            sums[:, shared] = sums[:, shared].sum(axis=0)
        scale = np.sqrt(np.where(squares > 0, squares, 1.0))
        products /= scale[:, :, None] * scale[:, None, :]
        return cls(shared, scale, products, side / scale)

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
        own, common = self.products[:, ~self.shared], self.products[:, self.shared]
        own, across, common = own[:, :, ~self.shared], own[:, :, self.shared], common.sum(axis=0)
        one = np.eye(own.shape[1])
        inverse = np.linalg.pinv(own + damping[:, None, None] * one, hermitian=True)
        carried = inverse @ across
        complement = common[:, self.shared] - np.einsum("gos,got->st", across, carried)
        complement = complement + damping.max() * np.eye(len(complement))
        return inverse, carried, np.linalg.pinv(complement, hermitian=True)


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
        np.sum(each.sloped(samples)[0] ** 2, axis=1) for each in (first, second)
    )
    better = (second_cost < first_cost)[:, None]
    return replace(law, values=np.where(better, second.values, first.values))
