"""One behaviour for every command: options from a dataclass, one clear line for a mistake.

A command is a function and a frozen dataclass. Every field of the dataclass is an option
(`context_length` is `--context-length`), its docstring is the option's help, and
`--config file.yaml` comes with it. A command returns what it found or wrote, which is printed here
as text or JSON (`--json`); everything else it says goes to standard error.
"""

import argparse
import json
import os
import re
import signal
import sys
import textwrap
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

from orbits.entry import INTERRUPTED
from orbits.files import as_json, read_yaml, require_ending, require_output
from orbits.memory import out_of_memory
from orbits.options import (
    Option,
    OptionError,
    Options,
    Output,
    every_option,
    flag_of,
    gone,
    leaves,
    nearest,
    require_known,
    with_options,
)
from orbits.printing import RED, columns, facts, plain, shortened, styled

HELP, ALL_HELP = ("-h", "--help"), "--help-all"
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
    ending: str = ""
    """Of the file that is written: a name with the ending of another format is refused."""
    text: bool = False
    """Whether the output is the result as JSON, so that `-` may mean standard output."""


@dataclass(frozen=True)
class Command:
    """One sub-command: `run(*positionals, config)` and its help.

    `run` returns a dataclass that prints itself, or values by name. If it has a `to_dict`, that
    is for `--json`; if it has an `exit_code`, it is the command's. The short help leaves out
    rare options.
    """

    name: str
    run: Callable[..., Any]
    config: type[Options]
    help: str
    positionals: tuple[Positional, ...] = ()
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
    except Told:
        return 0
    except KeyboardInterrupt:
        return complain(
            name,
            "interrupted; what was finished stays. Run the same command to go on.",
            INTERRUPTED,
        )
    except SystemExit as error:
        return complain(name, f"a model's own code ended the program: sys.exit({error.code!r}).")
    except BrokenPipeError:  # the reader of the result, or of the help, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OptionError as error:
        return complain(name, f"{flag_of(error.option)} {error.problem}")
    except ImportError as error:
        what = "a package cannot be loaded"
        if isinstance(error, ModuleNotFoundError):
            what = f"the package {error.name!r} is not installed"
        return complain(name, f"{what}: {error}")
    except OSError as error:
        # a path may be no path
        where = f"{shortened(str(error.filename), 120)}: " if error.filename else ""
        try:
            os.getcwd()
        except OSError:
            return complain(name, "the working folder was removed; change to another.")
        return complain(name, f"{where}{error.strerror or error}.")
    except (ValueError, MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            return complain(
                name,
                "there is not enough memory for this; ask for less (fewer orbits or samples, a "
                "smaller model, a shorter context), or take a larger machine.",
            )
        if str(error).startswith("Stored and computed checksum"):  # of zarr's own
            return complain(
                name,
                "a file of the data is damaged: it is not what was written; `orbits validate` "
                "lists what is, and the command that made it makes it again.",
            )
        if isinstance(error, ValueError):
            return complain(name, str(error))
        if "start new thread" in str(error):  # Python's own words for `ulimit -u`
            return complain(name, "the system allows no further thread or process; end others.")
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C, and the SIGTERM of schedulers and `kill`, into a KeyboardInterrupt.

    The request is remembered: a library interrupted during its import may raise anything. A signal
    that is ignored (a shell's background jobs ignore Ctrl-C) stays so.
    """
    signals = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    earlier: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not in the main thread: nothing to answer there
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                earlier[number] = signal.signal(number, interrupt)
    try:
        yield
    except Exception:
        if signals:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


def complain(name: str, message: str, code: int = 2) -> int:
    """Say in one line what is wrong; returns the exit code."""
    line = plain(shortened(message, 1000))  # a message may quote what was typed
    with suppress(OSError):  # of a full disk, or of a reader who is gone: the code says it
        print(f"{styled(f'{name}:', RED, sys.stderr)} {line}", file=sys.stderr, flush=True)
    return code


def say(text: object) -> None:
    """Print a text at once."""
    print(plain(str(text)), flush=True)


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28, width=columns() - 2)


class Told(Exception):  # noqa: N818 - it is no error
    """Help, or the version, was printed: there is nothing else to do."""


class _Parser(argparse.ArgumentParser):
    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Told

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see --help.")


def _of_the_program(program: str, commands: Sequence[Command], arguments: Sequence[str]) -> int:
    """Answer a line without a command: the version, or help (also when nothing is typed)."""
    import shtab

    from orbits.version import DISTRIBUTION, __version__

    if arguments and (arguments[0] == "--" or not arguments[0].startswith("-")):
        require_known("command", arguments[0], [command.name for command in commands])
    parser = _Parser(
        prog=program, usage=f"{program} COMMAND [options]",
        epilog=f"the options and examples of a command:\n  {program} COMMAND --help\n"
        f'completion in the shell:\n  eval "$({program} --completion bash)"',
        formatter_class=_formatter,
    )  # fmt: skip
    version = f"{program} {__version__} ({DISTRIBUTION})"
    parser.add_argument("--version", action="version", version=version, help="The version.")
    shtab.add_argument_to(parser, "--completion", help="A script that completes what is typed.")
    below = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in commands:
        own = below.add_parser(command.name, help=command.help, add_help=False)
        if "--completion" in arguments:
            _fill(own, command, shown=ALL_HELP)
    parser.parse_args(arguments or HELP)
    return 0


def _of_a_command(program: str, command: Command, arguments: list[str]) -> int:
    warnings.filterwarnings("ignore", category=UserWarning, module="zarr")
    examples = "".join(f"\n  {program} {example}" for example in command.examples)
    typed = [each.name.upper() for each in command.positionals]
    parser = _Parser(
        prog=f"{program} {command.name}", add_help=False, allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        usage=" ".join([program, command.name, *typed, "[options]"]),
        description=textwrap.fill(command.help, columns() - 2),
        epilog=f"for example:{examples}", formatter_class=_formatter,
    )  # fmt: skip
    flags = {word.partition("=")[0] for word in arguments}
    _fill(
        parser, command,
        shown=next((flag for flag in (ALL_HELP, *HELP) if flag in flags), None),
        replaced=[p.name for p in command.positionals if p.unless and f"--{p.unless}" in flags],
    )  # fmt: skip
    options, unknown = parser.parse_known_args(arguments)
    for word in unknown:
        if "--" in arguments and word.startswith("-"):
            raise ValueError(f"{word} stands behind --, where options are none; put it before.")
        flag = word.partition("=")[0]
        if (name := flag.lstrip("-").replace("-", "_")) in command.config.GONE:
            raise ValueError(f"{flag} {gone(command.config, name)}")
        near = nearest(flag, parser._option_string_actions)
        hint = f"did you mean {near}?" if near else "see --help."
        raise ValueError(f"{word} is no option of {command.name}; {hint}")
    values = vars(options)
    typed_in = {name: value for name, value in values.items() if name[0] not in "- "}
    config = with_options(_from_file(command.config, values.get("--config")), typed_in)
    positionals = [values.get(f" {p.name}") for p in command.positionals]
    _require_paths(command, positionals, config)
    return _show(
        lambda: command.run(*positionals, config),
        in_json="--json" in values or STANDARD_OUTPUT in positionals,
        quiet="--quiet" in values,
    )


def _show(find: Callable[[], Any], in_json: bool, quiet: bool) -> int:
    """Print what a command finds, and nothing else, to the standard output; its exit code."""
    with ExitStack() as stack:
        silence = stack.enter_context(open(os.devnull, "w"))
        progress: Any = silence if quiet else _Progress(sys.stderr or silence, silence)
        stack.enter_context(redirect_stdout(progress))
        stack.enter_context(redirect_stderr(progress))
        try:
            result = find()
        except BrokenPipeError as error:  # none of ours: what we say goes through `_Progress`
            raise ValueError(f"a pipe was closed in mid-work ({error}); run it again.") from None
    text = facts(result) if isinstance(result, Mapping) else result
    if in_json:
        content = result.to_dict() if hasattr(result, "to_dict") else result
        text = json.dumps(as_json(content, nan="null"), indent=2)
    if in_json or not quiet:
        try:
            say(text)
        except OSError as error:
            error.filename = "standard output"
            raise
    return getattr(result, "exit_code", 0)


OF_BARS = r"(\r|\t|\x1b\[[0-9;]*[mAK])"
"""Carriage return, tabulator; colours, one line up, the line erased (ECMA-48)."""


class _Progress:
    """A stream whose reader may go away, or whose disk be full: the work goes on, in silence."""

    def __init__(self, stream: Any, silence: Any) -> None:
        self._stream, self._silence = stream, silence

    def write(self, text: str) -> int:
        """A model's own code prints here too: of its codes for the terminal, those of bars and
        colours alone pass."""
        shown = "".join(p if k % 2 else plain(p) for k, p in enumerate(re.split(OF_BARS, text)))
        self._while_read(lambda: self._stream.write(shown))
        return len(text)

    def flush(self) -> None:
        self._while_read(lambda: self._stream.flush())

    def _while_read(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except OSError:
            self._stream = self._silence
            return call()

    def close(self) -> None:
        """A model's code may close what it takes for the standard output: it stays open."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _fill(
    parser: argparse.ArgumentParser,
    command: Command,
    shown: str | None,
    replaced: Sequence[str] = (),
) -> None:
    """Give a parser the options of a command, and its positional arguments that none replaces.

    `shown` is the help that is asked for: `--help-all` has nested and rare options too; where it is
    None, docstrings are not needed, and no source is read.
    """
    for each in command.positionals:
        if each.name not in replaced:
            parser.add_argument(f" {each.name}", metavar=each.name, help=each.help)
    parser.add_argument(*HELP, action="help", help="This page.")
    parser.add_argument(ALL_HELP, action="help", help="All options, rare ones too.")
    words = "YAML file with any options."
    parser.add_argument("--config", dest="--config", metavar="FILE", help=words)
    for flag, words in (
        ("--json", "Print the result as JSON."),
        ("--quiet", "Print no progress, and no result but with --json."),
    ):
        parser.add_argument(flag, dest=flag, action="store_true", help=words)
    groups: dict[type, Any] = {}
    for option in every_option(command.config):
        _add(parser, option, shown, option.name in command.config.RARE, groups)


def _add(
    parser: argparse.ArgumentParser, option: Option, shown: str | None, rare: bool,
    groups: dict[type, Any],
) -> None:  # fmt: skip
    """Give a parser an option; in the help, below the title of the class that declares it."""
    listed = shown == ALL_HELP or (shown is not None and not rare)
    if listed and option.kind not in groups:
        title = (option.kind.__doc__ or "").strip().splitlines()[0].rstrip(".")
        groups[option.kind] = parser.add_argument_group(title)
    groups.get(option.kind, parser).add_argument(
        flag_of(option.name), dest=option.name, default=argparse.SUPPRESS,
        help=_help(option) if listed else argparse.SUPPRESS, **_reading(option.hint),
    )  # fmt: skip


def _help(option: Option) -> str:
    text = _docs(option.kind).get(option.name, "")
    if option.default not in (None, "", ()):
        listed = isinstance(option.default, tuple)
        text += f" (default: {' '.join(map(str, option.default)) if listed else option.default})"
    return text.replace("%", "%%")


@cache
def _docs(config: type) -> Mapping[str, str]:
    """The fields' docstrings, by name."""
    from docstring_parser import parse_from_object

    return {
        each.arg_name: " ".join((each.description or "").split())
        for base in reversed(config.__mro__[:-1])
        for each in parse_from_object(base).params
    }


def _reading(hint: Any) -> dict[str, Any]:
    """How argparse reads an option: words as numbers where those are allowed, unchecked as yet."""
    parts = list(leaves(hint))
    if set(parts) == {bool}:
        return {"action": argparse.BooleanOptionalAction}
    numeric = any(part in (int, float) or type(part) is int for part in parts)

    def read(word: str) -> Any:
        if word == "null" and type(None) in parts:
            return None
        for kind in (int, float) if numeric else ():
            with suppress(ValueError):
                return kind(word)
        return word

    names = {int: "INT", float: "FLOAT", str: "TEXT"}
    choices = ",".join(str(part) for part in parts if isinstance(part, (str, int)))
    shown = next((names[part] for part in parts if part in names), "VALUE")
    settings = {"type": read, "metavar": f"{{{choices}}}" if choices else shown}
    if any(typing.get_origin(part) is tuple for part in (hint, *typing.get_args(hint))):
        settings |= {"nargs": "*", "action": "extend"}
    return settings


def _from_file(kind: type[Options], path: str | None) -> Options:
    content = None if path is None else read_yaml(path)
    if not isinstance(content, Mapping | None):
        raise ValueError(f"{path} holds no options; a line of it reads `name: value`.")
    return kind.of(content or {})


def _require_paths(command: Command, positionals: Sequence[Any], config: Any) -> None:
    """Refuse empty paths, which would mean the current folder, and unusable outputs: one that is an
    input, or lies in one, would destroy it."""
    paths = [pair for pair in zip(command.positionals, positionals, strict=True) if pair[1]]
    for positional, path in zip(command.positionals, positionals, strict=True):
        if positional.path is not None and path == "":
            raise ValueError(f"{positional.name} is empty; a path is needed.")
    files = [pair for pair in paths if pair[0].path == "output" and pair[1] != STANDARD_OUTPUT]
    outputs = [(positional.name, path) for positional, path in files]
    replaced = [name for name, _ in outputs]  # whole; a folder of an option is added to
    for positional, path in paths:
        if positional.path == "output" and path == STANDARD_OUTPUT and not positional.text:
            raise ValueError(
                f"{positional.name} is -, standard output, which takes text alone; name a path."
            )
    for option in every_option(type(config), config):
        if option.default is None or not any(isinstance(x, Output) for x in leaves(option.hint)):
            continue
        if not option.default:
            raise OptionError(option.name, "is empty; a path is needed.")
        outputs.append((option.name, option.default))
    inputs = [(p.name, Path(os.path.realpath(path))) for p, path in paths if p.path == "input"]
    for name, path in outputs:
        place = Path(os.path.realpath(require_output(path)))
        for source, read in inputs:
            inside = read in place.parents or (name in replaced and place in read.parents)
            if place == read or inside:
                raise ValueError(f"{name} {path} would overwrite {source}; give another path.")
    for positional, path in files:
        if positional.ending:
            require_ending(path, positional.ending)
