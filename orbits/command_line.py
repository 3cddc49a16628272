"""One behaviour for every command: options from a dataclass, one clear line for a mistake.

A command is a function and a frozen dataclass. Every field of the dataclass is an option
(`context_length` is `--context-length`; nested dataclasses are dotted), its docstring is the
option's help, and `--config file.yaml` and `--check` come with it. A command returns what it found
or wrote, which is printed here as text or JSON (`--json`); everything else it says goes to standard
error.
"""

import argparse
import errno
import json
import os
import signal
import sys
import textwrap
import types
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import MISSING, dataclass
from types import FrameType
from typing import Any, Literal, NoReturn

from orbits.entry import INTERRUPTED
from orbits.files import as_json, read_yaml, require_output
from orbits.memory import out_of_memory
from orbits.options import (
    OptionError,
    default_of,
    hints_of,
    leaves,
    nearest,
    option_names,
    outputs,
    require_known,
    with_options,
)
from orbits.printing import RED, columns, facts, styled

LONGEST_MESSAGE = 1000
"""Characters in a message, which may quote what was typed."""
GO_ON = "interrupted; what was finished stays. Run the same command to go on."
TOO_LARGE = (
    "there is not enough memory for this; ask for less (fewer orbits or samples, a smaller model, "
    "a shorter context), or take a larger machine."
)
DAMAGED = (
    "a file of the data is damaged: it is not what was written; `orbits validate` lists what is, "
    "and the command that made it makes it again."
)
HELP, ALL_HELP = ("-h", "--help"), "--help-all"
ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run the same command to go on",
    errno.EACCES: "permission denied; choose a place that you may write to",
    errno.EROFS: "that file system is read-only; choose another place",
    errno.ENOENT: "no such file or folder",
    errno.EISDIR: "that is a folder, a file was expected",
    errno.ENOTDIR: "part of that path is a file, a folder was expected",
}


STANDARD_OUTPUT = "-"
"""Instead of a path to write to."""


@dataclass(frozen=True)
class Positional:
    """A positional argument of a command."""

    name: str
    help: str
    path: Literal["input", "output"] | None = None
    """Whether it is a path to read from or to write to."""
    unless: str | None = None
    """An option that replaces it: where that is given, the argument is left out."""
    text: bool = False
    """Whether the output is the result as JSON, so that `-` may mean standard output."""


@dataclass(frozen=True)
class Command:
    """One sub-command: `run(*positionals, config)` and its help.

    `run` returns a dataclass that prints itself, or values by name. If it has a `to_dict`, that
    is for `--json`; if it has an `exit_code`, it is the command's.

    `check`, called like `run`, is for a --check that does more than build the configuration. In the
    class of options, `ALIASES` are short names of nested options, `DECIDED` cannot be given, and
    `RARE` are left out of the short help, as are all other nested options.
    """

    name: str
    run: Callable[..., Any]
    config: type
    help: str
    positionals: tuple[Positional, ...] = ()
    check: Callable[..., None] | None = None
    examples: tuple[str, ...] = ()
    """Command lines without the program's name, for the end of the help."""


