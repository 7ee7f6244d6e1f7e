"""The table in docs/interchange.md has a row for every model, and is made by what is there."""

from pathlib import Path

import pytest

from tests.interchange.__main__ import BEGIN, END, put, table
from tests.models.zoo import all_cases

PAGE = Path(__file__).parents[2] / "docs" / "interchange.md"


def test_every_model_has_a_row():
    text = PAGE.read_text(encoding="utf-8")
    rows = [
        line.split("|")[1].strip() for line in text[text.index(BEGIN) : text.index(END)].splitlines() if "|" in line
    ]
    assert [case.name for case in all_cases() if case.name not in rows] == []


def test_a_table_is_made_and_put_in_its_place(tmp_path):
    columns = {"read": {"a": 0.0, "b": 0.5}, "run": {"a": "it | stops"}}
    text = table(["a", "b"], columns, "someone 1.0")
    assert "| a | yes | stops: it / stops |\n| b | differs by 0.5 |  |\n| all | 1 | 0 |" in text
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    put(page, text)
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n{text}\n{END}\nafter\n"
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(SystemExit, match="where the table stands"):
        put(page, text)
