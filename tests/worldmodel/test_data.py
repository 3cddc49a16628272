"""Batches: pieces of training orbits, in memory or mapped from a file."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import worldmodel.data
from worldmodel.config import ModelConfig, TrainConfig
from worldmodel.data import (
    Batches,
    DatasetSource,
    mapped_positions,
    measure_scales,
    training_positions,
)

CONFIG = TrainConfig(context_length=3, batch_tokens=96)


@pytest.mark.parametrize("kicked", [0.0, 0.5])
def test_a_mapped_file_holds_the_same_orbits(few_orbits, monkeypatch, kicked):
    monkeypatch.setattr(worldmodel.data, "ORBITS_AT_ONCE", 7)
    source, config = DatasetSource(few_orbits), replace(CONFIG, kicked=kicked)
    inside = training_positions(source, range(36), config)
    assert torch.equal(mapped_positions(source, 36, config), inside)


def test_every_context_is_a_piece_of_a_training_orbit(few_orbits):
    source = DatasetSource(few_orbits)
    position = source.read(range(36)).position[:, :, 0]
    pieces = np.lib.stride_tricks.sliding_window_view(position, 4, axis=1).swapaxes(2, 3)
    known = {piece.tobytes() for piece in pieces.reshape(-1, 4, 2)}
    batches = Batches(training_positions(source, range(36), CONFIG), CONFIG)
    for _ in range(20):
        crops = batches.next()
        assert crops.shape == (32, 4, 1, 2)
        assert all(crop.numpy()[:, 0].tobytes() in known for crop in crops)


def test_a_kick_depends_on_the_seed_and_the_orbit_alone(few_orbits):
    source, config = DatasetSource(few_orbits), replace(CONFIG, kicked=0.5)
    plain = training_positions(source, range(36), CONFIG)
    kicked = training_positions(source, range(36), config)
    alone = training_positions(source, [5, 17], config)
    assert torch.equal(alone, kicked[[5, 17]])
    changed = (kicked != plain).any(-1).any(-1).any(-1)
    # A fair coin for 36 orbits: 18 +- 9 is three standard deviations.
    assert 9 <= int(changed.sum()) <= 27


def test_standardised_targets_have_unit_size(few_orbits):
    position = DatasetSource(few_orbits).read(range(40)).position
    scales = measure_scales(position, ModelConfig(target="displacement"))
    step = np.diff(position, axis=1) / scales.target
    assert np.sqrt(np.mean(step**2)) == pytest.approx(1, rel=1e-3)
