"""Sampling: apsides, phases and orientations are what they claim to be."""

import numpy as np
import pytest
from scipy import stats

from orbits.elements import elements_from_state
from orbits.forces import LAWS, parse_law
from orbits.populations.arcs import sample_arcs
from orbits.populations.bound import bound_share, sample_bound, turn_in_space
from orbits.populations.ranges import Ranges
from orbits.simulators.integrate import integrate
from orbits.units import GM_SUN

NEWTON = parse_law("newton")
UNSTABLE = ["power_law(n=3)", "power_law(n=4)"]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.needs("heyoka")
@pytest.mark.parametrize("spec", [law for law in LAWS if law != "power_law"] + ["power_law(n=2.5)"])
def test_bound_orbits_swing_between_their_apsides(spec):
    law = parse_law(spec)
    ranges = Ranges(semi_major_axis=(0.5, 0.9))
    gm = np.full(12, GM_SUN)
    orbits = sample_bound(law, ranges, gm, rng())
    # Ten years hold several radial periods of every orbit up to 0.9 au.
    x, _ = integrate(law, orbits.position, orbits.velocity, gm, np.arange(8000) * 1.25e-3, "heyoka")
    r = np.linalg.norm(x, axis=-1)
    a, e = orbits.semi_major_axis, orbits.eccentricity
    # Between samples the separation moves by at most (v_r' dt^2)/8 ~ 400 * 1.6e-6 / 8 = 8e-5 au.
    np.testing.assert_allclose(r.min(axis=1), a * (1 - e), atol=2e-4)
    np.testing.assert_allclose(r.max(axis=1), a * (1 + e), atol=2e-4)


def test_newtonian_elements_are_uniform_in_phase_and_orientation():
    count = 4000
    gm = np.full(count, GM_SUN)
    orbits = sample_bound(NEWTON, Ranges(eccentricity=(0.2, 0.6), min_perihelion=0.1), gm, rng(1))
    found = elements_from_state(orbits.position, orbits.velocity, gm)
    np.testing.assert_allclose(found.semi_major_axis, orbits.semi_major_axis, rtol=1e-11)
    np.testing.assert_allclose(found.eccentricity, orbits.eccentricity, atol=1e-11)
    turn = 2 * np.pi
    for angle in (found.mean_anomaly, found.argument_of_perihelion):
        assert stats.kstest(angle / turn, "uniform").pvalue > 1e-3
    log_a = np.log(found.semi_major_axis / 0.3) / np.log(2.0 / 0.3)
    assert stats.kstest(log_a, "uniform").pvalue > 1e-3
    retrograde = np.mean(found.inclination > 1)
    assert abs(retrograde - 0.5) < 4 * 0.5 / np.sqrt(count)


@pytest.mark.needs("heyoka")
@pytest.mark.parametrize("spec", ["hooke", "yukawa(length=1)", "logarithmic"])
def test_phase_is_uniform_in_time_whatever_the_law(spec):
    """Moving every orbit by the same time leaves the distribution of separations as it was."""
    law = parse_law(spec)
    ranges = Ranges((1.0, 1.0), (0.5, 0.5), 0.1)
    gm = np.full(3000, GM_SUN)
    orbits = sample_bound(law, ranges, gm, rng(2))
    later, _ = integrate(law, orbits.position, orbits.velocity, gm, np.array([0.0, 0.1]), "heyoka")
    before, after = np.linalg.norm(later, axis=-1).T
    assert stats.ks_2samp(before, after).pvalue > 1e-3
    assert stats.spearmanr(before, after).statistic < 0.95  # they did move


def test_no_orbit_comes_closer_than_the_smallest_perihelion():
    a, e = Ranges().draw(10_000, rng(3))
    assert np.min(a * (1 - e)) >= 0.28 * (1 - 1e-12)
    assert np.min(e) >= 0
    assert np.max(e) <= 0.6
    assert np.max(a * (1 + e)) > 3  # the outer planets' side of the range is really used


def test_planes_in_space_are_isotropic_and_orbits_unchanged():
    gm = np.full(2000, GM_SUN)
    flat = sample_bound(NEWTON, Ranges(), gm, rng(4))
    turned = turn_in_space(flat, rng(5))
    found = elements_from_state(turned.position, turned.velocity, gm)
    np.testing.assert_allclose(found.semi_major_axis, flat.semi_major_axis, rtol=1e-11)
    cosine = np.cos(found.inclination)
    assert stats.kstest(cosine, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert stats.kstest(found.longitude_of_node / (2 * np.pi), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("spec", UNSTABLE)
def test_laws_without_bound_orbits_give_arcs_that_stay_in_range(spec):
    law, ranges, gm = parse_law(spec), Ranges(), np.full(40, GM_SUN)
    assert bound_share(law, ranges, GM_SUN) <= 0.02
    arcs = sample_arcs(law, ranges, gm, 1.016, rng(6))
    x, _ = integrate(law, arcs.position, arcs.velocity, gm, np.arange(128) * 0.008)
    r = np.linalg.norm(x, axis=-1)
    assert r.min() > 0.28
    assert r.max() < 3.2
    assert np.ptp(r, axis=1).max() > 0.3  # not only circles
    again = sample_arcs(law, ranges, gm, 1.016, rng(6))
    np.testing.assert_array_equal(again.position, arcs.position)


def test_yukawa_orbits_are_drawn_where_they_are_stable():
    law = parse_law("yukawa(length=0.2)")
    low, high = law.natural_range()
    assert low < high <= 0.2 * 1.6181
    assert bound_share(law, Ranges((low, high), (0.0, 0.6), 0.0), GM_SUN) > 0.5
