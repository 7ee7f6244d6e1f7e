"""The fuzzer itself: what it writes, that it sees a planted bug, that shrinking keeps what matters."""

import ast
from collections import Counter
from contextlib import suppress
from functools import cache

import pytest

from tests.fuzz.__main__ import described, main
from tests.fuzz.grammar import RULES, WIDE_FROM
from tests.fuzz.idioms import FRAGMENTS
from tests.fuzz.program import write_program
from tests.fuzz.shrink import shrink
from tests.fuzz.statements import ITERABLES
from tests.fuzz.verdict import TookTooLong, Verdict, judge, time_limit
from vitrify.convert.helpers import VitrifyHelpers

SAMPLE = range(1000)


@cache
def programs():
    return [write_program(seed) for seed in SAMPLE]


def test_a_seed_gives_one_program():
    assert write_program(7) == write_program(7)
    assert len({program.source for program in programs()}) == len(SAMPLE)


def test_the_whole_grammar_is_used():
    wide = [write_program(seed) for seed in range(WIDE_FROM, WIDE_FROM + 1000)]
    used = Counter(name for program in [*programs(), *wide] for name in program.used)
    rules = {rule.name for found in RULES.values() for rule in found}
    rules |= {f"for:{form}" for form in ITERABLES} | {f"idiom:{n}" for n in range(len(FRAGMENTS))}
    assert not rules - set(used), f"{len(rules)} rules"


def depth_of_loops(node):
    inside = max((depth_of_loops(child) for child in ast.iter_child_nodes(node)), default=0)
    return inside + isinstance(node, (ast.For, ast.While))


def test_programs_are_not_trivial():
    trees = [ast.parse(program.source) for program in programs()]
    functions = [next(s for s in t.body if isinstance(s, ast.FunctionDef) and s.name == "f") for t in trees]
    met = Counter(kind for f in functions for kind in {type(node) for node in ast.walk(f)})
    for kind in (ast.If, ast.For, ast.While, ast.Break, ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.Subscript):
        assert met[kind] > len(SAMPLE) / 10, kind
    for kind in (
        ast.Continue,
        ast.Try,
        ast.With,
        ast.Match,
        ast.NamedExpr,
        ast.Nonlocal,
        ast.GeneratorExp,
        ast.AugAssign,
    ):
        assert met[kind] > len(SAMPLE) / 40, kind
    depths = Counter(map(depth_of_loops, functions))
    assert depths[2] > len(SAMPLE) / 10
    assert depths[3] > len(SAMPLE) / 100
    branching = [sum(isinstance(n, (ast.If, ast.For, ast.While)) for n in ast.walk(f)) for f in functions]
    assert sum(branching) / len(branching) > 3


PLANTED = """
import vitrify as paddle

def f(x, unused):
    y = x * 2
    for i in range(3):
        z = y + i
        if (z.sum() > 100) if y.sum() > 0 else (z.sum() > -100):
            y = y + 1
        else:
            y = y - 1
    return y, z

CALLS = [(paddle.to_tensor([1.0, 2.0]), 3), (paddle.to_tensor([-1.0, 2.0]), 4)]
"""


def test_a_planted_bug_is_found_and_shrunk(monkeypatch):
    assert judge(PLANTED).word == "agree"
    right = VitrifyHelpers.convert_ifexp
    wrong = staticmethod(lambda test, then, orelse: right(test, orelse, then))
    monkeypatch.setattr(VitrifyHelpers, "convert_ifexp", wrong)
    verdict = judge(PLANTED)
    assert (verdict.word, verdict.kind) == ("differ", "result")
    small = shrink(PLANTED, lambda source: judge(source).kind == "result", seconds=20)
    function = next(s for s in ast.parse(small).body if isinstance(s, ast.FunctionDef))
    assert len(function.args.args) == 1
    assert " if " in small
    assert len(ast.unparse(function).split("\n")) < 10


def test_planted_bugs_are_found_in_random_programs(monkeypatch):
    right = VitrifyHelpers.convert_while
    wrong = staticmethod(lambda test, body, values, *rest: right(test, body, values, *rest)[::-1])
    monkeypatch.setattr(VitrifyHelpers, "convert_while", wrong)
    assert any(judge(write_program(seed).source).word != "agree" for seed in range(30))


def test_shrinking_keeps_the_property_and_ends():
    source = "def g(a):\n    for i in range(9):\n        if a > i:\n            a = a * 2 + len(str(i))\n    return a\n"
    small = shrink(source, lambda text: "len(" in text)
    assert len(small) < len(source) / 3
    assert "len(str)" in small
    assert shrink("a = 1\n", lambda text: False) == "a = 1\n"


def test_endless_programs_are_stopped(monkeypatch):
    monkeypatch.setattr("tests.fuzz.verdict.SECONDS", 0.2)
    source = "def f():\n    while True:\n        pass\n\nCALLS = [()]\n"
    assert judge(source).kind == "endless"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("return x.nonsense", "invalid"),
        ("raise KeyError('a')", "agree"),
        ("return {x.sum().item() for _ in range(2)}.pop() > 0 and x", None),
    ],
)
def test_verdicts(body, word):
    source = f"import vitrify as paddle\n\ndef f(x):\n    {body}\n\nCALLS = [(paddle.to_tensor([1.0]),)]\n"
    found = judge(source)
    assert word is None or found.word == word
    assert judge("def f(:").word == "invalid"


def test_the_command_line(capsys):
    assert main(["--count", "2", "--seed", "1", "--shrink", "0", "--grammar", "--show"]) in (0, 1)
    text = capsys.readouterr().out
    assert "2 programs in" in text
    assert "def f(" in text
    assert "simple:assign" in text


def test_a_difference_is_described_with_its_source():
    text = described(write_program(1), Verdict("agree"), seconds=1)
    assert "seed 1" in text
    assert "def f(" in text


def test_a_limit_that_came_where_no_exception_gets_out_comes_again():
    with pytest.raises(TookTooLong), time_limit(0.01):
        with suppress(TookTooLong):
            while True:
                pass
        while True:
            pass
