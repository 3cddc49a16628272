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


def flat(own: Numbers, others: dict[str, Numbers]) -> dict[str, Any]:
    """Numbers by name, those of the controls as NAME_CONTROL."""
    more = {f"{k}_{who}": v for who, values in others.items() for k, v in values.items()}
    return {**own, **more}
