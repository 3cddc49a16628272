"""Laws that the search has no list of: found by structure and by numbers, beside other searches.

    python tests/benchmarks/discovery.py feynman --noise 0 0.01 0.1 --seeds 3 --out feynman.csv
    python tests/benchmarks/discovery.py feynman --noise 0.01 0.1 --noise-of rms
    python tests/benchmarks/discovery.py feynman --noise 0 --rows 400
    python tests/benchmarks/discovery.py feynman --every 3 --seeds 1 --with operon gplearn
    python tests/benchmarks/discovery.py small --half 0 --noise 0 0.01 --seeds 1 --out small.csv
    python tests/benchmarks/discovery.py simple --noise 0.01 0.05 --seeds 2
    python tests/benchmarks/discovery.py named --noise 0 0.01 0.05 --seeds 10
    python tests/benchmarks/discovery.py textbook --noise 0 0.01 --seeds 1
    python tests/benchmarks/discovery.py sums --noise 0 0.01 --seeds 1
    python tests/benchmarks/discovery.py powers --noise 0 0.01 --noise-of rms --seeds 1
    python tests/benchmarks/discovery.py kinds --noise 0 --seeds 1
    python tests/benchmarks/discovery.py compositions --noise 0 --seeds 1
    python tests/benchmarks/discovery.py compositions-reported --noise 0 --seeds 1
    python tests/benchmarks/discovery.py newtonbench --noise 0 0.01 --seeds 1
    python tests/benchmarks/discovery.py classics --seeds 5
    python tests/benchmarks/discovery.py llmsr --seeds 3
    python tests/benchmarks/discovery.py traps
    python tests/benchmarks/discovery.py groups
    python tests/benchmarks/discovery.py nulls --draws 200
    python tests/benchmarks/discovery.py coverage --draws 200
    python tests/benchmarks/discovery.py exact
    python tests/benchmarks/discovery.py feature-errors --draws 200

`feynman`: the laws of the FastSRB benchmark in `../shared/data` (not shipped), 500 rows each, noise
relative to every target (`--noise-of rms`: to the root mean square of all, as SRBench has it; it
covers laws of many decades; `--rows 400`: as many as FastSRB has). `simple`: laws of a line of
text, beside columns that they do not need. `named`: laws of force that have a name. `newtonbench`:
the twelve modules of NewtonBench, 36 laws. `classics`: Hubble's and Leavitt's tables, Kepler,
Newton, the ideal gas and Bode. `small`: the small problems of symbolic regression's papers, noise
relative to the rms, right (N) when right in the range and a quarter beyond it; `textbook`: the
same of laws of other books; `sums`: the same of drawn sums of three terms, one with a number;
`powers`: the same of drawn functions of one or two products of powers of four to seven columns;
`kinds` and `compositions`: the same of functions within functions, by kind and drawn; `relations`:
of drawn quotients and roots beside polynomials.
`llmsr`: LLM-SR's four problems, by what is left of the variance inside and outside the range of the
rows. `traps`: exact tables whose truth is near a named law. `groups`: one form, many small
groups. `nulls`: permuted targets and pure noise. `coverage`:
how often 95 % intervals hold the truth; `feature-errors`: the same where features have errors,
which are given or kept back. `exact`: what laws with three to six numbers leave when they are
fitted again, from numbers 0.1 % off.

A formula is right by structure (S) when it is the law with other numbers: where all constants and
variables are of order one, its own can be fitted to give the law to 1e-8. It is equivalent (E) when
the table cannot tell it from the law, which is no shorter: without noise they agree to 1e-12 in
every row, with noise the law itself fits no better. It is right by numbers (N) when on fresh points
its median error is below a quarter of the noise (1e-6 without noise) and 95 % of the points are
within it. F says that it was said to be found.
"""

import argparse
import csv
import re
import time
import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import sympy
from discovery_laws import BOARDS, Law, sizes
from discovery_small import (
    REPORTED,
    compositions,
    kinds,
    powers,
    relations,
    right_inside_and_beyond,
    small,
    sums,
    textbook,
)
from discovery_tables import BLURRED, COVERED, FORMS, GROUPED, TRAPS, classics, halves

from orbits.expressions import parse_expression
from symreg.fit.refine import fit, refit_law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.compare import MATCHING, compare, decided
from symreg.formulas.expressions import evaluate, normal_form, skeleton, symbol, with_floats
from symreg.recovery.recover import recover
from symreg.search.description import charged

