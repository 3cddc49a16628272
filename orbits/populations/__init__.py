"""Sampling systems: vectorised, reproducible, with random phase and orientation."""
