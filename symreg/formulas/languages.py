"""A formula as an expression of other languages and libraries, evaluated before it is handed out.

What sympy prints is read again as that language has it, and its values are compared with the
formula's; so it has each number with all digits, and none that only sympy knows, such as exp(2).
"""

import ast
import contextlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.rust import RustCodePrinter

from orbits.expressions import OWN, in_range, parse_expression
from symreg.formulas.expressions import evaluate

LARGEST_INTEGER = 2**31
"""From here on 32 bits do not hold one, and it is a float."""


class _Rust(RustCodePrinter):
    """sympy's, which loses the brackets of sums in products, with every number a float."""

    _print_Add = CodePrinter._print_Add  # noqa: N815 - as sympy has it
    _print_Mul = CodePrinter._print_Mul  # noqa: N815

    def _number(self, number: sympy.Number, **_: Any) -> str:
        return f"{float(number)!r}_f64"

    _print_Float = _print_Integer = _print_Rational = _number  # noqa: N815

    def _print_caller_var(self, base: sympy.Expr) -> str:
        text = str(super()._print_caller_var(base))
        return f"({text})" if text.startswith("-") else text

    def _print_Pow(self, power: sympy.Pow) -> str:  # noqa: N802
        if power.exp.is_Integer and power.exp != -1:
            return f"{self._print_caller_var(power.base)}.powi({power.exp})"
        return str(self._print_Function(power))


def _fortran(formula: sympy.Expr) -> str:
    """sympy's, in lines of any length; it would take exp(803.7) out of exp(803.7 - 0.4*x) again."""
    whole = formula.replace(sympy.exp, sympy.Function("exp"))
    return re.sub(r" &\n *", " ", sympy.fcode(whole, source_format="free"))


PRINTERS: dict[str, Callable[[sympy.Expr], str]] = {
    "c": sympy.ccode, "c++": sympy.cxxcode, "julia": sympy.julia_code, "matlab": sympy.octave_code,
    "python": sympy.pycode, "rust": _Rust().doprint,
    "fortran": _fortran,
}  # fmt: skip
"""Of sympy, by language."""
LIBRARIES = {"jax": "jax.numpy", "numpy": "numpy", "torch": "torch"}
"""Their modules of functions of arrays."""

AS_PYTHON = {
    "c++": {r"std::": ""},
    "fortran": {r"(?<=\d)d(?=[+-]?\d)": "e"},
    "julia": {r"\.([*/^])": r"\1", r"\^": "**", "//": "/"},
    "matlab": {r"\.([*/^])": r"\1", r"\^": "**"},
    "python": {r"\bmath\.": ""},
    "rust": {r"_f64\b": ""},
}
"""What makes an expression of a language one of Python, with the same order of operations."""
IN_OUR_WORDS = {
    **dict.fromkeys(("pow", "powf", "powi"), "({}) ** ({})"),
    **dict.fromkeys(("abs", "fabs"), "Abs({})"),
    "recip": "1 / ({})", "cbrt": "({}) ** (1/3)", "exp2": "2 ** ({})", "ln": "log({})",
}  # fmt: skip
"""Functions of other languages in a formula as we read it."""
INTEGER_DIVISION = ("c", "c++", "fortran", "rust")
SHORT_NAMES = dict.fromkeys(("fortran", "matlab"), r"(?a)[A-Za-z]\w{0,62}")
"""In languages that allow no others."""


def code_of(formula: sympy.Expr, language: str, names: Sequence[str], X: np.ndarray) -> str:
    """The formula as an expression of a language, with its values at (row, feature) named columns.

    Raises:
        ValueError: if what sympy prints has others, or names that the language does not know.
    """
    text, values = PRINTERS[language](_in_numbers(formula)), np.full(len(X), np.nan)
    if all(re.fullmatch(SHORT_NAMES.get(language, r"\w+"), name) for name in names):
        with contextlib.suppress(SyntaxError, ValueError, IndexError):
            values = evaluate(_read(text, language, formula), names, X)
    _require_same(values, formula, names, X, f"what sympy writes in {language}, {text},")
    return text


