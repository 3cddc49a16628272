"""The report of a study: figures as PNG, and one HTML page that needs nothing else."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from orbits.files import write_text, written_aside
from orbits.plot import own_style
from orbits.printing import number
from orbits.provenance import git_commit, versions
from symreg.experiments.answer import MEASURES, answer, answer_table
from symreg.experiments.grid import Study
from symreg.experiments.report import embedded, environment, save
from symreg.experiments.study_figure import StudyFigure, measured
from symreg.experiments.verdict_words import KINDS
from symreg.recovery.guard import Guard
from symreg.recovery.words import IN_WORDS

SHOWN = {
    "world_model": "world model",
    "kicked.verdict": "law, kicked states",
    "kicked.expression": "formula, kicked states",
    "kicked.constant": "constant",
    **MEASURES,
    "planets.exponent": "exponent, planets",
    "transfer.verdict": "law, fine-tuned",
    "jacobian.locality": "Jacobian locality",
    "seconds": "seconds",
}
"""Columns of the page's table, out of all in results.csv."""


@own_style()
def write_report(study: Study, folder: Path, frame: pd.DataFrame, guard: Guard) -> None:
    """Write `summary.csv` if there is one, draw the figures into `figures/`, and write
    `report.html`."""
    captions: dict[str, str] = {}
    summary: pd.DataFrame | None = None
    done = frame[frame["status"] == "done"]
    if study.figures is not None and not done.empty:
        summary = guard.part("the summary", partial(study.figures.summary, done), None)
        captions = guard.part("the figures", partial(_draw, study.figures, done, folder), {})
    if summary is not None:
        with written_aside(folder / "summary.csv") as aside:
            summary.to_csv(aside, index=False)
    write_text(folder / "report.html", render(study, folder, frame, captions, summary))


def _draw(figures: StudyFigure, done: pd.DataFrame, folder: Path) -> dict[str, str]:
    """Draw the figures; returns their captions by name."""
    drawn = figures.draw(done)
    for name, (figure, _) in drawn.items():
        save(figure, folder, name)
    return {name: caption for name, (_, caption) in drawn.items()}


def render(
    study: Study,
    folder: Path,
    frame: pd.DataFrame,
    captions: dict[str, str],
    summary: pd.DataFrame | None = None,
) -> str:
    """The page: the question, figures, a row per cell, failures, and how it was made.

    A summary, the answer in a few rows, replaces the table by setting.
    """
    done = frame[frame["status"] == "done"]
    columns = {name: name.replace("_", " ") for name in study.axes}
    columns |= {name: title for name, title in SHOWN.items() if measured(frame, name)}
    rows = [
        {
            "cell": row["cell"],
            "status": row["status"],
            "error": None if pd.isna(row["error"]) else row["error"],
            "values": [_shown(row[name]) for name in columns],
            "report": f"cells/{row['cell']}/report.html",
        }
        for row in frame.to_dict("records")
    ]
    counts = frame["status"].value_counts()
    settings = [] if done.empty else answer_table(done, study.axes)
    if summary is not None:
        body = [[_shown(value) for value in row] for row in summary.to_numpy(dtype=object)]
        settings = [[str(name) for name in summary.columns], *body]
    return environment().get_template("study.html.jinja").render(
        study=study, titles=list(columns.values()), rows=rows, answer=answer(done, study.axes),
        settings=settings,
        counts={name: int(counts.get(name, 0)) for name in ("done", "failed", "pending")},
        hours=float(frame["seconds"].sum()) / 3600 if measured(frame, "seconds") else 0.0,
        captions=captions, pictures=embedded(folder / "figures", captions),
        versions=versions(), git_commit=git_commit(), kinds=KINDS,
    )  # fmt: skip


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return IN_WORDS.get(value, value)
    if pd.isna(value):
        return "–"
    return number(value) if isinstance(value, float) else str(value)
