"""The public functions that take options as keywords, with every keyword spelled out, for editors.

    python tests/signatures.py        # after a change of an option: writes the end of __init__.pyi

`__init__.pyi` of each package lists what is public, from which lazy-loader knows where it is. Type
checkers could follow the dataclasses of options by a decorator, but completion (jedi, in notebooks
and vim) cannot.
"""

import types
import typing
from pathlib import Path

from orbits.config import EphemerisConfig, ForcesConfig, GenerateConfig, ImportConfig
from orbits.options import hints_of
from symreg.experiments.config import RunConfig
from symreg.recovery.config import RecoverConfig
from symreg.weighing.config import WeighConfig
from worldmodel.config import PredictorConfig, TrainConfig
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.readouts import READOUTS

ROOT = Path(__file__).parents[1]
MARK = "# Written by tests/signatures.py:\n"
PATH = "str | os.PathLike[str] | None"
DATASET = "xarray.Dataset"
CALL = "collections.abc.Callable[[str], object]"
PROGRESS = f"progress: {CALL} | bool | None = None"
UNTRAINED = "untrained: collections.abc.Callable[..., typing.Any] | None = None"
TRAINED_ON = "trained_on: typing.Any = None"

FUNCTIONS = {
    "orbits": [
        ("generate", [f"out: {PATH} = None"], GenerateConfig, DATASET),
        (
            "from_table",
            ["table: typing.Any", f"out: {PATH} = None"],
            ImportConfig,
            "xarray.Dataset",
        ),
        ("ephemeris", [f"out: {PATH} = None"], EphemerisConfig, DATASET),
        ("measure_forces", ["data: typing.Any"], ForcesConfig, "ForceSamples"),
    ],
    "worldmodel": [
        ("train", ["data: typing.Any"], TrainConfig, "WorldModel"),
    ],
    "symreg": [
        ("run", [], RunConfig, "Run"),
        ("recover", ["table: typing.Any"], RecoverConfig, "Recovery"),
        ("weigh", ["data: typing.Any"], WeighConfig, "Weighing"),
    ],
}
"""Name, what comes before the configuration, the dataclass of options, and what is returned."""

BEHIND = {
    "from_table": [f"announce: {CALL} | None = None"],
    "train": [f"out: {PATH} = None", PROGRESS],
    "recover": [PROGRESS],
    "weigh": [PROGRESS],
}
"""What comes behind the configuration, by position or by name."""
NAMED = {"run": ["predictor: typing.Any = None", UNTRAINED, PROGRESS], "generate": [PROGRESS]}
"""What comes behind it by name alone."""


def shown(hint: typing.Any) -> str:
    """An annotation without its checks, as it is written."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return shown(parts[0])
    if origin is typing.Literal:
        return f"typing.Literal[{', '.join(map(repr, parts))}]"
    if origin in (typing.Union, types.UnionType):
        return " | ".join(map(shown, parts))
    if hint is Ellipsis:
        return "..."
    if origin is not None:
        name = {tuple: "tuple"}.get(origin, "collections.abc.Mapping")
        return f"{name}[{', '.join(map(shown, parts))}]"
    return {type(None): "None", typing.Any: "typing.Any"}.get(hint) or hint.__name__


def keywords(config: type, without: tuple[str, ...] = ()) -> list[str]:
    hints = hints_of(config)
    return [f"{name}: {shown(hint)} = ..." for name, hint in hints.items() if name not in without]


def signature(name: str, parameters: list[str], result: str) -> str:
    lines = "".join(f"    {each},\n" for each in parameters)
    return f"def {name}(\n{lines}) -> {result}: ...\n"


def probes() -> list[str]:
    """`probe` returns force samples or numbers, by what is read."""
    tables = [name for name, kind in READOUTS.items() if kind.writes_table]
    numbers = [name for name in READOUTS if name not in tables]
    own = [each for each in keywords(PredictorConfig) if each.partition(":")[0] in OF_A_MODEL]
    options = [*keywords(ProbeConfig, ("readout",)), *own]
    table = "orbits.ForceSamples"
    kinds = (
        (
            f"typing.Literal[{', '.join(map(repr, tables))}] = 'implied'",
            "None",
            table,
        ),
        (f"typing.Literal[{', '.join(map(repr, numbers))}]", "None", "Reading"),
        ("str | ReadOut = ...", "ProbeConfig | None", f"{table} | Reading"),
    )
    return [
        "@typing.overload\n"
        + signature(
            "probe",
            ["model: typing.Any", "data: typing.Any", f"config: {config} = None", "*",
             f"readout: {readout}", UNTRAINED, TRAINED_ON,
             "progress: bool | None = None", *options],
            result,
        )
        for readout, config, result in kinds
    ]  # fmt: skip


OF_A_MODEL = ("model_context", "length_unit", "time_unit")
"""Options of a predictor that may be given with it."""


def written(package: str) -> str:
    """The stub of a package with its signatures."""
    stub = (ROOT / package / "__init__.pyi").read_text().partition(MARK)[0]
    functions = []
    for name, first, config, result in FUNCTIONS[package]:
        given = f"config: {config.__name__} | None = None"
        names = [*NAMED.get(name, []), *keywords(config)]
        parameters = [*first, given, *BEHIND.get(name, []), "*", *names]
        functions.append(signature(name, parameters, result))
    if package == "worldmodel":
        functions += probes()
    return f"{stub.rstrip()}\n\n{MARK}\n" + "\n".join(functions)


def main() -> None:
    for package in FUNCTIONS:
        (ROOT / package / "__init__.pyi").write_text(written(package))


if __name__ == "__main__":
    main()
