"""The search as a scikit-learn estimator, with PySR's names where they mean the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import sympy
from numpy.typing import ArrayLike  # quoted below: `help` says its name, not what it stands for
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from orbits.options import is_table, require_known
from orbits.quantities import require_no_unit
from orbits.tables import as_frame, holds_numbers, numbers_of
from symreg.fit.form import fit_form
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate, latex
from symreg.formulas.languages import LIBRARIES, PRINTERS, code_of, function_of
from symreg.recovery.config import RecoverConfig, words
from symreg.recovery.recover import recover
from symreg.recovery.result import Recovery
from symreg.recovery.user_table import LEAST_ROWS

BINARY, UNARY = ("+", "-", "*", "/"), ("sqrt", "square", "exp", "log", "sin", "cos")
"""Operators of the one kind where only those of the other are given."""
HANDED_ON = ("law", "errors", "form", "seeds", "null")
"""Options that `recover` takes as they are."""


@dataclass(eq=False, repr=False)
class LawRegressor(RegressorMixin, BaseEstimator):
    """A formula for y in the columns of X: the law found by `symreg.recover`, as an estimator.

    Works in a `Pipeline`, in `cross_val_score` and in a `GridSearchCV`. The full result, with
    gates, rivals and intervals, is `recovery_`.

    Args:
        engine: as `symreg recover --engine`: auto, portfolio, projection, pysr.
        law: reference law to compare with, in column names.
        niterations: iterations of PySR, where it searches.
        population_size: formulas in each of PySR's populations.
        maxsize: largest formula that PySR searches, in nodes.
        binary_operators: as in ["+", "*"]; by default the engine's, beside unary ones `BINARY`.
        unary_operators: as in ["sin", "exp"]; by default the engine's, beside binary ones `UNARY`.
        guesses: formulas to start from.
        errors: of y without `sigma`: additive, relative or logarithmic; by default whichever the
            residuals suit best.
        sigma_of: standard errors of features by name, each a number or a share as in "5%"; the fit
            is then by orthogonal distances.
        units: of the columns of X by name, and of y as `y` or any other: the formula's constants
            get theirs.
        per_group: column of X, which is then a DataFrame, whose values each get their own constants
            in one form, such as a galaxy; it is no feature.
        form: formula to fit instead of searching, as in "a*x + b*v".
        seeds: independent searches.
        timeout_in_seconds: computing time for all searches together.
        null: whether to repeat the search on permuted targets; `found_` requires it.
        random_state: of the split, the searches and the bootstrap.

    Attributes:
        recovery_: the full result (`symreg.Recovery`).
        found_: whether every gate of a law holds.
        equations_: every candidate: complexity, loss, score, equation, sympy_format.
        n_features_in_: columns of X.
        feature_names_in_: their names, if X is a DataFrame.

    Example:
        >>> model = symreg.LawRegressor(timeout_in_seconds=10).fit(X, y)
        >>> model.sympy(), model.predict(X)
    """

    engine: str = "auto"
    _: KW_ONLY
    law: str | None = None
    niterations: int | None = None
    population_size: int | None = None
    maxsize: int | None = None
    binary_operators: Sequence[str] | None = None
    unary_operators: Sequence[str] | None = None
    guesses: Sequence[str] | None = None
    errors: str | None = None
    sigma_of: Mapping[str, str | float] | None = None
    units: Mapping[str, str] | None = None
    per_group: str | None = None
    form: str | None = None
    seeds: int = RecoverConfig.seeds
    timeout_in_seconds: float | None = None
    null: bool = True
    random_state: Any = 0

    def fit(
        self,
        X: "ArrayLike",
        y: "ArrayLike",
        sigma: "ArrayLike | None" = None,
        groups: "ArrayLike | None" = None,
        sample_weight: "ArrayLike | None" = None,
    ) -> Self:
        """Find the law; what an earlier call found is kept whole if this one fails.

        Args:
            X: (row, feature), an array or a DataFrame, whose names the formula uses.
            y: (row,) target.
            sigma: (row,) standard errors of y.
            sample_weight: (row,) one over the variance of y, up to a factor; rows of weight zero
                are left out. Instead of `sigma`.
            groups: (row,) equal for rows that are not independent (one orbit, one run).

        Raises:
            ValueError: for missing or infinite values, too few rows, or an unusable option.
        """
        before = dict(self.__dict__)
        try:
            return self._fitted(X, y, sigma, groups, sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fitted(self, X: Any, y: Any, sigma: Any, groups: Any, sample_weight: Any) -> Self:
        for name, values in {"y": y, "sigma": sigma, "sample_weight": sample_weight}.items():
            require_no_unit(values, name)
        if (shape := np.asarray(y).shape)[1:] not in ((), (1,)):
            several = "MultiOutputRegressor, of scikit-learn, finds one law for each column."
            raise ValueError(f"y has the shape {shape}; a law has one target. {several}")
        targets = pd.Series(np.asarray(y).ravel())
        kind = pd.api.types.infer_dtype(targets)
        # without this scikit-learn takes their numbers
        if kind != "complex" and not holds_numbers(targets):
            raise ValueError(f"y holds values of type {kind}; a law is for a quantity in numbers.")
        X, labels = self._apart(X)
        values, target = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=LEAST_ROWS
        )
        if sample_weight is not None:
            if sigma is not None:
                raise ValueError("sigma and sample_weight say the same; give one of them.")
            weights = _check_sample_weight(sample_weight, values, ensure_non_negative=True)
            used = weights > 0
            if used.sum() < LEAST_ROWS:
                raise ValueError(
                    f"sample_weight is above zero in {used.sum()} row(s); a law needs at least "
                    f"{LEAST_ROWS}."
                )
            values, target = np.asarray(values)[used], np.asarray(target)[used]
            groups = None if groups is None else np.asarray(groups)[used]
            labels = None if labels is None else labels[used]
            # equal weights are no statement about errors
            if np.ptp(weights[used]) > 0:
                typical = float(np.std(target)) or 1.0
                sigma = typical / np.sqrt(weights[used] / np.mean(weights[used]))
        self._names = [str(name) for name in _check_feature_names_in(self)]
        table = pd.DataFrame(np.asarray(values), columns=self._names)
        options: dict[str, Any] = {"target": _free("y", table)}
        table[options["target"]] = np.asarray(target, dtype=float)
        stems = {"sigma": "sigma", "groups": "group", "per_group": self.per_group or ""}
        for (name, stem), given in zip(stems.items(), (sigma, groups, labels), strict=True):
            if given is not None:
                column = np.asarray(given)
                if column.ndim and column.shape != (len(table),):
                    raise ValueError(
                        f"{name} has the shape {column.shape}; ({len(table)},), one for each row, "
                        "is needed."
                    )
                options[name] = _free(stem, table)
                table[options[name]] = column
        seed = self.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).randint(2**31))
        binary, unary = self.binary_operators, self.unary_operators
        operators = (*_listed(binary, BINARY), *_listed(unary, UNARY))
        if not operators:
            raise ValueError("binary_operators and unary_operators are empty; give one at least.")
        self.recovery_: Recovery = recover(
            table,
            features=tuple(self._names),
            engine=self._engine(),
            **{name: getattr(self, name) for name in HANDED_ON},
            operators=() if binary is None and unary is None else operators,
            guesses=tuple(self.guesses or ()),
            sigma_of=self.sigma_of or (),
            units=self._units(options["target"]),
            time_limit=self.timeout_in_seconds,
            seed=seed,
            **options,
        )
        self.found_ = self.recovery_.found
        spelled = {column: text for text, column in self.recovery_.columns.items()}
        self._spelled = tuple(spelled.get(name, name) for name in self._names)
        self.new_groups_: dict[Any, Law] = {}
        return self

    def fit_groups(self, X: "ArrayLike", y: "ArrayLike") -> Self:
        """Fit the constants of new groups, the form and what all groups share unchanged.

        `predict` knows these groups then; those of `fit` keep their constants.

        Args:
            X: (row, feature), as in `fit`, with the groups' column.
            y: (row,) target; as many rows of each group as constants differ.

        Raises:
            ValueError: without `per_group`, or for a group with too few rows.
        """
        check_is_fitted(self)
        require_no_unit(y, "y")
        features, labels = self._apart(X)
        if labels is None:
            raise ValueError("no groups were told apart; name their column: per_group='galaxy'.")
        values, target = validate_data(self, features, y, dtype=np.float64, reset=False)
        form, new = self.recovery_.form_of_new_group(), dict[Any, Law]()
        for label in dict.fromkeys(labels.tolist()):
            rows = labels == label
            samples = Samples(values[rows], target[rows], self._spelled, np.arange(rows.sum()))
            law = fit_form(form, samples)
            if rows.sum() < len(law.constants):
                raise ValueError(
                    f"{self.per_group} = {label} has {rows.sum()} row(s), for "
                    f"{len(law.constants)} constants of its own; give more."
                )
            new[label] = law
        self.new_groups_ = self.new_groups_ | new
        return self

    def predict(self, X: "ArrayLike", index: int | None = None) -> np.ndarray:
        """(row,) the formula's value; NaN where undefined.

        Args:
            X: (row, feature), as in `fit`.
            index: row of `equations_` whose formula is meant; by default the law.

        Raises:
            ValueError: for a group that neither `fit` nor `fit_groups` has seen.
        """
        check_is_fitted(self)
        X, labels = self._apart(X)
        values = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        if index is not None:
            return evaluate(self.sympy(index), self._spelled, values)
        table = pd.DataFrame(values, columns=self._names)
        predicted, left = np.full(len(values), np.nan), np.ones(len(values), dtype=bool)
        for label, law in self.new_groups_.items():
            rows = labels == label
            predicted[rows] = evaluate(law.form, self._spelled, values[rows], law.constants)
            left &= ~rows
        if left.any():
            if labels is not None:
                table[self.per_group] = labels
            predicted[left] = self.recovery_.predict(table[left])
        return predicted

    def _engine(self) -> str:
        """The engine's name, with PySR's settings in brackets."""
        names = ("niterations", "population_size", "maxsize")
        given = [f"{name}={value}" for name in names if (value := getattr(self, name)) is not None]
        return f"{self.engine}({', '.join(given)})" if given else self.engine

    def _units(self, target: str) -> dict[str, str]:
        """Units by column of the table that is searched, where y has a name of its own."""
        units = self.units or {}
        others = [name for name in units if name not in self._names]
        if len(others) > 1:
            raise ValueError(
                f"units has {', '.join(map(str, others))} beside the columns of X, "
                f"{', '.join(self._names)}; give one more, for y."
            )
        return {target if name in others else name: unit for name, unit in units.items()}

    def _apart(self, X: Any) -> tuple[Any, np.ndarray | None]:
        """The features, and (row,) the group of each row, if groups are told apart."""
        require_no_unit(X, "X")
        # a sparse matrix may be a dictionary, and is refused with the others
        X = as_frame(X) if is_table(X) or (isinstance(X, Mapping) and not issparse(X)) else X
        for name, values in X.items() if isinstance(X, pd.DataFrame) else ():
            require_no_unit(values, f"the column {name} of X")
            words = values[np.isnan(numbers_of(values)) & values.notna()]
            if name != self.per_group and len(words) and isinstance(words.iloc[0], str):
                raise ValueError(
                    f"the column {name} of X is not numeric (it has {words.iloc[0][:30]!r}); if it "
                    f"tells groups apart, per_group={str(name)!r} gives each its own constants."
                )
        if self.per_group is None:
            return X, None
        if not isinstance(X, pd.DataFrame) or self.per_group not in X:
            raise ValueError(
                f"per_group names a column of X; give a DataFrame with {self.per_group}."
            )
        return X.drop(columns=self.per_group), X[self.per_group].to_numpy()

    @property
    def equations_(self) -> pd.DataFrame:
        """Every candidate of every search, simplest first."""
        check_is_fitted(self)
        rows = [
            (each.complexity, each.loss, each.score, each.expression,
             self.recovery_.sympy(each.formula or each.expression))
            for each in self.recovery_.pareto_front
        ]  # fmt: skip
        columns = ["complexity", "loss", "score", "equation", "sympy_format"]
        return pd.DataFrame(rows, columns=columns).sort_values("complexity", ignore_index=True)

    def sympy(self, index: int | None = None) -> sympy.Expr:
        """The formula; or that of a row of `equations_`.

        Raises:
            ValueError: if there is no such row.
        """
        check_is_fitted(self)
        if index is None:
            return self.recovery_.formula
        rows = self.equations_["sympy_format"]
        if index not in rows.index:
            raise ValueError(f"equations_ has {len(rows)} rows, counted from 0, and none {index}.")
        return rows[index]

    def latex(self, index: int | None = None, precision: int = 3) -> str:
        """The formula, or that of a row, in LaTeX, with so many digits per number."""
        return latex(self.sympy(index), precision)

    def latex_table(self, precision: int = 3) -> str:
        """`equations_` as a table in LaTeX, with its packages amsmath and booktabs."""
        front = self.equations_
        written = [f"${latex(each, precision)}$" for each in front["sympy_format"]]
        shown = front[["equation", "complexity", "loss"]].assign(equation=written)
        return str(shown.to_latex(index=False, float_format="%.3g"))

    def code(self, language: str = "c", index: int | None = None) -> str:
        """The formula, or that of a row, as an expression of another language.

        Raises:
            ValueError: for a language that sympy does not write, or not with the law's values.
        """
        formula = self.sympy(index)
        require_known("language", language, PRINTERS)
        law = self.recovery_
        return code_of(formula, language, *law.columns_of(law.points, formula))

    def function(self, library: str = "torch", index: int | None = None) -> Callable[[Any], Any]:
        """The formula, or that of a row, as a function of (row, feature) arrays of a library:
        torch, jax or numpy, in which it can be differentiated.

        Raises:
            ValueError: for another library, or constants of groups.
        """
        formula = self.sympy(index)
        require_known("library", library, LIBRARIES)
        law = self.recovery_
        return function_of(formula, library, self._spelled, *law.columns_of(law.points, formula))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # of what no short formula holds
        return tags


def _listed(given: str | Sequence[str] | None, usual: Sequence[str]) -> Sequence[str]:
    """Operators as given, in one text too, or the usual ones."""
    return usual if given is None else words(given) if isinstance(given, str) else given


def _free(name: str, table: pd.DataFrame) -> str:
    """An unused column name."""
    while name in table:
        name += "_"
    return name
