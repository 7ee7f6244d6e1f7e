"""Converted code is the user's file: tracebacks, debuggers, coverage and inspect show its lines and names only."""

from __future__ import annotations

import inspect
import os
import re
import sys
import traceback

import pytest

import vitrify as paddle
from vitrify.convert.api import convert

PACKAGE = os.path.dirname(paddle.__file__)


def fail():
    raise LookupError("here")


def in_branch(x):
    if x.sum() > 0:
        y = x * 2
        fail()
        return y
    return x


def in_loop(x):
    for _ in range(3):
        while x.sum() < 100:
            x = x + 1
            fail()
    return x


def in_comprehension(x):
    return [
        fail()
        for _ in range(3)
        if x.sum() > 0
    ]  # fmt: skip


def in_lambda(x):
    act = lambda y: (  # noqa: E731
        fail() if y.sum() > 0 else y
    )
    return act(x)


def in_handler(x):
    try:
        x = x + 1
        fail()
    except KeyError:
        x = x + 2
    finally:
        x = x * 2
    return x


def in_operand(x):
    return x.sum() > 0 and (
        fail()
    )  # fmt: skip


def in_match(x):
    match x.shape:
        case [n] if n > 2:
            fail()
    return x


FUNCTIONS = (in_branch, in_loop, in_comprehension, in_lambda, in_handler, in_operand, in_match)


def calling_line(fn) -> int:
    lines, start = inspect.getsourcelines(fn)
    return start + next(i for i, line in enumerate(lines) if "fail()" in line)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_a_traceback_shows_the_users_lines(fn):
    with pytest.raises(LookupError) as caught:
        paddle.jit.to_static(fn, full_graph=True)(paddle.to_tensor([1.0, 2.0, 3.0]))
    shown = places(caught.value)
    assert shown[-2:] == [(calling_line(fn), shown[-2][1]), (inspect.getsourcelines(fail)[1] + 1, "fail")]
    assert fn.__name__ in {name for _, name in shown}
    own = {"<lambda>"} if fn is in_lambda else {"<listcomp>"} if fn is in_comprehension else set()
    assert {name for _, name in shown} <= {fn.__name__, "fail", *own}


def places(err: BaseException) -> list[tuple[int, str]]:
    """Line and function of the user's frames, outermost first: of the traceback, or of what the program raised."""
    frames = traceback.extract_tb(err.__traceback__)[1:]
    found = [(f.lineno, f.name) for f in frames if not f.filename.startswith(PACKAGE)]
    assert len(frames) - len(found) == (sys.version_info < (3, 11))  # Python 3.10 keeps that of the call itself
    chain = re.findall(rf"{re.escape(__file__)}:(\d+) in (\S+)", "\n".join(getattr(err, "__notes__", [])))
    return found or [(int(line), name) for line, name in reversed(chain) if not name.startswith("test_")]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_inspect_shows_the_users_function(fn):
    converted = convert(fn)
    assert inspect.getsource(converted) == inspect.getsource(fn)
    assert inspect.signature(converted) == inspect.signature(fn)
    assert (converted.__name__, converted.__qualname__, converted.__module__) == (
        fn.__name__,
        fn.__qualname__,
        fn.__module__,
    )


def lines_run(fn, *args) -> set[int]:
    """What a coverage tool or debugger sees: the lines of this file inside `fn` that are run."""
    lines, start = inspect.getsourcelines(fn)
    seen = set()

    def watch(frame, event, argument):
        if frame.f_code.co_filename == __file__ and event == "line":
            seen.add(frame.f_lineno)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        fn_result = paddle.jit.to_static(fn, full_graph=True)(*args)
    finally:
        sys.settrace(before)
    assert fn_result is not None
    return {line - start for line in seen if start <= line < start + len(lines)}


def covered(x, flag):
    total = x * 0
    for _ in range(2):
        if flag:
            total = total + x
        else:
            total = total - x
        while total.sum() > 100:
            total = total / 2
    return total


def test_coverage_sees_the_lines_that_run():
    seen = lines_run(covered, paddle.ones([3]), True)
    assert {1, 2, 3, 4, 7, 8, 9} <= seen
    assert 6 not in seen


def test_names_of_ours_are_in_no_code_object():
    converted = convert(in_loop)
    pending, names = [converted.__code__], set()
    while pending:
        code = pending.pop()
        names.add(code.co_name)
        pending += [const for const in code.co_consts if inspect.iscode(const)]
    assert names <= {"in_loop", "<lambda>"}


def reads_before_it_sets(x):
    while True:
        held += x  # noqa: F821 - that is the test

        def inner():
            return held


def reads_in_a_function_of_its_own(x):
    def inner():
        return held + x

    while x.sum() > 0:
        x = inner()
    held = x


@pytest.mark.parametrize("fn", [reads_before_it_sets, reads_in_a_function_of_its_own])
@pytest.mark.parametrize("full_graph", [True, False])
def test_an_unset_variable_of_several_functions_is_called_what_python_calls_it(fn, full_graph):
    x = paddle.ones([2])
    with pytest.raises(NameError) as eager:
        fn(x)
    with pytest.raises(NameError) as static:
        paddle.jit.to_static(fn, full_graph=full_graph)(x)
    assert (type(static.value), str(static.value)) == (type(eager.value), str(eager.value))
    assert static.value.__suppress_context__ or static.value.__context__ is None
