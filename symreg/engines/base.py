"""The contract of all engines: from samples to a whole Pareto front."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Annotated, ClassVar

import numpy as np
import sympy

from orbits.expressions import parse_expression
from orbits.options import Between, Options, require_known
from orbits.statistics import TINY
from symreg.enumeration.screening import important_columns
from symreg.fit.errors import ROUNDED, density, rounding_left
from symreg.fit.expansions import smooth_probability
from symreg.fit.noise import hump_probability, misfit_probability
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.expressions import (
    complexity,
    evaluate,
    feature_symbols,
    rounded,
    skeleton,
)
from symreg.formulas.operators import OPERATORS, lacking
from symreg.formulas.precision import DOUBLE, is_single, last_digits, leaves_rounding, rounding
from symreg.formulas.reading import is_readable
from symreg.formulas.watch import Watch
from symreg.search.description import SYMBOL, charged, of_fitted

TARGET = "target"
"""Name of the target among the units."""


NEAR_NATS = 6.0
"""Nats by which what an exhaustive engine hands over may fit less well than its best: the price of
two or three numbers, so that a simpler law is not lost to one that bends to the noise."""
MOST_COLUMNS = 10
"""Columns of which exhaustive engines try all products; of more the most important are searched."""
MOST_NUMBERS = 8
"""Fitted numbers of a formula that may end a search: one with more is likelier an expansion that
follows the law to rounding, as quotients of one column do."""
CHANCE = 0.01
"""Chance of the errors' structure above which nothing is searched in it."""


@dataclass(frozen=True)
class Candidate:
    """One formula of a Pareto front.

    Attributes:
        expression: sympy, over positive symbols named as the features.
        complexity: number of nodes of the expression as sympy writes it.
        loss: mean squared relative error in float64, of the logarithm for positive targets.
        score: -d log(loss) / d complexity along the front; large where a node pays.
        seed: of the search that found it.
        engine: that found it.
    """

    expression: sympy.Expr
    complexity: int
    loss: float
    score: float
    seed: int
    engine: str


@dataclass(frozen=True)
class Budget:
    """How much an engine may spend; counted in work, so that the seeds decide.

    Only a watch that runs out makes the result depend on the machine's speed, and it says so.
    """

    rows: int = 400
    """Rows that a searching engine draws from those given."""
    watch: Watch = field(default_factory=lambda: Watch(300.0))
    """Shared by all searches: it ends them, and reports the best formula so far."""
    floor: float = 0.0
    """Relative error that no law need explain: a formula within it ends a search, and no larger one
    is told from it."""

    def drawn(self, count: int, seed: int) -> tuple[np.ndarray, np.random.Generator]:
        """(row,) places of the rows to search, of so many, and a generator for what is drawn
        besides."""
        rng = np.random.default_rng(seed)
        return np.sort(rng.choice(count, min(self.rows, count), replace=False)), rng


@dataclass(frozen=True)
class Evolution(Options):
    """How long PySR searches, by its own names: `pysr(niterations=40)`."""

    niterations: Annotated[int, Between(1, 10**6)] = 20
    """Iterations of a search."""
    populations: Annotated[int, Between(1, 10_000)] = 7
    """Populations that evolve side by side."""
    population_size: Annotated[int, Between(2, 10**6)] = 27
    """Formulas in a population."""
    maxsize: Annotated[int, Between(7, 1000)] = 18
    """Size of the largest formula, in nodes; PySR takes 7 and more."""


@dataclass(frozen=True)
class Question:
    """Which formulas an engine searches, and what is known.

    Attributes:
        operators: from `OPERATORS`, and no other is in what an engine hands over; none leaves the
            choice to the engine.
        guesses: formulas that an engine may start from (PySR does).
        units: unit by column in SI base units (`m*s^-2`), and the target's under the name `TARGET`,
            for an engine that knows dimensions (PySR does).
        evolution: how long PySR searches.
    """

    operators: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    evolution: Evolution = field(default_factory=Evolution)

    def __post_init__(self) -> None:
        """Refuse an unknown operator, and a guess that needs one beside those requested."""
        for operator in self.operators:
            require_known("operator", operator, OPERATORS)
        for guess in self.guesses if self.operators else ():
            if missing := lacking(parse_expression(guess), self.operators):
                raise ValueError(
                    f"the guess {guess} needs {missing}, and the search has "
                    f"{', '.join(self.operators)}. Add it with --operators, or leave the guess out."
                )

    def allows(self, formula: sympy.Expr) -> bool:
        """Whether a formula needs no operator but those requested."""
        return not self.operators or lacking(formula, self.operators) is None


@dataclass(frozen=True)
class Availability:
    """Whether an engine can run here, why, and how to get it if not."""

    available: bool
    reason: str
    how_to_get: str = ""


