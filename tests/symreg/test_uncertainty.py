"""Intervals hold the truth as often as they say, under noise and under smooth errors."""

import numpy as np
import pandas as pd
import pytest

from orbits.force_samples import ForceSamples
from symreg.fit.named_laws import fitted_laws
from symreg.fit.noise import weighed
from symreg.fit.refine import preferred, refit_law, refitted, simplified
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import constant_intervals, exponent_intervals
from symreg.formulas.expressions import symbol
from symreg.recovery.config import FIELD_FLOOR, RecoverConfig
from symreg.recovery.problem import of_force_samples

TRIALS = 40


def field(seed, noise, bias):
    rng = np.random.default_rng(seed)
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), 400))
    depth = np.log(r / 0.3) / np.log(10)
    wave = np.sqrt(2) * np.sin(2 * np.pi * (rng.uniform(0.3, 1.4) * depth + rng.uniform()))
    y = 39.478 / r**2 * (1 + bias * wave) * np.exp(noise * rng.standard_normal(400))
    return Samples(r[:, None], y, ("r",), np.arange(400) // 4)


@pytest.mark.parametrize(("noise", "bias"), [(0.03, 0.0), (0.005, 0.02)])
def test_intervals_hold_the_truth(noise, bias):
    exponents = constants = 0
    for seed in range(TRIALS):
        samples, rng = field(seed, noise, bias), np.random.default_rng(seed)
        interval = exponent_intervals(samples, 0.02, rng, draws=300)["r"]
        exponents += interval.low <= -2 <= interval.high
        law = refitted(39.0 / symbol("r") ** 2, samples, "test")
        (strength,) = constant_intervals(law, samples, 0.02, rng, draws=300)
        constants += strength.low <= 39.478 <= strength.high
    # 95 % intervals: 40 trials give 38 +- 1.4 where only noise is at work; the size of a smooth
    # error is a guess, so 80 % (32) is asked for
    assert exponents >= 32
    assert constants >= 32


def tilted(power, noise, seed):
    rng = np.random.default_rng(seed)
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), 300))
    y = 39.478 * r**power * np.exp(noise * rng.standard_normal(300))
    return Samples(r[:, None], y, ("r",), np.arange(300))


# A sine of rms e over w periods of log r (span s) shifts a fitted exponent by at most 3.70 e / s
# (w = 0.66): 0.032 for 2 % over a decade. Noise of 1 % in 300 rows adds 2 * 0.01 * sqrt(12 / 300)
# / s = 0.002 (two standard errors). -2.05 is beyond both, whatever the smooth error.
@pytest.mark.parametrize("seed", range(4))
def test_an_exponent_that_no_smooth_error_explains_is_not_snapped(seed):
    samples = tilted(-2.05, 0.01, seed)
    interval = exponent_intervals(samples, 0.02, np.random.default_rng(seed))["r"]
    assert interval.low < -2.05 < interval.high < -2
    law = simplified(refitted(39.0 * symbol("r") ** -2.06, samples, "test"), samples, 0.02)
    assert len(law.constants) == 2
    kept = preferred([law, *fitted_laws(samples)], samples.n_effective, 0.02)
    assert len(kept.constants) == 2


@pytest.mark.parametrize("seed", range(10))
def test_a_smooth_error_of_the_floors_size_is_not_taken_for_an_exponent(seed):
    samples = field(seed, 0.0, 0.02)
    law = simplified(refitted(39.0 * symbol("r") ** -2.06, samples, "test"), samples, 0.02)
    assert len(law.constants) == 1
    interval = exponent_intervals(samples, 0.02, np.random.default_rng(seed))["r"]
    assert interval.low <= -2 <= interval.high
    # what noise leaves unsaid is systematic here, and no more than the largest shift; 400 random
    # rows do not cover log r evenly (its variance varies by 2 sqrt(0.8 / 400) = 9 %)
    assert interval.statistical < interval.systematic < 1.09 * 3.70 * 0.02 / np.log(10)


def test_exact_data_have_narrow_intervals():
    interval = exponent_intervals(field(0, 0.0, 0.0), 0.02, np.random.default_rng(0))["r"]
    assert interval.high - interval.low < 1e-9
    assert interval.value == pytest.approx(-2)


def test_the_bootstrap_resamples_orbits_not_rows():
    # one error per orbit: rows of an orbit tell nothing new
    rng = np.random.default_rng(1)
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), (50, 20)))
    y = 39.478 / r**2 * np.exp(0.05 * rng.standard_normal((50, 1)))
    groups = np.repeat(np.arange(50), 20)
    by_orbit = Samples(r.reshape(-1, 1), y.ravel(), ("r",), groups)
    by_row = Samples(by_orbit.X, by_orbit.y, ("r",), np.arange(1000))
    widths = []
    for samples in (by_orbit, by_row):
        law = refitted(39.0 / symbol("r") ** 2, samples, "test")
        (interval,) = constant_intervals(law, samples, 0.0, np.random.default_rng(0))
        widths.append(interval.high - interval.low)
    # the standard error of a mean over 50 orbits is sqrt(20) times that over 1000 rows
    assert widths[0] > 2.5 * widths[1]


def test_statistical_and_systematic_parts_add_in_quadrature():
    interval = exponent_intervals(field(2, 0.1, 0.02), 0.02, np.random.default_rng(0))["r"]
    assert 1 / 3 < interval.statistical / interval.systematic < 3, "each has its say"
    half = np.hypot(interval.statistical, interval.systematic)
    # the bootstrap is not quite symmetric; a plain sum would be 26 % wider at the least
    assert interval.high - interval.value == pytest.approx(half, rel=0.1)
    assert interval.value - interval.low == pytest.approx(half, rel=0.1)


