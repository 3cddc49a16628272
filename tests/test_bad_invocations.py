"""Bad invocations by the hundred: one line, exit code 2, nothing left behind, no hang.

The options are those that the commands have; the values and the places are drawn from given seeds.
Each invocation runs in a process of its own, which is ended after ten seconds of computing,
or a minute of anything else: a busy machine is no hang.

    pytest -m slow tests/test_bad_invocations.py -s
"""

import contextlib
import io
import os
import random
import resource
import shutil
import signal
import socket
import sys
import time
import typing
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
import yaml

import orbits.cli
import symreg.cli
import worldmodel.cli
from orbits.options import hints_of, leaves

MAINS = {"orbits": orbits.cli, "worldmodel": worldmodel.cli, "symreg": symreg.cli}
SECONDS = 10
"""Of computing."""
PATIENCE = 60.0
"""Of a process that waits for something, or for a busy machine."""
MEMORY = 3 * 2**30
"""Address space that an invocation may take beyond what the tests have."""

SMALL = {
    "orbits generate": "--orbits 20 --samples 12 --workers 1",
    "orbits ephemeris": "--start 1990 --stop 1993",
    "worldmodel train": "--steps 1 --d-model 8 --n-layers 1 --n-heads 1 --batch-tokens 8",
    "worldmodel probe": "--orbits 2",
    "symreg recover": "--engine projection --seeds 1 --no-null",
}
"""Options that make an invocation that is accepted a short one."""

AT_THE_DOOR = ("symreg run", "symreg study")
"""Commands that no option makes short: they refuse what they must, and then do no work."""

INPUTS = {"data": "data.zarr", "run": "model", "table": "forces.parquet",
          "study": "study.yaml", "first": "k/r**2", "second": "newton"}  # fmt: skip

WRONG = {
    int: ["x", "2.5", "1e400", "9" * 400, "-9", "nan", "1e3", "[1", "{a: b}", "[" * 200, "&a *a",
          "true", "1" + "0" * 25, "0x", "''"],
    float: ["x", "nan", "inf", "-inf", "1e999", "1_x", "[1.0]", "{}", "9" * 400, "true", "0,5"],
    str: ["nonsense", "", "a" * 5000, "softmax(", "newton(", "newton(n=", "k/(r-r)", "9**9**9*r",
          "k*(((r+1)**64)**64)**64", "2**sqrt(-1)*r", "(" * 2000, "__import__('os')", "k*r**1e9",
          "lssar(p=nan)", "lssar(p=1e400)", "yukawa(length=1e-400)", "power_law(n=1e300)", "\t",
          "1950-13-45", "inf", "nan", "1e300", "../..", "'", "--", "plutoo", "r**n; n=1e9"],
}  # fmt: skip
REFUSED = {int: ["x", "2.5", "nan", "9" * 400], float: ["x", "nan", "1e999"]}
"""Values that no option of a type takes."""


class Case(typing.NamedTuple):
    """One invocation: its words are made in the folder that it runs in."""

    command: str
    words: typing.Callable[[Path], list[str]]
    what: str
    must_refuse: bool = True
    works: bool = True


class Outcome(typing.NamedTuple):
    """How it ended."""

    code: int | None
    lines: list[str]
    left: list[str]


def commands():
    return {f"{program} {c.name}": c for program, cli in MAINS.items() for c in cli.COMMANDS}


def positionals(command, **replaced):
    """Good positionals, some replaced: outputs are new names."""
    new = {p.name: "new.png" if p.name == "picture" else "new" for p in command.positionals}
    known = new | INPUTS | replaced
    return [known[positional.name] for positional in command.positionals]


def small(name):
    return SMALL.get(name, "").split()


def placed(name, command, spot, make, here):
    """Words in which one positional is what is made here."""
    return [*positionals(command, **{spot: make(here)}), *small(name)]


def options_of(config):
    """Flag and type of every option."""
    for name, hint in hints_of(config).items():
        yield f"--{name}".replace("_", "-"), hint


def kind_of(hint):
    """int, float or str, and whether it is one of several names."""
    parts = list(leaves(hint))
    names = [part for part in parts if isinstance(part, str)]
    return next((kind for kind in (int, float) if kind in parts), str), bool(names)


def wrong_options(chance, count):
    """A wrong value for an option of some command."""
    everything = [
        (name, command, flag, hint)
        for name, command in commands().items()
        for flag, hint in options_of(command.config)
        if set(leaves(hint)) != {bool}
    ]
    for number in range(count):
        name, command, flag, hint = everything[number % len(everything)]
        kind, names = kind_of(hint)
        value = chance.choice(WRONG[kind])
        words = [*positionals(command), *small(name), f"{flag}={value}"]
        sure = bool(value in REFUSED.get(kind, ()) or names)
        short = sure or kind is not str
        yield Case(name, lambda _, words=words: words, f"{flag}={value:.30}", sure, short)


