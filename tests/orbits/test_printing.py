"""Results in a terminal: tables and sentences that fit."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.command_line import complain, say
from orbits.printing import columns, facts, plain, shortened, table, wrapped

ROWS = [
    ("states", "law found", "beside newton", "constant [95 %]"),
    ("kicked", "39.5142/r**2", "same form", "39.51 [39.12, 39.91]"),
    ("untrained", "-8.03*r", "same powers, another form", "-8.03 [-34.02, 16.97]"),
]


@pytest.fixture(params=[50, 66, 200])
def width(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return columns()


def test_a_table_fits_the_terminal_and_loses_no_word(width):
    text = table(ROWS)
    assert max(map(len, text.splitlines())) <= width
    words = sorted(word for row in ROWS for cell in row for word in cell.split())
    assert sorted(word for word in text.split() if set(word) != {"-"}) == words
    assert "[39.12, 39.91]" in text, "an interval is not torn"


def test_a_wide_terminal_has_a_line_for_each_row(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert len(table(ROWS).splitlines()) == len(ROWS) + 1
    assert facts({"law": "39.5/r**2", "recovered": "yes"}) == "law        39.5/r**2\nrecovered  yes"


def test_colour_is_for_terminals_alone(monkeypatch):
    told = {"law": "39.5/r**2", "recovered": "yes"}
    plain = facts(told)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert facts(told).count("\x1b[1m") == 2
    assert "\x1b[32myes" in facts(told)
    monkeypatch.setenv("NO_COLOR", "1")
    assert facts(told) == plain


def test_a_column_may_be_empty():
    assert table([("body", ""), ("sun", "")]).split() == ["body", "----", "-", "sun"]


@given(st.text(alphabet="ab c\n", max_size=400))
def test_wrapping_keeps_the_words(text):
    assert wrapped(text).split() == text.split()
    assert all(len(line) <= columns() or " " not in line for line in wrapped(text).splitlines())


WILD = st.text(
    st.one_of(st.characters(codec=None), st.sampled_from("\x1b\x07\r\u202e\u2066\u200b\u2028\x85"))
)
"""Any characters, lone surrogates too, and often those that a terminal obeys."""


def shows(text):
    """Whether a terminal only shows it: letters, signs, spaces, and lines that end."""
    return all(each.isprintable() for each in text.replace("\n", "").replace("\xa0", ""))


@given(WILD)
def test_what_others_wrote_never_commands_the_terminal(text):
    assert shows(plain(text))
    assert plain(plain(text)) == plain(text)
    assert plain(text) == text or not shows(text)
    for shown in (wrapped(text), facts({text: text}), table([("name", text), (text, "x")])):
        assert shows(shown)


@given(WILD)
def test_nor_does_a_message(text):
    with pytest.MonkeyPatch.context() as patch:
        told, said = StringIO(), StringIO()
        patch.setattr("sys.stderr", told)
        patch.setattr("sys.stdout", said)
        complain("program", text)
        say(text)
    assert shows(told.getvalue())
    assert told.getvalue().count("\n") == 1
    assert shows(said.getvalue())


@given(st.text(), st.integers(20, 400))
def test_a_text_is_shortened_in_its_middle(text, most):
    line = " ".join(text.split())
    short = shortened(text, most)
    assert len(short) <= most
    assert short == line or short.startswith(line[:5])
    assert shortened("beginning" + text * 10**4 + "the end", 100).endswith("the end")
