"""Two visible bodies, planets that attract one another, the Solar System."""

import numpy as np
import pytest
from scipy import stats

from orbits.config import BODIES, GenerateConfig
from orbits.dataset import open_dataset
from orbits.forces import parse_law
from orbits.generation.generate import generate
from orbits.generation.quality import relative_error
from orbits.generation.recipe import choose_simulator
from orbits.invariants import total_angular_momentum, total_energy, total_momentum
from orbits.planets import ephemeris
from orbits.populations.planetary import (
    APSIS_SPACING,
    sample_masses,
    sample_planets,
)
from orbits.populations.ranges import Ranges
from orbits.simulators.integrate import integrate, integrate_bodies
from orbits.units import G

NEWTON = parse_law("newton")


def made(path, **settings):
    small = {"orbits": 16, "samples": 40, "dt": 0.01, "dtype": "float64", "workers": 1}
    generate(path, GenerateConfig(**{**small, **settings}))
    return open_dataset(path)


def two_bodies(rng, count, axes=3):
    mass = rng.uniform(0.2, 2.0, (count, 2))
    position = rng.normal(size=(count, axes))
    position /= np.linalg.norm(position, axis=1, keepdims=True)
    velocity = rng.normal(size=(count, axes)) * 2
    share = np.stack([-mass[:, 1], mass[:, 0]], axis=1) / mass.sum(axis=1, keepdims=True)
    return mass, position, velocity, share[..., None]


@pytest.mark.few(3)
@pytest.mark.parametrize("spec", ["newton", "hooke", "yukawa", "plummer(softening=0.5)"])
@pytest.mark.parametrize("simulator", ["scipy", "heyoka"])
def test_two_bodies_follow_their_relative_orbit(spec, simulator):
    law = parse_law(spec)
    mass, position, velocity, share = two_bodies(np.random.default_rng(0), 5)
    times = np.linspace(0, 0.5, 30)
    x, v = integrate_bodies(
        law, position[:, None] * share, velocity[:, None] * share, mass, times, simulator
    )
    relative, _ = integrate(law, position, velocity, G * mass.sum(axis=1), times, simulator)
    # 1e-12 a step over a fast passage, as for one body
    np.testing.assert_allclose(x[:, :, 1] - x[:, :, 0], relative, atol=1e-7)
    momentum = total_momentum(v, mass)
    assert np.max(np.abs(momentum)) < 1e-10 * np.max(np.abs(v))


def test_barycentric_dataset_keeps_momentum_and_the_third_law(tmp_path):
    data = made(tmp_path / "b.zarr", system="barycentric", dt=0.002)
    x, v, mass = data.position.values, data.velocity.values, data.mass.values
    assert data.position.dims == ("orbit", "time", "body", "axis")
    assert data.sizes["body"] == 2
    weights = mass[:, None, :, None]
    for moment in (weights * x, weights * v):
        assert np.max(np.abs(moment.sum(axis=2))) < 1e-14 * np.max(np.abs(moment))
    dt = data.attrs["dt"]
    force = weights * (x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]) / dt**2
    np.testing.assert_allclose(force[:, :, 0], -force[:, :, 1], atol=1e-9 * np.max(np.abs(force)))
    # and that force is G m1 m2 / r^2: the masses can be read from the recoil
    r = np.linalg.norm(x[:, 1:-1, 1] - x[:, 1:-1, 0], axis=-1)
    strength = np.linalg.norm(force[:, :, 0], axis=-1) * r**2 / np.prod(mass, axis=1)[:, None]
    # finite step: (w dt)^2/12 with w <= sqrt(2) 2 pi 0.28^-1.5 = 60/yr
    np.testing.assert_allclose(strength, G, rtol=3e-3)
    np.testing.assert_allclose(data.gm, G * mass.sum(axis=1), rtol=1e-14)


def planetary(planets=4, count=6, seed=0):
    rng = np.random.default_rng(seed)
    mass = sample_masses(count * planets, "controlled", (1e-7, 1e-4), "planet", rng)
    star = np.linspace(0.8, 1.2, count)
    ranges = Ranges((0.5, 8.0), (0.0, 0.1), 0.28)
    return sample_planets(NEWTON, ranges, star, mass.reshape(count, planets), 10.0, rng)


@pytest.mark.needs("heyoka")
def test_planets_agree_with_rebound():
    """IAS15 (Rein & Spiegel, MNRAS 446, 1424, 2015) is an independent, equally exact integrator."""
    rebound = pytest.importorskip("rebound")
    systems = planetary()
    times = np.linspace(0, 20, 9)
    x, _ = integrate_bodies(
        NEWTON, systems.position, systems.velocity, systems.mass, times, "heyoka"
    )
    for i in range(len(systems.mass)):
        simulation = rebound.Simulation()
        simulation.G = G
        simulation.integrator = "ias15"
        for m, p, w in zip(systems.mass[i], systems.position[i], systems.velocity[i], strict=True):
            simulation.add(m=m, x=p[0], y=p[1], z=p[2], vx=w[0], vy=w[1], vz=w[2])
        for k, t in enumerate(times):
            simulation.integrate(t)
            theirs = np.array([[p.x, p.y, p.z] for p in simulation.particles])
            # 60 turns of the innermost: both at rounding, which grows with time^1.5
            np.testing.assert_allclose(x[i, k], theirs, atol=1e-10)


