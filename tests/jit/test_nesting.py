"""Building a program costs no more than the square of how deep its branches lie in one another."""

import linecache
import sys

import pytest

import vitrify as paddle


def early_returns(count):
    """A function that may return at `count` places: what is behind each of them lies in one more branch."""
    tests = "".join(f"    if x.sum() > {i}:\n        return x * {i}\n    x = x * 0.9\n" for i in range(count))
    return f"def f(x):\n{tests}    return x\n"


def conditions(count):
    """A function with `count` conditions in a row, each of which is evaluated where those before it hold."""
    return f"def f(x):\n    return x * 2 if {' and '.join(f'x[{i % 2}] < {i + 1}' for i in range(count))} else x\n"


def nested_conditions(count):
    """A function with `count` conditions, each of which has the rest for an operand."""
    condition = "x.max() > 0"
    for i in range(count):
        condition = f"(x[{i % 2}] < {i + 1} {('and', 'or')[i % 2]} {condition})"
    return f"def f(x):\n    return x * 2 if {condition} else x\n"


def made(source):
    """The function `f` of a source."""
    filename = f"<{hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    found = {}
    exec(compile(source, filename, "exec"), found)
    return found["f"]


def calls_to_build(source):
    """How many Python functions are called until the program has run once: no clock tells it so well."""
    calls = 0

    def count_calls(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    static = paddle.jit.to_static(made(source), full_graph=True)
    x = paddle.to_tensor([0.1, 0.2], stop_gradient=False)
    before = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        static(x)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("kind", [early_returns, conditions, nested_conditions])
def test_twice_as_deep_costs_four_times_at_most(kind):
    calls_to_build(kind(2))  # what is looked up once only
    assert calls_to_build(kind(48)) < 4.5 * calls_to_build(kind(24))
