"""A run's result with all its evidence: the object that `symreg.run` returns."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orbits.files import read_json, read_typed, write_json
from orbits.forces import UNKNOWN, known_law
from orbits.printing import table, wrapped
from orbits.provenance import provenance
from symreg.experiments import verdict_words
from symreg.experiments.cache import Record
from symreg.experiments.config import RunConfig
from symreg.experiments.own_data import LEFT_OUT as NO_LAW
from symreg.experiments.verdict import (
    KEPLERIAN,
    NEWTONIAN,
    WorldModelKind,
    model_gates,
    world_model_kind,
)
from symreg.recovery import words
from symreg.recovery.gates import Gate, passed, stated
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import THRESHOLDS
from symreg.result import Result

Metrics = dict[str, float | None]
"""Numbers by name."""

VERDICT, REPORT = "verdict.json", "report.html"
OWN = "model.json"
"""Label of a model not trained here."""
NEWTON = "newton"
"""The law that moves real planets."""


@dataclass(frozen=True)
class Source:
    """The result for one set of states.

    Attributes:
        recovery: the law found in it.
        r2: of the implied acceleration vectors against the true law's; None if the states do not
            obey it.
        kick_r2: the same by the number of steps since a kick.
    """

    recovery: Recovery
    r2: float | None
    kick_r2: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Run(Result):
    """A finished experiment: verdict and evidence.

    Attributes:
        folder: holds everything.
        law: that moved the training orbits.
        recovered: whether every gate holds; None without kicked states.
        words: the gates' verdict on the model.
        world_model: kind of world model; None without kicked states.
        gates: every condition on the law of the model.
        sources: result for each set of states; fine-tuned models too.
        controls: the same with a known answer.
        readouts: numbers of further read-outs, by their names and by who stood in the model's place
            ("none" for the model itself, or a control).
        seconds: of wall clock, by file made.
        processor_seconds: of computing, likewise.
        model: description of a user's model.
        configuration: all options.
        versions: of everything that can affect a number.
        git_commit: of the source tree.
    """

    folder: Path
    law: str
    recovered: bool | None
    words: str
    world_model: WorldModelKind | None
    gates: tuple[Gate, ...]
    sources: dict[str, Source]
    controls: dict[str, Source]
    readouts: dict[str, dict[str, Metrics]]
    seconds: dict[str, float]
    processor_seconds: dict[str, float]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    git_commit: str | None
    model: dict[str, Any] | None = None

    @property
    def kicked(self) -> Source | None:
        """That of kicked states: the only ones that count."""
        return self.sources.get("kicked")

    @property
    def results(self) -> dict[str, Source]:
        """Sources and controls together."""
        return self.sources | self.controls

    def far_error(self, name: str) -> float | None:
        """Median relative error on far states of the model (`kicked`) or of a control."""
        return self.numbers("far", "none" if name == "kicked" else name).get("error")

    def numbers(self, readout: str, control: str = "none") -> Metrics:
        """The numbers of a read-out of the model, or of a control; none if it was not asked."""
        return self.readouts.get(readout, {}).get(control, {})

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / REPORT

    def write(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write `verdict.json` in its folder, or elsewhere; whole or not at all."""
        write_json(path or self.folder / VERDICT, {**self.to_dict(), "folder": "."})

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Run":
        """A finished run from its folder.

        Raises:
            ValueError: if the run is not finished, or its verdict is damaged (says where).
        """
        return replace(read_typed(cls, Path(folder) / VERDICT), folder=Path(folder))

    def __str__(self) -> str:
        """The result for a terminal: tables, then sentences."""
        parts = [table(self._rows())] if self.results else []
        far = verdict_words.about_far_states(self.numbers("far"), self.world_model)
        parts += [table(far.errors)] if far.errors else []
        failed = [gate for gate in self.gates if not gate.passed]
        told = "; ".join(f"{g.name}: found {g.found}, asked {g.required}" for g in failed)
        said = [self._verdict, *([f"What failed: {told}."] if failed else [])]
        if self.world_model is not None:
            kind = self.world_model.kind
            said.append(f"World model: {kind}. {verdict_words.about_the_kind(self.world_model)}")
        if far.errors:
            said.append(" ".join(filter(None, (far.region, far.limits))))
        said.append(f"Report: {self.report}")
        return "\n\n".join([*parts, *map(wrapped, said)])

    def _rows(self) -> list[tuple[str, ...]]:
        """The results by set of states, header first."""
        compared = f"beside {self.law}"
        head = ("states", "law found", compared, "constant [95 %]", "exponent", "R²", "far states")
        rows: list[tuple[str, ...]] = [head]
        for name, source in self.results.items():
            law = source.recovery
            rows.append((
                name, words.shortened(law.expression or "none", 44), words.IN_WORDS[law.verdict],
                words.interval(law.constant, ".2f"), words.interval(law.exponent, ".3f"),
                words.fixed(source.r2), words.percent(self.far_error(name), 1, ""),
            ))  # fmt: skip
        return rows

    @property
    def _verdict(self) -> str:
        """The verdict with its deciding numbers."""
        if self.kicked is None:
            return self.words
        yes = "Recovered" if self.recovered else "Not recovered"
        seeds = self.kicked.recovery.seeds
        return (
            f"{yes}. {self.words} Kick R²: {verdict_words.kicks_in_words(self.kicked.kick_r2)}. "
            f"The law was chosen by {seeds}."
        )


