"""StandaloneExecutor: scopes bound to a prepared program, temporaries kept, failures."""

import gc
import weakref

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.runtime.executor import StandaloneExecutor
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.prepare import RunSpec, prepare
from vitrify.runtime.scope import Scope

ONE = {"x": np.ones(2, "float32")}


def counter():
    """A program that adds x to `total` and gives the double of it."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2])
        total = static.create_global_var([2], 0.0, "float32", persistable=True, name="total")
        paddle.assign(total + x, total)
        out = total * 2
    return main, out.name


def executor(options=None):
    main, out = counter()
    prepared = prepare(main, RunSpec(("x",), (out,)))
    return StandaloneExecutor(prepared) if options is None else StandaloneExecutor(prepared, options=options)


def scope_with(value):
    scope = Scope()
    scope.var("total").set(np.array(value, "float32"))
    return scope


def test_a_run_reads_and_writes_the_scope():
    runner, scope = executor(), scope_with([0, 0])
    for step in range(1, 4):
        assert runner.run(ONE, scope)[0].tolist() == [2 * step, 2 * step]
    assert scope.value_of("total").tolist() == [3, 3]


def test_scopes_are_apart():
    runner, first, second = executor(), scope_with([0, 0]), scope_with([10, 10])
    runner.run(ONE, first)
    runner.run(ONE, second)
    assert (first.value_of("total").tolist(), second.value_of("total").tolist()) == ([1, 1], [11, 11])


def test_a_child_scope_uses_its_parents_parameters():
    runner, root = executor(), scope_with([0, 0])
    kid = root.new_scope()
    runner.run(ONE, kid)
    assert root.value_of("total").tolist() == [1, 1] and kid.local_var_names() == []


def test_a_parameter_that_appears_nearer_is_used_from_then_on():
    runner, root = executor(), scope_with([0, 0])
    kid = root.new_scope()
    runner.run(ONE, kid)
    kid.var("total").set(np.array([100, 100], "float32"))
    runner.run(ONE, kid)
    assert root.value_of("total").tolist() == [1, 1] and kid.value_of("total").tolist() == [101, 101]
    kid.erase(["total"])
    runner.run(ONE, kid)
    assert root.value_of("total").tolist() == [2, 2]


def test_an_erased_parameter_is_missed():
    runner, scope = executor(), scope_with([0, 0])
    runner.run(ONE, scope)
    scope.erase(["total"])
    with pytest.raises(ValueError, match="'total' has no value in this scope"):
        runner.run(ONE, scope)


def test_a_cleared_parameter_is_missed():
    runner, scope = executor(), scope_with([0, 0])
    runner.run(ONE, scope)
    scope.find_var("total").get_tensor()._clear()
    with pytest.raises(ValueError, match="'total' has no value in this scope"):
        runner.run(ONE, scope)


def test_values_set_by_hand_are_checked():
    runner, scope = executor(), scope_with([0, 0])
    runner.run(ONE, scope)
    scope.var("total").set(np.zeros(3, "float32"))
    with pytest.raises(ValueError, match=r"'total' of the scope: expected float32\[2\], got float32\[3\]"):
        runner.run(ONE, scope)
    scope.var("total").set(np.zeros(2))
    with pytest.raises(TypeError, match=r"expected float32\[2\], got float64\[2\]"):
        runner.run(ONE, scope)
    scope.var("total").set(np.ones(2, "float32"))
    assert runner.run(ONE, scope)[0].tolist() == [4, 4]


def test_what_a_program_writes_first_appears_at_the_root():
    main = static.Program()
    with static.program_guard(static.Program(), main):
        static.create_global_var([1], 4.0, "float32", persistable=True, name="made")
    root = Scope()
    kid = root.new_scope()
    StandaloneExecutor(prepare(main, RunSpec((), ()))).run({}, kid)
    assert root.value_of("made").tolist() == [4] and kid.local_var_names() == []


def test_a_failed_run_writes_nothing():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, y = static.data("x", [None]), static.data("y", [None])
        total = static.create_global_var([2], 0.0, "float32", persistable=True, name="total")
        paddle.assign(total + 1, total)
        out = x + y
    runner, scope = StandaloneExecutor(prepare(main, RunSpec(("x", "y"), (out.name,)))), scope_with([0, 0])
    with pytest.raises(ValueError, match=r"(?s)do not broadcast.*out = x \+ y"):
        runner.run({"x": np.ones(2, "float32"), "y": np.ones(3, "float32")}, scope)
    assert scope.value_of("total").tolist() == [0, 0]
    runner.run({"x": np.ones(2, "float32"), "y": np.ones(2, "float32")}, scope)
    assert scope.value_of("total").tolist() == [1, 1]


def test_an_executor_keeps_no_scope_and_no_array_alive():
    runner, scope = executor(), scope_with([0, 0])
    runner.run(ONE, scope)
    gone = weakref.ref(scope), weakref.ref(scope.value_of("total"))
    del scope
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert runner.run(ONE, scope_with([5, 5]))[0].tolist() == [12, 12]


def test_a_scope_keeps_no_executor_alive():
    runner, scope = executor(), scope_with([0, 0])
    runner.run(ONE, scope)
    gone = weakref.ref(runner.prepared.program)
    del runner
    gc.collect()
    assert gone() is None and scope.value_of("total").tolist() == [1, 1]


def test_new_scopes_in_the_place_of_dead_ones_are_not_taken_for_them():
    runner = executor()
    for value in range(200):
        assert runner.run(ONE, scope_with([value, value]))[0].tolist() == [2 * value + 2] * 2


def test_temporaries_are_kept_in_a_child_for_so_many_runs():
    runner, scope = executor(ExecutionOptions(keep_scopes=3)), scope_with([0, 0])
    for step in (1, 2):
        runner.run(ONE, scope)
        (kid,) = scope._kids
        held = {name: kid.find_var(name).get_tensor().tolist() for name in kid.local_var_names()}
        assert held["x"] == [1, 1] and held["multiply_0"] == [2 * step] * 2 and "total" not in held
    runner.run(ONE, scope)
    assert scope._kids == []
    runner.run(ONE, scope)
    assert len(scope._kids) == 1
    scope.drop_kids()
    runner.run(ONE, scope)
    assert len(scope._kids) == 1 and scope.value_of("total").tolist() == [5, 5]


def test_kept_temporaries_keep_no_scope_alive():
    runner, scope = executor(ExecutionOptions(keep_scopes=100)), scope_with([0, 0])
    runner.run(ONE, scope)
    gone = weakref.ref(scope)
    del scope
    gc.collect()
    assert gone() is None and runner.run(ONE, scope_with([0, 0]))[0].tolist() == [2, 2]


def test_a_call_may_run_several_times():
    runner, scope = executor(ExecutionOptions(iterations=4)), scope_with([0, 0])
    assert runner.run(ONE, scope)[0].tolist() == [8, 8] and scope.value_of("total").tolist() == [4, 4]
