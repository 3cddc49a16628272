"""Speed and accuracy of the engines and of datasets, side by side in one run.

    python tests/benchmarks/orbits_speed.py

Contestants take turns, round after round, on one core; the ratios are medians over the rounds, so
that whatever else the machine does strikes all of them. Two bodies: 1000 samples over 5 periods,
e ~ U(0, 0.9). Planets: a star with 8 planets, 100 samples over 5 periods of the innermost: with
more, IAS15, which steps onto every sample, would be held up by the sampling.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import newton

from orbits.config import GenerateConfig
from orbits.elements import Elements, period, state_from_elements
from orbits.engines.integrate import integrate, integrate_bodies
from orbits.forces import parse_law
from orbits.generation.generate import generate
from orbits.invariants import total_energy
from orbits.populations import Ranges, sample_masses, sample_planets
from orbits.units import GM_SUN, G

NEWTON = parse_law("newton")
SAMPLES, PERIODS, PLANET_SAMPLES = 1000, 5, 100
ORBITS = {"heyoka": 512, "kepler": 512, "scipy": 8, "point by point": 2}
SYSTEMS = {"heyoka": 16, "scipy": 1, "rebound IAS15": 4}


def two_body_states(count: int, seed: int = 0):
    """(orbit, 2) states of orbits with a = 1 au, e ~ U(0, 0.9), and their elements."""
    rng = np.random.default_rng(seed)
    zero = np.zeros(count)
    elements = Elements(
        np.ones(count),
        rng.uniform(0, 0.9, count),
        zero,
        zero,
        rng.uniform(0, 2 * np.pi, count),
        rng.uniform(0, 2 * np.pi, count),
    )
    gm = np.full(count, GM_SUN)
    position, velocity = state_from_elements(elements, gm)
    return position[:, :2], velocity[:, :2], gm, elements


def point_by_point(elements: Elements, times: np.ndarray, orbit: int) -> np.ndarray:
    """One orbit as published generators make it: `scipy.optimize.newton` for every sample."""
    a, e = elements.semi_major_axis[orbit], elements.eccentricity[orbit]
    rate = 2 * np.pi / period(a, GM_SUN)
    c, s = (f(elements.argument_of_perihelion[orbit]) for f in (np.cos, np.sin))
    found = np.empty((len(times), 2))
    for k, t in enumerate(times):
        mean = elements.mean_anomaly[orbit] + rate * t
        anomaly = newton(
            lambda x, m=mean: x - e * np.sin(x) - m, mean, fprime=lambda x: 1 - e * np.cos(x)
        )
        x, y = a * (np.cos(anomaly) - e), a * np.sqrt(1 - e * e) * np.sin(anomaly)
        found[k] = c * x - s * y, s * x + c * y
    return found


def relative_error(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest distance over the separation at that time."""
    distance = np.linalg.norm(found - exact, axis=-1) / np.linalg.norm(exact, axis=-1)
    return float(np.max(distance))


