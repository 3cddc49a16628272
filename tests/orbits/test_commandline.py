"""Every command answers a mistake with one line that helps, and exit code 2."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.cli import main as orbits_command
from orbits.command_line import Command, Positional, main
from orbits.options import FRACTION, AtLeast, Options, checked

T = TypeVar("T")


@dataclass(frozen=True)
class Kick(Options):
    """What several commands have."""

    angle: Annotated[float, AtLeast(0)] = 0.5
    """Largest turn, rad."""


@dataclass(frozen=True)
class Probe(Kick):
    """Options of a command for this test."""

    law: str = "newton"
    """Law of force."""
    context_length: Annotated[int, AtLeast(1)] = 2
    """Positions seen."""
    bodies: tuple[str, ...] = ("earth",)
    """Planets."""
    told: bool = True
    """Whether it is told."""
    axes: Literal[2, 3] | None = None
    """Axes."""


def command(run):
    return [Command("probe", run, Probe, "Probe a thing.", (Positional("out", "A file."),))]


def run_with(arguments, run=None):
    seen = []
    return main("tool", command(run or (lambda *a: seen.append(a))), arguments), seen


def test_options_reach_the_dataclass_from_flags():
    code, seen = run_with("probe x --context-length 7 --bodies mars venus --angle 0.25".split())
    assert code == 0
    assert seen == [("x", Probe(0.25, "newton", 7, ("mars", "venus")))]


def test_options_reach_the_dataclass_from_a_file_and_flags_win(tmp_path):
    path = tmp_path / "options.yaml"
    path.write_text("context_length: 5\nbodies: [mars, venus]\nangle: 0.1\n")
    code, seen = run_with(["probe", "x", "--config", str(path), "--angle", "0.2"])
    assert code == 0
    assert seen == [("x", Probe(0.2, "newton", 5, ("mars", "venus")))]


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


COPY = (Positional("table", "Read.", path="input"), Positional("out", "Written.", path="output"))


def copied(arguments, run=lambda *_: None):
    return main("tool", [Command("copy", run, Probe, "Copy a thing.", COPY)], ["copy", *arguments])


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("data/t.csv", "would overwrite table"),
        ("./data/../data/t.csv", "would overwrite table"),
        ("data", "would overwrite table"),
        ("data/t.csv/x", "cannot be written: "),
        ("/proc/x", "cannot be written: /proc"),
        ("/dev/null/x", "cannot be written: /dev/null"),
        ("", "out is empty"),
    ],
)
def test_an_output_that_would_destroy_an_input_or_cannot_be_is_refused_before_any_work(
    out, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.csv").write_text("x\n1\n")
    assert copied(["data/t.csv", out], run=lambda *_: pytest.fail("it worked")) == 2
    assert message in capsys.readouterr().err
    assert copied(["data/t.csv", "data/new/law.json"]) == 0
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == [
        "data", "data/t.csv",
    ]  # fmt: skip


def test_options_behind_two_hyphens_are_sent_before_them(capsys):
    assert run_with(["probe", "--", "x", "--context-length", "7"])[0] == 2
    assert "--context-length stands behind --" in capsys.readouterr().err
    assert run_with(["probe", "--context-length", "7", "--", "x"]) == (
        0, [("x", Probe(context_length=7))],
    )  # fmt: skip
    assert main("tool", command(print), ["--", "probe"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "context_length: 5\ncontext_length: 6\n",
            "gives context_length twice",
        ),
        ("{angle: 1, angle: 2}\n", "gives angle twice"),
        (f"context_length: {'9' * 60_000}\n", "a whole number of 60000 digits"),
    ],
)
def test_a_file_of_options_that_says_two_things_or_endless_ones_is_refused(
    text, message, tmp_path, capsys
):
    path = tmp_path / "options.yaml"
    path.write_text(text)
    assert run_with(["probe", "x", "--config", str(path)]) == (2, [])
    assert message in capsys.readouterr().err


def unread():
    """A pipe whose reader has gone: `command 2>&1 | head -1`."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    return open(write_end, "w")


