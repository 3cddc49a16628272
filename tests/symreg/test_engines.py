"""The engines' contract: whole fronts, deterministic by seed, judged on the sympy form."""

import re

import numpy as np
import pandas as pd
import pytest

from symreg.engines import ENGINES, choose_engine, projection, rational
from symreg.engines.base import Budget, Evolution, described, pareto_front
from symreg.engines.portfolio import PortfolioEngine
from symreg.engines.projection import ProjectionEngine
from symreg.engines.rational import RationalEngine
from symreg.enumeration.search import EFFORTS
from symreg.formulas.expressions import complexity, evaluate, feature_symbols
from symreg.formulas.watch import Watch
from symreg.recovery.recover import recover


def small() -> Budget:
    """With a watch of its own: one for the whole file would have run out by its end."""
    return Budget(rows=200)


def newton_samples(noise=0.01):
    rng = np.random.default_rng(5)
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), 300))
    return r[:, None], 39.478 / r**2 * np.exp(noise * rng.standard_normal(300))


def test_front_falls_in_loss_as_it_rises_in_complexity():
    (X, y), r = newton_samples(), feature_symbols(["r"], np.ones((1, 1)))[0]
    proposed = [39 / r**2, 39 / r**2, 40 / r**2, 50 / r, 39 / r**2 + 0.1 / r, 7 * r**0, 30 * r]
    front = pareto_front(proposed, X, y, ["r"], 3, "any")
    sizes, losses = [c.complexity for c in front], [c.loss for c in front]
    assert len(front) > 2
    assert sizes == sorted(set(sizes))
    assert losses == sorted(losses, reverse=True)
    for candidate in front:
        assert candidate.complexity == complexity(candidate.expression)
        residual = np.log(evaluate(candidate.expression, ["r"], X) / y)
        assert candidate.loss == pytest.approx(np.mean(residual**2))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["rational", "expressions", "projection"])
def test_equal_seeds_give_equal_fronts(name):
    X, y = newton_samples()
    options = {"efforts": EFFORTS[:1]} if name == "expressions" else {}
    first, second = (ENGINES[name](**options).search(X, y, ["r"], 11, small()) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("operon", "engine operon is gone; use --engine auto."),
        ("oporon", "engine 'oporon' is not known"),
        ("expressions(niterations=3)", "engine expressions has no settings"),
        ("auto(niteratons=3)", "did you mean 'niterations'?"),
        ("auto(maxsize=3)", "maxsize"),
        ("auto(niterations=2.5)", "niterations"),
        ("pysr(niterations=many)", "niterations must be a number"),
    ],
)
def test_an_engine_that_is_none_is_refused_in_one_line(engine, message):
    with pytest.raises(ValueError, match=re.escape(message)) as refusal:
        choose_engine(engine)
    assert "\n" not in str(refusal.value)


def test_pysrs_settings_stand_in_the_engines_name():
    engine, _ = choose_engine("auto(niterations=40, maxsize=25)")
    assert isinstance(engine, PortfolioEngine)
    assert engine.question.evolution == Evolution(niterations=40, maxsize=25)


def test_what_a_law_need_not_explain_ends_a_search_and_leaves_out_larger_expressions():
    """A field is known to a few per cent: a law within them is enough, and none is told from it."""
    X, y = (each[:100] for each in newton_samples(0.002))
    y = y * (1 + 0.004 * np.sin(9 * X[:, 0]))  # smooth, so that nothing short explains all
    engine = PortfolioEngine()
    (pool,) = engine.search_all(X, y, ["r"], [0], Budget(floor=0.02))
    assert min(each.loss for each in pool) < 0.02**2
    assert engine.families == 4
    assert [family.name for family, _ in engine._steps(1, 0.02)] == [
        "rational", "expressions", "rational", "projection", "projection",
    ]  # fmt: skip


