"""Interruptions, full disks and rivals: never a lost shard, never a silent NaN."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
import zarr

from orbits.config import GenerateConfig
from orbits.dataset import MANIFEST, open_dataset
from orbits.dataset.validation import validate
from orbits.generation.generate import generate, write
from orbits.generation.recipe import resolve

CONFIG = GenerateConfig(orbits=320, samples=64, shard_orbits=16, workers=1, simulator="kepler")
OPTIONS = ["--orbits", "320", "--samples", "64", "--shard-orbits", "16", "--simulator", "kepler"]
COMMAND = [sys.executable, "-m", "orbits.cli", "generate"]


def content(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != ".lock" and not file.name.endswith(".partial")
    }


def finished(path):
    """How many shards are."""
    manifest = path / MANIFEST
    return len(json.loads(manifest.read_text())["shards"]) if manifest.exists() else 0


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "x.zarr"
    generate(path, CONFIG)
    return path


def test_killed_at_twenty_random_moments_and_resumed(uninterrupted, tmp_path):
    """Real processes, really killed; every resumption starts from what the last one left."""
    path = tmp_path / "x.zarr"
    began = time.monotonic()
    generate(tmp_path / "timed.zarr", CONFIG)
    duration = time.monotonic() - began
    moments = random.Random(0)
    fork = multiprocessing.get_context("fork")  # the modules are loaded already: quick to start
    killed = 0
    for k in range(20):
        process = fork.Process(target=generate, args=(path, CONFIG))
        process.start()
        # each gets further than a whole run needs for one shard, and none to the end
        process.join(moments.uniform(0.05, 0.15) * duration)
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        process.join()
        if path.exists() and process.exitcode != 0 and k < 3:
            with pytest.raises(ValueError, match=r"unfinished|cut short|not exist|not a dataset"):
                open_dataset(path)
    assert killed >= 5
    generate(path, CONFIG)
    assert validate(path) == []
    assert content(path) == content(uninterrupted)
    assert not list(path.rglob("*.partial"))
    assert open_dataset(path).attrs == open_dataset(uninterrupted).attrs


@pytest.mark.slow
def test_an_interruption_keeps_what_was_finished(uninterrupted, tmp_path):
    """By SIGTERM, as of a scheduler; Ctrl-C is tested with several workers."""
    path = tmp_path / "x.zarr"
    slow = [*OPTIONS[:-1], "scipy", "--workers", "1"]
    process = subprocess.Popen([*COMMAND, str(path), *slow], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not finished(path) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, message = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("this machine finished before the interruption")
    assert process.returncode == 130
    assert "Run the same command to go on" in message.splitlines()[-1]
    there = finished(path)
    assert 1 <= there < 20
    config = GenerateConfig(**{**CONFIG.__dict__, "simulator": "scipy"})
    assert write(path, resolve(config)) == 20 - there


@pytest.mark.parametrize("done", range(6))
def test_killed_while_laying_out(tmp_path, done, monkeypatch):
    """Whatever number of arrays was laid out when the process was killed, the next one goes on."""
    real, calls = zarr.Group.create_array, []

    def killed(self, *arguments, **options):
        if len(calls) == done:
            raise KeyboardInterrupt
        calls.append(options)
        return real(self, *arguments, **options)

    path = tmp_path / "x.zarr"
    config = GenerateConfig(orbits=4, samples=4, workers=1)
    monkeypatch.setattr(zarr.Group, "create_array", killed)
    with pytest.raises(KeyboardInterrupt):
        generate(path, config)
    with pytest.raises(ValueError, match="unfinished"):
        open_dataset(path)
    monkeypatch.undo()
    generate(path, config)
    assert validate(path) == []


@pytest.mark.slow
def test_two_generators_on_one_path(uninterrupted, tmp_path):
    path = tmp_path / "x.zarr"
    rivals = [
        subprocess.Popen(
            [*COMMAND, str(path), *OPTIONS, "--workers", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [rival.communicate(timeout=120)[1] for rival in rivals]
    codes = sorted(rival.returncode for rival in rivals)
    assert codes in ([0, 0], [0, 2])  # the second may come when the first has finished
    if codes == [0, 2]:
        loser = next(text for rival, text in zip(rivals, said, strict=True) if rival.returncode)
        assert "is being written by another process" in loser.splitlines()[-1]
    assert validate(path) == []
    assert content(path) == content(uninterrupted)


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 256 kB, where mounting is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)],
            capture_output=True,
            check=False,
        ).returncode
    )
    if not mounted:
        pytest.skip("mounting a tmpfs needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def remount(disk, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def test_a_disk_that_is_too_small_is_refused_before_anything_is_written(small_disk):
    done = subprocess.run(
        [*COMMAND, str(small_disk / "x.zarr"), *OPTIONS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "needs" in done.stderr
    assert "free" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(small_disk.iterdir())


def test_a_disk_that_fills_up_on_the_way(small_disk, uninterrupted, monkeypatch):
    path = small_disk / "x.zarr"
    config = GenerateConfig(**{**CONFIG.__dict__, "workers": 2})
    monkeypatch.setattr("orbits.generation.generate.DISK_MARGIN", 0.0)
    with pytest.raises(OSError, match=r"No space left.*x\.zarr"):
        generate(path, config)
    with pytest.raises(ValueError, match=r"cut short: \d+ of 20|unfinished"):
        open_dataset(path)
    remount(small_disk, "size=8m")
    assert write(path, resolve(config)) <= 20
    assert validate(path) == []
    assert content(path) == content(uninterrupted)
