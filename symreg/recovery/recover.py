"""From a table of forces to a verdict: search, refine, compare, try to refute.

One law on its way: an engine proposes a `Candidate`; refitted it is a `Law`; `select` makes a
`Finding` of the one that it chooses, to which `find` adds the last fit, the evidence and the
comparison; `solve` judges that, and `record` writes it down as a `Recovery`, which users get.
"""

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from threadpoolctl import threadpool_limits

from orbits.dataset import as_dataset
from orbits.derivatives.accelerations import measure_forces
from orbits.force_samples import REQUIRED, ForceSamples
from orbits.options import keywords_of, options_from
from orbits.printing import plural
from orbits.progress import Progress, Wanted, quiet, told
from orbits.tables import as_table
from symreg.engines import choose_engine
from symreg.formulas.expressions import in_full, written
from symreg.formulas.watch import Watch
from symreg.recovery.config import RecoverConfig
from symreg.recovery.finding import find, read_guesses
from symreg.recovery.gates import passed
from symreg.recovery.guard import Guard
from symreg.recovery.judge import found_gates, law_gates
from symreg.recovery.motion import problems_of
from symreg.recovery.problem import Problem, of_user_table
from symreg.recovery.record import Draft, record, status_of
from symreg.recovery.result import Null, Recovery
from symreg.recovery.selection import Search

JUDGING = 5.0
"""Seconds at least to judge in: what is beside a formula is tried after a short search too."""
Table = ForceSamples | pd.DataFrame | xr.Dataset | str | os.PathLike[str]


@keywords_of(RecoverConfig)
def recover(
    table: Table,
    config: RecoverConfig | None = None,
    progress: Wanted = None,
    **options: Any,
) -> Recovery:
    """Find the law of a table, compare it with a reference law, and say how sure it is.

    Args:
        table: force samples (from `worldmodel.probe`, a DataFrame with their columns, or their
            Parquet file); trajectories (a dataset or its folder), along which forces are first
            measured; or with `target` any DataFrame, CSV or Parquet file.
        config: how to search and judge.
        progress: called with a line of text every few seconds; False for silence. By default a
            notebook shows a bar.
        **options: of `RecoverConfig`, overriding `config`: `target="F"`, `features="r,m1,m2"`,
            `law="newton"`, `seeds=3`.

    Returns:
        The law with its evidence: `.expression`, `.predict()`, `.recovered`, `.explanation`.

    Raises:
        ValueError: for an unusable table, column, unit, law or engine (says why).
    """
    config = options_from(RecoverConfig, config, options)
    if not isinstance(table, (ForceSamples, xr.Dataset)):
        table = as_table(table)
    if config.own_table:
        if isinstance(table, ForceSamples):
            table = table.table
        if isinstance(table, xr.Dataset):
            raise ValueError(
                "a Dataset has no columns; leave target out for one of orbits, or give a "
                "DataFrame, as to_dataframe() of it makes."
            )
        problems = [of_user_table(table, config)]
    else:
        problems = problems_of(_force_samples(table), config)
    guard, (first, *rest) = Guard(), problems
    with told(progress, "recover") as say:
        result = solve(first, config, say)
        others = tuple(
            guard.each("the search of a component", lambda other: solve(other, config, say), rest)
        )
    return replace(result, components=others, notes=(*result.notes, *guard.notes))


def _force_samples(table: Table) -> ForceSamples:
    if isinstance(table, ForceSamples):
        return table
    if isinstance(table, pd.DataFrame):
        missing = [name for name in REQUIRED if name not in table]
        if missing:
            raise ValueError(
                f"the table lacks {', '.join(missing)}, so it holds no force samples; to search "
                "any other table name its target and features: target='F', features='r,m1,m2'."
            )
        return ForceSamples(table)
    if isinstance(table, xr.Dataset) or Path(table).is_dir():
        return measure_forces(as_dataset(table))
    return ForceSamples.read(table)


def solve(problem: Problem, config: RecoverConfig, progress: Progress = quiet) -> Recovery:
    """Find the law of a problem, judge it, and write it down."""
    began = time.monotonic()
    if problem.any_law and config.error_floor is None:
        config = replace(config, error_floor=problem.floor)
    spelt = problem.spelt(config)
    guesses = read_guesses(spelt.guesses, problem.samples.names)
    texts = tuple(map(in_full, guesses))
    question = replace(config.question, guesses=texts, units=problem.si_units)
    engine, reason = choose_engine(config.engine, question)
    watch = Watch(config.limit(problem.any_law), progress)
    # with a fifth of both for permuted targets, all keeps within 1.5 times the limit
    judging = max(JUDGING, 0.3 * watch.seconds)
    search = Search(engine, spelt, watch, judging, guesses, problem.units, reason=reason)
    # threads that wait for one another count as computing, and change the last digits
    with threadpool_limits(1, "blas"):
        message = f"search {plural(problem.rows, 'row')} with {engine.name}: {reason}"
        watch.say(lambda: message, True)
        finding = find(problem, search)
        draft = Draft(problem, config, search, finding, engine.exhausted)
        nulls: dict[str, Null] = {}
        # a control of what passes: where nothing does, it could only confirm that
        passes = passed(draft.of_reference) or status_of(config, draft.of_any_law) != "none"
        if config.null and config.form is None and passes:
            watch.say(lambda: "search permuted targets, which no law explains", True)
            control = partial(_permuted, problem, search)
            nulls = search.guard.part("the permuted targets", control, nulls)
    return replace(record(draft, nulls), seconds=time.monotonic() - began)


def _permuted(problem: Problem, search: Search) -> dict[str, Null]:
    """The same search on shuffled targets, with no law left to find: as far as the first went, with
    two seeds at most, in a fifth of the time."""
    config = replace(search.config, seeds=min(2, search.config.seeds))
    shuffled = problem.samples.permuted(np.random.default_rng([config.seed, 2]))
    # a fifth
    watch, judging = Watch(0.2 * search.watch.seconds), 0.2 * search.judging
    finding = find(
        replace(problem, samples=shuffled, every=None),
        replace(
            search, engine=search.engine.as_far(), config=config, watch=watch, judging=judging,
            units=None, guard=Guard(),
        ),
        to_read=False,
    )  # fmt: skip
    of_any_law = found_gates(finding, None)
    return {
        "permuted": Null(
            verdict=finding.comparison.verdict,
            recovered=passed(law_gates(finding, None)) or passed(of_any_law),
            expression=written(finding.law.expression),
            r2=finding.r2,
        )
    }
