"""Where functions come from: files, notebooks, exec with linecache; and what is said when there is no source."""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import importlib.util
import itertools
import linecache
import sys
import textwrap
import types

import pytest

from vitrify.core.errors import UnsupportedError
from vitrify.transformers import convert_function
from vitrify.transformers.errors import NoSourceError, UnsupportedFunctionError
from vitrify.transformers.source import find_definition

from .python_helpers import PythonHelpers

COUNT = itertools.count()


def converted(fn):
    return convert_function(fn, PythonHelpers())


def cell(text, filename=None):
    """The namespace after running `text` the way a notebook runs a cell: its lines are in linecache."""
    text = textwrap.dedent(text)
    name = filename or f"<ipython-input-{next(COUNT)}-abc>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    return space


def test_notebook_cell():
    fn = cell("""
        def f(x):
            if x > 0:
                return x + 1
            return x
    """)["f"]
    assert converted(fn)(1) == 2


def test_two_cells_with_functions_of_one_name():
    first = cell("def f(x):\n    return x + 1\n")["f"]
    second = cell("def f(x):\n    return x + 2\n")["f"]
    assert [converted(first)(1), converted(second)(1)] == [2, 3]


def test_exec_with_linecache_under_the_name_string():
    fn = cell("f = lambda x: x if x > 0 else -x\n", "<string>")["f"]
    assert converted(fn)(-3) == 3
    del linecache.cache["<string>"]


def test_exec_without_source_says_so():
    space = {}
    exec("def f(x):\n    return x\n", space)
    with pytest.raises(NoSourceError, match=r"the source of function `f` .* is not available") as caught:
        find_definition(space["f"])
    assert "notebook cell" in str(caught.value) and isinstance(caught.value, UnsupportedError)


def test_a_file_that_changed_since_import(tmp_path, monkeypatch):
    path = tmp_path / "changing_module.py"
    path.write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("changing_module")
    path.write_text("# a new first line\n\n\ndef g(x):\n    return x\n")
    linecache.checkcache(str(path))
    with pytest.raises(NoSourceError, match="not what was compiled") as caught:
        find_definition(module.f)
    assert "changed since it was imported" in str(caught.value)


def test_a_file_with_the_function_at_its_line_but_another_body(tmp_path, monkeypatch):
    path = tmp_path / "edited_module.py"
    path.write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("edited_module")
    path.write_text("def f(x):\n    return x + 2\n")
    linecache.checkcache(str(path))
    with pytest.raises(NoSourceError, match="not what was compiled"):
        find_definition(module.f)


def test_a_file_that_no_longer_parses(tmp_path, monkeypatch):
    path = tmp_path / "broken_module.py"
    path.write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("broken_module")
    path.write_text("def f(x:\n    return x + 1\n")
    linecache.checkcache(str(path))
    with pytest.raises(NoSourceError, match="does not parse"):
        find_definition(module.f)


def test_lambdas_on_one_line():
    a, b, c = (lambda x: x + 1), (lambda x: x + 2), (lambda y: y + 3)
    assert [converted(f)(1) for f in (a, b, c)] == [2, 3, 4]


def test_lambdas_on_one_line_that_call_what_the_file_imports():
    """Calls of imported names compile otherwise where the import is not seen."""
    names = cell("import math as m\nfs = [lambda x: m.floor(x), lambda x: m.ceil(x), lambda x: m.fabs(x)]\n")
    assert [converted(f)(1.5) for f in names["fs"]] == [1, 2, 1.5]


def test_equal_lambdas_in_a_container_that_close_over_different_variables():
    fs = [(lambda x, k=k: x * k) for k in (1, 2, 3)]
    assert [converted(f)(2) for f in fs] == [2, 4, 6]


def test_lambda_over_several_lines():
    f = lambda x: (  # noqa: E731
        x
        + 1
    )
    assert converted(f)(1) == 2


def test_nested_lambdas():
    f = lambda x: (lambda y: y + x)  # noqa: E731
    assert converted(f)(1)(2) == 3
    assert converted(f(1))(2) == 3


if True:

    def in_block(x):
        return x + 1
else:

    def in_block(x):
        return x + 2


def twice_defined(x):
    return x + 1


FIRST = twice_defined


def twice_defined(x):
    return x + 2


def test_functions_in_blocks_and_defined_twice():
    assert converted(in_block)(1) == 2
    assert [converted(FIRST)(1), converted(twice_defined)(1)] == [2, 3]


