"""The small problems of symbolic regression's own papers, as a board of `discovery.py`.

Each is a line: name, formula, the range of every variable, rows. Ranges and rows are the papers'
(at most 400 rows; a grid becomes a draw). Sources: Nguyen et al., GPEM 12, 91 (2011); Keijzer,
EuroGP (2003); Vladislavleva et al., IEEE TEC 13, 333 (2009); Korns, GPTP (2011); Pagie & Hogeweg,
Evol. Comp. 5, 401 (1997); Jin et al., arXiv:1910.08892; Mundhenk et al., arXiv:2111.00053
(Livermore, R, Constant); La Cava et al., Neurocomputing 172 (2016) for Strogatz's equations;
Friedman, Annals of Statistics 19, 1 (1991). Growth and decay are textbooks'.
"""

import re

import numpy as np
import sympy
from discovery_laws import Law, law_of_text, sizes

from symreg.formulas.expressions import evaluate

ONE, PAIR = "x:-1:1", "x:0:1 y:0:1"
SMALL = (
    ("nguyen 1", "x**3 + x**2 + x", ONE, 20),
    ("nguyen 2", "x**4 + x**3 + x**2 + x", ONE, 20),
    ("nguyen 3", "x**5 + x**4 + x**3 + x**2 + x", ONE, 20),
    ("nguyen 4", "x**6 + x**5 + x**4 + x**3 + x**2 + x", ONE, 20),
    ("nguyen 5", "sin(x**2)*cos(x) - 1", ONE, 20),
    ("nguyen 6", "sin(x) + sin(x + x**2)", ONE, 20),
    ("nguyen 7", "log(x + 1) + log(x**2 + 1)", "x:0:2", 20),
    ("nguyen 8", "sqrt(x)", "x:0:4", 20),
    ("nguyen 9", "sin(x) + sin(y**2)", PAIR, 20),
    ("nguyen 10", "2*sin(x)*cos(y)", PAIR, 20),
    ("nguyen 11", "x**y", PAIR, 20),
    ("nguyen 12", "x**4 - x**3 + y**2/2 - y", PAIR, 20),
    ("constant 1", "3.39*x**3 + 2.12*x**2 + 1.78*x", ONE, 20),
    ("constant 2", "sin(x**2)*cos(x) - 0.75", ONE, 20),
    ("constant 3", "sin(1.5*x)*cos(0.5*y)", PAIR, 20),
    ("constant 4", "2.7*x**y", PAIR, 20),
    ("constant 5", "sqrt(1.23*x)", "x:0:4", 20),
    ("constant 6", "x**0.426", "x:0:4", 20),
    ("constant 7", "2*sin(1.3*x)*cos(y)", PAIR, 20),
    ("constant 8", "log(x + 1.4) + log(x**2 + 1.3)", "x:0:2", 20),
    ("r 1", "(x + 1)**3/(x**2 - x + 1)", ONE, 20),
    ("r 2", "(x**5 - 3*x**3 + 1)/(x**2 + 1)", ONE, 20),
    ("r 3", "(x**6 + x**5)/(x**4 + x**3 + x**2 + x + 1)", ONE, 20),
    ("livermore 1", "1/3 + x + sin(x**2)", "x:-10:10", 400),
    ("livermore 3", "sin(x**3)*cos(x**2) - 1", ONE, 20),
    ("livermore 4", "log(x + 1) + log(x**2 + 1) + log(x)", "x:0:2", 20),
    ("livermore 5", "x**4 - x**3 + x**2 - y", PAIR, 20),
    ("livermore 6", "4*x**4 + 3*x**3 + 2*x**2 + x", ONE, 20),
    ("livermore 7", "sinh(x)", ONE, 20),
    ("livermore 8", "cosh(x)", ONE, 20),
    ("livermore 9", "x**9 + x**8 + x**7 + x**6 + x**5 + x**4 + x**3 + x**2 + x", ONE, 20),
    ("livermore 11", "x**2*y**2/(x + y)", PAIR, 20),
    ("livermore 12", "x**5/y**3", "x:0.2:1 y:0.2:1", 20),
    ("livermore 14", "x**3 + x**2 + x + sin(x) + sin(y**2)", PAIR, 20),
    ("livermore 16", "x**(2/5)", "x:0:4", 20),
    ("livermore 19", "x**5 + x**4 + x**2 + x", ONE, 20),
    ("livermore 20", "exp(-x**2)", ONE, 20),
    ("livermore 22", "exp(-x**2/2)", ONE, 20),
    ("jin 1", "2.5*x**4 - 1.3*x**3 + 0.5*y**2 - 1.7*y", "x:-3:3 y:-3:3", 100),
    ("jin 2", "8*x**2 + 8*y**3 - 15", "x:-3:3 y:-3:3", 100),
    ("jin 3", "0.2*x**3 + 0.5*y**3 - 1.2*y - 0.5*x", "x:-3:3 y:-3:3", 100),
    ("jin 4", "1.5*exp(x) + 5*cos(y)", "x:-3:3 y:-3:3", 100),
    ("jin 5", "6*sin(x)*cos(y)", "x:-3:3 y:-3:3", 100),
    ("jin 6", "1.35*x*y + 5.5*sin((x - 1)*(y - 1))", "x:-3:3 y:-3:3", 100),
    ("keijzer 1", "0.3*x*sin(2*pi*x)", ONE, 100),
    ("keijzer 4", "x**3*exp(-x)*cos(x)*sin(x)*(sin(x)**2*cos(x) - 1)", "x:0:10", 200),
    ("keijzer 5", "30*x*z/((x - 10)*y**2)", "x:-1:1 y:1:2 z:-1:1", 200),
    ("keijzer 7", "log(x)", "x:1:100", 100),
    ("keijzer 9", "log(x + sqrt(x**2 + 1))", "x:0:100", 100),
    ("keijzer 11", "x*y + sin((x - 1)*(y - 1))", "x:-3:3 y:-3:3", 100),
    ("keijzer 14", "8/(2 + x**2 + y**2)", "x:-3:3 y:-3:3", 100),
    ("keijzer 15", "x**3/5 + y**3/2 - y - x", "x:-3:3 y:-3:3", 100),
    ("vladislavleva 1", "exp(-(x - 1)**2)/(1.2 + (y - 2.5)**2)", "x:0.3:4 y:0.3:4", 100),
    ("vladislavleva 4", "10/(5 + (a-3)**2 + (b-3)**2 + (c-3)**2 + (d-3)**2 + (e-3)**2)",
     "a:0.05:6.05 b:0.05:6.05 c:0.05:6.05 d:0.05:6.05 e:0.05:6.05", 400),
    ("vladislavleva 5", "30*(x - 1)*(z - 1)/(y**2*(x - 10))", "x:0.05:2 y:1:2 z:0.05:2", 300),
    ("vladislavleva 7", "(x - 3)*(y - 3) + 2*sin((x - 4)*(y - 4))", "x:0.05:6 y:0.05:6", 300),
    ("vladislavleva 8", "((x - 3)**4 + (y - 3)**3 - (y - 3))/((y - 2)**4 + 10)",
     "x:0.05:6 y:0.05:6", 200),
    ("korns 2", "0.23 + 14.2*(x + y)/(3*z)", "x:-5:5 y:-5:5 z:1:5", 200),
    ("korns 4", "-2.3 + 0.13*sin(x)", "x:-5:5", 100),
    ("korns 5", "3 + 2.13*log(x)", "x:0.1:50", 100),
    ("korns 6", "1.3 + 0.13*sqrt(x)", "x:0:50", 100),
    ("korns 7", "213.80940889*(1 - exp(-0.54723748542*x))", "x:0:10", 100),
    ("korns 8", "6.87 + 11*sqrt(7.23*x*y*z)", "x:0:5 y:0:5 z:0:5", 200),
    ("korns 12", "2 - 2.1*cos(9.8*x)*sin(1.3*y)", "x:-2:2 y:-2:2", 400),
    ("pagie", "1/(1 + x**-4) + 1/(1 + y**-4)", "x:0.2:5 y:0.2:5", 300),
    ("reactor 1", "20 - x - x*y/(1 + x**2/2)", "x:0:10 y:0:20", 200),
    ("reactor 2", "10 - x*y/(1 + x**2/2)", "x:0:10 y:0:20", 200),
    ("magnets 1", "sin(x - y)/2 - sin(x)", "x:0:6 y:0:6", 200),
    ("magnets 2", "sin(y - x)/2 - sin(y)", "x:0:6 y:0:6", 200),
    ("glider 1", "-x**2/20 - sin(y)", "x:1:8 y:-3:3", 200),
    ("glider 2", "x - cos(y)/x", "x:1:8 y:-3:3", 200),
    ("competition 1", "3*x - 2*x*y - x**2", "x:0:4 y:0:4", 200),
    ("competition 2", "2*y - x*y - y**2", "x:0:4 y:0:4", 200),
    ("predator 1", "x*(4 - x - y/(1 + x))", "x:0:6 y:0:10", 200),
    ("predator 2", "y*(x/(1 + x) - 0.075*y)", "x:0:6 y:0:10", 200),
    ("shear 1", "cos(x)*cos(y)/sin(y)", "x:-3:3 y:0.2:2.9", 400),
    ("shear 2", "(cos(y)**2 + sin(y)**2/10)*sin(x)", "x:-3:3 y:-3:3", 200),
    ("van der pol", "10*(y - (x**3 - x)/3)", "x:-2:2 y:-2:2", 200),
    ("logistic", "12/(1 + 30*exp(-0.9*t))", "t:0:10", 60),
    ("gompertz", "9*exp(-4*exp(-0.6*t))", "t:0:10", 60),
    ("michaelis", "3.1*s/(0.7 + s)", "s:0.05:6", 40),
    ("hill curve", "2*x**3/(1.7 + x**3)", "x:0.1:4", 60),
    ("arrhenius", "4e5*exp(-4200/T)", "T:280:420", 60),
    ("decay on a background", "0.8 + 5.2*exp(-0.7*t)", "t:0:8", 80),
    ("two decays", "3*exp(-0.4*t) + 5*exp(-2.5*t)", "t:0:8", 100),
    ("damped wave", "2*exp(-0.3*t)*cos(3.1*t)", "t:0:8", 120),
    ("stretched decay", "4*exp(-(t/1.8)**0.7)", "t:0.01:8", 80),
    ("planck", "5*x**3/(exp(1.3*x) - 1)", "x:0.1:8", 80),
    ("gauss times lorentz", "exp(-x**2/2)/(1 + y**2)", "x:-3:3 y:-3:3", 200),
    ("friedman 1", "10*sin(pi*a*b) + 20*(c - 1/2)**2 + 10*d + 5*e",
     "a:0:1 b:0:1 c:0:1 d:0:1 e:0:1 f:0:1 g:0:1 h:0:1", 400),
)  # fmt: skip
"""Name, formula, ranges, rows."""
TEXTBOOK = (
    ("fitzhugh", "x - x**3/3 - y + 0.5", "x:-2:2 y:-2:2", 200),
    ("brusselator", "1 + x**2*y - 4*x", "x:0:4 y:0:6", 200),
    ("lotka", "1.1*x - 0.4*x*y", "x:0:6 y:0:6", 100),
    ("selkov", "-x + 0.08*y + x**2*y", "x:0:3 y:0:3", 100),
    ("allee", "0.3*x*(1 - x/9)*(x/2 - 1)", "x:0:12", 60),
    ("bertalanffy", "12*(1 - exp(-0.3*t))**3", "t:0:15", 60),
    ("haldane", "2*s/(1 + s + s**2/4)", "s:0.05:10", 60),
    ("two compartments", "4*(exp(-0.2*t) - exp(-1.5*t))", "t:0:12", 80),
    ("langmuir freundlich", "3*x**0.7/(1 + x**0.7)", "x:0.05:10", 80),
    ("power on offset", "2 + 3*x**1.5", "x:0:5", 60),
    ("morse", "5*(1 - exp(-0.8*(x - 1.5)))**2", "x:0.8:6", 80),
    ("lennard-jones", "4*(x**-12 - x**-6)", "x:0.95:2.5", 80),
    ("buckingham", "100*exp(-2*x) - 5/x**6", "x:1.2:4", 80),
    ("peak on a line", "3*exp(-(x - 2)**2/0.5) + 0.2*x", "x:0:5", 100),
    ("step", "2*tanh(1.5*x) + 1", "x:-3:3", 60),
    ("sinc", "sin(3*x)/x", "x:0.1:8", 100),
    ("projectile", "x*tan(a) - 9.81*x**2/(2*v**2*cos(a)**2)", "x:1:20 a:0.2:1.2 v:10:30", 200),
    ("pendulum", "-9.81*sin(t) - 0.3*w", "t:-3:3 w:-5:5", 100),
    ("duffing", "-0.2*v + x - x**3 + 0.3*cos(1.2*t)", "v:-2:2 x:-2:2 t:0:10", 300),
    ("holling iii", "2*x**2*y/(1 + x**2)", "x:0:5 y:0:5", 100),
    ("beddington", "x*y/(1 + x + y/2)", "x:0:5 y:0:5", 200),
    ("steinhart", "1/(0.001 + 0.00025*log(x))", "x:100:10000", 60),
    ("nusselt", "0.023*x**0.8*y**0.4", "x:1e4:1e5 y:0.7:7", 100),
    ("van der waals", "8*t/(3*v - 1) - 3/v**2", "t:0.8:1.5 v:0.6:4", 200),
    ("lorentz factor", "1/sqrt(1 - x**2)", "x:0:0.95", 60),
    ("henderson", "4.76 + log(x/y)/2.302585092994046", "x:0.1:10 y:0.1:10", 100),
    ("cosine rule", "sqrt(x**2 + y**2 - 2*x*y*cos(z))", "x:1:5 y:1:5 z:0.2:3", 200),
    ("lens", "1/(1/x + 1/y)", "x:1:10 y:1:10", 60),
    ("competitive inhibition", "3*s/(0.5*(1 + i/2) + s)", "s:0.05:5 i:0:5", 100),
    ("quadratic form", "x**2 + 2*x*y - 3*y**2 + 1", "x:-3:3 y:-3:3", 60),
    ("three variables", "x*y*z + x**2 - z", "x:-2:2 y:-2:2 z:-2:2", 100),
    ("softplus", "log(1 + exp(x))", "x:-5:5", 80),
    ("double well", "x**4/4 - x**2/2", "x:-2:2", 40),
    ("boltzmann", "7/(1 + exp((x - 3)/0.6))", "x:0:6", 80),
    ("debye-hueckel", "-0.509*sqrt(x)/(1 + 3.3*sqrt(x))", "x:0.001:1", 60),
    ("rotation curve", "200*r/sqrt(r**2 + 2.2**2)", "r:0.1:20", 80),
)  # fmt: skip
"""Laws of other textbooks, written down before any was run; see notebooks/log/discovery.md."""
BEYOND = 0.25
"""Share of the range added at each end for the test outside."""
INSIDE, OUTSIDE = 1.0, 4.0
"""Largest rms error, in units of the noise: a fit of p numbers to n rows errs by sqrt(p/n) of it
inside (0.5 for 5 numbers and 20 rows), and some times that where it extrapolates."""
ROUNDED = 1e-6
"""Without noise, relative to the rms."""


