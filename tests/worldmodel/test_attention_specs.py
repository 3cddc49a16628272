"""Naming an attention: what can be written, and what a mistake is answered with."""

import subprocess
import sys

import pytest

from worldmodel.attention import attention_kinds, parse_attention


def test_kinds_are_known_without_torch():
    code = (
        "import sys; from worldmodel.attention import attention_kinds, parse_attention;"
        "parse_attention('lssar(p=15)'); print(*attention_kinds());"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["lssa", "lssar", "relu", "sigmoid", "softmax", "ssmax"]


@pytest.mark.parametrize("text", [*attention_kinds(), "lssar(p=15)", "lssar(p=2.5)"])
def test_a_specification_reads_back_as_itself(text):
    assert str(parse_attention(text)) == text
    assert parse_attention(f"  {text} ") == parse_attention(text)
