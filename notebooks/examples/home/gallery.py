"""Draw the pictures of `gallery.md` by running the page: `python notebooks/drawn.py --gallery`."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

NOTEBOOKS = Path(__file__).parents[2]
STEP = re.compile(
    r'^```python\n(.*?)^```$|^(?:!\[[^\]]*\]\(|<iframe [^>]*src=")(images/gallery/[^")]+)',
    re.DOTALL | re.MULTILINE,
)


def draw(metadata):
    """Run every block; where a picture follows, save what it drew, or its moving picture."""
    found = {}
    for code, picture in STEP.findall((NOTEBOOKS / "gallery.md").read_text(encoding="utf-8")):
        if code:
            exec(code, found)
        elif picture.endswith(".html"):
            found["moving"].save(NOTEBOOKS / picture)
        else:
            figure = plt.gcf()
            figure.savefig(NOTEBOOKS / picture, dpi=100, bbox_inches="tight", metadata=metadata)
            plt.close("all")
        if picture:
            print(picture, flush=True)
