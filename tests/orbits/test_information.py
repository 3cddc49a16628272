"""The least error on n and GM: fits reach it, it scales as it must, and it can be infinite."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

import orbits
from orbits.elements import Elements, propagate_kepler, state_from_elements
from orbits.forces.power_law import PowerLaw
from orbits.simulators.integrate import rk4_step
from orbits.units import GM_SUN

sys.path.insert(0, str(Path(__file__).parents[2] / "notebooks" / "examples" / "information"))
from information import Observations, Ranges, draw_orbits, least_error, position_changes

FEW = Observations(
    orbits=3, positions=12, dt=0.05, sigma=1e-4, ranges=Ranges((0.8, 1.2), (0.1, 0.3))
)
BINS = replace(FEW, sigma=0.0, bin_width=3e-4)
STEPS = 6
"""Of Runge and Kutta from one position to the next: errors of 1e-5 au, a tenth of the noise."""


def states(observations, turn=0.0):
    """(orbit, 4) first states of the orbits that `least_error` draws, turned about the centre."""
    a, e, phase = draw_orbits(observations, observations.orbits, seed=0)
    none = np.zeros_like(a)
    elements = Elements(a, e, none, none, turn + none, phase)
    return np.concatenate([v[:, :2] for v in state_from_elements(elements, a**0 * GM_SUN)], axis=1)


def followed(first, n, log_gm, observations):
    """(..., orbit, position, axis) positions from (..., orbit, 4) first states."""

    def acceleration(x):
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        return -np.exp(log_gm)[..., None] * x * r ** -(n[..., None] + 1)

    x, v = first[..., :2], first[..., 2:]
    found = [x]
    for _ in range(observations.positions - 1):
        for _ in range(STEPS):
            x, v = rk4_step(acceleration, x, v, observations.dt / STEPS)
        found.append(x)
    return np.stack(found, axis=-2)


def unpacked(parameters, orbits, gm):
    """First states (..., orbit, 4), n and ln GM (..., orbit or 1)."""
    first = parameters[..., : 4 * orbits].reshape(*parameters.shape[:-1], orbits, 4)
    strengths = parameters[..., 4 * orbits + 1 :]
    return (
        first,
        parameters[..., 4 * orbits, None],
        strengths if gm == "own" else strengths[..., :1],
    )


def fitted(seen, first, observations):
    """n and every ln GM that fit (orbit, position, axis) positions best."""
    orbits = len(first)
    count = orbits if observations.gm == "own" else 1
    start = np.concatenate([first.ravel(), [2.0], np.full(count, np.log(GM_SUN))])

    def model(parameters):
        return followed(*unpacked(parameters, orbits, observations.gm), observations)

    def residuals(parameters):
        return (model(parameters) - seen).ravel()

    def jacobian(parameters, h=1e-6):
        shifts = h * np.eye(len(parameters))
        both = model(parameters + np.stack([shifts, -shifts]))
        return ((both[0] - both[1]) / (2 * h)).reshape(len(parameters), -1).T

    found = least_squares(residuals, start, jacobian, method="lm", x_scale="jac").x
    return found[4 * orbits :]


def seen(observations, rng):
    """First states, and the positions as they are shown; orbits are turned, so that bins differ."""
    first = states(observations, rng.uniform(0, 2 * np.pi))
    x = followed(first, np.array([2.0]), np.log([GM_SUN]), observations)
    if width := observations.bin_width:
        return first, (np.floor(x / width) + 0.5) * width
    return first, x + observations.sigma * rng.normal(size=x.shape)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("observations", "gm"), [(FEW, "own"), (BINS, "shared")], ids=["noise", "bins"]
)
def test_a_fit_of_everything_unknown_reaches_the_bound(observations, gm):
    observations = replace(observations, gm=gm)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(100):
        first, x = seen(observations, rng)
        found.append(fitted(x, first, observations))
    n, *strengths = np.std(found, axis=0, ddof=1)
    bound = least_error(observations)
    assert n == pytest.approx(bound.n, rel=0.2)  # of 100 fits the spread is known to 7 %
    assert np.median(strengths) == pytest.approx(bound.gm, rel=0.2)
    assert abs(np.mean(found, axis=0)[0] - 2) < 0.3 * bound.n, "three standard errors of the mean"
    assert bound.n_floor <= bound.n


def test_what_the_fits_integrate_is_what_the_oracle_says():
    first = states(FEW)
    times = FEW.dt * np.arange(FEW.positions)
    exact = propagate_kepler(first[:, :2], first[:, 2:], np.full(3, GM_SUN), times)[0]
    assert followed(first, np.array([2.0]), np.log([GM_SUN]), FEW) == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("width", [3e-3, 3.0], ids=["fine", "wider than the orbit"])
def test_between_two_laws_no_more_coordinates_change_their_bins_than_the_floor_says(width):
    """Orbits under n + d that are made as alike as they can be: d/D coordinates change, no more.

    The lattice lies anywhere, which also holds for bins that hold a whole orbit; the floor is
    D/√27, so that a reader who could do better would tell apart what is the same.
    """
    observations = replace(BINS, bin_width=width, gm="own", orbits=1)
    first, d = states(observations), 0.05
    strength = np.log([GM_SUN])
    x = followed(first, np.array([2.0]), strength, observations)

    def other(parameters):
        moved = first + parameters[:4]
        return followed(moved, np.array([2.0 + d]), strength + parameters[4], observations)

    alike = other(least_squares(lambda p: (other(p) - x).ravel(), np.zeros(5), x_scale="jac").x)
    rng = np.random.default_rng(0)
    place = width * rng.random((100_000, *x.shape))
    changed = np.sum(np.floor((x + place) / width) != np.floor((alike + place) / width))
    share_of_d = d / (least_error(observations).n_floor * np.sqrt(27))
    # About 460 changes of the wide bins: counted to 5 %.
    assert changed / len(place) == pytest.approx(share_of_d, rel=0.15)


def test_changes_are_those_of_the_integrator_over_many_turns():
    """Every turn is like the first; here by differences of whole orbits, five turns long."""
    e, times, h = 0.4, np.linspace(0, 10 * np.pi, 41), 1e-4
    elements = Elements(*(np.array([value]) for value in (1.0, e, 0.0, 0.0, 0.0, 1.1)))
    x, v = (vector[:, :2] for vector in state_from_elements(elements, np.ones(1)))
    changes = position_changes(e, 1.1, times)

    def difference(low, high):
        ends = [orbits.integrate(law, x, v, np.array([gm]), times)[0][0] for law, gm in (low, high)]
        return (ends[1] - ends[0]) / (2 * h)

    by_n = difference((PowerLaw(2 - h), 1.0), (PowerLaw(2 + h), 1.0))
    by_strength = difference((PowerLaw(2), np.exp(-h)), (PowerLaw(2), np.exp(h)))
    for column, found in ((4, by_n), (5, by_strength)):  # differences of second order: 3e-5 of 80
        assert changes[:, :, column] == pytest.approx(found, abs=1e-4 * np.abs(found).max())
        assert np.abs(found).max() > 5


@pytest.mark.slow
def test_errors_scale_with_noise_orbits_and_size_as_they_must():
    one = least_error(FEW)
    assert least_error(replace(FEW, sigma=3e-4)).n == pytest.approx(3 * one.n)
    assert least_error(replace(BINS, bin_width=np.sqrt(12) * 1e-4)).n == pytest.approx(one.n)
    many = replace(FEW, orbits=10_000)
    assert least_error(replace(many, orbits=20_000)).n == pytest.approx(
        least_error(many).n / np.sqrt(2)
    )
    wide = replace(many, sigma=0.0, bin_width=1e-3)
    assert least_error(replace(wide, orbits=20_000)).n_floor == pytest.approx(
        least_error(wide).n_floor / 2  # sharp edges: as 1/N
    )
    # Kepler's third law: lengths by 4, times by 8, and no number of n is another.
    large = Ranges((3.2, 4.8), (0.1, 0.3))
    scaled = replace(FEW, sigma=4e-4, dt=0.4, ranges=large)
    assert least_error(scaled).n == pytest.approx(one.n)


@pytest.mark.parametrize("a", [1.0, 2.0])
@pytest.mark.parametrize("dt", [0.01, 0.7])
def test_one_circular_orbit_tells_no_exponent(a, dt):
    """The impostor: its radius and period fit any n, whatever GM makes up for."""
    circle = Ranges((a, a), (0.0, 0.0))
    impostor = Observations(orbits=1, positions=200, dt=dt, sigma=1e-9, ranges=circle)
    assert least_error(impostor).n == least_error(impostor).n_floor == np.inf
    assert least_error(replace(impostor, orbits=10)).n == np.inf, "nor do ten of one size"
    assert (least_error(impostor).gm < np.inf) == (a == 1), "GM is the attraction at 1 au"
    assert (least_error(replace(impostor, gm="known")).n < np.inf) == (a != 1)


def test_circular_orbits_of_different_size_tell_it_by_the_third_law_alone():
    circles = replace(FEW, orbits=30, ranges=Ranges((0.5, 2.0), (0.0, 0.0)))
    assert least_error(circles).n < 1e-3
    assert least_error(replace(circles, gm="own")).n == np.inf
    assert least_error(circles, alone=True).n == np.inf


def test_two_positions_tell_nothing_and_more_tell_more():
    errors = [least_error(replace(FEW, positions=k), alone=True).n for k in (2, 3, 4, 8, 32)]
    assert errors[0] == np.inf
    assert errors == sorted(errors, reverse=True)
    assert np.isfinite(errors[1])


def test_what_is_known_of_gm_helps():
    shared, own, known = (least_error(replace(FEW, gm=gm)).n for gm in ("shared", "own", "known"))
    assert known < shared < own


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"positions": 1}, "two positions"),
        ({"sigma": 0.0}, "one of them must be above 0"),
        ({"bin_width": 1.0}, "the other 0"),
        ({"dt": 0.0}, "dt is 0"),
        ({"gm": "unknown"}, "shared, own or known"),
    ],
)
def test_what_nobody_could_see_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        replace(FEW, **wrong)
