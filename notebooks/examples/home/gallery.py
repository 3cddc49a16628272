"""Draw the pictures of the page `gallery.md` by running the page.

python notebooks/examples/home/gallery.py
"""

import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

NOTEBOOKS = Path(__file__).parents[2]
STEP = re.compile(
    r"^```python\n(.*?)^```$|^!\[[^\]]*\]\((images/gallery/\S+)\)", re.DOTALL | re.MULTILINE
)


def main():
    """Run every block; where a picture follows, save what it drew."""
    found = {}
    for code, picture in STEP.findall((NOTEBOOKS / "gallery.md").read_text(encoding="utf-8")):
        if code:
            exec(code, found)
        else:
            plt.gcf().savefig(NOTEBOOKS / picture, dpi=100, bbox_inches="tight")
            plt.close("all")
            print(picture, flush=True)


if __name__ == "__main__":
    main()
