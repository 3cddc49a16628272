"""Files are whole or absent, and fingerprints depend on content alone."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.files import held, read_json, sha256_of_json, write_json, write_text, written_aside
from orbits.options import require_known
from orbits.provenance import provenance


def test_a_failure_while_writing_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "earlier")
    with pytest.raises(RuntimeError), written_aside(path) as aside:
        aside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_json_round_trip(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "a.json"
    write_json(path, value)
    finite = sha256_of_json(value)  # infinity becomes null in both
    assert sha256_of_json(read_json(path)) == finite


def test_numpy_and_what_is_not_finite_become_plain_json(tmp_path):
    write_json(tmp_path / "a.json", {"n": np.float64(2), "v": np.arange(2), "bad": math.nan})
    assert read_json(tmp_path / "a.json") == {"n": 2.0, "v": [0, 1], "bad": None}


def test_a_fingerprint_does_not_depend_on_the_order_of_keys():
    assert sha256_of_json({"a": 1, "b": (2, 3)}) == sha256_of_json({"b": [2, 3], "a": 1})
    assert sha256_of_json({"a": 1}) != sha256_of_json({"a": 2})


@pytest.mark.parametrize("content", [None, b"{half", b"\xff\xfe"])
def test_a_file_that_is_missing_or_not_json_is_named(tmp_path, content):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.json (does not exist|is not a JSON file)"):
        read_json(path)


def test_a_near_miss_is_named():
    with pytest.raises(ValueError, match="'lsar' is not known; did you mean 'lssar'\\? Known: ls"):
        require_known("attention", "lsar", ["softmax", "lssar", "lssa"])
    assert require_known("attention", "lssa", ["softmax", "lssa"]) == "lssa"


def test_provenance_holds_what_a_result_depends_on():
    found = provenance({"seed": 3})
    assert found["configuration"] == {"seed": 3}
    assert {"python", "numpy"} <= found["versions"].keys()
    assert found["configuration_sha256"] != provenance({"seed": 4})["configuration_sha256"]


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


def test_what_a_killed_writer_left_is_swept_and_that_of_a_living_one_stays(tmp_path):
    code = """
import os, sys
from orbits.files import written_aside
with written_aside(sys.argv[1]) as aside:
    aside.write_text("half")
    os.kill(os.getpid(), 9)
"""
    path = tmp_path / "a[1].json"
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == -9
    assert [p.suffix for p in tmp_path.iterdir()] == [".partial"]
    with written_aside(path) as living:
        living.write_text("mine")
        write_text(path, "another's")
        assert living.exists()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "mine"
