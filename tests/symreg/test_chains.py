"""Functions within functions come out exactly, of rows without noise; what is random gives none."""

import numpy as np
import pytest

from symreg.engines import chains
from symreg.engines.base import Budget
from symreg.engines.chains import ChainsEngine
from symreg.enumeration.library import enumerate_expressions
from symreg.formulas.expressions import evaluate
from symreg.formulas.watch import Watch
from symreg.search.coincidence import Coincidence

KINDS = {
    "tanh of root": lambda x, y, z, a, b: np.tanh(np.sqrt(5 * a / x - 1)),
    "tanh of product": lambda x, y, z, a, b: np.tanh((a - b * y - np.tanh(np.sqrt(z))) * x / 3),
    "wave": lambda x, y, z, a, b: np.cos(a * x / y - np.log(b * z)),
    "root of exponential": lambda x, y, z, a, b: np.sqrt(x + a * np.exp(y) / y + b),
    "exponential of wave": lambda x, y, z, a, b: z * np.exp(np.cos(x) + a * y),
}


def rows(seed, count=200):
    """Columns that all kinds are defined of, and two numbers."""
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.5, 0.5, 0.4], [4, 3, 4], (count, 3))
    return X, rng.uniform([0.8, 0.4], [1.3, 1.2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_composition_without_noise_is_recovered(kind):
    (X, numbers), names = rows(len(kind)), ["x", "y", "z"]
    front = ChainsEngine().search(X, KINDS[kind](*X.T, *numbers), names, 0, Budget())
    others, _ = rows(7)
    left = evaluate(front[-1].expression, names, others) - KINDS[kind](*others.T, *numbers)
    # numbers solved from rows to twelve digits, other rows a little farther
    assert np.max(np.abs(left)) < 1e-9


def test_random_numbers_are_no_sum_of_two_entries_and_a_sum_of_two_is():
    X, _ = rows(1, 24)
    library, rng = enumerate_expressions(X, 20_000, 9, Watch()), np.random.default_rng(3)
    known = np.column_stack([np.ones(24), X])
    (i, j), count = rng.choice(len(library), 2, replace=False), 40
    targets = rng.standard_normal((count, 24))
    targets[7] = 1.7 - 0.3 * X[:, 1] + library.values[i] + 0.7 * library.values[j]
    errors = 2e-16 * np.abs(targets)
    held = Coincidence(library.values, known).held(targets, errors, np.empty((count, 24, 0)))
    assert {each.target for each in held} == {7}
    assert any({*each.columns} == {i, j} for each in held)


def test_a_noisy_table_is_not_asked(monkeypatch):
    X, numbers = rows(2)
    y = KINDS["tanh of product"](*X.T, *numbers)
    noisy = y + 0.02 * np.std(y) * np.random.default_rng(1).standard_normal(len(y))
    monkeypatch.setattr(chains, "enumerate_expressions", None)  # whatever asks it breaks off
    engine = ChainsEngine()
    for target in (noisy, np.random.default_rng(2).permutation(y), y.astype(np.float32)):
        assert engine.search(X, np.asarray(target, float), ["x", "y", "z"], 0, Budget()) == []
        assert not engine.exhausted
    with pytest.raises(TypeError):
        engine.search(X, y, ["x", "y", "z"], 0, Budget())


def test_what_was_tried_is_told(monkeypatch):
    monkeypatch.setattr(chains, "CHAINS", 100)
    X, engine = np.random.default_rng(4).uniform(0.3, 4, (60, 1)), ChainsEngine()
    y = X[:, 0] ** np.pi + np.exp(np.sin(1.7 * np.sqrt(X[:, 0])))
    assert engine.search(X, y, ["x"], 0, Budget()) == []
    (told,) = engine.exhausted
    assert told.startswith("no chain of up to 4 functions around a sum of two is exact, of 100")
