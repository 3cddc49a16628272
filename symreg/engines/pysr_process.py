"""The process that imports PySR, and with it Julia: searches, their fronts on disk."""

import ctypes
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

VERSIONS = "versions.json"
DEATH_SIGNAL = 1
"""Number of PR_SET_PDEATHSIG."""
POLL = 0.5
"""Seconds between checks of the parent."""


def main(folder: str, parent: int) -> None:
    """Run the searches that `symreg.engines.pysr` wrote to a folder, one after another.

    Versions are noted when Julia has started and compiled: from then on the time counts.
    """
    die_with(parent)
    job = Path(folder)
    searches = json.loads((job / "job.json").read_text())
    # Julia compiles what the first search needs, for a quarter of a minute
    _search(job, searches[0], niterations=1, run_id="compiled")
    _note_versions(job / VERSIONS)
    for search in searches:
        _search(job, search)


def _search(job: Path, search: dict[str, Any], **changed: Any) -> None:
    """One search, with some arguments of the constructor changed."""
    import pysr

    data = np.load(job / search["data"])
    arguments = search["new"] | changed
    # JSON has no tuples, and PySR wants one here
    arguments["constraints"] = {
        operator: tuple(sizes) for operator, sizes in arguments["constraints"].items()
    }
    pysr.PySRRegressor(**arguments).fit(data["X"], data["y"], **search["fit"])


def die_with(parent: int) -> None:
    """Be killed at once when the parent process is gone, whatever this one does.

    Inside Julia no Python thread runs. Only Linux has a signal for that (prctl(2)); elsewhere a
    thread checks, and the search ends when Julia returns.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os.kill(os.getpid(), signal.SIGKILL)


def _note_versions(path: Path) -> None:
    """Versions of Julia and SymbolicRegression.jl, as they report them."""
    from pysr.julia_import import jl

    asked = {"julia": "VERSION", "SymbolicRegression.jl": "pkgversion(SymbolicRegression)"}
    versions = {}
    # a search does not fail because a version cannot be told
    with suppress(Exception):
        versions = {name: str(jl.seval(f"string({code})")) for name, code in asked.items()}
    path.write_text(json.dumps(versions))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
