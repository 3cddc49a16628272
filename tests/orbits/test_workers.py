"""Workers end with the process that began them, execute nothing of the folder, and are told."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

import orbits
from orbits.workers import worker_pool

GENERATE = ["--orbits", "4000", "--samples", "400", "--simulator", "scipy", "--workers", "2"]


def alive(processes):
    """Those that are still there, and no zombies."""
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def command_of(process):
    """Nothing of one that ended while it was looked at."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def eventually(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def at_work(path, cwd=None, safe=True):
    """`orbits generate` with two workers that make shards, and all processes that it began."""
    command = [sys.executable, *(["-P"] if safe else []), "-m", "orbits", "generate", str(path)]
    process = subprocess.Popen([*command, *GENERATE], stderr=subprocess.PIPE, text=True, cwd=cwd)
    mine = psutil.Process(process.pid)

    def children():
        return [p for p in mine.children(recursive=True) if "forkserver" in command_of(p)]

    # the server and two workers, which take time for orbits
    eventually(lambda: sum(sum(p.cpu_times()[:2]) > 0.3 for p in children()) >= 2)
    return process, children()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("number", "stopped"),
    [
        (signal.SIGKILL, None), (signal.SIGINT, None),
        (signal.SIGKILL, "parent"), (signal.SIGINT, "worker"),
    ],
)  # fmt: skip
def test_every_worker_is_gone_five_seconds_after_its_parent(tmp_path, number, stopped):
    process, workers = at_work(tmp_path / "x.zarr")
    assert len(workers) >= 3
    if stopped == "parent":
        process.send_signal(signal.SIGSTOP)
    elif stopped == "worker":
        max(workers, key=lambda p: p.create_time()).suspend()
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    eventually(lambda: not alive(workers), seconds=5)
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted" in said.strip().splitlines()[-1]


def test_a_killed_worker_is_one_line(tmp_path):
    process, workers = at_work(tmp_path / "x.zarr")
    max(workers, key=lambda p: p.create_time()).kill()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in said
    assert "a worker process was killed, perhaps for want of memory" in said.splitlines()[-1]


def test_nothing_of_the_current_folder_is_executed(tmp_path, monkeypatch):
    for name in ("numpy", "joblib", "random", "_bisect"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('executed')")
    (tmp_path / "multiprocessing").mkdir()
    (tmp_path / "multiprocessing" / "__init__.py").write_text("raise SystemExit('executed')")
    monkeypatch.chdir(tmp_path)
    orbits.generate("x.zarr", orbits=40, samples=8, shard_orbits=16, workers=2, simulator="kepler")
    assert orbits.validate("x.zarr") == []


def test_workers_take_one_thread_each_and_leave_the_environment_alone():
    before = dict(os.environ)
    with worker_pool(1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
        assert pool.submit(os.getenv, "PYTHONSAFEPATH").result() == "1"
    assert dict(os.environ) == before


def test_a_failure_ends_workers_at_once_and_the_thread_that_serves_them():
    began, threads = time.monotonic(), threading.active_count()
    with pytest.raises(ValueError, match="no luck"), worker_pool(1) as pool:
        pool.submit(time.sleep, 60)
        pool.submit(int, "1").running()
        raise ValueError("no luck")
    assert threading.active_count() == threads
    assert time.monotonic() - began < 30


def test_a_server_that_still_loads_is_ended_and_nobody_waits_for_its_output(tmp_path):
    (tmp_path / "sleeper.py").write_text("import time; time.sleep(60)")
    program = "from orbits.workers import preload, unload; preload(['sleeper']); unload()"
    subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, timeout=50,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
