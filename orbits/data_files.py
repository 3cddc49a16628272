"""Tables of facts that a package carries: units, constants of physics, laws of textbooks."""

import csv
from importlib.resources import files


def rows_of(package: str, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file in a package's folder, by the names of the columns."""
    with files(package).joinpath(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
