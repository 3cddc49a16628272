"""What a run has made is kept: made once, whole or absent, and made again when anything changed."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil
import pytest

from symreg.experiments import cache
from symreg.experiments.cache import Cache, Made


@dataclass(frozen=True)
class Options:
    """Of a toy."""

    letter: str = "a"
    fail: str = ""


def join(out, *inputs, config, fail=""):
    """Write what the inputs hold and a letter; count the calls beside it."""
    with open(out.parent / "calls.txt", "a") as file:
        print(out.name, file=file)
    if (out.parent / "fail").exists():
        raise ValueError("no luck")
    out.write_text("".join(path.read_text() for path in inputs) + config.letter)
    return f"made {out.name}"


def chain(folder, workers=1, last="c", tell=lambda line: None):
    """a, then b from a, then c from both."""
    with Cache(folder, workers, tell) as keep:
        a = keep("a", "make a", join, config=Options("a"))
        b = keep("b", "make b", join, a, config=Options("b"))
        return keep("c", "make c", join, a, b, config=Options(last)).result()


def calls(folder):
    """What was made since the last look."""
    path = folder / "calls.txt"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


@pytest.mark.parametrize("workers", [1, 2])
def test_everything_is_made_once_in_order(tmp_path, workers):
    told = []
    made = chain(tmp_path, workers, tell=told.append)
    assert made.path.read_text() == "aabc"
    assert calls(tmp_path) == ["a", "b", "c"]
    assert [line[9:] for line in told if line.startswith("[")] == ["make a", "make b", "make c"]
    assert chain(tmp_path, workers).path.read_text() == "aabc"
    assert calls(tmp_path) == []


def test_what_changed_is_made_again_and_nothing_else(tmp_path):
    chain(tmp_path)
    calls(tmp_path)
    (tmp_path / "b").write_text("forged")
    chain(tmp_path)
    assert calls(tmp_path) == ["b"]  # c was made from what b is again
    chain(tmp_path, last="d")
    assert calls(tmp_path) == ["c"]
    (tmp_path / "a").unlink()
    chain(tmp_path, last="d")
    assert calls(tmp_path) == ["a"]


def test_another_version_of_the_program_makes_all_again(tmp_path, monkeypatch):
    chain(tmp_path)
    calls(tmp_path)
    monkeypatch.setattr(cache, "code", lambda: "another")
    chain(tmp_path)
    assert calls(tmp_path) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"a": {"title": 7}}', "{" * 5000])
def test_a_damaged_manifest_certifies_nothing(tmp_path, text):
    chain(tmp_path)
    calls(tmp_path)
    (tmp_path / cache.MANIFEST).write_text(text)
    assert chain(tmp_path).path.read_text() == "aabc"
    assert calls(tmp_path) == ["a", "b", "c"]


def test_a_record_that_was_tampered_with_certifies_nothing(tmp_path):
    chain(tmp_path)
    path = tmp_path / cache.MANIFEST
    records = json.loads(path.read_text())
    records["b"]["sha256"] = records["a"]["sha256"]
    path.write_text(json.dumps(records))
    calls(tmp_path)
    chain(tmp_path)
    assert calls(tmp_path) == ["b"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_keeps_what_was_finished(tmp_path, workers):
    chain(tmp_path, workers)
    (tmp_path / "b").unlink()
    (tmp_path / "fail").touch()
    calls(tmp_path)
    with pytest.raises(ValueError, match="no luck"):
        chain(tmp_path, workers)
    (tmp_path / "fail").unlink()
    chain(tmp_path, workers)
    assert calls(tmp_path) == ["b", "b"]


def grow(out, config):
    """A file that is gone on with: each call adds a line, and the second one ends it."""
    out.mkdir(exist_ok=True)
    parts = len(list(out.iterdir()))
    (out / f"{parts}").touch()
    if not parts:
        raise KeyboardInterrupt
    return "done"


def test_what_was_begun_from_the_same_is_gone_on_with_and_nothing_else(tmp_path):
    for letter, expected in (("a", 2), ("b", 2)):
        with pytest.raises(KeyboardInterrupt), Cache(tmp_path) as keep:
            keep("x", "grow", grow, config=Options(letter))
        with Cache(tmp_path) as keep:
            made = keep("x", "grow", grow, config=Options(letter)).result()
        assert len(list(made.path.iterdir())) == expected


def test_an_object_is_an_input_by_its_fingerprint(tmp_path):
    class Model:
        fingerprint = "one"

        def read_text(self):
            return self.fingerprint

    model = Model()
    for fingerprint, expected in (("one", ["m"]), ("one", []), ("two", ["m"])):
        model.fingerprint = fingerprint
        with Cache(tmp_path) as keep:
            keep("m", "ask", join, model, here=True, config=Options())
        assert calls(tmp_path) == expected


def test_a_folder_in_use_is_left_alone(tmp_path):
    with (
        Cache(tmp_path),
        pytest.raises(ValueError, match="in use by another process"),
        Cache(tmp_path),
    ):
        pass


def test_inputs_from_elsewhere_count_by_what_they_hold(tmp_path):
    given = tmp_path / "given.txt"
    for text, expected in (("1", ["x"]), ("1", []), ("2", ["x"])):
        given.write_text(text)
        with Cache(tmp_path / "run") as keep:
            made = keep("x", "read", join, cache.given(given), config=Options())
        assert isinstance(made.result(), Made)
        assert calls(tmp_path / "run") == expected


def test_workers_import_nothing_from_the_current_directory(tmp_path, monkeypatch):
    for name in ("joblib", "random", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('executed')")
    monkeypatch.chdir(tmp_path)
    assert chain(tmp_path / "run", 2).path.read_text() == "aabc"


SLEEPER = """
import os, time
from pathlib import Path

def sleep(out):
    Path(f"{out}.pid").write_text(str(os.getpid()))
    time.sleep(60)
"""
SCRIPT = """
import sys
sys.path.append(sys.argv[2])
from sleeper import sleep
from symreg.experiments.cache import Cache

with Cache(sys.argv[1], 2) as keep:  # no `if __name__ == "__main__"`: users forget it
    keep("x", "sleep", sleep).result()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_process_that_began_it(tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    process = subprocess.Popen([sys.executable, "-P", script, tmp_path / "run", tmp_path])
    at_work, deadline = tmp_path / "run" / "x.pid", time.monotonic() + 60
    while not (at_work.exists() and at_work.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    worker = int(at_work.read_text())
    os.kill(process.pid, number)
    process.wait(timeout=60)
    deadline = time.monotonic() + 20
    while psutil.pid_exists(worker) and psutil.Process(worker).status() != "zombie":
        assert time.monotonic() < deadline
        time.sleep(0.1)
