"""What `symreg weigh --observe` finds: real stars, and how often its intervals hold the truth.

    python tests/benchmarks/observing.py real
    python tests/benchmarks/observing.py coverage --draws 100
    python tests/benchmarks/observing.py nulls --draws 20

`real` has S2 (Gillessen et al. 2017) and HD 164922 (Fulton et al. 2016), of `../shared/data`, which
is not shipped. `coverage` gives a star the dates and errors of S2, and an orbit of its own in every
draw: seeds from 50 000. `nulls` shuffles the velocities of HD 164922 among its dates.
"""

import argparse

import numpy as np
import pandas as pd
from discovery_laws import SHARED

import symreg
from orbits.elements import Elements, propagate_kepler, state_from_elements
from orbits.units import SPEEDS, G

MASS, DISTANCE, SIZE = 4.3e6, 8300.0, 1000.0
"""Of every draw: solar masses, pc, au."""


def s2():
    """Places, arcsec, and radial velocities, km/s, by telescope."""
    files = sorted((SHARED / "s2").glob("*_*.csv"))
    names = {"t": "time", "vz": "rv", "vz_err": "rv_err"}
    tables = [pd.read_csv(f).assign(telescope=f.stem.split("_")[1]) for f in files]
    return pd.concat(tables, ignore_index=True).rename(columns=names)


def hd_164922():
    """Radial velocities, m/s, of a star of 0.874 solar masses."""
    table = pd.read_csv(SHARED / "hd164922" / "radial_velocities.txt", sep=r"\s+")
    return table.rename(columns={"mnvel": "rv", "errvel": "rv_err"})


OF_S2 = {"observe": "x,y,rv", "instrument": "telescope", "zero_point": "common"}
OF_HD = {"observe": "rv", "instrument": "tel", "velocity_unit": "m/s", "seen_mass": 0.874}


def real(arguments):
    """What is found in the tables of others."""
    found = symreg.weigh_sky(s2(), **OF_S2)
    print(found, f"\n{found.yukawa}\n{found.seconds:.0f} s\n")
    found.plot().savefig("s2.png", dpi=110)
    for companions in (1, 2, 3):
        found = symreg.weigh_sky(hd_164922(), companions=companions, **OF_HD)
        print(found, f"\n{found.seconds:.0f} s\n", flush=True)
        if companions == 2:
            found.plot().savefig("hd164922.png", dpi=110)


def made(seed):
    """A table with the dates and errors of S2's, and what is true of it."""
    random = np.random.default_rng(seed)
    table = s2()
    e = random.uniform(0.3, 0.9)
    inclination, node = np.arccos(random.uniform(-0.95, 0.95)), random.uniform(0, 2 * np.pi)
    argument, anomaly = random.uniform(0, 2 * np.pi, 2)
    elements = Elements(*(np.array([v]) for v in (SIZE, e, inclination, node, argument, anomaly)))
    gm = np.array([G * MASS])
    times = table.time.to_numpy() - table.time.min()
    # of the unseen body about the one that is seen: the latter lies the other way
    place, speed = (
        -part[0] for part in propagate_kepler(*state_from_elements(elements, gm), gm, times)
    )
    draw = random.standard_normal((3, len(table)))
    table["x"] = place[:, 1] / DISTANCE + table.x_err * draw[0] + 1e-4 * times
    table["y"] = place[:, 0] / DISTANCE + table.y_err * draw[1]
    table["rv"] = -speed[:, 2] / SPEEDS["km/s"] + table.rv_err * draw[2] + 8.0
    truth = {
        "mass": MASS, "semi_major_axis": SIZE, "eccentricity": e,
        "inclination": np.degrees(inclination), "period": float(np.sqrt(SIZE**3 / MASS)),
    }  # fmt: skip
    return table, truth


def coverage(arguments):
    """How many of the 95 % intervals hold the truth."""
    held, missed = {}, 0
    for draw in range(arguments.draws):
        table, truth = made(50_000 + draw)
        found = symreg.weigh_sky(table, **OF_S2)
        if not found.orbits:
            missed += 1
            continue
        (orbit,) = found.orbits
        each = {name: value in getattr(orbit, name) for name, value in truth.items()}
        each |= {"distance": DISTANCE in found.distance, "exponent": 2.0 in found.exponent}
        for name, inside in each.items():
            held.setdefault(name, []).append(inside)
        wrong = [name for name, inside in each.items() if not inside]
        print(
            f"{draw}: e {truth['eccentricity']:.2f}, {orbit.mass.value:.4g} M☉, "
            f"{found.distance.value:.5g} pc, n {found.exponent}, {found.seconds:.0f} s, "
            f"missed: {wrong or 'none'}", flush=True,
        )  # fmt: skip
    print({name: f"{np.mean(v):.2f} of {len(v)}" for name, v in held.items()}, "none found", missed)


def nulls(arguments):
    """How many tables without an orbit are given one."""
    table, given = hd_164922(), 0
    for draw in range(arguments.draws):
        random = np.random.default_rng(60_000 + draw)
        shuffled = table.copy()
        for _, rows in table.groupby("tel").groups.items():
            at = random.permutation(rows)
            shuffled.loc[rows, ["rv", "rv_err"]] = table.loc[at, ["rv", "rv_err"]].to_numpy()
        found = symreg.weigh_sky(shuffled, **OF_HD)
        given += bool(found.orbits)
        print(f"{draw}: gain {found.gain:.3g} of {found.needed:.3g}", flush=True)
    print(f"{given} of {arguments.draws} are given an orbit")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["real", "coverage", "nulls"])
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    globals()[arguments.what](arguments)


if __name__ == "__main__":
    main()