@pytest.mark.parametrize(("digits", "noise"), [(17, 0.0), (4, 0.0), (17, 0.01)])
def test_a_formula_of_a_search_cut_short_is_found_if_it_is_exact(digits, noise, monkeypatch):
    """To the last digits of arithmetic: within those that are printed an approximation is, too."""
    whole = PortfolioEngine.search_all

    def cut(engine, *arguments):
        found = whole(engine, *arguments)
        engine.cut_short = True
        return found

    monkeypatch.setattr(PortfolioEngine, "search_all", cut)
    random = np.random.default_rng(0)
    x = random.uniform(0.5, 3, 60)
    y = 2 / x**2 * (1 + noise * random.standard_normal(60))
    table = pd.DataFrame({"x": x, "y": [float(f"{each:.{digits}g}") for each in y]})
    found = recover(table, target="y", features="x", null=False)
    assert [g.name for g in found.found_gates if not g.passed] == (
        [] if digits == 17 and not noise else ["search went on"]
    )


def test_a_search_that_time_ends_in_a_family_says_so():
    x = np.random.default_rng(0).uniform(0.5, 3, (60, 1))
    noise = np.random.default_rng(1).normal(size=60)
    for y, seconds, cut in ((2 / x[:, 0] ** 2, 60, False), (noise, 1e-3, True)):
        engine = PortfolioEngine()
        engine.search_all(x, y, ["x"], [0], Budget(watch=Watch(seconds)))
        assert engine.cut_short == cut


@pytest.mark.parametrize(
    "law",
    [lambda m, b: m / np.sqrt(1 - b**2), lambda m, b: m * np.sqrt((1 + b) / (1 - b))],
    ids=["mass", "Doppler"],
)
def test_an_expansion_that_comes_first_does_not_end_the_search(law):
    """Up to v = c/30 two terms leave 5e-13, which counts as exact; beyond they are no law."""
    light, rng = 299792458.0, np.random.default_rng(0)
    mass, speed = rng.uniform(1, 10, 200), rng.uniform(1e5, 1e7, 200)
    X = np.column_stack([mass, speed])
    (pool,) = PortfolioEngine().search_all(X, law(mass, speed / light), "mv", [0], Budget())
    best = min(pool, key=lambda each: described(each.expression, X, law(mass, speed / light), "mv"))
    beyond = np.column_stack([mass, 20 * speed])
    given = evaluate(best.expression, "mv", beyond)
    np.testing.assert_allclose(given, law(mass, 20 * speed / light), rtol=1e-9)


@pytest.mark.slow
def test_a_null_control_goes_as_far_as_the_search_went():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (60, 2))
    names, seeds = ["a", "b"], [0]
    quotient, wave = PortfolioEngine(), PortfolioEngine()
    assert quotient.search_all(X, X[:, 0] ** 2 / X[:, 1], names, seeds, small())[0]
    assert wave.search_all(X, X[:, 0] * np.sin(3 * X[:, 1]), names, seeds, small())[0]
    assert quotient.families < wave.families
    shuffled = rng.uniform(1, 5, 60)
    for engine in (quotient, wave):
        null = engine.as_far()
        assert null.search_all(X, shuffled, names, seeds, small())[0]
        assert null.families == engine.families
    # of several searches, as of several groups, the farthest counts
    farthest = wave.families
    assert wave.search_all(X, X[:, 0] ** 2 / X[:, 1], names, seeds, small())[0]
    assert wave.families == farthest


def test_a_negative_target_is_searched_as_a_positive_one_is():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 3, (30, 2))
    y = 2.1 * X[:, 0] * np.exp(-0.8 * X[:, 1]) * (1 + 0.01 * rng.standard_normal(30))
    first, second = (
        PortfolioEngine(most=2).search_all(X, sign * y, ["a", "t"], [0], small())[0]
        for sign in (1, -1)
    )
    assert [each.expression for each in second] == [-each.expression for each in first]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["projection", "rational", "expressions"])
