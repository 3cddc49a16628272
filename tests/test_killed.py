"""Killed at random moments (SIGKILL), gone on with: the same files as without, and nothing else.

Numbers of the clock (seconds, tokens per second) differ; everything else is compared byte by byte,
numbers in JSON to nine digits or 1e-10: the R² of a null control has differed by 1e-11 between two
runs, for a reason that is not known.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

pytestmark = pytest.mark.slow

RUN = [
    "--orbits", "40", "--steps", "60", "--search-seeds", "2", "--bodies", "earth", "--workers", "2",
    "--simulator", "kepler", "--exam-seed", "1",
]  # fmt: skip
STUDY = """
name: small
question: do two seeds agree?
base: {orbits: 30, steps: 20, search_seeds: 2, exam_seed: 1, sources: [orbit, kicked], controls: [],
  readouts: [], simulator: kepler}
grid: {seed: [0, 1]}
"""
COMMANDS = {
    "generate": "orbits generate {out}/data.zarr --orbits 60 --shard-orbits 4 --seed 3",
    "train": "worldmodel train {data} {out}/model --steps 150 --evaluate-every 10",
    "run": f"symreg run --out {{out}}/run {' '.join(RUN)}",
    "study": "symreg study {study} --out {out}/study --workers 1",
}
KILLS = {"generate": 6, "train": 3, "run": 2, "study": 2}
CLOCK = {"seconds", "processor_seconds", "sha256"}
"""Names of JSON's members that hold times, or checksums of files that do."""
LOGS = {"logs", "figures", "report.html", "results.csv", "results.parquet"}
"""What tells of a run: drawn and written anew each time, with seconds in it."""


def started(command):
    program, *arguments = command
    return subprocess.Popen(
        [sys.executable, "-P", "-m", program, *arguments],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GIT_DIR": os.devnull},  # a commit on the way is no difference
    )


def without_clock(value):
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if k not in CLOCK}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


def contents(folder: Path):
    """Every file: its bytes, or its JSON without times."""
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder)
        if LOGS & set(name.parts) or path.name == "metrics.jsonl":
            continue
        is_json = path.suffix == ".json"
        found[str(name)] = (
            without_clock(json.loads(path.read_text())) if is_json else path.read_bytes()
        )
    return found


def apart(first, second, name=""):
    """Files, and members of their JSON, that differ, by name."""
    if isinstance(first, dict) and isinstance(second, dict):
        pairs = {key: (first.get(key), second.get(key)) for key in first | second}
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = dict(enumerate(zip(first, second, strict=True)))
    else:
        numbers = isinstance(first, float) and isinstance(second, float)
        alike = first == second or (numbers and math.isclose(first, second, abs_tol=1e-10))
        return [] if alike else [f"{name}: {first!r:.200} | {second!r:.200}"]
    return [line for key, pair in pairs.items() for line in apart(*pair, f"{name}/{key}")]


def left_over(folder):
    """Processes that still work in the folder."""
    time.sleep(2)
    return [
        p.info["cmdline"]
        for p in psutil.process_iter(["cmdline", "cwd"])
        if p.pid != os.getpid()
        and any(str(folder) in part for part in [*(p.info["cmdline"] or []), str(p.info["cwd"])])
    ]


@pytest.fixture(scope="module")
def command_of(tmp_path_factory):
    shared = tmp_path_factory.mktemp("shared")
    (shared / "study.yaml").write_text(STUDY)
    data = shared / "data.zarr"
    options = ["generate", str(data), "--orbits", "60", "--simulator", "kepler", "--samples", "32"]
    assert started(["orbits", *options]).wait() == 0

    def command(name, out):
        words = COMMANDS[name].split()
        return [word.format(out=out, data=data, study=shared / "study.yaml") for word in words]

    return command


# workers that outlive the command are there only where it has some
@pytest.mark.parametrize(
    ("name", "whole_group"),
    [*((name, True) for name in COMMANDS), ("generate", False), ("run", False)],
)
def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(
    name, whole_group, command_of, tmp_path
):
    place, whole = tmp_path / "x", tmp_path / "whole"
    began = time.monotonic()
    assert started(command_of(name, place)).wait() == 0
    seconds = time.monotonic() - began
    place.rename(whole)  # the same path for both: outputs name what they were made from
    rng = np.random.default_rng(len(name))
    hits = 0
    for _ in range(KILLS[name]):
        process = started(command_of(name, place))
        try:
            process.wait(timeout=float(rng.uniform(0.3, seconds)))
            shutil.rmtree(place)  # it came to its end: begin anew, so that every kill can hit
        except subprocess.TimeoutExpired:
            (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
            process.wait()
            hits += 1
            if not whole_group:
                time.sleep(1.0)  # the others notice, and end
    assert started(command_of(name, place)).wait() == 0
    assert hits >= KILLS[name] // 2
    first, second = contents(whole), contents(place)
    assert first.keys() == second.keys()
    assert apart(first, second) == []
    assert left_over(tmp_path) == []
    print(f"{name}: {hits} of {KILLS[name]} kills hit, {seconds:.0f} s uninterrupted")


@pytest.mark.parametrize("seconds", [2, 4, 5, 6, 8])
def test_ctrl_c_reaches_every_process_and_is_one_line(seconds, command_of, tmp_path):
    """As a terminal sends it: to the command, its workers and what starts them, all at once."""
    process = subprocess.Popen(
        command_of("run", tmp_path / "x"),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # a shell's background jobs, of which the tests may be one, ignore it from birth
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1].strip().splitlines()
    assert process.returncode == 130
    assert "interrupted" in said[-1]
    assert not [line for line in said if "Traceback" in line or "Warning" in line]
    mine = (each.info for each in psutil.process_iter(["cmdline"]))
    assert not [each for each in mine if str(tmp_path) in " ".join(each["cmdline"] or [])]
