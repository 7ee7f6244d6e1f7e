"""The converted code of each construct, as text. `pytest --update-golden` rewrites the files; review them as source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transformers import golden_constructs
from tests.transformers.python_helpers import PythonHelpers
from vitrify.transformers import convert_code, convert_function, source_of

FOLDER = Path(__file__).parents[1] / "golden" / "transformers"
HEADER = "# fmt: off\n# ruff: noqa\n"


def if_else(x, y):
    if x > y:
        x = x - y
    else:
        z = y
        y = z - x
    return x, y


def if_return(x):
    if x > 0:
        return x
    x = x + 1
    return -x


def if_unset(x):
    if x > 0:
        y = 1
    return y


def while_loop(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def for_loop(xs):
    total = 0
    for i, x in enumerate(xs):
        total += i * x
    return total


def for_break_else(xs, wanted):
    for x in xs:
        if x == wanted:
            break
    else:
        x = None
    return x


def for_continue(xs):
    total = 0
    for x in xs:
        if x < 0:
            continue
        total += x
    return total


def while_true_break(x):
    while True:
        x = x / 2
        if x < 1:
            break
    return x


def loop_return(xs):
    for x in xs:
        if x > 0:
            return x
    return None


def logic(a, b, c):
    return (a and b) or not c, a if b else c


def compare(x, n):
    return 0 <= x < len(n) != 3


def calls(f, x):
    y = f(x, *x, k=1)
    return super_free(y).method().attribute


def raising(x, cause):
    if x < 0:
        raise ValueError(f"negative: {x:.2f}") from cause
    try:
        x = 1 / x
    except ZeroDivisionError:
        x = 0
        raise
    return x


def text(x, width):
    return f"{x!r:>{width}} of " + "%s" % x + ", ".join(str(y) for y in x)  # noqa: UP031


def assertion(x):
    assert x > 0, f"bad {x}"
    return x


def stores(self, xs, i, v):
    self.h = v
    self.n += 1
    xs[i] = v
    xs[1:3] += v
    self.items[i] = v
    del xs[0], self.h
    return xs.shape[0]


def shared(n):
    def inc():
        nonlocal n
        n += 1

    if n > 0:
        n = 0
        inc()
    return n


def handler(x):
    y = 0
    try:
        if x > 0:
            y = 1
            x = x[0]
    except TypeError:
        return y
    return x


def match_values(x):
    match x:
        case 0 | 1:
            y = "small"
        case None:
            y = "none"
        case n if n > 5:
            y = "large"
        case _:
            y = "other"
    return y


def match_patterns(shape):
    match shape:
        case [x, 0] if x > 1:
            return x
        case Point(x=None, y=[y, *rest]) | {"y": y, **rest}:
            return y, rest


def comprehensions(xs, ys):
    pairs = [x * y for x in xs if x > 0 for y in ys(x) if y]
    index = {k: v + 1 for k, v in enumerate(pairs)}
    names = {a for a, (b, *c) in xs}
    return any(x > 1 for x in pairs), index, names, [x for x in xs if (z := x)], z


def generator(xs):
    for x in xs:
        if x > 0:
            y = x
        else:
            y = -x
        if y > 5:
            return
        yield y
    yield from xs


def walrus(x):
    if x > 0 and (y := x * 2) > 4:
        return y
    return x


method = golden_constructs.Child.forward
super_free: Callable[..., object] = object
Point: Callable[..., object] = object
FUNCTIONS = (
    if_else, if_return, if_unset, while_loop, for_loop, for_break_else, for_continue, while_true_break, loop_return,
    logic, compare, calls, assertion, raising, text, stores, shared, handler,
    match_values, match_patterns, comprehensions, generator, walrus, *golden_constructs.FUNCTIONS,
)  # fmt: skip


def try_around_calls(read, xs):
    """Where a tensor may let a called function raise what the handler catches."""
    total = 0
    try:
        for x in xs:
            total += read(x) * 2
        first = read(xs[0])
    except (KeyError, ValueError) as error:
        first = str(error)
    return total, first


def called_in_try(x, check):
    """What such a call calls: its own calls may raise as well."""
    if x < 0:
        raise ValueError("negative")
    y = check(x) + check(-x)
    return y if y > 0 else check(y)


def chosen_managers(x, choose, auto_cast):
    """Where a tensor chooses the context manager, and the flag of another."""
    with choose(x) as scale, auto_cast(enable=x > 0):
        y = x * scale
    return y


def golden(name, text, request):
    path = FOLDER / f"{name}.py"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert path.read_text() == text


@pytest.mark.parametrize("fn", (*FUNCTIONS, method), ids=lambda fn: fn.__name__)
def test_golden(fn, request):
    golden(fn.__name__, HEADER + source_of(convert_function(fn, PythonHelpers())), request)


@pytest.mark.parametrize(
    ("fn", "is_called"), [(try_around_calls, False), (called_in_try, True), (chosen_managers, False)]
)
def test_golden_of_what_another_conversion_needs(fn, is_called, request):
    lines = range(fn.__code__.co_firstlineno, fn.__code__.co_firstlineno + 12)
    code = convert_code(fn, raising=is_called, deep_tries=frozenset(lines))
    golden(fn.__name__, HEADER + code.source, request)


def test_a_generator_that_gives_its_items(request):
    golden("pushed_generator", HEADER + convert_code(generator, pushing=True).source, request)
