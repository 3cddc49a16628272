"""`symreg run`: all stages, then the verdict, the figures and the report."""

from pathlib import Path
from typing import Any

from orbits.records.files import read_json, write_json, write_text
from orbits.forces import parse_law
from orbits.records.provenance import provenance
from symreg.engines.choice import choose_engine
from symreg.runs.gates import Thresholds, as_json, gates, in_words
from symreg.runs.pipeline import run_stages
from symreg.runs.readouts import readouts
from symreg.runs.report import draw_figures, render
from symreg.runs.config import RunConfig, resolved
from symreg.runs.score import KEPLERIAN, score
from symreg.runs.stages import transfers

SHARED_FIELDS = (
    "verdict", "recovered", "reference", "expression", "raw_expression", "mathml", "law",
    "selected_from", "constant", "exponent", "exponents", "parameters", "seeds", "nulls",
    "explanation", "engine", "engine_reason", "pareto_front", "non_central", "rows", "groups",
    "metrics",
)  # fmt: skip
"""What `verdict.json` repeats of each recovery, for every set of states."""

OF_SOURCE = ("recovered", "metrics")
"""What it says of kicked states there alone."""

NEWTON = "newton"
"""The law that moves real planets."""

NOT_KICKED = "No kicked states were looked at, and nothing else shows which law a model knows."


def run(config: RunConfig) -> dict[str, Any]:
    """Run one experiment to its end and write `verdict.json`, figures and `report.html`.

    Returns:
        The content of `verdict.json`.

    Raises:
        ValueError: for a law or an engine that is not known, PySR without Julia, or a run
            directory that belongs to another run.
        StageFailure: if a stage ends with an error.
    """
    law = parse_law(config.law)
    _, reason = choose_engine(config.engine)
    print(f"symbolic regression: {reason}")
    seconds = run_stages(config)
    folder = config.folder
    print("draw the figures and write the report", flush=True)
    verdict = assemble(folder, config, law.spec) | {"seconds": seconds}
    draw_figures(folder, verdict)
    write_text(folder / "report.html", render(folder, verdict))
    write_json(folder / "verdict.json", verdict)  # the last: it says that the run is finished
    print(summary(verdict))
    print(f"\nReport: {folder / 'report.html'}")
    return verdict


def assemble(folder: Path, config: RunConfig, law: str) -> dict[str, Any]:
    """The verdict on a finished run: what each set of states gave, held against the gates.

    Args:
        folder: the run directory, with `forces/` and `laws/` of every source and control.
        config: the run's options.
        law: canonical text of the law that moved the training orbits.
    """
    asked = (*config.sources, *transfers(config))
    sources = {name: _result(folder, name) for name in asked}
    if "planets" in sources and law != NEWTON:
        sources["planets"]["r2"] = None  # the probe's is held against what moves planets: Newton
    controls = {name: _result(folder, name) for name in config.controls}
    measured = readouts(folder, config)
    kicked = sources.get("kicked")
    found = [] if kicked is None else gates(kicked, controls, Thresholds())
    world_model = score(
        sources.get("orbit"),
        kicked,
        measured.get("jacobian"),
        kicked is not None and bool(kicked["metrics"].get("gm_varies")),
        controls.get("injected"),
    )
    keplerian = world_model is not None and world_model["kind"] == KEPLERIAN
    nulls = {} if kicked is None else {"permuted": kicked["nulls"]["permuted"]}
    if untrained := controls.get("untrained"):
        nulls["untrained"] = {key: untrained[key] for key in ("verdict", "recovered")}
    return {
        "recovered": None if kicked is None else all(gate.passed for gate in found),
        "words": in_words(law, found, sources, keplerian) if kicked else NOT_KICKED,
        "world_model": world_model,
        **{key: value for key, value in (kicked or {}).items() if key not in OF_SOURCE},
        "law": law,
        "gates": as_json(found),
        "sources": sources,
        "nulls": nulls,
        "controls": controls,
        "readouts": measured,
        **provenance(resolved(config)),
    }


def _result(folder: Path, name: str) -> dict[str, Any]:
    """What one set of states gave: the recovered law with the probe's metrics beside it."""
    result = read_json(folder / "laws" / f"{name}.json")
    metrics = result["metrics"]
    return {
        **{key: result[key] for key in SHARED_FIELDS},
        "fit_r2": result["r2"],
        "r2": metrics.get("r2"),
        "kick_r2": metrics.get("kick_r2") or {},
    }


def summary(verdict: dict[str, Any]) -> str:
    """What a run found, as lines for a terminal."""
    rows = [("states", "law found", "verdict", "constant [95 %]", "exponent", "R²")]
    for name, source in (verdict["sources"] | verdict["controls"]).items():
        constant, exponent = source["constant"] or {}, source["exponent"] or {}
        rows.append(
            (
                name,
                _shortened(source["expression"] or "none"),
                source["verdict"],
                _interval(constant, ".2f"),
                _interval(exponent, ".3f"),
                _figure(source["r2"], ".4f"),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
             for row in rows]  # fmt: skip
    lines.insert(1, "  ".join("-" * width for width in widths))
    if "kicked" in verdict["sources"]:
        lines += ["", *_evidence(verdict)]
    lines += ["", verdict["words"]]
    if world := verdict["world_model"]:
        lines.append(f"world model: {world['kind']}. {world['words']}")
    return "\n".join(lines)


def _evidence(verdict: dict[str, Any]) -> list[str]:
    """What kicked states and the gates gave."""
    kicks = ", ".join(f"{_figure(v, '.4f')} (k={k})" for k, v in verdict["kick_r2"].items())
    nulls = {"permuted": "permuted targets", "untrained": "untrained network"}
    found = [f"{nulls[name]}: {null['verdict']}" for name, null in verdict["nulls"].items()]
    failed = [gate for gate in verdict["gates"] if not gate["passed"]]
    seeds = verdict["seeds"]
    return [
        ";  ".join(
            [f"kick R²: {kicks}", *found, f"seeds agreeing: {seeds['agreeing']} of {seeds['run']}"]
        ),
        *(f"gate failed: {g['name']}: {g['found']} ({g['required']})" for g in failed),
        "",
        f"recovered: {str(verdict['recovered']).lower()} (reference: {verdict['reference']})",
    ]


def _interval(value: dict[str, Any], spec: str) -> str:
    if value.get("value") is None:
        return "none"
    text = format(value["value"], spec)
    if value.get("low") is None:
        return text
    return f"{text} [{value['low']:{spec}}, {value['high']:{spec}}]"


def _figure(value: float | None, spec: str) -> str:
    return "none" if value is None else format(value, spec)


def _shortened(text: str, length: int = 44) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
