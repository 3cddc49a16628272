"""The tables of a report: its probes beside their controls, and every condition."""

from collections.abc import Mapping
from dataclasses import dataclass

from orbits.printing import number, plural
from symreg.experiments.result import Metrics, Run
from symreg.experiments.verdict import ANOTHER, FIELD, KEPLERIAN, LAW, PARROT
from symreg.recovery.gates import Gate
from worldmodel.controls import CONTROLS
from worldmodel.probes.readouts import READOUTS

EVERYWHERE = {"states": "states read", "orbits": "orbits read"}
"""Metrics of many probes, in words."""


def readout_tables(
    readouts: Mapping[str, Mapping[str, Metrics]],
) -> dict[str, tuple[str, list[tuple[str, ...]]]]:
    """Of each probe of a run its question, and its numbers beside those of its controls, header
    first."""
    tables = {}
    for name, by_subject in readouts.items():
        readout = READOUTS[name.partition("(")[0]]
        labels = EVERYWHERE | dict(readout.labels)
        rows = [("", *(CONTROLS[subject].label for subject in by_subject))]
        for metric in dict.fromkeys(metric for each in by_subject.values() for metric in each):
            numbers = (number(each.get(metric), missing="–") for each in by_subject.values())
            rows.append((label(metric, labels), *numbers))
        tables[name.replace("_", " ")] = readout.question, rows
    return tables


@dataclass(frozen=True)
class Condition:
    """One number of the verdict in words, and the gate of each heading (None for none)."""

    name: str
    found: str
    by: tuple[Gate | None, ...]


def gate_table(run: Run) -> tuple[tuple[str, ...], list[Condition]]:
    """Every number that decides the verdict and the kind of model, once.

    The headings come with "recovered" first, then the rows.
    """
    asking: dict[str, tuple[Gate, ...]] = {"recovered": run.gates}
    if run.world_model is not None:
        kind = run.world_model
        asking |= {
            FIELD: kind.inside, LAW: kind.beyond, ANOTHER: kind.another,
            KEPLERIAN: kind.keplerian, PARROT: kind.parrot,
        }  # fmt: skip
    gates = {title: {gate.name: gate for gate in asked} for title, asked in asking.items() if asked}
    rows = []
    for name in dict.fromkeys(name for named in gates.values() for name in named):
        by = tuple(named.get(name) for named in gates.values())
        first = next(gate for gate in by if gate is not None)
        rows.append(Condition(name, "not measured" if first.passed is None else first.found, by))
    return tuple(gates), rows


def label(metric: str, labels: Mapping[str, str] = EVERYWHERE) -> str:
    """A metric in words: `r2_4` is R² after 4 steps, `error_16` the error after 16."""
    if metric in labels:
        return labels[metric]
    what, _, step = metric.rpartition("_")
    if what in ("r2", "error") and step.isdigit():
        return f"{what.replace('r2', 'R²')} after {plural(int(step), 'step')}"
    return metric.replace("r2", "R²").replace("_", " ")
