"""Every command answers a mistake with one line that helps, and exit code 2."""

import json
import os
import signal
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.command_line import Command, Positional, main
from orbits.options import AtLeast, Options


@dataclass(frozen=True)
class Kick(Options):
    """A nested group of options."""

    angle: Annotated[float, AtLeast(0)] = 0.5
    """Largest turn, rad."""


@dataclass(frozen=True)
class Probe(Options):
    """Options of a command for this test."""

    law: str = "newton"
    """Law of force."""
    context_length: Annotated[int, AtLeast(1)] = 2
    """Positions seen."""
    bodies: tuple[str, ...] = ("earth",)
    """Planets."""
    kick: Kick = field(default_factory=Kick)
    told: bool = True
    """Whether it is told."""
    axes: Literal[2, 3] | None = None
    """Axes."""

    ALIASES: ClassVar[dict[str, str]] = {"angle": "kick.angle"}


def command(run):
    return [Command("probe", run, Probe, "Probe a thing.", (Positional("out", "A file."),))]


def run_with(arguments, run=None):
    seen = []
    return main("tool", command(run or (lambda *a: seen.append(a))), arguments), seen


def test_options_reach_the_dataclass_from_flags():
    code, seen = run_with(
        "probe x --context-length 7 --bodies mars venus --kick.angle 0.25".split()
    )
    assert code == 0
    assert seen == [("x", Probe("newton", 7, ("mars", "venus"), Kick(0.25)))]


def test_options_reach_the_dataclass_from_a_file_and_flags_win(tmp_path):
    path = tmp_path / "options.yaml"
    path.write_text("context_length: 5\nbodies: [mars, venus]\nkick:\n  angle: 0.1\n")
    code, seen = run_with(["probe", "x", "--config", str(path), "--kick.angle", "0.2"])
    assert code == 0
    assert seen == [("x", Probe("newton", 5, ("mars", "venus"), Kick(0.2)))]


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (ValueError("gm is\nnegative"), 2, "tool probe: gm is negative"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (PermissionError(13, "Permission denied", "/x/y"), 2, "/x/y: "),
        (KeyboardInterrupt(), 130, "what was finished stays"),
    ],
)
def test_what_a_command_raises_becomes_one_line(error, code, expected, capsys):
    def fail(*_):
        raise error

    assert run_with(["probe", "x"], fail)[0] == code
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


def test_code_that_ends_the_process_has_not_succeeded():
    def leave(*_):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        run_with(["probe", "x"], leave)


@dataclass(frozen=True)
class Found:
    """What a command for this test finds."""

    law: str
    r2: float

    def __str__(self):
        return f"the law is {self.law}"


def find(*_):
    print("looking")
    return Found("newton", float("nan"))


@pytest.mark.parametrize(
    ("flags", "out", "err"),
    [
        ([], "the law is newton\n", "looking\n"),
        (["--json"], {"law": "newton", "r2": None}, "looking\n"),
        (["--quiet"], "", ""),
        (["--quiet", "--json"], {"law": "newton", "r2": None}, ""),
    ],
)
def test_a_result_alone_goes_to_the_standard_output(flags, out, err, capsys):
    finder = Command("find", find, Probe, "Find a thing.")
    assert main("tool", [finder], ["find", *flags]) == 0
    told = capsys.readouterr()
    assert (json.loads(told.out) if "--json" in flags else told.out) == out
    assert told.err == err


def test_a_mistake_is_told_to_the_quiet_too(capsys):
    def fail(*_):
        raise ValueError("gm is negative")

    finder = Command("find", fail, Probe, "Find a thing.")
    assert main("tool", [finder], ["find", "--quiet"]) == 2
    assert capsys.readouterr().err == "tool find: gm is negative\n"


def test_a_result_may_decide_the_exit_code(capsys):
    class Wrong(dict):
        exit_code = 1

    judge = Command("judge", lambda *_: Wrong(problems=2), Probe, "Judge a thing.")
    assert main("tool", [judge], ["judge"]) == 1
    assert capsys.readouterr().out == "problems  2\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_stays_one_whatever_a_library_makes_of_it(number, capsys):
    def imported(*_):
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise ImportError("a part of numpy could not be imported") from None

    before = signal.signal(number, signal.default_int_handler)  # a background job ignores SIGINT
    try:
        assert run_with(["probe", "x"], imported)[0] == 130
        assert "interrupted" in capsys.readouterr().err
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


@given(st.lists(st.text(alphabet="abc-=.0 \n", max_size=12), max_size=4))
def test_no_command_line_ends_in_a_traceback(words):
    assert run_with(["probe", *words])[0] in (0, 2)
