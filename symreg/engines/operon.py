"""Operon: genetic programming in C++ (pyoperon), the embedded engine.

Two searches per seed, both with two objectives (error and length): one for the target itself, one
for its logarithm if it is positive, where a product of powers is a sum, found at once. Restricted
to given operators, only the target itself is searched. Operon evaluates in float32; its trees are
converted node by node to sympy and judged again in float64. Unless the watch ends it early, the
seed alone decides the result.

Source: Burlacu, Kronberger & Kommenda, Operon C++, GECCO Companion (2020), pp. 1562-1570.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import sympy

from symreg.engines.base import (
    Availability,
    Budget,
    Candidate,
    Engine,
    Question,
    installed,
    pareto_front,
)
from symreg.formulas.expressions import feature_symbols, normal_form

LEAVES = ("Constant", "Variable")
LINEAR_NODES = ("Add", "Mul", "Div", "Exp", "Sqrt", "Square", *LEAVES)
LOGARITHMIC_NODES = ("Add", "Mul", "Div", "Log", "Square", *LEAVES)
NODE_OF = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "inv": "Div", "sqrt": "Sqrt",
    "square": "Square", "exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos",
}  # fmt: skip
"""Operon's node type of each operator; division with one operand is the inverse."""
LOCAL_ITERATIONS = 5
"""Levenberg-Marquardt steps on the constants of every offspring."""
LEAST_GAIN = 0.99
"""A longer tree stays only if its error is below this fraction of every shorter one's."""
DEPTH = 8
UNLIMITED = 10**9

BINARY: dict[str, Callable] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
}
UNARY: dict[str, Callable] = {
    "Exp": sympy.exp,
    "Log": sympy.log,
    "Sqrt": sympy.sqrt,
    "Square": lambda a: a**2,
    "Sin": sympy.sin,
    "Cos": sympy.cos,
}


