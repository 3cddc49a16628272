"""The passkey task: what it asks, that it can be learned, and that a blind model guesses."""

import pytest
import torch
from passkeys import DECOY, PASSKEY, QUESTION, Options, Passkeys
from recall import recall

EASY = {"length": 12, "values": 4, "digits": 2, "decoys": 0, "d_model": 32, "evaluated": 200}


def drawn(count=300, length=40, **options):
    task = Passkeys(Options(**options))
    return task, *task.draw(count, length, torch.Generator().manual_seed(0))


def trained(**options):
    return recall(Passkeys(Options(**options)))


def test_one_key_some_decoys_and_the_question_at_the_end():
    _, values, marks = drawn(length=40, decoys=4)
    assert values.min() == 0
    assert values.max() == 9
    assert ((marks == PASSKEY).sum(1) == 5).all()
    assert ((marks == DECOY).sum(1) == 4 * 40 // 64 * 5).all()
    assert (marks[:, -5:] == QUESTION).all()
    assert ((marks == QUESTION).sum(1) == 5).all()
    where = (marks == PASSKEY).int().argmax(1)
    together = torch.stack([row[at : at + 5] for row, at in zip(marks, where, strict=True)])
    assert (together == PASSKEY).all()
    assert set(where.tolist()) == set(range(31))


def test_the_question_holds_the_digits_before_the_one_that_it_asks_for():
    task, values, marks = drawn()
    key = task.key(values, marks)
    where = (marks == PASSKEY).int().argmax(1)
    for sequence in range(20):
        at = where[sequence]
        assert torch.equal(key[sequence], values[sequence, at : at + 5])
    assert torch.equal(values[:, -4:], key[:, :-1])
    # the first step of the question says nothing of the key: 300 of them, p = 1/10, 4 errors
    assert abs((values[:, -5] == key[:, 0]).double().mean() - 0.1) < 0.07


@pytest.mark.slow
def test_trained_attention_reproduces_it_and_an_untrained_one_guesses():
    table = trained(kinds=("softmax", "lssar"), factors=(1, 2), steps=400, **EASY)
    at_once = table[table["factor"] == 1]
    assert (at_once["accuracy"] > 0.95).all()
    # the control: what is not in the sequence cannot be known; p = 1/16 and 1/4, 4 standard errors
    assert (at_once["permuted"] < 0.07 + 0.0625).all()
    assert (at_once["permuted_digits"] < 0.25 + 0.12).all()
    # hardly trained, it guesses
    guessed = trained(kinds=("softmax",), factors=(1,), steps=1, **EASY)
    assert guessed["digits"].item() == pytest.approx(0.25, abs=0.12)


def test_no_sequence_of_training_is_evaluated(monkeypatch):
    found, whole = [], Passkeys.draw
    monkeypatch.setattr(
        Passkeys, "draw", lambda self, *size: found.append(whole(self, *size)) or found[-1]
    )
    options = {"length": 12, "digits": 2, "decoys": 0, "d_model": 16, "steps": 2, "batch": 40}
    trained(kinds=("softmax",), factors=(1,), evaluated=40, **options)
    *seen, evaluated = ({row.numpy().tobytes() for row in drawn[0]} for drawn in found)
    assert len(seen) == 2
    assert not evaluated & set.union(*seen)
