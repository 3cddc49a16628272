"""When planets pass in front of their star, from their masses and orbits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import rebound

FINE, COARSE = 50, 20
"""Steps of the integration in the shortest period: times right to 3e-5 and 3e-4 days for seven
planets over four years, most of which the periods take up."""
NUMBERS = ("mass", "transit", "period", "k", "h")
"""Of each planet: over the star's mass; the transit nearest to the middle, and the period, of the
Kepler orbit that osculates there, days; e cos w and e sin w, with the line of sight as y axis."""


@dataclass(frozen=True)
class Transits:
    """Times of transits, days from the middle of them all.

    Attributes:
        planets: their names, in order of period.
        planet: (row,) which.
        number: (row,) count of the planet's transits from any one on.
        time: (row,) ascending.
        sigma: (row,) standard errors.
        middle: of the first and the last, in the table's days.
    """

    planets: tuple[str, ...]
    planet: np.ndarray
    number: np.ndarray
    time: np.ndarray
    sigma: np.ndarray
    middle: float

    def rows(self, chosen: np.ndarray) -> "Transits":
        """Some rows."""
        kept = {name: getattr(self, name)[chosen] for name in ("planet", "number", "time", "sigma")}
        return replace(self, **kept)

    def lines(self) -> np.ndarray:
        """(planet, 2) time of the transit nearest to the middle, and period, of straight lines."""
        found = []
        for k in range(len(self.planets)):
            own = self.planet == k
            slope, start = np.polyfit(self.number[own], self.time[own], 1, w=1 / self.sigma[own])
            found.append((start - slope * np.round(start / slope), slope))
        return np.array(found)


def late(vector: np.ndarray, seen: Transits, steps: int = FINE) -> np.ndarray:
    """(row,) predicted minus observed times, days; infinite where no such planets can move.

    The planets, (planet * number,) as in `NUMBERS`, move in one plane that holds the line of sight,
    under Newton's law. A transit is when a planet's longitude is the observer's; its departure at
    the observed time is divided by its rate. Light travels at once.
    """
    numbers = vector.reshape(len(seen.planets), len(NUMBERS))
    if np.any(np.hypot(numbers[:, 3], numbers[:, 4]) > 0.9) or np.any(numbers[:, 2] <= 0):
        return np.full(len(seen.time), np.inf)
    found = np.empty(len(seen.time))
    for sign in (1, -1):
        rows = np.flatnonzero(sign * seen.time >= 0)
        found[rows[::sign]] = list(_late(numbers, seen.rows(rows[::sign]), sign * steps))
    return found


def _late(numbers: np.ndarray, seen: Transits, steps: int) -> Iterator[float]:
    """The same for rows on one side of the middle, outwards; before it steps are negative."""
    system = _system(numbers)
    system.dt = numbers[:, 2].min() / steps
    for when, planet in zip(seen.time, seen.planet, strict=True):
        system.integrate(when)
        star, body = system.particles[0], system.particles[int(planet) + 1]
        x, y = body.x - star.x, body.y - star.y
        vx, vy = body.vx - star.vx, body.vy - star.vy
        square = x * x + y * y
        rate = (x * vy - y * vx) / square
        # the angle left to the line of sight, and a step of second order in it
        angle = np.arctan2(x, y)
        step = angle / rate
        yield step * (1 + (x * vx + y * vy) / square * step)


def _system(numbers: np.ndarray) -> rebound.Simulation:
    """The planets in the middle of the time, about a star of mass one."""
    system = rebound.Simulation()
    system.integrator = "whfast"
    system.add(m=1.0)
    for mass, transit, period, k, h in numbers:
        e, pericentre = np.hypot(k, h), np.arctan2(h, k)
        true = np.pi / 2 - pericentre
        eccentric = 2 * np.arctan2(
            np.sqrt(1 - e) * np.sin(true / 2), np.sqrt(1 + e) * np.cos(true / 2)
        )
        anomaly = eccentric - e * np.sin(eccentric) - 2 * np.pi * transit / period
        system.add(m=mass, P=period, e=e, omega=pericentre, M=anomaly)
    system.move_to_com()
    return system
