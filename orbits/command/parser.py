"""One behaviour for every command: options from a dataclass, one clear line for a mistake.

A command is a function and a frozen dataclass. Every field of the dataclass is an option
(`context_length` is `--context-length`; nested dataclasses are dotted), its docstring is the
option's help, and `--config file.yaml` and `--print_config` come with it.
"""

import dataclasses
import errno
import os
import re
import signal
import sys
import typing
import warnings
from argparse import ArgumentError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal

import jsonargparse
import yaml
from docstring_parser import parse_from_object

from orbits.command.entry import INTERRUPTED
from orbits.command.help import (
    COMPLETION,
    HELP,
    VERSION,
    closing,
    completion,
    program_closing,
    version_line,
)
from orbits.command.memory import out_of_memory
from orbits.command.near_misses import nearest, require_known
from orbits.command.options import (
    OptionError,
    default_of,
    hints_of,
    is_group,
    option_names,
    outputs,
    plain_hint,
)
from orbits.command.parent import end_with_parent
from orbits.records.files import require_moderate_yaml, require_output, yaml_text


@dataclasses.dataclass(frozen=True)
class Positional:
    """A positional argument of a command."""

    name: str
    help: str
    nargs: str | None = None
    path: Literal["input", "output"] | None = None
    """Whether it is the path of what is read, or of what is written."""
    unless: str | None = None
    """An option that stands in its place: where that is typed, the argument is left out."""


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
    examples: tuple[str, ...] = ()
    """Command lines without the program's name, for the end of the help."""


