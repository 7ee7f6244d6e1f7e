"""Scopes and what they hold."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import vitrify as paddle
from vitrify import static
from vitrify.runtime.scope import Scope

CPU = paddle.CPUPlace()


def test_a_variable_is_made_once_and_found_again():
    scope = Scope()
    var = scope.var("w")
    assert scope.var("w") is var and scope.find_var("w") is var and scope.find_var("v") is None
    assert scope.local_var_names() == ["w"] and scope.size() == 1


def test_a_tensor_has_paddles_surface():
    tensor = Scope().var("w").get_tensor()
    assert not tensor._is_initialized() and tensor.shape() == [0] and np.array(tensor).size == 0
    tensor.set(np.arange(6, dtype="float32").reshape(2, 3), CPU)
    assert tensor._is_initialized() and tensor.shape() == [2, 3] and tensor._numel() == 6
    assert tensor._dtype() is paddle.float32 and tensor._place().is_cpu_place() and len(tensor) == 2
    assert np.array(tensor).tolist() == [[0, 1, 2], [3, 4, 5]] and np.array(tensor[1]).tolist() == [3, 4, 5]
    assert np.asarray(tensor, dtype="float64").dtype == np.float64
    assert "shape: [2, 3]" in str(tensor) and "data: [0.0 1.0" in str(tensor)
    tensor.set_lod([[0, 1, 2]])
    assert tensor.lod() == [[0, 1, 2]]
    tensor._clear()
    assert not tensor._is_initialized() and str(tensor) == "<DenseTensor without a value>"


def test_a_tensor_shares_memory_with_nobody():
    tensor = Scope().var("w").get_tensor()
    source = np.ones(3, "float32")
    tensor.set(source, CPU)
    source[0] = 9
    np.asarray(tensor)[1] = 9
    tensor.numpy()[2] = 9
    assert tensor.tolist() == [1, 1, 1]
    other = tensor._copy()
    other.set([5], CPU)
    assert tensor.tolist() == [1, 1, 1] and other.tolist() == [5]
    other._share_data_with(tensor)
    assert other.tolist() == [1, 1, 1]


@pytest.mark.parametrize("value", ["abc", np.array(["a"], object), None, [[1], [1, 2]]])
def test_a_tensor_holds_numbers(value):
    with pytest.raises((TypeError, ValueError)):
        Scope().var("w").get_tensor().set(value, CPU)


@given(arrays(st.sampled_from(["float32", "float64", "int64", "bool", "complex64"]), array_shapes(min_side=0)))
def test_what_is_stored_is_what_is_read(array):
    tensor = Scope().var("w").get_tensor()
    tensor.set(array, CPU)
    read = np.array(tensor)
    assert read.dtype == array.dtype and tensor.shape() == list(array.shape) and read.tobytes() == array.tobytes()


def test_a_child_sees_its_parents_and_hides_them():
    root = Scope()
    kid = root.new_scope()
    root.var("a").set([1])
    assert kid.find_var("a") is root.find_var("a") and kid.local_var_names() == []
    kid.var("a").set([2])
    assert root.value_of("a").tolist() == [1] and kid.value_of("a").tolist() == [2]
    kid.erase(["a", "never there"])
    assert kid.value_of("a").tolist() == [1] and kid.root() is root


def test_names_are_text():
    for ask in (Scope().var, Scope().find_var):
        with pytest.raises(TypeError, match="has a name \\(str\\), but received int"):
            ask(3)


def test_a_missing_value_says_what_is_there():
    scope = Scope()
    scope.var("weight").set([1])
    with pytest.raises(ValueError, match=r"'wieght' has no value in this scope\n  hint: did you mean 'weight'\?"):
        scope.value_of("wieght")
    scope.var("empty")
    with pytest.raises(ValueError, match="run the startup program first"):
        scope.value_of("empty")


def test_the_global_scope_is_guarded():
    scope = Scope()
    with static.scope_guard(scope):
        assert static.global_scope() is scope
    assert static.global_scope() is not scope
    with pytest.raises(TypeError, match="scope_guard takes a Scope, but received int"), static.scope_guard(3):
        pass


def test_a_guard_ends_with_its_block_when_that_raises():
    outer = static.global_scope()
    with pytest.raises(ZeroDivisionError), static.scope_guard(Scope()):
        1 / 0
    assert static.global_scope() is outer


def test_dropped_children_are_freed():
    root = Scope()
    gone = weakref.ref(root.new_scope())
    assert gone() is not None
    root.drop_kids()
    gc.collect()
    assert gone() is None


def test_threads_make_one_variable():
    scope = Scope()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: scope.var(f"v{i % 5}"), range(400)))
    assert len({id(var) for var in found}) == 5
