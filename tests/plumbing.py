"""How much of the three packages is plumbing: `python tests/plumbing.py [--files] [REVISION]`.

Lines of Python by what they are for, counted with comments, docstrings and blank lines. What is
matched by no pattern is science: forces, models, probes, searches, verdicts. Names of before
22 November 2026 are kept, so that revisions of before can be counted. Figures of single studies
lie in notebooks/studies since 24 November 2026 and are counted nowhere.
"""

import argparse
import subprocess
from collections import Counter
from fnmatch import fnmatch

ROOMS = ("orbits", "worldmodel", "symreg", "tests")
KINDS = {
    "command line and configuration": (
        "*/__init__.py*", "*/__main__.py", "*/cli.py", "*/config.py", "*_config.py",
        "orbits/options.py", "orbits/command/*", "orbits/command_line.py", "orbits/entry.py",
        "orbits/registry.py", "orbits/specs.py", "worldmodel/attention/specs.py",
        "worldmodel/outside/config.py",
    ),
    "processes": (
        "symreg/runs/fork_server.py", "symreg/runs/pipeline.py", "symreg/runs/processes.py",
        "symreg/runs/stages.py", "symreg/runs/folder.py", "symreg/runs/run.py",
        "symreg/runs/own_data.py", "symreg/studies/cells.py", "symreg/studies/run.py",
        "symreg/studies/grid.py", "worldmodel/outside/channel.py", "worldmodel/outside/card.py",
        "worldmodel/outside/loading.py", "worldmodel/accelerators.py", "*_process.py",
        "symreg/engines/pysr.py", "symreg/engines/installing.py", "symreg/formulas/julia.py",
        "symreg/experiments/cache.py",
        "symreg/experiments/study.py", "symreg/experiments/grid.py",
        "symreg/experiments/own_data.py", "symreg/experiments/own_model.py",
        "worldmodel/predictors/loading.py", "orbits/cluster.py", "orbits/memory.py",
        "*/time_limit.py",
    ),
    "files, checksums and records": (
        "orbits/schema.py", "orbits/dataset.py", "orbits/files.py",
        "orbits/reading.py", "orbits/info.py", "orbits/validation.py", "orbits/provenance.py",
        "orbits/force_samples.py", "orbits/records/*", "orbits/trajectories/tables.py",
        "orbits/trajectories/importing.py", "orbits/trajectories/horizons.py",
        "orbits/generation.py", "orbits/importing/tables.py",
        "orbits/importing/from_table.py", "orbits/importing/horizons.py",
        "worldmodel/checkpoint.py", "worldmodel/logbook.py", "worldmodel/source.py",
        "worldmodel/data.py", "symreg/runs/result.py", "symreg/runs/readouts.py",
        "symreg/experiments/result.py", "symreg/recovery/result.py", "symreg/weighing/result.py",
        "symreg/result.py",
        "symreg/recovery/user_table.py", "symreg/studies/table.py", "symreg/experiments/table.py",
        "symreg/recovery/from_positions.py", "orbits/generation/generate.py",
    ),
    "figures and words": (
        "*/plot.py", "orbits/palette.py", "*/figures/*", "*/study_figures/*", "*/report.py",
        "*/study_report.py", "*/answer.py", "*/words.py", "*_words.py", "*/sentences.py",
        "*/study_figure.py", "*/grid_figure.py",
    ),
}  # fmt: skip


def kind_of(path: str) -> str:
    """What a file is for."""
    return next(
        (k for k, names in KINDS.items() if any(fnmatch(path, n) for n in names)), "science"
    )


def text_of(path: str, revision: str | None) -> str:
    """A file of the working tree, or of a revision."""
    if revision is None:
        with open(path, encoding="utf-8") as file:
            return file.read()
    return subprocess.check_output(["git", "show", f"{revision}:{path}"], text=True)


def main() -> None:
    """Print the count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?")
    parser.add_argument("--files", action="store_true", help="every file too")
    options = parser.parse_args()
    tree = ["git", "ls-tree", "-r", "--name-only", options.revision or "HEAD"]
    if options.revision is None:
        tree = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(tree, text=True).split()
    lines = {
        name: text_of(name, options.revision).count("\n")
        for name in names
        if name.endswith(".py")
        and name.split("/")[0] in ("orbits", "worldmodel", "symreg", "tests")
    }
    tests = sum(count for name, count in lines.items() if name.startswith("tests/"))
    counts: Counter[str] = Counter()
    for name, count in sorted(lines.items()):
        if not name.startswith("tests/"):
            counts[kind_of(name)] += count
            if options.files:
                print(f"{count:6} {kind_of(name):32} {name}")
    whole = sum(counts.values())
    for kind in (*KINDS, "science"):
        print(f"{kind:32} {counts[kind]:6} {counts[kind] / whole:6.1%}")
    plumbing = whole - counts["science"]
    print(f"{'plumbing':32} {plumbing:6} {plumbing / whole:6.1%}")
    print(f"{'all three packages':32} {whole:6}\n{'tests':32} {tests:6}")


if __name__ == "__main__":
    main()
