"""A run step by step: each function reads its inputs, writes `out`, and returns a line on the
result. They call the public API of the three packages and compute nothing themselves."""

from pathlib import Path

import orbits
import symreg
import worldmodel
from orbits.config import EphemerisConfig, GenerateConfig
from orbits.files import read_json, write_json
from symreg.experiments.far_field import reach_samples
from symreg.experiments.own_model import OwnModel
from symreg.recovery.config import RecoverConfig
from worldmodel.config import TrainConfig
from worldmodel.probes.config import ProbeConfig


def simulate(out: Path, config: GenerateConfig) -> str:
    """Orbits under a law."""
    orbits.generate(out, config)
    return f"{config.orbits} orbits of {config.samples} states"


def planets(out: Path, config: EphemerisConfig) -> str:
    """Real planets."""
    data = orbits.ephemeris(out, config)
    return f"{data.sizes['orbit']} segments of {data.sizes['time']} states"


def train(out: Path, data: Path, config: TrainConfig) -> str:
    """A world model."""
    model = worldmodel.train(data, config, out=out)
    return f"{model.step} steps"


def look(out: Path, model: OwnModel) -> str:
    """Describe a user's model."""
    predictor = model.predictor
    write_json(out, {**predictor.about(), "fingerprint": predictor.fingerprint})
    return repr(predictor)


def probe(
    out: Path,
    model: Path | OwnModel,
    data: Path,
    trained_on: Path | None = None,
    *,
    config: ProbeConfig,
) -> str:
    """Force samples, or another probe's numbers."""
    from worldmodel.probes.probe import read

    predictor = model.predictor if isinstance(model, OwnModel) else model
    reading = read(predictor, data, config, trained_on)
    reading.write(out)
    return reading.text.splitlines()[0]


def reach(out: Path, reading: Path) -> str:
    """Force samples of an examination's states, inside and beyond the distances of training."""
    samples = reach_samples(read_json(reading))
    samples.write(out)
    return f"{len(samples)} states"


def recover(out: Path, forces: Path, config: RecoverConfig) -> str:
    """The law in force samples."""
    from symreg.recovery.words import IN_WORDS

    law = symreg.recover(forces, config)
    law.write(out)
    return f"{law.expression}: {IN_WORDS[law.verdict]}"
