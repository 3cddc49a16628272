"""The command `orbits`."""

import sys
from collections.abc import Sequence

from orbits.command.parser import Command, Positional
from orbits.command.parser import main as run_command
from orbits.config import (
    EphemerisConfig,
    GenerateConfig,
    InfoConfig,
    PlotConfig,
    ValidateConfig,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `orbits` with the given or the process's arguments; returns the exit code."""
    return run_command("orbits", COMMANDS, arguments)


def _generate(path: str, config: GenerateConfig) -> None:
    from orbits.generation import run

    run(path, config)


def _ephemeris(path: str, config: EphemerisConfig) -> None:
    from orbits.ephemeris import run

    run(path, config)


def _validate(path: str, config: ValidateConfig) -> int:
    from orbits.validation import run

    return run(path, config)


def _info(path: str, config: InfoConfig) -> None:
    from orbits.info import run

    run(path, config)


def _plot(path: str, out: str, config: PlotConfig) -> None:
    from orbits.plot import run

    run(path, out, config)


_DATA = Positional("data", "Dataset, as `orbits generate` or `orbits ephemeris` writes it.")
_OUT = Positional("out", "Dataset to write: a folder (x.zarr) or an fsspec address (s3://...).")

COMMANDS = (
    Command("generate", _generate, GenerateConfig, "Make orbits under a law of force.", (_OUT,)),
    Command("ephemeris", _ephemeris, EphemerisConfig, "Real planets, from JPL's DE421.", (_OUT,)),
    Command(
        "validate",
        _validate,
        ValidateConfig,
        "Check a dataset against the format and against physics; exit code 1 lists what is wrong.",
        (_DATA,),
    ),
    Command("info", _info, InfoConfig, "A table of what a dataset holds.", (_DATA,)),
    Command(
        "plot",
        _plot,
        PlotConfig,
        "Orbits, phase portraits and energy drift, or an animation.",
        (_DATA, Positional("picture", "File to write: .gif is animated; .png, .svg, .pdf.")),
    ),
)

if __name__ == "__main__":
    sys.exit(main())
