"""The tables of `discovery.py` that are no board of laws: classics, traps, measured ones."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from discovery_laws import SHARED
from scipy.integrate import solve_ivp

from orbits.expressions import parse_expression
from symreg.formulas.expressions import evaluate, symbol


def classics(seed: int) -> dict[str, tuple[pd.DataFrame, str, tuple[str, ...], str]]:
    """Tables of real or textbook laws: table, target, features, the law."""
    rng = np.random.default_rng(seed)
    planets = pd.DataFrame(
        {
            "a": [0.387, 0.723, 1.0, 1.524, 5.203, 9.537],
            "P": [0.241, 0.615, 1.0, 1.881, 11.86, 29.45],
        }
    )
    n = 200
    m1, m2 = rng.uniform(1, 10, n), rng.uniform(1, 10, n)
    r, V = rng.uniform(0.3, 3, n), rng.uniform(1, 10, n)
    moles, T = rng.uniform(0.5, 5, n), rng.uniform(200, 400, n)
    wobble = 1 + 0.01 * rng.standard_normal(n)
    place = np.arange(7)
    tables = {
        "kepler": (planets, "P", ("a",), "a**(3/2)"),
        "newton": (
            pd.DataFrame({"F": 6.674 * m1 * m2 / r**2 * wobble, "m1": m1, "m2": m2, "r": r}),
            "F", ("m1", "m2", "r"), "m1*m2/r**2",
        ),
        "ideal gas": (
            pd.DataFrame({"P": 8.314 * moles * T / V * wobble, "n": moles, "T": T, "V": V}),
            "P", ("n", "T", "V"), "n*T/V",
        ),
        "bode": (
            pd.DataFrame({"a": 0.4 + 0.3 * 2.0**place, "n": place}), "a", ("n",),
            "0.4 + 0.3*exp(0.6931471805599453*n)",
        ),
    }  # fmt: skip
    for name, target, feature, law in (
        ("hubble", "v", "D", "D"), ("leavitt", "M", "logP", "3.0*logP + 10.0"),
    ):  # fmt: skip
        path = SHARED / "empirical" / f"{name}.csv"
        if path.is_file():
            tables[name] = (pd.read_csv(path), target, (feature,), law)
    return tables


@dataclass(frozen=True)
class Halves:
    """A table to learn from, and two to predict.

    Attributes:
        target: the column to explain.
        train: rows to learn from.
        inside: other rows of the same range.
        outside: rows of another range.
    """

    target: str
    train: pd.DataFrame
    inside: pd.DataFrame
    outside: pd.DataFrame


def _oscillator(name: str) -> Halves:
    """One of LLM-SR's two driven oscillators, from 20 to 50; outside it, from 0 to 20.

    Positions and velocities are integrated to 1e-10, the acceleration is the formula's.
    """

    def pull(t: np.ndarray, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        if name == "oscillator 1":
            return 0.8 * np.sin(x) - 0.5 * v**3 - 0.2 * x**3 - 0.5 * x * v - x * np.cos(x)
        return 0.3 * np.sin(t) - 0.5 * v**3 - x * v - 5.0 * x * np.exp(0.5 * x)

    t = np.linspace(0.0, 50.0, 5001)
    run = solve_ivp(
        lambda time, state: (state[1], pull(time, *state)), (0.0, 50.0), (0.5, 0.5), t_eval=t,
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    x, v = run.y
    columns = {"t": t, "x": x, "v": v, "a": pull(t, x, v)}
    if name == "oscillator 1":
        del columns["t"]
    table = pd.DataFrame(columns)
    late = table[t >= 20.0].sample(frac=1.0, random_state=0)
    return Halves("a", late[:2000], late[2000:], table[t < 20.0])


def _growth(rng: np.random.Generator, rows: int, low: float, high: float) -> pd.DataFrame:
    """LLM-SR's growth of E. coli by density, substrate, temperature (low to high) and acidity."""
    B, S = rng.uniform(0.01, 1.0, rows), rng.uniform(0.05, 2.0, rows)
    T, pH = rng.uniform(low, high, rows), rng.uniform(5.0, 8.0, rows)
    warm = np.tanh(0.2 * (T - 15.0)) / (1 + 1e-4 * (T - 35.0) ** 4)
    acid = np.exp(-np.abs(pH - 7.0)) * np.sin((pH - 4.0) * np.pi / 5.0) ** 2
    return pd.DataFrame(
        {"B": B, "S": S, "T": T, "pH": pH, "growth": 1.1 * B * S / (0.4 + S) * warm * acid}
    )


