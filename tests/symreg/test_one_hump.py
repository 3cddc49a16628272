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


@pytest.mark.parametrize("rows", [300, 1000])
def test_a_wave_that_turns_too_fast_and_two_kinds_of_rows_are_not(rows):
    rng = np.random.default_rng(rows)
    x, z = rng.uniform(0, 10, (2, rows))
    wave = np.cos(x * (x + z) * (x**2 * z + 3))
    kinds = rng.choice([-1, 1], rows) + 0.2 * rng.standard_normal(rows)
    assert hump_probability(wave) < THRESHOLDS.misfit_p
    assert hump_probability(kinds) < THRESHOLDS.misfit_p


def test_a_law_beside_an_unseen_wave_is_not_found_and_beside_noise_it_is():
    rng = np.random.default_rng(4)
    x, z = rng.uniform(1, 10, (2, 500))
    wave = 0.3 * np.cos(x * (x + z) * (x**2 * z + 3))
    noise = rng.uniform(-0.36, 0.36, 500)  # as large
    for left, is_found in ((wave, False), (noise, True)):
        table = pd.DataFrame({"x": x, "z": z, "y": 2.0 * x + left})
        law = recover(table, target="y", features=("x", "z"), null=False, time_limit=5)
        assert law.found is is_found
        assert ("errors" in {gate.name for gate in law.found_gates}) is not is_found
        assert ("commonest near zero, as noise is" in " ".join(str(law).split())) is not is_found
