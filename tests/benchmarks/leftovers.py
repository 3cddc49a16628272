"""Is what a central force leaves named? Drawn trajectories: ten laws, six kinds of leftover, noise.

    python tests/benchmarks/leftovers.py --seed 20261126 --tables 60
    python tests/benchmarks/leftovers.py --seed 20261126 --tables 60 --clean

Each table has one law, one leftover of 1e-4 to 0.1 of the force at the first distance (none with
--clean), and noise of 0, 1e-8 or 1e-5 au in turn, in two or three dimensions. Counted: named right
(that kind, and nothing else, where the size is above three standard errors); something said of a
clean table; and a table that could be *found* with a leftover above ten standard errors unsaid.
"""

import argparse
import time

import numpy as np
from scipy.integrate import solve_ivp

import orbits
from symreg.recovery.leftovers import leftovers

GM = orbits.GM_SUN
LAWS = {
    "newton": lambda r: GM / r**2,
    "hooke": lambda r: GM * r,
    "yukawa": lambda r: GM * (1 + r) * np.exp(-r) / r**2,
    "plummer": lambda r: GM * r / (r**2 + 0.25) ** 1.5,
    "logarithmic": lambda r: GM / r,
    "r^-2.5": lambda r: GM / r**2.5,
    "r^-1.5": lambda r: GM / r**1.5,
    "newton and hooke": lambda r: GM / r**2 + 3 * r,
    "constant": lambda r: GM + 0 * r,
    "newton and 1/r^3": lambda r: GM / r**2 + 1 / r**3,
}
KINDS = ("drag", "magnetic", "uniform", "centre", "growth", "periodic")
NOISES = (0.0, 1e-8, 1e-5)


def drawn(law, kind, noise, random):
    """(time,) times, (time, axis) positions, and the leftover's size at the first distance."""
    force, axes = LAWS[law], 2 + int(random.random() < 0.3)
    count, turns = int(random.integers(300, 900)), random.uniform(2, 6)
    r, size = random.uniform(0.7, 1.4), 10 ** random.uniform(-4, -1)
    speed = float(np.sqrt(force(r) * r))
    end = 2 * np.pi * r / speed * turns
    frame = np.linalg.qr(random.standard_normal((axes, axes)))[0]
    x, v = np.zeros(axes), np.zeros(axes)
    x[0], v[0], v[1] = r, random.uniform(-0.2, 0.2), random.uniform(0.65, 0.95)
    x, v = frame @ x, speed * (frame @ v)
    way = frame @ np.eye(axes)[-1] if axes == 3 else frame @ [0.6, 0.8]
    way, pull = (way + frame[:, 0]) / np.linalg.norm(way + frame[:, 0]), size * force(r)
    power, frequency = random.integers(0, 3), random.uniform(0.5, 1.8) * 2 * np.pi * turns / end

    def rates(t, y):
        x, v = y[:axes], y[axes:]
        about = x - 0.5 * size * r * way if kind == "centre" else x
        far = np.linalg.norm(about)
        a = -force(far) * about / far
        if kind == "drag":
            a = a - pull * v / speed * (r / np.linalg.norm(x)) ** power
        if kind == "magnetic":
            turned = v[::-1] * [1, -1] if axes == 2 else np.cross(v, way)
            a = a + pull / speed * turned
        if kind == "uniform":
            a = a + pull * way
        if kind == "growth":
            a = a * (1 + 2 * size * t / end)
        if kind == "periodic":
            a = a + pull * way * np.cos(frequency * t + 1)
        return [*v, *a]

    t = np.linspace(0, end, count)

    def fallen(t, y):
        return np.linalg.norm(y[:axes]) - 0.05

    fallen.terminal = True
    found = solve_ivp(rates, (0, end), [*x, *v], t_eval=t, rtol=1e-11, atol=1e-12, method="DOP853",
                      events=fallen)  # fmt: skip
    if len(found.t) < count:  # it fell into the centre
        return drawn(law, kind, noise, random)
    position = found.y[:axes].T
    return t, position + noise * random.standard_normal(position.shape), size


def named(left):
    """The kinds of the parts, all drags alike."""
    names = (part.kind.name for part in left.parts)
    return {"drag" if "drag" in name else name for name in names}


def examined(k, seed, clean):
    """One table: what was left over, what was said of it, and whether that is right."""
    law, kind = list(LAWS)[k % len(LAWS)], KINDS[k // len(LAWS) % len(KINDS)]
    kind, noise = "none" if clean else kind, NOISES[k % len(NOISES)]
    t, x, size = drawn(law, kind, noise, np.random.default_rng([seed, k]))
    began = time.process_time()
    left = leftovers(orbits.measure_forces(orbits.from_arrays(x[None], time=t)))
    names, sure = named(left), max((part.sure for part in left.parts), default=0.0)
    return {
        "law": law, "kind": kind, "noise": noise, "size": size, "said": bool(names or left.unnamed),
        "right": names == ({kind} - {"none"}) and not left.unnamed,
        "answer": f"{sorted(names)} {sure:.3g} {left.unnamed:.1e}",
        "cpu": time.process_time() - began,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--clean", action="store_true")
    options = parser.parse_args()
    right = sayings = unsaid = 0
    for k in range(options.tables):
        case = examined(k, options.seed, options.clean)
        right, sayings = right + case["right"], sayings + case["said"]
        unsaid += case["kind"] != "none" and not case["said"]
        print(f"{case['law']:17} {case['kind']:9} {case['noise']:5.0e} {case['size']:.1e} "
              f"{'right' if case['right'] else 'wrong'} {case['answer']} {case['cpu']:.1f} s",
              flush=True)  # fmt: skip
    print(
        f"{right} of {options.tables} right; something said of {sayings}; nothing said of {unsaid}"
    )


if __name__ == "__main__":
    main()