def small(half: int | None = None) -> list[Law]:
    """The laws of `SMALL`; of one half, those with an even or odd place in a drawn order."""
    order = np.random.default_rng(53).permutation(len(SMALL))
    chosen = sorted(order if half is None else order[half::2])
    return [law_of(*SMALL[place]) for place in chosen]


def textbook() -> list[Law]:
    """The laws of `TEXTBOOK`."""
    return [law_of(*row) for row in TEXTBOOK]


FUNCTIONS = (
    "exp(-{k}*{v})", "exp({k}*{v}/4)", "sin({k}*{v})", "cos({k}*{v})", "tanh({k}*{v})",
    "log(1 + {k}*{v})", "1/(1 + {k}*{v})", "exp(-{k}*{v}**2/2)",
)  # fmt: skip
PLAIN = ("x", "x**2", "x**3", "1/x", "1/x**2", "sqrt(x)", "log(x)", "x**1.5")
BESIDE = ("x", "y", "y**2", "x*y", "y/x", "1/y", "sqrt(x)", "log(y)")


def sums() -> list[Law]:
    """Drawn sums of a function with a number and two plain terms: 16 of one column, 8 of two."""
    laws = []
    for number in range(24):
        rng = np.random.default_rng([number, 53])
        plain = rng.choice(PLAIN if number < 16 else BESIDE, 2, replace=False)
        function = str(rng.choice(FUNCTIONS)).format(k=round(rng.uniform(0.5, 3), 2), v="x")
        factors = np.round(rng.uniform(0.5, 4, 3) * rng.choice([-1, 1], 3), 2)
        text = " + ".join(f"({a})*{t}" for a, t in zip(factors, (function, *plain), strict=True))
        ranges = "x:0.4:5" if number < 16 else "x:0.4:5 y:0.4:5"
        laws.append(law_of(f"sum {number}", text, ranges, 200))
    return laws