def main(program: str, commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the command, and answer mistakes with one line.

    Returns:
        The exit code: 0, the command's own, 2 for a user's mistake, 130 for Ctrl-C or SIGTERM.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = next((c for c in commands if [c.name] == arguments[:1]), None)
    name = f"{program} {command.name}" if command else program
    try:
        with interruptible():
            if command is None:
                return _of_the_program(program, commands, arguments)
            return _of_a_command(program, command, arguments[1:])
    except KeyboardInterrupt:
        return complain(name, GO_ON, INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OptionError as error:
        typed = {full: short for short, full in _aliases(command.config).items()} if command else {}
        return complain(name, f"{_flag(typed.get(error.option, error.option))} {error.problem}")
    except ModuleNotFoundError as error:
        return complain(name, f"the package {error.name!r} is not installed: {error}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = ADVICE.get(error.errno or 0, error.strerror or str(error))
        return complain(name, f"{where}{what}.")
    except (ValueError, MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            return complain(name, TOO_LARGE)
        if isinstance(error, ValueError):
            damaged = str(error).startswith("Stored and computed checksum")  # of zarr's own
            return complain(name, DAMAGED if damaged else str(error))
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C, and the SIGTERM of schedulers and `kill`, into a KeyboardInterrupt.

    The request is remembered: a library interrupted during its import may raise anything. A signal
    that is ignored (a shell's background jobs ignore Ctrl-C) stays so.
    """
    asked = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    earlier: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not in the main thread: nothing to answer there
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                earlier[number] = signal.signal(number, interrupt)
    try:
        yield
    except Exception:
        if asked:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


def complain(name: str, message: str, code: int = 2) -> int:
    """Say in one line what is wrong; returns the exit code."""
    line = " ".join(message.split())
    if len(line) > LONGEST_MESSAGE:
        line = f"{line[: LONGEST_MESSAGE // 2]} ... {line[-LONGEST_MESSAGE // 3 :]}"
    print(f"{styled(f'{name}:', RED, sys.stderr)} {line}", file=sys.stderr)
    return code


def say(text: object) -> None:
    """Print a text at once."""
    print(text, flush=True)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=columns() - 2)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see --help.")


def _of_the_program(program: str, commands: Sequence[Command], arguments: Sequence[str]) -> int:
    """Answers a line without a command: the version, or help (also when nothing is typed)."""
    first, *others = arguments or HELP
    if first == "--version":
        from orbits.version import DISTRIBUTION, __version__

        print(f"{program} {__version__} ({DISTRIBUTION})")
    elif first == "--completion":
        import shtab

        shell = require_known("shell", others[0] if others else "", shtab.SUPPORTED_SHELLS)
        print(shtab.complete(_program_parser(program, commands, whole=True), shell))
    elif set(HELP) & set(arguments or HELP):
        _program_parser(program, commands).print_help()
    else:
        require_known("command", first, [c.name for c in commands])
    return 0


def _program_parser(program: str, commands: Sequence[Command], whole: bool = False) -> _Parser:
    """The parser of a program; `whole`, with the options of its commands, for a shell."""
    epilog = (
        f"the options and examples of a command:\n  {program} COMMAND --help\n"
        f"the version:\n  {program} --version\n"
        "completion in the shell (bash, zsh, tcsh, fish):\n"
        f'  eval "$({program} --completion bash)"'
    )
    parser = _Parser(
        prog=program, usage=f"{program} COMMAND [options]", epilog=epilog,
        formatter_class=_Formatter,
    )  # fmt: skip
    below = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in commands:
        own = below.add_parser(command.name, help=command.help, add_help=False)
        if whole:
            _fill(own, command, everything=True)
    return parser


def _of_a_command(program: str, command: Command, arguments: list[str]) -> int:
    warnings.filterwarnings("ignore", category=UserWarning, module="zarr")
    epilog = "\n".join(
        [f"example{'s' * (len(command.examples) > 1)}:"]
        + [f"  {program} {example}" for example in command.examples]
    )
    typed = [each.name.upper() for each in command.positionals]
    parser = _Parser(
        prog=f"{program} {command.name}", add_help=False, allow_abbrev=False,
        usage=" ".join([program, command.name, *typed, "[options]"]),
        description=textwrap.fill(command.help, columns() - 2),
        epilog=epilog if command.examples else None,
        formatter_class=_Formatter,
    )  # fmt: skip
    wanted = [word for word in arguments if word in (*HELP, ALL_HELP)]
    if wanted:
        _fill(parser, command, everything=ALL_HELP in wanted)
        parser.print_help()
        return 0
    flags = [word.partition("=")[0] for word in arguments if word.startswith("--")]
    replaced = [p.name for p in command.positionals if p.unless and _flag(p.unless) in flags]
    _fill(parser, command, described=False, replaced=replaced)
    _require_known_flags(command, flags, parser)
    found = vars(parser.parse_args(arguments))
    config = _config(command.config, found.pop("--config", None), found)
    positionals = [found.get(f" {p.name}") for p in command.positionals]
    _require_paths(command, positionals, config)
    if found.get("--check"):
        if command.check:
            command.check(*positionals, config)
        return 0
    return _show(
        lambda: command.run(*positionals, config),
        in_json="--json" in found or STANDARD_OUTPUT in positionals,
        quiet="--quiet" in found,
    )


def _show(find: Callable[[], Any], in_json: bool, quiet: bool) -> int:
    """Print what a command finds, and nothing else, to the standard output; its exit code."""
    with ExitStack() as stack:
        progress = stack.enter_context(open(os.devnull, "w")) if quiet else sys.stderr
        stack.enter_context(redirect_stdout(progress))
        stack.enter_context(redirect_stderr(progress))
        found = find()
    if in_json:
        told = found.to_dict() if hasattr(found, "to_dict") else found
        print(json.dumps(as_json(told, nan="null"), indent=2))
    elif not quiet:
        print(facts(found) if isinstance(found, Mapping) else found)
    return getattr(found, "exit_code", 0)


def _fill(
    parser: argparse.ArgumentParser,
    command: Command,
    everything: bool = False,
    described: bool = True,
    replaced: Sequence[str] = (),
) -> None:
    """Give a parser the positional arguments and the options of a command.

    Args:
        parser: receives them.
        command: which owns them.
        everything: show the help of nested and rare options too.
        described: whether docstrings are needed at all; that means reading the source.
        replaced: positional arguments that are left out.
    """
    quiet: dict[str, Any] = {"default": argparse.SUPPRESS}
    for each in command.positionals:
        if each.name not in replaced:
            parser.add_argument(f" {each.name}", metavar=each.name, help=each.help)
    parser.add_argument(*HELP, dest="--help", action="store_true", help="This page.", **quiet)
    parser.add_argument(
        ALL_HELP, dest=ALL_HELP, action="store_true", help="All options, rare ones too.", **quiet
    )
    parser.add_argument(
        "--config", dest="--config", metavar="FILE", help="YAML file with any options.", **quiet
    )
    parser.add_argument(
        "--check", dest="--check", action="store_true", help="Only check the options.", **quiet
    )
    parser.add_argument(
        "--json", dest="--json", action="store_true", help="Print the result as JSON.", **quiet
    )
    parser.add_argument(
        "--quiet", dest="--quiet", action="store_true",
        help="Print no progress, and no result but with --json.", **quiet,
    )  # fmt: skip
    config = command.config
    short = {full: alias for alias, full in _aliases(config).items()}
    titles: dict[str, Any] = {"": parser}
    docs: dict[type, Mapping[str, str]] = {}
    for name in _givable(config):
        group, own, hint, default, kind = _found(config, name)
        rare = short.get(name, name) in getattr(config, "RARE", ())
        usual = not rare and (name in short or not group)
        if described and kind not in docs:
            docs[kind] = _docs(kind)
        told = docs[kind].get(own, "") if described else ""
        if default not in (MISSING, None, "", ()):
            shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
            told += f" (default: {shown})"
        settings: dict[str, Any] = {"dest": name, **quiet}
        settings["help"] = told.replace("%", "%%") if usual or everything else argparse.SUPPRESS
        if set(leaves(hint)) == {bool}:
            settings["action"] = argparse.BooleanOptionalAction
        else:
            settings.update(type=_reader(hint), metavar=_metavar(hint))
            if _is_list(hint):
                settings.update(nargs="*", action="extend")
        if group not in titles and everything:
            title = (kind.__doc__ or group).strip().splitlines()[0].rstrip(".")
            titles[group] = parser.add_argument_group(f"{group}: {title}")
        flags = [_flag(short[name])] if name in short else []
        titles.get(group, parser).add_argument(*flags, _flag(name), **settings)


def _givable(config: type) -> list[str]:
    return [name for name in option_names(config) if name not in getattr(config, "DECIDED", ())]


def _found(config: type, name: str) -> tuple[str, str, Any, Any, type]:
    """Group, own name, annotation, default and class of an option, by its dotted name."""
    group, _, own = name.rpartition(".")
    default: Any = MISSING
    for part in name.split("."):
        kind = config
        hint = hints_of(config)[part]
        default = default_of(config, part) if default is MISSING else getattr(default, part)
        config = hint
    return group, own, hint, default, kind


def _docs(config: type) -> Mapping[str, str]:
    """The fields' docstrings, by name."""
    from docstring_parser import parse_from_object

    bases = [base for base in reversed(config.__mro__[:-1]) if base.__module__ != __name__]
    return {
        each.arg_name: " ".join((each.description or "").split())
        for base in bases
        for each in parse_from_object(base).params
    }


def _is_list(hint: Any) -> bool:
    """Whether an option takes several words."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(_is_list, typing.get_args(hint)))
    return typing.get_origin(hint) is tuple


def _metavar(hint: Any) -> str:
    known = [str(leaf) for leaf in leaves(hint) if isinstance(leaf, (str, int))]
    if known:
        return f"{{{','.join(known)}}}"
    names = {int: "INT", float: "FLOAT", str: "TEXT"}
    return next((names[leaf] for leaf in leaves(hint) if leaf in names), "VALUE")


def _reader(hint: Any) -> Callable[[str], Any]:
    """Reads a word as a number where numbers are allowed; the options themselves check it."""
    parts = list(leaves(hint))
    numeric = any(part in (int, float) or type(part) is int for part in parts)

    def read(word: str) -> Any:
        if word == "null" and type(None) in parts:
            return None
        for kind in (int, float) if numeric else ():
            with suppress(ValueError):
                return kind(word)
        return word

    return read


def _require_known_flags(command: Command, flags: Sequence[str], parser: Any) -> None:
    for flag in flags:
        if flag in parser._option_string_actions or flag == "--":
            continue
        own = flag.removeprefix("--").replace("-", "_")
        if own in getattr(command.config, "DECIDED", ()):
            raise ValueError(f"{flag} cannot be given: {command.name} decides it by itself.")
        near = nearest(flag, [word for word in parser._option_string_actions], cutoff=0.6)
        hint = f"did you mean {near}?" if near else "see --help."
        raise ValueError(f"{flag} is no option of {command.name}; {hint}")


def _config(kind: type, path: str | None, found: Mapping[str, Any]) -> Any:
    """Options from a file and the command line, which wins."""
    values: dict[str, Any] = {}
    if path is not None:
        held = read_yaml(path)
        if not isinstance(held, Mapping | None):
            raise ValueError(f"{path} holds no options; a line of it reads `name: value`.")
        values = dict(held or {})
    typed = {name: value for name, value in found.items() if name[0] not in "- "}
    required = [name for name in hints_of(kind) if default_of(kind, name) is MISSING]
    for name in required:
        if name not in typed and name not in values:
            raise OptionError(name, "is needed; see --help.")
    given = {name: typed.pop(name, values.pop(name, None)) for name in required}
    return with_options(with_options(kind(**given), values), typed)


def _require_paths(command: Command, positionals: Sequence[Any], config: Any) -> None:
    """Refuse empty paths, which would mean the current folder, and unusable outputs."""
    for positional, given in zip(command.positionals, positionals, strict=True):
        if positional.path is None or given is None:
            continue
        if not given:
            raise ValueError(f"{positional.name} is empty; a path is needed.")
        if positional.path == "output" and given == STANDARD_OUTPUT:
            if not positional.text:
                raise ValueError(
                    f"{positional.name} is -, standard output, which takes text alone; name a path."
                )
        elif positional.path == "output":
            require_output(given)
    for option, path in outputs(config):
        if not path:
            raise OptionError(option, "is empty; a path is needed.")
        require_output(path)


def _flag(name: str) -> str:
    """An option's dotted name as on the command line."""
    return f"--{name.replace('_', '-')}"


def _aliases(config: type) -> Mapping[str, str]:
    return getattr(config, "ALIASES", {})
