"""The process in which PySR, and with it Julia, is imported: searches, their fronts on disk."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from symreg.engines.parent import die_with_parent

VERSIONS = "versions.json"


def main(folder: str) -> None:
    """Run the searches that `symreg.engines.pysr` has written into a folder, one after another."""
    die_with_parent()
    import pysr

    job = Path(folder)
    _note_versions(job / VERSIONS)
    for search in json.loads((job / "job.json").read_text()):
        data = np.load(job / search["data"])
        arguments = search["new"]
        # JSON has no tuples, and PySR wants one here
        arguments["constraints"] = {
            operator: tuple(sizes) for operator, sizes in arguments["constraints"].items()
        }
        pysr.PySRRegressor(**arguments).fit(data["X"], data["y"], **search["fit"])


def _note_versions(path: Path) -> None:
    """What searched: Julia and SymbolicRegression.jl, as they say themselves."""
    from pysr.julia_import import jl

    asked = {"julia": "VERSION", "SymbolicRegression.jl": "pkgversion(SymbolicRegression)"}
    # a search does not fail because a version cannot be told
    with suppress(Exception):
        told = {name: str(jl.seval(f"string({code})")) for name, code in asked.items()}
        path.write_text(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