SHAPES = (
    "1 + p", "1/(1 + p)", "sqrt(1 + p**2)", "exp(-p)", "log(1 + p)", "tanh(p)", "1 - exp(-p)",
    "p + q", "1 + p + q", "(1 + p)/(1 + q)", "1/(p + q)", "exp(-p)*(1 + q)", "sqrt(p + q)",
    "1 + p/(1 + q)",
)  # fmt: skip
"""Of one product of powers and of two, each of order one."""


def powers(seed: int = 59) -> list[Law]:
    """Drawn functions of one or two products of powers of four to seven columns, times another."""
    laws = []
    for number in range(24):
        rng = np.random.default_rng([number, seed])
        shape = str(rng.choice(SHAPES))
        columns = np.array(list("abcdfgh")[: rng.integers(4, 8)])
        place = 1.0 - 2.0 * rng.integers(0, 2, (3, len(columns)))
        place *= rng.choice([0.5, 1, 1, 2], place.shape) * (rng.random(place.shape) < 0.5)
        # a column that is in none is in the product in front
        place[0, ~place.any(axis=0)] = 1
        front, p, q = ("*".join(f"{c}**({e:g})" for c, e in zip(columns, own, strict=True) if e)
                       or columns[0] for own in place)  # fmt: skip
        numbers = np.round(rng.uniform(0.4, 2.5, 3), 2)
        inside = {"p": f"({numbers[1]}*{p})", "q": f"({numbers[2]}*{q})"}
        text = re.sub(r"\b[pq]\b", lambda found, own=inside: own[found[0]], shape)
        ranges = " ".join(f"{c}:0.5:2.5" for c in columns)
        laws.append(law_of(f"powers {number}", f"{numbers[0]}*{front}*({text})", ranges, 300))
    return laws


