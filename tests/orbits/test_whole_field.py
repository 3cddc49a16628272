"""A departure from a law is found in its own part; what has no part is smooth, and rough is not."""

import numpy as np
import pytest

from orbits import GM_SUN
from orbits.forces import known_law
from orbits.whole_field import PARTS, Terms, fitted_field

NEWTON = known_law("newton")


def states(axes, count=400):
    """Positions (au), velocities (au/yr), GM, and Newton's acceleration, in all directions."""
    random = np.random.default_rng(1)
    x, v = random.standard_normal((2, count, axes))
    x *= np.exp(random.uniform(-1, 1, (count, 1))) / np.linalg.norm(x, axis=1, keepdims=True)
    r = np.linalg.norm(x, axis=1, keepdims=True)
    v *= 2 * np.pi * r**-0.5 * random.uniform(0, 2, (count, 1))
    v /= np.linalg.norm(v, axis=1, keepdims=True) / (2 * np.pi * r**-0.5)
    v *= random.uniform(0, 2, (count, 1))
    gm = np.full(count, GM_SUN)
    return x, v, gm, NEWTON.acceleration(x, gm)


def spun(x, v):
    """Sine of the angle from place to velocity, about the last axis."""
    length = np.linalg.norm(x, axis=1) * np.linalg.norm(v, axis=1)
    return ((x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) / length)[:, None]


DEPARTURES = {
    "drag": lambda x, v, a: -0.05 * 2 * np.pi * v,
    "anisotropy": lambda x, v, a: 0.1 * a * np.r_[1.0, np.zeros(x.shape[1] - 2), -1.0],
    "centre": lambda x, v, a: NEWTON.acceleration(x + 0.02, np.full(len(x), GM_SUN)) - a,
    "rotation": lambda x, v, a: 0.1 * a * spun(x, v),
    "heading": lambda x, v, a: 0.1 * a * np.sign((x * v).sum(1, keepdims=True)),
    "bearing": lambda x, v, a: 0.1 * a * (x[:, :1] > 0),
    "speed": lambda x, v, a: 0.1 * a * (v**2).sum(1, keepdims=True) / (4 * np.pi**2),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("part", DEPARTURES)
def test_a_departure_is_found_in_its_own_part(part, axes):
    x, v, gm, a = states(axes)
    field = fitted_field(
        Terms(x, v, gm, NEWTON), a + DEPARTURES[part](x, v, a), np.random.default_rng(0)
    )
    found = {name: field.parts[name].size - field.parts[name].half_width for name in PARTS}
    assert max(found, key=lambda name: found[name]) == part
    assert found[part] > 0.02


@pytest.mark.parametrize("folds", [1, 3, 4])
def test_a_force_stronger_on_some_sides_has_a_part(folds):
    x, v, gm, a = states(2)
    waves = 0.05 * a * np.sin(folds * np.arctan2(x[:, 1], x[:, 0]))[:, None]
    field = fitted_field(Terms(x, v, gm, NEWTON), a + waves, np.random.default_rng(0))
    bearing = field.parts["bearing"]
    assert bearing.size - bearing.half_width > 0.02
    assert bearing.size + bearing.half_width < 0.05


def uneven(departure, axes):
    x, v, gm, a = states(axes, 2000)
    return Terms(x, v, gm, NEWTON).unevenness(a + departure(x, v, a))


def uniform(x, v, a):
    return np.full_like(x, 0.05 * GM_SUN)


def rough(x, v, a):
    return 0.1 * a * np.sin(1e5 * x[:, :1])


def stronger(where):
    return lambda x, v, a: 0.05 * a * where(x, v)[:, None]


@pytest.mark.parametrize("axes", [2, 3])
def test_a_force_without_a_part_of_its_own_is_uneven_and_a_rough_one_is_not(axes):
    assert uneven(uniform, axes) > 0.03
    assert uneven(rough, axes) < 0.02
    assert uneven(lambda x, v, a: 0.05 * a, axes) < 0.001  # another constant is one everywhere


@pytest.mark.parametrize(
    "where",
    [
        lambda x, v: np.linalg.norm(x, axis=1) > 1.2,
        lambda x, v: np.sum(x * v, axis=1) > 0,
        lambda x, v: (x[:, 0] > 0) & (np.abs(x[:, 1]) < x[:, 0]),
        lambda x, v: x[:, 0] * v[:, 1] > x[:, 1] * v[:, 0],
        lambda x, v: np.sum(v**2, axis=1) * np.linalg.norm(x, axis=1) > GM_SUN,
    ],
    ids=["far out", "outward", "one quadrant", "one way round", "fast"],
)
def test_a_force_that_is_stronger_somewhere_is_uneven_by_as_much(where):
    assert 0.04 < uneven(stronger(where), 2) <= 0.0501


def test_nothing_is_even():
    assert uneven(lambda x, v, a: np.zeros_like(x), 2) == 0
