"""Errors on features: constants that they do not bias, and intervals that hold the truth."""

import numpy as np
import pandas as pd
import pytest

from symreg.cli import main
from symreg.fit.form import fit_form
from symreg.fit.orthogonal import Distances, orthogonal
from symreg.fit.refine import refit_law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import constant_intervals
from symreg.formulas.expressions import constant_symbol, symbol
from symreg.recovery.recover import recover
from symreg.recovery.result import Recovery

DRAWS, FEW_DRAWS, ROWS = 100, 30, 100
LINE = (2.0, 1.0)


def line(seed, error=0.3):
    """y = 2x + 1 over [0, 3], both measured with the same error."""
    rng = np.random.default_rng([seed, 11])
    x = rng.uniform(0, 3, ROWS)
    y = LINE[0] * x + LINE[1] + error * rng.standard_normal(ROWS)
    X = (x + error * rng.standard_normal(ROWS))[:, None]
    same = np.full(ROWS, error)
    return Samples(X, y, ("x",), np.arange(ROWS), errors=same, feature_errors=same[:, None])


@pytest.fixture(scope="module")
def slopes():
    """(draw,) a slope with its limits: by distances, the target's errors known or not; without."""
    found = {"known": [], "scatter": [], "ignored": []}
    for draw in range(DRAWS):
        samples = line(draw)
        law = fit_form("a*x + b", samples)
        for name, known in (("known", True), ("scatter", False)):
            found[name].append(orthogonal(law, samples, known).intervals[0])
        if draw >= FEW_DRAWS:
            continue
        rng = np.random.default_rng(draw)
        found["ignored"].append(constant_intervals(refit_law(law, samples), samples, 0.0, rng)[0])
    return found


@pytest.mark.parametrize("name", ["known", "scatter"])
def test_a_slope_with_errors_on_both_axes_is_not_biased_and_covered(slopes, name):
    values = np.array([each.value for each in slopes[name]])
    held = np.mean([each.low <= LINE[0] <= each.high for each in slopes[name]])
    # the mean of 100 slopes of standard error 0.08
    assert abs(values.mean() - LINE[0]) < 3 * 0.08 / np.sqrt(DRAWS)
    assert 0.90 <= held <= 0.99  # 95 % of 100 draws: three standard errors are 6.5 %
    said = np.median([(each.high - each.low) / (2 * 1.96) for each in slopes[name]])
    assert said == pytest.approx(values.std(), rel=0.3)  # 1/sqrt(200) = 7 % of the draws alone


def test_a_slope_is_too_flat_by_what_theory_says_where_errors_are_ignored(slopes):
    flat = np.mean([each.value for each in slopes["ignored"]])
    share = 0.3**2 / (9 / 12 + 0.3**2)  # of the variance of x
    assert flat == pytest.approx(LINE[0] * (1 - share), abs=3 * 0.07 / np.sqrt(FEW_DRAWS))
    held = np.mean([each.low <= LINE[0] <= each.high for each in slopes["ignored"]])
    assert held < 0.5


def gravity(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    r, m = rng.uniform(0.5, 3, rows), rng.uniform(1, 5, rows)
    table = pd.DataFrame({"m": m, "r": r * np.exp(0.05 * rng.standard_normal(rows))})
    table["F"] = 6.67 * m / r**2 * (1 + 0.01 * rng.standard_normal(rows))
    table["s_r"] = 0.05 * r
    return table


@pytest.mark.slow
def test_a_law_is_searched_and_its_exponent_read_with_errors_on_a_feature():
    found = recover(gravity(), target="F", features="r,m", sigma_of={"r": "5%"}, null=False)
    assert found.form == "c1*m/r**2"
    k = found.coefficients["c1"]
    assert k.low < 6.67 < k.high
    # 10 % of scatter in 300 rows
    assert (k.high - k.low) / (2 * 1.96) == pytest.approx(6.67 * 0.1 / np.sqrt(300), rel=0.25)
    exponent = found.exponents["r"]
    assert exponent.low < -2 < exponent.high
    assert any("orthogonal distances" in note for note in found.notes)
    again = found.predict_interval({"r": [1.0], "m": [1.0]})
    assert again["high"][0] - again["low"][0] == pytest.approx(k.high - k.low, rel=1e-6)


def test_errors_of_features_reach_the_command(tmp_path):
    path, out = tmp_path / "g.csv", tmp_path / "law.json"
    gravity().to_csv(path, index=False)
    command = f"recover {path} {out} --target F --features r,m --form k*m/r**n --no-null"
    assert main([*command.split(), "--sigma-of", "r=s_r,m=0.001"]) == 0
    with_errors = Recovery.read(out)
    assert main(command.split()) == 0
    without = Recovery.read(out)
    n, flat = (each.coefficients["n"] for each in (with_errors, without))
    assert n.low < 2 < n.high
    assert flat.value < n.value  # the power is flattened, as a slope is


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("r", "write feature=column"),
        ("R=s_r", "column 'R' is not known"),
        ("r=s_R", "did you mean 's_r'?"),
        ("r=-5%", "none below 0"),
        ("r=nan", "must be finite"),
        ("r=0.1,r=0.2", "gives r twice"),
    ],
)
def test_errors_that_will_not_do_are_said(given, says, tmp_path, refused):
    path = tmp_path / "g.csv"
    gravity(30).to_csv(path, index=False)
    command = f"recover {path} {tmp_path}/law.json --target F --features r,m --sigma-of {given}"
    assert says in refused("symreg", *command.split())


def test_an_exact_feature_changes_nothing():
    table = gravity(100)
    options = dict(target="F", features="r,m", form="k*m/r**2", null=False, sigma="0.1")
    plain = recover(table, **options).coefficients["k"]
    exact = recover(table, sigma_of={"r": 0, "m": 1e-9}, **options).coefficients["k"]
    assert exact.value == pytest.approx(plain.value, rel=1e-6)
    assert exact.high - exact.low == pytest.approx(plain.high - plain.low, rel=0.2)


@pytest.mark.filterwarnings("error")
def test_a_constant_without_scatter_is_reckoned_without_a_warning():
    x, same = np.linspace(1, 5, 20), np.full(20, 0.1)
    samples = Samples(
        x[:, None], 2 * x, ("x",), np.arange(20), errors=same, feature_errors=same[:, None]
    )
    found = orthogonal(fit_form("a*x", samples), samples, known=False)
    assert found.intervals[0].value == pytest.approx(2.0)
    assert np.all(np.isfinite(found.covariance))


@pytest.mark.parametrize("share", [False, True])
def test_slopes_of_distances_are_those_of_differences(share):
    rng = np.random.default_rng(0)
    x, same = rng.uniform(0.5, 3, 40), np.full(40, 0.1)
    samples = Samples(
        x[:, None], 2 * x**1.5 + 0.2 * rng.standard_normal(40), ("x",), np.arange(40), errors=same,
        feature_errors=(same * x if share else same)[:, None], shares=np.array([share]),
    )  # fmt: skip
    form = constant_symbol(0) * symbol("x") ** constant_symbol(1)
    place, distances = np.array([2.1, 1.4]), Distances(form, samples)
    _, slopes = distances(place, 1.0)
    for number in range(2):
        step = 1e-5 * np.eye(2)[number]
        (up, _), (down, _) = distances(place + step, 1.0), distances(place - step, 1.0)
        # nearest points are right to 1e-9 of an error, and a difference divides that by 2e-5
        np.testing.assert_allclose(slopes[:, number], (up - down) / 2e-5, rtol=1e-5, atol=1e-3)
