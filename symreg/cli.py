"""The command `symreg`: run experiments and studies, recover laws, compare formulas."""

from collections.abc import Sequence

import orbits
import symreg
from orbits.command_line import STANDARD_OUTPUT, Command, Positional, say
from orbits.command_line import main as run_command
from orbits.workers import preload, worker_count
from symreg.experiments.cache import LOADED, MEMORY
from symreg.experiments.config import RunConfig, StudyConfig
from symreg.formulas.config import CompareConfig
from symreg.recovery.config import EnginesConfig
from symreg.recovery.from_positions import RecoverFileConfig
from symreg.weighing.config import WeighConfig


def recover(table: str, out: str, config: RecoverFileConfig) -> "symreg.Recovery":
    """Recover the law of a table and write the result as JSON."""
    from symreg.recovery.motion import forces_in

    require_possible(table, config)
    forces = forces_in(table, config, announce=lambda line: say(f"{table}: {line}."))
    if forces is not None:
        say(f"{table}: {forces.attributes['summary']}")
    result = symreg.recover(table if forces is None else forces, config, progress=say)
    write(result, out)
    return result


def write(result: "symreg.Recovery | symreg.Weighing", out: str) -> None:
    """Write a result as JSON; if the disk is full by now, the search is at least printed."""
    if out == STANDARD_OUTPUT:
        return
    try:
        result.write(out)
    except (OSError, ValueError):
        say(result)
        raise


def require_possible(table: str, config: RecoverFileConfig) -> None:
    """Refuse an unknown engine or law, and a text table, which is a user's own, without --target.

    Raises:
        ValueError: says what is known; or what to add, with the columns that are there.
    """
    from symreg.engines import choose_engine
    from symreg.formulas.reading import is_law

    choose_engine(config.engine, config.question)
    if config.law is not None and is_law(config.law):
        orbits.parse_law(config.law)
    if config.own_table or config.trajectories or not table.lower().endswith((".csv", ".tsv")):
        return
    from orbits.tables import read_columns

    try:
        columns = ", ".join(read_columns(table)[1])
    except ValueError:
        columns = ""
    there = f" Columns there: {columns}." if columns else ""
    raise ValueError(
        f"{table} is a table of your own; say which column the law is for and what it may depend "
        f"on: add --target F --features r,m1,m2; or, if it holds positions over time, "
        f"--trajectories.{there}"
    )


def compare(first: str, second: str, config: CompareConfig) -> "symreg.Comparison":
    """Compare two formulas."""
    from symreg.formulas.compare import CONSTANT_NAMES
    from symreg.formulas.reading import read_formula

    symbols = read_formula(first).free_symbols | read_formula(second).free_symbols
    names = sorted({symbol.name for symbol in symbols} - CONSTANT_NAMES)
    variables = config.variables or tuple(names)
    domain = dict.fromkeys(variables, (config.low, config.high))
    return symreg.compare(first, second, variables, domain, config.margin, config.limit)


def engines(config: EnginesConfig) -> dict[str, str]:
    """Which engines can run here, why not, and how to get them."""
    from symreg.engines.installing import install_julia

    if config.install and not symreg.ENGINES[config.install].availability().available:
        install_julia(say)
    lines = {}
    for name, engine in symreg.ENGINES.items():
        here = engine.availability()
        lines[name] = f"{'yes' if here.available else 'no'}: {here.reason}"
        if not here.available:
            lines[name] += f"; to get it: {here.how_to_get}"
    return lines


def weigh(data: str, out: str, config: WeighConfig) -> "symreg.Weighing":
    """Weigh the bodies of a dataset or of a table of forces; write the result as JSON."""
    result = symreg.weigh(data, config, progress=say)
    write(result, out)
    return result


def run(config: RunConfig) -> "symreg.Run":
    """Run an experiment to its verdict; its workers load what they need while this process does."""
    if worker_count(config.workers, MEMORY) > 1:
        preload(LOADED)
    return symreg.run(config, progress=say)


def study(source: str, config: StudyConfig) -> object:
    """Run every cell of a study."""
    from symreg.experiments.study import run_study

    return run_study(source, config)


RESULT = Positional(
    "out",
    "JSON file for the result; - is standard output.",
    path="output",
    ending=".json",
    text=True,
)
COMMANDS = [
    Command(
        "run",
        run,
        RunConfig,
        "Run a whole experiment: orbits, world model, force, law, verdict and report. Resumes "
        "an earlier run of the same directory.",
        examples=(
            "run",
            "run --law hooke --out runs/hooke",
            'run --attention "lssar(p=3)" --context-length 8 --out runs/lssar',
            "run --model mine.py:make --model-context 2 --out runs/mine",
        ),
    ),
    Command(
        "study",
        study,
        StudyConfig,
        "Run a grid of experiments side by side: table, figures and report. Resumes an "
        "earlier study in the same folder.",
        (
            Positional(
                "study",
                "A YAML file; notebooks/studies of the repository has those of the pages.",
                path="input",
            ),
        ),
        examples=("study mine.yaml --out studies/mine",),
    ),
    Command(
        "recover",
        recover,
        RecoverFileConfig,
        "Find the law of a table of forces and compare it with a reference law.",
        (
            Positional(
                "table",
                "Force samples of `worldmodel probe` or `orbits forces`, or a dataset of orbits, "
                "along which they are measured; with --target a CSV or Parquet file; with "
                "--trajectories a table of positions.",
                path="input",
            ),
            RESULT,
        ),
        examples=(
            "recover kicked.parquet law.json",
            "recover table.csv law.json --target F --features r,m1,m2",
            "recover stars.zarr law.json",
            "recover stars.csv law.json --trajectories --position x1,y1 --position x2,y2",
        ),
    ),
    Command(
        "weigh",
        weigh,
        WeighConfig,
        "Find the law between bodies, and their masses, from their positions alone.",
        (
            Positional(
                "data",
                "Dataset with several visible bodies, as `orbits import`, `orbits ephemeris "
                "--together` or `orbits generate --system nbody` writes it; or force samples of "
                "several bodies (`worldmodel probe`, `orbits forces`).",
                path="input",
            ),
            RESULT,
        ),
        examples=(
            "weigh solar.zarr masses.json",
            "weigh forces.parquet believed.json",
        ),
    ),
    Command(
        "compare",
        compare,
        CompareConfig,
        "Say whether two formulas are the same law: exact, up_to_scale, same_exponents, "
        "different or undecided.",
        (
            Positional("first", "A formula (39.5/r**2) or a reference law (yukawa(length=1))."),
            Positional("second", "The same."),
        ),
        examples=(
            'compare "39.5/r^2" newton',
            'compare "2*k/x^2" "3/x^2" --variables x',
        ),
    ),
    Command(
        "engines",
        engines,
        EnginesConfig,
        "Print which search engines can run here, and how to get the others.",
        examples=("engines", "engines --install pysr"),
    ),
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `symreg` with the given or the process's arguments; returns the exit code."""
    return run_command("symreg", COMMANDS, arguments)