@dataclasses.dataclass
class Interruption:
    """Whether somebody asked the process to stop."""

    asked: bool = False


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Answer Ctrl-C, and SIGTERM, which schedulers and `kill` send, by a KeyboardInterrupt.

    What was asked is remembered: a library that is interrupted while it is imported may raise
    anything at all. A signal that is ignored (a shell's background jobs ignore Ctrl-C) stays so.
    """
    interruption = Interruption()

    def interrupt(number: int, frame: FrameType | None) -> None:
        interruption.asked = True
        raise KeyboardInterrupt

    answered = (signal.SIGINT, signal.SIGTERM)
    earlier = {number: signal.getsignal(number) for number in answered}
    try:
        for number, handler in earlier.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, interrupt)
    except ValueError:  # not in the main thread: nothing to catch there
        yield interruption
        return
    try:
        yield interruption
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def main(program: str, commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, run the command, and answer mistakes with one line.

    Returns:
        The exit code: 0, the command's own, 2 for a user's mistake, 130 for Ctrl-C or SIGTERM.
    """
    end_with_parent()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = next((c for c in commands if [c.name] == arguments[:1]), None)
    if command is not None:
        command = _without_replaced(command, arguments)
    name = f"{program} {command.name}" if command else program
    try:
        with interruptible() as interruption:
            try:
                return _run(program, commands, command, arguments)
            except Exception:
                if interruption.asked:
                    raise KeyboardInterrupt from None
                raise
    except KeyboardInterrupt:
        return complain(name, GO_ON, INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ArgumentError as error:
        return complain(name, _explain(str(error), command), 2)
    except OptionError as error:
        typed = {full: short for short, full in _aliases(command.config).items()} if command else {}
        option = _flag(typed.get(error.option, error.option))
        return complain(name, f"{option} {error.problem}", 2)
    except ValueError as error:
        return complain(name, str(error), 2)
    except ModuleNotFoundError as error:
        return complain(name, f"the package {error.name!r} is not installed: {error}", 2)
    except OSError as error:
        return complain(name, _describe(error), 2)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        return complain(name, TOO_LARGE, 2)


def _run(
    program: str, commands: Sequence[Command], command: Command | None, arguments: list[str]
) -> int:
    warnings.filterwarnings("ignore", category=UserWarning, module="zarr")
    if command is not None:
        arguments = _gathered(arguments, command.config)
    if command is None:
        return _of_the_program(program, commands, arguments)
    try:
        # only the command that is meant: the options of all take a third of a second
        parsed = _parser(program, [command]).parse_args(arguments)
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"a value that was given is too large ({error}); see --help.") from None
    options = parsed[command.name]
    config = _instance(command.config, options)
    positionals = [options[p.name] if p.nargs != NONE else None for p in command.positionals]
    _require_paths(command, positionals, config)
    if options["check"]:
        return (command.check(*positionals, config) or 0) if command.check else 0
    return command.run(*positionals, config) or 0


def _of_the_program(program: str, commands: Sequence[Command], arguments: Sequence[str]) -> int:
    """What is typed without a command: help, which nothing at all asks for too, or the version."""
    first, *others = arguments or HELP
    if first == VERSION:
        print(version_line(program))
    elif first == COMPLETION:
        print(completion(_parser(program, commands), others))
    elif set(HELP) & set(arguments or HELP):
        _parser(program, commands).print_help()
    else:
        require_known("command", first, [c.name for c in commands])
    return 0


NONE = "none"
"""Of a positional that is left out."""


def _without_replaced(command: Command, arguments: Sequence[str]) -> Command:
    """The command without those positional arguments in whose place an option is typed."""

    def left(positional: Positional) -> Positional:
        option = positional.unless and _flag(positional.unless)
        typed = any(a == option or a.startswith(f"{option}=") for a in arguments)
        return dataclasses.replace(positional, nargs=NONE) if option and typed else positional

    return dataclasses.replace(command, positionals=tuple(map(left, command.positionals)))


def _gathered(arguments: Sequence[str], config: type) -> list[str]:
    """The arguments with a list that is given in several places in one: `--a 1 --a 2` as `--a 1 2`.

    The parser would keep the last.
    """
    aliases = _aliases(config)
    lists = {_flag(name) for name in option_names(config) if _is_list(config, name)}
    lists |= {_flag(short) for short, name in aliases.items() if _is_list(config, name)}
    result: list[str] = []
    words: dict[str, list[str]] = {}
    inside: str | None = None
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if flag in lists:
            inside = flag
            if flag not in words:
                words[flag] = []
                result.append(flag)
            words[flag] += [value] if equals else []
        elif argument.startswith("--") or inside is None:
            inside = None
            result.append(argument)
        else:
            words[inside].append(argument)
    return [part for word in result for part in (word, *words.get(word, ()))]


def _is_list(config: type, name: str) -> bool:
    """Whether an option, by its dotted name, takes several words."""
    for part in name.split("."):
        hint = hints_of(config)[part]
        config = hint
    return typing.get_origin(plain_hint(hint)) is tuple


def _require_paths(command: Command, positionals: Sequence[Any], config: Any) -> None:
    """Refuse empty paths, which would mean the current folder, and outputs that are no place."""
    for positional, given in zip(command.positionals, positionals, strict=True):
        if positional.path is None or given is None:
            continue
        for path in [given] if isinstance(given, str) else given:
            if not path:
                raise ValueError(f"{positional.name} is empty; a path is needed.")
            if positional.path == "output" and "://" not in path:
                require_output(path)
    for option, path in outputs(config):
        if not path:
            raise OptionError(option, "is empty; a path is needed.")
        require_output(path)


GO_ON = "interrupted; what was finished stays. Run the same command to go on."
TOO_LARGE = (
    "there is not enough memory for this; ask for less (fewer orbits or samples, a smaller model, "
    "a shorter context), or take a larger machine."
)
LONGEST_MESSAGE = 1000
"""Characters of a message, which may repeat what was typed."""


def complain(name: str, message: str, code: int) -> int:
    """Say in one line what is wrong; returns the exit code."""
    line = " ".join(message.split())
    if len(line) > LONGEST_MESSAGE:
        line = f"{line[: LONGEST_MESSAGE // 2]} ... {line[-LONGEST_MESSAGE // 3 :]}"
    print(f"{name}: {line}", file=sys.stderr)
    return code


def _explain(message: str, command: Command | None) -> str:
    """The parser's message in the words of the command line, with the near miss named."""
    message = re.sub(r"<class '(\w+)'>", r"\1", message).replace("typing.Literal", "one of ")
    message = re.sub(r'Parser key "([\w.]+)":', lambda m: f"{_flag(m[1])}:", message)
    message = message.replace("Expected a ", "expected ").replace(". Got value:", ", not")
    if command is not None:
        message = message.replace(f"{command.name}.", "")
        if unknown := re.match(r"unrecognized arguments: --([\w.-]+)", message):
            own = unknown[1].replace("-", "_")
            decided = getattr(command.config, "DECIDED", ())
            if own in decided:
                return f"--{unknown[1]} cannot be given: {command.name} decides it by itself."
            known = [*option_names(command.config), *_aliases(command.config)]
            known = [name for name in known if name not in decided]
            near = nearest(unknown[1], [name.replace("_", "-") for name in known], cutoff=0.6)
            message += f"; did you mean --{near}?" if near else "; see --help."
    return message


def _flag(name: str) -> str:
    """An option's dotted name as on the command line."""
    return f"--{name.replace('_', '-')}"


def _aliases(config: type) -> dict[str, str]:
    """Short names of nested options by their own name: the class attribute `ALIASES`."""
    return getattr(config, "ALIASES", {})


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


class _ConfigFile(jsonargparse.ActionConfigFile):
    """`--config`: a file, of moderate size."""

    def __call__(
        self, parser: Any, cfg: Any, values: Any, option_string: str | None = None
    ) -> None:
        yaml_text(values)
        super().__call__(parser, cfg, values, option_string)


MODERATE_YAML = "moderate_yaml"
"""The parser's mode: values are YAML, within the limits of every YAML file here."""


def _load(text: str, **settings: Any) -> Any:
    require_moderate_yaml(text, "the value")
    return jsonargparse.get_loader("yaml")(text, **settings)


jsonargparse.set_loader(MODERATE_YAML, _load, exceptions=(yaml.YAMLError, ValueError))


class _Formatter(jsonargparse.DefaultHelpFormatter):
    """Help wrapped to the terminal; examples, at the end, one a line."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def _usage(program: str, command: Command) -> str:
    """`orbits plot DATA PICTURE [options]`, without the options, of which there may be 130."""
    several = {"+": "...", None: ""}
    typed = [
        f"{p.name.upper()}{several.get(p.nargs, '')}"
        for p in command.positionals
        if p.nargs != NONE
    ]
    return " ".join([program, command.name, *typed, "[options]"])


def _parser(program: str, commands: Sequence[Command]) -> jsonargparse.ArgumentParser:
    settings: dict[str, Any] = {
        "exit_on_error": False, "allow_abbrev": False, "parser_mode": MODERATE_YAML,
    }  # fmt: skip
    settings["formatter_class"] = _Formatter
    parser = jsonargparse.ArgumentParser(
        prog=program, usage=f"{program} COMMAND [options]", epilog=program_closing(program),
        **settings,
    )  # fmt: skip
    subcommands = parser.add_subcommands(
        dest="command", title="commands", metavar="COMMAND", description=""
    )
    for command in commands:
        sub = jsonargparse.ArgumentParser(
            usage=_usage(program, command), description=command.help,
            epilog=closing(program, command.examples), **settings,
        )  # fmt: skip
        sub.add_argument("--config", action=_ConfigFile, help="YAML file with any of the options.")
        sub.add_argument(
            "--check", action="store_true", help="Only check the options: exit code 0 or 2."
        )
        for positional in command.positionals:
            if positional.nargs == NONE:
                continue
            extra: dict[str, Any] = {"nargs": positional.nargs} if positional.nargs else {}
            sub.add_argument(positional.name, type=str, help=positional.help, **extra)
        _add_options(sub, command.config)
        subcommands.add_subcommand(command.name, sub, help=command.help)
    return parser


def _add_options(
    parser: Any,
    config: type,
    prefix: str = "",
    aliases: Mapping[str, str] | None = None,
    hidden: Sequence[str] | None = None,
    group_default: Any = None,
) -> None:
    """One option for every field; a tuple of values takes several words, a group its own title.

    Args:
        parser: receives the options.
        config: of options; its class attributes `ALIASES` (short names of nested options) and
            `DECIDED` (nested options that cannot be given) count.
        prefix: dotted name of the group.
        aliases: of the outermost options.
        hidden: nested options that cannot be given.
        group_default: the group as the options around it have it.
    """
    helps = {
        p.arg_name: p.description
        for base in reversed(config.__mro__[:-1])
        for p in parse_from_object(base).params
    }
    short = {full: name for name, full in (aliases or _aliases(config)).items()}
    decided = tuple(getattr(config, "DECIDED", ())) if hidden is None else hidden
    for own, hint in hints_of(config).items():
        name = f"{prefix}{own}"
        if is_group(hint):
            title = (hint.__doc__ or name).strip().splitlines()[0].rstrip(".")
            group = parser.add_argument_group(f"{name}: {title}") if not prefix else parser
            known = {alias: full for full, alias in short.items()}
            _add_options(group, hint, f"{name}.", known, decided, default_of(config, own))
            continue
        if name in decided:
            continue
        settings: dict[str, Any] = {"help": helps.get(own), "dest": name}
        plain = plain_hint(hint)
        if plain is bool:
            settings["action"] = jsonargparse.ActionYesNo(yes_prefix="", no_prefix="no-")
            del settings["dest"]
        elif typing.get_origin(plain) is tuple:
            settings.update(type=typing.get_args(plain)[0], nargs="+")
        elif _is_of_names(plain):  # the options themselves name the near miss
            names = ",".join(typing.get_args(plain))
            settings.update(type=str, metavar=f"{{{names}}}")
        else:
            settings["type"] = plain
        default = default_of(config, own) if group_default is None else getattr(group_default, own)
        if default is dataclasses.MISSING:
            settings["required"] = True
        else:
            settings["default"] = list(default) if isinstance(default, tuple) else default
        flags = [_flag(short[name])] if name in short and plain is not bool else []
        parser.add_argument(*flags, _flag(name), **settings)


def _is_of_names(hint: Any) -> bool:
    """Whether an option is one of several names."""
    names = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    return bool(names) and all(isinstance(name, str) for name in names)


def _instance(config: type, options: Any, default: Any = None) -> Any:
    """The configuration of what was parsed; options that cannot be given keep their defaults."""
    values = {}
    for name, hint in hints_of(config).items():
        if name not in options:
            continue
        value = options[name]
        if is_group(hint):
            try:
                value = _instance(hint, value, default_of(config, name))
            except OptionError as error:
                raise error.within(name) from None
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    return config(**values) if default is None else dataclasses.replace(default, **values)
