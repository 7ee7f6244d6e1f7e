"""Scopes, activity, liveness and definedness, each on small functions for every way Python binds a name."""

from __future__ import annotations

import ast
import sys
import textwrap

import gast
import pytest

from vitrify.transformers.facts import activity, analyze, captured_by, free_names, scope_of
from vitrify.transformers.facts.function import FunctionFacts, constructs_in
from vitrify.transformers.names import Names, identifiers
from vitrify.transformers.nodes import Node

EVERY_BINDING = """
def f(p, /, q, *args, k=1, **kw):
    a = 1
    b: int = 2
    c += 1
    d, (e, *g) = p
    for h, i in q: pass
    with p as j, q as (l, m): pass
    try: pass
    except E as n: pass
    import o.x, y as r
    from z import s, t as u
    def v(): hidden = 1
    class w: hidden2 = 1
    if (x := 1): pass
    [hidden3 for hidden3 in p if (comp := hidden3)]
    lambda hidden4: (hidden5 := 1)
    del deleted
    annotated_only: int
    match p:
        case [aa, *bb]: pass
        case {"k": cc, **dd}: pass
        case E(ee, x=ff) | gg as hh: pass
"""


def define(text: str) -> Node:
    return gast.ast_to_gast(ast.parse(textwrap.dedent(text)).body[0])


def names_of(fn: Node) -> Names:
    return Names(identifiers(fn))


def facts_of(text: str) -> tuple[Node, FunctionFacts]:
    fn = define(text)
    return fn, analyze(fn, names_of(fn))


def test_every_way_to_bind_a_name():
    scope = scope_of(define(EVERY_BINDING))
    assert scope.params == set("pqk") | {"args", "kw"}
    expected = set("abcdeghijlmnorsuvwx") | {"comp", "deleted", "annotated_only"}
    assert scope.bound == expected | {"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"}


def test_declarations():
    scope = scope_of(define("def f():\n    global g\n    nonlocal n\n    g = n = x = 1"))
    assert (scope.globals, scope.nonlocals, scope.locals) == ({"g"}, {"n"}, {"x"})


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("def f(a): return a + b", "b"),
        ("def f(a=b): return a", ""),
        ("def f():\n    x = 1\n    return lambda y: x + y + z", "z"),
        ("def f():\n    nonlocal n\n    n = 1", "n"),
        ("def f():\n    def g():\n        nonlocal n\n        n = 1\n    n = 2", ""),
        ("def f(): return [x + y for x in z if x]", "yz"),
        ("def f(): return [x for x in x]", "x"),
        ("def f(): return {k: [v for v in k] for k in d}", "d"),
        ("def f(): return [(a := x) for x in y]", "y"),
        ("def f():\n    class A(b):\n        c = d\n        def m(self): return e, c", "bdec"),
        ("def f():\n    global g\n    return g", ""),
        ("def f():\n    x: unread\n    x = y", "y"),
        ("def f():\n    @deco\n    def g(a: ann = dflt) -> ret: pass", "deco ann dflt ret"),
        ("def f():\n    x.y[z] = 1\n    del w[v]", "xzwv"),
    ],
)
def test_free_names(text, free):
    expected = set(free.split()) if " " in free else set(free)
    assert free_names(define(text)) == expected


def act(text: str):
    fn = define("def f():\n" + textwrap.indent(text, "    "))
    return activity(fn.body, names_of(fn))


def test_lazy_operands_bind_nothing_for_sure():
    does = act("a and (b := c) or d")
    assert does.reads == {"a", "c", "d"}
    assert (does.writes, does.kills) == ({"b"}, set())


@pytest.mark.parametrize("text", ["x if t else y", "t < u < x", "assert t, x", "t or x"])
def test_lazy_forms(text):
    assert {"t", "x"} <= act(text).reads


def test_deletion_reads_and_unbinds():
    does = act("del a")
    assert does.deletes == does.writes == does.reads == {"a"}
    assert does.kills == set()