def halves() -> dict[str, Halves]:
    """LLM-SR's four problems (arXiv:2404.18400).

    The oscillators are made from its formulas and constants; the growth of E. coli from its formula
    with constants of ours; stress and strain are its measured table, where it is there.
    """
    found = {name: _oscillator(name) for name in ("oscillator 1", "oscillator 2")}
    rng = np.random.default_rng(0)
    found["E. coli"] = Halves(
        "growth", _growth(rng, 2000, 20.0, 40.0), _growth(rng, 1000, 20.0, 40.0),
        _growth(rng, 1000, 40.0, 45.0),
    )  # fmt: skip
    folder = SHARED / "stress_strain"
    if folder.is_dir():
        parts = (pd.read_csv(folder / f"{x}.csv") for x in ("train", "test_id", "test_ood"))
        found["stress and strain"] = Halves("stress", *parts)
    return found


TRAPS = {
    "1/r^2 (1 - 0.1/r)": lambda r: (1 - 0.1 / r) / r**2,
    "1/(r^2 + 0.5)": lambda r: 1 / (r**2 + 0.5),
    "10 % ripple": lambda r: (1 + 0.1 * np.sin(5 * r)) / r**2,
    "2 % ripple": lambda r: (1 + 0.02 * np.cos(3 * r)) / r**2,
    "1/r^2.05": lambda r: r**-2.05,
    "1/r^1.97": lambda r: r**-1.97,
    "1/r^2 + 0.01": lambda r: r**-2.0 + 0.01,
    "1/r^2 + 0.05/r": lambda r: r**-2.0 + 0.05 / r,
    "1/r^2 + 0.02 r": lambda r: r**-2.0 + 0.02 * r,
    "1/(r + 0.1)^2": lambda r: 1 / (r + 0.1) ** 2,
    "1/r^2 log": lambda r: np.log(1 + 3 * r) / r**2,
    "exp(-r/3)/r^1.9": lambda r: np.exp(-r / 3) / r**1.9,
    "exp(-r/3)/r^2": lambda r: np.exp(-r / 3) / r**2,
    "exp(-r^2/20)/r^2": lambda r: np.exp(-(r**2) / 20) / r**2,
    "tanh(3r)/r^2": lambda r: np.tanh(3 * r) / r**2,
    "1/r^2 - 0.03/r^4": lambda r: r**-2.0 - 0.03 / r**4,
    "1/r^2 + 0.03/r^3.5": lambda r: r**-2.0 + 0.03 / r**3.5,
    "r/(r^2+0.04)^1.4": lambda r: r / (r**2 + 0.04) ** 1.4,
    "r + 0.02 r^3": lambda r: r + 0.02 * r**3,
    "r (1 + 0.05 sin r)": lambda r: r * (1 + 0.05 * np.sin(r)),
}
"""Exact tables whose truth is near a law that has a name, and is none."""


GROUPED = {
    "decay": (lambda s, x: s * np.exp(-0.7 * x), (0.5, 3), 0.05, 12, 20),
    "saturation": (lambda s, x: s * x / (0.8 + x), (0.1, 5), 0.03, 12, 60),
    "line": (lambda s, x: s * x + 1.5, (0, 4), 0.03, 10, 60),
    "power": (lambda s, x: s * x**1.5, (0.5, 5), 0.05, 8, 40),
    "cooling": (lambda s, x: 2 + s * np.exp(-0.9 * x), (0, 5), 0.02, 12, 60),
    "wave": (lambda s, x: s * np.sin(1.2 * x), (0.2, 6), 0.02, 12, 60),
    "root": (lambda s, x: s * np.sqrt(x + 1.7), (0, 6), 0.02, 12, 60),
    "logarithm": (lambda s, x: s * np.log(1 + 1.1 * x), (0.1, 6), 0.02, 12, 60),
    "lorentz": (lambda s, x: s / (1 + 0.8 * x**2), (0, 4), 0.02, 12, 60),
    "two rates": (lambda s, x: s * (np.exp(-0.9 * x) + 0.5), (0, 5), 0.02, 15, 60),
    "stretch": (lambda s, x: s * x + 0.4 * x**3, (0.1, 3), 0.02, 12, 60),
}
"""Law of a group's size and x, range of x, noise, rows of a group, groups."""


COVERED: dict[str, tuple[str, dict[str, float]]] = {
    "newton": ("a/r**2", {"a": 39.478}),
    "power": ("a*r**b", {"a": 3.0, "b": -1.7}),
    "yukawa": ("a*exp(-b*r)/r**2", {"a": 5.0, "b": 0.8}),
    "linear": ("a*r + b", {"a": 2.0, "b": 1.0}),
    "two powers": ("a/r**2 + b/r**4", {"a": 4.0, "b": 0.3}),
    "softened": ("a*r/(r**2 + b)", {"a": 3.0, "b": 0.4}),
    "logarithm": ("a*log(b*r)", {"a": 2.0, "b": 9.0}),
    "exponential": ("a*exp(b*r)", {"a": 1.0, "b": 0.7}),
    "cubic": ("a*r + b*r**3", {"a": 1.0, "b": 0.2}),
    "hooke": ("a*r", {"a": 7.0}),
    "both signs": ("a*(r - 1)", {"a": 7.0}),
}
"""Formulas of one feature and their constants."""


