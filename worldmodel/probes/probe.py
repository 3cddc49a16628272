"""One probe of one model."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orbits.files import require_ending
from orbits.force_samples import ForceSamples
from orbits.options import checked, options_from
from orbits.progress import bar, in_notebook
from orbits.provenance import provenance
from worldmodel.loading import load_predictor
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.readouts.base import Reading, ReadOut
from worldmodel.probes.subject import Subject
from worldmodel.source import Data
from worldmodel.world_model import WorldModel, threads


@checked
def probe(
    model: Any,
    data: Data,
    config: ProbeConfig | None = None,
    *,
    readout: str | ReadOut | None = None,
    untrained: Callable[..., Any] | None = None,
    trained_on: "Data | None" = None,
    progress: bool | None = None,
    **options: Any,
) -> ForceSamples | Reading:
    """Read what a model has learned, from `worldmodel.train` or your own.

        def step(positions):               # (orbit, time, axis), au -> the same shape
            ...
        worldmodel.probe(step, data, states="kicked", model_context=2)

    Args:
        model: a model, or the folder of its run; or any object with `context_length` and
            `predict(positions)`, or a plain function of positions with `model_context` given.
        data: the data set with the states shown to the model, or its path.
        config: options; by default the defaults.
        readout: what is read, with its options in brackets, such as `"linear(states=200)"`, or the
            object `Linear(states=200)`.
        untrained: makes the untrained model, for the control and probes that need it.
        trained_on: the model's training data set, or its path; shows whether the model merely
            copies those orbits.
        progress: whether a bar counts predictions; by default in a notebook.
        options: more options by name; for your own model also `model_context`, `length_unit` and
            `time_unit`.

    Returns:
        Force samples, if the probe yields them; otherwise its `Reading`.

    Raises:
        ValueError: if the model, the data and the options do not fit together.
    """
    own = {
        name: options.pop(name)
        for name in ("model_context", "length_unit", "time_unit")
        if name in options
    }
    if readout is not None:
        options["readout"] = str(readout)
    if untrained is not None or own:
        model = load_predictor(model, untrained=untrained, **own)
    wanted = in_notebook() if progress is None else progress
    with bar(wanted, desc="probe", unit=" predictions", unit_scale=True):
        reading = read(model, data, options_from(ProbeConfig, config, options), trained_on)
    return reading if reading.table is None else reading.forces


def read(model: Any, data: Data, config: ProbeConfig, trained_on: "Data | None" = None) -> Reading:
    """The result of the requested probe, with its provenance."""
    with threads(config.threads):
        subject = as_model(model, config.checkpoint)
        if config.read_out.of_networks and not isinstance(subject, WorldModel):
            raise ValueError(
                f"the probe {config.read_out.name} needs a network of `worldmodel train`, and "
                f"{subject.name} is none; give another --readout."
            )
        experiment = Experiment(subject, data, config, trained_on)
        reading = config.read_out.read(experiment)
        origin = {
            "readout": config.read_out.name,
            "model": experiment.identity(),
            "law": experiment.facts.law,
            "dt": experiment.facts.dt,
            "data": dataclasses.asdict(experiment.facts),
            "bodies": experiment.source.dataset.attrs.get("bodies"),
            "one_system": bool(experiment.source.dataset.attrs.get("one_system")),
            **provenance(config),
        }
    return dataclasses.replace(reading, kind=type(config.read_out), origin=origin)


def as_model(model: Any, checkpoint: str = "last") -> Subject:
    """The model meant: our network or the folder of its run, or any predictor."""
    if isinstance(model, WorldModel):
        return model
    named = isinstance(model, str) and (":" not in model or Path(model).exists())
    if named or isinstance(model, os.PathLike):
        return WorldModel.load(model, checkpoint)
    return load_predictor(model)


def require_fitting_name(out: str, readout: ReadOut) -> None:
    """Refuse the name of another format: a probe writes Parquet or JSON."""
    require_ending(out, ".parquet" if readout.writes_table else ".json")