class OperonEngine(Engine):
    """Genetic programming by pyoperon; fixed by the seed."""

    name: ClassVar[str] = "operon"

    def __init__(self, question: Question | None = None) -> None:
        super().__init__(question)
        operators = self.question.operators
        unknown = [operator for operator in operators if operator not in NODE_OF]
        if unknown:
            raise ValueError(
                f"operon has no operator {', '.join(unknown)}; it has {', '.join(NODE_OF)}."
            )
        if "/" in operators and "inv" in operators:
            raise ValueError("operon divides in one way only: leave out / or inv.")

    @classmethod
    def availability(cls) -> Availability:
        version = installed("pyoperon")
        if version is None:
            return Availability(False, "pyoperon is not installed", "pip install pyoperon")
        return Availability(True, f"pyoperon {version}")

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front of one search or both; see the contract in `symreg.engines.base`."""
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(y), min(budget.rows, len(y)), replace=False)
        features, target = X[chosen], y[chosen]
        scale = np.median(np.abs(features), axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        unit = float(np.median(np.abs(target))) or 1.0
        symbols = feature_symbols(names, X)
        variables = [s / float(c) for s, c in zip(symbols, scale, strict=True)]
        linear: Sequence[str] = LINEAR_NODES
        if self.question.operators:
            linear = [*(NODE_OF[operator] for operator in self.question.operators), *LEAVES]
        inverse = "inv" in self.question.operators
        trees = evolve(features / scale, target / unit, variables, linear, seed, budget, inverse)
        expressions = [unit * tree for tree in trees]
        positive = np.all(target > 0) and all(s.is_positive for s in symbols)
        if positive and not self.question.operators:
            trees = evolve(
                features / scale, np.log(target), variables, LOGARITHMIC_NODES, seed, budget
            )
            expressions += [sympy.exp(tree) for tree in trees]
        merged = [normal_form(expression) for expression in expressions]
        return pareto_front(merged, X, y, names, seed, self.name, self.question)


def evolve(
    X: np.ndarray,
    y: np.ndarray,
    variables: Sequence[sympy.Expr],
    nodes: Sequence[str],
    seed: int,
    budget: Budget,
    inverse: bool = False,
) -> list[sympy.Expr]:
    """One run of NSGA-II (error, length); its front as sympy, scaled by least squares.

    X is (row, feature) of order one, each column standing for one of the variables. Trees use the
    node types named; the error is the mean square. Division has one operand, 1/x, if `inverse`.
    Where nothing may be added no offset is, either. The seed decides the run.
    """
    # pyoperon reads scikit-learn at import, so it is imported where it is used
    import pyoperon as op

    # pyoperon holds raw pointers: whatever is passed on must stay bound to a name until Run ends
    values = np.asfortranarray(np.column_stack([X, y]).astype(np.float32))
    dataset = op.Dataset(values)
    columns = sorted(dataset.Variables, key=lambda variable: variable.Index)
    inputs = [column.Hash for column in columns[:-1]]
    problem, primitives = _problem(op, dataset, columns[-1], inputs, nodes, inverse)
    table = op.DispatchTable()
    metric = op.MSE()
    sums = bool({"Add", "Sub"} & set(nodes))
    error = op.Evaluator(problem, table, metric, sums)
    length = op.LengthEvaluator(problem)
    evaluator = op.MultiEvaluator(problem)
    for objective in (error, length):
        objective.Budget = UNLIMITED
        evaluator.Add(objective)
    evaluator.Budget = UNLIMITED
    optimizer = op.LMOptimizer(table, problem, LOCAL_ITERATIONS, 0)
    comparison = op.CrowdedComparison()
    parents = op.TournamentSelector(comparison), op.TournamentSelector(comparison)
    for selector in parents:
        selector.TournamentSize = 5
    creator = op.BalancedTreeCreator(primitives, inputs, 0.0)
    constants = op.NormalCoefficientInitializer()
    constants.ParameterizeDistribution(0, 1)
    mutations = _mutations(op, primitives, creator, constants, inputs, budget.max_size)
    mutation = op.MultiMutation()
    for each in mutations:
        mutation.Add(each, 1.0)
    crossover = op.SubtreeCrossover(0.9, DEPTH, budget.max_size)
    local = op.CoefficientOptimizer(optimizer)
    generator = op.BasicOffspringGenerator(evaluator, crossover, mutation, *parents, local)
    reinserter = op.KeepBestReinserter(comparison)
    initializer = op.UniformLengthTreeInitializer(creator)
    smallest, _ = primitives.FunctionArityLimits()
    initializer.ParameterizeDistribution(smallest + 1, min(10, budget.max_size))
    initializer.MinDepth, initializer.MaxDepth = 1, 1000
    config = op.GeneticAlgorithmConfig(
        generations=budget.generations, max_evaluations=UNLIMITED,
        local_iterations=LOCAL_ITERATIONS, population_size=budget.individuals,
        pool_size=budget.individuals, p_crossover=1.0, p_mutation=0.25, p_local=1.0,
        p_lamarck=1.0, epsilon=1e-5, seed=seed,
        max_time=max(1, math.ceil(min(budget.watch.left, UNLIMITED))),
    )  # fmt: skip
    sorter = op.RankSorter()
    algorithm = op.NSGA2Algorithm(
        config, problem, initializer, constants, generator, reinserter, sorter
    )
    random = op.RandomGenerator(np.uint64(seed))
    began = time.monotonic()
    algorithm.Run(random, None, 1, False)
    if time.monotonic() - began >= config.TimeLimit:  # by the clock: Operon knows no other
        budget.watch.end()
    by_hash = dict(zip(inputs, variables, strict=True))
    front: list[sympy.Expr] = []
    for tree in _improving(algorithm.BestFront):
        value = op.Evaluate(table, tree, dataset, problem.TrainingRange)
        slope, offset = op.FitLeastSquares(value, y.astype(np.float32))
        if not sums:
            slope, offset = float(value @ y) / (float(value @ value) or 1.0), 0.0
        if np.isfinite(slope) and np.isfinite(offset):
            scaled = sympy.Float(slope) * to_sympy(tree, by_hash)
            front.append(scaled + sympy.Float(offset) if sums else scaled)
    return front


def _problem(
    op: Any, dataset: Any, target: Any, inputs: list[Any], nodes: Sequence[str], inverse: bool
) -> tuple[Any, Any]:
    """What explains what, and with which nodes.

    The set of nodes is a copy: use the one whose arities were set.
    """
    problem = op.Problem(dataset)
    problem.TrainingRange = op.Range(0, dataset.Rows)
    problem.TestRange = op.Range(dataset.Rows - 1, dataset.Rows)
    problem.Target = target
    problem.InputHashes = inputs
    mask = 0
    for node in nodes:
        mask |= int(getattr(op.NodeType, node))
    problem.ConfigurePrimitiveSet(mask)
    primitives = problem.PrimitiveSet
    if inverse:
        division = op.Node.Div()
        primitives.SetMinimumArity(division, 1)
        primitives.SetMaximumArity(division, 1)
    return problem, primitives


def _mutations(
    op: Any, primitives: Any, creator: Any, constants: Any, inputs: list[Any], max_size: int
) -> list[Any]:
    """The ways in which a tree changes, each as often as the others."""
    shift = op.NormalOnePointMutation()
    shift.ParameterizeDistribution(0, 1)
    return [
        shift,
        op.ChangeVariableMutation(inputs),
        op.ChangeFunctionMutation(primitives),
        op.ReplaceSubtreeMutation(creator, constants, DEPTH, max_size),
        op.InsertSubtreeMutation(creator, constants, DEPTH, max_size),
        op.RemoveSubtreeMutation(primitives),
    ]


def _improving(front: Any) -> list[Any]:
    """The best tree of each length while longer ones are clearly better."""
    best: dict[int, tuple[float, Any]] = {}
    for individual in front:
        tree = individual.Genotype
        loss = float(individual.GetFitness(0))
        if np.isfinite(loss) and (tree.Length not in best or loss < best[tree.Length][0]):
            best[tree.Length] = (loss, tree)
    trees, lowest = [], np.inf
    for loss, tree in (best[size] for size in sorted(best)):
        if loss <= LEAST_GAIN * lowest:
            lowest = loss
            trees.append(tree)
    return trees


def to_sympy(tree: Any, variables: dict[int, sympy.Expr]) -> sympy.Expr:
    """An Operon tree (postfix nodes) as sympy; its variables carry their weights.

    In Operon the operand nearest its operator, last in postfix order, is the first.
    """
    stack: list[sympy.Expr] = []
    for node in tree.Nodes:
        kind = str(node.Type).rsplit(".", 1)[-1]
        if node.IsConstant:
            stack.append(sympy.Float(node.Value))
        elif node.IsVariable:
            stack.append(sympy.Float(node.Value) * variables[node.HashValue])
        elif kind in UNARY:
            stack.append(UNARY[kind](stack.pop()))
        elif kind == "Div" and node.Arity == 1:
            stack.append(1 / stack.pop())
        else:
            first, second = stack.pop(), stack.pop()
            combined = BINARY[kind](first, second)
            for _ in range(node.Arity - 2):
                combined = BINARY[kind](combined, stack.pop())
            stack.append(combined)
    (expression,) = stack
    return expression
