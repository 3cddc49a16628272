"""Datasets from trajectories that somebody measured or simulated."""
