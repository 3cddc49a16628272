"""Somebody else's judge: srbf's driver, data and metrics, with `LawRegressor` as the method.

    notebooks/benchmarks/srbf/environment.sh ~/srbf
    ~/srbf/bin/python notebooks/benchmarks/srbf/judge.py --catalogs FOLDER --catalog fastsrb.v2 \\
        --noise 0 --draws 1 --out results
    ~/srbf/bin/python notebooks/benchmarks/srbf/judge.py --out results --table srbf.csv

`--catalogs` holds catalogs of symbolic-data as YAML. Each draw of each catalog is one run of srbf's
`Benchmark`, whose own store writes every problem when it ends; a run that was stopped goes on.
512 rows to fit, 512 others without noise to judge; noise is Gaussian, a share of the target's
standard deviation. The points of draw k come from `default_rng(k)`. The regressor has its
defaults. The driver fits one problem at a time, and seconds are around the fit alone.

A problem is recovered if the variance left unexplained on the other rows is at most 2^-23
(`numeric_recovery_val`). Numbers that the rows do not tell from simple ones are simple in what the
regressor predicts; `as_fitted` judges the same formula with every number as it was fitted.
`structure` is srbf's `symbolic_recovery`, equal formulas with every
number masked. It needs one of SimpliPy's engines: `--engine` names one that SimpliPy can download,
or the path of its `config.yaml`; without one there are operators and no rules, which tell fewer
equal formulas to be equal.
"""

import argparse
import csv
import os
import pickle
import time
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

# after the threads are set
# ruff: noqa: E402
import numpy as np
import sympy
from simplipy import SimpliPyEngine
from srbf import Benchmark, derive_metrics
from srbf.core import EvaluationResult, EvaluationSample
from srbf.data_sources import CatalogSource
from srbf.spelling import engine_spelling
from srbf.store import ResultStore
from symbolic_data import ProblemSource
from symbolic_data.token_ops import normalize_expression, normalize_skeleton

import symreg

FITTED, JUDGED = 512, 512
"""Rows, by srbf's protocol."""
COLUMNS = ("catalog", "law", "draw", "noise", "fvu", "recovered", "as_fitted", "structure",
           "found", "status", "seconds", "processor", "formula")  # fmt: skip
UNARY = ("abs", "inv", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
         "asinh", "acosh", "atanh", "exp", "log")  # fmt: skip


def engine_of(name: str | None) -> SimpliPyEngine:
    """The judge's algebra: downloaded, from a file, or its operators alone."""
    if name:
        return SimpliPyEngine.load(name, install=True)
    own = "simplipy.operators."
    binary = {"+": ("+", 1), "-": ("-", 1), "*": ("*", 2), "/": (own + "div", 2),
              "pow": (own + "pow", 3), "rootn": (own + "rootn", 3)}  # fmt: skip
    operators: dict[str, dict[str, Any]] = {
        each: {"realization": realization, "alias": [], "arity": 2, "precedence": precedence,
               "commutative": each in "+*"}
        for each, (realization, precedence) in binary.items()
    }  # fmt: skip
    # as in SimpliPy's own configurations: a sign binds between a product and a power
    precedences = {"neg": 2.5, "abs": 3, "inv": 4, "exp": 3}
    operators |= {
        each: {"realization": own + each, "alias": [], "arity": 1,
               "precedence": precedences.get(each, 2), "commutative": False}
        for each in ("neg", *UNARY)
    }  # fmt: skip
    return SimpliPyEngine(operators)


class Method:
    """srbf's contract for a method (`srbf.core.EvaluationModelAdapter`)."""

    def __init__(self, engine: SimpliPyEngine) -> None:
        self.simplipy_engine = engine

    def prepare(self, *, data_source: object = None) -> None:
        """Imports that a first search pays for."""
        x = np.linspace(1, 2, 40)[:, None]
        symreg.LawRegressor(seeds=1, null=False).fit(x, 2 * x[:, 0])

    def evaluate_sample(self, sample: EvaluationSample) -> EvaluationResult:
        """Fit one problem and say what came out; a failure is a result."""
        record = sample.clone_metadata()
        noisy = sample.y_support_noisy
        y = sample.y_support if noisy is None else noisy
        model = symreg.LawRegressor()
        record |= {"error": None, "prediction_success": False, "found": False, "status": ""}
        start, processor = time.perf_counter(), time.process_time()
        try:
            with np.errstate(all="ignore"):
                model.fit(sample.x_support, np.ravel(y))
            record["fit_time"] = time.perf_counter() - start
            record |= {"found": bool(model.found_), "status": str(model.recovery_.status)}
            record["predicted_expression"] = text = str(model.sympy())
            for key, x in {"y_pred": sample.x_support, "y_pred_val": sample.x_validation}.items():
                record[key] = model.predict(x).reshape(-1, 1)
            record["y_fitted"] = _values(model, sample.x_validation)
            arity = self.simplipy_engine.operator_arity
            # our columns are x0, x1, ..., the judge's x1, x2, ...
            names = {"E": "e"} | {f"x{k}": f"x{k + 1}" for k in range(sample.x_support.shape[1])}
            prefix = [names.get(each, each) for each in self.simplipy_engine.read_infix(text)]
            prefix = engine_spelling(prefix, arity)
            record["predicted_expression_prefix"] = normalize_expression(prefix)
            record["predicted_skeleton_prefix"] = normalize_skeleton(prefix)
            record["prediction_success"] = True
        except Exception as error:  # a failure is one of a method's results
            record["fit_time"] = time.perf_counter() - start
            record["error"] = f"{type(error).__name__}: {error}"
        record["cpu_time"] = time.process_time() - processor
        outcome = record.get("predicted_expression") or record["error"]
        seconds = f"{record['fit_time']:.1f} s"
        print(record["benchmark_eq_id"], record["status"], seconds, outcome, sep=", ", flush=True)
        return EvaluationResult(record)


