"""Train sequence models on trajectories and read off the force that they learned.

    import worldmodel

    model = worldmodel.train(data, attention="lssar(p=3)", context_length=2)  # a WorldModel
    forces = worldmodel.probe(model, data, states="kicked")                   # ForceSamples

    model = worldmodel.WorldModel.load("runs/newton/model")
    predicted = model.predict(positions)       # (orbit, time, axis): the next position, au
    continued = model.rollout(positions, 100)  # (orbit, 100, axis)
    weights = model.attention(positions)       # (layer, orbit, head, query, key)

    worldmodel.probe(step, data, model_context=2)    # any other model: a function of positions

`data` is a data set as `orbits` makes it, or its path. Importing the package does not import
torch; its first use does.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldmodel.attention import Visible, attention_kinds, make_attention
    from worldmodel.attention.entropy import relative_entropy
    from worldmodel.config import (
        EvaluateConfig,
        ExtrapolateConfig,
        MemoryConfig,
        RetrievalConfig,
        TrainConfig,
    )
    from worldmodel.evaluation import Evaluation, evaluate
    from worldmodel.extrapolation import Extrapolation, extrapolate
    from worldmodel.plot import (
        ATTENTION_COLORS,
        plot_attention,
        plot_entropy,
        plot_extrapolation,
        plot_recall,
    )
    from worldmodel.predictors.autoregression import Autoregression
    from worldmodel.predictors.base import Predictor
    from worldmodel.predictors.causal_lm import CausalLM
    from worldmodel.predictors.chronos import Chronos
    from worldmodel.predictors.inductive_bias_probes import InductiveBiasProbes
    from worldmodel.predictors.newton_kepler import NewtonKepler
    from worldmodel.predictors.parrot import Parrot
    from worldmodel.predictors.straight_line import StraightLine
    from worldmodel.predictors.timesfm import TimesFM
    from worldmodel.predictors.tirex import TiRex
    from worldmodel.predictors.torch_module import TorchModule
    from worldmodel.probes.config import ProbeConfig
    from worldmodel.probes.plot import plot_jacobian, plot_kick_response, plot_linear
    from worldmodel.probes.probe import probe
    from worldmodel.probes.readouts.base import Reading
    from worldmodel.recall.base import Recall
    from worldmodel.recall.passkeys import Retrieval, retrieval
    from worldmodel.recall.told_mass import memory
    from worldmodel.training import train
    from worldmodel.world_model import WorldModel

__all__ = [
    "ATTENTION_COLORS",
    "Autoregression",
    "CausalLM",
    "Chronos",
    "EvaluateConfig",
    "Evaluation",
    "ExtrapolateConfig",
    "Extrapolation",
    "InductiveBiasProbes",
    "MemoryConfig",
    "NewtonKepler",
    "Parrot",
    "Predictor",
    "ProbeConfig",
    "Reading",
    "Recall",
    "Retrieval",
    "RetrievalConfig",
    "StraightLine",
    "TiRex",
    "TimesFM",
    "TorchModule",
    "TrainConfig",
    "Visible",
    "WorldModel",
    "attention_kinds",
    "evaluate",
    "extrapolate",
    "make_attention",
    "memory",
    "plot_attention",
    "plot_entropy",
    "plot_extrapolation",
    "plot_jacobian",
    "plot_kick_response",
    "plot_linear",
    "plot_recall",
    "probe",
    "relative_entropy",
    "retrieval",
    "train",
]

_PLACES = {
    "attention": ("Visible", "attention_kinds", "make_attention"),
    "attention.entropy": ("relative_entropy",),
    "config": (
        "EvaluateConfig",
        "ExtrapolateConfig",
        "MemoryConfig",
        "RetrievalConfig",
        "TrainConfig",
    ),
    "evaluation": ("Evaluation", "evaluate"),
    "extrapolation": ("Extrapolation", "extrapolate"),
    "recall.passkeys": ("Retrieval", "retrieval"),
    "recall.base": ("Recall",),
    "recall.told_mass": ("memory",),
    "plot": (
        "ATTENTION_COLORS",
        "plot_attention",
        "plot_entropy",
        "plot_extrapolation",
        "plot_recall",
    ),
    "predictors.base": ("Predictor",),
    "predictors.autoregression": ("Autoregression",),
    "predictors.causal_lm": ("CausalLM",),
    "predictors.chronos": ("Chronos",),
    "predictors.inductive_bias_probes": ("InductiveBiasProbes",),
    "predictors.newton_kepler": ("NewtonKepler",),
    "predictors.parrot": ("Parrot",),
    "predictors.straight_line": ("StraightLine",),
    "predictors.timesfm": ("TimesFM",),
    "predictors.tirex": ("TiRex",),
    "predictors.torch_module": ("TorchModule",),
    "probes.config": ("ProbeConfig",),
    "probes.plot": ("plot_jacobian", "plot_kick_response", "plot_linear"),
    "probes.probe": ("probe",),
    "probes.readouts.base": ("Reading",),
    "training": ("train",),
    "world_model": ("WorldModel",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from orbits.version import __version__

        return __version__
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
