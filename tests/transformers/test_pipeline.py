"""What a converted function looks like from outside: names, cells, lines, errors."""

from __future__ import annotations

import linecache
import traceback
from types import FunctionType

import pytest

from tests.transformers.python_helpers import PythonHelpers
from vitrify.transformers import (
    NoSourceError,
    UnsupportedFunctionError,
    convert_code,
    convert_function,
    is_converted,
    source_of,
    stage_sources,
)
from vitrify.transformers.pipeline import PIPELINE

HELPERS = PythonHelpers()


def convert(fn: FunctionType) -> FunctionType:
    return convert_function(fn, HELPERS)


def absolute(x: float, *, scale: float = 1.0) -> float:
    """The size of x."""
    if x < 0:
        x = -x
    return x * scale


def test_plainest_use():
    converted = convert(absolute)
    assert converted(-3.0) == 3.0
    assert "vt.convert_ifelse(x < 0" in source_of(converted)


def test_looks_like_the_original():
    absolute.note = "kept"
    converted = convert(absolute)
    for attribute in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__kwdefaults__"):
        assert getattr(converted, attribute) == getattr(absolute, attribute)
    assert converted.note == "kept"
    assert converted.__globals__ is absolute.__globals__
    assert converted(2, scale=3) == 6
    assert converted.__code__.co_name == "absolute"


def test_shares_closure_cells():
    total = 1

    def add(n):
        nonlocal total
        if n:
            total += n
        return total

    converted = convert(add)
    assert converted(5) == 6
    assert total == 6
    total = 0
    assert converted(1) == add(0) == 1


def test_sees_live_globals():
    def read():
        return SWITCH if SWITCH else "off"

    global SWITCH  # noqa: PLW0603 - what is tested
    converted = convert(read)
    SWITCH = "one"
    assert converted() == "one"
    SWITCH = None
    assert converted() == "off"


SWITCH: str | None = None


def fails_deep(xs):
    total = 0
    for x in xs:
        while x > 0:
            if x == 2:
                total += 1 / (x - 2)
            x -= 1
    return total


def test_traceback_shows_the_users_lines():
    first = fails_deep.__code__.co_firstlineno
    with pytest.raises(ZeroDivisionError) as info:
        convert(fails_deep)([3])
    frames = [frame for frame in traceback.extract_tb(info.tb) if frame.filename == __file__]
    assert frames[-1].line == "total += 1 / (x - 2)"
    assert frames[-1].lineno == first + 5
    assert {frame.name for frame in frames} <= {"fails_deep", "test_traceback_shows_the_users_lines"}


def test_traceback_columns():
    with pytest.raises(ZeroDivisionError) as info:
        convert(fails_deep)([3])
    frame = [frame for frame in traceback.extract_tb(info.tb) if frame.filename == __file__][-1]
    if getattr(frame, "colno", None) is not None:  # Python 3.11
        line = linecache.getline(__file__, frame.lineno)
        assert line[frame.colno : frame.end_colno] == "1 / (x - 2)"


def test_each_construct_raises_at_its_line():
    def f(kind):
        if kind == 0:
            return {}[1]
        xs = {}
        for x in range(3):
            if kind == 1:
                xs[kind].append(x)
        assert kind != 2, "message"
        return kind > 2 and int("no")

    first = f.__code__.co_firstlineno
    for kind, offset in ((0, 2), (1, 6), (2, 7), (3, 8)):
        for fn in (f, convert(f)):
            with pytest.raises((IndexError, KeyError, AssertionError, ValueError)) as info:
                fn(kind)
            lines = [frame.lineno for frame in traceback.extract_tb(info.tb) if frame.filename == __file__]
            assert lines[-1] == first + offset, (kind, fn)


def test_lambdas_on_one_line():
    fs = [lambda x: x + 1, lambda x: x - 1, lambda x: x if x else 5, lambda y: y + 1, lambda x: x + 1]
    assert [convert(f)(0) for f in fs] == [1, -1, 5, 1, 1]


def test_nested_lambdas_on_one_line():
    f = lambda x: lambda y: x or y  # noqa: E731
    assert convert(f)(0)(3) == convert(f(0))(3) == 3


def test_lambda_with_defaults():
    k = 2
    f = lambda x, y=(lambda: 1), *a, z=k: x and y() and z  # noqa: E731
    assert convert(f)(3) == 2


def decorate(fn):
    def inner(*args):
        return fn(*args)

    inner.original = fn
    return inner


def test_decorators_are_stripped():
    @decorate
    @decorate
    def f(x):
        return x if x else "zero"

    original = f.original.original
    converted = convert(original)
    assert converted(0) == "zero"
    assert "decorate" not in source_of(converted)


def test_multiline_strings_keep_their_text():
    def f(x):
        if x:
            text = """a
        b
  c"""
        else:
            text = ""
        return text

    assert convert(f)(1) == f(1)


def test_private_names():
    class Vault:
        def __init__(self):
            self.__gold = 1

        def add(self, __n):
            def inner():
                return __n

            if inner() > 1:
                self.__gold += __n
                self.__items = [0]
                self.__items[0] = 5
            return self.__gold

    assert convert(Vault.add)(Vault(), 4) == 5


def test_helper_name_does_not_clash():
    def f(vt):
        if vt:
            vt = vt + 1
        return vt

    converted = convert(f)
    assert converted(1) == 2
    assert "vt_1.convert_ifelse" in source_of(converted)


def test_generated_names_do_not_clash():
    def f(x):
        then = result = 1
        for body in range(3):
            if body == x:
                return then, result
        return body

    assert [convert(f)(x) for x in (1, 7)] == [(1, 1), 2]