def judged(config: RunConfig, folder: Path, records: Mapping[str, Record]) -> Run:
    """A finished run: the result for each set of states, against the gates."""
    known = known_law(config.law)
    law, t = known.spec if known else UNKNOWN, THRESHOLDS
    asked = (*config.sources, *map(str, config.transfers))
    sources = {name: _source(folder, name, law) for name in asked}
    controls: dict[str, Source] = {name: _source(folder, name, law) for name in config.controls}
    measured = readouts(folder, config)
    kicked, orbit = sources.get("kicked"), sources.get("orbit")
    gates: list[Gate] = []
    kind = None
    told = verdict_words.NOT_KICKED if known else NO_LAW
    if kicked is not None:
        laws = {name: source.recovery for name, source in controls.items()}
        far = {"" if who == "none" else who: of for who, of in measured.get("far", {}).items()}
        gates = model_gates(kicked.recovery, kicked.kick_r2, laws, t, far)
        orbit_r2 = None if orbit is None else orbit.r2
        kind = world_model_kind(
            orbit_r2,
            kicked.recovery,
            kicked.kick_r2,
            t,
            measured.get("jacobian", {}).get("none", {}).get("locality"),
            bool(kicked.recovery.metrics.get("gm_varies")),
            laws.get("injected"),
            None if orbit is None else orbit.recovery.metrics,
            far,
        )
        of_kind = kind.kind == NEWTONIAN
        gates.append(stated("kind of model", of_kind, NEWTONIAN, kind.kind))
        keplerian = kind.kind == KEPLERIAN
        told = verdict_words.about_the_model(law, gates, orbit_r2, keplerian, t.orbit_r2)
    return Run(
        folder=folder,
        law=law,
        recovered=None if kicked is None else passed(gates),
        words=told,
        world_model=kind,
        gates=tuple(gates),
        sources=sources,
        controls=controls,
        readouts=measured,
        seconds={name: record.seconds for name, record in records.items()},
        processor_seconds={name: record.processor_seconds for name, record in records.items()},
        model=read_json(folder / OWN) if (folder / OWN).exists() else None,
        **provenance(config.identity),
    )


def _source(folder: Path, name: str, law: str) -> Source:
    """The result for one set of states: the recovered law and the probe's metrics."""
    recovery = Recovery.read(folder / "laws" / f"{name}.json")
    metrics = recovery.metrics
    # the probe compares real planets with what moves them: Newton
    r2 = metrics.get("r2") if name != "planets" or law == NEWTON else None
    return Source(recovery, r2, dict(metrics.get("kick_r2") or {}))


def readouts(folder: Path, config: RunConfig) -> dict[str, dict[str, Metrics]]:
    """Numbers by read-out and by who stood in the model's place."""
    numbers: dict[str, dict[str, Metrics]] = {}
    for name in config.questions:
        for key in config.keys(name):
            place = "laws" if key in config.transfers else "readouts"
            metrics = read_json(folder / place / f"{key}.json")["metrics"]
            numbers.setdefault(key.name, {})[key.control] = _numbers(metrics)
    return numbers


def _numbers(metrics: dict[str, Any], prefix: str = "") -> Metrics:
    """The numbers of nested dictionaries, names joined by underscores."""
    flat: Metrics = {}
    for key, value in metrics.items():
        if isinstance(value, dict):
            flat |= _numbers(value, f"{prefix}{key}_")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{key}"] = None if value is None else float(value)
    return flat
