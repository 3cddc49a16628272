"""Ten stories of a newcomer, each from the site alone: what to read, to type and to wait for.

    python tests/benchmarks/stories.py            # all, about a quarter of an hour
    python tests/benchmarks/stories.py table resume

A story is a section of a page. Reading counts all of its words at 238 a minute (Brysbaert 2019,
silent reading of English), typing the characters of its first blocks at 200 a minute: what somebody
needs who reads all and pastes nothing. A notebook is opened and run: its code is read, not typed.
The blocks run as they stand, in an empty folder with the files that the page presupposes. A shell
that fails ends the story with its message.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd

PAGES = Path(__file__).parents[2] / "notebooks"
WORDS, CHARACTERS = 238, 200
"""A minute."""


def own_table(folder: Path) -> None:
    """Forces between pairs of masses, 1 % noise."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.uniform(1, 3, (200, 3)), columns=["r", "m1", "m2"])
    noise = 1 + 0.01 * random.standard_normal(200)
    table["F"] = 39.5 * table.m1 * table.m2 / table.r**2 * noise
    table.to_csv(folder / "table.csv", index=False)


def own_stars(folder: Path) -> None:
    """Two stars on a circle about their centre of mass, in km and days."""
    t = np.arange(300) * 2.0
    a, b = 6.0e7, 9.0e7
    gm = 1.327e11 * 2.0 * 86400.0**2  # km^3/d^2
    turn = np.sqrt(gm / (a + b) ** 3) * t
    columns = {"time": t, "x1": a * np.cos(turn), "y1": a * np.sin(turn)}
    columns |= {"x2": -b * np.cos(turn), "y2": -b * np.sin(turn)}
    pd.DataFrame(columns).to_csv(folder / "stars.csv", index=False)


def own_model(folder: Path) -> None:
    """What the page itself lets one type: `mine.py`."""
    page = (PAGES / "how-to" / "own-model.md").read_text()
    (folder / "mine.py").write_text(blocks(page)[0][1])


def datasets(folder: Path) -> None:
    """Those of the page on orbits."""
    page = (PAGES / "how-to" / "orbits.md").read_text()
    run("sh", blocks(page)[0][1], folder)


def nothing(folder: Path) -> None:
    """An empty folder."""


@dataclass(frozen=True)
class Story:
    """A page, its section ("" is the top of the page), and which of its blocks are typed."""

    page: str
    section: str
    typed: slice
    begin: Callable[[Path], None] = nothing


STORIES = {
    "table": Story("how-to/own-table.md", "", slice(1), own_table),
    "trajectories": Story("how-to/own-trajectories.md", "", slice(1), own_stars),
    "model": Story("how-to/own-model.md", "", slice(0, 2), own_model),
    "train": Story("how-to/train-and-probe.md", "", slice(1), datasets),
    "verdict": Story("how-to/verdict.md", "From Python", slice(2)),
    "arrays": Story("how-to/own-trajectories.md", "From Python", slice(1)),
    "kicked": Story("how-to/own-trajectories.md", "From Python", slice(2)),
    "scikit-learn": Story("how-to/from-pysr.md", "", slice(1)),
    "lssar": Story("10_lssar_beside_softmax.ipynb", "", slice(None)),
    "resume": Story("how-to/cluster.md", "Resume", slice(1)),
}


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and code of every block that is typed."""
    return re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def section(text: str, title: str) -> str:
    """A section of a page, from its heading to the next."""
    parts = re.split(r"^(#{1,2} .*)$", text, flags=re.MULTILINE)
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if (not title and heading.startswith("# ")) or heading == f"## {title}":
            return body
    raise SystemExit(f"no section {title!r}")


def told(story: Story) -> tuple[str, list[tuple[str, str]]]:
    """Prose and typed blocks of a story."""
    path = PAGES / story.page
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        return prose, [("python", "\n".join(x for x in code.splitlines() if x[:1] != "%"))]
    body = section(path.read_text(), story.section)
    prose = re.sub(r"^```.*?^```$", " ", body, flags=re.DOTALL | re.MULTILINE)
    return prose, blocks(body)[story.typed]


def run(language: str, code: str, folder: Path) -> None:
    """Run a block as a newcomer would; a failure ends the program with its message."""
    command = ["bash", "-e", "-c", code] if language == "sh" else [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr[-2000:]}")


def main() -> None:
    """Print a row for every story."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stories", nargs="*", default=list(STORIES), choices=[[], *STORIES])
    print(f"{'story':14}{'words':>7}{'characters':>12}{'read and type':>15}{'program':>9}")
    for name in parser.parse_args().stories:
        story = STORIES[name]
        prose, typed = told(story)
        code = " ".join(code for _, code in typed)
        opened = story.page.endswith(".ipynb")
        words, characters = len(prose.split()), len(code)
        if opened:
            words, characters = words + len(code.split()), 0
        minutes = words / WORDS + characters / CHARACTERS
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "notebooks").symlink_to(PAGES)
            story.begin(Path(folder))
            began = time.monotonic()
            for language in dict.fromkeys(language for language, _ in typed):
                code = "\n".join(code for kind, code in typed if kind == language)
                if name != "model" or language == "sh":  # what defines mine.py is not run
                    run(language, code, Path(folder))
            took = time.monotonic() - began
        print(f"{name:14}{words:7}{characters:12}{minutes:11.1f} min{took:7.0f} s", flush=True)


if __name__ == "__main__":
    main()
