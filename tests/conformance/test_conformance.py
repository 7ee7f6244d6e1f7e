"""The comparison with Paddle, tried without Paddle: its judgement on made-up records, and a run against vitrify."""

import subprocess
import sys

import numpy as np
import pytest

import vitrify
from tests.conformance import absent, deliberate
from tests.conformance.__main__ import main
from tests.conformance.compare import compare
from tests.conformance.deliberate import Deliberate
from tests.conformance.execution import found_at, run
from tests.conformance.peer import Runner
from tests.conformance.report import Found, page
from tests.conformance.spec import cases_of, each, literal, row, t, together, unset
from tests.conformance.tables import NAMES, rows_in
from tests.conformance.values import values_of


def tensor(values, dtype="float32", stop_gradient=False):
    array = np.array(values, dtype)
    return ("tensor", (dtype, array.shape, array.tobytes()), stop_gradient)


def value(result, gradients=(), arguments=()):
    return {"kind": "value", "result": result, "gradients": list(gradients), "arguments": list(arguments)}


def error(*classes, no_kernel=False):
    return {"kind": "error", "classes": list(classes), "text": "", "no_kernel": no_kernel}


ONE = value(tensor([1.0, 2.0]))
ABSENT = {"kind": "absent"}
CRASH = {"kind": "crash"}
PARAMETERS = [("x", ""), ("name", "None")]


@pytest.mark.parametrize(
    ("ours", "theirs", "kind"),
    [
        (ONE, ONE, "agree"),
        (value(tensor([1.0, 2.00001])), ONE, "agree"),
        (value(tensor([1.0, 2.001])), ONE, "values"),
        (value(tensor([1.0, np.nan])), value(tensor([1.0, np.nan])), "agree"),
        (value(tensor([1.0, np.nan])), ONE, "values"),
        (value(tensor([1.0, np.inf])), value(tensor([1.0, -np.inf])), "values"),
        (value(tensor([1, 2], "int64")), value(tensor([1, 2], "int32")), "dtype"),
        (value(tensor([1, 3], "int64")), value(tensor([1, 2], "int64")), "values"),
        (value(tensor([[1.0, 2.0]])), ONE, "shape"),
        (value(tensor([1.0, 2.0], stop_gradient=True)), ONE, "stop_gradient"),
        (value(("list", [tensor(1.0)])), value(("tuple", [tensor(1.0)])), "type"),
        (value(("list", [tensor(1.0)])), value(("list", [tensor(1.0), tensor(2.0)])), "shape"),
        (value(("plain", "int", 1)), value(("plain", "int", 1)), "agree"),
        (value(("plain", "float", 1.0)), value(("plain", "int", 1)), "values"),
        (value(ONE["result"], [tensor(1.0)[1]]), value(ONE["result"], [tensor(1.0)[1]]), "agree"),
        (value(ONE["result"], [tensor(1.0)[1]]), value(ONE["result"], [tensor(2.0)[1]]), "gradient"),
        (value(ONE["result"], [None]), value(ONE["result"], [tensor(2.0)[1]]), "gradient"),
        (value(ONE["result"], (), [None]), value(ONE["result"], (), [tensor(2.0)[1]]), "argument"),
        (error("ValueError"), error("ValueError"), "agree"),
        (error("IndexError", "ValueError"), error("ValueError"), "agree"),
        (error("IndexError"), error("ValueError"), "error class ValueError"),
        (ONE, error("ValueError"), "only Paddle raises"),
        (error("ValueError"), ONE, "only we raise"),
        (ONE, error("RuntimeError", no_kernel=True), "more"),
        (error("TypeError"), error("RuntimeError", no_kernel=True), "agree"),
        (ABSENT, ONE, "missing"),
        (ONE, ABSENT, "skipped"),
        (ONE, CRASH, "more"),
        (CRASH, ONE, "crash"),
        (CRASH, CRASH, "agree"),
    ],
)  # fmt: skip
def test_verdicts(ours, theirs, kind):
    assert compare(ours, theirs).kind == kind


@pytest.mark.parametrize(
    ("ours", "kind"),
    [
        (PARAMETERS, "agree"),
        ([*PARAMETERS, ("own", "1")], "agree"),
        ([("x", "")], "signature"),
        ([("x", ""), ("name", "''")], "signature"),
        (PARAMETERS[::-1], "signature"),
        (None, "skipped"),
    ],
)
def test_signatures(ours, kind):
    theirs = {"kind": "signature", "parameters": PARAMETERS}
    assert compare({"kind": "signature", "parameters": ours}, theirs).kind == kind


