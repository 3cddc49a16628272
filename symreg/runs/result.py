"""What a run found, with all its evidence: the object that `symreg.run` returns."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbits.records.files import read_json
from orbits.records.typed import as_json, of_json
from symreg.recovery import words
from symreg.recovery.judge import WorldModelKind
from symreg.recovery.result import Gate, Recovery
from symreg.runs.readouts import Metrics

VERDICT, REPORT = "verdict.json", "report.html"
CARD = "model/card.json"
"""Of a model that was not trained here: what it is, and the fingerprint of code and answers."""
LEFT_OUT = ("configuration", "versions", "seconds")
"""What a verdict does not repeat of each recovery: it has its own."""


@dataclass(frozen=True)
class Source:
    """What one set of states gave.

    Attributes:
        recovery: the law that was searched in it.
        r2: of the implied acceleration vectors against the true law's; None where the states do
            not obey it.
        kick_r2: the same by the number of steps since a kick.
    """

    recovery: Recovery
    r2: float | None
    kick_r2: dict[str, float | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON's own types: the recovery's fields, its own R² as `fit_r2`."""
        told = {k: v for k, v in self.recovery.to_dict().items() if k not in LEFT_OUT}
        return {**told, "fit_r2": self.recovery.r2, "r2": self.r2, "kick_r2": self.kick_r2}

    @classmethod
    def of(cls, value: Mapping[str, Any], name: str) -> "Source":
        """A source from what `to_dict` gave."""
        recovery = Recovery.of({**value, "r2": value.get("fit_r2")}, name)
        return cls(recovery, value.get("r2"), dict(value.get("kick_r2") or {}))


@dataclass(frozen=True)
class Run:
    """One experiment at its end: the verdict and the evidence.

    Attributes:
        folder: where everything lies.
        law: that moved the training orbits.
        recovered: whether every gate holds; None where no kicked states were looked at.
        words: what the gates say about the model.
        world_model: which kind of world model it is; None without kicked states.
        gates: every condition on the law of the model.
        sources: what each set of states gave; fine-tuned models too.
        controls: the same where the answer is known.
        readouts: numbers of the further questions.
        seconds: by stage.
        configuration: all options.
        versions: of everything that can influence a number.
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
    readouts: dict[str, Metrics]
    seconds: dict[str, float]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    git_commit: str | None

    @property
    def kicked(self) -> Source | None:
        """What kicked states gave: the only ones that count."""
        return self.sources.get("kicked")

    @property
    def results(self) -> dict[str, Source]:
        """Sources and controls together."""
        return self.sources | self.controls

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / REPORT

    def to_dict(self) -> dict[str, Any]:
        """The content of `verdict.json`; what kicked states gave stands at the top too."""
        kicked = self.kicked.to_dict() if self.kicked else {}
        for name in ("metrics", "recovered", "gates"):
            kicked.pop(name, None)
        nulls: dict[str, Any] = {}
        if self.kicked:
            nulls |= as_json(self.kicked.recovery.nulls)
        if untrained := self.controls.get("untrained"):
            law = untrained.recovery
            nulls["untrained"] = {"verdict": law.verdict, "recovered": law.recovered}
        world = as_json(self.world_model)
        if self.world_model is not None:
            world["words"] = words.about_the_kind(self.world_model)
        return {
            "recovered": self.recovered,
            "words": self.words,
            "world_model": world,
            **kicked,
            "law": self.law,
            "gates": as_json(self.gates),
            "sources": {name: source.to_dict() for name, source in self.sources.items()},
            "nulls": nulls,
            "controls": {name: source.to_dict() for name, source in self.controls.items()},
            "readouts": self.readouts,
            "model": read_json(card) if (card := self.folder / CARD).exists() else None,
            "configuration": self.configuration,
            "configuration_sha256": self.configuration_sha256,
            "versions": self.versions,
            "git_commit": self.git_commit,
            "seconds": self.seconds,
        }

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Run":
        """A finished run from its folder.

        Raises:
            ValueError: if the run is not finished, or its verdict is damaged (says where).
        """
        path = Path(folder) / VERDICT
        verdict = read_json(path)
        if not isinstance(verdict, dict):
            raise ValueError(f"{path} is damaged: it is no mapping.")

        def sources(name: str) -> dict[str, Source]:
            return {key: Source.of(value, str(path)) for key, value in verdict[name].items()}

        try:
            world = verdict["world_model"]
            return cls(
                Path(folder),
                verdict["law"],
                verdict["recovered"],
                verdict["words"],
                None if world is None else of_json(WorldModelKind, world, str(path)),
                of_json(tuple[Gate, ...], verdict["gates"], str(path)),
                sources("sources"),
                sources("controls"),
                verdict["readouts"],
                verdict["seconds"],
                verdict["configuration"],
                verdict["configuration_sha256"],
                verdict["versions"],
                verdict["git_commit"],
            )
        except (KeyError, AttributeError, TypeError) as error:
            raise ValueError(
                f"{path} is damaged or of another version ({error!r}); run it again."
            ) from None

    def __str__(self) -> str:
        """What the run found, as lines for a terminal."""
        rows = [("states", "law found", "verdict", "constant [95 %]", "exponent", "R²")]
        for name, source in self.results.items():
            law = source.recovery
            rows.append(
                (
                    name,
                    words.shortened(law.expression or "none", 44),
                    law.verdict,
                    words.interval(law.constant, ".2f"),
                    words.interval(law.exponent, ".3f"),
                    words.fixed(source.r2),
                )
            )
        lines = words.table(rows)
        if self.kicked is not None:
            lines += ["", *self._evidence(self.kicked)]
        lines += ["", self.words]
        if self.world_model is not None:
            kind = self.world_model.kind
            lines.append(f"world model: {kind}. {words.about_the_kind(self.world_model)}")
        return "\n".join(lines)

    def _evidence(self, kicked: Source) -> list[str]:
        """What kicked states and the gates gave."""
        law = kicked.recovery
        told = [f"kick R²: {words.kicks_in_words(kicked.kick_r2)}"]
        told += [f"permuted targets: {null.verdict}" for null in law.nulls.values()]
        if untrained := self.controls.get("untrained"):
            told.append(f"untrained network: {untrained.recovery.verdict}")
        told.append(f"seeds agreeing: {law.seeds.agreeing} of {law.seeds.run}")
        failed = [gate for gate in self.gates if not gate.passed]
        return [
            ";  ".join(told),
            *(f"gate failed: {g.name}: {g.found} ({g.required})" for g in failed),
            "",
            f"recovered: {str(self.recovered).lower()} (reference: {law.reference})",
        ]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{source.recovery.expression}</td>"
            f"<td>{source.recovery.verdict}</td><td>{words.fixed(source.r2)}</td></tr>"
            for name, source in self.results.items()
        )
        kind = f" World model: {self.world_model.kind}." if self.world_model else ""
        return (
            f"<p><b>Recovered: {self.recovered}.</b> {self.words}{kind}</p><table><tr><th>states"
            f"</th><th>law found</th><th>verdict</th><th>R²</th></tr>{rows}</table>"
        )
