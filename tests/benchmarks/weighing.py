"""What `symreg weigh` finds: real planets, two stars, simulated worlds, coverage of its intervals.

    python tests/benchmarks/weighing.py solar --noise 0 1e-8 1e-6 1e-5
    python tests/benchmarks/weighing.py solar --noise 0 --out notebooks/images/weighed.csv
    python tests/benchmarks/weighing.py stars ../shared/data/gravitybench/modified_gravity_1.97.csv
    python tests/benchmarks/weighing.py worlds --noise 0 1e-6
    python tests/benchmarks/weighing.py searched --noise 0 1e-6 --draws 3
    python tests/benchmarks/weighing.py coverage --draws 200
    python tests/benchmarks/weighing.py forces --draws 200
    python tests/benchmarks/weighing.py unseen --draws 20
    python tests/benchmarks/weighing.py neptune --noise 1e-8
    python tests/benchmarks/weighing.py einstein --noise 0 1e-8 1e-6

Noise of `solar` is in au, of the others relative to the size of the system. Every draw has its own
seed, from 0.
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd

BODIES = (
    "sun", "mercury", "venus", "earth", "moon", "mars", "jupiter", "saturn", "uranus", "neptune",
    "pluto",
)  # fmt: skip
LAWS = ("newton", "logarithmic", "yukawa(length=2)", "power_law(n=2.5)", "hooke")
SIX_HOURS = 0.25 / 365.25


def noisy(data, noise, seed):
    """The same dataset with white noise on every position, au."""
    found = data.copy(deep=True)
    random = np.random.default_rng(seed)
    found["position"].values[:] += noise * random.standard_normal(found["position"].shape)
    return found


def solar_system(years=30):
    """Sun, planets, Moon and Pluto about the barycentre, every six hours from 1985 on."""
    import orbits

    samples = int(years / SIX_HOURS)
    return orbits.ephemeris(
        bodies=BODIES, together=True, frame="icrf", dt=SIX_HOURS,
        samples=samples, start=1985, stop=1985.01 + years,
    )  # fmt: skip


def solar(arguments):
    """Masses of eleven bodies of DE421, median over draws of noise."""
    import symreg

    data = solar_system()
    true, names = data["mass"].values[0], data.attrs["bodies"]
    print("noise/au  " + "".join(f"{name:>9}" for name in names) + "   |n-2|  seconds  law")
    rows = []
    for noise in arguments.noise:
        errors, powers, seconds, laws, light = [], [], [], set(), 0
        for seed in range(arguments.draws if noise else 1):
            began = time.monotonic()
            found = symreg.weigh(noisy(data, noise, seed))
            seconds.append(time.monotonic() - began)
            errors.append([m.value / t - 1 for m, t in zip(found.masses, true, strict=True)])
            powers.append(found.exponent.value - 2)
            laws.add(found.law)
            light += found.mass("pluto").weighable
            rows += [
                {"noise": noise, "draw": seed, "body": name, "true": t, "value": m.value,
                 "low": m.low, "high": m.high, "weighable": m.weighable}
                for name, t, m in zip(names, true, found.masses, strict=True)
            ]  # fmt: skip
        median = np.median(np.abs(errors), axis=0)
        print(f"{noise:<10.0e}" + "".join(f"{value:9.1e}" for value in median)
              + f"{np.median(np.abs(powers)):9.1e}{max(seconds):8.0f}  {', '.join(laws)}; Pluto "
              f"weighable {light} of {len(errors)}", flush=True)  # fmt: skip
        if arguments.out:
            pd.DataFrame(rows).to_csv(arguments.out, index=False, float_format="%.10g")


def stars(arguments):
    """Two stars from a table of positions in SI."""
    import orbits
    import symreg

    data = orbits.from_table(
        arguments.table, position=("star1_x,star1_y,star1_z", "star2_x,star2_y,star2_z"),
        time_unit="s", length_unit="m",
    )  # fmt: skip
    found = symreg.weigh(data)
    first, second = found.masses
    print(found)
    print(f"ratio of the masses {first.value / second.value:.6f}")


def world(law, seed, planets, samples=3000):
    """A star and planets under a law, about the barycentre."""
    import orbits

    wide = law == "hooke"
    return orbits.generate(
        law=law, system="nbody", orbits=1, planets=planets, samples=samples, dt=0.004,
        dtype="float64", seed=seed, companion_mass=(3e-4, 3e-3),
        semi_major_axis=(0.4, 8.0), hill_spacing=3 if wide else 5,
    )  # fmt: skip


def worlds(arguments):
    """Law and masses of simulated worlds of three to five bodies."""
    import symreg

    for law in LAWS:
        for noise in arguments.noise:
            right, masses, worst, inside, total = 0, 0, [], 0, 0
            for seed in range(arguments.draws):
                data = world(law, seed, planets=2 + seed % 3)
                size = float(np.sqrt(np.mean(data["position"].values ** 2)))
                found = symreg.weigh(noisy(data, noise * size, seed))
                family = found.law.partition("(")[0]
                right += found.central and family == law.partition("(")[0]
                true = data["mass"].values[0]
                known = [(m, t) for m, t in zip(found.masses, true, strict=True) if m.weighable]
                off = max((abs(m.value / t - 1) for m, t in known), default=np.inf)
                worst.append(off)
                masses += len(known) == len(true) and off < 0.01
                inside += sum(m.low <= t <= m.high for m, t in known)
                total += len(known)
                if arguments.each:
                    print("   ", seed, found.law, found.exponent, f"worst {off:.1e}",
                          f"{len(known)} of {len(true)} weighable")  # fmt: skip
            print(f"{law:<18} noise {noise:<7.0e} law {right} of {arguments.draws}, all masses "
                  f"within 1 % {masses} of {arguments.draws}, worst {np.median(worst):.1e}, "
                  f"{inside} of {total} in their intervals", flush=True)  # fmt: skip


SEARCHED = ("GM*(1/r**2+0.02*r)", "GM*exp(-r/3)/r", "GM*(1+0.2*log(r))/r**2")
"""Laws of no family, which the engines have to write."""


def searched(arguments):
    """Formulas and masses of four-body worlds under laws that no family holds."""
    import orbits
    import symreg

    r = np.array([0.5, 1.0, 2.0])
    for law in SEARCHED:
        true_pull = orbits.parse_law(law).radial_acceleration(r, 1.0)
        for noise in arguments.noise:
            right, worst, seconds, missed = 0, [], [], []
            for seed in range(arguments.draws):
                data = world(law, seed, planets=3)
                size = float(np.sqrt(np.mean(data["position"].values ** 2)))
                began = time.monotonic()
                found = symreg.weigh(noisy(data, noise * size, seed))
                seconds.append(time.monotonic() - began)
                true = data["mass"].values[0]
                pairs = list(zip(found.masses, true, strict=True))
                worst.append(max(abs((m.value or np.inf) / t - 1) for m, t in pairs))
                pull = np.inf
                if found.central:
                    pull = orbits.parse_law(found.law).radial_acceleration(r, 1.0)
                # the constants of the law have six digits
                same = len(found.parameters) == 1 and np.allclose(pull, true_pull, rtol=1e-3)
                right += same
                missed += [] if same else [f"seed {seed}: {found.law}"]
            print(f"{law:<24} noise {noise:<7.0e} formula {right} of {arguments.draws}, worst mass "
                  f"{np.median(worst):.1e} (median), {np.median(seconds):.0f} s"
                  + "".join(f"; {miss}" for miss in missed), flush=True)  # fmt: skip


def coverage(arguments):
    """How often the 95 % intervals of masses and exponent hold."""
    import symreg

    for law, exponent in (("newton", 2.0), ("power_law(n=2.5)", 2.5), ("logarithmic", 1.0)):
        data = world(law, seed=1, planets=2, samples=1500)
        size = float(np.sqrt(np.mean(data["position"].values ** 2)))
        true = data["mass"].values[0]
        for noise in arguments.noise:
            held = np.zeros(len(true) + 1)
            for seed in range(arguments.draws):
                found = symreg.weigh(noisy(data, noise * size, seed))
                held[:-1] += [m.low <= t <= m.high for m, t in zip(found.masses, true, strict=True)]
                held[-1] += found.exponent.low <= exponent <= found.exponent.high
            shares = " ".join(f"{share:.1%}" for share in held / arguments.draws)
            print(f"{law:<18} noise {noise:.0e}: masses, then exponent: {shares} of "
                  f"{arguments.draws} draws", flush=True)  # fmt: skip


def forces(arguments):
    """How often the 95 % intervals of measured accelerations hold."""
    import orbits

    for system, law in (("relative", "newton"), ("barycentric", "yukawa(length=2)"),
                        ("relative", "hooke"), ("nbody", "newton")):  # fmt: skip
        options = {"semi_major_axis": (1.0, 4.0), "planets": 2} if system == "nbody" else {}
        data = orbits.generate(law=law, system=system, orbits=arguments.draws, samples=512,
                               dt=0.004, dtype="float64", seed=3, **options)  # fmt: skip
        for noise in (1e-9, 1e-7, 1e-5):
            found = orbits.measure_forces(noisy(data, noise, 1))
            print(f"{system:<12}{law:<18} noise {noise:.0e} au: {found.metrics['within_95']:.1%}",
                  flush=True)  # fmt: skip


def without(data, hidden):
    """A dataset of one system in which a body is not seen."""
    kept = [k for k in range(data.sizes["body"]) if k != hidden]
    return data.isel(body=kept).assign_attrs(
        bodies=[f"body{k}" for k in kept] if "bodies" not in data.attrs else
        [data.attrs["bodies"][k] for k in kept]
    )  # fmt: skip


def crowd(seed):
    """A star with four planets over 75 years; where there is no room for them, of another seed."""
    import orbits

    for other in range(100):
        try:
            return orbits.generate(
                system="nbody", planets=4, orbits=1, samples=1500, dt=0.05, dtype="float64",
                semi_major_axis=(2, 16), companion_mass=(1e-5, 1e-3), seed=seed + other,
            )  # fmt: skip
        except ValueError:
            continue
    raise SystemExit("there is no room for four planets")


def unseen(arguments):
    """Systems with a hidden planet, and without one: what is said of it, and of the others."""
    import symreg

    held = {"seen": [], "mass": [], "longitude": []}
    found_at_all = {"hidden": 0, "all seen": 0}
    for draw in range(arguments.draws):
        random = np.random.default_rng(draw)
        data = crowd(30_000 + 100 * draw)
        hidden = int(random.integers(1, 5))
        true = data["mass"].values[0]
        position = data["position"].values[0]
        for which, shown in (("hidden", without(data, hidden)), ("all seen", data)):
            found = symreg.weigh(noisy(shown, 1e-7, draw), noise=1e-7, unseen=1)
            masses = true if which == "all seen" else np.delete(true, hidden)
            held["seen"] += [
                f.low <= m <= f.high for m, f in zip(masses, found.masses, strict=True)
            ]
            body, line = found.unseen, f"{draw} {which}: gain {found.unseen.gain:.4g}"
            if body.mass.value is not None:
                found_at_all[which] += 1
                line += f", {body.mass.value:.4g} M_sun, {body.semi_major_axis.value:.4g} au"
            if which == "hidden":
                middle = data.sizes["time"] / 2 - 0.5
                at = [
                    np.interp(
                        middle, np.arange(len(position)), position[:, hidden, k] - position[:, 0, k]
                    )
                    for k in range(2)
                ]
                longitude = np.degrees(np.arctan2(at[1], at[0])) % 360
                line += f" (true {true[hidden]:.4g})"
                if body.mass.value is not None:
                    off = (body.longitude[10].value - longitude + 180) % 360 - 180
                    half = (body.longitude[10].high - body.longitude[10].low) / 2
                    held["mass"].append(true[hidden] in body.mass)
                    held["longitude"].append(abs(off) <= half)
                    line += f", {off:.2g} of {half:.2g} degrees off"
            print(f"{line}, {found.seconds:.0f} s", flush=True)
    print(found_at_all, {name: f"{np.mean(v):.2f} of {len(v)}" for name, v in held.items()})


def neptune(arguments):
    """Where Neptune must be, by the others from 1900 to 2000, and what is said with it seen."""
    import orbits
    import symreg

    bodies = ("sun", "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune")
    data = orbits.ephemeris(
        bodies=bodies, together=True, frame="ecliptic", dt=0.005,
        samples=20_000, start=1900, stop=2000.1,
    )  # fmt: skip
    position, mass = data["position"].values[0], data["mass"].values[0, -1]
    x, y = (position[:, -1] - position[:, 0]).T[:2]
    for which, known in (("hidden", without(data, len(bodies) - 1)), ("seen", data)):
        for noise in arguments.noise:
            shown = noisy(known, noise, 0)
            found = symreg.weigh(shown, noise=noise, relativity="einstein", unseen=1)
            body = found.unseen
            print(
                f"{which}, {noise:g} au, {found.seconds:.0f} s: {body.before:.4g} errors left "
                f"without a body, {body.after:.4g} with one; {found.explanation}",
                flush=True,
            )
            if body.exists:
                true = np.interp(body.times, data["time"].values, np.unwrap(np.arctan2(y, x)))
                off = np.array([each.value for each in body.longitude]) - np.degrees(true)
                off = np.abs((off + 180) % 360 - 180).max()
                print(f"   {body.mass} for {mass:.4g} M_sun, at most {off:.2g} degrees off")


def einstein(arguments):
    """The coefficient of the post-Newtonian term from DE421, 1950 to 2050."""
    import orbits
    import symreg

    bodies = ("sun", "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune")
    data = orbits.ephemeris(
        bodies=bodies, together=True, frame="icrf", dt=0.005, samples=20_000,
        start=1950, stop=2050.1,
    )  # fmt: skip
    for noise in arguments.noise:
        found = symreg.weigh(noisy(data, noise, 0), noise=noise, relativity="fitted")
        told = found.relativity
        print(
            f"{noise:g} au: {told.coefficient}, {told.body} {told.precession} seconds a century, "
            f"{told.left:.3g} errors left, {found.seconds:.0f} s",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what",
        choices=[
            "solar", "stars", "worlds", "searched", "coverage", "forces", "unseen", "neptune",
            "einstein",
        ],
    )  # fmt: skip
    parser.add_argument("table", nargs="?")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 1e-6])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--out", help="of `solar`: a CSV with a row for each mass")
    arguments = parser.parse_args()
    globals()[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
