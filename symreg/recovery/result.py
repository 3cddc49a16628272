"""A recovery's result with its evidence: the object that `symreg.recover` returns."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
import sympy
from sympy.core.parameters import distribute

from orbits.estimates import STANDARD_ERRORS, Estimate
from orbits.expressions import OWN, names_of, parse_expression
from orbits.files import as_json
from orbits.printing import facts, html_table, wrapped
from orbits.quantities import require_no_unit
from orbits.tables import as_frame, spellings
from orbits.units import ONE
from symreg.fit.expansions import Break
from symreg.formulas.expressions import constant_symbol, evaluate, in_full, latex, mathml, written
from symreg.formulas.precision import LAST_DIGITS
from symreg.formulas.written import simple_together, with_plain_quotients
from symreg.recovery.constants import KnownConstant, recognised
from symreg.recovery.gates import Gate
from symreg.recovery.rival import Rival
from symreg.result import Result


@dataclass(frozen=True)
class Quantity(Estimate):
    """A number in a law: its interval, and the truth if known.

    Attributes:
        name: of the constant, the parameter or the feature whose exponent it is.
        truth: of the law that generated the data.
        relative_error: value over truth, less one.
        recognised: a known constant it may be.
        unit: its dimension in SI base units, if the columns have units.
        unit_in_si: size of the unit of `value`.
        unit_as_given: the unit of `value`, by the names of those of the columns.
    """

    name: str = ""
    truth: float | None = None
    relative_error: float | None = None
    recognised: KnownConstant | None = None
    unit: str | None = None
    unit_in_si: float | None = None
    unit_as_given: str | None = None

    @classmethod
    def named(cls, name: str, estimate: Estimate | None, truth: float | None) -> "Quantity":
        """A quantity from an estimate; None if nothing was measured."""
        if estimate is None or estimate.value is None:
            return cls(name=name, truth=truth)
        return cls(
            **vars(estimate),
            name=name,
            truth=truth,
            relative_error=None if not truth else estimate.value / truth - 1,
            recognised=recognised(estimate),
        )

    @property
    def holds_truth(self) -> bool | None:
        """Whether the interval contains the truth; None if either is unknown."""
        return None if self.truth is None or self.half_width is None else self.truth in self


def numbers_of(
    quantities: Sequence[Quantity], covariance: Sequence[Sequence[float]] | np.ndarray
) -> list[sympy.Number]:
    """A law's numbers in what is written and predicted: as fitted, or simple ones that the rows do
    not tell from these. One with a unit is as fitted: which is simple is a matter of the unit."""
    plain = [q if q.unit in (None, ONE.text) else Estimate(q.value) for q in quantities]
    return simple_together(plain, covariance)


@dataclass(frozen=True)
class Agreement:
    """How many resamples of the table's groups select the same formula again."""

    agreeing: int
    resamples: int

    def __str__(self) -> str:
        """`98 of 100 resamples`."""
        return f"{self.agreeing} of {self.resamples} resamples"


Status = Literal["found", "approximation", "fitted", "none"]


@dataclass(frozen=True)
class Null:
    """What the same search found with nothing to find."""

    verdict: str
    recovered: bool
    expression: str
    r2: float | None


@dataclass(frozen=True)
class FrontPoint:
    """A formula of a Pareto front: as one reads it, and as `formula` with all digits."""

    expression: str
    complexity: int
    loss: float | None
    score: float | None
    seed: int
    engine: str
    formula: str = ""


@dataclass(frozen=True)
class PerGroup:
    """One form with separate constants in every group.

    Attributes:
        column: its values are the groups.
        values: of the groups, in order.
        form: the formula with its constants by name.
        constants: the coefficients by name: one if shared by all groups, or one per group.
        covariance: (group, constant, constant) of the form's constants in each group.
    """

    column: str
    values: tuple[str | int | float, ...]
    form: str
    constants: dict[str, tuple[str, ...]]
    covariance: tuple[tuple[tuple[float, ...], ...], ...] = ()


