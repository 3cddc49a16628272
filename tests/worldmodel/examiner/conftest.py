"""Predictors of known truth are imported from the examples."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "notebooks" / "examples" / "calibration"))