def full():
    """A log on a full disk: `command 2> log`."""
    return open("/dev/full", "w")


@pytest.mark.parametrize("stream", [unread, full])
def test_work_goes_on_when_its_progress_cannot_be_written(stream, monkeypatch):
    """What is to be written is written, and a mistake keeps its exit code."""
    done = []

    def work(*_):
        print("a line", flush=True)
        print("another", flush=True)
        done.append(True)

    for command, code in ((work, 0), (broken, 2)):
        out = stream()
        monkeypatch.setattr("sys.stderr", out)
        assert run_with(["probe", "x"], command)[0] == code
        monkeypatch.undo()
        with suppress(OSError):
            out.close()
    assert done == [True]


def broken(*_):
    raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("can't start new thread"), "no further thread"),
        (ImportError("libx.so: failed to map segment"), "a package cannot be loaded: libx"),
        (ModuleNotFoundError("No module named 'x'", name="x"), "package 'x' is not installed"),
    ],
)
def test_what_a_machine_refuses_is_one_line(error, message, capsys):
    def fail(*_):
        raise error

    assert run_with(["probe", "x"], fail)[0] == 2
    assert message in capsys.readouterr().err


def test_a_model_that_ends_the_program_and_a_pipe_that_breaks_inside_are_told(capsys):
    def leave(*_):
        raise SystemExit(0)

    assert run_with(["probe", "x"], leave)[0] == 2
    assert "sys.exit(0)" in capsys.readouterr().err
    assert run_with(["probe", "x"], broken)[0] == 2
    assert "closed in mid-work" in capsys.readouterr().err


def test_a_terminal_of_ascii_alone_shows_the_result():
    done = subprocess.run(
        [sys.executable, "-m", "symreg", "compare", "2*θ", "3*θ"],
        capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert r"\u03b8" in done.stdout


def test_a_working_folder_that_was_removed_is_named(tmp_path, monkeypatch, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert orbits_command(["generate", "x.zarr", "--orbits", "2"]) == 2
    assert "the working folder was removed" in capsys.readouterr().err


@checked
def example(
    number: float,
    kind: Literal["a", "b"] = "a",
    pair: tuple[int, int] | None = None,
    rows: Sequence[float] = (),
    limits: Mapping[str, tuple[Annotated[float, AtLeast(0)], float]] | None = None,
    anything: T | None = None,
    *,
    share: Annotated[float, FRACTION] = 0.5,
    call: Callable[[int], int] | None = None,
):
    return number, kind, pair, rows, limits, anything, share, call


def test_checked_functions_get_their_annotated_types():
    assert example(np.int64(3), "b", [1, 2])[:3] == (3.0, "b", (1, 2))
    assert example(1, rows=[None, 2.0])[3] == [None, 2.0]  # long ones are not gone through
    assert example(1.5, share=np.float32(0.25))[-2] == 0.25
    assert example(1.5, limits={"x": (0, 1)}, anything=object(), call=abs)[-1] is abs


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"number": "1"}, "number is '1'; it should be a valid number"),
        ({"number": math.inf}, "number is inf; it should be a finite number"),
        ({"kind": "c"}, "kind is 'c'; it should be 'a' or 'b'"),
        ({"pair": (1, 2.5)}, "pair is (1, 2.5); it should be a valid integer"),
        ({"pair": 5}, "pair is 5; it should be a valid tuple"),
        ({"rows": 5}, "rows is 5; it should be a Sequence"),
        ({"limits": {"x": (-1, 1)}}, "it should be greater than or equal to 0"),
        ({"share": 2.0}, "share is 2.0; it should be less than or equal to 1"),
        ({"call": 5}, "call is 5; it should be a function"),
    ],
)
def test_checked_functions_refuse_other_types(arguments, problem):
    with pytest.raises(ValueError) as refused:
        example(**{"number": 1.0} | arguments)
    assert problem in str(refused.value)


def test_a_missing_argument_is_still_a_type_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        example()
