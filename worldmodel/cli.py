"""The command `worldmodel`."""

from orbits.commandline import Command, Positional
from orbits.commandline import main as run_commands
from worldmodel.config import ProbeConfig, TrainConfig

DATA = Positional("data", "data set (Zarr), as `orbits generate` or `orbits ephemeris` writes it")
RUN = Positional("run", "folder of a run, as `worldmodel train` writes it")


def _train(data: str, run: str, config: TrainConfig) -> None:
    from worldmodel.train import train

    train(data, run, config)


def _probe(run: str, data: str, out: str, config: ProbeConfig) -> None:
    from worldmodel.probes.probe import probe

    probe(run, data, out, config)


COMMANDS = (
    Command(
        "train",
        _train,
        TrainConfig,
        "Train a transformer to predict the next position.",
        (DATA, Positional("run", "folder that receives the run")),
    ),
    Command(
        "probe",
        _probe,
        ProbeConfig,
        "Read off the accelerations that a model's predictions imply.",
        (RUN, DATA, Positional("out", "Parquet file that receives the force samples")),
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return run_commands("worldmodel", COMMANDS, arguments)
