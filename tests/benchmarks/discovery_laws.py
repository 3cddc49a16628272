"""The laws of `discovery.py`: of published benchmarks, of textbooks, of a line of text."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import sympy
import yaml

from orbits.expressions import parse_expression
from symreg.formulas.expressions import evaluate

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Law:
    """A law with the ranges of its variables, and the rows of its table if it has its own."""

    name: str
    formula: sympy.Expr
    draw: Callable[[np.random.Generator, int], dict[str, np.ndarray]]
    rows: int | None = None

    def table(
        self, rng: np.random.Generator, rows: int, noise: float, of: str = "target"
    ) -> pd.DataFrame:
        """So many rows, the target with noise; rows where it is not defined left out.

        Noise is relative to `sizes`.
        """
        columns = self.draw(rng, rows)
        values = self.values(columns)
        error = noise * sizes(values, of) * rng.standard_normal(rows)
        table = pd.DataFrame(columns).assign(target=values + error)
        return table[np.isfinite(values)]

    def values(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """(row,) of the law."""
        return evaluate(self.formula, list(columns), np.column_stack(list(columns.values())))


def sizes(values: np.ndarray, of: str) -> np.ndarray:
    """(row,) of the targets themselves, or (`of="rms"`) the root mean square of all."""
    if of == "target":
        return values
    return np.full(len(values), np.sqrt(np.mean(values[np.isfinite(values)] ** 2)))


def feynman() -> list[Law]:
    """The laws of `../shared/data/feynman/laws.yaml`."""
    path = SHARED / "feynman" / "laws.yaml"
    if not path.is_file():
        sys.exit(f"{path} is not there; these laws are not shipped with the project.")
    return [_feynman(name, spec) for name, spec in yaml.safe_load(path.read_text()).items()]


def _feynman(name: str, spec: dict) -> Law:
    variables = {v: s for v, s in spec["variables"].items() if v != "v0"}
    text = spec["prepared"].replace("neg(", "(-1)*(").replace("^", "**")
    symbols = {v: sympy.Symbol(v, real=True) for v in variables}
    formula = parse_expression(text)
    formula = formula.xreplace({s: symbols[s.name] for s in formula.free_symbols})

    def draw(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
        return {v: _drawn(s, rng, rows) for v, s in variables.items()}

    return Law(name, formula, draw)


SIMPLE = (
    "3*x", "x + 2*y", "x*y + z", "2.5*x/y", "x**2 + y", "4/(1 + x)", "3*sqrt(x*y)",
    "2*x*exp(-y/1.7)", "x*y/(x + y)", "5*x - y/2 + 7", "2*x - 3*y + z", "x + y + z", "x**2 + y**2",
    "x*y + y*z", "(x + y)/z", "x*(y - z)", "x/(y + z)", "sqrt(x**2 + y**2)", "3*log(x/y)",
    "x*log(y)",
)  # fmt: skip
"""Laws of at most three columns, which lie in [0.5, 4]."""


def simple() -> list[Law]:
    """Laws that a line of text holds, each with three columns, needed or not."""
    symbols = {name: sympy.Symbol(name, real=True) for name in "xyz"}

    def draw(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
        return dict(zip("xyz", rng.uniform(0.5, 4, (3, rows)), strict=True))

    return [Law(text, sympy.sympify(text, locals=symbols), draw) for text in SIMPLE]


NAMED = (
    "39.478*m1*m2/r**2", "39.478*m1/r**2", "39.478/r", "39.478*r", "39.478/r**3",
    "39.478*exp(-r)*(1/r**2 + 1/r)", "39.478*sqrt(m1)/r", "39.478*(1/r**2 + 0.05/r**4)",
    "39.478*r/(r**2 + 0.16)**1.5",
)  # fmt: skip
"""Laws of force that have a name."""


def named() -> list[Law]:
    """The named laws over a decade of distances and masses, as in the inner Solar System."""
    symbols = {name: sympy.Symbol(name, real=True) for name in ("r", "m1", "m2")}

    def draw(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
        values = np.exp(rng.uniform(np.log(0.3), np.log(3), (3, rows)))
        return dict(zip(symbols, values, strict=True))

    return [Law(text, sympy.sympify(text, locals=symbols), draw) for text in NAMED]


TEXTBOOK = (
    ("gaussian", "exp(-x**2/(2*s**2))/(sqrt(2*pi)*s)", "x:1:3 s:1:3"),
    ("shifted gaussian", "exp(-((x - m)/s)**2/2)/(sqrt(2*pi)*s)", "x:1:3 s:1:3 m:1:3"),
    ("lorentz force", "q*(E + B*v*sin(theta))", "q:1:5 E:1:5 B:1:5 v:1:5 theta:0.2:6"),
    ("stretched decay", "N0*exp(-lam*t**1.5)", "N0:1:5 lam:1:4 t:1:20"),
    ("snell", "acos(0.7*n1*sin(a)/n2)", "n1:1:1.5 n2:1.5:2.5 a:0.1:1.4"),
    ("refraction", "asin(n*sin(a))", "n:0.1:0.99 a:0.1:1.4"),
    ("bose", "c/(exp(k*w**1.5/T) - 1)", "c:1:3 w:1:4 T:1:5 k:0.5:2"),
    ("two terms", "3.2*a*b/c**2 + 1.7*d*sqrt(e)", "a:1:5 b:1:5 c:1:5 d:1:5 e:1:5"),
    ("malus", "I0*(sin(a) + cos(a))**2", "I0:1:5 a:0.2:3"),
    ("oscillator", "q*E/(m*(w0**2 - w**2))", "q:1:3 E:1:3 m:1:3 w0:3:5 w:1:2"),
    ("oscillation", "x1*(cos(w*t) + k*cos(w*t)**2)", "x1:1:3 w:1:3 t:1:3 k:0.3:1"),
    ("planck", "0.0147*nu**3/(exp(0.48*nu/T) - 1)", "nu:1:20 T:2:10"),
    ("log planck", "log(0.0147*nu**3/(exp(0.48*nu/T) - 1))", "nu:1:20 T:2:10"),
    ("schechter", "phi*(L/Ls)**(-1.25)*exp(-L/Ls)/Ls", "phi:1:3 L:0.1:5:log Ls:0.5:2"),
    ("log schechter", "log(phi*(L/Ls)**(-1.25)*exp(-L/Ls)/Ls)", "phi:1:3 L:0.1:5:log Ls:0.5:2"),
    ("bode", "0.4 + 0.3*exp(0.6931471805599453*n)", "n:0:8"),
    ("log newton", "log(6.674e-11*m1*m2/r**2)", "m1:1:1000:log m2:1:1000:log r:1:100:log"),
    (
        "log10 newton", "log(6.674e-11*m1*m2/r**2)/log(10)",
        "m1:1:1000:log m2:1:1000:log r:1:100:log",
    ),
    ("log kepler", "log(a**1.5)", "a:0.3:40:log"),
    ("log gas", "log(8.314*n*T/V)", "n:0.5:5 T:200:400 V:1:10"),
    ("log rydberg", "log(1/(10973731.6*(1/n1**2 - 1/n2**2)))", "n1:1:3 n2:4:9"),
    ("rydberg", "1/(10973731.6*(1/n1**2 - 1/n2**2))", "n1:1:3 n2:4:9"),
    ("hubble", "70*D", "D:1:100"),
    ("gas", "8.314*n*T/V", "n:0.5:5 T:200:400 V:1:10"),
    ("leavitt", "2.7*P - 16", "P:0:2"),
    ("root in a cosine", "A*cos(sqrt(k/m)*t)", "A:1:3 k:1:4 m:1:4 t:0.5:2"),
    (
        "distance", "sqrt((x1 - x2)**2 + (y1 - y2)**2 + (z1 - z2)**2)",
        "x1:1:5 x2:1:5 y1:1:5 y2:1:5 z1:1:5 z2:1:5",
    ),
    ("barometer", "p*exp(-m*9.81*h/(8.314*T))", "p:1:3 m:0.5:2 h:10:900 T:200:400"),
    ("saturation", "V*S/(K + S)", "V:1:5 S:0.1:10:log K:0.5:3"),
    ("hill", "V*S**2/(K**2 + S**2)", "V:1:5 S:0.1:10:log K:0.5:3"),
    ("pendulum", "2*pi*sqrt(L/9.81)*(1 + a**2/16)", "L:0.2:3 a:0.2:1.5"),
    ("langevin", "1/tanh(x) - 1/x", "x:0.3:6"),
    ("velocity sum", "(u + v)/(1 + u*v)", "u:0.1:0.95 v:0.1:0.95"),
    ("tidal", "M*(1/(r - a)**2 - 1/r**2)", "M:1:5 r:3:6 a:0.3:2"),
    ("magnet", "n*tanh(mu*B/T)", "n:1:3 mu:0.5:2 B:0.5:2 T:0.5:2"),
    ("altered gravity", "6.67*m1*m2**1.5/r**2.5", "m1:1:10 m2:1:10 r:1:10"),
    ("altered coulomb", "8.99*(q1*q2)**3/r**2", "q1:1:5 q2:1:5 r:1:5"),
    ("altered decay", "N0*exp(-lam*t)**1.5 + 0.3*N0", "N0:1:5 lam:0.1:0.6 t:0.5:5"),
    ("altered heat", "k*m**0.5*(T**2 + 1)", "k:1:3 m:1:3 T:0.5:5"),
    ("altered hooke", "2*k*x**2 + 3*x", "k:1:5 x:0.5:5"),
)  # fmt: skip
"""Laws of textbooks and of other benchmarks' kinds: name, formula, and the range of every variable.
EmpiricalBench's are among them, as they are and as logarithms."""


