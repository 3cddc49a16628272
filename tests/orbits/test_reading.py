"""Shuffled reading: every orbit once, in random order, the numbers zarr gives."""

import numpy as np
import pytest

from orbits.config import GenerateConfig
from orbits.dataset import open_dataset
from orbits.dataset.reading import shuffled_batches
from orbits.generation.generate import generate


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("read") / "x.zarr"
    generate(path, GenerateConfig(orbits=150, samples=8, shard_orbits=32, workers=1))
    return path


def test_every_orbit_comes_once(path):
    data = open_dataset(path)
    batches = list(shuffled_batches(path, ("position", "velocity", "gm"), batch=40, seed=3))
    assert [len(batch["gm"]) for batch in batches] == [40, 40, 40, 30]
    found = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    order = np.lexsort(found["position"][:, 0].T)
    expected = np.lexsort(data.position.values[:, 0].T)
    for name, values in found.items():
        np.testing.assert_array_equal(values[order], data[name].values[expected])


def test_order_is_random_and_repeatable(path):
    def first(seed):
        return next(shuffled_batches(path, batch=50, seed=seed))["position"]

    np.testing.assert_array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))
    stored = open_dataset(path).position.values[:, 0, 0].tolist()
    rows = [stored.index(x) for x in first(1)[:, 0, 0]]
    assert len({row // 32 for row in rows}) == 5  # of all shards