DEVELOPED, REPORTED = 891, 20261189
"""Seeds of `compositions`: those that the search was developed on, and those of the log."""
AROUND = ("sin", "cos", "exp", "log", "sqrt", "tanh", "square")
TURNS = (4 * np.pi, 2 * np.pi)
"""Radians that an angle may go through over the rows, of one column and of more."""
KINDS = (
    ("wave of ratio and log", "cos(1.7*x/y - log(2.3*z))", "x:0.5:3 y:0.8:3 z:0.4:4"),
    ("product of sums", "(x + 1.37)*(cos(1.9*y)**2 + 0.6*x)", "x:0.3:4 y:0.3:3"),
    ("wave of waves", "cos(cos(2.3*x)*cos(x))", "x:0.3:4"),
    ("exponential of wave", "exp(sin((x + 2.1)/(y + 0.7)))", "x:0.3:4 y:0.3:4"),
    ("tanh of root", "tanh(sqrt(4.3/x - 1))", "x:0.5:4"),
    ("tanh of product", "tanh((0.8 - 0.3*y - tanh(sqrt(z)))*x)", "x:0.3:2 y:0.3:3 z:0.3:4"),
    ("squared wave", "cos(x + sin(x))**2", "x:0.3:4"),
    ("wave in wave", "sin(x + 1.6*sin(1.4*y))", "x:0.3:4 y:0.3:4"),
    ("root beside polynomial", "x**2 + x - y - 2.18*sqrt(0.42*x - 0.21*y + 1)", "x:0.3:4 y:0.3:4"),
    ("artanh squared", "tanh(sqrt((5.2 - x)/x))", "x:0.5:5"),
)  # fmt: skip
"""Compositions by kind, one of each."""