def decorate(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args) * 2

    return wrapper


@decorate
@decorate
def decorated(x):
    return x + 1


def test_decorated_functions():
    assert converted(decorated)(1) == 8
    assert converted(decorated.__wrapped__.__wrapped__)(1) == 2


class Outer:
    class Inner:
        __hidden = 5

        def mangled(self, x):
            return self.__hidden + x

        @staticmethod
        def static(x):
            return x + 1

        @classmethod
        def of(cls, x):
            return cls.__hidden * x

        @property
        def prop(self):
            return self.__hidden

        @functools.cached_property
        def cached(self):
            return self.__hidden + 1

    def annotated(self, x: Unknown) -> Missing:  # noqa: F821
        y: Other = x  # noqa: F821
        return y


def test_members_of_classes():
    inner = Outer.Inner
    assert converted(inner.mangled)(inner(), 1) == 6
    assert converted(inner.static)(1) == 2
    assert converted(inner.of.__func__)(inner, 2) == 10
    assert converted(inner.prop.fget)(inner()) == 5
    assert converted(inner.__dict__["cached"].func)(inner()) == 6


def test_annotations_are_not_evaluated_under_the_future_import():
    assert converted(Outer.annotated)(Outer(), 3) == 3
    assert converted(Outer.annotated).__annotations__ == {"x": "Unknown", "return": "Missing"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters():
    fn = cell("def f[T](x: T) -> T:\n    return x + 1\n")["f"]
    assert converted(fn)(1) == 2


def test_generators_and_coroutines_are_refused_at_their_line():
    async def later(x):
        return x

    async def stream(x):
        yield x

    for fn, kind in ((later, "async def"), (stream, "async generators")):
        with pytest.raises(UnsupportedFunctionError, match=kind) as caught:
            converted(fn)
        assert caught.value.loc.line == fn.__code__.co_firstlineno and caught.value.hint


def test_a_function_made_from_the_code_of_another():
    copied = types.FunctionType(twice_defined.__code__, {"__name__": "elsewhere"}, "copied")
    assert converted(copied)(1) == 3


FRESH = """
import math
import numpy as np


@staticmethod
def decorated(x):
    return math.floor(x)


def managed(x):
    with np.errstate(all="ignore"):
        return np.sqrt(x) + math.pi


class Holder:
    def method(self, x):
        helper = lambda v: v + self.shift
        return helper(x)
"""


def test_functions_of_a_file_written_just_now(tmp_path):
    """What Python makes of `np.sqrt(x)` depends on how `np` came to be: the file is compiled as a whole to compare."""
    path = tmp_path / "fresh_module.py"
    path.write_text(FRESH)
    spec = importlib.util.spec_from_file_location("fresh_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for fn in (module.decorated.__func__, module.managed, module.Holder.method):
        assert find_definition(fn).node.name == fn.__name__


SHARED_LINES = """\
# before
same = lambda f: f
a = 1; first = lambda x: (
    x + a); second = lambda x: x * a
@same

# between
@same
def decorated(x):
    return \'\'\'
\'\'\' + str(x)
class Outer: shift = 1; method = lambda self, x: x + self.shift
if a:
    def inside(x): return x - a
else: other = 1
last = lambda x: -x"""


def test_statements_that_share_lines():
    space = cell(SHARED_LINES)
    assert [converted(space[name])(5) for name in ("first", "second", "inside", "last")] == [6, 5, 4, -5]
    assert converted(space["decorated"])(5) == "\n5"
    assert converted(space["Outer"].method)(space["Outer"](), 5) == 6
    places = [find_definition(space[name]).node for name in ("first", "second", "decorated", "last")]
    assert [(node.lineno, node.col_offset) for node in places] == [(3, 15), (4, 21), (9, 0), (16, 7)]


def test_no_trees_of_files_are_kept():
    """Those of all files of a program are millions of objects, which each search for cycles would go over."""
    lines = [f"def f{i}(x):\n    return x + {i} * (x - {i})\n" for i in range(500)]
    space = cell("".join(lines))
    gc.collect()
    before = sum(isinstance(held, ast.AST) for held in gc.get_objects())
    assert all(find_definition(space[f"f{i}"]).node.name == f"f{i}" for i in range(500))
    gc.collect()
    assert sum(isinstance(held, ast.AST) for held in gc.get_objects()) - before < 1000
