"""After a search nothing is lost: whatever fails then, a result is written that says so."""

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
import sympy

import symreg
from symreg.engines.base import Candidate
from symreg.formulas.expressions import symbol
from symreg.recovery import by_group, finding, record, recover, selection
from symreg.recovery.guard import Guard
from symreg.recovery.selection import Search

ERRORS = [
    np.linalg.LinAlgError("SVD did not converge"), FloatingPointError("overflow"),
    OverflowError(34, "Numerical result out of range"), ValueError("no"), RecursionError(),
    sympy.PolynomialError("no polynomial"), NotImplementedError(), TypeError("cannot determine"),
    ZeroDivisionError(), AttributeError("imag"), KeyError("x"), MemoryError(),
]  # fmt: skip
BEFORE = {
    "of_user_table", "read_guesses", "choose_engine", "problems_of", "options_from", "as_dataset",
    "measure_forces", "keywords_of", "threadpool_limits", "solve", "find", "select", "plural",
    "select_by_group", "asdict", "replace", "field", "dataclass", "versions", "as_json",
    "searched_groups", "of_groups", "weighed", "sharp", "outlying_rows", "group_parts", "recover",
    "unjudged", "finite", "passed", "stated", "symbol", "constant_symbol", "fit_form",
    "label_columns", "_force_samples", "_parts", "null_gate", "status_of", "part", "record",
    "_on_the_search", "_copied",
}  # fmt: skip
"""What runs before the search, only looks values up, or calls nothing but guarded steps."""
rng = np.random.default_rng(0)
TABLE = pd.DataFrame({"r": rng.uniform(0.5, 3, 40), "m": rng.uniform(1, 4, 40)})
TABLE["F"] = 2.5 * TABLE.m / TABLE.r**2 * (1 + 0.01 * rng.normal(size=40))
TABLE["galaxy"] = np.repeat(["a", "b"], 20)
r, m = symbol("r"), symbol("m")
FOUND = [2.5 * m / r**2, 2.0 * m / r, 1.5 * m / r**2 + 0.3, 3.0 * sympy.exp(-1.0 * r) * m]


@pytest.fixture
def searched(monkeypatch):
    """A search that finds four formulas at once, and says that it is over."""
    over = []

    def candidates(self, rows):
        over.append(True)
        return [Candidate(f, 5, 0.1 * k, 0.0, 0, "none") for k, f in enumerate(FOUND)]

    def widened(pool, samples, floor, allowed, watch):  # two hundred fits
        return pool

    widened.__module__ = "symreg.recovery.neighbours"
    monkeypatch.setattr(Search, "candidates", candidates)
    monkeypatch.setattr(selection, "widened", widened)
    return over


def failing(step, error, over):
    def fails(*args, **options):
        if over:
            raise error
        return step(*args, **options)

    return fails


def recovered(path, **options):
    result = symreg.recover(TABLE, target="F", features="r,m", **options)
    result.write(path)
    return symreg.Recovery.read(path)


def steps():
    """Every function that the modules of a recovery call."""
    for module in (recover, record, finding, selection, by_group):
        for name, value in vars(module).items():
            own = inspect.isfunction(value) and (value.__module__ or "").startswith("symreg")
            if own and name not in BEFORE and not name.startswith("__"):
                yield module, name


STEPS = sorted({(module.__name__, name) for module, name in steps()})
MODULES = {module.__name__: module for module in (recover, record, finding, selection, by_group)}


def inject(monkeypatch, searched, place, number, path, **options):
    module, name = MODULES[place[0]], place[1]
    error = ERRORS[number % len(ERRORS)]
    step = failing(getattr(module, name), error, searched)
    monkeypatch.setattr(module, name, step)
    result = recovered(path, **options)
    assert result.expression
    assert result.sympy().free_symbols
    return result


@pytest.mark.slow  # each of a hundred steps fails once
@pytest.mark.parametrize(("number", "place"), list(enumerate(STEPS)), ids=str)
@pytest.mark.parametrize(
    "options",
    [{"units": "F=N r=m m=kg"}, {"per_group": "galaxy", "null": False}],
    ids=["units, null", "by group"],
)
def test_a_result_is_written_whatever_step_fails(
    number, place, options, searched, monkeypatch, tmp_path
):
    inject(monkeypatch, searched, place, number, tmp_path / "law.json", **options)


@pytest.mark.parametrize(
    ("number", "name"),
    list(
        enumerate(
            ["refit_law", "constant_intervals", "decided", "evidence_of", "exponent_intervals"]
        )
    ),
)
def test_what_failed_is_unknown_and_noted(number, name, searched, monkeypatch, tmp_path):
    place = "symreg.recovery.finding", name
    result = inject(monkeypatch, searched, place, number, tmp_path / "law.json", null=False)
    assert not result.found
    assert type(ERRORS[number]).__name__ in " ".join(result.notes)
    assert any(gate.name == "all parts computed" and not gate.passed for gate in result.found_gates)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_part_may_fail_in_every_way(error, searched, monkeypatch, tmp_path):
    part = Guard.part

    def fails(self, what, step, unknown, judged=True):
        def instead():
            raise error

        return part(self, what, instead, unknown, judged)

    monkeypatch.setattr(Guard, "part", fails)
    result = recovered(tmp_path / "law.json", null=False)
    assert result.status == "none"
    assert type(error).__name__ in str(result)


def test_a_candidate_that_fails_is_dropped_with_a_note(searched, monkeypatch, tmp_path):
    refit = selection.refitted

    def fails(expression, *args):
        if expression.has(sympy.exp):
            raise np.linalg.LinAlgError("SVD did not converge")
        return refit(expression, *args)

    monkeypatch.setattr(selection, "refitted", fails)
    result = recovered(tmp_path / "law.json", null=False)
    assert result.written == "5*m/(2*r**2)"
    assert "1 formula was dropped, since their fit failed (LinAlgError" in " ".join(result.notes)


def test_without_failures_nothing_is_said(searched, tmp_path):
    result = recovered(tmp_path / "law.json", null=False)
    assert result.found
    assert not result.notes


def test_interruptions_are_no_failures():
    for stop in (KeyboardInterrupt, SystemExit):
        with pytest.raises(stop):
            Guard().part("a step", lambda stop=stop: (_ for _ in ()).throw(stop()), None)


def test_numbers_of_a_formula_may_overflow_in_every_solver(searched, monkeypatch, tmp_path):
    """numpy's solvers raise for numbers that are not finite."""
    for name in itertools.chain(["svd", "pinv", "lstsq", "qr", "solve", "inv", "eigh"]):
        monkeypatch.setattr(np.linalg, name, failing(getattr(np.linalg, name), ERRORS[0], searched))
    assert recovered(tmp_path / "law.json", null=False).expression
