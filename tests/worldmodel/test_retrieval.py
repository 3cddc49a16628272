"""The passkey task: what it asks, that it can be learned, and that a blind model guesses."""

import pandas as pd
import torch

from orbits.records.files import read_json
from worldmodel.cli import main
from worldmodel.retrieval import PASSKEY, QUESTION, Passkeys, retrieval
from worldmodel.studies import RetrievalConfig


def test_the_passkey_is_marked_once_and_asked_for_at_the_end():
    sequences, wanted = Passkeys(10, torch.Generator().manual_seed(0)).draw(200, 12)
    values, marks = (sequences[:, :, 0] - 0.5 + 5).round().long().unbind(-1)
    assert values.min() == 0
    assert values.max() == 9
    assert ((marks == PASSKEY).sum(1) == 1).all()
    assert (marks[:, -1] == QUESTION).all()
    where = (marks == PASSKEY).int().argmax(1)
    assert torch.equal(values[torch.arange(200), where], wanted)
    assert set(where.tolist()) == set(range(11))


def test_trained_attention_reproduces_it_and_an_untrained_one_guesses(tmp_path):
    config = RetrievalConfig(
        kinds=("softmax", "lssar"), length=8, factors=(1, 2), values=4, steps=120, d_model=32,
        evaluated=200,
    )  # fmt: skip
    table = retrieval(str(tmp_path), config)
    assert (table.loc[table["factor"] == 1, "accuracy"] > 0.95).all()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "retrieval.csv"), table)
    assert read_json(tmp_path / "retrieval.json")["configuration"]["seeds"] == [0]
    assert (tmp_path / "retrieval.png").read_bytes().startswith(b"\x89PNG")
    # the control: hardly trained, it guesses; 200 answers, p = 1/4, 4 standard errors
    config = RetrievalConfig(
        kinds=("softmax",), length=8, factors=(1,), values=4, steps=1, d_model=32, evaluated=200
    )
    assert abs(retrieval(str(tmp_path), config)["accuracy"].item() - 0.25) < 0.125


def test_an_unknown_kind_is_answered_before_any_training(tmp_path, capsys):
    assert main(["retrieval", str(tmp_path), "--kinds", "softmax", "lsar"]) == 2
    assert "did you mean 'lssar'" in capsys.readouterr().err
