"""The command `worldmodel`: reads files, calls the package, writes files."""

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Any

from orbits.command_line import Command, Positional, say
from orbits.command_line import main as run_commands
from orbits.printing import is_terminal
from worldmodel.config import AttentionConfig, TrainConfig
from worldmodel.probes.config import ProbeCommand

if TYPE_CHECKING:
    from worldmodel.probes.readouts.base import Reading

DATA = Positional(
    "data", "data set (Zarr), as `orbits generate` or `orbits ephemeris` writes it", path="input"
)
RUN = Positional("run", "folder of a run, as `worldmodel train` writes it", path="input")


def _train(data: str, run: str, config: TrainConfig) -> dict[str, Any]:
    from worldmodel.training import train

    model = train(data, config, out=run, progress=None if is_terminal(sys.stderr) else say)
    return {"run": run, "steps": model.step, "parameters": model.parameters, "model": repr(model)}


def _probe(run: str | None, data: str, out: str, config: ProbeCommand) -> "Reading":
    from worldmodel.loading import load_predictor
    from worldmodel.probes.probe import read, require_fitting_name
    from worldmodel.source import DatasetSource

    require_fitting_name(out, config.read_out)
    model: Any = run
    if config.model is not None:
        model = load_predictor(config=config, seed=config.seed, dt=DatasetSource(data).facts.dt)
    reading = read(model, data, config, config.trained_on)
    reading.write(out)
    return reading


def _attention(run: str, data: str, picture: str, config: AttentionConfig) -> dict[str, str]:
    from worldmodel.plot import attention_of_run, save_figure

    save_figure(attention_of_run(run, data, config), picture)
    return {"picture": picture}


COMMANDS = (
    Command(
        "train",
        _train,
        TrainConfig,
        "Train a transformer to predict the next position.",
        (DATA, Positional("run", "folder that receives the run", path="output")),
        examples=(
            "train train.zarr model --context-length 2",
            'train train.zarr model --attention "lssar(p=3)" --context-length 8',
        ),
    ),
    Command(
        "probe",
        _probe,
        ProbeCommand,
        "Read what a model has learned: --readout says what, --control what instead of the model. "
        "`probe --model mine.py:make DATA OUT` asks a predictor of your own.",
        (
            dataclasses.replace(RUN, unless="model"),
            DATA,
            Positional(
                "out", "file that receives force samples (Parquet) or numbers (JSON)", path="output"
            ),
        ),
        examples=(
            "probe model held_out.zarr kicked.parquet --states kicked",
            "probe model held_out.zarr jacobian.json --readout jacobian",
            "probe model held_out.zarr evaluation.json --readout evaluate",
            "probe --model mine.py:make held_out.zarr kicked.parquet --states kicked",
        ),
    ),
    Command(
        "attention",
        _attention,
        AttentionConfig,
        "Draw what each head of a run looks at.",
        (RUN, DATA, Positional("picture", "PNG file", path="output", ending=".png")),
        examples=("attention model held_out.zarr maps.png",),
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # pictures go to files, with or without a display
    return run_commands("worldmodel", COMMANDS, arguments)
