"""Shuffled reading: every orbit once, in random order, the numbers zarr gives."""

import numpy as np
import pytest

from orbits.config import GenerateConfig
from orbits.dataset import open_dataset
from orbits.generation import generate
from orbits.reading import ShuffleBuffer, read_shard, shuffled_batches
from orbits.records.places import Place


@pytest.fixture(scope="module", params=["folder", "address"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("read") / "x.zarr"
    if request.param == "address":
        path = "memory://reading-test/x.zarr"
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
    def first(seed, **options):
        return next(shuffled_batches(path, batch=50, seed=seed, **options))["position"]

    np.testing.assert_array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))
    stored = open_dataset(path).position.values[:, 0, 0].tolist()
    rows = [stored.index(x) for x in first(1, buffer_shards=5)[:, 0, 0]]
    assert len({row // 32 for row in rows}) == 5  # the whole buffer is mixed


def test_a_mapped_shard_is_what_zarr_reads(path):
    place = Place(path)
    group = place.group("r")
    for name in ("position", "gm"):
        for shard in (0, 4):  # the last one is not full
            some = slice(32 * shard, min(32 * shard + 32, 150))
            np.testing.assert_array_equal(read_shard(place, group[name], shard), group[name][some])


def test_impossible_requests(path):
    with pytest.raises(ValueError, match="batch is 0"):
        next(shuffled_batches(path, batch=0))
    with pytest.raises(ValueError, match="does not exist"):
        next(shuffled_batches("nowhere.zarr"))


def endless(serial):
    """Five blocks of four orbits, over and over."""
    first = 4 * (serial % 5)
    return np.arange(first, first + 4)


def ended(serial):
    return endless(serial) if serial < 5 else np.empty(0, dtype=np.int64)


def squares(numbers):
    return {"square": numbers.astype(float) ** 2, "pair": np.stack([numbers, -numbers], axis=1)}


def test_a_buffer_holds_what_was_read_of_its_numbers():
    buffer = ShuffleBuffer(endless, squares)
    buffer.fill(6)
    assert buffer.numbers.tolist() == [0, 1, 2, 3, 4, 5]
    assert buffer.replace(np.array([3, 0, 1])) == 2  # the rest of a block
    assert buffer.numbers.tolist() == [7, 1, 2, 6, 4, 5]
    buffer.keep(np.array([5, 0]))
    buffer.fill(4)
    assert buffer.numbers.tolist() == [5, 7, 8, 9]
    for name, values in squares(buffer.numbers).items():
        np.testing.assert_array_equal(buffer.arrays[name], values)


def test_a_buffer_ends_with_its_blocks():
    buffer = ShuffleBuffer(ended, squares)
    buffer.fill(100)
    assert buffer.numbers.tolist() == list(range(20))
    assert buffer.replace(np.array([1])) == 0
    buffer.fill(100)
    assert len(buffer) == 20


def test_a_buffer_goes_on_from_its_state():
    def move_on(buffer, rng):
        return [(buffer.replace(rng.permutation(6)[:3]), buffer.numbers.tolist()) for _ in range(9)]

    whole, rng = ShuffleBuffer(endless, squares), np.random.default_rng(0)
    whole.fill(6)
    move_on(whole, rng)
    state = {name: value.copy() for name, value in whole.state().items()}
    again = ShuffleBuffer(endless, squares)
    again.restore(state, at_once=4)
    np.testing.assert_array_equal(again.arrays["square"], whole.arrays["square"])
    seeds = [np.random.default_rng(1) for _ in range(2)]
    assert move_on(again, seeds[0]) == move_on(whole, seeds[1])
    np.testing.assert_array_equal(again.arrays["pair"], whole.arrays["pair"])
