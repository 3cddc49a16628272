"""Options of a probe: what predicts, on which states, and what is read off it. Imports no torch.

What is read off a model is one of the files in `worldmodel.probes.readouts`, with its own options
in brackets: `linear(states=200)`.
"""

import dataclasses

from orbits.options import OptionError
from worldmodel.config import PredictorConfig
from worldmodel.probes.readouts import READOUTS, parse_readout
from worldmodel.probes.readouts.base import ReadOut
from worldmodel.probes.setting import ExperimentConfig


def in_words(readout: type[ReadOut]) -> str:
    """A probe for the help: its name, what it is, and the names of its options."""
    options = [field.name for field in dataclasses.fields(readout)]
    return f"{readout.name} ({readout.what}{'; ' * bool(options)}{' '.join(options)})"


@dataclasses.dataclass(frozen=True)
class ProbeConfig(ExperimentConfig):
    __doc__ = f"""Reading what a model has learned.

Args:
    readout: What is read, with options in brackets, as in 'linear(states=200)':
        {", ".join(map(in_words, READOUTS.values()))}.
"""

    readout: str = "implied"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            controls = self.read_out.controls
        except OptionError as error:
            raise OptionError("readout", f"{self.readout!r}: {error}") from None
        except ValueError as error:
            raise OptionError("readout", str(error).removeprefix("readout ")) from None
        if controls is not None and self.control not in controls:
            raise OptionError(
                "control",
                f"is {self.control}, which the probe {self.read_out.name} has no use for; give "
                f"one of {', '.join(controls)}.",
            )

    @property
    def read_out(self) -> ReadOut:
        """The requested probe with its options."""
        return parse_readout(self.readout)


@dataclasses.dataclass(frozen=True)
class ProbeCommand(PredictorConfig, ProbeConfig):
    """Reading what a model has learned: a run's, or your own."""

    trained_on: str | None = None
    """Data set that the model was trained on, for lookups and to recognise copies of its training
    orbits; by default the one recorded in its run."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trained_on == "":
            raise OptionError("trained_on", "is empty; a path is needed.")
