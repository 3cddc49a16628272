"""The digits of attention: the formula alone is another path than the one computed here."""

import stability


def test_the_formula_alone_loses_digits_that_float32_inside_keeps(monkeypatch):
    monkeypatch.setattr(stability, "SCALES", (1.0,))
    monkeypatch.setattr(stability, "LENGTHS", (64,))
    table = stability.measure(["lssar(p=15)"], 1)
    half = table[(table["numbers"] == "bfloat16") & (table["length"] == 64)]
    errors = half.set_index("path")["gradient"]
    assert errors["kept"] < 0.01 < errors["bare"]
