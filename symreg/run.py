"""`symreg run`: all stages, then the verdict, the figures and the report."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from orbits.files import read_json, write_json, write_text
from orbits.force_samples import read_force_samples
from orbits.forces import parse_law
from orbits.provenance import provenance
from symreg.figures import attraction
from symreg.gates import Thresholds, as_json, gates, in_words
from symreg.pipeline import CONTROLS, SOURCES, run_stages
from symreg.report import draw_figures, render
from symreg.run_config import RunConfig

SHARED_FIELDS = (
    "verdict", "recovered", "expression", "raw_expression", "constant", "exponent", "parameters",
    "fit_r2", "seeds", "explanation", "pareto_front", "engine",
)  # fmt: skip
"""Fields that every set of states has in `verdict.json`."""


def run(config: RunConfig) -> dict[str, Any]:
    """Run one experiment to its end and write `verdict.json`, figures and `report.html`.

    Returns:
        The content of `verdict.json`.

    Raises:
        ValueError: for a law that is not known, or a run directory that belongs to another run.
        StageFailure: if a stage ends with an error.
    """
    law = parse_law(config.law)
    seconds = run_stages(config)
    folder = config.folder
    verdict = assemble(folder, config, law.spec) | {"seconds": seconds}
    write_json(folder / "verdict.json", verdict)
    draw_figures(folder, verdict)
    write_text(folder / "report.html", render(folder, verdict))
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
    results = {name: _result(folder, name, law) for name in (SOURCES | CONTROLS)}
    sources = {name: results[name] for name in SOURCES}
    kicked = sources["kicked"]
    controls = {name: results[name] for name in CONTROLS}
    found = gates(kicked, controls, Thresholds())
    return {
        "recovered": all(gate.passed for gate in found),
        "words": in_words(law, found, sources),
        "reference": kicked["reference"],
        "law": law,
        **{key: kicked[key] for key in SHARED_FIELDS},
        "r2": kicked["r2"],
        "kick_r2": kicked["kick_r2"],
        "gates": as_json(found),
        "sources": sources,
        "nulls": {
            "permuted": kicked["nulls"]["permuted"],
            "untrained": {key: controls["untrained"][key] for key in ("verdict", "recovered")},
        },
        "controls": controls,
        **provenance({key: value for key, value in asdict(config).items() if key != "out"}),
    }


def _result(folder: Path, name: str, law: str) -> dict[str, Any]:
    """What one set of states gave: the recovered law with the probe's metrics beside it."""
    result = read_json(folder / "laws" / f"{name}.json")
    table, attributes = read_force_samples(folder / "forces" / f"{name}.parquet")
    metrics = attributes["metrics"]
    result["fit_r2"] = result.pop("r2")
    result["exponent"] = {
        "truth": _exponent_of_truth(table, law), **(result["exponent"] or {}),
    }  # fmt: skip
    kick_r2 = metrics.get("kick_r2") or {}
    return {
        **{key: result.get(key) for key in SHARED_FIELDS},
        "reference": result["reference"],
        "nulls": result["nulls"],
        "r2": metrics["r2"],
        "kick_r2": {step: kick_r2[step] for step in ("1", "4") if step in kick_r2},
        "metrics": metrics,
        "rows": len(table),
        "groups": int(table["orbit"].nunique()),
    }


def _exponent_of_truth(table: pd.DataFrame, law: str) -> float | None:
    """The exponent that a power law fitted to the true law would have on the same states."""
    r, _ = attraction(table)
    gm = table["gm"].to_numpy() if "gm" in table else np.full(len(r), 4 * math.pi**2)
    pull = -parse_law(law).radial_acceleration(r, gm)
    if np.any(pull <= 0) or np.ptp(np.log(r)) == 0:
        return None
    return float(np.polyfit(np.log(r), np.log(pull / gm), 1)[0])


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
    kicks = ", ".join(f"{_figure(v, '.4f')} (k={k})" for k, v in verdict["kick_r2"].items())
    failed = [gate for gate in verdict["gates"] if not gate["passed"]]
    lines += [
        "",
        f"kick R²: {kicks};  permuted targets: {verdict['nulls']['permuted']['verdict']};  "
        f"untrained network: {verdict['nulls']['untrained']['verdict']};  "
        f"seeds agreeing: {verdict['seeds']['agreeing']} of {verdict['seeds']['run']}",
        *(f"gate failed: {g['name']}: {g['found']} ({g['required']})" for g in failed),
        "",
        f"recovered: {str(verdict['recovered']).lower()} (reference: {verdict['reference']})",
        verdict["words"],
    ]
    return "\n".join(lines)


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
