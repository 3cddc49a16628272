"""Small data sets and runs that several tests look at; nobody writes to them."""

import os
from pathlib import Path

import pytest
import torch

from orbits.config import GenerateConfig
from orbits.generation.generate import generate

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


@pytest.fixture(scope="session")
def make_orbits():
    """Makes a small data set and gives its path."""

    def make(path: Path, **options) -> str:
        defaults = {"orbits": 40, "samples": 24, "simulator": "kepler", "workers": 1}
        generate(path, GenerateConfig(**(defaults | options)))
        return str(path)

    return make


@pytest.fixture(scope="session")
def newton_orbits(make_orbits, tmp_path_factory):
    """400 orbits under Newton's law, enough to learn from."""
    folder = tmp_path_factory.mktemp("orbits")
    return make_orbits(folder / "newton.zarr", orbits=400, samples=128)


@pytest.fixture(scope="session")
def few_orbits(make_orbits, tmp_path_factory):
    """40 orbits of 24 states, enough to see that something runs."""
    return make_orbits(tmp_path_factory.mktemp("orbits") / "few.zarr")