def test_a_row_tries_every_choice_and_some_as_methods():
    texts = [
        case.text for case in cases_of(row("paddle.sum", each(t(2), t()), axis=each(unset, 0)).over("float32", "bool"))
    ]
    assert texts[:5] == [
        "signature of paddle.sum", "paddle.sum(float32[2])", "paddle.sum(float32[2], axis=0)", "paddle.sum(float32[])",
        "paddle.sum(float32[], axis=0)",
    ]  # fmt: skip
    assert {"paddle.sum(bool[], axis=0)", "Tensor.sum(float32[], axis=0)", "Tensor.sum_(bool[2])"} <= set(texts)
    many = list(cases_of(row("paddle.f", each(*range(30)), each(*range(30))).as_function_only().limited_to(70)))
    assert len(many) == 70
    assert many == list(cases_of(row("paddle.f", each(*range(30)), each(*range(30))).as_function_only().limited_to(70)))


def test_splat_and_literals():
    (first, second) = cases_of(row("paddle.add", together((t(2), 1), (literal([1, 2], "int64"),))).as_function_only())
    assert (first.text, second.text) == ("paddle.add(float32[2], 1)", "paddle.add(int64 [1, 2])")


def test_values_depend_on_the_stand_in_alone():
    np.testing.assert_array_equal(values_of(t(2, 3), "float32"), values_of(t(2, 3), "float32"))
    assert values_of(t(3, 3, values="definite"), "float64").shape == (3, 3)
    assert values_of(t(4), "bfloat16").dtype == "float32"


def test_what_a_call_does_is_recorded():
    (case,) = cases_of(row("Tensor.add_", t(2), t(2)).as_function_only().in_place())
    record = run(vitrify, case)
    assert record["kind"] == "value"
    assert record["arguments"][0] is not None
    assert record["arguments"][1] is None
    assert [gradient[1] for gradient in record["gradients"]] == [(2,), (2,)]
    (case,) = cases_of(row("paddle.concat", 3).as_function_only())
    assert run(vitrify, case)["classes"][0] in ("TypeError", "ValueError")


def test_every_row_names_an_api_that_we_have():
    missing = []
    for table in NAMES:
        for one in rows_in(table):
            try:
                found_at(vitrify, one.api)
            except AttributeError:
                if one.call is None:
                    missing.append(one.api)
    assert not missing


def test_no_reason_covers_everything_of_a_kind_of_results():
    """A pattern that is a text by mistake, and so a tuple of characters, would."""
    for entry in deliberate.DELIBERATE:
        assert isinstance(entry.cases, tuple)
        assert "*" not in entry.cases or "error class" in entry.kinds or "backward raises" in entry.kinds


def test_the_page(monkeypatch):
    monkeypatch.setattr(deliberate, "DELIBERATE", entries := (Deliberate(("paddle.f(*",), "values", "because"),))
    monkeypatch.setattr("tests.conformance.report.DELIBERATE", entries)
    verdicts = {"f": ((1.0, 2.0), "values"), "g": ((1.0,), "shape"), "h": ((1.0, 2.0, 3.0), "shape")}
    found = [Found(f"paddle.{name}", f"paddle.{name}(x)", compare(value(tensor(ours)), value(tensor([1.0, 3.0]))))
             for name, (ours, _) in verdicts.items()]  # fmt: skip
    assert [one.verdict.kind for one in found] == [kind for _, kind in verdicts.values()]
    text = page(found, "3.3.1")
    assert "3 APIs, 3 cases: 0 agree, 0 more, 1 differ on purpose, 2 differ otherwise." in text
    assert "| 1 | `paddle.f(x)` | because |" in text
    assert "| `paddle.g` | shape | 1 | `paddle.g(x)` |" in text


@pytest.mark.slow
def test_a_run_against_vitrify_itself_agrees(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tests.conformance.__main__.PEER", "vitrify")
    out = tmp_path / "page.md"
    assert main(["--paddle", sys.executable, "--only", "paddle.exp", "--out", str(out)]) == 0
    assert "0 differ otherwise" in capsys.readouterr().out
    assert "| `paddle.exp` |" in out.read_text()


@pytest.mark.parametrize(
    ("code", "kind"), [("import time; time.sleep(60)", "timeout"), ("raise SystemExit(1)", "crash")]
)
def test_workers_that_hang_or_die_are_replaced(code, kind, monkeypatch):
    monkeypatch.setattr("tests.conformance.peer.START_SECONDS", 0.2)
    with Runner(sys.executable, "vitrify", 0.2) as runner:
        runner.command = [sys.executable, "-c", code]
        runner.ask("elementwise 0")
        assert runner.answer()["kind"] == kind
        assert runner.process is None


FOUND = """
import operator, sys, vitrify
for name in sys.argv[1:]:
    try:
        operator.attrgetter(name.removeprefix("paddle."))(vitrify)
    except AttributeError:
        continue
    print(name)
"""


def test_names_that_the_page_says_are_not_here_are_not():
    # In a process of its own: importing by the paths that `vitrify.compat` knows leaves modules under those names.
    names = " ".join(absent.ABSENT.values()).split()
    ended = subprocess.run([sys.executable, "-c", FOUND, *names], capture_output=True, text=True, check=True)
    assert ended.stdout == ""
