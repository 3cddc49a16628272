"""A report's words on its probes, and the command that repeats the run."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from orbits.config import OrbitsConfig
from orbits.options import changed, flag_of
from orbits.printing import plural
from symreg.experiments.config import FROZEN, RunConfig
from symreg.experiments.result import Metrics, Run
from symreg.experiments.verdict import ANOTHER, KEPLERIAN, NEWTONIAN, PARROT
from symreg.recovery.gates import Gate
from symreg.recovery.result import FrontPoint
from worldmodel.controls import CONTROLS
from worldmodel.probes.readouts import READOUTS

EVERYWHERE = {"states": "states read", "orbits": "orbits read"}
"""Metrics of many probes, in words."""


@dataclass(frozen=True)
class ReadOutTable:
    """A probe with its controls (`subjects`) side by side: metrics in words, with numbers."""

    name: str
    sentence: str
    subjects: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


def readout_tables(readouts: Mapping[str, Mapping[str, Metrics]]) -> list[ReadOutTable]:
    """The probes of a run, each beside its controls."""
    return [_table(name, by_subject) for name, by_subject in readouts.items()]


def _table(name: str, by_subject: Mapping[str, Metrics]) -> ReadOutTable:
    readout = READOUTS["transfer" if name == FROZEN else name]
    labels = EVERYWHERE | dict(readout.labels)
    metrics = dict.fromkeys(metric for each in by_subject.values() for metric in each)
    return ReadOutTable(
        name,
        readout.question,
        tuple(CONTROLS[subject].label for subject in by_subject),
        tuple(
            (label(metric, labels), tuple(each.get(metric) for each in by_subject.values()))
            for metric in metrics
        ),
    )


@dataclass(frozen=True)
class Asked:
    """One number of the verdict in words, and the gate of each heading (None for none)."""

    name: str
    found: str
    by: tuple[Gate | None, ...]


def gate_table(run: Run) -> tuple[tuple[str, ...], list[Asked]]:
    """Every number that decides the verdict and the kind of model, once.

    The headings come with "recovered" first, then the rows.
    """
    asking: dict[str, tuple[Gate, ...]] = {"recovered": run.gates}
    if run.world_model is not None:
        kind = run.world_model
        asking |= {
            NEWTONIAN: kind.newtonian, ANOTHER: kind.another, KEPLERIAN: kind.keplerian,
            PARROT: kind.parrot,
        }  # fmt: skip
    gates = {title: {gate.name: gate for gate in asked} for title, asked in asking.items() if asked}
    rows = []
    for name in dict.fromkeys(name for named in gates.values() for name in named):
        by = tuple(named.get(name) for named in gates.values())
        first = next(gate for gate in by if gate is not None)
        rows.append(Asked(name, "not measured" if first.passed is None else first.found, by))
    return tuple(gates), rows


def label(metric: str, labels: Mapping[str, str] = EVERYWHERE) -> str:
    """A metric in words: `r2_4` is R² after 4 steps, `error_16` the error after 16."""
    if metric in labels:
        return labels[metric]
    what, _, step = metric.rpartition("_")
    if what in ("r2", "error") and step.isdigit():
        return f"{what.replace('r2', 'R²')} after {plural(int(step), 'step')}"
    return metric.replace("r2", "R²").replace("_", " ")


def command_of(config: RunConfig) -> str:
    """The command that repeats the run, without what changes no number (`--out`)."""
    words = ["symreg", "run"]
    of_data = [each.name for each in fields(OrbitsConfig)] if config.data is not None else []
    for name in changed(config, RunConfig()):
        if name in (*of_data, *config.FREE):
            continue
        flag, value = flag_of(name), getattr(config, name)
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag.removeprefix('--')}")
        elif isinstance(value, tuple):
            words += [flag, *map(str, value)]
        else:
            words += [flag, str(value)]
    return shlex.join(words)


def undominated(front: Sequence[FrontPoint]) -> list[FrontPoint]:
    """The formulas that no formula as short or shorter beats in accuracy, shortest first."""
    kept: list[FrontPoint] = []
    measured = [(c.complexity, c.loss, c) for c in front if c.loss is not None]
    for _, loss, candidate in sorted(measured, key=lambda row: row[:2]):
        if not kept or loss < (kept[-1].loss or 0.0):
            kept.append(candidate)
    return kept
