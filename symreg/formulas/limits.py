"""Limits that verdicts keep to."""

SECONDS = 10.0
"""CPU time that one comparison may take."""
EXPONENT_MARGIN = 0.05
"""Exponents closer than this are the same."""
LEAST_R2 = 0.5
"""Below this on held-out groups nothing was found, whatever the formula looks like."""
