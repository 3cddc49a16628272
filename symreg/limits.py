"""Limits that the comparison of formulas keeps to by default."""

SECONDS = 10.0
"""CPU time that one comparison may take."""
EXPONENT_MARGIN = 0.05
"""Exponents closer than this are the same."""
