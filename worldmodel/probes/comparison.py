"""The model beside what is known: an ellipse and naive copiers, on the same states."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from orbits.statistics import r_squared
from worldmodel.controls.copiers import FEWEST, STRETCH, Parrot
from worldmodel.controls.ellipse import ByEllipse
from worldmodel.predictor import ArcPredictor
from worldmodel.probes.acceleration import true_acceleration
from worldmodel.probes.experiment import Experiment, on_arcs
from worldmodel.probes.states import Arcs


def against_known(
    experiment: Experiment,
    arcs: Arcs,
    acceleration: Float[np.ndarray, "orbit time body axis"],
    kept: Bool[np.ndarray, "orbit time"],
) -> dict[str, Any]:
    """A model's accelerations, au/yr^2, beside a fitted ellipse's and copiers' on the same states.

    One copier (`worldmodel.controls.copiers`) looks at the model's context, the other at its
    training orbits. Only the rows that are kept count.

    Returns:
        `ellipse`, `copier`, and `training_copier` if the training orbits are known: its `r2`;
        `gain`, 1 − Σ|model − true|² / Σ|copier − true|²: 1 for a perfect model, 0 for one no better
        than the copier; `likeness`, the cosine between both errors over all rows: 1 for a model
        with the copier's errors. After kicks also `kick_gain` and `kick_likeness` by the number of
        steps. Empty if the orbits are too short for a copier, or the law is unknown.
    """
    length = max(experiment.predictor.context_length, FEWEST)
    if arcs.seen.shape[1] <= length or experiment.known_law is None:
        return {}
    ellipse = ByEllipse(experiment.predictor.context_length)
    known = {"ellipse": ellipse, "copier": on_arcs(Parrot(length), "parrot")}
    memory = experiment.training_positions
    if memory is not None and memory.shape[1] > STRETCH:
        known["training_copier"] = on_arcs(Parrot(length, memory=memory), "parrot")
    given = experiment, arcs, acceleration, kept
    metrics = {name: _beside(each, *given) for name, each in known.items()}
    return {name: beside for name, beside in metrics.items() if beside}


def _beside(
    other: ArcPredictor, experiment: Experiment, arcs: Arcs, acceleration: np.ndarray,
    kept: np.ndarray,
) -> dict[str, Any]:  # fmt: skip
    others = experiment.acceleration(arcs, other)
    times = np.array(arcs.read)
    true = true_acceleration(arcs, experiment.law)[:, times]
    both = (acceleration[:, times], others[:, times])
    usable = kept[:, times] & np.all([np.isfinite(f).all(axis=(-2, -1)) for f in both], axis=0)
    if usable.sum() < 2:
        return {}
    metrics: dict[str, Any] = _compared(*both, true, usable)
    if arcs.kick is not None:
        metrics |= {"kick_gain": {}, "kick_likeness": {}}
        steps = times - arcs.kick
        for k in sorted({int(steps.min()), 4}):
            at = usable & (steps == k)
            if at.sum() > 1:
                beside = _compared(*both, true, at)
                metrics["kick_gain"][str(k)] = beside["gain"]
                metrics["kick_likeness"][str(k)] = beside["likeness"]
    return metrics


def _compared(
    model: np.ndarray, copier: np.ndarray, true: np.ndarray, rows: np.ndarray
) -> dict[str, float]:
    ours, its, truth = (field[rows].reshape(int(rows.sum()), -1) for field in (model, copier, true))
    error, other = ours - truth, its - truth
    sizes = np.sum(error**2), np.sum(other**2)
    if not sizes[1]:
        return {"r2": 1.0, "gain": 0.0 if sizes[0] else 1.0, "likeness": 0.0}
    product = np.sum(error * other)
    return {
        "r2": r_squared(its, truth),
        "gain": float(1 - sizes[0] / sizes[1]),
        "likeness": float(product / np.sqrt(sizes[0] * sizes[1])) if sizes[0] else 0.0,
    }
