"""A run's result with all its evidence: the object that `symreg.run` returns."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from orbits.files import numbers_in, of_json, read_json, read_typed, write_sealed
from orbits.forces import UNKNOWN, known_law, parse_law
from orbits.printing import fixed, percent, shortened, table, wrapped
from orbits.provenance import provenance
from symreg.experiments import verdict_words
from symreg.experiments.cache import Record
from symreg.experiments.config import REACH, SOURCES, Key, RunConfig
from symreg.experiments.far_field import FieldLimits, LookupComparison, beside_lookups, departures
from symreg.experiments.own_data import LEFT_OUT as NO_LAW
from symreg.experiments.verdict import (
    FIELD,
    NEWTON,
    OBEYS,
    UNREADABLE,
    RunEvidence,
    WorldModelKind,
    far_gates,
    model_gates,
    part_limit,
    world_model_kind,
)
from symreg.recovery import words
from symreg.recovery.gates import Gate, passed, stated
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import THRESHOLDS
from symreg.result import Result
from worldmodel.controls import CONTROLS
from worldmodel.examiner.answers import Answers
from worldmodel.examiner.shells import OUTWARD, WORDS
from worldmodel.examiner.states import World
from worldmodel.examiner.summary import Examination, summary

Metrics = dict[str, float | None]
"""Numbers by name."""

VERDICT, REPORT = "verdict.json", "report.html"
INSIDE = 1.05
"""Held-out orbits may leave the distances of the training orbits by so much."""
OWN = "model.json"
"""Label of a model not trained here."""


@dataclass(frozen=True)
class StatesResult:
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
        readouts: numbers of further probes, by their names and by who stood in the model's place
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
    sources: dict[str, StatesResult]
    controls: dict[str, StatesResult]
    readouts: dict[str, dict[str, Metrics]]
    seconds: dict[str, float]
    processor_seconds: dict[str, float]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    git_commit: str | None
    model: dict[str, Any] | None = None

    @property
    def kicked(self) -> StatesResult | None:
        """That of kicked states: the only ones that count."""
        return self.sources.get("kicked")

    @property
    def results(self) -> dict[str, StatesResult]:
        """Sources and controls together."""
        return self.sources | self.controls

    def far_error(self, name: str) -> float | None:
        """Median relative error on far states of the model (`kicked`) or of a control."""
        return self.numbers("far", "none" if name == "kicked" else name).get("error")

    def numbers(self, readout: str, control: str = "none") -> Metrics:
        """The numbers of a probe of the model, or of a control; none if it was not asked."""
        return self.readouts.get(readout, {}).get(control, {})

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / REPORT

    def write(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write `verdict.json` in its folder, or elsewhere; whole or not at all."""
        write_sealed(path or self.folder / VERDICT, {**self.to_dict(), "folder": "."})

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
        if self.world_model is not None and self.world_model.far is not None:
            parts += [table(self.far_table), table(self.world_model.far.shell_table())]
        parts += map(wrapped, self.sentences)
        return "\n\n".join([*parts, *[f"Report: {self.report}"] * self.report.exists()])

    @property
    def far_table(self) -> list[tuple[str, ...]]:
        """Errors on far states, of the model and of the lookups asked; header first."""
        if self.world_model is None or self.world_model.far is None:
            return []
        rows = self.world_model.far.table()
        for name, found in self.readouts.get("far", {}).items():
            if CONTROLS[name].remembers:
                shares = (
                    percent(found.get(each), 1, "") for each in ("error", "right", "right_low")
                )
                states = str(round(found.get("states") or 0))
                rows.append((f"all, {CONTROLS[name].label}", states, *shares))
        return rows

    @property
    def shell_table(self) -> list[tuple[str, ...]]:
        """Errors and exponents by distance, of the model and of what is fitted to its training
        orbits; header first."""
        if self.world_model is None or self.world_model.far is None:
            return []
        head, *rows = self.world_model.far.shell_table()
        beside = [name for name in self.readouts.get("far", {}) if CONTROLS[name].remembers]

        def errors(shell: str) -> list[str]:
            own = (self.numbers("far", n).get(f"shells_{shell}_share_error") for n in beside)
            return [percent(error, 1, "–") for error in own]

        labels = (CONTROLS[name].label for name in beside)
        shells = zip(self.world_model.far.shells, rows, strict=True)
        return [(*head, *labels), *((*row, *errors(shell)) for shell, row in shells)]

    @property
    def sentences(self) -> list[str]:
        """The verdict in words: the law, what failed, the kind of model, the far states."""
        sentences = [self._verdict, *self.failure]
        if self.world_model is not None:
            sentences += verdict_words.about_the_kind(self.world_model, self.law)
        if remark := (self.model or {}).get("remark"):
            sentences.append(str(remark))
        return sentences

    @property
    def failure(self) -> list[str]:
        """The first condition that fails, and one thing to try; nothing where none does."""
        failed = [gate for gate in self.gates if not gate.passed]
        if self.world_model is not None and self.world_model.kind == UNREADABLE:
            return []  # more training is no remedy; the kind says what is
        far = self.world_model.far if self.world_model is not None else None
        network = self.configuration if self.model is None else None
        short = RunConfig.context_length
        return [verdict_words.about_the_first(failed, far, network, short)] if failed else []

    def _rows(self) -> list[tuple[str, ...]]:
        """The results by set of states, header first."""
        compared = f"compared with {self.law}"
        head = ("states", "law found", compared, "constant [95 %]", "exponent", "R²", "far states")
        rows: list[tuple[str, ...]] = [head]
        for name, source in self.results.items():
            law = source.recovery
            rows.append((
                name, shortened(law.written or "none", 44), words.IN_WORDS[law.verdict],
                words.interval(law.constant), words.interval(law.exponent),
                fixed(source.r2), percent(self.far_error(name), 1, ""),
            ))  # fmt: skip
        return rows

    @property
    def outcome(self) -> str:
        """Whether the law was recovered, and whether as no more than a field."""
        if not self.recovered:
            return "Not recovered"
        alone = self.world_model is not None and self.world_model.kind == FIELD
        return "Recovered, as the field where it was trained alone" if alone else "Recovered"

    @property
    def _verdict(self) -> str:
        """The verdict with its deciding numbers."""
        if self.kicked is None:
            return self.words
        kicks = verdict_words.kicks_in_words(self.kicked.kick_r2)
        return (
            f"{self.outcome}. {self.words} Kick R²: {kicks}. The law was chosen by "
            f"{self.kicked.recovery.agreement}."
        )


