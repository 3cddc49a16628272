"""Accelerations along trajectories, measured from the positions alone."""