def rounds(contestants: dict[str, Callable[[], object]], sizes: dict[str, int], repeats: int):
    """Seconds per item of every contestant, round by round; the first, unmeasured one warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for repeat in range(repeats + 1):
        for name, run in contestants.items():
            began = time.perf_counter()
            run()
            if repeat:
                seconds[name].append((time.perf_counter() - began) / sizes[name])
    return seconds


def ratio(seconds: dict[str, list[float]], fast: str, slow: str) -> float:
    """Median over the rounds of how many times faster one contestant was than another."""
    return statistics.median(s / f for f, s in zip(seconds[fast], seconds[slow], strict=True))


def two_bodies(repeats: int) -> dict[str, object]:
    """Rates, errors and ratios of the two-body engines."""
    position, velocity, gm, elements = two_body_states(max(ORBITS.values()))
    times = np.arange(SAMPLES) * (PERIODS / SAMPLES)

    def engine(name: str):
        some = slice(0, ORBITS[name])
        return integrate(NEWTON, position[some], velocity[some], gm[some], times, name)[0]

    contestants = {name: (lambda n=name: engine(n)) for name in ("heyoka", "kepler", "scipy")}
    contestants["point by point"] = lambda: [
        point_by_point(elements, times, k) for k in range(ORBITS["point by point"])
    ]
    seconds = rounds(contestants, ORBITS, repeats)
    exact = engine("kepler")
    accurate = integrate(NEWTON, position[:64], velocity[:64], gm[:64], times, "scipy")[0]
    errors = {
        "heyoka": relative_error(engine("heyoka"), exact),
        "scipy": relative_error(accurate, exact[:64]),
        "point by point": relative_error(point_by_point(elements, times, 0), exact[0]),
    }
    return {
        "rates": {name: 1 / statistics.median(values) for name, values in seconds.items()},
        "errors": errors,
        "ratios": {
            "heyoka / scipy": (ratio(seconds, "heyoka", "scipy"), 150),
            "heyoka / kepler": (ratio(seconds, "heyoka", "kepler"), 0.5),
            "heyoka / point by point": (ratio(seconds, "heyoka", "point by point"), 400),
        },
    }


def planets(repeats: int) -> dict[str, object]:
    """Rates, errors and ratios with a star and eight planets."""
    import rebound

    count = max(SYSTEMS.values())
    rng = np.random.default_rng(0)
    mass = sample_masses(count * 8, "controlled", (1e-7, 1e-4), "planet", rng).reshape(count, 8)
    systems = sample_planets(
        NEWTON, Ranges((0.3, 32.0), (0.0, 0.1)), np.ones(count), mass, 10.0, rng
    )
    innermost = period(systems.semi_major_axis.min(), GM_SUN)
    times = np.arange(PLANET_SAMPLES) * (PERIODS * innermost / PLANET_SAMPLES)

    def engine(name: str):
        some = slice(0, SYSTEMS[name])
        return integrate_bodies(
            NEWTON, systems.position[some], systems.velocity[some], systems.mass[some], times, name
        )

    def ias15():
        x = np.empty((SYSTEMS["rebound IAS15"], PLANET_SAMPLES, 9, 3))
        v = np.empty_like(x)
        for i in range(len(x)):
            simulation = rebound.Simulation()
            simulation.G, simulation.integrator = G, "ias15"
            for m, p, w in zip(
                systems.mass[i], systems.position[i], systems.velocity[i], strict=True
            ):
                simulation.add(m=m, x=p[0], y=p[1], z=p[2], vx=w[0], vy=w[1], vz=w[2])
            for k, t in enumerate(times):
                simulation.integrate(t)
                simulation.serialize_particle_data(xyz=x[i, k], vxvyvz=v[i, k])
        return x, v

    contestants = {
        "heyoka": lambda: engine("heyoka"),
        "scipy": lambda: engine("scipy"),
        "rebound IAS15": ias15,
    }
    seconds = rounds(contestants, SYSTEMS, repeats)
    states = {name: run() for name, run in contestants.items()}
    reference = states["heyoka"][0]

    def drift(x: np.ndarray, v: np.ndarray) -> float:
        energy = total_energy(NEWTON, x, v, systems.mass[: len(x)])
        return float(np.max(np.abs(energy / energy[:, :1] - 1)))

    def around_star(x: np.ndarray) -> np.ndarray:
        return x[:, :, 1:] - x[:, :, :1]

    return {
        "rates": {name: 1 / statistics.median(values) for name, values in seconds.items()},
        "errors": {
            f"{name}, from heyoka": relative_error(around_star(x), around_star(reference[: len(x)]))
            for name, (x, _) in states.items()
            if name != "heyoka"
        }
        | {f"{name}, energy": drift(*state) for name, state in states.items()},
        "ratios": {
            "heyoka / scipy": (ratio(seconds, "heyoka", "scipy"), 10),
            "heyoka / rebound IAS15": (ratio(seconds, "heyoka", "rebound IAS15"), 3),
        },
    }


def cost_per_orbit(counts: tuple[int, ...]) -> dict[int, float]:
    """Seconds of one core per orbit of `orbits generate`, by the number of orbits."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        generate(f"{folder}/warm.zarr", GenerateConfig(orbits=64, workers=1, engine="heyoka"))
        for count in counts:
            config = GenerateConfig(orbits=count, workers=1, engine="heyoka")
            began = time.process_time()
            generate(f"{folder}/{count}.zarr", config)
            found[count] = (time.process_time() - began) / count
            shutil.rmtree(f"{folder}/{count}.zarr")
    return found


def show(title: str, found: dict[str, object], unit: str) -> None:
    """Print one contest as a table."""
    print(f"\n{title}")
    for name, rate in found["rates"].items():  # type: ignore[attr-defined]
        print(f"  {name:28s} {rate:12.1f} {unit}/s")
    for name, error in found.get("errors", {}).items():  # type: ignore[attr-defined]
        print(f"  {name:28s} {error:12.1e} worst relative error")
    for name, (value, wanted) in found["ratios"].items():  # type: ignore[attr-defined]
        print(f"  {name:28s} {value:12.2f} times (wanted: {wanted:.2f})")


def main() -> None:
    """Run the contests and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    show("two bodies, one core", two_bodies(options.repeats), "orbits")
    show("a star and eight planets, one core", planets(options.repeats), "systems")
    print("\ngenerating, microseconds of one core per orbit")
    costs = cost_per_orbit((1_000, 10_000, 100_000))
    for count, cost in costs.items():
        times = cost / min(costs.values())
        print(f"  {count:>9,} orbits {1e6 * cost:10.1f} ({times:.2f} times the cheapest)")


if __name__ == "__main__":
    main()
