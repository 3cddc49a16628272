"""Colours of every picture in the project: Paul Tol's bright ones, by role and in order."""

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
