"""What the programs tell of themselves: help, version, completion; every example is understood."""

import inspect
import re
import shlex
import subprocess
import sys
from importlib import import_module

import pytest

from orbits.forces import LAWS

PROGRAMS = ("orbits", "worldmodel", "symreg")
EXAMPLES = [
    (program, shlex.split(example))
    for program in PROGRAMS
    for command in import_module(f"{program}.cli").COMMANDS
    for example in command.examples
]
MINE = """
class Still:
    context_length = 2

    @staticmethod
    def predict(positions):
        return positions


def make(seed):
    return Still()
"""


def run(program, *words):
    return import_module(f"{program}.cli").main(list(words))


def help_of(program, name, capsys):
    assert run(program, name, "--help") == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_alone_shows_its_help(program, capsys):
    assert run(program) == 0
    alone = capsys.readouterr()
    assert run(program, "--help") == 0
    assert alone.out == capsys.readouterr().out
    assert alone.err == ""
    for command in import_module(f"{program}.cli").COMMANDS:
        assert re.search(rf"^    {command.name}\s", alone.out, re.M)
    for word in ("--version", "--completion", "--help"):
        assert word in alone.out


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_its_version(program, capsys):
    assert run(program, "--version") == 0
    assert capsys.readouterr().out == f"{program} {import_module(program).__version__} (orbitlaw)\n"


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_shell_completes_commands_and_options(program, capsys, tmp_path):
    assert run(program, "--completion", "bash") == 0
    path = tmp_path / "completion.bash"
    path.write_text(capsys.readouterr().out)
    name = import_module(f"{program}.cli").COMMANDS[0].name
    for typed, whole in ([name[:2]], name), ([name, "--conf"], "--config"):
        words = shlex.join([program, *typed])
        typing = (
            f"source {shlex.quote(str(path))}; COMP_WORDS=({words}); COMP_CWORD={len(typed)}; "
            f"_shtab_{program}; echo ${{COMPREPLY[@]}}"
        )
        done = subprocess.run(["bash", "-c", typing], capture_output=True, text=True, check=True)
        assert whole in done.stdout.split()


@pytest.mark.parametrize(("program", "words"), EXAMPLES, ids=str)
def test_an_example_of_a_help_page_is_understood(
    program, words, at_the_door, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "mine.yaml").write_text("name: mine\nquestion: is it?\ngrid: {seed: [0, 1]}\n")
    assert at_the_door(program, words) == 0, capsys.readouterr().err


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_shows_at_most_forty_options(program, capsys):
    for command in import_module(f"{program}.cli").COMMANDS:
        shown = re.findall(r"^  (-[\w-]+)", help_of(program, command.name, capsys), re.M)
        own = set(shown) - {"-h", "--help-all", "--config", "--json", "--quiet"}
        assert len(own) <= 40, command.name


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_version_load_no_library_that_computes(program):
    heavy = {"torch", "scipy", "sympy", "pandas", "pyarrow", "matplotlib", "heyoka", "sklearn"}
    for word in ("--help", "--version"):
        told = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", program, word],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
        assert {program, "orbits.command_line"} <= loaded
        assert {name.partition(".")[0] for name in loaded} & heavy == set()


def test_every_command_has_an_example():
    shown = {(program, words[0]) for program, words in EXAMPLES}
    for program in PROGRAMS:
        for command in import_module(f"{program}.cli").COMMANDS:
            assert (program, command.name) in shown


@pytest.mark.parametrize(("program", "name"), [("orbits", "generate"), ("symreg", "run")])
def test_every_law_is_listed(program, name, capsys):
    page = help_of(program, name, capsys)
    assert [law for law in LAWS if law not in page] == []


def callables():
    """Public functions, classes and methods, by name."""
    for package in PROGRAMS:
        for name in import_module(package).__all__:
            public = getattr(import_module(package), name)
            members = vars(public).items() if inspect.isclass(public) else ()
            own = [(f"{name}.{key}", each) for key, each in members if key[0] != "_"]
            yield from ((where, each) for where, each in [(name, public), *own] if callable(each))


def test_help_says_types_by_a_name_and_not_by_what_it_stands_for():
    told = {}
    for name, public in callables():
        parameters = inspect.signature(public).parameters.values()
        told |= {f"{name}, {p.name}": inspect.formatannotation(p.annotation) for p in parameters}
    assert told["LawRegressor.fit, sigma"] == "'ArrayLike | None'"
    assert told["run, context_length"] == "int"
    assert [name for name, text in told.items() if "._typing" in text or len(text) > 130] == []
