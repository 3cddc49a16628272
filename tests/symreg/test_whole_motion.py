"""The motion as a whole: bodies that nobody observed, and relativity."""

import numpy as np
import pytest

import orbits
import symreg
from orbits.forces import known_law
from orbits.simulators import SIMULATORS
from orbits.simulators.integrate import integrate_bodies
from orbits.simulators.relativity import SPEED_OF_LIGHT
from orbits.units import G

NEWTON = known_law("newton")
DT = 0.05


def planets(mass, size, eccentricity=0.0):
    """State of a star with planets on orbits of some size, each at its perihelion."""
    angle = 2.0 * np.arange(len(mass))
    way = np.stack([np.cos(angle), np.sin(angle), 0.02 * np.sin(3 * angle)], axis=1)
    ahead = np.stack([-np.sin(angle), np.cos(angle), 0.02 * np.cos(5 * angle)], axis=1)
    near = np.array(size) * (1 - eccentricity)
    speed = np.sqrt(G * (1 + eccentricity) / near)
    position = np.vstack([np.zeros(3), near[:, None] * way])
    velocity = np.vstack([np.zeros(3), speed[:, None] * ahead])
    masses = np.array([1.0, *mass])
    share = masses / masses.sum()
    return masses, position - share @ position, velocity - share @ velocity


def motion(masses, position, velocity, times, relativity=0.0):
    """(time, body, axis) positions and velocities."""
    found = integrate_bodies(
        NEWTON, position[None], velocity[None], masses[None], times, "scipy", relativity
    )
    return found[0][0], found[1][0]


def noisy(position, noise=1e-7, seed=0):
    """A dataset of positions with white noise."""
    random = np.random.default_rng(seed)
    return orbits.from_arrays((position + noise * random.normal(size=position.shape))[None], DT)


def about_the_star(position, noise=1e-7, seed=0):
    """The same of positions seen from the first body."""
    data = noisy(position - position[:, :1], noise, seed).assign_attrs(frame="relative to body1")
    data["position"].values[:, :, 0] = 0.0
    return data


@pytest.fixture(scope="module")
def system():
    """Masses, and positions over 40 years, of a star with three planets."""
    masses, *state = planets([1e-4, 3e-4, 6e-5], [2.0, 5.0, 9.0])
    return masses, motion(masses, *state, DT * np.arange(801))[0]


@pytest.mark.slow
@pytest.mark.needs("heyoka")
@pytest.mark.parametrize("hidden", [3, 2])
def test_a_hidden_planet_is_found_by_what_it_does(system, hidden):
    masses, position = system
    found = symreg.weigh(noisy(np.delete(position, hidden, axis=1)), noise=1e-7, unseen=1)
    body = found.unseen
    assert body.exists
    assert masses[hidden] in body.mass
    assert body.mass.value == pytest.approx(masses[hidden], rel=0.01)
    assert body.after < 1.1 < body.before
    assert body.gain > body.needed
    true = position[:, hidden] - position[:, 0]
    for place in (0, 10, 20):
        state = round(body.times[place] / DT)
        longitude = np.degrees(np.arctan2(true[state, 1], true[state, 0]))
        assert abs((body.longitude[place].value - longitude + 180) % 360 - 180) < 0.1
        assert body.distance[place].value == pytest.approx(np.linalg.norm(true[state]), rel=1e-3)
    seen = np.delete(masses, hidden)
    # four intervals of 95 %
    assert sum(m.low <= t <= m.high for m, t in zip(found.masses, seen, strict=True)) >= 2
    assert found.law == "newton"
    assert found.rests == ()
    assert "with a body that is not seen explains the motion" in found.explanation
    assert "unseen body, M☉" in str(found)


@pytest.mark.slow
@pytest.mark.needs("heyoka")
def test_a_hidden_planet_of_many_turns_is_found():
    # over the whole time what it does lies hidden in the others' orbits and masses
    masses, *state = planets([4e-5, 2e-5, 2.5e-4, 1.5e-5], [2.3, 4.8, 7.9, 15.0], 0.05)
    position = motion(masses, *state, DT * np.arange(1500))[0]
    found = symreg.weigh(noisy(np.delete(position, 1, axis=1)), noise=1e-7, unseen=1)
    assert found.unseen.after < 1.1
    assert found.unseen.mass.value == pytest.approx(4e-5, rel=1e-3)
    assert found.unseen.semi_major_axis.value == pytest.approx(2.3, rel=1e-3)


@pytest.mark.slow
@pytest.mark.needs("heyoka")
def test_where_all_are_seen_none_is_needed(system):
    masses, position = system
    found = symreg.weigh(noisy(position), noise=1e-7, unseen=1)
    assert not found.unseen.exists
    assert found.unseen.gain < found.unseen.needed
    assert found.unseen.before == pytest.approx(1, abs=0.1)
    assert "none is needed" in str(found)
    for mass, truth in zip(found.masses, masses, strict=True):
        assert mass.value == pytest.approx(truth, rel=0.01)


