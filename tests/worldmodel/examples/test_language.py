"""The little language: which bytes are learned, which are asked, and what a loss is."""

import language
import numpy as np
import pytest
import torch
from recall import NETWORK, recall

from worldmodel.config import ModelConfig
from worldmodel.model import Network


def network(**options):
    torch.manual_seed(0)
    small = {"d_model": 16, "n_layers": 1, "n_heads": 2, "context_length": 8}
    config = ModelConfig(head="tokens", bins=256, bin_range=128, **NETWORK, **small, **options)
    return Network(config, language.Language.scales)


def test_no_module_is_learned_and_asked():
    learned, held_out = (bytes(part) for part in language.corpus())
    assert 0.05 < len(held_out) / len(learned) < 0.3
    assert b"import" in held_out
    starts = range(0, len(held_out) - 400, len(held_out) // 50)
    repeated = [start for start in starts if held_out[start : start + 400] in learned]
    assert len(repeated) <= 2, "some versions of Python have a compiler's module twice"


def test_a_byte_is_its_own_bin():
    text = np.arange(256, dtype=np.uint8)
    task = language.Language()
    generator = torch.Generator().manual_seed(0)

    class Copier(torch.nn.Module):
        """Sure that the next byte is one more than the last."""

        def forward(self, positions):
            byte = (positions[..., 0, 0] + 127.5).round().long()
            logits = torch.nn.functional.one_hot((byte + 1) % 256, 256) * 50.0
            return logits[:, :, None, None]

    assert task.losses(Copier(), text, 3, 100, generator).max() < 1e-3


def test_without_rotary_only_the_causal_mask_tells_the_order():
    """Which of two bytes came first is lost on one layer, without positions."""
    generator = torch.Generator().manual_seed(0)
    swapped = np.array([66, 67, 65, 65] + [65] * 36, dtype=np.uint8)
    other = swapped[[1, 0, *range(2, 40)]]
    losses = {}
    for rotary in (True, False):
        task = language.Language(language.Options(rotary=rotary))
        told = []
        for text in (swapped, other):
            model = network().eval()
            with torch.no_grad():
                told.append(task.losses(model, text, 1, 38, generator)[0, 3:])
        losses[rotary] = (told[0] - told[1]).abs().max().item()
    assert losses[True] > 1e-5
    assert losses[False] < 1e-5


def test_a_few_steps_teach_something():
    options = language.Options(
        kinds=("softmax",), steps=60, length=32, batch=16, evaluated=32, factors=(1, 2),
        d_model=32, n_layers=2,
    )  # fmt: skip
    table = recall(language.Language(options))
    assert list(table["length"]) == [32, 64]
    assert table["loss"].max() < np.log(256) - 1
    assert table["late"].notna().all()


def test_an_unknown_kind_is_one_line(capsys, tmp_path):
    with pytest.raises(SystemExit, match="sofmax"):
        language.main([str(tmp_path), "--kinds", "sofmax"])


def test_how_evenly_the_last_bytes_attend_is_told_and_draws_nothing_from_the_losses():
    task, generator = language.Language(language.Options(length=8)), torch.Generator()
    found = task.scores(network().eval(), 2, 16, generator.manual_seed(0))
    again = task.losses(network().eval(), language.corpus()[1], 2, 16, generator.manual_seed(0))
    assert torch.equal(found["late"], again[:, -8:].mean(1))
    assert 0.5 < found["entropy"][0] <= 1
    assert 0 < found["first_key"][0] < 0.5
    after = generator.get_state()
    task.losses(network().eval(), language.corpus()[1], 2, 16, generator.manual_seed(0))
    assert torch.equal(after, generator.get_state())
