"""Built-in functions made of machine code, and what they know of how objects lie in memory."""

import gc
import sys
import tracemalloc
from contextvars import ContextVar, copy_context

import numpy as np
import pytest

from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.objects import (
    CONTIGUOUS,
    SIGNATURES,
    WRITABLE,
    Builtin,
    define,
    layout_is_known,
    method_at,
    offset_of,
)


class Pair:
    __slots__ = ("__dict__", "__weakref__", "first", "second")


class Named(Pair):
    __slots__ = ()
    second_of_all = None


def swapping():
    """A function that gives a new Pair with the slots of one exchanged, None for what is no Pair."""
    w = Builtin()
    x = w.argument(0)
    with w.unless(w.same("%count", "1", "i64"), w.same("%names", "null")):
        w.give(w.held(None))
    with w.unless(w.is_instance(x, Pair)):
        w.give(w.held(None))
    made = w.new_object(Pair)
    with w.when(w.same(made, "null")):
        w.leave("ptr null")
    w.set_slot(made, Pair, "first", w.slot(x, Pair, "second"))
    w.set_slot(made, Pair, "second", w.slot(x, Pair, "first"))
    w.leave(f"ptr {made}")
    return w.made()


def test_a_function_reads_and_fills_slots():
    swap = swapping()
    pair = Pair()
    pair.first, pair.second = "a", ["b"]
    found = swap(pair)
    assert found is not pair
    assert type(found) is Pair
    assert (found.first, found.second) == (["b"], "a")
    assert found.first is pair.second
    found.other = 1
    assert vars(found) == {"other": 1}
    assert swap(1) is None
    assert swap(Named()) is None
    assert swap(pair, pair) is None
    assert swap(pair, name=1) is None


def test_references_are_counted():
    swap = swapping()
    held = object()
    pair = Pair()
    pair.first = pair.second = held
    before = sys.getrefcount(held), sys.getrefcount(Pair)
    found = [swap(pair) for _ in range(100)]
    assert sys.getrefcount(held) - before[0] == 200
    del found
    for _ in range(100):
        swap(1)
    gc.collect()
    assert sys.getrefcount(held) == before[0]
    assert sys.getrefcount(Pair) == before[1]


def test_equal_functions_share_their_code():
    assert swapping() is not swapping()
    w = Builtin()
    w.give(w.held("one"))
    other = Builtin()
    other.give(other.held("another"))
    assert w.address() == other.address()
    assert (w.made()(), other.made()()) == ("one", "another")


def twice(dtype):
    w = Builtin()
    array = w.argument(0)
    ok = w.is_instance(array, np.ndarray), w.same(w.descr(array), w.held(dtype)), w.has_flags(array, WRITABLE)
    with w.unless(*ok):
        w.give(w.held(None))
    with w.unless(w.same(w.ndim(array), "2", "i32"), w.has_flags(array, CONTIGUOUS)):
        w.give(w.held(None))
    with w.unless(w.same(w.size(array, 0), "2", "i64"), w.same(w.stride(array, 0), "24", "i64")):
        w.give(w.held(None))
    made = w.new_array(w.held(dtype), 2, w.constant([2, 3]))
    with w.when(w.same(made, "null")):
        w.leave("ptr null")
    source, target = w.data(array), w.data(made)
    with w.loop(6) as i:
        x = w.load(source, i, "double")
        w.store(w.value(f"fadd double {x}, {x}"), target, i, "double")
    w.leave(f"ptr {made}")
    return w.made()


def test_arrays_are_read_and_made():
    function = twice(np.dtype(np.float64))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(function(x), 2 * x)
    assert function(x).flags.owndata
    others = x.astype(np.float32), x.T, x[0], x[:, ::-1], np.zeros((3, 3)), x.view(np.matrix)
    assert [function(y) for y in others] == [None] * len(others)
    x.flags.writeable = False
    assert function(x) is None


def test_arrays_are_given_up():
    function, x = twice(np.dtype(np.float64)), np.ones((2, 3))
    function(x)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    dtype = sys.getrefcount(x.dtype)
    for _ in range(1000):
        function(x)
    assert tracemalloc.get_traced_memory()[0] - before < 1000
    tracemalloc.stop()
    assert abs(sys.getrefcount(x.dtype) - dtype) < 10


def test_context_variables_are_those_of_the_caller():
    mode = ContextVar("mode", default="off")
    w = Builtin()
    with w.when(w.context_is(mode, "off")):
        w.give(w.held(True))
    w.give(w.held(False))
    is_off = w.made()
    assert is_off() is True

    def inside():
        mode.set("on")
        return is_off()

    assert copy_context().run(inside) is False
    assert is_off() is True


def test_what_a_function_holds_lives_as_long_as_it():
    class Held:
        gone = False

        def __del__(self):
            Held.gone = True

    w = Builtin()
    w.give(w.held(Held()))
    function = w.made()
    del w
    gc.collect()
    assert not Held.gone
    assert isinstance(function(), Held)
    del function
    gc.collect()
    assert Held.gone


def test_a_function_outlives_what_knows_its_code():
    """As at the end of a process, where modules go before what they made: functions looked at freed memory then."""
    function = swapping()
    name = function.__name__
    method_at.cache_clear()
    others = [method_at(i, name=b"another") for i in range(1, 1000)]
    assert function.__name__ == name != others[0].name.decode()


def test_errors_of_python_pass_through():
    w = Builtin()
    w.leave(f"ptr {w.capi('PyObject_GetAttr', w.argument(0), w.held('missing'))}")
    with pytest.raises(AttributeError, match="missing"):
        w.made()(object())


def test_functions_of_our_own_are_called_by_name():
    first = Builtin("of_our_own")
    first.give(first.held(7))
    define({"of_our_own_too": first.address()})
    holder = (7,)
    w = Builtin()
    w.leave(f"ptr {w.own('of_our_own_too', 'ptr', f'ptr {w.held(holder)}', 'ptr null', 'i64 0', 'ptr null')}")
    assert w.made()() == 7


def test_only_slots_have_a_place():
    assert offset_of(Named, "first") == offset_of(Pair, "first") != offset_of(Pair, "second")
    with pytest.raises(NoNativeForm, match="no slot"):
        offset_of(Named, "second_of_all")
    with pytest.raises(NoNativeForm, match="no slot"):
        offset_of(Named, "third")


def test_the_layout_of_arrays_is_what_the_code_reads():
    assert layout_is_known()


def test_a_function_that_this_python_lacks(monkeypatch):
    monkeypatch.setitem(SIGNATURES, "PyOf_Later", "ptr ()")
    w = Builtin()
    w.leave(f"ptr {w.capi('PyOf_Later')}")
    with pytest.raises(NoNativeForm, match="PyOf_Later"):
        w.made()
