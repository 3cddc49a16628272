"""The passkey task: what it asks, that it can be learned, and that a blind model guesses."""

import pandas as pd
import torch

from orbits.records.files import read_json
from worldmodel.cli import main
from worldmodel.passkeys import PASSKEY, QUESTION, Passkeys, retrieval


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


def test_trained_attention_reproduces_it_and_an_untrained_one_guesses():
    small = {"length": 8, "values": 4, "d_model": 32, "evaluated": 200}
    table = retrieval(kinds=("softmax", "lssar"), factors=(1, 2), steps=120, **small).table
    assert (table.loc[table["factor"] == 1, "accuracy"] > 0.95).all()
    # the control: hardly trained, it guesses; 200 answers, p = 1/4, 4 standard errors
    guessed = retrieval(kinds=("softmax",), factors=(1,), steps=1, **small).table
    assert abs(guessed["accuracy"].item() - 0.25) < 0.125


def test_the_command_writes_table_numbers_and_picture(tmp_path, capsys):
    small = "--length 8 --factors 1 2 --values 4 --steps 2 --d-model 16 --evaluated 20"
    arguments = ["retrieval", str(tmp_path), "--kinds", "softmax", "lssar", *small.split()]
    assert main(arguments) == 0
    table = pd.read_csv(tmp_path / "retrieval.csv")
    assert list(table.columns) == ["attention", "seed", "factor", "length", "accuracy"]
    assert table["attention"].tolist() == ["softmax"] * 2 + ["lssar"] * 2
    written = read_json(tmp_path / "retrieval.json")
    assert written["configuration"]["values"] == 4
    assert written["configuration"]["seeds"] == [0]
    assert (tmp_path / "retrieval.png").read_bytes().startswith(b"\x89PNG")
    assert "lssar, seed 0: 1×" in capsys.readouterr().out


def test_an_unknown_kind_is_answered_before_any_training(tmp_path, capsys):
    assert main(["retrieval", str(tmp_path), "--kinds", "softmax", "lsar"]) == 2
    assert "did you mean 'lssar'" in capsys.readouterr().err


def test_no_sequence_of_training_is_evaluated(monkeypatch):
    drawn, whole = [], Passkeys.draw
    monkeypatch.setattr(
        Passkeys, "draw", lambda self, *size: drawn.append(whole(self, *size)) or drawn[-1]
    )
    options = {"length": 12, "d_model": 16, "steps": 2, "batch": 40, "evaluated": 40}
    retrieval(kinds=("softmax",), factors=(1,), **options)
    *trained, evaluated = ({row.numpy().tobytes() for row in found} for found, _ in drawn)
    assert len(trained) == 2
    assert not evaluated & set.union(*trained)
