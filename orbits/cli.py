"""The command `orbits`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orbits.command_line import Command, Positional, say
from orbits.command_line import main as run_command
from orbits.config import (
    EphemerisConfig,
    ForcesConfig,
    GenerateConfig,
    ImportConfig,
    NoConfig,
    PlotConfig,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `orbits` with the given or the process's arguments; returns the exit code."""
    return run_command("orbits", COMMANDS, arguments)


def _generate(path: str, config: GenerateConfig) -> dict[str, Any]:
    from orbits.dataset import open_dataset
    from orbits.generation.generate import write
    from orbits.generation.recipe import resolve

    write(path, resolve(config), announce=print)
    attributes = open_dataset(path).attrs
    summary = {"dataset": path, "orbits": config.orbits, "shards": attributes["shards"]}
    return {**summary, **attributes.get("integration", {})}


def _ephemeris(path: str, config: EphemerisConfig) -> dict[str, Any]:
    from orbits.planets import ephemeris

    rows = ephemeris(path, config).sizes["orbit"]
    segments = rows if config.together else rows // len(config.bodies)
    return {
        "dataset": path,
        "bodies": ", ".join(config.bodies),
        "segments": segments,
        "samples": config.samples,
        "years": segments * config.samples * config.dt,
        "start": f"{config.start:g}",
        "frame": config.frame,
    }


def _import(table: str, path: str, config: ImportConfig) -> dict[str, Any]:
    from orbits.trajectories.from_table import from_table

    data = from_table(table, path, config, announce=lambda line: say(f"{table}: {line}."))
    attributes = data.attrs
    return {
        "dataset": path,
        "orbits": data.sizes["orbit"],
        "samples": data.sizes["time"],
        "dt": attributes["dt"],
        "bodies": ", ".join(attributes.get("bodies", ["one body"])),
        "frame": attributes["frame"],
        "law": attributes["law"],
        "velocities": attributes["velocity"],
    }


def _forces(path: str, out: str, config: ForcesConfig) -> dict[str, str]:
    from orbits.derivatives.accelerations import measure_forces

    forces = measure_forces(path, config)
    forces.write(out)
    return {"forces": out, "measured": forces.attributes["summary"]}


@dataclass(frozen=True)
class Problems:
    """What is wrong with a dataset; the exit code is 1 if anything is."""

    dataset: str
    problems: list[str]

    @property
    def exit_code(self) -> int:
        """1 if something is wrong."""
        return 1 if self.problems else 0

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {"dataset": self.dataset, "valid": not self.problems, "problems": self.problems}

    def __str__(self) -> str:
        return "\n".join(f"{self.dataset}: {each}" for each in self.problems or ["valid."])


def _validate(path: str, config: NoConfig) -> Problems:
    from orbits.dataset.validation import validate

    return Problems(path, validate(path))


def _info(path: str, config: NoConfig) -> dict[str, str]:
    from orbits.dataset.info import describe

    return {"dataset": path, **describe(path)}


def _plot(path: str, out: str, config: PlotConfig) -> dict[str, str]:
    from orbits.plot import save_figure

    save_figure(path, out, config.orbits)
    return {"picture": out}


_DATA = Positional(
    "data", "Dataset, as `orbits generate` or `orbits ephemeris` writes it.", path="input"
)
_OUT = Positional("out", "Dataset to write: a folder (x.zarr).", path="output")

COMMANDS = (
    Command(
        "generate",
        _generate,
        GenerateConfig,
        "Make orbits under a law of force.",
        (_OUT,),
        examples=(
            "generate train.zarr --law newton --orbits 1000 --seed 0",
            'generate own.zarr --law "30*r**-2.5" --dimensions 3',
            "generate planets.zarr --system nbody --planets 3",
        ),
    ),
    Command(
        "ephemeris",
        _ephemeris,
        EphemerisConfig,
        "Real planets, from JPL's DE421.",
        (_OUT,),
        examples=(
            "ephemeris planets.zarr --bodies mercury venus earth mars",
            "ephemeris outer.zarr --together --frame icrf --bodies sun jupiter saturn uranus",
        ),
    ),
    Command(
        "import",
        _import,
        ImportConfig,
        "Make a dataset of trajectories that somebody measured or simulated: CSV, Parquet or NumPy "
        "arrays (.npy, .npz).",
        (Positional("table", "File with a row for every state.", path="input"), _OUT),
        examples=(
            "import orbit.csv orbit.zarr --position x,y,z",
            "import stars.csv stars.zarr --position x1,y1 --position x2,y2 --length-unit km "
            "--time-unit d",
            "import orbits.npz orbits.zarr --length-unit m --time-unit s",
        ),
    ),
    Command(
        "forces",
        _forces,
        ForcesConfig,
        "Measure accelerations along trajectories, without any model, with their standard errors.",
        (
            _DATA,
            Positional(
                "out", "Parquet file for the force samples.", path="output", ending=".parquet"
            ),
        ),
        examples=("forces stars.zarr forces.parquet",),
    ),
    Command(
        "validate",
        _validate,
        NoConfig,
        "Check a dataset against the format and against physics; exit code 1 lists what is wrong.",
        (_DATA,),
        examples=("validate train.zarr",),
    ),
    Command(
        "info",
        _info,
        NoConfig,
        "A table of what a dataset holds.",
        (_DATA,),
        examples=("info train.zarr",),
    ),
    Command(
        "plot",
        _plot,
        PlotConfig,
        "Orbits, phase portraits and energy drift.",
        (
            _DATA,
            Positional("picture", "File to write: .png, .svg, .pdf.", path="output"),
        ),
        examples=(
            "plot train.zarr orbits.png",
            "plot planets.zarr planets.pdf --orbits 4",
        ),
    ),
)

if __name__ == "__main__":
    sys.exit(main())
