"""The examples are scripts: their folders are where they are imported from."""

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples"
sys.path += [str(EXAMPLES / name) for name in ("zoo", "recall", "calibration", "attention")]
