"""What is written replaces files and folders only, and a refusal leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from orbits.files import held, read_yaml, require_output, write_text
from orbits.memory import out_of_memory, require_memory


@pytest.fixture
def places(tmp_path):
    """A link, a dangling one, a pipe and a device, by name."""
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    return {
        "link": tmp_path / "link",
        "dangling": tmp_path / "dangling",
        "pipe": tmp_path / "pipe",
        "device": "/dev/null",
        "empty": "",
    }


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "device", "empty"])
def test_nothing_is_written_through_or_in_place_of_what_is_no_file(places, kind, tmp_path, refused):
    before = sorted(p.name for p in tmp_path.iterdir())
    path = places[kind]
    with pytest.raises(ValueError, match=r"is a |is empty"):
        require_output(path)
    with pytest.raises(ValueError, match=r"is a |is empty"):
        write_text(path, "x")
    refused("orbits", "generate", path, "--orbits", 2, "--samples", 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert (tmp_path / "target").read_text() == "mine"
    assert (tmp_path / "link").is_symlink()


def test_a_lock_is_never_written_through_a_link(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/.lock").symlink_to(tmp_path / "victim")
    with pytest.raises(ValueError, match="symbolic link"), held(tmp_path / "run", "held"):
        pass
    assert (tmp_path / "victim").read_text() == "mine"


DOUBLED = (f"- &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40))
BOMB = "\n".join(["- &a0 [x, x]", *DOUBLED])
"""2**40 values in forty lines."""


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {b: *a}",
        "[" * 100,
        "&a [*a]",
        "x: &x 1\ny: [" + "*x, " * 200 + "]",
        "a: " + "b" * 2**20,
        BOMB,
        "a: !!timestamp x",
        "a: !!binary é",
    ],
)
def test_yaml_that_never_ends_or_is_none_is_refused_wherever_it_is_read(text, tmp_path, refused):
    (tmp_path / "options.yaml").write_text(text)
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"options\.yaml (is|contains)"):
        read_yaml(tmp_path / "options.yaml")
    config = tmp_path / "options.yaml"
    refused("orbits", "generate", tmp_path / "x", "--config", config)
    assert time.monotonic() - began < 10


def test_what_no_memory_holds_is_refused_at_once(monkeypatch):
    with pytest.raises(ValueError, match=r"would need 1e\+09 GB of memory.*; take less"):
        require_memory(1e18, "that", "take less")
    assert out_of_memory(MemoryError())
    assert out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    assert not out_of_memory(RuntimeError("shapes differ"))


@pytest.mark.parametrize("program", ["orbits", "worldmodel", "symreg"])
@pytest.mark.parametrize("delay", [0.1, 0.5])
def test_ctrl_c_while_modules_are_imported_is_one_line(program, delay, tmp_path):
    """The earliest moment that is tried comes after Python itself has started."""
    code = (
        "import os, sys; os.write(1, b'on'); sys.argv = sys.argv[1:];"
        f"from {program}.__main__ import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, program, "--nonsense"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.read(2)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (130, 2), said
    assert said.count("\n") == 1
    assert said.startswith(program)
