"""Formulas in other languages: what is handed out has the law's values there."""

import math
import shutil
import subprocess

import numpy as np
import pytest
import sympy

from orbits.expressions import in_range
from symreg.formulas.expressions import evaluate, symbol
from symreg.formulas.languages import LIBRARIES, PRINTERS, code_of, function_of

NAMES = ("x", "y", "t")
RANDOM = np.random.default_rng(0)
# two features near one, and calendar years
X = np.column_stack([RANDOM.uniform(0.5, 3, (8, 2)), RANDOM.uniform(1990, 2024, 8)])
x, y, t = map(symbol, NAMES)


def drawn(random):
    """A formula with sums in products, inner constants, fractions, odd powers and signs."""
    a, b, c = (sympy.Float(number) for number in random.uniform(0.3, 3, 3))
    third, p = sympy.Rational(int(random.integers(1, 9)), 3), sympy.Float(random.uniform(-3, 3))
    inner = random.choice([x + a, x * y + third, x / (y + b), a - x, -x - third * y])
    parts = [
        (x + a) * (y + b) * third, inner**2, x**p, x**-third, sympy.exp(c - inner), third**-x,
        1 / (1 + sympy.exp(803.7 + a - 0.4 * t)), b * x * sympy.exp(0.4 * t - 803.7 - a),
        sympy.exp(2) * x / y, sympy.pi * inner,
        sympy.sqrt(x**2 + third), sympy.log(2) * sympy.log(x + b), sympy.Abs(inner) ** p,
        sympy.tanh(inner) - sympy.sin(c * x + a), 10**20 * x * y, x ** (y / (b + x)), -inner,
    ]  # fmt: skip
    one, two, three = (parts[k] for k in random.choice(len(parts), 3, replace=False))
    return random.choice([one + two * three, one * (two - three), -one / (two + 3 * three)])


FORTY = [in_range(drawn(RANDOM)) for _ in range(40)]


def near(values):
    # a dozen operations on exponents of 800 leave 1e-12
    return pytest.approx(np.array(values), rel=1e-10, nan_ok=True)


@pytest.mark.parametrize("language", PRINTERS)
def test_every_formula_is_written_in_every_language(language):
    for formula in FORTY:
        assert "\n" not in code_of(formula, language, NAMES, X)


def test_python_and_libraries_have_the_values():
    for formula in FORTY:
        text, true = code_of(formula, "python", NAMES, X), evaluate(formula, NAMES, X)
        values = [eval(text, {"math": math} | dict(zip(NAMES, row, strict=True))) for row in X]
        values = [np.nan if isinstance(value, complex) else value for value in values]
        assert values == near(true)
        for library in ("numpy", "torch"):
            function_of(formula, library, NAMES, *_columns(formula))


def _columns(formula):
    names = sorted(s.name for s in formula.free_symbols)
    return names, X[:, [NAMES.index(name) for name in names]]


# what starts a program, names the columns of a row, prints a number, and ends
C = ("#include <math.h>\n#include <stdio.h>\nint main() {{ double X[8][3] = {{{}}};"
     "for (int i = 0; i < 8; i++) {{ double x = X[i][0], y = X[i][1], t = X[i][2];",
     'printf("%.17g\\n", (double)({}));', "}}", "{}")  # fmt: skip
RUST = ("fn main() {{ let X: [[f64; 3]; 8] = [{}]; for r in X.iter() {{"
        "let (x, y, t) = (r[0], r[1], r[2]);", 'println!("{{}}", {});', "}}", "[]")  # fmt: skip


@pytest.mark.parametrize(
    ("language", "ending", "compiler", "program"),
    [("c", "c", ("gcc", "-lm"), C), ("c++", "cc", ("g++",), C), ("rust", "rs", ("rustc",), RUST)],
)
def test_compiled_code_has_the_values(language, ending, compiler, program, tmp_path):
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    begins, prints, ends, (opened, closed) = program
    rows = ", ".join(f"{opened}{', '.join(map(repr, row.tolist()))}{closed}" for row in X)
    texts = (prints.format(code_of(formula, language, NAMES, X)) for formula in FORTY)
    source = tmp_path / f"law.{ending}"
    source.write_text(begins.format(rows) + "".join(texts) + ends)
    command = [compiler[0], source, "-o", tmp_path / "law", *compiler[1:]]
    subprocess.run(command, check=True, capture_output=True)
    said = subprocess.run([tmp_path / "law"], check=True, capture_output=True, text=True).stdout
    values = np.array(said.split(), dtype=float).reshape(len(X), len(FORTY)).T
    for formula, own in zip(FORTY, values, strict=True):
        assert own == near(evaluate(formula, NAMES, X)), formula


@pytest.mark.parametrize("language", PRINTERS)
@pytest.mark.parametrize("wrong", ["x + y*2.0", "1/2*x + y", "x - y", "x +", "undefined(x)", "z"])
def test_what_is_printed_with_other_values_is_refused(language, wrong, monkeypatch):
    monkeypatch.setitem(PRINTERS, language, lambda formula: wrong)
    with pytest.raises(ValueError, match="has other values than the law"):
        code_of(x + y, language, NAMES, X)
    with pytest.raises(ValueError, match="has other values than the law"):
        code_of(sympy.Float(1e-5) * x + y, language, NAMES, X)


def test_names_that_a_language_lacks_are_refused():
    for name, language in (("μ", "fortran"), ("_x", "matlab"), ("m" * 70, "fortran")):
        formula = 2 * symbol(name)
        assert code_of(formula, "python", [name], X[:, :1])
        with pytest.raises(ValueError, match=language):
            code_of(formula, language, [name], X[:, :1])
    # M and m are one name there, which sympy marks
    assert code_of(symbol("M") - symbol("m"), "fortran", ["M", "m"], X[:, :2]) == "M - m_"


def test_a_library_that_is_missing_or_disagrees_is_named(monkeypatch):
    monkeypatch.setitem(LIBRARIES, "jax_", "jax_")
    with pytest.raises(ValueError, match="jax_ is not installed"):
        function_of(x, "jax_", NAMES, *_columns(x))
    monkeypatch.setattr(sympy, "lambdify", lambda *_: lambda *columns: columns[1])
    with pytest.raises(ValueError, match="in numpy it has other values"):
        function_of(x, "numpy", NAMES, *_columns(x))
