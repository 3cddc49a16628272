"""Every command answers a mistake with one line that helps, and exit code 2."""

import os
import signal
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.command.parser import Command, Positional, main


@dataclass(frozen=True)
class Kick:
    """A nested group of options."""

    angle: float = 0.5
    """Largest turn, rad."""


@dataclass(frozen=True)
class Options:
    """Options of a command for this test."""

    law: str = "newton"
    """Law of force."""
    context_length: int = 2
    """Positions seen."""
    bodies: tuple[str, ...] = ("earth",)
    """Planets."""
    kick: Kick = field(default_factory=Kick)

    def __post_init__(self):
        if self.context_length < 1:
            raise ValueError(f"--context-length is {self.context_length};\n at least 1.")


def command(run):
    return [Command("probe", run, Options, "Probe a thing.", (Positional("out", "A file."),))]


def run_with(arguments, run=None):
    seen = []
    return main("tool", command(run or (lambda *a: seen.append(a))), arguments), seen


def test_options_reach_the_dataclass_from_flags():
    code, seen = run_with(
        "probe x --context-length 7 --bodies mars venus --kick.angle 0.25".split()
    )
    assert code == 0
    assert seen == [("x", Options("newton", 7, ("mars", "venus"), Kick(0.25)))]


def test_options_reach_the_dataclass_from_a_file_and_flags_win(tmp_path):
    path = tmp_path / "options.yaml"
    path.write_text("context_length: 5\nbodies: [mars, venus]\nkick:\n  angle: 0.1\n")
    code, seen = run_with(["probe", "x", "--config", str(path), "--kick.angle", "0.2"])
    assert code == 0
    assert seen == [("x", Options("newton", 5, ("mars", "venus"), Kick(0.2)))]


def test_print_config_can_be_read_back(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        run_with(["probe", "x", "--context-length", "9", "--print_config"])
    assert stopped.value.code == 0
    path = tmp_path / "options.yaml"
    path.write_text(capsys.readouterr().out)
    code, seen = run_with(["probe", "x", "--config", str(path)])
    assert (code, seen[0][1]) == (0, Options(context_length=9))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("prob x", "did you mean 'probe'?"),
        ("probe", "required: out"),
        ("probe x --contxt-length 3", "did you mean --context-length?"),
        ("probe x --context-length three", "--context-length: expected int, not three"),
        ("probe x --context-length 0", "--context-length is 0; at least 1."),
        ("probe x --config missing.yaml", "missing.yaml"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(arguments, expected, capsys):
    code, seen = run_with(arguments.split())
    out, err = capsys.readouterr()
    assert (code, seen, out) == (2, [], "")
    assert expected in err
    assert err.startswith("tool")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (ValueError("gm is\nnegative"), 2, "tool probe: gm is negative"),
        (OSError(28, "No space left on device"), 2, "the disk is full"),
        (PermissionError(13, "Permission denied", "/x/y"), 2, "/x/y: permission denied"),
        (FileNotFoundError(2, "No such file", "/x/z"), 2, "/x/z: no such file"),
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


@pytest.mark.parametrize("path", ["", "/dev/null"])
def test_an_output_that_is_no_place_is_refused_before_anything_runs(path, capsys):
    seen = []
    out = Positional("out", "A file.", path="output")
    commands = [Command("probe", lambda *a: seen.append(a), Options, "Probe a thing.", (out,))]
    assert main("tool", commands, ["probe", path]) == 2
    assert capsys.readouterr().err.startswith("tool probe: ")
    assert not seen


def test_values_that_fit_nowhere_and_messages_that_repeat_them_are_one_short_line(capsys):
    for value in ("9" * 400, "[" * 5000, "x" * 5000):
        assert run_with(["probe", "x", f"--kick.angle={value}"])[0] == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert len(said) < 1100


@pytest.mark.parametrize(("length", "code"), [("3", 0), ("0", 2)])
def test_check_looks_at_the_options_and_runs_nothing(length, code):
    assert run_with(["probe", "x", "--context-length", length, "--check"]) == (code, [])


def test_help_shows_every_option_with_its_docstring(capsys):
    with pytest.raises(SystemExit) as stopped:
        run_with(["probe", "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    for text in ("--context-length", "Positions seen.", "--kick.angle", "Largest turn, rad."):
        assert text in out


@given(st.lists(st.text(alphabet="abc-=.0 \n", max_size=12), max_size=4))
def test_no_command_line_ends_in_a_traceback(words):
    try:
        code, _ = run_with(["probe", *words])
    except SystemExit as stopped:  # --help
        code = stopped.code
    assert code in (0, 2)
