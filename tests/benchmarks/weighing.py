"""What `symreg weigh` finds: real planets and simulated worlds.

    python tests/benchmarks/weighing.py solar --noise 0 1e-8 1e-6 1e-5
    python tests/benchmarks/weighing.py worlds --noise 0 1e-6

Noise of `solar` is in au, of the others relative to the size of the system. Every draw has its own
seed, from 0.
"""

import argparse
import sys
import time

import numpy as np

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
        bodies=BODIES, together=True, frame="icrf", centre="barycentre", dt=SIX_HOURS,
        samples=samples, start="1985", stop=str(1985.01 + years),
    )  # fmt: skip


def solar(arguments):
    """Masses of eleven bodies of DE421, median over draws of noise."""
    import symreg

    data = solar_system()
    true, names = data["mass"].values[0], data.attrs["bodies"]
    print("noise/au  " + "".join(f"{name:>9}" for name in names) + "   |n-2|  seconds  law")
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
        median = np.median(np.abs(errors), axis=0)
        print(f"{noise:<10.0e}" + "".join(f"{value:9.1e}" for value in median)
              + f"{np.median(np.abs(powers)):9.1e}{max(seconds):8.0f}  {', '.join(laws)}; Pluto "
              f"weighable {light} of {len(errors)}", flush=True)  # fmt: skip


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["solar", "worlds"])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 1e-6])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    globals()[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