@pytest.mark.parametrize(
    ("text", "captured"),
    [
        ("g = lambda: x", "x"),
        ("def g(): return x", "x"),
        ("def g():\n    nonlocal x\n    x = 1", "x"),
        ("g = (i + x for i in y)", "x"),
        ("g = sum(i + x for i in y)", ""),
        ("g = [i + x for i in y]", ""),
        ("g = [lambda: x for i in y]", "x"),
        ("class A:\n    def m(self): return x", "x"),
        ("g = vt.convert_and(a, lambda: x)", ""),
        ("g = vt.convert_and(a, lambda: (lambda: x))", "x"),
        ("g = vt.convert_call(sum)(x for i in y)", ""),
        ("g = vt.set_attr(a, 'h', lambda: x)", "x"),
    ],
)
def test_captures(text, captured):
    fn = define("def f():\n" + textwrap.indent(text, "    "))
    names = Names(identifiers(fn) - {"vt"})
    assert captured_by(fn, names) == set(captured)


def live(text: str) -> list[set[str]]:
    """The names live before each statement of the function's body."""
    fn, facts = facts_of("def f(p):\n" + textwrap.indent(textwrap.dedent(text), "    "))
    return [set(facts.live_in(stmt)) & (facts.scope.locals - {"p"}) for stmt in fn.body]


def test_liveness_in_a_line():
    assert live("a = 1\nb = a\nreturn b") == [set(), {"a"}, {"b"}]


def test_liveness_through_branches():
    assert live("a = b = 1\nif p:\n    a = 2\nreturn a + b")[1] == {"a", "b"}
    assert live("a = b = 1\nif p:\n    a = 2\nelse:\n    a = b\nreturn a")[1] == {"b"}


def test_liveness_around_loops():
    assert live("a = b = 1\nwhile p:\n    b = a\n    a = 2\nreturn 0")[1] == {"a"}
    assert live("a = b = 1\nfor a in p:\n    b = a\nreturn b")[1] == {"b"}
    assert live("a = 1\nwhile True:\n    a = 2\n    break\nreturn a")[1] == set()


def test_liveness_with_jumps():
    assert live(
        "a = b = 1\nfor x in p:\n    if x: continue\n    if p: break\n    a = 2\nelse:\n    return b\nreturn a"
    )[1] == {
        "a",
        "b",
    }


def test_liveness_to_handlers():
    assert live("a = 1\ntry:\n    a = p()\nexcept E:\n    return a\nreturn 0")[1] == {"a"}
    assert live("a = 1\ntry:\n    a = p()\nfinally:\n    print(a)\nreturn 0")[1] == {"a"}
    assert live("a = 1\nwith suppress(E):\n    a = p()\nreturn a")[1] == {"a"}
    assert live("a = 1\nwith p:\n    a = p()\nreturn a")[1] == {"a"}
    assert live("a = 1\nwith no_grad():\n    a = p()\nreturn a")[1] == set()


def unbound(text: str) -> set[str]:
    """The names that may be unbound before the last statement."""
    fn, facts = facts_of("def f(p, q):\n" + textwrap.indent(textwrap.dedent(text), "    "))
    return set(facts.unbound_at(fn.body[-1]))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("if p:\n    a = 1\nreturn a", "a"),
        ("if p:\n    a = 1\nelse:\n    a = 2\nreturn a", ""),
        ("if p:\n    a = 1\nelse:\n    raise E\nreturn a", ""),
        ("if p:\n    a = 1\nelif q:\n    return 1\nelse:\n    a = 2\nreturn a", ""),
        ("for a in p: pass\nreturn a", "a"),
        ("while True:\n    a = 1\n    if p: break\nreturn a", ""),
        ("while p:\n    a = 1\n    break\nelse:\n    a = 2\nreturn a", ""),
        ("try:\n    a = p()\nexcept E:\n    pass\nreturn a", "a"),
        ("try:\n    a = p()\nexcept E:\n    a = 1\nreturn a", ""),
        ("try:\n    a = p()\nexcept E:\n    return 1\nreturn a", ""),
        ("try:\n    a = p()\nfinally:\n    q()\nreturn a", ""),
        ("try:\n    q()\nexcept E as a:\n    pass\nreturn a", "a"),
        ("with p as a:\n    b = 1\nreturn a, b", "b"),
        ("with open(p) as a:\n    b = 1\nreturn a, b", ""),
        ("try:\n    q()\nexcept E as a:\n    a = 1\nreturn a", "a"),
        ("for x in p:\n    try:\n        q()\n    except E as a:\n        break\nreturn a", "ax"),
        ("match p:\n    case [a] | a: b = 1\nreturn a, b", ""),
        ("with suppress(E):\n    a = 1\nreturn a", "a"),
        ("a = 1\ndel a\nreturn a", "a"),
        ("a = 1\nif p:\n    del a\nreturn a", "a"),
        ("del p\nreturn p", "p"),
        ("if (a := p): pass\nreturn a", ""),
        ("if p and (a := q): pass\nreturn a", "a"),
        ("[a := x for x in p]\nreturn a", "a"),
        ("if p:\n    a = 1\nprint(a)\nreturn a", "a"),
        ("match p:\n    case 1: a = 1\n    case _: a = 2\nreturn a", ""),
        ("match p:\n    case 1: a = 1\n    case 2: a = 2\nreturn a", "a"),
        ("match p:\n    case [a, b]: pass\n    case {'k': a, **b}: pass\n    case _: return 1\nreturn a, b", ""),
        ("match p:\n    case a if q: pass\nreturn a", "a"),
        ("import a, b.c\nfrom d import e as g\nreturn a, b, g", ""),
        ("def a(): pass\nclass b: pass\nreturn a, b", ""),
    ],
)
def test_may_be_unbound(text, names):
    assert unbound(text) == set(names)


