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
from worldmodel.objective import raw_target
from worldmodel.representation import REPRESENTATIONS
from worldmodel.representation.base import in_units

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


@pytest.mark.parametrize("target", ["displacement", "residual", "position"])
@pytest.mark.parametrize("outputs", ["coordinates", "logarithms"])
@pytest.mark.parametrize("inputs", REPRESENTATIONS)
def test_standardised_inputs_and_targets_have_unit_size(few_orbits, inputs, outputs, target):
    position = DatasetSource(few_orbits).read(range(40)).position
    scales = measure_scales(position, ModelConfig(inputs=inputs, outputs=outputs, target=target))
    states = torch.from_numpy(position).double()
    aimed = raw_target(target, states[:, :-1], states[:, 1:])[:, target == "residual" :]
    for parts, units in (
        (REPRESENTATIONS[inputs].seen(states), scales.inputs),
        (REPRESENTATIONS[outputs].said(aimed), scales.outputs),
    ):
        for part, values in zip(parts, in_units(parts, units), strict=True):
            known = values[:, part.first :].numpy()
            assert np.sqrt(np.mean(known**2)) == pytest.approx(1, rel=1e-3)
            assert not part.shifted or np.mean(known) == pytest.approx(0, abs=1e-6)


def test_the_unit_of_a_displacement_is_its_size(few_orbits):
    position = DatasetSource(few_orbits).read(range(40)).position
    config = ModelConfig(inputs="differences", outputs="coordinates", target="displacement")
    scales = measure_scales(position, config)
    steps = np.diff(position, axis=1)
    sizes = [
        np.sqrt(np.mean(x.astype(float) ** 2)) for x in (position, steps, np.diff(steps, axis=1))
    ]
    assert [unit.size for unit in scales.inputs] == pytest.approx(sizes, rel=1e-3)
    assert [unit.size for unit in scales.outputs] == pytest.approx(sizes[1:2], rel=1e-3)
    assert not any(unit.origin for unit in scales.inputs + scales.outputs)
