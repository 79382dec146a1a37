"""What models cost is what the user wrote, and a table that cannot be read is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from exploracoder.errors import InputError
from exploracoder.models.model_cost import Price
from exploracoder.models.prices import make_table, price_of, prices_file


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("EXPLORACODER_CONFIG", str(tmp_path))
    return prices_file()


TABLE = """
- {model: "tea-mini*", prompt: 0.5, completion: 2, currency: EUR}
- {model: "tea*", prompt: 5, completion: 20}
"""


def test_the_first_entry_that_fits_counts(table: Path) -> None:
    table.write_text(TABLE)

    mini, tea = price_of("tea-mini-2"), price_of("tea-large")

    assert mini is not None
    assert (mini.of(1_000_000, 500_000), mini.currency) == (1.5, "EUR")
    assert mini.in_words == "0.5 EUR a million prompt tokens, 2 EUR a million completion tokens"
    assert tea is not None
    assert tea.of(100_000, 0) == 0.5
    assert price_of("coffee") is None


def test_there_are_no_prices_but_those_that_are_written(table: Path) -> None:
    assert price_of("tea") is None

    assert make_table() == table
    assert price_of("tea") is None
    assert "# - model:" in table.read_text()


def test_a_table_that_is_there_is_left_as_it_is(table: Path) -> None:
    table.write_text(TABLE)
    make_table()

    assert table.read_text() == TABLE


WRONG: dict[str, tuple[bytes, str]] = {
    "no table": (b"tea: 3", "the table"),
    "no model": (b"- {prompt: 1}", "entry 1, model"),
    "no number": (b"- {model: a, prompt: 1}\n- {model: b, prompt: dear}", "entry 2, prompt"),
    "less than nothing": (b"- {model: a, prompt: -1}", "greater than or equal to 0"),
    "without end": (b"- {model: a, prompt: .inf}", "finite"),
    "a field too many": (b"- {model: a, cached: 1}", "entry 1, cached"),
    "not its form": (b"- {model: a", "cannot be read"),
    "code": (b"- !!python/object/apply:os.system [ls]", "cannot be read"),
    "bytes": (b"\xff\xfe", "cannot be read"),
    "currency": (b'- {model: a, currency: "\\x1b[31m"}', "currency"),
}


@pytest.mark.parametrize(("content", "said"), WRONG.values(), ids=WRONG)
def test_one_that_cannot_be_read_is_a_sentence(content: bytes, said: str, table: Path) -> None:
    table.write_bytes(content)

    with pytest.raises(InputError, match=said) as error:
        price_of("a")

    assert str(table) in str(error.value)


def test_a_price_of_nothing_is_no_money() -> None:
    assert Price().of(1000, 1000) == 0