def test_jump_through_finally_keeps_paths_apart():
    text = """
        for x in p:
            try:
                a = 1
                break
            finally:
                q()
        else:
            a = 2
        return a
    """
    assert unbound(text) <= {"x"}


def test_what_an_if_carries():
    fn, facts = facts_of(
        "def f(p):\n    a = b = 1\n    if p:\n        a = a + 1\n        c = 2\n    else:\n        c = b\n    return c"
    )
    (node,) = constructs_in(fn)
    carried = facts.of_if(node)
    assert (carried.ins, carried.outs, carried.shared) == (("a",), ("c",), ())


def test_what_a_loop_carries():
    text = "def f(p):\n    a = b = 1\n    for x in p:\n        t = x\n        a = a + t\n        b = 2\n    return b"
    fn, facts = facts_of(text)
    (node,) = constructs_in(fn)
    assert facts.of_loop(node).ins == ("a", "b")


def test_shared_variables():
    text = """
        def f(p):
            global g
            a = b = c = 1
            h = lambda: a
            try:
                if p:
                    b = c = 2
                    q()
            except E:
                return b
            return c
    """
    _, facts = facts_of(textwrap.dedent(text))
    assert facts.outlasting == {"a", "g"}
    assert facts.shared == {"a", "b", "g"}


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("if p():\n    a = q()", ""),  # what raises has not written
        ("if p():\n    a = 1\n    b = a", ""),  # nothing raises behind it
        ("if p():\n    a = 1\n    b = unknown", "a"),  # a name that is not the function's may be none
        ("if p():\n    a = 1\n    q()", "a"),
        ("if p():\n    a, (b, c) = q()", "ab"),  # taking the inner one apart fails behind storing the first
        ("if p():\n    q((a := 1), r())", "a"),
        ("for x in p():\n    a = x", "a"),  # fetching the next item raises
        ("while p():\n    a = 1", "a"),
        ("while True:\n    a = 1\n    if b:\n        break", "a"),  # asking for the truth of `b` raises
        ("if p():\n    with q():\n        a = 1", "a"),  # leaving the `with` raises
        ("if p():\n    try:\n        a = 1\n    finally:\n        q()", "a"),
        ("if p():\n    try:\n        q()\n    except F:\n        a = 1", ""),
    ],
)
def test_what_a_handler_sees_of_a_construct_that_fails(body, shared):
    tried = textwrap.indent(body, " " * 8)
    text = f"def f():\n    a = b = c = 0\n    try:\n{tried}\n    except E:\n        return a, b"
    _, facts = facts_of(text)
    assert facts.shared == set(shared)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* is from Python 3.11")
def test_except_star():
    assert unbound("try:\n    a = p()\nexcept* E:\n    pass\nreturn a") == {"a"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are from Python 3.12")
def test_type_statement():
    assert unbound("type A = int\nreturn A") == set()