@dataclass(frozen=True)
class Recovery(Result):
    """The law, the verdict and the evidence.

    Attributes:
        recovered: whether the requested law was recovered: every gate holds, for this table alone.
        status: found (a law, named or not: every gate of `found_gates` holds), approximation (good
            in `domain`, and no law), fitted (the form was given), or none.
        written: the formula as one would write it, numbers that may be simple ones written so.
        noise: what the target's errors were taken for, and their size.
        error: rms error of all rows, relative to the target's size.
        worst: the largest error of a row, likewise.
        gap: where the table breaks in two, if that explains why no formula holds.
        matches: name of the law; None for an unnamed one.
        forms: textbook laws with its form, and its units if the columns have any.
        verdict: of the comparison with the reference (`symreg.formulas.compare`).
        reference: the law compared with; None if there was none and no known law fits.
        expression: selected formula, exponents snapped, numbers fitted.
        raw_expression: the engine's own: constants refitted, nothing snapped.
        law: name of the selected law, if any.
        selected_from: the engine that found it, or `named-laws`.
        constant: the strength.
        exponents: free exponent of every feature in a product of powers; the truth is the reference
            law's on the same rows.
        parameters: of the law.
        r2: on held-out groups, the better of linear and log.
        r2_linear: on held-out groups.
        r2_log: the same for logarithms; None if a target is not positive.
        agreement: of resamples of the groups on the formula.
        nulls: by kind of null control.
        gates: every condition on `recovered`.
        found_gates: every condition on `found`.
        rivals: formulas of the pool, the selected one first, then those that explain the table as
            well; a law is found only if there are none of these.
        coefficients: every fitted number of the formula, named as in `form`.
        columns: names of columns that a formula cannot contain, by their spelling in it.
        per_group: the form and its constants by group, if `per_group` was given.
        covariance: (constant, constant) of the coefficients, in their order, for intervals of
            predictions.
        domain: lowest and highest value of every feature; the formula is untested outside.
        form: the formula with names for its numbers.
        unit: of the formula, by the names of those of the columns; None where they have none.
        points: some rows, drawn at random: every feature, the group, and last the target, by name.
        engine: its name.
        engine_reason: why it was chosen.
        pareto_front: every candidate of every search.
        rows: of the table.
        rows_used: rows drawn for the last fit.
        rows_left_out: outliers, excluded from all fits.
        groups: of the table (orbits).
        non_central: share of an acceleration that is tangential, median over the rows.
        error_floor: relative error that no law need explain.
        explanation: in plain words.
        conclusion: of these, the sentence that matters.
        summary: the law and its numbers by name, as text.
        notes: what was done to the rows before the search.
        components: the laws of the acceleration's other components, if this is that of the first.
        metrics: of the probe that wrote the table, passed on.
        configuration: options of this recovery.
        versions: of everything that can affect a number.
        seconds: taken.
    """

    recovered: bool
    verdict: str
    reference: str | None
    expression: str
    raw_expression: str | None
    law: str | None
    selected_from: str
    constant: Quantity
    exponents: dict[str, Quantity]
    parameters: dict[str, Quantity]
    r2: float | None
    r2_linear: float | None
    r2_log: float | None
    agreement: Agreement
    nulls: dict[str, Null]
    gates: tuple[Gate, ...]
    engine: str
    engine_reason: str
    pareto_front: tuple[FrontPoint, ...]
    rows: int
    rows_used: int
    groups: int
    non_central: float | None
    error_floor: float
    rows_left_out: int = 0
    status: Status = "none"
    written: str = ""
    noise: str = ""
    error: float | None = None
    worst: float | None = None
    gap: Break | None = None
    matches: str | None = None
    forms: tuple[str, ...] = ()
    found_gates: tuple[Gate, ...] = ()
    rivals: tuple[Rival, ...] = ()
    coefficients: dict[str, Quantity] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    per_group: PerGroup | None = None
    covariance: tuple[tuple[float, ...], ...] = ()
    domain: dict[str, tuple[float, float]] = field(default_factory=dict)
    form: str = ""
    unit: str | None = None
    points: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    explanation: str = ""
    conclusion: str = ""
    summary: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    components: tuple["Recovery", ...] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        """Whether a law was found, named or not."""
        return self.status == "found"

    @property
    def exponent(self) -> Quantity:
        """Free exponent of r."""
        return self.exponents.get("r", Quantity(name="r"))

    @cached_property
    def formula(self) -> sympy.Expr:
        """The selected formula in sympy; symbols are positive if the features are. Numbers are as
        fitted, or simple ones that the rows do not tell from these.

        If groups have their own constants, these are symbols, and what all share is a number.
        """
        fitted = {name: quantity.value for name, quantity in self.coefficients.items()}
        text, values = self.expression, dict[str, sympy.Number]()
        if self.form and None not in fitted.values():
            numbers = numbers_of(tuple(self.coefficients.values()), self.covariance)
            text, values = self.form, dict(zip(fitted, numbers, strict=True))
        if (groups := self.per_group) is not None:
            text = groups.form
            shared = {name: of[0] for name, of in groups.constants.items() if len(of) == 1}
            values = {name: sympy.Float(fitted[of]) for name, of in shared.items() if of in fitted}
        formula, symbols = self._parsed(text)
        with distribute(False):  # a number in front of a sum stays there
            numbered = formula.xreplace({symbols[name]: value for name, value in values.items()})
            return with_plain_quotients(numbered)

    def _parsed(self, text: str) -> tuple[sympy.Expr, dict[str, sympy.Symbol]]:
        """A formula of this result with its symbols, positive if the features are."""
        symbols = {name: sympy.Symbol(name, positive=True) for name in names_of(text, OWN)}
        for name, (low, _) in self.domain.items():
            if low <= 0 and name in symbols:
                symbols[name] = sympy.Symbol(name, real=True)
        for name in (*self.coefficients, *(self.per_group.constants if self.per_group else ())):
            symbols[name] = sympy.Symbol(name, real=True)
        return parse_expression(text, symbols, OWN), symbols

    def predict(self, features: Mapping[str, Any] | pd.DataFrame) -> np.ndarray:
        """The law's value at given features.

        Args:
            features: an array (or column) for each name in the formula: `{"r": [0.5, 1, 2]}`.

        Returns:
            (row,) float64; NaN where the formula is undefined.

        Raises:
            ValueError: if a feature that the formula has is not given, or carries a unit.
        """
        features = features if isinstance(features, Mapping) else as_frame(features)
        names, X = self.columns_of(features)
        if names:
            return evaluate(self.formula, names, X)
        rows = max((len(np.atleast_1d(column)) for _, column in features.items()), default=1)
        return np.full(rows, float(self.formula))

    def columns_of(
        self, features: Mapping[str, Any] | pd.DataFrame, formula: sympy.Expr | None = None
    ) -> tuple[list[str], np.ndarray]:
        """Names of the features of the formula, or another one, and (row, feature) values."""
        given: Mapping[str, Any] | pd.DataFrame = features
        if self.per_group is not None:
            given = {str(name): values for name, values in features.items()}
            given |= self._constants(self.per_group, given)
        formula = self.formula if formula is None else formula
        names = sorted(s.name for s in formula.free_symbols)
        own = {name: self.columns.get(name, name) for name in names}
        missing = [own[name] for name in names if not {name, own[name]} & set(given)]
        if missing:
            raise ValueError(f"the formula {written(formula)} needs {', '.join(missing)} too.")
        chosen = [given[own[name] if own[name] in given else name] for name in names]
        for name, values in zip(names, chosen, strict=True):
            require_no_unit(values, own[name])
        if not names:
            return names, np.zeros((1, 0))
        columns = np.broadcast_arrays(*(np.asarray(column, dtype=float) for column in chosen))
        return names, np.column_stack(columns)

    def _constants(self, groups: PerGroup, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """(row,) constants that differ by group."""
        own = [name for name, members in groups.constants.items() if len(members) > 1]
        table = self.by_group()[own]
        return {name: table[name].to_numpy(dtype=float)[self._group(groups, given)] for name in own}

    def _group(self, groups: PerGroup, given: Mapping[str, Any]) -> np.ndarray:
        """(row,) index of the group; of the first one if no constant differs."""
        if all(len(members) == 1 for members in groups.constants.values()):
            return np.zeros(1, dtype=int)
        if groups.column not in given:
            raise ValueError(f"the constants differ by group: {groups.column} is needed too.")
        place = {value: index for index, value in enumerate(groups.values)}
        column = [
            next((each for each in spellings(label) if each in place), label)
            for label in np.atleast_1d(np.asarray(given[groups.column])).tolist()
        ]
        if unknown := sorted(set(column) - set(place), key=str):
            some = ", ".join(map(str, groups.values[:10]))
            more = f" and {len(place) - 10} more" if len(place) > 10 else ""
            raise ValueError(
                f"{groups.column} = {unknown[0]} is no group of the table: {some}{more}."
            )
        return np.array([place[each] for each in column])

    def by_group(self) -> pd.DataFrame:
        """Every constant in every group, with its interval.

        Returns:
            One row per value of the column: `c1`, `c1_low`, `c1_high`, `c2`, ...; a constant shared
            by all groups is the same in every row.

        Raises:
            ValueError: if the groups have no separate constants.
        """
        if self.per_group is None:
            raise ValueError("no groups were told apart; name their column: per_group='temp'.")
        columns: dict[str, list[float | None]] = {}
        for name, coefficients in self.per_group.constants.items():
            count = len(self.per_group.values)
            each = [self.coefficients[c] for c in coefficients] * (count // len(coefficients))
            columns[name] = [quantity.value for quantity in each]
            columns[f"{name}_low"] = [quantity.low for quantity in each]
            columns[f"{name}_high"] = [quantity.high for quantity in each]
        index = pd.Index(self.per_group.values, name=self.per_group.column)
        return pd.DataFrame(columns, index=index)

    def form_of_new_group(self) -> str:
        """The form for a group that the table lacks: what all groups share is a number in it.

        `symreg.recover(new_rows, ..., form=law.form_of_new_group())` fits the other constants to
        the new group's rows alone.

        Raises:
            ValueError: if the groups have no separate constants.
        """
        if self.per_group is None:
            raise ValueError("no groups were told apart; name their column: per_group='temp'.")
        return in_full(self.formula)

    def predict_interval(self, features: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
        """The law's value with the 95 % interval from its constants' uncertainty.

        The interval is the law's, to first order in the constants, and no narrower than rounding; a
        new measurement scatters about it like the table's rows.

        Args:
            features: as for `predict`.

        Returns:
            Columns `value`, `low`, `high`, and `inside`: whether every feature lies within
            `domain`, outside which the formula is untested.

        Raises:
            ValueError: if a feature that the formula has is not given.
        """
        features = features if isinstance(features, Mapping) else as_frame(features)
        value = self.predict(features)
        names, X = self.columns_of(features)
        spread = np.zeros(len(value))
        text, constants = self.form, [quantity.value for quantity in self.coefficients.values()]
        own, covariance = list(self.coefficients), np.array(self.covariance)
        values = np.array(constants, dtype=float)[:, None]
        if (groups := self.per_group) is not None:
            group = self._group(groups, {str(name): each for name, each in features.items()})
            text, own = groups.form, list(groups.constants)
            values = self.by_group()[own].to_numpy(dtype=float)[group].T
            covariance = np.array(groups.covariance)[group]
        if len(covariance):
            form, symbols = self._parsed(text)
            numbered = form.xreplace({symbols[n]: constant_symbol(i) for i, n in enumerate(own)})
            slopes = np.column_stack(
                [
                    evaluate(sympy.diff(numbered, constant_symbol(i)), names, X, list(values))
                    for i in range(len(own))
                ]
            )
            variance = slopes[:, None, :] @ covariance @ slopes[:, :, None]
            spread = STANDARD_ERRORS * np.sqrt(variance[:, 0, 0])
        spread = np.maximum(spread, LAST_DIGITS * np.abs(value))
        measured = [name in self.domain for name in names]
        limits = np.array([self.domain[name] for name in names if name in self.domain])
        X = X[:, measured]
        inside = np.all((limits.T[0] <= X) & (limits.T[1] >= X), axis=1) if len(limits) else True
        return pd.DataFrame(
            {"value": value, "low": value - spread, "high": value + spread, "inside": inside}
        )

    def plot(self) -> Any:
        """The law beside its data, and the residuals.

        Returns:
            The matplotlib `Axes` of the law; that of the residuals is below it, in
            `.figure.axes`.

        Raises:
            ValueError: if the result was written without its rows.
        """
        from symreg.recovery.plot import plot_law

        return plot_law(self)

    def plot_pareto(self, axes: Any = None) -> Any:
        """The Pareto front of all searches, with the selected complexity ringed.

        Returns:
            The matplotlib `Axes`.
        """
        from orbits.plot import new_axes, own_style
        from symreg.recovery.plot import plot_pareto_front

        with own_style():
            return plot_pareto_front(new_axes() if axes is None else axes, {"searched": self})

    @property
    def mathml(self) -> str:
        """The formula in presentation MathML, four significant digits."""
        return mathml(self.formula)

    def to_dict(self) -> dict[str, Any]:
        """As JSON's own types; `found`, `exponent` and `mathml` too."""
        more = {"found": self.found, "exponent": as_json(self.exponent), "mathml": self.mathml}
        return super().to_dict() | more

    def sympy(self, text: str | None = None) -> "sympy.Expr":
        """The selected formula in sympy, as `formula`; or another of this result, such as a rival's
        or one of the Pareto front's `expression`."""
        return self.formula if text is None else self._parsed(text)[0]

    def latex(self, precision: int = 4) -> str:
        """The formula in LaTeX, with so many digits per number."""
        return latex(self.formula, precision)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _repr_html_(self) -> str:
        rows = html_table((name, text) for name, text in self.summary.items() if name != "law")
        law = f"<math>{self.mathml}</math>"
        said = f"{html.escape(self.conclusion)} Its picture: <code>.plot()</code>"
        return f"<p>{law}</p>{rows}<p>{said}</p>"

    def __repr__(self) -> str:
        status = {"none": "no law"}.get(self.status, self.status)
        if self.reference is None:
            return f"Recovery({self.expression}; {status})"
        status += ", recovered" if self.recovered else ", not recovered"
        return f"Recovery({self.expression}; {status}; {self.reference}: {self.verdict})"

    def __str__(self) -> str:
        """The law and its numbers as a table, and the conclusion."""
        lines = [self.conclusion, *(f"Note: {note}." for note in self.notes)]
        own = "\n\n".join([facts(self.summary), *map(wrapped, lines)])
        return "\n\n".join([own, *map(str, self.components)])