PLACES = {
    "empty": lambda here: "",
    "device": lambda here: "/dev/null",
    "zeros": lambda here: "/dev/zero",
    "pipe": lambda here: os.mkfifo(here / "pipe") or "pipe",
    "socket": lambda here: socket.socket(socket.AF_UNIX).bind(str(here / "s")) or "s",
    "link": lambda here: (here / "link").symlink_to(here / "data.zarr") or "link",
    "file link": lambda here: (here / "link.png").symlink_to(here / "forces.parquet") or "link.png",
    "dangling link": lambda here: (here / "dangling").symlink_to(here / "nowhere") or "dangling",
    "loop": lambda here: (here / "loop").symlink_to(here / "loop") or "loop",
    "below a file": lambda here: "forces.parquet/x",
    "below a device": lambda here: "/dev/null/x",
    "read-only": lambda here: "/proc/new",
    "long": lambda here: "n" * 300,
}


def wrong_outputs():
    """A place where nothing can be written, for every output of every command."""
    for name, command in commands().items():
        spots = [p.name for p in command.positionals if p.path == "output"]
        for place, make in PLACES.items():
            for spot in spots:
                yield Case(name, partial(placed, name, command, spot, make), f"{spot} {place}")
            if "out" in hints_of(command.config):
                yield Case(name, partial(with_out, name, command, make), f"--out {place}")


def with_out(name, command, make, here):
    return [*positionals(command), *small(name), f"--out={make(here)}"]


FOREIGN = ["data.zarr", "model", "forces.parquet", "study.yaml", "table.csv", "picture.png",
           "model/config.json", "model/last.safetensors", "data.zarr/zarr.json", "nowhere", ".",
           "random.bin", "empty"]  # fmt: skip


def wrong_inputs():
    """A foreign, missing or special file, for every input of every command."""
    special = [make for place, make in PLACES.items() if place not in ("link", "file link")]
    for name, command in commands().items():
        for positional in command.positionals:
            if positional.path == "input":
                own = INPUTS[positional.name]
                read = (own, "data.zarr") if name == "symreg recover" else (own,)
                others = [path for path in FOREIGN if path not in read]
                foreign = [lambda here, other=other: other for other in others]
                for make in (*foreign, *special):
                    words = partial(placed, name, command, positional.name, make)
                    yield Case(name, words, f"{positional.name} foreign")


CONFIGS = {
    "bomb": "".join(f"a{i}: &a{i} [{f'*a{i - 1}, ' * 2 if i else 'x'}]\n" for i in range(40)),
    "deep": "[" * 5000, "list": "- 1\n- 2\n", "bytes": "\x00\x01", "unknown": "nonsense: 1\n",
    "python": "law: !!python/object/apply:os.system ['true']", "itself": "a: &a\n  b: *a\n",
    "long": "law: " + "x" * 2_000_000, "tab": "\tseed: 1\n", "utf": "seed: \udc80\n",
}  # fmt: skip


def wrong_configs():
    """Files of options that are none, for every command."""
    for name, command in commands().items():
        for what, text in CONFIGS.items():
            words = partial(with_config, name, command, text)
            yield Case(name, words, f"--config {what}", what != "bytes")