def textbook() -> list[Law]:
    """The laws of `TEXTBOOK`."""
    return [law_of_text(*spec) for spec in TEXTBOOK]


_BOSE = "omega:1e8:1e10:log T:10:1000:log"
_GRAVITY = "m1:1:1000:log m2:1:1000:log r:1:10:log"
_CHARGES = "q1:0.1:10:log:signed q2:0.1:10:log:signed r:0.1:10:log"
_CURRENTS = "I1:1e-3:0.1:log I2:1e-3:0.1:log r:1e-3:0.1:log"
_SLAB = "k:0.1:10:log A:1e-4:1e-2:log dT:10:1000:log d:0.01:1:log"
_GLASS = "n1:1:1.5 n2:1:1.5 angle:0:90"
_DECAY = "N0:1:100:log lam:1e-3:0.1:log t:0.01:10:log"
_SPRING = "k:100:1e4:log m:0.1:10:log b:0.01:1:log"
_LIGHT = "I0:100:2000:log theta:1e-6:1.5707963"
_GAS = "gamma:1.3:1.7 T:10:1000:log M:1e-3:0.1:log"
_STRETCH = "x:1e-3:1:log"
_HEAT = "m:1e-3:1000:log c:100:1e4:log dT:10:1000:log"
NEWTONBENCH = (
    ("gravity easy", "6.674e-5*m1*m2/r**1.5", _GRAVITY),
    ("gravity medium", "6.674e-5*(m1*m2)**2/r**1.5", _GRAVITY),
    ("gravity hard", "6.674e-5*(m1 + m2)**2/r**1.5", _GRAVITY),
    ("coulomb easy", "2.0*q1*q2/r**3", _CHARGES),
    ("coulomb medium", "2.0*q1*q2*(q1 + q2)/r**2", _CHARGES),
    ("coulomb hard", "2.0*q1*q2*(q1 + q2)/r**2.718281828459045", _CHARGES),
    ("magnet easy", "0.0478*I1*I2/r**3", _CURRENTS),
    ("magnet medium", "0.0478*(I1*I2)**1.5/r**3", _CURRENTS),
    ("magnet hard", "0.0478*(I1 + I2)**1.5/r**3", _CURRENTS),
    ("fourier easy", "k*A*dT/d**2", _SLAB),
    ("fourier medium", "k*A**0.5*dT/d**2", _SLAB),
    ("fourier hard", "k*A**0.5*dT**1.3/d**2", _SLAB),
    ("snell easy", "180/pi*acos(n1*sin(pi*angle/180)/n2)", _GLASS),
    ("snell medium", "180/pi*acos(n1*cos(pi*angle/180)/n2)", _GLASS),
    ("snell hard", "180/pi*acos(n1**2*cos(pi*angle/180)/n2)", _GLASS),
    ("decay easy", "N0*exp(-lam*t**1.5)", _DECAY),
    ("decay medium", "N0**1.2*exp(-lam*t**1.5)", _DECAY),
    ("decay hard", "N0**1.2*exp(-lam**2.718281828459045*t**1.5)", _DECAY),
    ("oscillator easy", "sqrt(k/m - b/(2*m))", _SPRING),
    ("oscillator medium", "sqrt(k/m - b/(2*m**2))", _SPRING),
    ("oscillator hard", "(k/m - b/(2*m**2))**1.5", _SPRING),
    ("malus easy", "I0*(sin(theta) + cos(theta))**2", _LIGHT),
    ("malus medium", "I0*(2*sin(theta) + cos(theta))**2", _LIGHT),
    ("malus hard", "I0*(2*sin(theta) + 1.5*cos(theta))**2", _LIGHT),
    ("sound easy", "sqrt(351.6*gamma*T**2/M)", _GAS),
    ("sound medium", "sqrt(351.6*gamma*T**2/M**1.5)", _GAS),
    ("sound hard", "sqrt(351.6*exp(gamma)*T**2/M**1.5)", _GAS),
    ("hooke easy", "462.282*x**2", _STRETCH),
    ("hooke medium", "462.282*x**2 + 1241.9012*x", _STRETCH),
    ("hooke hard", "462.282*x**2 + 1241.9012*x + 12.578/sqrt(x)", _STRETCH),
    ("bose easy", "1/(exp(1.0513e-14*omega/T) + 1)", _BOSE),
    ("bose medium", "1/(exp(1.0513e-14*omega**1.5/T) + 1)", _BOSE),
    ("bose hard", "1/(exp(1.0513e-14*omega**1.5/T**2) + 1)", _BOSE),
    ("heat easy", "m*c*dT**2.5", _HEAT),
    ("heat medium", "c/(m*dT**2.5)", _HEAT),
    ("heat hard", "c/(m**3.718281828459045*dT**2.5)", _HEAT),
)  # fmt: skip
"""The twelve modules of NewtonBench, their first altered law at each difficulty, as equations, and
the ranges in which it compares formulas.

Source: HKUST-KnowComp/NewtonBench, `modules/*/laws.py` and `core.py` (MIT); arXiv:2510.07172.
"""


