"""A run on a user's dataset, which replaces the options of the simulator."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from orbits.config import OrbitsConfig
from orbits.dataset import open_dataset
from orbits.forces import UNKNOWN
from orbits.options import OptionError, values_of
from symreg.experiments.config import CONTROLS, RunConfig
from worldmodel.controls import CONTROLS as PREDICTORS

SYSTEMS = ("relative", "barycentric")
WITHOUT_LAW = {
    "sources": ("orbit",),
    "controls": tuple(name for name in CONTROLS if not PREDICTORS[name].needs_law),
    "readouts": ("evaluate",),
}
"""What can be asked without a known law: no kick can be followed, nothing compared with a truth."""
LEFT_OUT = (
    "The law of these data is not known, so that what needs it was left out: kicked states, the "
    "injected law, probes that compare with the truth, real planets. Held-out orbits alone do "
    "not distinguish a model that obeys a force from one that fits the orbits' shape."
)


def of_data(config: RunConfig) -> RunConfig:
    """A run's options, with its dataset's in place of the simulator's.

    Raises:
        ValueError: if there is no such dataset, it has more bodies than a run can read, or a
            request needs the unknown law.
    """
    if config.data is None:
        return config
    plain = RunConfig()
    if values_of(OrbitsConfig, config) != values_of(OrbitsConfig, plain):
        raise OptionError("data", "is given, so that nothing is simulated: leave --law, --orbits, "
                          "--samples and the other options of the simulator out.")  # fmt: skip
    path = Path(config.data).absolute()
    data = open_dataset(path)
    system, law = str(data.attrs["system"]), str(data.attrs["law"])
    if system not in SYSTEMS:
        raise ValueError(
            f"{config.data} is a system {system}; a run reads orbits of one body (relative) or of "
            "two (barycentric). For more: worldmodel train, worldmodel probe, and symreg weigh on "
            "the force samples."
        )
    own: dict[str, Any] = {
        "data": str(path), "law": law, "system": system, "orbits": data.sizes["orbit"],
        "samples": data.sizes["time"], "dt": float(data.attrs["dt"]),
        "dimensions": data.sizes["axis"],
    }  # fmt: skip
    if law == UNKNOWN:
        for name in WITHOUT_LAW:
            own[name] = _without_law(name, getattr(config, name), getattr(plain, name))
    elif system == "barycentric" and config.sources == plain.sources:
        own["sources"] = tuple(name for name in plain.sources if name != "planets")
    return replace(config, **own)


def _without_law(name: str, given: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    """The defaults that remain if the law is unknown; explicit requests are refused."""
    allowed = WITHOUT_LAW[name]
    refused = [value for value in given if value not in allowed]
    if refused and given != default:
        raise OptionError(
            name,
            f"asks for {' and '.join(refused)}, which needs a law, and that of these data is not "
            f"known; allowed: {', '.join(allowed)}.",
        )
    return tuple(value for value in given if value in allowed)
