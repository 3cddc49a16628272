"""Simulate trajectories under a known force and keep them in checked datasets."""
