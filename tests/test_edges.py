"""What an hour of breaking found: odd data, odd names, odd files, and units by their constants."""

import pytest

import orbits
from orbits.options import OptionError

TOGETHER = {"together": True, "frame": "icrf", "centre": "barycentre"}


@pytest.mark.parametrize(
    "settings",
    [
        {"bodies": ("sun", "jupiter", "saturn", "uranus")},
        {"bodies": ("sun", "earth", "moon", "jupiter")},
        {"bodies": ("sun", "mercury", "jupiter"), "dt": 0.2, "stop": "2000"},
    ],
)
def test_real_bodies_side_by_side_are_valid_and_damage_is_seen(settings):
    data = orbits.ephemeris(**TOGETHER, **{"stop": "1960"} | settings).load()
    assert orbits.validate(data) == []
    for body in range(len(settings["bodies"])):
        damaged = data.copy(deep=True)
        damaged["position"].values[0, 60, body, 0] += 0.1 if "dt" in settings else 1e-4
        assert "velocity is not the derivative" in " ".join(orbits.validate(damaged))


def test_bodies_side_by_side_begin_with_the_sun_that_attracts_them():
    with pytest.raises(OptionError, match="the sun first"):
        orbits.ephemeris(bodies=("jupiter", "saturn", "sun"), **TOGETHER)
