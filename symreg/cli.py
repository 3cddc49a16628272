"""The command `symreg`: run experiments and studies, recover laws, compare formulas."""

from collections.abc import Sequence

from orbits.command.parser import Command, Positional
from orbits.command.parser import main as run_command
from symreg.command_configs import CompareConfig, EnginesConfig
from symreg.recovery.config import RecoverConfig
from symreg.runs.config import RunConfig
from symreg.studies.config import StudyConfig


def recover(table: str, out: str, config: RecoverConfig) -> None:
    """Recover the law of a table and write the result as JSON."""
    from orbits.records.files import write_json
    from orbits.records.force_samples import read_force_samples
    from symreg.recovery.recover import recover as search
    from symreg.recovery.recover_table import recover_table

    if config.own_table:
        result = recover_table(table, config, progress=print)
    else:
        samples, attributes = read_force_samples(table)
        result = search(samples, attributes, config, progress=print)
    write_json(out, result.to_json())
    print(result.explanation)


def compare(first: str, second: str, config: CompareConfig) -> None:
    """Compare two formulas and print the verdict with its reason."""
    from symreg.formulas.compare import CONSTANT_NAMES
    from symreg.formulas.compare import compare as decide
    from symreg.formulas.reading import read_formula

    symbols = read_formula(first).free_symbols | read_formula(second).free_symbols
    names = sorted({symbol.name for symbol in symbols} - CONSTANT_NAMES)
    variables = list(config.variables) or names
    domain = dict.fromkeys(variables, (config.low, config.high))
    answer = decide(first, second, variables, domain, config.margin, config.limit)
    print(f"{answer.verdict}: {answer.reason}")
    for name, value in answer.parameters.items():
        print(f"  with {name} = {value:.10g}")
    print(
        f"  compared in {', '.join(variables) or 'no variables'}, "
        f"{config.low:g} to {config.high:g} and ten times beyond, "
        f"margin of exponents {config.margin:g}, {answer.seconds:.1f} s"
    )


def engines(config: EnginesConfig) -> None:
    """Print which engines can run here, why not, and how to get them."""
    from symreg.engines.availability import NAMES, available

    for name in NAMES:
        found = available(name)
        print(f"{name:<12}{'yes' if found.available else 'no ':<5}{found.reason}")
        if not found.available:
            print(f"{'':<17}to get it: {found.how_to_get}")


def run(config: RunConfig) -> int:
    """Run every stage of an experiment; a stage that fails has said why on stderr."""
    from symreg.runs.pipeline import StageFailure
    from symreg.runs.run import run as run_all

    try:
        run_all(config)
    except StageFailure as failure:
        if config.folder.exists():
            print(
                f"Stopped in stage {failure.stage.name}; what was finished stays in "
                f"{config.folder}. Run the same command to go on."
            )
        return failure.code
    return 0


def study(source: str, config: StudyConfig) -> int:
    """Run every cell of a study; a training whose options are refused has said why."""
    from symreg.runs.pipeline import StageFailure
    from symreg.studies.run import run_study

    try:
        return run_study(source, config)
    except StageFailure as failure:
        return failure.code


def check_study(source: str, config: StudyConfig) -> int:
    """Check a study without running it."""
    from symreg.runs.pipeline import StageFailure
    from symreg.studies.run import check

    try:
        found = check(source, config)
    except StageFailure as failure:
        return failure.code
    print(f"{found.name}: {len(found.cells)} cells; {found.cost or 'no cost is given'}")
    return 0


COMMANDS = [
    Command(
        "run",
        run,
        RunConfig,
        "Run the whole path: orbits, world model, force, law, verdict and report. Goes on where "
        "an earlier run of the same directory stopped.",
    ),
    Command(
        "study",
        study,
        StudyConfig,
        "Run a grid of experiments side by side: table, figures and report. Goes on where an "
        "earlier study in the same folder stopped.",
        (
            Positional(
                "study",
                "A YAML file, or a study that comes along: attention, context, extrapolation, "
                "laws, masses, published, published-gpu.",
            ),
        ),
        check_study,
    ),
    Command(
        "recover",
        recover,
        RecoverConfig,
        "Search the law of a table of forces and hold it against a reference law.",
        (
            Positional(
                "table",
                "Force samples of `worldmodel probe`, or with --target a CSV or Parquet file.",
            ),
            Positional("out", "JSON file for the result."),
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
    ),
    Command(
        "engines",
        engines,
        EnginesConfig,
        "Print which search engines can run here, and how to get the others.",
    ),
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `symreg` with the given or the process's arguments; returns the exit code."""
    return run_command("symreg", COMMANDS, arguments)