def test_nothing_to_convert_stays():
    def f(a, b):
        c = a * b
        return c[0] + 1

    text = source_of(convert(f))
    assert "vt" not in text


def test_returns_outside_of_branches_stay():
    def f(x):
        try:
            return int(x)
        except ValueError:
            return None

    text = source_of(convert(f))
    assert text.count("return") == 2
    assert "result" not in text


def test_no_flags_for_returns_at_the_ends_of_branches():
    def f(x):
        if x > 0:
            return 1
        if x == 0:
            return 0
        return -1

    text = source_of(convert(f))
    assert "returned" not in text
    assert "Undefined" not in text


def test_nested_functions_are_converted_in_place():
    def f(x):
        def g(y):
            return y if y else x

        return g

    inner = convert(f)(3)
    assert is_converted(inner, HELPERS)
    assert inner(0) == 3
    assert not is_converted(f, HELPERS)


def test_code_is_converted_once_and_bound_often():
    def make(k):
        def f(x):
            return x * k if x else k

        return f

    record = convert_code(make(1))
    assert [record.bind(make(k), HELPERS)(0) for k in (1, 2)] == [1, 2]


def test_recursive_function_calls_its_own_cell():
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    assert convert(fact)(5) == 120


def test_stages_are_listed_in_order():
    names = [name for name, _ in stage_sources(absolute)]
    assert names == [name for name, _ in PIPELINE]


def test_no_source():
    namespace: dict[str, FunctionType] = {}
    exec("def typed(x):\n    return x", namespace)
    with pytest.raises(NoSourceError, match=r"source of function `typed`.*not available") as info:
        convert(namespace["typed"])
    assert "exec()" in str(info.value)


def test_texts_of_one_name():
    """Every text given to exec() is called <string>; `python -c` leaves its own lines under that name."""
    text = "def typed(x):\n    return x + 1\n"
    linecache.cache["<string>"] = (len(text), None, text.splitlines(keepends=True), "<string>")
    try:
        own: dict[str, FunctionType] = {}
        exec(text, own)
        assert convert(own["typed"])(1) == 2
        for other in ("def typed(x):\n    return x * 7", "def another(x):\n    return x"):
            exec(other, own)
            with pytest.raises(NoSourceError, match="not available"):
                convert(own[other[4:].partition("(")[0]])
    finally:
        del linecache.cache["<string>"]


def test_source_from_linecache():
    text = "def cell(x):\n    if x:\n        return 'yes'\n    return 'no'\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    namespace: dict[str, FunctionType] = {}
    exec(compile(text, "<cell 1>", "exec"), namespace)
    assert convert(namespace["cell"])(0) == "no"


def test_changed_source():
    text = "def moved(x):\n    return x\n"
    linecache.cache["<cell 2>"] = (len(text), None, ["# new line\n", *text.splitlines(keepends=True)], "<cell 2>")
    namespace: dict[str, FunctionType] = {}
    exec(compile(text, "<cell 2>", "exec"), namespace)
    with pytest.raises(NoSourceError, match="not what was compiled"):
        convert(namespace["moved"])


def test_source_that_does_not_parse():
    text = "def broken(x):\n    return x\n"
    linecache.cache["<cell 3>"] = (1, None, ["def broken(x:\n"], "<cell 3>")
    namespace: dict[str, FunctionType] = {}
    exec(compile(text, "<cell 3>", "exec"), namespace)
    with pytest.raises(NoSourceError, match="does not parse"):
        convert(namespace["broken"])


def test_coroutines_are_refused():
    async def coroutine():
        return 1

    async def agen():
        yield 1

    for fn, kind in ((coroutine, "coroutines"), (agen, "async generators")):
        with pytest.raises(UnsupportedFunctionError, match=kind) as info:
            convert(fn)
        assert info.value.loc.line == fn.__code__.co_firstlineno


def test_unset_variable_names_itself():
    def f(x):
        if x:
            y = 1
        return y

    with pytest.raises(UnboundLocalError, match="'y'"):
        convert(f)(0)


def test_future_annotations_and_type_hints_are_not_evaluated():
    def f(x: undefined_type, y: also_undefined = 3) -> nothing:  # noqa: F821
        z: whatever = x if x else y  # noqa: F821
        return z

    assert convert(f)(0) == 3


def test_every_call_goes_through_the_helper():
    helpers = PythonHelpers(deep=False)

    def f(x):
        print(end="")
        if len([x]) > 0:
            return abs(x)
        return str(x)

    assert convert_function(f, helpers)(-1) == 1
    assert helpers.calls == [print, len, abs]


def _(text: str) -> str:
    return text.upper()


def test_global_named_like_no_class():
    def f(x):
        return _(x) if x else _("none")

    assert convert(f)("") == "NONE"
    assert convert(_)("a") == "A"


def test_function_that_uses_its_name_and_class():
    class Node:
        def make(self):
            return Node() if self else None

        def super_unbound():
            return super()

    assert isinstance(convert(Node.make)(Node()), Node)
    with pytest.raises(RuntimeError):
        convert(Node.super_unbound)()


def test_super_outside_of_a_class():
    class Base:
        def size(self):
            return 2

    class Node(Base):
        def size(self):
            return 3

    def size_of_base(self):
        return super(Node, self).size() if self else None

    assert convert(size_of_base)(Node()) == 2

    def bare(self):
        return super().size()

    with pytest.raises(RuntimeError, match="super"):
        convert(bare)(Node())


def test_empty_cell():
    def f():
        return later if later else 0

    converted = convert(f)
    with pytest.raises(NameError):
        converted()
    assert not is_converted(f, HELPERS)
    later = 3
    assert converted() == later
