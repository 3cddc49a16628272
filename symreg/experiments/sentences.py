"""What the report says in sentences: read-outs, what decided the verdict, the command typed."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbits.command.options import option_names, option_value
from symreg.experiments.config import RunConfig
from symreg.experiments.readouts import Metrics
from symreg.recovery.result import FrontPoint, Gate

QUESTIONS = {
    "jacobian": "How much each position in view moves the prediction. A second-order law needs the "
    "last two alone.",
    "kick_response": "Whether the implied acceleration stays right by the steps since a kick (R²).",
    "linear": "Whether a straight-line probe of a layer can tell physical quantities (R²); a model "
    "that only fits ellipses passes this too.",
    "symmetry": "Whether predictions turn, mirror, reverse and scale as their inputs do; the error "
    "where they do not.",
    "field": "Whether the implied force depends on the place alone, has no curl, and is central.",
    "rollout": "How far the model's own predictions, as its inputs, stray from the truth.",
    "evaluate": "Next-step loss on held-out orbits, errors of roll-outs, drifts of invariants.",
    "extrapolate": "Loss on sequences longer than those of training, by how many times longer.",
    "transfer": "Whether fine-tuning on a few labelled forces gives the law everywhere.",
    "transfer_frozen": "The same with a new head alone, the model left as it is.",
    "inductive_bias": "Whether the model extrapolates from random labels as the state would have "
    "it.",
}
"""Each read-out as a sentence."""

LABELS = {
    "current": "departure from inertia by the current position",
    "previous": "departure from inertia by the position before it",
    "older_sum": "weight of all older positions together",
    "older_max": "largest weight of one older position",
    "locality": "locality (1: the last two positions alone, as inertia has it)",
    "radial_error": "error of the implied force gradient along the radius",
    "tangential_error": "error of the implied force gradient across the radius",
    "states": "states read",
    "orbits": "orbits read",
    "recovery": "step from which R² stays at 0.9 or more",
    "energy_drift": "relative drift of energy",
    "angular_momentum_drift": "relative drift of angular momentum",
    "difference_error": "error of taking derivatives by differences",
}
"""Metrics in words."""

SUBJECTS = {"": "the model", "injected": "true law injected", "untrained": "untrained network",
            "keplerian": "fitted ellipse", "parrot": "naive copier",
            "straight_line": "straight line", "autoregression": "autoregression"}  # fmt: skip
"""Who was asked: the model, or what stood in its place."""


@dataclass(frozen=True)
class ReadOutTable:
    """A read-out with its controls side by side.

    Attributes:
        name: as in `--readouts`.
        sentence: what it asks.
        subjects: titles of the columns.
        rows: a metric in words, and its number for each subject.
    """

    name: str
    sentence: str
    subjects: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


def readout_tables(readouts: Mapping[str, Metrics]) -> list[ReadOutTable]:
    """The read-outs of a run, each beside its controls (`jacobian`, `jacobian_injected`)."""
    columns: dict[str, dict[str, Metrics]] = {}
    for title, metrics in readouts.items():
        name, subject = _parted(title)
        columns.setdefault(name, {})[subject] = metrics
    return [
        ReadOutTable(
            name,
            QUESTIONS.get(name, ""),
            tuple(SUBJECTS[subject] for subject in by_subject),
            tuple(
                (label(metric), tuple(metrics.get(metric) for metrics in by_subject.values()))
                for metric in dict.fromkeys(m for metrics in by_subject.values() for m in metrics)
            ),
        )
        for name, by_subject in columns.items()
    ]


def _parted(title: str) -> tuple[str, str]:
    """A read-out and who was asked, of `jacobian_injected`."""
    for subject in SUBJECTS:
        if subject and title.endswith(f"_{subject}"):
            return title.removesuffix(f"_{subject}"), subject
    return title, ""


def label(metric: str) -> str:
    """A metric in words: `r2_4` is R² after 4 steps, `error_16` the error after 16."""
    if metric in LABELS:
        return LABELS[metric]
    if found := re.fullmatch(r"(r2|error)_(\d+)", metric):
        what = {"r2": "R²", "error": "error"}[found[1]]
        return f"{what} after {found[2]} step{'s' if found[2] != '1' else ''}"
    return metric.replace("r2", "R²").replace("_", " ")


def turning(gates: Sequence[Gate], recovered: bool | None) -> str:
    """What would have changed the verdict: the gates that failed, or the one closest to failing."""
    if recovered is None or not gates:
        return ""
    failed = [gate for gate in gates if gate.passed is False]
    unmeasured = [gate.name for gate in gates if gate.passed is None]
    if failed:
        listed = "; ".join(f"{g.name} (found {g.found}, asked {g.required})" for g in failed)
        every = "this gate" if len(failed) == 1 else f"these {len(failed)} gates"
        return f"It would count as recovered if {every} held: {listed}."
    if unmeasured:
        return f"These gates would have to be measured, and hold: {', '.join(unmeasured)}."
    told = "Any one gate that fails would undo it."
    margins = {gate: margin for gate in gates if (margin := _used(gate)) is not None}
    if margins:
        nearest = max(margins, key=lambda gate: margins[gate])
        told += (
            f" The closest to its limit is {nearest.name}: found {nearest.found}, asked "
            f"{nearest.required}, {margins[nearest]:.0%} of the room used."
        )
    return told


def _used(gate: Gate) -> float | None:
    """Part of the room of a gate that is used: 0 at the best value, 1 at the limit."""
    number = r"(-?[\d.]+)"
    found = re.match(rf"{number}(%?)", gate.found)
    if found is None or " of " in gate.found:
        return None
    value = float(found[1])
    if asked := re.fullmatch(rf"within {number}(%?) of {number}", gate.required):
        room, centre = float(asked[1]), float(asked[3])
        room = abs(centre) * room / 100 if asked[2] else room
        return abs(value - centre) / room if room else None
    if asked := re.fullmatch(rf"at least {number}", gate.required):
        least = float(asked[1])
        return (1 - value) / (1 - least) if least < 1 else None
    if asked := re.fullmatch(rf".*at most {number}%?", gate.required):
        return value / float(asked[1]) if float(asked[1]) else None
    return None


def command_of(config: RunConfig) -> str:
    """The command that makes the run again; what changes no number (`--out`) is left out.

    An empty list cannot be typed, and comes from a file that a first line writes.
    """
    words, empty = ["symreg", "run"], []
    short = {full: alias for alias, full in config.ALIASES.items()}
    default = RunConfig()
    for name in option_names(RunConfig):
        value = option_value(config, name)
        told_by_data = config.data is not None and name.startswith("generate.")
        if (
            told_by_data
            or name in (*config.DECIDED, *config.FREE)
            or value == option_value(default, name)
        ):
            continue
        flag = short.get(name, name).replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name.replace('_', '-')}")
        elif value == ():
            empty.append(f"{name}: []")
        elif isinstance(value, tuple):
            words += [f"--{flag}", *(str(item) for item in value)]
        else:
            words += [f"--{flag}", str(value)]
    if not empty:
        return shlex.join(words)
    lines = " ".join(shlex.quote(line) for line in empty)
    return (
        f"printf '%s\\n' {lines} > options.yaml\n{shlex.join([*words, '--config', 'options.yaml'])}"
    )


def undominated(front: Sequence[FrontPoint]) -> list[FrontPoint]:
    """The formulas of which none other is both no longer and more accurate, shortest first."""
    kept: list[FrontPoint] = []
    measured = [(c.complexity, c.loss, c) for c in front if c.loss is not None]
    for _, loss, candidate in sorted(measured, key=lambda row: row[:2]):
        if not kept or loss < (kept[-1].loss or 0.0):
            kept.append(candidate)
    return kept