def kinds() -> list[Law]:
    """The laws of `KINDS`."""
    return [law_of(*row, 200) for row in KINDS]


def compositions(seed: int = DEVELOPED, count: int = 40) -> list[Law]:
    """Drawn expressions of one to four columns and three to seven operations, with a function of a
    sum or of another function, whose angles turn no faster than rows can follow."""
    laws: list[Law] = []
    for number in range(1_000_000):
        rng = np.random.default_rng([number, seed])
        columns = np.array(list("xyzw")[: rng.integers(1, 5)])
        law = _composition(rng, columns, f"composition {len(laws)}")
        if law is not None:
            laws.append(law)
        if len(laws) == count:
            break
    return laws


def relations(seed: int = 20261201) -> list[Law]:
    """Drawn algebraic laws of two to six columns, eight of a kind: quotients beside polynomials,
    roots beside these, and quotients with a function of a column."""
    laws = []
    for number in range(24):
        rng = np.random.default_rng([number, seed])
        columns = np.array(list("abcdfg")[: rng.integers(2, 7)])

        def product_of(most: int, rng=rng, columns=columns) -> str:
            return "*".join(rng.choice(columns, rng.integers(1, most + 1)))

        def polynomial(terms: int, rng=rng) -> str:
            return " + ".join(f"{rng.uniform(0.3, 3):.2f}*{product_of(2)}" for _ in range(terms))

        beside = " - ".join(product_of(3) for _ in range(rng.integers(1, 4)))
        below = f"({polynomial(2)} + {rng.uniform(0.5, 3):.1f})"
        function = f"{rng.choice(['log', 'exp', 'sin', 'cos', 'sqrt'])}({rng.choice(columns)})"
        text = (
            f"{beside} + ({polynomial(2)})/{below}",
            f"{beside} + {product_of(1)}*sqrt({below})",
            f"{beside} + ({polynomial(1)} - {function})/{below}",
        )[number % 3]
        # every column is in the law
        text = " + ".join(
            [text, *(each for each in columns if each not in re.findall(r"\w+", text))]
        )
        laws.append(
            law_of(f"relation {number}", text, " ".join(f"{c}:0.3:4" for c in columns), 300)
        )
    return laws


