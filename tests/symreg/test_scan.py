"""What one, two or three columns explain in closed form is what least squares say."""

from itertools import combinations, product

import numpy as np
import pytest

from symreg.search import scan as scans
from symreg.search.scan import Scan

ROWS, COUNT = 40, 30
RNG = np.random.default_rng(5)
COLUMNS, TARGET = RNG.standard_normal((COUNT, ROWS)), RNG.standard_normal(ROWS)
CONSTANT = np.ones((ROWS, 1))


def left(state, basis=CONSTANT):
    """What a basis and some columns leave of the target."""
    design = np.column_stack([basis, *COLUMNS[list(state)]])
    return np.linalg.lstsq(design, TARGET, rcond=None)[1][0]


def ranked(states):
    return sorted(states, key=left)


@pytest.mark.parametrize("block", [1, 100, 10**6])
def test_the_best_pairs_and_their_extensions_are_those_of_least_squares(block, monkeypatch):
    monkeypatch.setattr(scans, "BLOCK", block)
    monkeypatch.setattr(scans, "COLUMNS", 7)
    scan, every = Scan(COLUMNS, TARGET, CONSTANT), range(COUNT)
    best = ranked(combinations(every, 2))
    assert scan.pairs(every, every, COUNT)[:5] == best[:5]
    assert scan.pairs(range(5), every, COUNT)[:1] == ranked(p for p in best if p[0] < 5)[:1]
    apart = [pair for pair in best if pair[0] < 12 <= pair[1]]
    assert scan.pairs(range(12, COUNT), range(12), COUNT)[:3] == apart[:3]
    assert scan.pairs(np.array(best[0]), every, COUNT)[0] == best[0]
    states = [best[0], best[-1]]
    triples = {tuple(sorted((*pair, j))) for pair in states for j in every if j not in pair}
    assert scan.extended(states, COUNT, 4)[:4] == ranked(triples)[:4]
    assert [state for (state,) in scan.singles(4)] == sorted(every, key=lambda i: left([i]))[:4]


@pytest.mark.parametrize("block", [1, 100, 10**6])
def test_the_best_pair_of_every_two_kinds_is_that_of_least_squares(block, monkeypatch):
    monkeypatch.setattr(scans, "BLOCK", block)
    kinds = [i // 4 for i in range(COUNT)]
    best = {}
    for pair in ranked(combinations(range(COUNT), 2)):
        best.setdefault(tuple(kinds[i] for i in pair), pair)
    scan = Scan(COLUMNS, TARGET, CONSTANT)
    assert scan.pairs_of_kinds(kinds, 6) == [*best.values()][:6]
    simple = [best[pair] for pair in best if set(pair) <= {2, 3}]
    assert set(scan.pairs_of_kinds(kinds, 6, [2, 3])) == {*[*best.values()][:6], *simple}


def test_what_the_basis_explains_and_a_column_like_another_are_no_partners():
    columns = np.concatenate([COLUMNS[:3], CONSTANT.T, 2 * COLUMNS[:1]])
    scan = Scan(columns, TARGET, CONSTANT)
    pairs = {*scan.pairs(range(5), range(5), 5), *scan.pairs_of_kinds(range(5), 20)}
    assert (0, 4) not in pairs
    assert all(3 not in pair for pair in pairs)
    assert pairs <= {(i, j) for i, j in product(range(5), repeat=2) if i < j}
    assert scan.pairs(range(0), range(0), 5) == scan.extended([], 5, 2) == []
