"""Planets weighed by the times at which they pass in front of their star."""
