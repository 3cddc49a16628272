"""A measure of the model beside the same of what is known: law, ellipse, copier, no training."""

from collections.abc import Callable
from typing import Any

from worldmodel.predictors import CONTROLS
from worldmodel.predictors.base import ArcPredictor
from worldmodel.probes.experiment import Experiment, on_arcs

COMPARED = ("injected", "keplerian", "parrot", "untrained")
Numbers = dict[str, float | None]


def with_controls(
    experiment: Experiment, measure: Callable[[ArcPredictor], Numbers]
) -> tuple[Numbers, dict[str, Numbers]]:
    """What a measure gives of the experiment, and of each control if the experiment is none itself.

    A model that has no untrained form is compared with the others.
    """
    own = measure(experiment.predictor)
    others: dict[str, Numbers] = {}
    for name in COMPARED if experiment.config.control == "none" else ():
        control = CONTROLS[name]
        try:
            model = control.network(experiment.trained, experiment.config.seed)
        except ValueError:
            continue
        others[name] = measure(on_arcs(control.predictor(model, experiment.law), name))
    return own, others


def table(title: str, own: Numbers, others: dict[str, Numbers], who: str) -> str:
    """Both as lines for a terminal."""
    columns = {who: own, **others}
    width = max(len(name) for name in own)
    head = " " * (width + 2) + "".join(f"{name:>12}" for name in columns)
    lines = [title, head]
    for name in own:
        row = "".join(f"{_text(values[name]):>12}" for values in columns.values())
        lines.append(f"  {name.replace('_', ' '):<{width}}{row}")
    return "\n".join(lines)


def flat(own: Numbers, others: dict[str, Numbers]) -> dict[str, Any]:
    """Numbers by name, those of the controls as NAME_CONTROL."""
    more = {f"{k}_{who}": v for who, values in others.items() for k, v in values.items()}
    return {**own, **more}


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"