def function_of(
    formula: sympy.Expr, library: str, features: Sequence[str], names: Sequence[str], X: np.ndarray
) -> Callable[[Any], Any]:
    """The formula as a function of a library's (row, feature) arrays, with its values at named
    columns.

    Raises:
        ValueError: if it needs more than the features or what is installed, or has other values.
    """
    symbols = {each.name: each for each in formula.free_symbols}
    if own := sorted(symbols.keys() - set(features)):
        raise ValueError(
            f"{formula} has {', '.join(own)}, which differ by group; give it those of one group, "
            "of recovery_.by_group(), by sympy's subs and lambdify."
        )
    if importlib.util.find_spec(library) is None:
        raise ValueError(f"{library} is not installed; pip install {library}, or take numpy.")
    arguments = [symbols.get(name, sympy.Symbol(name)) for name in features]
    of_columns = sympy.lambdify(arguments, _in_numbers(formula), library)
    module: Any = importlib.import_module(LIBRARIES[library])

    def function(X: Any) -> Any:
        X = X + 0.0  # of whole numbers there are no inverse powers
        return of_columns(*X.T) + module.zeros_like(X[:, 0])  # a constant too has a row's value

    every = np.ones((len(X), len(features)))
    every[:, [features.index(name) for name in names]] = X
    with np.errstate(all="ignore"):
        values = np.asarray(function(module.asarray(every)))
    _require_same(values, formula, names, X, f"in {library} it")
    return function


def _require_same(
    values: Any, formula: sympy.Expr, names: Sequence[str], X: np.ndarray, what: str
) -> None:
    """Refuse values that are not the formula's to half of their digits."""
    true, values = evaluate(formula, names, X), np.asarray(values)
    half = np.sqrt(np.finfo(values.dtype if values.dtype.kind == "f" else float).eps)
    largest = np.abs(true[np.isfinite(true)]).max(initial=0.0)
    if not np.all(np.isclose(values, true, half, half * largest, equal_nan=True)):
        raise ValueError(
            f"{what} has other values than the law, and is not handed out. Other ways: "
            f"{', '.join(sorted(PRINTERS))} in code, {', '.join(sorted(LIBRARIES))} in function."
        )


def _in_numbers(formula: sympy.Expr) -> sympy.Expr:
    """The formula with floats of all digits, also for exp(2), for pi, and for long integers."""
    if formula.is_Float or (formula.is_number and not formula.is_Rational):
        number = formula.evalf()
        digits = 15 if float(str(number)) == float(number) else 17  # which hold every float
        return sympy.Float(float(number), digits)
    if formula.is_Integer and abs(formula) >= LARGEST_INTEGER:
        return sympy.Float(formula)
    parts = [_in_numbers(part) for part in formula.args]
    return in_range(formula if parts == [*formula.args] else formula.func(*parts))


def _read(text: str, language: str, formula: sympy.Expr) -> sympy.Expr:
    """The formula that an expression of a language is, of another formula's symbols.

    Raises:
        SyntaxError, ValueError, IndexError: if it is none.
    """
    for pattern, other in AS_PYTHON.get(language, {}).items():
        text = re.sub(pattern, other, text)
    plain = _Plain(language in INTEGER_DIVISION).visit(ast.parse(text.strip(), mode="eval"))
    own = {symbol.name: symbol for symbol in formula.free_symbols}
    marked = {f"{name}_": symbol for name, symbol in own.items()}  # a word of the language
    return parse_expression(ast.unparse(plain), marked | own, OWN)


class _Plain(ast.NodeTransformer):
    """An expression of another language with our functions and operations."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        first = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        arguments = [ast.unparse(part) for part in (*first, *node.args)]
        text = IN_OUR_WORDS.get(name, f"{name}({', '.join(arguments)})")
        return ast.parse(text.format(*arguments), mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(int() as above), ast.Div(), ast.Constant(int() as below)):
                return ast.Constant(above // below) if self._whole and below else node
        return node