def with_config(name, command, text, here):
    (here / "c.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    return [*positionals(command), *small(name), "--config", "c.yaml"]


def cases():
    """All invocations, always the same."""
    options = wrong_options(random.Random(12), 640)
    return [*options, *wrong_outputs(), *wrong_inputs(), *wrong_configs()]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """One good thing of each kind."""
    here = tmp_path_factory.mktemp("world")

    def run(line):
        program, *words = line.split()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert MAINS[program].main(words) == 0, line

    before = Path.cwd()
    os.chdir(here)
    try:
        run("orbits generate data.zarr --orbits 20 --samples 12 --workers 1 --shard-orbits 16")
        small = SMALL["worldmodel train"].replace("--steps 1", "--steps 2")
        run(f"worldmodel train data.zarr model {small}")
        run("worldmodel probe model data.zarr forces.parquet --orbits 2")
        run("orbits plot data.zarr picture.png")
        run("worldmodel probe model data.zarr done.json --readout evaluate --orbits 2")
        run(f"symreg recover forces.parquet found.json {SMALL['symreg recover']}")
        (here / "study.yaml").write_text(
            yaml.safe_dump({"name": "s", "question": "Which?", "grid": {"seed": [0, 1]}})
        )
        rows = [f"{0.1 * k:.2f},{1 / (0.1 * k) ** 2:.6f}" for k in range(1, 60)]
        (here / "table.csv").write_text("\n".join(["r,F", *rows]) + "\n")
        import pandas as pd

        pd.read_csv(here / "table.csv").to_parquet(here / "table.parquet")
        (here / "options.yaml").write_text("law: hooke\norbits: 20\nmass: [1.0, 2.0]\n")
        (here / "random.bin").write_bytes(random.Random(0).randbytes(5000))
        (here / "empty").write_bytes(b"")
    finally:
        os.chdir(before)
    return here


def contents(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def invoke(case, here, at_the_door):
    """Run an invocation in a process of its own; its files are in a folder of its own."""
    program, name = case.command.split()
    words = [name, *case.words(here)]
    before, err = listing(here), here.parent / "err"
    works = case.works and case.command not in AT_THE_DOOR
    run = MAINS[program].main if works else partial(at_the_door, program)
    process = get_context("fork").Process(target=child, args=(run, words, here, err))
    process.start()
    process.join(PATIENCE)
    code = process.exitcode
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    lines = err.read_text(errors="replace").splitlines()
    left = sorted(set(listing(here)) - set(before))
    return Outcome(None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code, lines, left)


def child(run, words, here, err):
    os.setsid()
    os.chdir(here)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - as long as the process
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = open(err, "w", errors="backslashreplace")  # noqa: SIM115 - as Python's
    os.dup2(sys.stderr.fileno(), 2)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    if "torch" in sys.modules:  # threads of the parent are not in a fork: waiting for one hangs
        sys.modules["torch"].set_num_threads(1)
    sys.exit(run(words))


ONE = {"orbits validate"}
"""Commands that say by exit code 1 what is wrong."""


def problem(case, outcome):
    """What an outcome breaks, or None."""
    if outcome.code is None:
        return "hang"
    if any(line.startswith("Traceback") for line in outcome.lines):
        return "traceback"
    if outcome.code not in (0, 2) and not (outcome.code == 1 and case.command in ONE):
        return f"exit code {outcome.code}"
    if outcome.code == 0:
        return "accepted" if case.must_refuse else None
    if outcome.code == 2:
        if len(outcome.lines) != 1 or not outcome.lines[0].startswith(f"{case.command}: "):
            return "not one line by its name"
        if outcome.left:
            return "left behind"
    return None


def run_all(chosen, world, folder, at_the_door):
    """Problems by case, and how often each exit code came."""
    shared, problems, codes = contents(world), [], {}
    for number, case in enumerate(chosen):
        here = folder / str(number) / "here"
        here.mkdir(parents=True)
        for thing in world.iterdir():
            (here / thing.name).symlink_to(thing)
        outcome = invoke(case, here, at_the_door)
        codes[outcome.code] = codes.get(outcome.code, 0) + 1
        if wrong := problem(case, outcome):
            problems.append((wrong, case.command, case.what, number, outcome))
            print(told(problems[-1:]), flush=True)
        if contents(world) != shared:
            problems.append(("changed what it read", case.command, case.what, number, outcome))
            shared = contents(world)
        shutil.rmtree(folder / str(number))
    return problems, codes


def told(problems):
    return "\n".join(
        f"{wrong}: {command}, {what} (case {seed}): {outcome.left[:4]} {outcome.lines[-2:]}"
        for wrong, command, what, seed, outcome in problems
    )


def test_some_bad_invocations_of_every_sort_end_in_one_line(world, tmp_path, at_the_door):
    every = cases()
    problems, _ = run_all(every[:: len(every) // 40], world, tmp_path, at_the_door)
    assert not problems, told(problems)


@pytest.mark.slow
def test_no_bad_invocation_ends_in_a_traceback_a_hang_or_a_file_left_behind(
    world, tmp_path, at_the_door
):
    every, began = cases(), time.monotonic()
    problems, codes = run_all(every, world, tmp_path, at_the_door)
    print(f"\n{len(every)} invocations, seed 12, {time.monotonic() - began:.0f} s: {codes}")
    assert len(every) >= 1000
    assert not problems, told(problems)


def with_input_and_output():
    """Every command that reads a path and writes another."""
    for name, command in commands().items():
        kinds = {positional.path for positional in command.positionals}
        if {"input", "output"} <= kinds:
            yield name


@pytest.mark.parametrize("name", list(with_input_and_output()))
@pytest.mark.parametrize("out", ["here", "here/inside", "."])
def test_an_output_never_is_an_input_whatever_the_command(name, out, tmp_path, monkeypatch, capsys):
    """Nor lies in one, nor holds one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "data.csv").write_text("r,F\n1,1\n")
    program, word = name.split()
    paths = [
        {"input": "here", "output": out}.get(each.path, "x")
        for each in commands()[name].positionals
    ]
    assert MAINS[program].main([word, *paths]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert (tmp_path / "here" / "data.csv").read_text() == "r,F\n1,1\n"
    assert len(list(tmp_path.rglob("*"))) == 2
