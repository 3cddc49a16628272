"""The process in which PySR, and with it Julia, is imported: one search, its front on disk."""

import json
import sys
from pathlib import Path

import numpy as np

from orbits.command.parent import die_with_parent


def main(folder: str) -> None:
    """Run the search that `symreg.engines.pysr` has written into a folder."""
    die_with_parent()
    from pysr import PySRRegressor

    job = json.loads((Path(folder) / "job.json").read_text())
    data = np.load(Path(folder) / "data.npz")
    arguments = job["new"]
    # JSON has no tuples, and PySR wants one here
    arguments["constraints"] = {
        operator: tuple(sizes) for operator, sizes in arguments["constraints"].items()
    }
    PySRRegressor(**arguments).fit(data["X"], data["y"], **job["fit"])


if __name__ == "__main__":
    main(sys.argv[1])