FRESH = 2000
STARTS = 24
"""Fits of a formula to the law that it may be."""
EXTRA = 5
"""Numbers that a formula may have beyond those of the law, and be the law written differently."""


def by_numbers(law: Law, formula: sympy.Expr, noise: float, of: str) -> bool:
    """Right on fresh points, errors relative to what noise is relative to."""
    columns = law.draw(np.random.default_rng(99), FRESH)
    names, X = list(columns), np.column_stack(list(columns.values()))
    truth = law.values(columns)
    with np.errstate(all="ignore"):
        error = np.abs(evaluate(formula, names, X) - truth) / sizes(truth, of)
        error = error[np.isfinite(truth)]
    error = np.where(np.isfinite(error), error, np.inf)
    most = noise if noise else 1e-5
    return bool(np.median(error) <= (noise / 4 or 1e-6) and np.quantile(error, 0.95) <= most)


def literally(law: Law, formula: sympy.Expr) -> bool:
    """The law itself, its constants free, however it is written.

    Numbers that are no exponents are drawn anew, of order one, and so are the variables: there no
    sine is a tangent and no square of v/c too small to see. The formula's own numbers are fitted
    to exact values of that law, from many starts; also to the law with its own numbers of order
    one, for which alone 1 - cos(x) is 2 sin(x/2)^2.
    """
    names = sorted(s.name for s in law.formula.free_symbols)
    try:
        if compare(str(formula), str(law.formula), names, limit=5.0).verdict in MATCHING:
            return True
    except ValueError:
        pass
    form, start = skeleton(normal_form(with_floats(formula)))
    return any(
        _fits(law, form, start, ranges, own)
        for own in (False, True)
        for ranges in ((0.4, 2.5), (0.1, 0.7))
    )


def _fits(
    law: Law, form: sympy.Expr, start: Sequence[float], ranges: tuple[float, float], own: bool
) -> bool:
    """Whether a form's numbers can be fitted to a law, the variables in a range.

    The law has other numbers, or its own where they are of order one.
    """
    rng = np.random.default_rng(8)
    signs = {v: np.sign(x) for v, x in law.draw(np.random.default_rng(7), 400).items()}
    columns = {v: sign * rng.uniform(*ranges, 400) for v, sign in signs.items()}
    X = np.column_stack(list(columns.values()))
    law_form, law_start = skeleton(with_floats(_exponents_written(law.formula)))
    if len(start) > len(law_start) + EXTRA:
        return False
    numbers = rng.uniform(0.6, 1.8, len(law_start)) * np.sign(law_start)
    if own:
        given = np.array(law_start)
        numbers = np.where((np.abs(given) > 0.1) & (np.abs(given) < 10), given, numbers)
    truth = evaluate(law_form, list(columns), X, numbers)
    good = np.isfinite(truth) & (truth != 0)
    if good.sum() < 40:
        return False
    size = np.abs(truth[good])
    sure = size + np.median(size)  # near a pole relative errors, near a zero absolute ones
    samples = Samples(X[good], truth[good], tuple(columns), np.arange(good.sum()), errors=sure)
    signed = np.where(np.array(start) < 0, -1.0, 1.0)
    for attempt in range(STARTS):
        sign = signed if attempt % 2 == 0 else rng.choice([-1.0, 1.0], len(start))
        guess = sign * np.exp(rng.uniform(-1.0, 1.0, len(start)))
        if fit(form, list(guess), samples, most_steps=60).mean_square < 1e-16:
            return True
    return False


def _exponents_written(formula: sympy.Expr) -> sympy.Expr:
    """The same with 1.5 as 3/2 where it is an exponent, and 1.0 as 1: these are no numbers."""
    powers = {
        power: power.base ** sympy.nsimplify(power.exp)
        for power in formula.atoms(sympy.Pow)
        if power.exp.is_Float
    }
    ones = {x: sympy.Integer(round(x)) for x in formula.atoms(sympy.Float) if abs(float(x)) == 1.0}
    return formula.xreplace(powers).xreplace(ones)


