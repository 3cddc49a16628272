"""What a program tells of itself: help, version, completion of a shell, text for a terminal."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from orbits.command.near_misses import require_known

DISTRIBUTION = "principia"
HELP = ("-h", "--help")
VERSION = "--version"
COMPLETION = "--completion"
NARROWEST, WIDEST = 40, 100
"""Columns: text is wrapped to the terminal, between these."""


def version_line(program: str) -> str:
    """`orbits 0.1.0 (principia)`; of a source tree that is not installed, `unknown`."""
    try:
        number = version(DISTRIBUTION)
    except PackageNotFoundError:
        number = "unknown"
    return f"{program} {number} ({DISTRIBUTION})"


def closing(program: str, examples: Sequence[str]) -> str | None:
    """The end of a help page: the examples, one a line, as they are typed."""
    lines = [f"  {program} {example}" for example in examples]
    return "\n".join([f"example{'s' if len(lines) > 1 else ''}:", *lines]) if lines else None


def program_closing(program: str) -> str:
    """The end of a program's own help page."""
    return (
        "the options and examples of a command:\n"
        f"  {program} COMMAND --help\n"
        "the version:\n"
        f"  {program} {VERSION}\n"
        "completion in the shell (bash, zsh, tcsh, fish):\n"
        f'  eval "$({program} {COMPLETION} bash)"'
    )


def completion(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """The script with which a shell completes commands, options and files.

    Args:
        parser: of the whole program.
        words: what followed `--completion`: the shell.

    Raises:
        ValueError: if the shell is none that is known.
    """
    import shtab

    shell = require_known("shell", words[0] if words else "", shtab.SUPPORTED_SHELLS)
    return shtab.complete(parser, shell)


def say(text: object, width: int | None = None) -> None:
    """Print a text; on a terminal its long sentences are wrapped, and tables stay as they are.

    Args:
        text: whose `str` is printed.
        width: columns; by default those of the terminal, and none where the output is a file.
    """
    if width is None and sys.stdout.isatty():
        width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
    print(str(text) if width is None else wrapped(str(text), width), flush=True)


def wrapped(text: str, width: int) -> str:
    """The text with no sentence wider than so many columns.

    A line with wide gaps inside is a row of a table, and is left as it is.
    """
    return "\n".join(
        line
        if len(line) <= width or "   " in line.strip()
        else textwrap.fill(
            line, width, subsequent_indent=_indent(line), break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )  # fmt: skip


def _indent(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()))
