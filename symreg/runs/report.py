"""The report of a run: figures as PNG, and one HTML page that needs nothing else."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
import pandas as pd
import sympy
from markupsafe import Markup
from matplotlib.figure import Figure

from orbits.expressions import parse_expression
from orbits.records.files import written_aside
from orbits.records.force_samples import read_force_samples, vectors
from orbits.forces import parse_law
from symreg.runs import figures
from symreg.formulas.expressions import complexity
from symreg.runs.gates import Thresholds
from symreg.runs.config import CONTROLS, SOURCES
from symreg.runs.stages import TRANSFERS

CAPTIONS = {
    "law": (
        "The force that the model's predictions imply, against distance, for each set of "
        "states. Points: the model. Black: the true law. Dashed: the formula that symbolic "
        "regression found."
    ),
    "residuals": "The same, as a deviation from the true law; the line is the median in 20 bins.",
    "kicks": (
        "The velocity is turned by up to ±0.5 rad and rescaled in mid-orbit. A model that knows "
        "the force goes on as before (R² near 1); one that fits ellipses to what it saw fails."
    ),
    "arrows": (
        "The force field in the plane: true (grey) and implied (coloured), for the model and for "
        "the same network untrained. Arrow lengths are compressed (fourth root)."
    ),
    "pareto": "Every formula that the search kept: how complex, and how far off.",
    "training": "Loss during training.",
}
"""Figures of the report, in order, and what each shows."""


def draw_figures(folder: Path, verdict: dict[str, Any]) -> None:
    """Draw every figure of a run into `figures/`, as PNG.

    Args:
        folder: the run directory.
        verdict: the content of `verdict.json`.
    """
    matplotlib.use("Agg")
    results = verdict["sources"] | verdict["controls"]
    tables = {n: read_force_samples(folder / "forces" / f"{n}.parquet")[0] for n in results}
    reference = reference_curve(verdict["law"])
    sources = [name for name in SOURCES if name in verdict["sources"]]
    relative = verdict["configuration"]["system"] == "relative"
    (folder / "figures").mkdir(exist_ok=True)

    if sources and relative:
        figure, axes = _panels(len(sources), width=4.0 * max(len(sources), 2), height=3.8)
        for panel, name in zip(axes, sources, strict=True):
            expression = results[name]["expression"]
            figures.plot_field(
                panel, tables[name], reference, curve(expression), title=SOURCES[name],
                color=figures.COLORS[name], label=_label(expression),
            )  # fmt: skip
        _save(figure, folder, "law")

        figure, axes = _panels(len(sources), width=4.0 * max(len(sources), 2), height=3.2)
        for panel, name in zip(axes, sources, strict=True):
            figures.plot_residuals(
                panel, tables[name], reference, title=SOURCES[name], color=figures.COLORS[name]
            )
        _save(figure, folder, "residuals")

    kicks = {n: t for n, t in tables.items() if "steps_since_kick" in t}
    if kicks:
        figure, axes = _panels(1, width=6.0)
        figures.plot_kicks(axes[0], kicks, Thresholds().kick_r2)
        _save(figure, folder, "kicks")

    fields = {"kicked": "the model, on kicked states", "untrained": "the same network, untrained"}
    fields = {name: title for name, title in fields.items() if name in tables and relative}
    if fields:
        figure, axes = _panels(len(fields), width=4.5 * len(fields), height=4.6)
        for panel, (name, title) in zip(axes, fields.items(), strict=True):
            truth = vectors(tables[name], "true_a_")
            figures.plot_arrows(panel, tables[name], truth, title=title, color=figures.COLORS[name])
        _save(figure, folder, "arrows")

    if sources:
        figure, axes = _panels(1, width=6.0)
        fronts = {n: results[n]["pareto_front"] for n in sources}
        chosen = {n: _complexity(results[n]["expression"]) for n in sources}
        figures.plot_pareto_front(axes[0], fronts, chosen)
        _save(figure, folder, "pareto")

    figure, axes = _panels(1, width=6.0)
    metrics = pd.read_json(folder / "model" / "metrics.jsonl", lines=True)
    figures.plot_training(axes[0], metrics)
    _save(figure, folder, "training")


def render(folder: Path, verdict: dict[str, Any]) -> str:
    """The report as one HTML page: figures and formulas inside, no request to anywhere.

    Args:
        folder: the run directory, with its `figures/`.
        verdict: the content of `verdict.json`.
    """
    return environment().get_template("report.html.jinja").render(
        verdict=verdict, titles=SOURCES | CONTROLS | TRANSFERS,
        captions=CAPTIONS, pictures=embedded(folder / "figures", CAPTIONS),
    )  # fmt: skip


def environment() -> jinja2.Environment:
    """Where the pages come from, and how they write numbers and formulas."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("symreg"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {"mathml": mathml, "number": _number, "percent": _percent}
    return found


def embedded(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Those of the named pictures that a folder has, as Base64."""
    files = {name: folder / f"{name}.png" for name in names}
    return {
        name: base64.b64encode(file.read_bytes()).decode()
        for name, file in files.items()
        if file.exists()
    }


def reference_curve(law: str) -> figures.Law:
    """Attraction under a law by distance and GM, au and au^3/yr^2 to au/yr^2."""
    parsed = parse_law(law)
    return lambda r, gm: -parsed.radial_acceleration(r, gm)


def curve(expression: str | None) -> figures.Curve | None:
    """Attraction by distance of a recovered formula; None where it is not a function of r alone."""
    if expression is None:
        return None
    parsed = parse_expression(expression)
    radius = sympy.Symbol("r", positive=True)
    if parsed.free_symbols - {radius}:
        return None
    evaluate = sympy.lambdify(radius, parsed, "numpy")
    return lambda r: np.broadcast_to(np.asarray(evaluate(r), dtype=float), np.shape(r))


def mathml(markup: str | None) -> Markup:
    """A formula's MathML, as `symreg recover` wrote it, to be embedded in HTML."""
    return Markup(f"<math>{markup}</math>" if markup else "")


def _panels(count: int, width: float = 12.0, height: float = 4.0) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def _save(figure: Figure, folder: Path, name: str) -> None:
    with written_aside(folder / "figures" / f"{name}.png") as aside:
        figure.savefig(aside, dpi=130, format="png")


def _label(expression: str | None) -> str:
    if expression is None:
        return "no formula"
    text = expression.replace("**", "^").replace("*", " ")
    return text if len(text) <= 34 else text[:33] + "…"


def _complexity(expression: str | None) -> int | None:
    return None if expression is None else complexity(parse_expression(expression))


def _number(value: Any, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def _percent(value: Any) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"