def test_a_limit_holds_with_many_columns(name):
    """Of two hundred columns the ten that matter are searched, and time that is up is noticed."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (200, 200))
    y = (X[:, 3] * X[:, 5] + np.sin(2 * X[:, 7])) * (1 + 0.02 * rng.standard_normal(200))
    told: list[str] = []
    watch = Watch(3.0, told.append)
    names = [f"x{i}" for i in range(200)]
    (front,) = ENGINES[name]().search_all(X, y, names, [0], Budget(watch=watch))
    assert watch.ended or watch.left > 0
    assert front
    assert "x3" in told[0]
    assert "x5" in told[0]


@pytest.mark.parametrize(
    ("families", "law"),
    [
        (["rational"], lambda a, b: a * b**2),
        (["expressions"], lambda a, b: a * b**2),
        (["algebraic"], lambda a, b: a * np.sin(b) ** 2 + b),
        (["algebraic", "chains"], lambda a, b: a * np.sin(b) ** 2 + b),
        (["algebraic", "chains", "projection"], lambda a, b: a * np.sin(b) ** 2 + b),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "law",
)
def test_a_family_that_breaks_off_ends_no_search(monkeypatch, families, law):
    def breaks(self, *_):
        raise np.linalg.LinAlgError("SVD did not converge")

    for family in families:
        monkeypatch.setattr(ENGINES[family], "search", breaks)
    rng, told = np.random.default_rng(0), []
    X = rng.uniform(1, 3, (40, 2))
    y = law(*X.T)
    budget = Budget(watch=Watch(60, told.append))
    (pool,) = PortfolioEngine().search_all(X, y, ["a", "b"], [0], budget)
    errors = [evaluate(each.expression, ["a", "b"], X) / y - 1 for each in pool]
    assert min(np.max(np.abs(error)) for error in errors) < 1e-9
    broken = [line.split()[0] for line in told if "SVD did not converge" in line]
    assert {*broken} == {*families}


def test_a_family_that_broke_off_is_said_with_the_result(monkeypatch):
    def fails(*_):
        raise FloatingPointError("overflow")

    monkeypatch.setattr(RationalEngine, "search", fails)
    x = np.linspace(1, 3, 60)
    found = recover(
        pd.DataFrame({"x": x, "y": 2 * x**2}), target="y", features="x", null=False, seeds=1,
        time_limit=3, progress=False,
    )  # fmt: skip
    assert found.found
    assert sum("broke off (overflow)" in note for note in found.notes) == 1


@pytest.mark.slow
def test_products_that_are_not_finite_in_some_rows_are_left_out():
    """Here one of the first polish lost its way: its singular values ended the search."""
    rng, n = np.random.default_rng(0), 400
    a, b, c, d = (rng.uniform(1, 3, n) for _ in range(4))
    angle = rng.uniform(0, 2 * np.pi, n)
    y = a / (4 * np.pi * b) / np.sqrt(c**2 + d**2 - 2 * c * d * np.cos(angle))
    X = np.column_stack([a, b, c, d, angle])
    told = []
    budget = Budget(rows=320, watch=Watch(20, told.append))
    (pool,) = PortfolioEngine().search_all(X, y, list("abcdt"), [0], budget)
    assert pool
    assert not any("broke off" in line for line in told)


def test_what_a_family_hands_on_is_not_searched_again(monkeypatch):
    x = np.linspace(0.5, 3, 40)[:, None]
    y = 2.5 / x[:, 0]
    whole = ProjectionEngine().search(x, y, ["x"], 0, Budget())
    powers = ProjectionEngine(factors=False)
    powers.search(x, y, ["x"], 0, Budget())
    for module, name in ((projection, "short_formulas"), (rational, "exact_formulas")):
        monkeypatch.setattr(module, name, None)
    assert ProjectionEngine(after=powers).search(x, y, ["x"], 0, Budget()) == whole
    assert RationalEngine(exact=False).search(x, y, ["x"], 0, Budget())


@pytest.mark.slow
def test_functions_of_years_are_found_as_functions_of_years_since_the_middle():
    year = np.linspace(1990, 2024, 200)
    for y in (
        2 * np.sin(0.9 * year + 0.4) + 7,
        4 * np.exp(-((year - 2008.2) ** 2) / 8),
        4.2 / (1 + np.exp(-(year - 2004) / 3.1)),
        2.3 * np.exp(-(year - 1990) / 7.7) + 0.9,
    ):
        (pool,) = PortfolioEngine().search_all(year[:, None], y, ["year"], [0], Budget())
        best = min(pool, key=lambda each: each.loss)
        off = evaluate(best.expression, ["year"], year[:, None]) - y
        assert np.max(np.abs(off)) < 1e-6 * np.max(y)
