"""Tables of options in the documentation, from the dataclasses that declare them.

A line `<!-- options: symreg.experiments.config.RunConfig -->` on a page becomes a table.
"""

import dataclasses
import re
from importlib import import_module

from docstring_parser import parse_from_object

from orbits.options import default_of, hints_of, is_group, leaves

MARK = re.compile(r"<!-- options: ([\w.]+) -->")

KINDS = {int: "whole number", float: "number", str: "text", bool: "yes or no", type(None): "none"}
ENDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
HUGE = 1e6
"""Limits from here on only slips of the finger reach."""


def on_page_markdown(markdown, **_):
    """Called by mkdocs for every page."""
    return MARK.sub(lambda found: table(found[1]), markdown)


def table(path):
    """Every option of a dataclass, by its short and dotted name: its default, and what it is."""
    module, _, name = path.rpartition(".")
    lines = ["| option | default | what it is |", "|---|---|---|"]
    config = getattr(import_module(module), name)
    short = {full: alias for alias, full in getattr(config, "ALIASES", {}).items()}
    for option, default, allowed, help in rows(config):
        if option not in getattr(config, "DECIDED", ()):
            alias = f"`{short[option]}`<br>" if option in short else ""
            lines.append(f"| {alias}`{option}` | {default} | {help} *({allowed})* |")
    return "\n".join(lines)


def rows(config, prefix="", given=None):
    """Dotted name, default, what is allowed and help of every option, groups included."""
    helps = {
        p.arg_name: p.description
        for base in reversed(config.__mro__[:-1])
        for p in parse_from_object(base).params
    }
    for name, hint in hints_of(config).items():
        default = default_of(config, name) if given is None else getattr(given, name)
        if is_group(hint):
            yield from rows(hint, f"{prefix}{name}.", default)
        else:
            text = " ".join((helps.get(name) or "").split())
            yield f"{prefix}{name}", shown(default), cell(allowed(hint)), cell(text)


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