@dataclass(frozen=True)
class Blurred:
    """A law whose features are measured with errors.

    Attributes:
        form: its constants by name.
        truth: of the constants.
        low: of every feature, which is uniform.
        high: of every feature.
        errors: of the features: a number, or a share.
        noise: of the target, relative.
        rows: of the table.
    """

    form: str
    truth: dict[str, float]
    low: float
    high: float
    errors: dict[str, str]
    noise: float
    rows: int = 100

    def table(self, seed: int) -> pd.DataFrame:
        """Features and the target F, as they were measured."""
        rng = np.random.default_rng([seed, 9])
        law = parse_expression(self.form)
        law = law.subs({symbol(name): value for name, value in self.truth.items()})
        X = rng.uniform(self.low, self.high, (self.rows, len(self.errors)))
        y = evaluate(law, list(self.errors), X)
        measured = {}
        for (name, error), x in zip(self.errors.items(), X.T, strict=True):
            size = float(error.removesuffix("%")) * (x / 100 if error.endswith("%") else 1.0)
            measured[name] = x + size * rng.standard_normal(self.rows)
        return pd.DataFrame(measured | {"F": y * (1 + self.noise * rng.standard_normal(self.rows))})


BLURRED = {
    "line": Blurred("a*r + b", {"a": 2.0, "b": 1.0}, 0.1, 3.0, {"r": "0.3"}, 0.05),
    "square": Blurred("k/r**2", {"k": 39.5}, 0.5, 3.0, {"r": "5%"}, 0.01),
    "power": Blurred("k*r**n", {"k": 39.5, "n": -2.0}, 0.5, 3.0, {"r": "5%"}, 0.01),
    "gravity": Blurred(
        "k*m*r**n", {"k": 4.0, "n": -2.0}, 0.5, 3.0, {"r": "0.05", "m": "0.05"}, 0.05, 200
    ),
    "decay": Blurred("k*exp(-b*r)", {"k": 4.0, "b": 0.8}, 0.2, 3.0, {"r": "0.1"}, 0.03),
}

FORMS = (
    "A*exp(-B*x)+C",
    "A*exp(-B*x)+C*exp(-D*x)",
    "A*sin(B*x+C)",
    "A*sin(B*x)+C*cos(D*x)",
    "A*x/(B+x)+C*x",
    "A*x**2/(B+C*x+x**2)",
    "A*x**B+C",
    "A*x**B+C*x**D",
    "A*x**B*y**C",
    "A*x**B*y**C+D*x",
    "A+B*x+C*x**2+D*x**3",
    "A+B*x+C*y+D*x*y",
    "A+B*x+C*y+D*x*y+E*x**2+F*y**2",
    "A/(x-B)**2+C/(x-D)",
    "A*exp(-(x-B)**2/C)",
    "A*exp(-(x-B)**2/C)+D",
    "A/(1+exp(-B*(x-C)))",
    "A*log(B*x+C)",
    "A*sqrt(B+x**2)+C*y",
    "A*tanh(B*x)+C*y**2",
    "A*sin(B*x)*exp(-C*x)",
    "A*sin(B*x)*exp(-C*x)+D",
    "A*x*y/(B+C*x+D*y)",
    "A*x**3-B*x*y-C*sin(x)-D*x*cos(y)",
    "A*sin(x)-B*y**3-C*x**3-D*x*y-E*x*cos(x)",
    "A*y**3+B*x*y+C*x*exp(D*x)+E*sin(y)",
    "A*(exp(B*(x-C))-1)**2",
    "A*((B/x)**12-(B/x)**6)+C/x",
    "A*exp(B*x)/(1+C*exp(D*x))",
    "A*x**2*exp(-B/y)+C",
    "A*(x-B)*(y-C)/(x+D)",
    "A*sqrt(1-B*x**2)+C*x",
    "A*cosh(B*x)+C",
    "A*x+B*log(x)+C/x+D",
    "A*exp(B*x)*y**C+D*y",
    "A*x*(1-x/B)-C*x*y/(D+x)",
    "A*sin(x+B)+C*sin(2*x+D)",
    "A/(B+x)+C/(D+y)",
    "A*x**2+B*x*y+C*y**2+D",
    "A*exp(-B*x*y)+C*x+D*y",
)
"""Exact laws with three to six numbers, A to F, in x and y."""
