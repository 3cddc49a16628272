"""Colours and legends of every picture in the project; the colours are Paul Tol's bright ones."""

from typing import Any

COLORS = {
    "orbit": "#4477aa",
    "kicked": "#cc6677",
    "planets": "#228833",
    "injected": "#777777",
    "untrained": "#ccaa33",
    "keplerian": "#aa3377",
    "reference": "#222222",
}
"""By role: states of a model, controls in its place, and the known law."""

CYCLE = ("#4477aa", "#cc6677", "#228833", "#ccaa33", "#aa3377", "#66ccee", "#777777", "#222222")
"""For lines without such a role, in this order."""
LEGEND: dict[str, Any] = {"fontsize": 8, "frameon": False}
"""Smaller than what stands at the axes (10), and without a frame."""
FAINT = 0.35
"""Opacity of single states, of which many lie on one another."""
