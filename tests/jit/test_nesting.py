"""Building a program costs no more than the square of how deep its branches lie in one another."""

import linecache
import sys

import vitrify as paddle


def early_returns(count):
    """A function that may return at `count` places: what is behind each of them lies in one more branch."""
    tests = "".join(f"    if x.sum() > {i}:\n        return x * {i}\n    x = x * 0.9\n" for i in range(count))
    source, filename = f"def f(x):\n{tests}    return x\n", f"<{count} early returns>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    found = {}
    exec(compile(source, filename, "exec"), found)
    return found["f"]


def calls_to_build(count):
    """How many Python functions are called until the program has run once: no clock tells it so well."""
    made = 0

    def count_calls(frame, event, arg):
        nonlocal made
        made += event == "call"

    static = paddle.jit.to_static(early_returns(count), full_graph=True)
    x = paddle.to_tensor([0.1, 0.2], stop_gradient=False)
    before = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        static(x)
    finally:
        sys.setprofile(before)
    return made


def test_twice_as_deep_costs_four_times_at_most():
    calls_to_build(2)  # what is looked up once only
    assert calls_to_build(48) < 4.5 * calls_to_build(24)
