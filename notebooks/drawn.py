"""The pictures of the documentation, each with a mark of what it was drawn from: none is stale.

    python notebooks/drawn.py            # draws from committed tables those whose mark differs
    python notebooks/drawn.py --gallery  # and runs the page `gallery.md` (minutes)

A mark is a hash of code without comments, docstrings and captions, of the Python of a page, and of
tables; it stands in the PNG, with the names of the files. A test compares it with those of today.
"""

import argparse
import ast
import hashlib
import json
import re
import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd
from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "notebooks" / "images"
STUDIES, EXAMPLES = "notebooks/studies", "notebooks/examples"
LOOKS = [
    "orbits/palette.py", "orbits/plot.py", "worldmodel/plot.py", "symreg/recovery/plot.py",
    "symreg/experiments/figures/law.py", "symreg/experiments/figures/kicks.py",
]  # fmt: skip
"""What draws the gallery, beside the page."""
FROM_TABLES = {
    "identify": [f"{STUDIES}/identify.py", f"{STUDIES}/panels.py"],
    "paired": [f"{STUDIES}/paired.py", f"{STUDIES}/panels.py"],
    "softplus": [f"{STUDIES}/softplus.py", f"{STUDIES}/panels.py"],
    "softplus_effects": [f"{EXAMPLES}/attention/effects.py"],
    "decoded": [f"{EXAMPLES}/causal/scatter.py"],
}
"""Pictures drawn from the table of their name, and by what; effects from the table of softplus."""


def meaning(path):
    """What of a file decides on a picture, as text."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    if not path.endswith(".py"):
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            told = [each for each in body if not _is_text(each) and not _is_caption(each)]
            node.body = told or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def _is_caption(node):
    """`FIGURE` of a run: a name and a caption beside the function that draws."""
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FIGURE"


def mark_of(files):
    """The mark of some files, as it stands in a picture."""
    content = "\0".join(meaning(path) for path in files)
    return json.dumps({"files": files, "sha256": hashlib.sha256(content.encode()).hexdigest()})


def mark_in(picture):
    """The mark in a picture, or None."""
    with Image.open(picture) as image:
        return image.info.get("Drawn from")


def inputs_of(name):
    """The files that a picture of the tables is drawn from."""
    table = "softplus" if name == "softplus_effects" else name
    return [*FROM_TABLES[name], f"notebooks/images/{table}.csv"]


def draw(name):
    """A picture from its table."""
    script, *_, table = inputs_of(name)
    found = runpy.run_path(str(ROOT / script))
    frame = pd.read_csv(ROOT / table)
    if "FIGURE" in found:
        figure, _ = found["FIGURE"].draw(frame)[name]
    else:
        figure = found["figure_of"](frame)
    figure.savefig(
        IMAGES / f"{name}.png", dpi=150, metadata={"Drawn from": mark_of(inputs_of(name))}
    )
    plt.close("all")


def main():
    """Draw what is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gallery", action="store_true", help="run its page, in minutes")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / STUDIES)]
    for name in FROM_TABLES:
        if mark_in(IMAGES / f"{name}.png") != mark_of(inputs_of(name)):
            draw(name)
            print(name, flush=True)
    if options.gallery:
        gallery = runpy.run_path(str(ROOT / EXAMPLES / "home" / "gallery.py"))
        gallery["draw"]({"Drawn from": mark_of(["notebooks/gallery.md", *LOOKS])})


if __name__ == "__main__":
    main()