def judged(config: RunConfig, folder: Path, records: Mapping[str, Record]) -> Run:
    """A finished run: the result for each set of states, against the gates; `limits_of` takes
    another second."""
    known = known_law(config.law)
    law, t = known.spec if known else UNKNOWN, THRESHOLDS
    reach = REACH if config.reaches else ()
    asked = (*config.sources, *reach, *map(str, config.transfers))
    sources = {name: _source(folder, name, law) for name in asked}
    controls: dict[str, StatesResult] = {
        name: _source(folder, name, law) for name in config.controls
    }
    measured = readouts(folder, config)
    kicked, orbit = sources.get("kicked"), sources.get("orbit")
    gates: list[Gate] = []
    kind = None
    text = verdict_words.NOT_KICKED if known else NO_LAW
    if kicked is not None:
        laws = {name: source.recovery for name, source in controls.items()}
        readings = _far_readings(folder, config)
        far = None
        if own := readings.get("none"):
            far = of_json(Examination, own["examination"], "readouts/far, none")
        tables = {name: Answers.of(reading["answers"]) for name, reading in readings.items()}
        beside = _beside(tables, config.references)
        evidence = RunEvidence(
            orbit_r2=None if orbit is None else orbit.r2,
            kick_r2=kicked.kick_r2,
            orbit={} if orbit is None else orbit.recovery.metrics,
            sources=_within(sources, far),
            far=far,
            beside=beside,
        )
        kind = world_model_kind(kicked.recovery, evidence, t, laws.get("injected"))
        inside = far_gates(evidence.far, t)
        gates = model_gates(kicked.recovery, kicked.kick_r2, laws, t, inside)
        gates.append(stated("kind of model", kind.kind in OBEYS, " or ".join(OBEYS), kind.kind))
        text = verdict_words.about_the_law(law, gates)
        if evidence.far is not None and kind.kind == UNREADABLE:
            text = f"{verdict_words.about_rounding(evidence.far)} {text}"
    return Run(
        folder=folder,
        law=law,
        recovered=None if kicked is None else passed(gates),
        words=text,
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


def _far_readings(folder: Path, config: RunConfig) -> dict[str, dict[str, Any]]:
    """The files of the probe `far`, by who stood in the model's place."""
    keys = config.keys("far") if "far" in config.questions else []
    return {key.control: read_json(folder / "readouts" / f"{key}.json") for key in keys}


def _beside(tables: Mapping[str, Answers], asked: Iterable[str]) -> LookupComparison | None:
    """The model beside the best lookup, on the states of the density that all were asked."""
    lookups = [name for name in asked if name in tables and CONTROLS[name].lookup]
    if "none" not in tables or not lookups:
        return None
    errors = {n: np.where(t.answered, t.error, np.nan)[t.density] for n, t in tables.items()}
    rows = min(len(errors[name]) for name in lookups)
    found = beside_lookups(errors["none"][:rows], {n: errors[n][:rows] for n in lookups})
    if found is None:
        return None
    best = tables[found.lookup]
    return replace(found, beyond=best.share(best.family == OUTWARD[0]).error)


def _within(
    sources: Mapping[str, StatesResult], far: Examination | None
) -> dict[str, float | None]:
    """R² of other sets of states, where all of these lie within the distances of training."""
    if far is None:
        return {}
    inside: dict[str, float | None] = {}
    for name, source in sources.items():
        low, high = source.recovery.domain.get("r", (0.0, np.inf))
        within = far.radius[0] <= low * INSIDE and high <= far.radius[1] * INSIDE
        if name in ("orbit", "planets") and source.r2 is not None and within:
            inside[SOURCES[name]] = source.r2
    return inside


def limits_of(folder: Path, law: str) -> FieldLimits:
    """Departures with which the field of a model that has the law's would fail a gate."""
    reading = read_json(folder / "readouts" / f"{Key('far')}.json")
    far = of_json(Examination, reading["examination"], "readouts/far")
    answers = Answers.of(reading["answers"])
    axes = answers.position.shape[1]
    world = World(parse_law(law), reading["dt"], far.radius, answers.gm, None, axes)
    # no gate of these is on what lies beyond
    answers = answers.some(~np.isin(answers.family, list(WORDS)))

    def passes(changed: Answers) -> bool:
        found = summary(changed, world, far.seed, far.parts)
        return not any(gate.passed is False for gate in far_gates(found, THRESHOLDS))

    return FieldLimits(departures(answers, passes), part_limit(far, THRESHOLDS), far.remainder)


def _source(folder: Path, name: str, law: str) -> StatesResult:
    """The result for one set of states: the recovered law and the probe's metrics."""
    recovery = Recovery.read(folder / "laws" / f"{name}.json")
    metrics = recovery.metrics
    # the probe compares real planets with what moves them: Newton
    r2 = metrics.get("r2") if name != "planets" or law == NEWTON else None
    return StatesResult(recovery, r2, dict(metrics.get("kick_r2") or {}))


def readouts(folder: Path, config: RunConfig) -> dict[str, dict[str, Metrics]]:
    """Numbers by probe and by who stood in the model's place."""
    numbers: dict[str, dict[str, Metrics]] = {}
    for name in config.questions:
        for key in config.keys(name):
            place = "laws" if key in config.transfers else "readouts"
            metrics = read_json(folder / place / f"{key}.json")["metrics"]
            numbers.setdefault(key.name, {})[key.control] = numbers_in(metrics)
    return numbers
