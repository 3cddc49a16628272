"""Results in a terminal: tables and sentences that fit."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.command_line import complain, say
from orbits.printing import (
    columns,
    facts,
    fixed,
    in_a_line,
    number,
    percent,
    plain,
    share,
    shortened,
    table,
    wrapped,
)

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


def test_numbers_and_shares_are_written_in_one_way():
    assert [number(12.3456), fixed(12.3456, 2), percent(0.123), percent(0.123, 1)] == [
        "12.35", "12.35", "12%", "12.3%",
    ]  # fmt: skip
    told = {0: "0 %", 0.03214: "3.21 %", 0.9996: "100 %", 94.2: "9420 %", 8.3e-9: "0.00000083 %"}
    assert [share(value) for value in told] == list(told.values())
    assert share(0.03214, 2) == "3.2 %"
    assert [write(None) for write in (number, fixed, percent, share)] == ["none"] * 4
    assert number(None, missing="–") == share(None, missing="–") == "–"
    assert in_a_line("2*x**3") == "2·x^3"


@given(st.floats(1e-12, 1e6), st.integers(1, 6))
def test_a_share_is_read_back_to_its_digits(value, digits):
    text = share(value, digits)
    assert "e" not in text
    assert float(text.removesuffix(" %")) / 100 == pytest.approx(
        value, rel=0.6 * 10 ** (1 - digits)
    )
