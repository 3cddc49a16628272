"""The command `symreg`: recover a law from a table, compare formulas, list the engines."""

from orbits.commandline import Command, Positional
from orbits.commandline import main as run_command
from symreg.recover_config import RecoverConfig


def recover(table: str, out: str, config: RecoverConfig) -> None:
    """Recover the law of a table of force samples and write the result as JSON."""
    from orbits.files import write_json
    from orbits.force_samples import read_force_samples
    from symreg.recover import recover as search

    samples, attributes = read_force_samples(table)
    result = search(samples, attributes, config, progress=print)
    write_json(out, result.to_json())
    print(result.explanation)


COMMANDS = [
    Command(
        "recover",
        recover,
        RecoverConfig,
        "Search the law of a table of forces and hold it against a reference law.",
        (
            Positional("table", "Parquet file of force samples, as `worldmodel probe` writes it."),
            Positional("out", "JSON file for the result."),
        ),
    ),
]


def main() -> int:
    """The entry point."""
    return run_command("symreg", COMMANDS)