def _values(model: symreg.LawRegressor, x: np.ndarray) -> np.ndarray:
    """(row, 1) of the formula with every number as it was fitted."""
    law = model.recovery_
    fitted = {name: number.value for name, number in law.coefficients.items()}
    formula = law.sympy(law.form if law.form and None not in fitted.values() else law.expression)
    columns = {f"x{k}": column for k, column in enumerate(x.T.astype(float))} | fitted
    symbols = sorted(formula.free_symbols, key=str)
    values = sympy.lambdify(symbols, formula, "numpy")(*(columns[str(each)] for each in symbols))
    return np.broadcast_to(np.asarray(values, dtype=float), len(x)).reshape(-1, 1).copy()


def run(
    catalog: Path, noise: float, draw: int, out: Path, engine: SimpliPyEngine,
    shard: tuple[int, int],
) -> None:  # fmt: skip
    """One draw of one catalog, or what is left of it; of many shards that one."""
    of_many = f"@{shard[0]}of{shard[1]}" if shard[1] > 1 else ""
    path = out / f"{catalog.stem}@{noise:g}@{draw}{of_many}.pkl"
    store = ResultStore(_stored(path)) if path.exists() else ResultStore()
    sampling = {"n_support": FITTED, "n_validation": JUDGED, "noise": noise,
                "problems_per_expression": 1}  # fmt: skip
    rng = np.random.default_rng(draw)
    problems = ProblemSource({"catalog": str(catalog), "sampling": sampling},
                             simplipy_engine=engine, rng=rng)  # fmt: skip
    # problems before these are drawn again, so that the rest is what it would have been
    source = CatalogSource(problems, skip=store.size, shard=shard)
    if source.size_hint():
        Benchmark(source, Method(engine), result_store=store, output_path=str(path), save_every=1,
                  config_provenance="upstream_default").run(progress=False)  # fmt: skip


def _stored(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        return {key: each for key, each in pickle.load(file).items() if key != "__meta__"}


def table(out: Path, target: Path, engine: SimpliPyEngine) -> None:
    """Every problem of every run, judged by srbf's metrics, as CSV."""
    rows = []
    runs = [(*path.stem.split("@")[:3], path) for path in out.glob("*.pkl")]
    for catalog, noise, draw, path in sorted(runs, key=lambda run: (run[0], float(run[1]), run[2])):
        stored = _stored(path)
        judged = derive_metrics(stored, engine=engine)
        if "y_fitted" in stored:
            fitted = derive_metrics(stored | {"y_pred_val": stored["y_fitted"]}, engine=engine)
            judged["as_fitted"] = fitted["numeric_recovery_val"]
        for k, law in enumerate(judged["benchmark_eq_id"]):
            at = {key: each[k] for key, each in judged.items()}
            if at["placeholder"]:
                rows.append([catalog, law, draw, noise, "", "", "", "", "", "no table", *[""] * 3])
                continue
            rows.append([
                catalog, law, draw, noise, f"{at['fvu_val']:.3g}",
                int(at["numeric_recovery_val"]),
                int(at["as_fitted"]) if "as_fitted" in at else "",
                int(at["symbolic_recovery"]), int(at["found"]),
                at["status"], f"{at['fit_time']:.1f}",
                f"{at['cpu_time']:.1f}" if at.get("cpu_time") else "",
                at.get("predicted_expression") or "",
            ])  # fmt: skip
    with open(target, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    for catalog, noise in sorted({(row[0], row[3]) for row in rows}):
        mine = [row for row in rows if (row[0], row[3]) == (catalog, noise) and row[5] != ""]
        shares = np.mean([[row[5], row[7], row[8]] for row in mine], axis=0)
        fitted = [row[6] for row in mine if row[6] != ""]
        also = f" ({np.mean(fitted):.3f} as fitted)" if len(fitted) == len(mine) else ""
        print(f"{catalog} at {noise}: {len(mine)} problems, recovered {shares[0]:.3f}{also}, "
              f"structure {shares[1]:.3f}, found {shares[2]:.3f}, "
              f"median {np.median([float(row[10]) for row in mine]):.1f} s")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--catalogs", type=Path, help="folder of catalogs, as YAML")
    parser.add_argument("--catalog", nargs="*", help="which of them, by name; by default all")
    parser.add_argument("--noise", type=float, default=0.0, help="share of the target's deviation")
    parser.add_argument("--draws", type=int, default=1, help="tables drawn of each law")
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--shard", type=int, nargs=2, metavar=("K", "N"), default=(0, 1),
                        help="the Kth of N parts of each catalog, from 0")  # fmt: skip
    parser.add_argument("--engine", help="SimpliPy's engine: a name, or its config.yaml")
    parser.add_argument("--out", type=Path, required=True, help="folder of srbf's result files")
    parser.add_argument("--table", type=Path, help="write results as this CSV, and search nothing")
    given = parser.parse_args()
    engine = engine_of(given.engine)
    if given.table:
        return table(given.out, given.table, engine)
    if given.catalogs is None or not given.catalogs.is_dir():
        parser.error(f"--catalogs {given.catalogs}: a folder with catalogs is needed.")
    known = {path.stem: path for path in sorted(given.catalogs.glob("*.yaml"))}
    unknown = set(given.catalog or known) - set(known)
    if unknown or not known:
        parser.error(
            f"--catalog {' '.join(sorted(unknown))}: there are {', '.join(known) or 'none'}."
        )
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.catalog or known:
        for draw in range(given.first, given.first + given.draws):
            run(known[name], given.noise, draw, given.out, engine, tuple(given.shard))


if __name__ == "__main__":
    main()
