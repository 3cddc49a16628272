"""What `symreg weigh --transits` finds: TRAPPIST-1, and made systems of known masses.

    python tests/benchmarks/transits.py real
    python tests/benchmarks/transits.py made --draws 10
    python tests/benchmarks/transits.py massless --draws 5

`real` has the 447 times of Agol et al. (2021), of `../shared/data`, which is not shipped, beside
the masses that they publish. `made` gives planets its periods, transit numbers and errors, masses
of 0.3 to 1.5 Earths and orbits of their own (seeds from 70 000); `massless` the same without masses
(seeds from 71 000). Their times come from another integrator (IAS15), each solved by iteration.
"""

import argparse

import numpy as np
import pandas as pd
import rebound
from discovery_laws import SHARED

import symreg

STAR = 0.0898
EARTH = 3.0027e-6 / STAR
"""Mass of the Earth over the star's."""
COLUMNS = ["planet", "transit", "time", "error"]
PUBLISHED = {
    "b": (1.374, 0.069), "c": (1.308, 0.056), "d": (0.388, 0.012), "e": (0.692, 0.022),
    "f": (1.039, 0.031), "g": (1.321, 0.038), "h": (0.326, 0.020),
}  # fmt: skip
"""Earth masses and standard errors (Agol et al. 2021, PSJ 2, 1)."""


def timings():
    """The 447 times, BJD less 2 450 000."""
    table = pd.read_csv(SHARED / "trappist1" / "timings.txt", names=COLUMNS)
    return table.assign(planet=table.planet.map(dict(enumerate(PUBLISHED, start=1))))


def weighed(table):
    return symreg.weigh_transits(table, transits=COLUMNS, star_mass=STAR)


def real(arguments):
    """TRAPPIST-1, beside what is published."""
    found = weighed(timings())
    print(found, f"\n{found.seconds:.0f} s")
    found.plot().savefig("trappist1.png", dpi=110)
    for planet in found.planets:
        value, error = PUBLISHED[planet.name]
        low, high = value - 1.96 * error, value + 1.96 * error
        shared = planet.earths.low <= high and planet.earths.high >= low
        print(f"{planet.name} {planet.earths}, published {value} ± {error}: overlap {shared}")


def made(arguments, first=70_000, masses=(0.3, 1.5)):
    """How many of the 95 % intervals hold the mass, and how many planets count as weighed."""
    held, counted = [], []
    for draw in range(arguments.draws):
        table, truth = drawn(first + draw, masses)
        found = weighed(table)
        truths = dict(zip(PUBLISHED, truth, strict=True))
        held += [truths[planet.name] in planet.earths for planet in found.planets]
        counted += [planet.weighed for planet in found.planets]
        print(
            f"{draw}: {held[-7:].count(True)} of 7 hold, {counted[-7:].count(True)} weighed, chi "
            f"square {found.chi_square:.0f} of {found.freedom}, {found.wild} wild, "
            f"{found.seconds:.0f} s", flush=True,
        )  # fmt: skip
    print(f"{sum(held)} of {len(held)} intervals hold the mass, {sum(counted)} count as weighed")


def massless(arguments):
    """The same where no planet has a mass."""
    made(arguments, 71_000, (0.0, 0.0))


def drawn(seed, masses):
    """Times of a system, and its masses in Earths."""
    random = np.random.default_rng(seed)
    table = timings().sort_values("time", ignore_index=True)
    middle = (table.time.min() + table.time.max()) / 2
    truth = random.uniform(*masses, len(PUBLISHED))
    system = rebound.Simulation()
    system.integrator = "ias15"
    system.add(m=1.0)
    for name, mass in zip(PUBLISHED, truth, strict=True):
        own = table[table.planet == name]
        period, start = np.polyfit(own.transit, own.time - middle, 1, w=1 / own.error)
        k, h = random.normal(0, 0.005, 2)
        # a nearly round orbit that is at the observer's longitude when the line passes
        longitude = np.pi / 2 - 2 * np.pi * start / period - 2 * k
        system.add(m=mass * EARTH, P=period, h=h, k=k, l=longitude)
    system.move_to_com()
    times = np.empty(len(table))
    away = (table.time - middle).to_numpy()
    planets = table.planet.map({name: k for k, name in enumerate(PUBLISHED, start=1)}).to_numpy()
    for sign in (1, -1):
        one_way = system.copy()
        one_way.dt = sign * 0.05
        for row in np.flatnonzero(sign * away >= 0)[::sign]:
            one_way.integrate(away[row])
            times[row] = passing(one_way.copy(), int(planets[row]))
    noisy = middle + times + table.error * random.standard_normal(len(table))
    return table.assign(time=noisy), truth


def passing(system, planet):
    """When a planet is at the observer's longitude, near a system's time."""
    for _ in range(8):
        star, body = system.particles[0], system.particles[planet]
        x, y, vx, vy = body.x - star.x, body.y - star.y, body.vx - star.vx, body.vy - star.vy
        step = np.arctan2(x, y) * (x * x + y * y) / (x * vy - y * vx)
        if abs(step) < 1e-9:
            break
        system.integrate(system.t + step)
    return system.t


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["real", "made", "massless"])
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    globals()[arguments.what](arguments)


if __name__ == "__main__":
    main()
