"""From measured trajectories to datasets, and from datasets to forces without a model."""