@pytest.mark.parametrize(("simulator", "limit"), [("scipy", 1e-8), ("heyoka", 1e-13)])
def test_planets_conserve_energy_and_momenta(simulator, limit):
    systems = planetary(count=3)
    x, v = integrate_bodies(
        NEWTON, systems.position, systems.velocity, systems.mass, np.linspace(0, 3, 20), simulator
    )
    energy = total_energy(NEWTON, x, v, systems.mass)
    momentum = total_angular_momentum(x, v, systems.mass)
    np.testing.assert_allclose(energy, energy[:, :1].repeat(20, 1), rtol=limit)
    size = np.linalg.norm(momentum, axis=-1).max()
    np.testing.assert_allclose(momentum, momentum[:, :1].repeat(20, 1), atol=limit * size)
    assert np.max(np.abs(total_momentum(v, systems.mass))) < 1e-13


@pytest.mark.parametrize("population", ["controlled", "exoplanets"])
def test_planets_keep_out_of_one_anothers_reach(population):
    rng = np.random.default_rng(1)
    count, planets = 100, 5
    shape = (0.0, 0.1) if population == "controlled" else (0.0, 0.95)
    ranges = Ranges((0.3, 32.0), shape, 0.28, population)
    star = sample_masses(count, population, (1.0, 1.0), "star", rng)
    mass = sample_masses(count * planets, population, (1e-7, 1e-4), "planet", rng)
    systems = sample_planets(NEWTON, ranges, star, mass.reshape(count, planets), 10.0, rng)
    a, e, m = systems.semi_major_axis, systems.eccentricity, systems.mass
    assert np.all(np.diff(a, axis=1) > 0)
    hill = np.cbrt((m[:, 1:-1] + m[:, 2:]) / (3 * m[:, :1])) * 0.5 * (a[:, 1:] + a[:, :-1])
    assert np.min(np.diff(a, axis=1) / hill) >= 10
    gap = a[:, 1:] * (1 - e[:, 1:]) - a[:, :-1] * (1 + e[:, :-1])
    assert np.min(gap / hill) >= APSIS_SPACING
    assert np.min(a * (1 - e)) >= 0.28 * (1 - 1e-12)
    centre = np.einsum("sb,sbi->si", m, systems.position)
    assert np.max(np.abs(centre)) < 1e-14


@pytest.mark.needs("heyoka")
def test_filtered_systems_are_stable_for_a_thousand_inner_years():
    systems = planetary(planets=3, count=8, seed=3)
    x, _ = integrate_bodies(
        NEWTON, systems.position, systems.velocity, systems.mass, np.linspace(0, 350, 60), "heyoka"
    )
    r = np.linalg.norm(x[:, :, 1:] - x[:, :, :1], axis=-1)
    a = systems.semi_major_axis[:, None]
    # e <= 0.1 at the start: nobody wanders off its orbit
    assert np.all(np.abs(r / a - 1) < 0.2)


def test_published_distributions():
    rng = np.random.default_rng(2)
    ranges = Ranges((0.3, 32.0), (0.0, 0.95), 0.0, "exoplanets")
    a, e = ranges.draw(20_000, rng)
    assert stats.kstest(a, stats.uniform(0.3, 31.7).cdf).pvalue > 1e-3
    kipping = stats.beta(0.867, 3.03)
    assert stats.kstest(e, lambda x: kipping.cdf(x) / kipping.cdf(0.95)).pvalue > 1e-3
    star = sample_masses(20_000, "exoplanets", (1.0, 1.0), "star", rng)
    planet = sample_masses(20_000, "exoplanets", (1.0, 1.0), "planet", rng)
    assert 0.1 <= star.min() < star.max() <= 5
    assert 1e-9 <= planet.min() < planet.max() <= 1e-3
    assert np.median(star) == pytest.approx(1.0, rel=0.03)


@pytest.mark.needs("heyoka")
def test_the_planets_integrated_for_a_year_are_where_the_ephemeris_has_them():
    real = ephemeris(
        bodies=("sun", *BODIES[:-1]), together=True, frame="icrf", start=1950, stop=1952, dt=1.0,
        samples=2,
    )  # fmt: skip
    start, times = real.isel(time=0), real.time.values
    x, _ = integrate_bodies(
        NEWTON, start.position.values, start.velocity.values, real.mass.values, times, "heyoka"
    )
    there = real.position.values[:, 1]
    for body in range(1, 9):
        error = np.abs(
            np.linalg.norm(x[:, 1, body] - x[:, 1, 0], axis=-1)
            - np.linalg.norm(there[:, body] - there[:, 0], axis=-1)
        )
        # relativity (Mercury: 0.43"/yr = 8e-7 au), the Moon's orbit, asteroids
        assert np.max(error) < 3e-6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"system": "nbody", "law": "deep_mond"}, "third law"),
        ({"system": "nbody", "dimensions": 2}, "three dimensions"),
        ({"system": "nbody", "simulator": "kepler"}, "between two bodies only"),
        ({"system": "nbody", "law": "power_law(n=4)"}, "no bound orbits"),
    ],
)
def test_impossible_systems_are_refused(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        generate(tmp_path / "x.zarr", GenerateConfig(orbits=4, samples=4, **settings))
    assert not (tmp_path / "x.zarr").exists()


def test_the_error_of_an_orbit_is_its_largest():
    exact = np.tile([2.0, 0.0], (2, 3, 1))
    found = exact.copy()
    found[1, 1] += [0.0, 0.5]
    np.testing.assert_allclose(relative_error(found, exact), [0, 0.25])


@pytest.mark.parametrize("simulator", ["scipy", "heyoka", "kepler"])
@pytest.mark.parametrize("spec", ["newton", "hooke"])
@pytest.mark.parametrize("several", [False, True])
def test_no_simulator_is_checked_by_itself(simulator, spec, several):
    assert choose_simulator(parse_law(spec), several, but=simulator) != simulator