def newtonbench() -> list[Law]:
    """The laws of `NEWTONBENCH`."""
    return [law_of_text(*spec) for spec in NEWTONBENCH]


def law_of_text(name: str, text: str, variables: str) -> Law:
    ranges = [each.split(":") for each in variables.split()]
    symbols = {v: sympy.Symbol(v, real=True) for v, *_ in ranges}

    def draw(rng: np.random.Generator, rows: int) -> dict[str, np.ndarray]:
        found = {}
        for v, low, high, *how in ranges:
            ends = np.array([float(low), float(high)])
            drawn = rng.uniform(*(np.log(ends) if "log" in how else ends), rows)
            found[v] = np.exp(drawn) if "log" in how else drawn
            if "signed" in how:
                found[v] = found[v] * rng.choice([-1.0, 1.0], rows)
        return found

    return Law(name, sympy.sympify(text, locals=symbols).evalf(), draw)


def _drawn(spec: dict, rng: np.random.Generator, rows: int) -> np.ndarray:
    low, high = (float(end) for end in spec["range"][:2])
    kind, sign = spec["sampling"]
    if kind == "log":
        values = np.exp(rng.uniform(np.log(low), np.log(high), rows))
    elif kind == "int":
        values = rng.integers(int(low), int(high) + 1, rows).astype(float)
    else:
        values = rng.uniform(low, high, rows)
    if sign == "pos_neg":
        values = values * rng.choice([-1.0, 1.0], rows)
    return -values if sign == "neg" else values


BOARDS = {
    "feynman": feynman, "simple": simple, "named": named, "textbook": textbook,
    "newtonbench": newtonbench,
}  # fmt: skip
