"""How coarse answers are shows in the answers: any grid is found, and none where there is none."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from worldmodel.grain import grain
from worldmodel.probes.readouts.implied import rounding

ROWS = 300


def drawn(seed):
    """Last positions and next ones, au."""
    random = np.random.default_rng(seed)
    here = random.normal(size=(ROWS, 2))
    return here, here + 0.05 * random.normal(size=(ROWS, 2))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 999), st.floats(-5, -1), st.booleans(), st.booleans())
def test_an_even_grid_is_found_in_positions_and_in_displacements(seed, power, single, steps):
    spacing = 10**power
    here, following = drawn(seed)
    base = here if steps else 0.0
    answers = base + np.round((following - base) / spacing) * spacing
    if single and not steps and power > -3:  # else its own last digit is the grid
        answers = answers.astype(np.float32).astype(float)
    found = grain(answers, here)
    assert np.allclose(found, spacing, rtol=1e-3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999), st.sampled_from([1.0, 149_597_870.7, 1e-3]))
def test_none_is_found_where_there_is_none(seed, unit):
    here, following = drawn(seed)
    assert not grain(following * unit / unit, here).any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("steps", [False, True])
def test_the_grid_of_floating_point_is_its_last_digit(dtype, steps):
    here, following = drawn(0)
    base = here if steps else np.zeros_like(here)
    coarse = torch.tensor(following - base).to(dtype).double().numpy()
    found = grain(base + coarse, here)
    spacing = torch.finfo(dtype).eps * 2 ** np.floor(np.log2(np.abs(coarse)))
    wide = np.abs(coarse) > 2**-14  # narrower, half precision has fewer digits
    if steps and dtype == torch.float32:  # its last digit is lost in the sum
        assert found.max() <= spacing.max()
    else:
        assert np.allclose(found[wide], spacing[wide])


def test_what_is_not_answered_has_no_spacing():
    here, following = drawn(1)
    answers = np.round(following, 3)
    answers[::5] = np.nan
    found = grain(answers, here)
    assert not found[::5].any()
    assert np.allclose(np.delete(found, slice(None, None, 5), axis=0), 1e-3)
    assert not grain(np.full((4, 2), np.nan), here[:4]).any()


@pytest.mark.parametrize(("decimals", "expected"), [(None, 0.0), (3, 1e-3)])
def test_rounding_is_told_beside_what_the_acceleration_moves(decimals, expected):
    random = np.random.default_rng(0)
    position = random.normal(size=(20, 30, 1, 2))
    moved = 0.02 * random.normal(size=position.shape)
    predicted = position + moved
    if decimals is not None:
        predicted = np.round(predicted, decimals)
    error = np.sqrt(2 / 12) * expected
    told = rounding(predicted, position, moved)
    assert told == pytest.approx(float(np.median(error / np.linalg.norm(moved, axis=-1))))
    assert rounding(predicted, position, np.full(moved.shape, np.nan)) is None
