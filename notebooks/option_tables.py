"""Tables of options in the documentation, from the dataclasses that declare them.

A line `<!-- options: symreg.experiments.config.RunConfig -->` on a page becomes a table.
"""

import dataclasses
import re
from importlib import import_module

from docstring_parser import parse_from_object

from orbits.options import every_option, leaves
from worldmodel.probes.readouts import READOUTS

MARK = re.compile(r"<!-- options: ([\w.]+) -->")
READOUTS_MARK = "<!-- options of probes -->"

KINDS = {int: "whole number", float: "number", str: "text", bool: "yes or no", type(None): "none"}
ENDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
HUGE = 1e6
"""Limits from here on only slips of the finger reach."""


def on_page_markdown(markdown, **_):
    """Called by mkdocs for every page."""
    return MARK.sub(lambda found: table(found[1]), markdown).replace(READOUTS_MARK, read_outs())


def read_outs():
    """A table for every read-out with options."""
    parts = [
        f"`{name}`: {readout.what}\n\n{table(f'{readout.__module__}.{readout.__name__}')}"
        for name, readout in READOUTS.items()
        if dataclasses.fields(readout)
    ]
    return "\n\n".join(parts)


def table(path):
    """Every option of a dataclass: its default, and what it is."""
    module, _, name = path.rpartition(".")
    lines = ["| option | default | what it is |", "|---|---|---|"]
    config = getattr(import_module(module), name)
    for option in every_option(config):
        told = f"{help_of(option)} *({cell(allowed(option.hint))})*"
        lines.append(f"| `{option.name}` | {shown(option.default)} | {told} |")
    return "\n".join(lines)


def help_of(option):
    """Its docstring, as a cell."""
    own = option.name.rpartition(".")[2]
    helps = [
        each.description or ""
        for base in option.kind.__mro__[:-1]
        for each in parse_from_object(base).params
        if each.arg_name == own
    ]
    return cell(" ".join(helps[0].split()))


def allowed(hint):
    """What an annotation allows."""
    found = []
    for leaf in leaves(hint):
        if isinstance(leaf, (str, int)):
            found.append(str(leaf) or "none")
        elif leaf in KINDS:
            found.append(KINDS[leaf])
        else:
            ends = {sign: getattr(leaf, end, None) for end, sign in ENDS.items()}
            limits = [f"{sign} {n:g}" for sign, n in ends.items() if n is not None and n < HUGE]
            found[-1:] = [" ".join([*found[-1:], " and ".join(limits)]).strip()]
    return " or ".join(dict.fromkeys(found))


def shown(default):
    """A default as it is typed."""
    if default is dataclasses.MISSING:
        return "needed"
    if default is None or default in ("", ()):
        return "none"
    text = " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    return f"`{text}`".replace("|", "\\|")


def cell(text):
    """A text inside a table: what Markdown would take for its own is escaped, but in code."""
    plain_and_code = re.split(r"(`[^`]*`)", text.rstrip(","))
    plain_and_code[::2] = [
        re.sub(r"([*_\[\]])", r"\\\1", plain).replace("<", "&lt;") for plain in plain_and_code[::2]
    ]
    return "".join(plain_and_code).replace("|", "\\|")