def test_the_statistical_part_is_two_standard_errors():
    """A constant with noise of 5 % in 1000 independent rows: 1.96 * 5 % / sqrt(1000)."""
    rng = np.random.default_rng(3)
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), 1000))
    y = 39.478 / r**2 * np.exp(0.05 * rng.standard_normal(1000))
    samples = Samples(r[:, None], y, ("r",), np.arange(1000))
    law = refitted(39.0 / symbol("r") ** 2, samples, "test")
    (interval,) = constant_intervals(law, samples, 0.02, np.random.default_rng(0))
    wanted = 1.96 * 0.05 / np.sqrt(1000) * 39.478
    # the scatter is known to 2 %, the quantiles of 1000 draws to 4 %
    assert interval.statistical == pytest.approx(wanted, rel=0.15)


def test_few_rows_have_intervals_that_hold_the_truth():
    held, trials, form = 0, 400, refitted(2.5 * symbol("r"), line_of_few_rows(0), "test")
    for seed in range(trials):
        samples = line_of_few_rows(seed)
        law = refit_law(form, samples)
        (interval,) = constant_intervals(law, samples, 0.0, np.random.default_rng(seed), draws=300)
        held += interval.low <= 2.5 <= interval.high
    # 95 % of 400, four standard deviations either way; resampling alone gives 86 %
    assert 0.906 < held / trials < 0.994


def line_of_few_rows(seed):
    rng = np.random.default_rng([seed, 8])
    r = rng.uniform(1, 3, 7)
    y = 2.5 * r + 0.1 * rng.standard_normal(7)
    return Samples(r[:, None], y, ("r",), np.arange(7), errors=np.ones(7))


def off_by_a_length(seed, along=1.0, across=1.0):
    """A model of Newton's force that is off by 0.6 % · r² along the line to the centre, in a wave,
    and by as much at random across it."""
    rng = np.random.default_rng([seed, 9])
    r = np.exp(rng.uniform(np.log(0.3), np.log(3), 600))
    depth = np.log(r / 0.3) / np.log(10)
    wave = np.sqrt(2) * np.sin(2 * np.pi * (rng.uniform(0.3, 1.4) * depth + rng.uniform()))
    angle, error = rng.uniform(0, 2 * np.pi, 600), 0.006 * r**2
    out = np.column_stack([np.cos(angle), np.sin(angle)])
    turned = np.column_stack([-out[:, 1], out[:, 0]])
    pull = 39.478 / r**2
    inward = -(pull * (1 + along * error * wave))[:, None] * out
    a = inward + (across * error * pull * rng.standard_normal(600))[:, None] * turned
    table = pd.DataFrame(np.column_stack([r[:, None] * out, a]), columns=["x", "y", "a_x", "a_y"])
    table = table.assign(
        orbit=np.arange(600) // 4, time=0.0, r=r, a_norm=np.linalg.norm(a, axis=1), gm=39.478
    )
    return ForceSamples(table, {"law": "newton"})


def interval_of(field, floor=None):
    samples = of_force_samples(field, RecoverConfig(error_floor=floor)).samples
    rng = np.random.default_rng(0)
    return exponent_intervals(weighed(samples, FIELD_FLOOR), FIELD_FLOOR, rng, draws=300)["r"]


def test_the_smooth_error_is_read_off_the_field_and_grows_outwards():
    samples = of_force_samples(off_by_a_length(0), RecoverConfig()).samples
    of_length = samples.smooth / samples.X[:, 0] ** 2
    # the median of 25 rows tells a normal spread to 17 %; a bin spans 10 % of r, so 20 % of r²
    assert np.median(of_length) == pytest.approx(0.006, rel=0.15)
    assert np.ptp(np.quantile(of_length, [0.05, 0.95])) < 0.006
    found = [interval_of(off_by_a_length(seed)) for seed in range(TRIALS)]
    # as above: 80 % is asked for, where the size of a smooth error is a guess
    assert sum(each.low <= -2 <= each.high for each in found) >= 32


def test_a_given_error_floor_counts_in_its_place():
    for floor in (0.01, 0.05):
        given = of_force_samples(off_by_a_length(0), RecoverConfig(error_floor=floor)).samples
        assert given.smooth is None


def test_a_field_without_a_sideways_part_is_no_surer_than_its_residuals():
    found = [interval_of(off_by_a_length(seed, across=0.0)) for seed in range(TRIALS)]
    assert sum(each.low <= -2 <= each.high for each in found) >= 32


@pytest.mark.parametrize("kind", ["counts", "shares"])
def test_exponents_of_large_errors_are_not_off_by_the_errors_squared(kind):
    """What is low by chance would count for more in a logarithm: seven counts, or 25 %."""
    off = []
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.3, 4, 300)
        law = 25 / x
        y = rng.poisson(law) if kind == "counts" else law * (1 + 0.25 * rng.standard_normal(300))
        kept = y > 0
        samples = Samples(x[kept, None], y[kept] / 1.0, ("x",), np.arange(kept.sum()),
                          errors=law[kept])  # fmt: skip
        found = exponent_intervals(samples, 0.0, rng, draws=100)["x"]
        off.append((found.value + 1) / (found.high - found.low) * 4)  # in standard errors
    assert abs(np.mean(off)) < 4 / np.sqrt(TRIALS)
    assert np.sum(np.abs(off) < 2.5) >= 36  # 98.8 % of 40