def _composition(rng: np.random.Generator, columns: np.ndarray, name: str) -> Law | None:
    """One drawn expression; None if it is no law of all columns, or turns too fast."""
    angles: list[str] = []
    deep: list[str] = []

    def drawn(operations: int) -> str:
        if not operations:
            number = f"{rng.uniform(0.3, 5):.2f}"
            return str(rng.choice(columns)) if rng.random() < 0.7 else number
        if rng.random() < 0.45:
            part, function = drawn(operations - 1), str(rng.choice(AROUND))
            if function in ("sin", "cos"):
                angles.append(part)
            if any(sign in part for sign in (" + ", " - ", *AROUND)):
                deep.append(part)
            return f"({part})**2" if function == "square" else f"{function}({part})"
        first = int(rng.integers(0, operations))
        parts = drawn(first), drawn(operations - 1 - first)
        return f"({parts[0]} {rng.choice(list('+-*/'))} {parts[1]})"

    text = drawn(int(rng.integers(3, 8)))
    ranges = " ".join(f"{c}:{rng.uniform(0.2, 1):.1f}:{rng.uniform(2, 5):.1f}" for c in columns)
    law = law_of(name, text, ranges, 200)
    held = {s.name for s in law.formula.free_symbols}
    if held != set(columns) or not deep or len([*sympy.preorder_traversal(law.formula)]) < 7:
        return None
    X = law.draw(np.random.default_rng(1), 2000)
    with np.errstate(all="ignore"):
        y = law.values(X)
        turns = [np.ptp(law_of("", each, ranges, 0).values(X)) for each in angles]
    smooth = np.all(np.isfinite(y)) and np.max(np.abs(y)) < 1e3 * np.median(np.abs(y))
    varies = smooth and np.std(y) > 0.03 * np.max(np.abs(y))
    return law if varies and all(turn < TURNS[len(columns) > 1] for turn in turns) else None


def law_of(name: str, text: str, ranges: str, rows: int) -> Law:
    """A line of `SMALL` as a law, with its own number of rows."""
    return Law(**vars(law_of_text(name, text, ranges)) | {"rows": rows})


def right_inside_and_beyond(law: Law, formula: sympy.Expr, noise: float) -> tuple[bool, bool]:
    """Whether a formula equals the law in the range of the rows, and a quarter beyond."""
    rng, columns = np.random.default_rng(99), law.draw(np.random.default_rng(98), 4000)
    ends = {v: (column.min(), column.max()) for v, column in columns.items()}
    wide = {}
    for v, (low, high) in ends.items():
        room = BEYOND * (high - low)
        # what is positive stays so: most such laws end at zero
        wide[v] = rng.uniform(
            max(low - room, low / 2) if low > 0 else low - room, high + room, 4000
        )
    size = float(np.sqrt(np.nanmean(law.values(columns) ** 2)))
    return (
        _near(law, formula, columns, size * (INSIDE * noise or ROUNDED)),
        _near(law, formula, wide, size * (OUTSIDE * noise or ROUNDED)),
    )


def _near(law: Law, formula: sympy.Expr, columns: dict[str, np.ndarray], most: float) -> bool:
    """Whether the error is small in units of what is allowed, a few rows near poles aside."""
    truth, X = law.values(columns), np.column_stack(list(columns.values()))
    good = np.isfinite(truth)
    error = np.abs(evaluate(formula, list(columns), X) - truth)[good]
    size = np.maximum(1.0, np.abs(truth[good]) / sizes(truth[good], "rms"))
    error = np.where(np.isfinite(error), error, np.inf) / size
    return bool(np.sqrt(np.mean(np.sort(error)[: int(0.99 * len(error))] ** 2)) <= most)