def untellable(law: Law, formula: sympy.Expr, table: pd.DataFrame, of: str) -> bool:
    """Whether the table itself cannot tell a formula from the law, and the law is no shorter.

    Without noise they agree to 1e-12 in all rows; with noise the formula leaves no more than the
    law does, chance allowed for.
    """
    names = [name for name in table if name != "target"]
    X, y = table[names].to_numpy(), table["target"].to_numpy()
    truth, given = (evaluate(f, names, X) for f in (law.formula, formula))
    with np.errstate(all="ignore"):
        ours, its = (np.sqrt(np.mean(((f - y) / sizes(truth, of)) ** 2)) for f in (given, truth))
    longer = charged(normal_form(with_floats(formula))) > charged(
        normal_form(with_floats(law.formula))
    )
    return bool(not longer and ours <= max(its * (1 + 5 / len(y)), 1e-12))


def ours(table: pd.DataFrame, names: list[str], seed: int) -> tuple[sympy.Expr, bool | None]:
    """What `symreg.recover` selects with its default settings, and whether it says that it found a
    law; its null control left out."""
    found = recover(table, target="target", features=tuple(names), seed=seed, null=False)
    return sympy.sympify(found.formula), found.found


def operon(table: pd.DataFrame, names: list[str], seed: int) -> tuple[sympy.Expr, None]:
    """pyoperon's own regressor: default settings, but functions and five steps on constants.

    One thread, at most half a minute. It takes float32.
    """
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        random_state=seed, n_threads=1, max_time=30, optimizer_iterations=5,
        allowed_symbols="add,sub,mul,div,sqrt,square,exp,log,sin,cos,constant,variable",
    )  # fmt: skip
    rows = table[[*names, "target"]].to_numpy(np.float32)
    model.fit(rows[:, :-1], rows[:, -1])
    text = model.get_model_string(model.model_, 12, names)
    local = {name: sympy.Symbol(name, real=True) for name in names}
    return sympy.sympify(text.replace("^", "**"), locals=local), None


def gplearn(table: pd.DataFrame, names: list[str], seed: int) -> tuple[sympy.Expr, None]:
    """gplearn's regressor, its default settings."""
    from gplearn.genetic import SymbolicRegressor

    functions = ("add", "sub", "mul", "div", "sqrt", "log", "sin", "cos")
    model = SymbolicRegressor(function_set=functions, random_state=seed, feature_names=names)
    model.fit(table[names].to_numpy(), table["target"].to_numpy())
    known = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
    }  # fmt: skip
    local = {name: sympy.Symbol(name, real=True) for name in names}
    return sympy.sympify(str(model._program), locals={**known, **local}), None


def eggp(table: pd.DataFrame, names: list[str], seed: int) -> tuple[sympy.Expr, None]:
    """Equality graphs: EGGP's regressor with the functions of ours, its own choice of the front.

    At most half a minute, with twice the default size of a formula; it takes no seed.
    """
    from eggp import EGGP

    model = EGGP(
        nonterminals="add,sub,mul,div,power,sqrt,square,exp,log,sin,cos", maxSize=30, gen=10_000,
        max_time=30,
    )  # fmt: skip
    model.fit(table[names].to_numpy(), table["target"].to_numpy())
    best = model.results.loc[pd.to_numeric(model.results["loss_train"], errors="coerce").idxmin()]
    # written in NumPy: columns x[:, i] and numbers t[j]
    text = re.sub(r"x\[:, *(\d+)\]", lambda match: names[int(match[1])], best["Numpy"])
    theta = [float(number) for number in str(best["theta"]).split(";") if number]
    text = re.sub(r"t\[(\d+)\]", lambda match: f"({theta[int(match[1])]!r})", text)
    local = {name: sympy.Symbol(name, real=True) for name in names}
    functions = {"square": lambda a: a**2, "power": lambda a, b: a**b}
    return sympy.sympify(text.replace("np.", ""), locals={**functions, **local}), None


SEARCHES = {"orbitlaw": ours, "operon": operon, "gplearn": gplearn, "eggp": eggp}


