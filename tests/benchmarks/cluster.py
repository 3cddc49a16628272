"""Orbits and the cells of a study on a dask cluster, one of whose processes is killed on the way.

    python tests/benchmarks/cluster.py out --orbits 1000000 --cells 64 --workers 1 2

Each command is run by itself with one worker, then on clusters of so many processes, of which the
first is killed (SIGKILL) when a third of the files are there. Printed are wall and processor
seconds (of the command, and of all processes of the cluster), and whether every file is that of
the first run, but for times.
"""

import argparse
import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import distributed

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_killed import apart, contents

STUDY = """
name: cells
question: are {cells} cells on a cluster those of one process?
base: {{orbits: 8, samples: 24, steps: 20, context_length: 4, d_model: 8, n_layers: 1, n_heads: 1,
  inputs: coordinates, outputs: coordinates, norm: layer, muon_lr: 0.02,
  exam_seed: 1, sources: [], controls: [], readouts: [evaluate], simulator: kepler}}
grid: {{seed: {seeds}}}
"""
REAP = 36
"""PR_SET_CHILD_SUBREAPER of Linux: worker processes that outlive a command become children here."""


def processor_seconds():
    """Of all processes that ended, also those whose parent ended before them."""
    time.sleep(2)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def timed(command, place, workers=0, files=0):
    """Wall and processor seconds of a command, on a cluster if it has workers; whether a worker was
    killed when the place had so many files."""
    before, ended = processor_seconds(), threading.Event()
    killed = []

    def kill(cluster):
        while not ended.wait(0.1):
            if len(list(place.rglob("*"))) >= files:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)
                return

    def run(*more):
        began = time.monotonic()
        words = [sys.executable, "-P", "-m", *map(str, command), *more]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(words, check=True, **quiet)
        return time.monotonic() - began

    if not workers:
        return run("--workers", "1"), processor_seconds() - before, 0
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        killer = threading.Thread(target=kill, args=[cluster])
        killer.start()
        try:
            wall = run("--scheduler", cluster.scheduler_address)
        finally:
            ended.set()
            killer.join()
    return wall, processor_seconds() - before, len(killed)


def measure(name, command, place, counts):
    """Print a row for each number of processes, and below it the first files that differ."""
    print(f"\n{name}: `{' '.join(map(str, command))}`\n", flush=True)
    print("| processes | killed | wall, s | processor, s | same files |\n|---|---|---|---|---|")
    alone, spent, _ = timed(command, place)
    print(f"| 1, without a cluster | 0 | {alone:.0f} | {spent:.0f} | |", flush=True)
    first, files = contents(place), len(list(place.rglob("*")))
    shutil.rmtree(place)
    for count in counts:
        wall, spent, killed = timed(command, place, count, files / 3)
        second = contents(place)
        found = [*first.keys() ^ second.keys(), *apart(first, second)]
        same = "no" if found else "yes"
        print(f"| {count} | {killed} | {wall:.0f} | {spent:.0f} | {same} |", flush=True)
        print(*found[:5], sep="\n", end="")
        shutil.rmtree(place)


def study_of(cells, out):
    """The command of a study of small cells, and its folder."""
    source = out / "cells.yaml"
    source.write_text(STUDY.format(cells=cells, seeds=list(range(cells))))
    return ["symreg", "study", str(source), "--out", str(out / "cells")], out / "cells"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--orbits", type=int, default=1_000_000)
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    os.environ["GIT_DIR"] = os.devnull  # of workers too: a commit on the way is no difference
    options.out.mkdir(parents=True)
    ctypes.CDLL(None).prctl(REAP, 1)
    out = options.out.absolute()
    if options.orbits:
        command = ["orbits", "generate", str(out / "x.zarr"), "--orbits", str(options.orbits)]
        measure(f"{options.orbits} orbits", command, out / "x.zarr", options.workers)
    if options.cells:
        command, place = study_of(options.cells, out)
        measure(f"a study of {options.cells} cells", command, place, options.workers)


if __name__ == "__main__":
    main()