class Engine:
    """A way to search formulas.

    An engine is a class in a file of this folder; its `name` is what users call it.

    Args:
        question: what is searched.

    Attributes:
        versions: of what it runs outside Python, after a search.
        broken: which of its parts broke off, and why.
        exhausted: what a search went through without omission, and found nothing exact in.
        cut_short: whether the time ended a search in which nothing explained the rows.
    """

    name: ClassVar[str]
    exhaustive: ClassVar[bool] = False
    """Whether every seed looks at the same formulas."""

    def __init__(self, question: Question | None = None) -> None:
        self.question = question or Question()
        self.versions: dict[str, str] = {}
        self.exhausted: tuple[str, ...] = ()
        self.broken: tuple[str, ...] = ()
        self.cut_short = False

    @classmethod
    def availability(cls) -> Availability:
        """Check whether the engine can run here, in milliseconds, without importing it."""
        return Availability(True, "built in")

    def as_far(self) -> "Engine":
        """An engine that goes as far as this one's searches went, whatever it finds: for a null
        control, which takes the same effort."""
        return self

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """Search for formulas y = f(X): the contract of every engine.

        An engine defines this, or `search_all` for all seeds at once.

        Args:
            X: (row, feature) float64.
            y: (row,) target.
            names: (feature,) names; they become sympy symbols.
            seed: equal seeds give equal fronts.
            budget: of this search.

        Returns:
            The Pareto front, with rising complexity and falling loss.
        """
        return self.search_all(X, y, names, [seed], budget)[0]

    def search_all(
        self,
        X: np.ndarray,
        y: np.ndarray,
        names: Sequence[str],
        seeds: Sequence[int],
        budget: Budget,
        jobs: int = 1,
    ) -> list[list[Candidate]]:
        """One search per seed, `jobs` at a time, as threads: they work outside Python.

        Returns:
            A front for every seed searched; seeds for which the watch left no time have none, but
            there is always one.
        """

        def searched(place: int, seed: int) -> list[Candidate]:
            if place and budget.watch.over:
                return []
            front = self.search(X, y, names, seed, budget)
            tell_best(budget.watch, front)
            return front

        if self.exhaustive:
            seeds = seeds[:1]
            X, names = important(X, y, names, seeds[0], budget.watch)
        fronts = _side_by_side(searched, seeds, jobs)
        return [front for front in fronts if front] or [[]]


def important(
    X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, watch: Watch
) -> tuple[np.ndarray, Sequence[str]]:
    """The columns of which all products can be tried, and their names; of more, `MOST_COLUMNS`."""
    if X.shape[1] <= MOST_COLUMNS:
        return X, names
    chosen = important_columns(X, y, MOST_COLUMNS, seed)
    names = [names[place] for place in chosen]
    watch.say(lambda: f"search the columns that matter most: {', '.join(names)}", True)
    return X[:, chosen], names


def _side_by_side(
    search: Callable[[int, int], list[Candidate]], seeds: Sequence[int], jobs: int
) -> list[list[Candidate]]:
    """A front for each place and seed, `jobs` at a time."""
    if min(jobs, len(seeds)) == 1:  # in this thread, which alone can limit its time
        return list(map(search, range(len(seeds)), seeds))
    threads = ThreadPoolExecutor(jobs)
    try:
        return list(threads.map(search, range(len(seeds)), seeds))
    finally:
        threads.shutdown(cancel_futures=True)


def tell_best(watch: Watch, front: Sequence[Candidate]) -> None:
    """Report the closest formula so far, with four-digit numbers."""
    if front:
        best = min(front, key=lambda candidate: candidate.loss)
        watch.say(
            lambda: (
                f"{best.engine}, {watch.taken:.0f} s: so far {rounded(best.expression, 4)}, "
                f"mean squared error {best.loss:.2g}"
            )
        )


def installed(package: str) -> str | None:
    """Version of an installed package, or None."""
    try:
        return version_of(package)
    except PackageNotFoundError:
        return None


def is_exact(expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> bool:
    """Whether a formula leaves only rounding, and has not the numbers of an expansion."""
    return _is_exact(expression, X, y, names, rounding(y))


def is_final(expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> bool:
    """Whether a formula is exact to the last digits: it is no expansion of a law still to come."""
    return _is_exact(expression, X, y, names, last_digits(y))


def _is_exact(
    expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str], limit: float
) -> bool:
    """Whether a formula leaves less than a limit; in double precision its numbers lower it. Where
    columns are in single precision their rounding is all that may be left."""
    if any(map(is_single, X.T)):
        samples = Samples(X, y, tuple(names), np.arange(len(y)))
        return rounding_left(_law(expression), samples) < ROUNDED
    residuals, *_ = _errors(expression, X, y, names)
    mean_square = float(np.mean(residuals**2)) if np.all(np.isfinite(residuals)) else np.inf
    fitted = len(expression.atoms(sympy.Float)) if rounding(y) == DOUBLE else 0
    return fitted <= MOST_NUMBERS and leaves_rounding(mean_square, fitted, limit)


def explains_all(
    expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]
) -> bool:
    """Whether a formula is exact, or its errors show no structure.

    Structure is looked for in every feature and in the prediction itself. Rounding has none: then
    a formula that is not exact explains nothing.
    """
    residuals, samples, _ = _errors(expression, X, y, names)
    if not np.all(np.isfinite(residuals)):
        return False
    if is_exact(expression, X, y, names):
        return True
    if np.mean(residuals**2) < rounding(y) ** 2:
        return False
    chance = misfit_probability(residuals, samples)
    if chance is None or min(chance, hump_probability(residuals)) <= CHANCE:
        return False
    return smooth_probability(_law(expression), samples) > CHANCE


