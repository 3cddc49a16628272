"""The told mass: what is told, that it is needed, and that a network can learn to use it."""

import numpy as np
import pytest
import torch
from recall import recall
from told_mass import DT, MASS, TOLD_RADIUS, Options, ToldMass, turn


def drawn(told=True, count=4000, length=6):
    task = ToldMass(Options(told=told))
    return task.draw(count, length, torch.Generator().manual_seed(0))


def as_complex(x):
    return torch.view_as_complex(x[:, :, 0].contiguous())


def test_the_first_two_positions_tell_the_mass_by_kepler_s_third_law():
    seen, following, mass = drawn()
    z = as_complex(seen)
    torch.testing.assert_close(z[:, :2].abs(), torch.full((4000, 2), TOLD_RADIUS))
    period = 2 * np.pi * DT / torch.angle(z[:, 1] / z[:, 0])
    cube = torch.full((4000,), TOLD_RADIUS**3)
    torch.testing.assert_close(period**2 * mass, cube, rtol=1e-3, atol=0)
    torch.testing.assert_close(seen[:, 1], following[:, 0])
    # every answer obeys the same mass
    angle = torch.angle(as_complex(following) / z)
    torch.testing.assert_close(angle, turn(mass[:, None], z.abs()), rtol=1e-3, atol=1e-4)
    assert mass.min() >= MASS[0]
    assert mass.max() <= MASS[1]


def test_nothing_else_tells_it():
    seen, _, mass = drawn()
    untold, _, other = drawn(told=False)
    for x, m, start in ((seen, mass, 2), (untold, other, 0)):
        z = as_complex(x)[:, start:]
        steps = torch.angle(z[:, 1:] / z[:, :-1]).abs()
        for feature in (z.abs(), z.real, z.imag, steps):
            # 4000 sequences: a correlation of nothing is below 4 / sqrt(4000)
            correlations = torch.corrcoef(torch.cat((m[None], feature.T)))[0, 1:]
            assert correlations.abs().max() < 0.064


@pytest.mark.slow
def test_a_network_learns_to_remember_and_none_can_without_being_told():
    small = {"kinds": ("softmax",), "length": 8, "factors": (1,), "steps": 300, "evaluated": 256}
    told = recall(ToldMass(Options(**small))).iloc[0]
    assert told["loss"] < 0.3
    assert told["mistold"] > 1  # it believes what it was told
    untold = recall(ToldMass(Options(told=False, **small))).iloc[0]
    assert untold["loss"] == pytest.approx(1, abs=0.1)
