"""Every command that the README shows is one that the programs understand."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
PROGRAMS = ("orbits", "worldmodel", "symreg")


def commands():
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`((?:symreg|orbits|worldmodel) [a-z]+ [^`]+)`", text)
    words = [shlex.split(line, comments=True) for line in [*lines, *inline]]
    words = [part[part.index("symreg") :] if "symreg" in part else part for part in words]
    return [part for part in words if part and part[0] in PROGRAMS and len(part) > 1]


def test_the_readme_shows_every_program():
    shown = {part[0] for part in commands()}
    assert shown == set(PROGRAMS)
    assert len(commands()) >= 15


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_of_the_readme_is_understood(words, capsys):
    program, *arguments = words
    if arguments[-1] in ("--help", "-h"):
        arguments = arguments[:-1]
    assert import_module(f"{program}.cli").main([*arguments, "--check"]) == 0, capsys.readouterr()
