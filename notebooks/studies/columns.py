"""The table of a study that a page shows: finished cells, and the columns that the page needs.

    python notebooks/studies/columns.py STUDY/results.csv notebooks/images/TABLE.csv

The table keeps its columns; numbers have five digits.
"""

import sys
from pathlib import Path

import pandas as pd

DIGITS = "%.5g"


def shown(results: Path, table: Path) -> pd.DataFrame:
    """The rows of a study's results that are finished, in the columns of a table."""
    columns = list(pd.read_csv(table, nrows=0))
    cells = pd.read_csv(results)
    return cells.loc[cells["status"] == "done", columns]


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    shown(source, target).to_csv(target, index=False, float_format=DIGITS)