def run_laws(arguments: argparse.Namespace) -> None:
    """Every law at every noise with every seed by every search."""
    rows = []
    laws = arguments.laws_of() if arguments.half is None else small(arguments.half)
    laws = [law for law in laws if not arguments.laws or law.name in arguments.laws]
    laws = laws[:: arguments.every]
    for noise in arguments.noise:
        for search in ["orbitlaw", *arguments.searches]:
            for law in laws:
                for seed in range(arguments.seeds):
                    rows.append(one(law, noise, search, seed, arguments))
                    print(_line(rows[-1]), flush=True)
            done = [r for r in rows if r["noise"] == noise and r["search"] == search]
            print(_summary(done), flush=True)
    if arguments.out:
        with open(arguments.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def one(law: Law, noise: float, search: str, seed: int, arguments: argparse.Namespace) -> dict:
    """One table of a law, searched, and how right the answer is."""
    own = law.rows is not None
    of, rng = "rms" if own else arguments.noise_of, np.random.default_rng([seed, 1])
    table = law.table(rng, law.rows or arguments.rows, noise, of)
    names = [name for name in table if name != "target"]
    began, cpu, found = time.monotonic(), time.process_time(), None
    try:
        formula, found = SEARCHES[search](table, names, seed)
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
        structure = literally(law, formula)
        if own:
            numbers = all(right_inside_and_beyond(law, formula, noise))
        else:
            numbers = by_numbers(law, formula, noise, of)
        equivalent = not structure and untellable(law, formula, table, of)
    except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
        formula, structure, numbers, equivalent = str(error)[:80], False, False, False
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    return {
        "law": law.name, "noise": noise, "search": search, "seed": seed, "structure": structure,
        "equivalent": equivalent, "numbers": numbers, "found": found,
        "seconds": round(seconds, 2), "cpu": round(cpu, 2),
        "formula": str(formula),
    }  # fmt: skip


def _line(row: dict) -> str:
    marks = "S" if row["structure"] else "E" if row["equivalent"] else "-"
    marks += "N" if row["numbers"] else "-"
    marks += "F" if row["found"] else "-"
    return (
        f"{row['search']:<10}{row['noise']:<6g}{row['law']:<17}{row['seed']} {marks} "
        f"{row['seconds']:6.1f} s {row['cpu']:6.1f} s  {row['formula'][:110]}"
    )


def _summary(rows: list[dict]) -> str:
    count = len(rows)
    seconds, cpu = ([row[name] for row in rows] for name in ("seconds", "cpu"))
    right = [row["found"] for row in rows if row["structure"]]
    alike = [row["found"] for row in rows if row["equivalent"]]
    wrong = [row["found"] for row in rows if not (row["structure"] or row["equivalent"])]
    missed = sorted({row["law"] for row in rows if not row["structure"]})
    return (
        f"== {rows[0]['search']}, noise {rows[0]['noise']:g}: structure "
        f"{sum(r['structure'] for r in rows) / count:.0%}, not to be told from the law "
        f"{len(alike) / count:.0%}, numbers "
        f"{sum(r['numbers'] for r in rows) / count:.0%} of {count}; seconds: median "
        f"{np.median(seconds):.1f}, most {max(seconds):.0f}; of the processor: median "
        f"{np.median(cpu):.1f}, most {max(cpu):.0f}"
        f"\n   said to be found: {sum(map(bool, right))} of {len(right)} right by structure, "
        f"{sum(map(bool, alike))} of {len(alike)} not to be told from it, "
        f"{sum(map(bool, wrong))} of {len(wrong)} others"
        f"\n   not by structure: {', '.join(missed) or 'none'}"
    )


LAWS = {
    **BOARDS,
    "small": small, "textbook": textbook, "sums": sums, "powers": powers, "kinds": kinds,
    "compositions": compositions, "compositions-reported": partial(compositions, REPORTED),
    "relations": relations,
}  # fmt: skip
"""Lists of laws, by name."""


def main() -> None:
    """Read the command line and run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    for name, laws_of in LAWS.items():
        part = parts.add_parser(name)
        part.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01, 0.1])
        part.add_argument("--noise-of", choices=["target", "rms"], default="target")
        part.add_argument("--rows", type=int, default=500)
        part.add_argument("--seeds", type=int, default=3)
        part.add_argument("--laws", nargs="*")
        part.add_argument("--every", type=int, default=1, help="each so manyth law")
        part.add_argument(
            "--with", dest="searches", nargs="*", default=[], choices=list(SEARCHES)[1:]
        )
        part.add_argument("--half", type=int, choices=[0, 1], help="of the small problems")
        part.add_argument("--out")
        part.set_defaults(run=run_laws, laws_of=laws_of)
    for name, run in PARTS.items():
        part = parts.add_parser(name)
        part.add_argument("--seeds", type=int, default=5)
        part.add_argument("--draws", type=int, default=200)
        part.add_argument("--noise", type=float, default=0.02, help="of coverage")
        part.set_defaults(run=run)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    arguments.run(arguments)


def run_classics(arguments: argparse.Namespace) -> None:
    """Every classic with every seed: the same form, constants free."""
    for name in classics(0):
        right = 0
        for seed in range(arguments.seeds):
            table, target, features, law = classics(seed)[name]
            found = recover(table, target=target, features=features, seed=seed, null=False)
            wanted = skeleton(normal_form(with_floats(parse_expression(law))))[0]
            both = found.sympy(found.expression), parse_expression(law)
            same = decided(*both, features, None, 0.05, 5.0).verdict in MATCHING
            same = same or str(skeleton(normal_form(found.formula))[0]) == str(wanted)
            right += same
            print(f"{name:<10} {seed} {'yes' if same else 'no ':<4} found={found.found} "
                  f"{found.expression}", flush=True)  # fmt: skip
        print(f"== {name}: {right} of {arguments.seeds}", flush=True)


def run_llmsr(arguments: argparse.Namespace) -> None:
    """What is left of the variance (NMSE) of rows inside and outside the range searched."""
    for name, tables in halves().items():
        features = tuple(column for column in tables.train if column != tables.target)
        for seed in range(arguments.seeds):
            began = time.process_time()
            found = recover(
                tables.train, target=tables.target, features=features, seed=seed, null=False
            )
            left = []
            for part in (tables.inside, tables.outside):
                X, y = (part[names].to_numpy() for names in (list(features), tables.target))
                error = evaluate(found.formula, list(features), X) - y
                left.append(np.mean(error**2) / np.var(y))
            print(f"{name:<18}{seed} NMSE inside {left[0]:.2g}, outside {left[1]:.2g}, "
                  f"found={found.found!s:<6}{time.process_time() - began:5.0f} s of the processor  "
                  f"{found.expression}", flush=True)  # fmt: skip


def run_traps(arguments: argparse.Namespace) -> None:
    """How many of them are called by a name."""
    named = []
    for name, law in TRAPS.items():
        rng = np.random.default_rng(0)
        r, m1, m2 = rng.uniform(0.3, 3, 400), rng.uniform(1, 9, 400), rng.uniform(1, 9, 400)
        table = pd.DataFrame({"F": 5 * m1 * m2 * law(r), "r": r, "m1": m1, "m2": m2})
        found = recover(table, target="F", features=("r", "m1", "m2"), null=False)
        if found.recovered or found.matches:
            named.append(name)
        print(f"{name:<22} found={found.found!s:<6} matches={found.matches} {found.expression}",
              flush=True)  # fmt: skip
    print(f"== named wrongly: {len(named)} of {len(TRAPS)} {named}")


def run_groups(arguments: argparse.Namespace) -> None:
    """Many small groups of one form, each with its own size: the form, and what is shared."""
    for name, (law, (low, high), noise, rows, groups) in GROUPED.items():
        rng = np.random.default_rng([groups, 21])
        group = np.repeat(np.arange(groups), rows)
        size, x = rng.uniform(1, 5, groups)[group], rng.uniform(low, high, groups * rows)
        y = law(size, x)
        unit = np.sqrt(np.mean(y**2)) if name in ("line", "cooling", "wave") else y
        table = pd.DataFrame(
            {"g": group, "x": x, "y": y + noise * unit * rng.standard_normal(len(y))}
        )
        found = recover(table, target="y", features="x", per_group="g", null=False)
        constants = found.per_group.constants.items()
        shared = [constant for constant, each in constants if len(each) == 1]
        print(
            f"{name:<12}{found.status:<14} {found.per_group.form:<24} shared {shared}", flush=True
        )


def null_table(draw: int) -> pd.DataFrame:
    """A target with nothing in it: a permuted force, normal or log-normal noise in turn."""
    rng = np.random.default_rng([draw, 5])
    rows = int(rng.choice([20, 60, 200]))
    r, m1 = rng.uniform(0.3, 3, rows), rng.uniform(1, 9, rows)
    target = {
        0: rng.permutation(m1 / r**2), 1: rng.standard_normal(rows),
        2: np.exp(rng.standard_normal(rows)),
    }[draw % 3]  # fmt: skip
    return pd.DataFrame({"F": target, "r": r, "m1": m1})


def run_nulls(arguments: argparse.Namespace) -> None:
    """How often a law is found where there is none."""
    wrong = 0
    for draw in range(arguments.draws):
        table = null_table(draw)
        found = recover(table, target="F", features=("r", "m1"), seed=draw, null=False)
        wrong += found.found
        if found.found:
            print(f"draw {draw}: {found.expression}", flush=True)
    print(f"== found: {wrong} of {arguments.draws}")


def run_coverage(arguments: argparse.Namespace) -> None:
    """How often the interval of every constant holds the truth, 100 rows."""
    for name, (form, truth) in COVERED.items():
        values = {symbol(constant): value for constant, value in truth.items()}
        held = dict.fromkeys(truth, 0)
        law = parse_expression(form).subs(values)
        for draw in range(arguments.draws):
            rng = np.random.default_rng([draw, 6])
            r = rng.uniform(0.3, 3, 100)
            y = evaluate(law, ["r"], r[:, None]) * (1 + arguments.noise * rng.standard_normal(100))
            found = recover(
                pd.DataFrame({"F": y, "r": r}), target="F", features=("r",), form=form, seed=draw,
                null=False,
            )  # fmt: skip
            for constant, value in truth.items():
                quantity = found.coefficients[constant]
                held[constant] += bool(quantity.low <= value <= quantity.high)
        shares = ", ".join(f"{c} {h / arguments.draws:.1%}" for c, h in held.items())
        print(f"{name:<12} {form:<20} {shares}", flush=True)


def run_exact(arguments: argparse.Namespace) -> None:
    """What exact laws leave, fitted again, relative to the target: 25 and 400 rows of each."""
    rng, names, left = np.random.default_rng(0), sympy.symbols("x y"), []
    for text in FORMS:
        form = sympy.sympify(text, locals={"E": sympy.Symbol("E")})
        numbers = sorted((s for s in form.free_symbols if s.name.isupper()), key=str)
        for rows in (25, 400):
            values = {number: round(float(rng.uniform(0.3, 2.4)), 3) for number in numbers}
            if "1-B*x**2" in text:
                values[sympy.Symbol("B")] = 0.087  # the root must have a value
            X = rng.uniform(0.4, 3.1, (rows, 2))
            y = sympy.lambdify(names, form.subs(values), "numpy")(*X.T)
            samples = Samples(X, y, ("x", "y"), np.arange(rows))
            start = form.subs(
                {n: v * (1 + 1e-3 * rng.standard_normal()) for n, v in values.items()}
            )
            law = refit_law(refitted(start, samples, "exact"), samples)
            error = np.sqrt(np.mean((law.values(samples) - y) ** 2) / np.mean(y**2))
            left.append(error)
            print(f"{error:.1e} {len(law.constants)} numbers {rows:>3} rows  {text}", flush=True)
    print(f"== most but one: {np.sort(left)[-2]:.1e}, most: {max(left):.1e} of {len(left)}")


def run_feature_errors(arguments: argparse.Namespace) -> None:
    """How often the interval of every constant holds the truth, errors of features given or not."""
    for name, case in BLURRED.items():
        for given in (case.errors, {}):
            held = dict.fromkeys(case.truth, 0)
            values: dict[str, list[float]] = {constant: [] for constant in case.truth}
            for draw in range(arguments.draws):
                found = recover(
                    case.table(draw), target="F", features=tuple(case.errors), form=case.form,
                    sigma_of=given, seed=draw, null=False,
                )  # fmt: skip
                for constant, truth in case.truth.items():
                    quantity = found.coefficients[constant]
                    held[constant] += bool(quantity.low <= truth <= quantity.high)
                    values[constant].append(quantity.value / truth - 1)
            shares = ", ".join(
                f"{c} {h / arguments.draws:.1%} (bias {np.mean(values[c]):+.2%}, "
                f"scatter {np.std(values[c]):.2%})"
                for c, h in held.items()
            )
            print(f"{name:<9}{'given' if given else 'kept back':<10}{shares}", flush=True)


PARTS = {
    "feature-errors": run_feature_errors,
    "classics": run_classics, "llmsr": run_llmsr, "traps": run_traps, "groups": run_groups,
    "nulls": run_nulls, "coverage": run_coverage, "exact": run_exact,
}  # fmt: skip

if __name__ == "__main__":
    main()
