"""The comparison with another framework, tried with vitrify in both places."""

import sys

import pytest

from tests.comparison.__main__ import main
from tests.comparison.report import comparable, page, short
from tests.comparison.runner import Runner, Verdict
from tests.end_to_end.tables import all_cases, cases_of

PASSED = Verdict(True, "")


def test_there_are_enough_cases():
    assert len(all_cases()) >= 300


@pytest.mark.slow
def test_a_run_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.comparison.__main__.PEER", "vitrify")
    out = tmp_path / "page.md"
    assert main(["--paddle", sys.executable, "--only", "failing", "--out", str(out)]) == 0
    text = out.read_text()
    count = len(cases_of("failing"))
    assert count > 5 and f"| failing |{f' {count} |' * 5}" in text
    assert "Nothing." in text


@pytest.mark.parametrize(
    ("code", "why"), [("import time; time.sleep(60)", "timeout"), ("raise SystemExit(1)", "crash")]
)
def test_workers_that_hang_or_die_are_replaced(code, why, monkeypatch):
    monkeypatch.setattr("tests.comparison.runner.START_SECONDS", 0.5)
    with Runner(sys.executable, "vitrify", 1.0) as runner:
        runner.command = [sys.executable, "-c", code]
        assert runner.ask("failing", "raises_key").why.startswith(why)
        assert runner.process is None


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("result[0]: 1 against 2", "wrong result"),
        ("gradients[1]: ...", "wrong gradients"),
        ("error: KeyError: 'a' against none", "raises nothing instead of KeyError"),
        ("error: none against ValueError: long\ntext", "raises ValueError"),
        ("error: KeyError: 1 against TypeError: 2", "raises TypeError instead of KeyError"),
        ("timeout: it did not end", "timeout"),
    ],
)
def test_reasons_are_short(why, words):
    assert short(Verdict(False, why)) == words


def test_cases_that_the_peer_cannot_run_eagerly_are_left_out():
    rows = [
        ("a", "same", PASSED, Verdict(False, "gradients[0]: x")),
        ("a", "ours", PASSED, Verdict(False, "result: x", "AttributeError")),
        ("b", "both_raise", Verdict(True, "", "KeyError"), Verdict(True, "", "KeyError")),
    ]
    assert [comparable(row) for row in rows] == [True, False, True]
    text = page(rows, "9.9")
    assert "| a | 2 | 2 | 1 | 1 | 0 |" in text
    assert "| **all** | 3 | 3 | 2 | 2 | 1 |" in text
    assert "`a.same` | wrong gradients | passes" in text
    assert "a.ours" not in text
