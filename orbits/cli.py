"""The command `orbits`."""

import sys
from collections.abc import Sequence

from orbits.commandline import Command, Positional
from orbits.commandline import main as run_command
from orbits.config import EphemerisConfig, GenerateConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `orbits` with the given or the process's arguments; returns the exit code."""
    return run_command("orbits", COMMANDS, arguments)


def _generate(path: str, config: GenerateConfig) -> None:
    from orbits.generate import run

    run(path, config)


def _ephemeris(path: str, config: EphemerisConfig) -> None:
    from orbits.ephemeris import run

    run(path, config)


_OUT = Positional("out", "Dataset to write: a folder (x.zarr) or an fsspec address (s3://...).")

COMMANDS = (
    Command("generate", _generate, GenerateConfig, "Make orbits under a law of force.", (_OUT,)),
    Command("ephemeris", _ephemeris, EphemerisConfig, "Real planets, from JPL's DE421.", (_OUT,)),
)

if __name__ == "__main__":
    sys.exit(main())
