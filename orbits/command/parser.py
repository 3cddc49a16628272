"""One behaviour for every command: options from a dataclass, one clear line for a mistake.

A command is a function and a frozen dataclass. Every field of the dataclass is an option
(`context_length` is `--context-length`; nested dataclasses are dotted), its docstring is the
option's help, and `--config file.yaml` and `--print_config` come with it.
"""

import dataclasses
import difflib
import errno
import os
import re
import signal
import sys
import typing
import warnings
from argparse import ArgumentError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import jsonargparse
from docstring_parser import parse_from_object

from orbits.command.near_misses import require_known


@dataclasses.dataclass(frozen=True)
class Positional:
    """A positional argument of a command."""

    name: str
    help: str
    nargs: str | None = None


@dataclasses.dataclass(frozen=True)
class Command:
    """One sub-command: `run(*positionals, config)` and what the help says of it.

    `check`, called as `run` is, does more for --check than making the configuration.
    """

    name: str
    run: Callable[..., int | None]
    config: type
    help: str
    positionals: tuple[Positional, ...] = ()
    check: Callable[..., int | None] | None = None


@contextmanager
def terminated_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM, which schedulers and `kill` send, like Ctrl-C: keep what is finished."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        earlier = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: nothing to catch there
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def main(program: str, commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the command, and answer mistakes with one line.

    Returns:
        The exit code: 0, the command's own, 2 for a user's mistake, 130 for Ctrl-C or SIGTERM.
    """
    warnings.filterwarnings("ignore", category=UserWarning, module="zarr")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = next((c for c in commands if [c.name] == arguments[:1]), None)
    name = f"{program} {command.name}" if command else program
    try:
        if command is None and not {"-h", "--help"} & set(arguments):
            known = [c.name for c in commands]
            require_known("command", arguments[0] if arguments else "", known)
        parsed = _parser(program, commands).parse_args(arguments)
        if command is None:
            return 0
        options = parsed[command.name]
        config = _instance(command.config, options)
        positionals = [getattr(options, p.name) for p in command.positionals]
        if options.check:
            return (command.check(*positionals, config) or 0) if command.check else 0
        with terminated_as_interrupt():
            return command.run(*positionals, config) or 0
    except KeyboardInterrupt:
        return _complain(
            name, "interrupted; what was finished stays. Run the same command to go on.", 130
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ArgumentError as error:
        return _complain(name, _explain(str(error), command), 2)
    except ValueError as error:
        return _complain(name, str(error), 2)
    except ModuleNotFoundError as error:
        return _complain(name, f"the package {error.name!r} is not installed: {error}", 2)
    except OSError as error:
        return _complain(name, _describe(error), 2)


def _complain(name: str, message: str, code: int) -> int:
    print(f"{name}: {' '.join(message.split())}", file=sys.stderr)
    return code


def _explain(message: str, command: Command | None) -> str:
    """The parser's message in the words of the command line, with the near miss named."""
    message = re.sub(r"<class '(\w+)'>", r"\1", message).replace("typing.Literal", "one of ")
    message = re.sub(r'Parser key "([\w.]+)":', lambda m: f"--{m[1].replace('_', '-')}:", message)
    message = message.replace("Expected a ", "expected ").replace(". Got value:", ", not")
    if command is not None:
        message = message.replace(f"{command.name}.", "")
        if unknown := re.match(r"unrecognized arguments: --([\w.-]+)", message):
            options = [name.replace("_", "-") for name in _option_names(command.config)]
            near = difflib.get_close_matches(unknown[1], options, n=1)
            message += f"; did you mean --{near[0]}?" if near else "; see --help."
    return message


def _option_names(config: type, prefix: str = "") -> list[str]:
    hints = typing.get_type_hints(config)
    names = []
    for field in dataclasses.fields(config):
        name, hint = f"{prefix}{field.name}", hints[field.name]
        nested = dataclasses.is_dataclass(hint)
        names += _option_names(typing.cast(type, hint), f"{name}.") if nested else [name]
    return names


def _describe(error: OSError) -> str:
    advice = {
        errno.ENOSPC: "the disk is full; free some space and run the same command to go on",
        errno.EACCES: "permission denied; choose a place that you may write to",
        errno.EROFS: "that file system is read-only; choose another place",
        errno.ENOENT: "no such file or folder",
        errno.EISDIR: "that is a folder, a file was expected",
        errno.ENOTDIR: "part of that path is a file, a folder was expected",
    }
    what = advice.get(error.errno or 0, error.strerror or str(error))
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{what}."


def _parser(program: str, commands: Sequence[Command]) -> jsonargparse.ArgumentParser:
    parser = jsonargparse.ArgumentParser(prog=program, exit_on_error=False, allow_abbrev=False)
    subcommands = parser.add_subcommands(dest="command")
    for command in commands:
        sub = jsonargparse.ArgumentParser(
            description=command.help, exit_on_error=False, allow_abbrev=False
        )
        sub.add_argument("--config", action="config", help="YAML file with any of the options.")
        sub.add_argument(
            "--check", action="store_true", help="Only check the options: exit code 0 or 2."
        )
        for positional in command.positionals:
            extra: dict[str, Any] = {"nargs": positional.nargs} if positional.nargs else {}
            sub.add_argument(positional.name, type=str, help=positional.help, **extra)
        _add_options(sub, command.config)
        subcommands.add_subcommand(command.name, sub, help=command.help)
    return parser


def _add_options(parser: jsonargparse.ArgumentParser, config: type, prefix: str = "") -> None:
    """One option for every field; a tuple of values takes several words."""
    helps = {
        p.arg_name: p.description
        for base in reversed(config.__mro__[:-1])
        for p in parse_from_object(base).params
    }
    hints = typing.get_type_hints(config)
    for field in dataclasses.fields(config):
        hint = hints[field.name]
        name = f"{prefix}{field.name}"
        if dataclasses.is_dataclass(hint):
            _add_options(parser, typing.cast(type, hint), f"{name}.")
            continue
        settings: dict[str, Any] = {"type": hint, "help": helps.get(field.name)}
        if hint is bool:
            settings = {
                "action": jsonargparse.ActionYesNo(yes_prefix="", no_prefix="no-"),
                "help": helps.get(field.name),
            }
        if typing.get_origin(hint) is tuple:
            settings.update(type=typing.get_args(hint)[0], nargs="+")
        if field.default is not dataclasses.MISSING:
            settings["default"] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            settings["default"] = field.default_factory()
        else:
            settings["required"] = True
        if isinstance(settings.get("default"), tuple):
            settings["default"] = list(settings["default"])
        parser.add_argument(f"--{name.replace('_', '-')}", **settings)


def _instance(config: type, options: Any) -> Any:
    hints = typing.get_type_hints(config)
    values = {}
    for field in dataclasses.fields(config):
        value = getattr(options, field.name)
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            value = _instance(typing.cast(type, hint), value)
        elif typing.get_origin(hint) is tuple:
            value = tuple(value)
        values[field.name] = value
    return config(**values)