@pytest.mark.slow
@pytest.mark.needs("heyoka")
def test_what_no_body_does_is_not_given_to_one(system):
    # something shakes the star: no planet of this size and time does that to it alone
    _, position = system
    shaken = position.copy()
    shaken[:, 0, 0] += 1e-5 * np.sign(np.sin(np.arange(801) / 7.0))
    found = symreg.weigh(noisy(shaken), noise=1e-7, unseen=1)
    assert found.unseen.before > 20
    assert not found.unseen.exists


@pytest.mark.slow
@pytest.mark.needs("heyoka")
def test_a_planet_is_found_in_positions_about_the_star(system):
    masses, position = system
    data = about_the_star(np.delete(position, 3, axis=1))
    found = symreg.weigh(data, noise=1e-7, unseen=1)
    assert found.unseen.mass.value == pytest.approx(masses[3], rel=0.05)


@pytest.mark.slow
def test_the_perihelion_turns_as_einstein_says():
    masses, *state = planets([1e-9], [0.4], 0.3)
    times = np.linspace(0, 20 * 0.4**1.5, 4001)
    for relativity in (0.0, 1e4):
        x, v = (part[:, 1] - part[:, 0] for part in motion(masses, *state, times, relativity))
        momentum = np.cross(x, v)
        axis = np.cross(v, momentum) / G - x / np.linalg.norm(x, axis=1)[:, None]
        angle = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
        turns = times[-1] / 0.4**1.5
        expected = relativity * 6 * np.pi * G / (SPEED_OF_LIGHT**2 * 0.4 * (1 - 0.3**2))
        assert (angle[-1] - angle[0]) / turns == pytest.approx(expected, rel=0.02, abs=1e-5)


@pytest.mark.needs("heyoka")
@pytest.mark.parametrize("relativity", [0.0, 1.0, 1000.0])
def test_simulators_agree_on_relativity(relativity):
    masses, position, velocity = planets([1e-4, 1e-3], [0.4, 1.0], 0.2)
    times = np.linspace(0, 2, 41)
    states = position[None], velocity[None], masses[None]
    by_scipy, by_heyoka = (
        integrate_bodies(NEWTON, *states, times, simulator, relativity)[0]
        for simulator in ("scipy", "heyoka")
    )
    assert np.abs(by_scipy - by_heyoka).max() < 1e-9


@pytest.mark.needs("heyoka")
@pytest.mark.slow
@pytest.mark.parametrize("true", [0.0, 1.0])
def test_the_coefficient_of_relativity_is_what_acted(true):
    masses, *state = planets([1e-6, 1e-5], [0.2, 0.6], 0.2)
    times = 0.004 * np.arange(2000)
    position, _ = motion(masses, *state, times, true)
    random = np.random.default_rng(1)
    data = orbits.from_arrays((position + 1e-9 * random.normal(size=position.shape))[None], 0.004)
    found = symreg.weigh(data, noise=1e-9, relativity="fitted")
    told = found.relativity
    assert true in told.coefficient
    assert 1.0 - true not in told.coefficient
    assert told.coefficient.value == pytest.approx(true, abs=0.2)
    assert told.body == "body2"
    each = 6 * np.pi * G / (SPEED_OF_LIGHT**2 * 0.2 * (1 - 0.2**2))
    century = np.degrees(each) * 3600 * 100 / 0.2**1.5
    assert told.precession.value == pytest.approx(century * told.coefficient.value, rel=0.01)
    held = "Einstein's 1" if true else "Newton's 0"
    assert f"which holds {held}" in " ".join(str(found).split())


def test_what_cannot_be_asked_is_refused(monkeypatch, system):
    data = noisy(system[1])
    with pytest.raises(ValueError, match="unseen"):
        symreg.weigh(data, unseen=2)
    monkeypatch.setattr(type(SIMULATORS["heyoka"]), "requires", "")
    with pytest.raises(ValueError, match="--unseen takes G for the scale"):
        symreg.weigh(data, unseen=1, reference="body1")
    monkeypatch.setattr(type(SIMULATORS["heyoka"]), "requires", "not_there")
    with pytest.raises(ValueError, match="pip install heyoka"):
        symreg.weigh(data, relativity="fitted")


@pytest.mark.slow
@pytest.mark.needs("heyoka")
def test_intervals_follow_the_valley_of_a_mass_that_is_hardly_told(system):
    masses, position = system
    data = about_the_star(np.delete(position, 3, axis=1)[:400], 1e-4, 2)
    found = symreg.weigh(data, noise=1e-4, unseen=1)
    mass = found.unseen.mass
    assert mass.high - mass.low > 0.3 * mass.value
    assert masses[3] in mass
    assert 9.0 in found.unseen.semi_major_axis
    # no ellipse: the heavier side is longer
    assert mass.high - mass.value > 1.1 * (mass.value - mass.low)
