"""The one fit of powers, and what is said of a field beside it."""

import numpy as np
import pytest

from orbits.estimates import Estimate
from orbits.powers import non_central_part, power_law, radial_part, third_law


def field(groups=40, rows=10, noise=0.0, seed=0):
    """F = 3 m^0.75 M^-0.5 / r^2, and its features by row."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rows)
    features = {name: np.exp(random.normal(size=groups))[group] for name in ("m", "M")}
    features["r"] = np.exp(random.normal(size=len(group)))
    values = 3 * features["m"] ** 0.75 * features["M"] ** -0.5 * features["r"] ** -2
    return values * np.exp(noise * random.normal(size=len(group))), features, group


def test_exact_powers_are_found_with_no_width():
    fit = power_law(*field())
    assert {name: round(power.value, 9) for name, power in fit.exponents.items()} == {
        "m": 0.75, "M": -0.5, "r": -2.0,
    }  # fmt: skip
    assert fit.constant.value == pytest.approx(3, rel=1e-9)
    assert all(power.high - power.low < 1e-9 for power in fit.exponents.values())


def test_intervals_hold_the_truth_and_shrink_with_the_number_of_groups():
    few, many = power_law(*field(30, noise=0.2)), power_law(*field(480, noise=0.2))
    for name, true in (("m", 0.75), ("M", -0.5), ("r", -2.0)):
        assert many.exponents[name].low < true < many.exponents[name].high
    widths = [fit.exponents["r"].high - fit.exponents["r"].low for fit in (few, many)]
    assert 2 < widths[0] / widths[1] < 8, "16 times the groups, a quarter of the width"


def test_rows_that_scatter_count_for_less():
    """Noise beyond r = 2 alone leaves the exponent to the rows within: as 1 to 1e-4 in weight."""
    errors = []
    for seed in range(5):
        values, features, group = field(100)
        far = features["r"] > 2
        noise = np.random.default_rng(seed).normal(size=len(far))
        fit = power_law(values * np.exp(far * noise), features, group)
        errors.append(fit.exponents["r"].value + 2)
    # Without weights the five errors are 0.001 to 0.026.
    assert np.abs(errors).max() < 5e-4


def test_resampling_takes_groups_and_not_rows():
    """Ten copies of every row say no more than one."""
    values, features, group = field(40, noise=0.3)
    copies = [np.repeat(part, 10) for part in (values, group)]
    once = power_law(values, features, group)
    again = power_law(copies[0], {k: np.repeat(v, 10) for k, v in features.items()}, copies[1])
    widths = [fit.exponents["m"].high - fit.exponents["m"].low for fit in (once, again)]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)  # neighbourhoods are cut a little apart


@pytest.mark.parametrize("case", ["one group", "two rows", "features alike", "nothing varies"])
def test_what_decides_nothing_has_no_value(case):
    values, features, group = field(8, 4)
    if case == "one group":
        group = np.zeros_like(group)
    elif case == "two rows":
        values, group = values[:2], group[[0, 4]]
        features = {name: part[:2] for name, part in features.items()}
    elif case == "features alike":
        features["m"] = features["M"] ** 2
    else:
        features = {"r": np.ones_like(values)}
    fit = power_law(values, features, group)
    assert set(fit.exponents.values()) | {fit.constant} == {Estimate()}


def test_parts_of_a_field_of_known_direction():
    x = np.random.default_rng(3).normal(size=(100, 2))
    across = np.stack((-x[:, 1], x[:, 0]), axis=-1)
    np.testing.assert_allclose(radial_part(-2 * x, x), -2 * np.linalg.norm(x, axis=1))
    assert non_central_part(-x, x) == pytest.approx(0, abs=1e-7)
    assert non_central_part(3 * across - 4 * x, x) == pytest.approx(0.6), "of the whole"
    assert non_central_part(across, x) == pytest.approx(1)
    assert non_central_part(0 * x, x) == 0


def test_action_and_reaction():
    a = np.random.default_rng(4).normal(size=(50, 2))
    mass = np.tile([2.0, 1.0], (50, 1))
    assert third_law(np.stack((a, -2 * a), axis=1), mass) == 0
    assert third_law(np.stack((a, 0 * a), axis=1), mass) == 1
    assert third_law(np.stack((a, -1.8 * a), axis=1), mass) == pytest.approx(0.1)
    assert third_law(np.stack((0 * a, 0 * a), axis=1), mass) == 0
    assert third_law(np.stack((0 * a, a), axis=1), mass) == np.inf
