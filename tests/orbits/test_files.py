"""Files are whole or absent, and fingerprints depend on content alone."""

import os
import platform
import subprocess
import sys

import pytest

from orbits.files import held, write_text, written_aside


def test_a_failure_while_writing_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "earlier")
    with pytest.raises(RuntimeError), written_aside(path) as aside:
        aside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


HOLDER = """
import sys, time
from pathlib import Path
from orbits.files import held
with held(Path(sys.argv[1]), "mine"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_held_by_one_process_and_a_killed_one_leaves_no_lock(tmp_path):
    folder = tmp_path / "new"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="wait for it"), held(folder, "wait for it"):
            pass
        holder.kill()
    with held(folder, "wait for it"):
        assert (folder / ".lock").exists()
    with held(folder, "wait for it"):
        pass


KILLED = """
import os, sys, platform
from orbits.files import written_aside
platform.node = lambda: sys.argv[2]
with written_aside(sys.argv[1]) as aside:
    aside.write_text("half")
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_writer_left_is_swept_and_that_of_a_living_one_stays(tmp_path):
    path = tmp_path / "a[1].json"
    command = [sys.executable, "-c", KILLED, str(path), platform.node()]
    assert subprocess.run(command).returncode == -9
    assert [p.suffix for p in tmp_path.iterdir()] == [".partial"]
    with written_aside(path) as living:
        living.write_text("mine")
        write_text(path, "another's")
        assert living.exists()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "mine"


def test_what_another_host_or_container_writes_is_swept_only_after_a_day_of_silence(tmp_path):
    path = tmp_path / "a.json"
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), "elsewhere"]).returncode == -9
    (left,) = tmp_path.iterdir()
    write_text(path, "mine")  # its process has a number that is nobody's here
    assert left.exists()
    os.utime(left, (0, 0))
    write_text(path, "mine")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