def _law(expression: sympy.Expr) -> Law:
    """With the numbers as they are."""
    form, numbers = skeleton(expression)
    return Law(form, tuple(numbers), 0.0, 0.0, 0, "")


def _errors(
    expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]
) -> tuple[np.ndarray, Samples, float]:
    """(row,) equal errors of a formula, or relative ones where these are likelier; the samples with
    such errors, and its prediction as another feature; and twice the nats that the errors take."""
    prediction = evaluate(expression, names, X)
    samples = Samples(np.column_stack([X, prediction]), y, (*names, ""), np.arange(len(y)))
    size = float(np.sqrt(np.mean(y**2)))
    equal = replace(samples, errors=np.full(len(y), size))
    kinds = [((prediction - y) / size, equal)]
    if samples.logarithmic:
        kinds.append((samples.residuals(prediction), samples))
    nats = [
        len(y) * np.log(max(np.mean(errors**2), last_digits(y) ** 2)) + density(under, size)
        for errors, under in kinds
    ]
    place = int(np.argmin(np.where(np.isfinite(nats), nats, np.inf)))
    return *kinds[place], float(nats[place])


def described(expression: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]) -> float:
    """Twice the nats that a formula and its errors take, as `symreg.fit.refine.Law.criterion`."""
    residuals, _, nats = _errors(expression, X, y, names)
    if not np.isfinite(nats):
        return np.inf
    known = max(float(np.mean(residuals**2)), last_digits(y) ** 2)
    numbers = len(expression.atoms(sympy.Float)) * of_fitted(known, len(y))
    return float(nats + 2 * numbers + 2 * SYMBOL * charged(expression))


def pareto_front(
    expressions: Iterable[sympy.Expr],
    X: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    seed: int,
    engine: str,
    question: Question | None = None,
    exhaustive: bool = False,
) -> list[Candidate]:
    """The non-dominated ones that the question allows, complexity and loss of the sympy form.

    An exhaustive engine hands over everything that may be the law: all that are nearly as likely as
    the best (`NEAR_NATS`), dominated or not, whether errors are relative or equal. By relative ones
    alone small targets decide, where equal noise hides any law.
    """
    near = float(np.exp(2 * NEAR_NATS / len(y))) if exhaustive else 1.0
    samples = Samples(X, y, tuple(names), np.arange(len(y)))
    measured: list[tuple[int, list[float], sympy.Expr]] = []
    for expression in dict.fromkeys(expressions):
        undefined = expression.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I)
        if undefined or not is_readable(expression):
            continue
        if question is not None and not question.allows(expression):
            continue
        prediction = evaluate(expression, names, X)
        equal = float(np.mean((prediction - y) ** 2))
        relative = float(np.mean(samples.residuals(prediction) ** 2))
        errors = [relative, equal] if exhaustive else [relative]
        if np.all(np.isfinite(errors)):
            measured.append((complexity(expression), errors, expression))
    measured.sort(key=lambda item: (item[0], item[1], sympy.default_sort_key(item[2])))
    best = np.min([errors for _, errors, _ in measured], axis=0) if measured else np.inf
    front: list[Candidate] = []
    lowest = np.inf
    for size, errors, expression in measured:
        error = np.array(errors)
        if np.all(error >= lowest * (1 - 1e-9)) and not (near > 1 and np.any(error <= near * best)):
            continue
        lowest = np.minimum(lowest, error)
        score = 0.0
        if front and size > front[-1].complexity:
            gain = np.log(max(front[-1].loss, TINY) / max(errors[0], TINY))
            score = float(gain / (size - front[-1].complexity))
        front.append(Candidate(expression, size, errors[0], score, seed, engine))
    return front


class Family(Engine):
    """An exhaustive search of the rows that a seed draws. A family defines `formulas`."""

    exhaustive: ClassVar[bool] = True

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front; see the contract in `Engine`."""
        chosen, rng = budget.drawn(len(y), seed)
        symbols = feature_symbols(names, X)
        with np.errstate(all="ignore"):  # powers over hundreds of decades
            formulas = self.formulas(X[chosen], y[chosen], symbols, rng, budget.watch)
            return pareto_front(formulas, X, y, names, seed, self.name, self.question, True)

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """The best of the family.

        Args:
            X: (row, feature).
            y: (row,).
            symbols: (feature,) of sympy.
            rng: for what is drawn besides.
            watch: may end the search between its parts.
        """
        raise NotImplementedError
