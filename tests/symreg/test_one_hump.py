"""What a formula leaves is commonest near zero, if it is the error of a measurement."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreg import recover
from symreg.fit.noise import hump_probability
from symreg.recovery.thresholds import THRESHOLDS

HUMPS = {
    "uniform": lambda rng, rows: rng.uniform(-1, 1, rows),
    "normal": lambda rng, rows: rng.standard_normal(rows),
    "heavy": lambda rng, rows: rng.standard_t(2, rows),
    "triangular": lambda rng, rows: rng.triangular(-1, 0, 1, rows),
    "skew": lambda rng, rows: rng.exponential(1, rows) - 1,
}
"""Errors with one maximum each."""


@given(
    kind=st.sampled_from(sorted(HUMPS)), rows=st.integers(12, 600), spread=st.floats(0, 3),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_errors_of_any_kind_and_of_unequal_sizes_are_commonest_near_zero(kind, rows, spread, seed):
    rng = np.random.default_rng(seed)
    errors = HUMPS[kind](rng, rows) * np.exp(spread * rng.standard_normal(rows))
    assert hump_probability(errors) > THRESHOLDS.misfit_p


@pytest.mark.parametrize("rows", [12, 60, 512])
def test_uniform_errors_the_least_favourable_are_refused_as_rarely_as_asked(rows):
    rng = np.random.default_rng(rows)
    chances = [hump_probability(rng.uniform(-1, 1, rows)) for _ in range(20000)]
    refused = sum(chance < THRESHOLDS.misfit_p for chance in chances)
    assert refused <= 2 * len(chances) * THRESHOLDS.misfit_p


@pytest.mark.parametrize(
    ("rows", "noise", "least", "most"),
    [(100, 0, 0.02, 0.06), (300, 0, 0.83, 0.92), (512, 0, 0.99, 1), (512, 0.2, 0, 0.04)],
)
def test_how_often_a_cosine_of_any_phase_is_seen(rows, noise, least, most):
    rng = np.random.default_rng(rows)
    phases = rng.uniform(0, 2 * np.pi, (1000, rows))
    tables = np.cos(phases) + noise * rng.standard_normal(phases.shape)
    seen = np.mean([hump_probability(errors) < THRESHOLDS.misfit_p for errors in tables])
    assert least <= seen <= most


def test_units_do_not_matter_and_no_errors_are_none_of_one_size():
    errors = np.random.default_rng(0).standard_normal(100)
    with np.errstate(all="raise", under="ignore"):
        for unit in (1e-90, 1e136):
            assert hump_probability(unit * errors) == pytest.approx(hump_probability(errors))
        assert hump_probability(np.zeros(100)) == pytest.approx(0.5)


def test_two_kinds_of_rows_are_seen():
    rng = np.random.default_rng(0)
    kinds = rng.choice([-1, 1], 300) + 0.2 * rng.standard_normal(300)
    assert hump_probability(kinds) < THRESHOLDS.misfit_p


@pytest.mark.slow
def test_a_law_beside_an_unseen_wave_is_not_found_and_beside_noise_it_is():
    rng = np.random.default_rng(4)
    x, z = rng.uniform(1, 10, (2, 500))
    wave = 0.3 * np.cos(x * (x + z) * (x**2 * z + 3))
    noise = rng.uniform(-0.36, 0.36, 500)  # as large
    for left, is_found in ((wave, False), (noise, True)):
        table = pd.DataFrame({"x": x, "z": z, "y": 2.0 * x + left})
        law = recover(table, target="y", features=("x", "z"), null=False, time_limit=60)
        assert law.found is is_found
        assert ("errors" in {gate.name for gate in law.found_gates}) is not is_found
        assert ("commonest near zero, as noise is" in " ".join(str(law).split())) is not is_found
