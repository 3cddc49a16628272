"""The report of a run: figures as PNG, and one HTML page that needs nothing else."""

import base64
import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orbits.config import OrbitsConfig
from orbits.dataset import open_dataset
from orbits.files import read_json, write_text, written_aside
from orbits.force_samples import ForceSamples
from orbits.forces import known_law
from orbits.options import changed, flag_of
from orbits.plot import own_style
from orbits.printing import interval, number, share
from symreg.experiments import verdict_words
from symreg.experiments.config import CONTROLS, REACH, SOURCES, Key, RunConfig
from symreg.experiments.figures import FIGURES, FigureData, RunFigure
from symreg.experiments.figures.law import beside_truth
from symreg.experiments.report_tables import gate_table, readout_tables
from symreg.experiments.result import Run
from symreg.recovery import words
from symreg.recovery.gates import turning
from symreg.recovery.guard import Guard
from symreg.recovery.plot import undominated
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.controls import CONTROLS as PREDICTORS
from worldmodel.controls.power import POWER

DECIDING = ("reach", "law", "validity", "training")
"""Figures that come first."""


@own_style()
def write_report(run: Run, config: RunConfig, guard: Guard) -> None:
    """Draw every figure that applies to a run into `figures/`, as PNG, and write the page."""
    folder = run.folder
    tables = {n: ForceSamples.read(folder / "forces" / f"{n}.parquet").table for n in run.results}
    metrics = folder / "model" / "metrics.jsonl"
    readings = _far(run)
    far = run.world_model.far if run.world_model else None
    shown = FigureData(
        law=run.law,
        sources={name: run.sources[name].recovery for name in SOURCES if name in run.sources},
        tables=tables,
        titles=SOURCES,
        training=pd.read_json(metrics, lines=True) if metrics.exists() else pd.DataFrame(),
        relative=config.system == "relative",
        required=THRESHOLDS.kick_r2,
        far={who: reading["map"] for who, reading in readings.items() if who != POWER.name},
        reach={who: reading["reach"] for who, reading in readings.items()},
        radius=far.radius if readings and far else None,
        trained=_trained(config, folder),
    )
    for name, figure in FIGURES.items():
        for ending in ("json", "png"):
            (folder / "figures" / f"{name}.{ending}").unlink(missing_ok=True)
        guard.part(f"the figure {name}", partial(_draw, folder, figure, shown), None)
    write_text(run.report, render(run, config))


def _draw(folder: Path, figure: RunFigure, shown: FigureData) -> None:
    drawn = figure.draw(shown)
    if drawn is None:
        return
    save(drawn, folder, figure.name)
    if figure.states is not None:
        text = json.dumps(figure.states(shown), separators=(",", ":"))
        write_text(folder / "figures" / f"{figure.name}.json", text)


def _far(run: Run) -> dict[str, dict[str, Any]]:
    """The readings of the probe `far`: of the model (""), of the best lookup and of a straight line
    in logarithms."""
    by_control = {}
    beside = run.world_model.beside if run.world_model else None
    others = [beside.lookup, POWER.name] if beside else []
    for control in ("", *others) if "far" in run.readouts else ():
        path = run.folder / "readouts" / f"{Key('far', control or 'none')}.json"
        reading = read_json(path) if path.exists() else {}
        if "map" in reading:
            by_control[control] = reading
    return by_control


def _trained(
    config: RunConfig, folder: Path
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Distances (au) and speeds, in circular ones, of a thousand states of the held-out orbits."""
    law = known_law(config.law)
    if law is None or config.system != "relative":
        return None
    data = open_dataset(config.data or folder / "data" / "held_out.zarr")
    some = data.isel(orbit=slice(0, 100), time=slice(None, None, 12))
    x, v = (some[name].values.astype(float) for name in ("position", "velocity"))
    r = np.linalg.norm(x, axis=-1)
    pull = np.linalg.norm(law.acceleration(x, some["gm"].values[:, None]), axis=-1)
    return r.ravel(), (np.linalg.norm(v, axis=-1) / np.sqrt(r * pull)).ravel()


DOTS_PER_INCH, PIXELS_PER_INCH = 130, 86
"""Of a figure's file, and on the page, where all texts have one size."""


@dataclass(frozen=True)
class Picture:
    """A figure in a page: Base64 of its PNG, its width in pixels, and its states as JSON."""

    data: str
    width: int
    states: Markup | None = None


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure into `figures/` of a folder, as PNG, whole or not at all."""
    with written_aside(folder / "figures" / f"{name}.png") as aside:
        figure.savefig(aside, dpi=DOTS_PER_INCH, format="png", pil_kwargs={"optimize": True})


def render(run: Run, config: RunConfig) -> str:
    """The report as one HTML page, figures and formulas included: no requests."""
    pictures = embedded(run.folder / "figures", FIGURES)
    return environment().get_template("report.html.jinja").render(
        run=run, config=config, words=words, verdict_words=verdict_words,
        true_law=known_law(run.law),
        titles=SOURCES | {name: PREDICTORS[name].label for name in CONTROLS}
        | REACH | {str(key): title for key, title in config.transfers.items()},
        controls=PREDICTORS,
        readouts=readout_tables(run.readouts), turning=turning(run.gates, run.recovered),
        asked=gate_table(run),
        far=run.world_model.far if run.world_model else None,
        command=command_of(config),
        beside_truth=beside_truth,
        front=undominated(run.kicked.recovery.pareto_front) if run.kicked else [],
        pictures=pictures, deciding=[name for name in DECIDING if name in pictures],
        others=[name for name in pictures if name not in DECIDING], figures=FIGURES,
    )  # fmt: skip


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


def environment() -> jinja2.Environment:
    """Source of page templates, and formats of numbers and formulas."""
    loader, undefined = jinja2.PackageLoader("symreg"), jinja2.StrictUndefined
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=undefined)
    pages.filters |= {
        "mathml": mathml,
        "number": partial(number, missing="–"),
        "share": partial(share, missing="–"),
        "interval": interval,
    }
    return pages


def embedded(folder: Path, names: Iterable[str]) -> dict[str, Picture]:
    """The named pictures that a folder has."""
    pictures = {}
    for name in names:
        if (file := folder / f"{name}.png").exists():
            png = file.read_bytes()
            inches = int.from_bytes(png[16:20]) / DOTS_PER_INCH  # the header holds the width there
            states = file.with_suffix(".json")
            pictures[name] = Picture(
                base64.b64encode(png).decode(), round(inches * PIXELS_PER_INCH),
                Markup(states.read_text()) if states.exists() else None,
            )  # fmt: skip
    return pictures


def mathml(markup: str | None) -> Markup:
    """A formula's MathML from `symreg recover`, to embed in HTML."""
    return Markup(f"<math>{markup}</math>" if markup else "")
