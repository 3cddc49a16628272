"""Datasets from trajectories measured or simulated elsewhere."""
