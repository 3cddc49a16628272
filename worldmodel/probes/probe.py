"""One read-out of one model."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from orbits.force_samples import ForceSamples
from orbits.options import options_from
from orbits.provenance import provenance
from worldmodel.loading import load_predictor
from worldmodel.probes.config import (
    Causal,
    Evaluate,
    Extrapolate,
    Far,
    Field,
    InductiveBias,
    Jacobian,
    KickResponse,
    Linear,
    ProbeConfig,
    Symmetry,
    Transfer,
)
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.readouts.base import Reading, ReadOut
from worldmodel.world_model import threads

if TYPE_CHECKING:
    from worldmodel.source import Data


class ProbeOptions(TypedDict, total=False):
    """Keywords of `probe`: the fields of `ProbeConfig` except the read-outs, and a model's own
    units. A read-out's own options are a mapping."""

    control: str
    states: Literal["orbit", "kicked"]
    correction: Literal["numerov", "none"]
    orbits: int
    kick_angle: float
    kick_scale: tuple[float, float]
    kick_first: int
    kick_steps: int
    bootstrap: int
    seed: int
    checkpoint: Literal["last", "best"]
    threads: int
    causal: Mapping[str, Any] | Causal
    evaluate: Mapping[str, Any] | Evaluate
    extrapolate: Mapping[str, Any] | Extrapolate
    far: Mapping[str, Any] | Far
    field: Mapping[str, Any] | Field
    inductive_bias: Mapping[str, Any] | InductiveBias
    jacobian: Mapping[str, Any] | Jacobian
    kick_response: Mapping[str, Any] | KickResponse
    linear: Mapping[str, Any] | Linear
    symmetry: Mapping[str, Any] | Symmetry
    transfer: Mapping[str, Any] | Transfer
    model_context: int | None
    length_unit: str
    time_unit: str


@overload
def probe(
    model: Any,
    data: "Data",
    config: None = None,
    *,
    readout: Literal["implied", "transfer"] = "implied",
    untrained: Callable[..., Any] | None = None,
    trained_on: "Data | None" = None,
    **options: Unpack[ProbeOptions],
) -> ForceSamples: ...


@overload
def probe(
    model: Any,
    data: "Data",
    config: None = None,
    *,
    readout: Literal[
        "causal",
        "evaluate",
        "extrapolate",
        "far",
        "field",
        "inductive_bias",
        "jacobian",
        "kick_response",
        "linear",
        "symmetry",
    ],
    untrained: Callable[..., Any] | None = None,
    trained_on: "Data | None" = None,
    **options: Unpack[ProbeOptions],
) -> Reading: ...


@overload
def probe(
    model: Any,
    data: "Data",
    config: ProbeConfig | None = None,
    *,
    readout: str = "implied",
    untrained: Callable[..., Any] | None = None,
    trained_on: "Data | None" = None,
    **options: Unpack[ProbeOptions],
) -> ForceSamples | Reading: ...


def probe(
    model: Any,
    data: "Data",
    config: ProbeConfig | None = None,
    *,
    untrained: Callable[..., Any] | None = None,
    trained_on: "Data | None" = None,
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
        untrained: makes the untrained model, for the control and read-outs that need it.
        trained_on: the model's training data set, or its path; shows whether the model merely
            copies those orbits.
        options: more options by name; those of a read-out as a mapping, such as
            `readout="linear", linear={"states": 200}`; for your own model also `model_context`,
            `length_unit` and `time_unit`.

    Returns:
        Force samples, if the read-out yields them; otherwise its `Reading`.

    Raises:
        ValueError: if the model, the data and the options do not fit together.
    """
    own = {name: options.pop(name) for name in OWN if name in options}
    if untrained is not None or own:
        model = load_predictor(model, untrained=untrained, **own)
    reading = read(model, data, options_from(ProbeConfig, config, options), trained_on)
    return reading if reading.table is None else reading.forces


OWN = ("model_context", "length_unit", "time_unit")
"""Options of a user's model."""


def read(
    model: Any, data: "Data", config: ProbeConfig, trained_on: "Data | None" = None
) -> Reading:
    """The result of the requested read-out, with its provenance."""
    with threads(config.threads):
        experiment = Experiment(model, data, config, trained_on)
        reading = config.read_out.read(experiment)
        origin = {
            "readout": config.readout,
            "model": experiment.identity(),
            "law": experiment.facts.law,
            "dt": experiment.facts.dt,
            "data": dataclasses.asdict(experiment.facts),
            "bodies": experiment.source.dataset.attrs.get("bodies"),
            "one_system": bool(experiment.source.dataset.attrs.get("one_system")),
            **provenance(config),
        }
    return dataclasses.replace(reading, origin=origin)


def require_fitting_name(out: str, readout: ReadOut) -> None:
    """Refuse a Parquet name for JSON, or a JSON name for Parquet."""
    wrong, right = (".json", "Parquet") if readout.writes_table else (".parquet", "JSON")
    if Path(out).suffix == wrong:
        raise ValueError(
            f"the read-out {readout.name} writes {right}, but {out} ends in {wrong}; give another "
            "name."
        )
