"""Executor.run: what may be fed and fetched, what is prepared anew and what is found again, threads."""

import copy
import gc
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime.graphs import operators
from tests.static.regression import batch, regression
from vitrify import static
from vitrify.core.errors import ClosedError
from vitrify.core.meta import ListMeta
from vitrify.ops.registry import get_op
from vitrify.runtime.options import ExecutionOptions

X = np.array([[1.0, 2.0]], "float32")


def doubling():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        y = static.data("x", [None, 2]) * 2
    return main, y


def prepared_programs(exe):
    return [entry.value.prepared.program for entry in exe._prepared._entries.values()]


@pytest.fixture
def exe():
    return static.Executor(paddle.CPUPlace())


@pytest.fixture(autouse=True)
def _a_scope_of_its_own():
    with static.scope_guard(static.Scope()):
        yield


# --- what is fetched -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [lambda y: [y], lambda y: (y,), lambda y: y, lambda y: y.name, lambda y: [[y.name]]])
def test_ways_to_say_what_is_fetched(exe, form):
    main, y = doubling()
    (out,) = exe.run(main, {"x": X}, form(y))
    assert type(out) is np.ndarray and out.tolist() == [[2, 4]]


def test_the_same_twice_and_what_was_fed(exe):
    main, y = doubling()
    first, second, fed = exe.run(main, {"x": X}, [y, y, "x"])
    first[...] = 0
    assert second.tolist() == [[2, 4]] and fed.tolist() == [[1, 2]] and fed is not X


@pytest.mark.parametrize("wrong", [3, {"a": 1}, {"y"}, [None], [3.0], [X]])
def test_other_things_cannot_be_fetched(exe, wrong):
    main, _ = doubling()
    with pytest.raises(TypeError, match="fetch_list: expects"):
        exe.run(main, {"x": X}, wrong)


def test_a_tensor_is_fetched_on_demand_and_may_be_fed(exe):
    main, y = doubling()
    (out,) = exe.run(main, {"x": X}, [y], return_numpy=False)
    (again,) = exe.run(main, {"x": out}, [y])
    assert isinstance(out, paddle.Tensor) and again.tolist() == [[4, 8]]
    with pytest.raises(TypeError, match="expected float32"):
        exe.run(main, {"x": paddle.ones([1, 2], "float64")}, [y])


def test_a_list_of_tensors_is_fetched_as_a_list(exe):
    @paddle.jit.to_static
    def powers(v):
        found = []
        while v.sum() < 10:
            found.append(v)
            v = v * 2
        return found

    main = static.Program()
    with static.program_guard(main, static.Program()):
        powers(static.data("x", [1]))
    outputs = [v for op in main.global_block().ops if op.op.name == "while" for v in op.outputs]
    name = next(v.name for v in outputs if isinstance(v.meta, ListMeta))
    (found,) = exe.run(main, {"x": [1.0]}, [name])
    assert [array.tolist() for array in found] == [[1], [2], [4], [8]]
    (found,) = exe.run(main, {"x": [8.0]}, [name], return_numpy=False)
    assert all(isinstance(tensor, paddle.Tensor) for tensor in found)


def test_what_was_changed_in_place_is_fetched_as_it_is_now(exe):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2])
        y, z, n = x * 2, x * 2, paddle.zeros([1])
        y.add_(paddle.ones([2]))
        z[0] = 7
        paddle.increment(n, 2.0)
        paddle.assign(x * 3, output=x)
    for program in (main, main.clone(), main.clone(for_test=True).clone()):
        found = exe.run(program, {"x": [1.0, 2.0]}, [y, z.name, n, x])
        assert [out.tolist() for out in found] == [[3, 5], [7, 4], [2], [3, 6]]


def test_views_follow_what_they_show(exe):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2])
        y = x * 2
        z = y.reshape([2, 1])
        y[0] = 7
        part = y[1:]
        part[0] = 9
    found = exe.run(main, {"x": [1.0, 2.0]}, [y, z, part])
    assert [out.tolist() for out in found] == [[7, 9], [[7], [9]], [9]]


def test_a_later_guard_knows_what_changed_under_an_earlier_one(exe):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2])
        x.stop_gradient = False
        y = x * 2
        y.multiply_(x)
    with static.program_guard(main, static.Program()):
        y.add_(paddle.ones([2]))
        z = y * 1
    copy = main.clone()
    with static.program_guard(copy, static.Program()):
        again = copy.global_block().var(y.name) * 1
    (gradient,) = static.gradients([y], [x])
    assert [out.tolist() for out in exe.run(main, {"x": [1.0, 2.0]}, [y, z, gradient])] == [[3, 9], [3, 9], [4, 8]]
    assert exe.run(copy, {"x": [1.0, 2.0]}, [again])[0].tolist() == [3, 9]


# --- what is fed -----------------------------------------------------------------------------------------------------


def test_one_dict_in_a_list_is_one_place(exe):
    main, y = doubling()
    assert exe.run(main, [{"x": X}], [y])[0].tolist() == [[2, 4]]
    with pytest.raises(ValueError, match="a program runs at one place; got 2 dicts"):
        exe.run(main, [{"x": X}, {"x": X}], [y])


@pytest.mark.parametrize("wrong", ["x", 3, [3]])
def test_feeds_are_dicts(exe, wrong):
    main, y = doubling()
    with pytest.raises(TypeError, match="feed: expects a dict from names to values, got"):
        exe.run(main, wrong, [y])


def test_feeds_are_given_by_name(exe):
    main, y = doubling()
    with pytest.raises(TypeError, match="expects names of variables as keys, got Variable"):
        exe.run(main, {main.global_block().var("x"): X}, [y])


def test_the_order_of_feeds_does_not_matter(exe):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        d = static.data("a", []) - static.data("b", [])
    assert exe.run(main, {"a": 3, "b": 1}, [d])[0] == exe.run(main, {"b": 1, "a": 3}, [d])[0] == 2


def test_what_eager_code_uses_is_no_program_and_no_scope(exe):
    with pytest.raises(TypeError, match="expects a Program or CompiledProgram, got int"):
        exe.run(3)
    with pytest.raises(TypeError, match="scope takes a Scope, but received int"):
        exe.run(static.Program(), scope=3)


def test_nothing_to_do(exe):
    assert exe.run(static.Program()) == [] and exe.run(static.Program(), feed={}, fetch_list=[]) == []
    main, y = doubling()
    assert exe.run(main, {"x": X}) == []
    with static.program_guard(main, static.Program()):
        assert exe.run(feed={"x": X}, fetch_list=[y])[0].tolist() == [[2, 4]], "the default main program"


def test_a_closed_executor_refuses(exe):
    main, y = doubling()
    exe.run(main, {"x": X}, [y])
    exe.close()
    exe.close()
    with pytest.raises(ClosedError, match="was closed"):
        exe.run(main, {"x": X}, [y])
    with pytest.raises(RuntimeError):
        exe.run(main, {"x": X}, [y])


# --- what is prepared ------------------------------------------------------------------------------------------------


def test_a_program_is_prepared_once(exe):
    main, y = doubling()
    for _ in range(5):
        exe.run(main, {"x": X}, [y])
    assert len(prepared_programs(exe)) == 1 and exe._prepared.stats.misses == 1 and exe._calls.stats.hits == 4


def test_clones_share_what_was_prepared(exe):
    main, y = doubling()
    for program in (main, main.clone(), main.clone().clone()):
        assert exe.run(program, {"x": X}, [y])[0].tolist() == [[2, 4]]
    assert len(prepared_programs(exe)) == 1 and exe._prepared.stats.hits == 2


def test_each_part_of_the_key_counts(exe):
    main, y = doubling()
    strategy = static.BuildStrategy()
    strategy.sequential_run = True
    exe.run(main, {"x": X}, [y])
    exe.run(main, {"x": X}, [y, "x"])
    exe.run(main, {"x": X}, [y], use_prune=True)
    exe.run(main, {"x": X}, [y], feed_var_name="given")
    exe.run(main, {"x": X}, [y], fetch_var_name="taken")
    exe.run(static.CompiledProgram(main, strategy), {"x": X}, [y])
    exe.run(main, {}, [])
    assert len(prepared_programs(exe)) == 7


def test_without_the_cache_it_is_prepared_anew(exe):
    main, y = doubling()
    for _ in range(2):
        assert exe.run(main, {"x": X}, [y], use_program_cache=False)[0].tolist() == [[2, 4]]
    assert prepared_programs(exe) == []


def test_a_changed_program_is_prepared_anew(exe):
    main, y = doubling()
    assert exe.run(main, {"x": X}, [y])[0].tolist() == [[2, 4]]
    with static.program_guard(main, static.Program()):
        z = y + 1
    assert exe.run(main, {"x": X}, [z])[0].tolist() == [[3, 5]]
    (multiply,) = [op for op in main.global_block().ops if op.op.name == "multiply"]
    multiply.op = get_op("add")
    assert exe.run(main, {"x": X}, [z])[0].tolist() == [[4, 5]]
    multiply.op = get_op("multiply")
    misses = exe._prepared.stats.misses
    assert exe.run(main, {"x": X}, [z])[0].tolist() == [[3, 5]]
    assert exe._prepared.stats.misses == misses, "what it was before is found again"


def test_old_programs_make_room(exe):
    for n in range(70):
        main = static.Program()
        with static.program_guard(main, static.Program()):
            y = static.data("x", [None, 2]) * n
        assert exe.run(main, {"x": X}, [y])[0].tolist() == [[n, 2 * n]]
    assert len(exe._prepared) == 64 and len(exe._calls) == 70


def test_an_executor_keeps_no_program_alive(exe):
    main, y = doubling()
    exe.run(main, {"x": X}, [y])
    gone = weakref.ref(main)
    del main, y
    gc.collect()
    assert gone() is None


def test_what_runs_can_be_looked_at(exe):
    main, y = doubling()
    prepared = exe.prepared(main, ["x"], [y])
    assert [op.op.name for op in prepared.block.ops] == ["feed", "multiply", "fetch"]
    assert "fetch" not in str(main) and "= fetch(" in str(prepared.program)
    assert exe.prepared(static.CompiledProgram(main), {"x": X}, y).block.ops[0].op.name == "feed"


# --- scopes ----------------------------------------------------------------------------------------------------------


def test_training_and_testing_share_parameters_by_name(exe):
    main, startup, test, loss, predicted = regression()
    exe.run(startup)
    for step in range(100):
        exe.run(main, batch(step), [loss])
    data = batch(1000)
    other = static.Executor()  # several executors over one scope
    (out,) = other.run(test, {"x": data["x"]}, [predicted])
    assert np.allclose(out, data["y"], atol=0.05)
    held = np.array(static.global_scope().find_var("w").get_tensor())
    assert np.allclose(held, [[1], [-2], [0.5]], atol=0.05)


def test_one_program_in_several_scopes(exe):
    main, startup, _, loss, _ = regression()
    scopes = [static.Scope() for _ in range(3)]
    for n, scope in enumerate(scopes):
        paddle.seed(n)
        exe.run(startup, scope=scope)
    losses = [exe.run(main, batch(0), [loss], scope=scope)[0] for scope in scopes]
    assert len({float(value) for value in losses}) == 3


def test_values_put_into_a_scope_are_used(exe):
    _, startup, test, _, predicted = regression()
    exe.run(startup)
    static.global_scope().find_var("w").get_tensor().set(np.ones([3, 1], "float32"), paddle.CPUPlace())
    assert exe.run(test, {"x": np.ones([1, 3], "float32")}, [predicted])[0].tolist() == [[3]]


def test_eight_threads_and_one_executor(exe):
    main, startup, test, loss, predicted = regression()
    exe.run(startup)
    held = np.array(static.global_scope().find_var("w").get_tensor())
    alone, scope = [], static.global_scope()
    for n in range(8):
        own = static.Scope()
        own.var("w").set(held)
        alone.append([exe.run(main, batch(step, 4 + n), [loss], scope=own)[0].tobytes() for step in range(30)])
    expected = exe.run(test, {"x": batch(5)["x"]}, [predicted], scope=scope)[0].tobytes()

    def train(n):
        own = static.Scope()
        own.var("w").set(held)
        found = []
        for step in range(30):
            found.append(exe.run(main, batch(step, 4 + n), [loss], scope=own)[0].tobytes())
            assert exe.run(test, {"x": batch(5)["x"]}, [predicted], scope=scope)[0].tobytes() == expected
        return found

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(train, range(8))) == alone


def test_threads_that_miss_at_once_agree(exe):
    main, y = doubling()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: exe.run(main, {"x": X * n}, [y])[0].tolist(), range(100)))
    assert found == [[[2 * n, 4 * n]] for n in range(100)] and len(prepared_programs(exe)) == 1


# --- CompiledProgram -------------------------------------------------------------------------------------------------


def test_a_compiled_program_runs_the_same(exe):
    main, startup, _, loss, _ = regression()
    exe.run(startup)
    held = np.array(static.global_scope().find_var("w").get_tensor())
    strategy = static.BuildStrategy()
    strategy.enable_addto = strategy.sequential_run = True
    strategy.memory_optimize = False
    (plain,) = exe.run(main, batch(0), [loss])
    static.global_scope().find_var("w").set(held)
    (compiled,) = exe.run(static.CompiledProgram(main, build_strategy=strategy), batch(0), [loss])
    assert plain.tobytes() == compiled.tobytes()


@pytest.mark.parametrize("switches", [{"sequential_run": True}, {"enable_inplace": False}, {"enable_addto": True}])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_no_switch_changes_what_is_computed(exe, switches, threads):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 64])
        parts = [paddle.matmul(x + n, paddle.transpose(x, [1, 0])) for n in range(6)]
        total = sum(part * part for part in parts)
    build, execution = static.BuildStrategy(), static.ExecutionStrategy()
    for name, value in switches.items():
        setattr(build, name, value)
    execution.num_threads = threads
    compiled = static.CompiledProgram(main, build, execution)
    for rows in (3, 200):
        given = np.random.default_rng(rows).normal(size=(rows, 64)).astype("float32")
        held = given.copy()
        wanted = [*parts, x]
        plain = [out.tobytes() for out in exe.run(main, {"x": given}, [total, *wanted])]
        assert [out.tobytes() for out in exe.run(compiled, {"x": given}, [total, *wanted])] == plain
        assert exe.run(compiled, {"x": given}, [total])[0].tobytes() == plain[0] and np.array_equal(given, held)


def test_a_compiled_program_may_keep_temporaries(exe):
    main, y = doubling()
    strategy = static.ExecutionStrategy()
    strategy.num_iteration_per_drop_scope = 10
    exe.run(static.CompiledProgram(main, exec_strategy=strategy), {"x": X}, [])
    exe.run(static.CompiledProgram(main, exec_strategy=strategy), {"x": X}, [y])
    (kid,) = static.global_scope()._kids
    assert np.array(kid.find_var(y.name).get_tensor()).tolist() == [[2, 4]]


@pytest.mark.parametrize("wrong", [(3,), (static.Program(), 3), (static.Program(), None, static.BuildStrategy())])
def test_compiled_programs_take_programs_and_strategies(wrong):
    with pytest.raises(TypeError, match=r"CompiledProgram takes .*, but received"):
        static.CompiledProgram(*wrong)


def test_a_compiled_program_shows_its_options():
    strategy = static.BuildStrategy()
    strategy.sequential_run = True
    assert repr(static.CompiledProgram(static.Program(), strategy)) == (
        "<CompiledProgram of <Program: 1 blocks, 0 operators>: ExecutionOptions(serial=True)>"
    )


def in_order():
    strategy = static.BuildStrategy()
    strategy.enable_inplace, strategy.sequential_run = False, True
    return strategy


class Doubler(paddle.nn.Layer):
    @paddle.jit.to_static(build_strategy=in_order())
    def forward(self, v):
        return v * 2

    @paddle.jit.to_static(build_strategy=in_order())
    @staticmethod
    def apart(v):
        return v * 2

    @paddle.jit.to_static(build_strategy=in_order())
    @classmethod
    def of_class(cls, v):
        return v * 2


@pytest.mark.parametrize(
    "double",
    [
        paddle.jit.to_static(lambda v: v * 2, build_strategy=in_order()),
        paddle.jit.to_static(build_strategy=in_order())(lambda v: v * 2),
        Doubler().forward,
        Doubler().apart,
        Doubler.of_class,
        copy.deepcopy(Doubler()).forward,
    ],
    ids=["function", "decorator", "method", "staticmethod", "classmethod", "copied"],
)
def test_to_static_hands_its_build_strategy_to_the_programs(double):
    v = paddle.to_tensor([1.0], stop_gradient=False)
    double(v).backward()
    assert v.grad.tolist() == [2]
    segment = double.program_cache.last().segment
    for passes in (False, True):  # as recorded, and optimized
        for core in (segment.forward_core, segment.backward_core):
            assert core.options == ExecutionOptions(inplace=False, serial=True, passes=passes)
        segment.optimize()


@pytest.mark.parametrize("in_place", [True, False])
def test_enable_inplace_reaches_the_instructions(in_place):
    strategy = static.BuildStrategy()
    strategy.enable_inplace = in_place
    fn = paddle.jit.to_static(lambda v: ((v * 2).tanh() + 1).exp(), build_strategy=strategy)
    v = paddle.ones([300, 300])
    assert np.array_equal(fn(v).numpy(), np.exp(np.tanh(v.numpy() * 2) + 1))
    instructions = operators(fn.program_cache.last().segment.forward_core)
    assert any(i.access.overwrites for i in instructions) == in_place


def test_a_build_strategy_reaches_the_segments_of_a_split_function():
    @paddle.jit.to_static(build_strategy=in_order())
    def fn(v):
        for _ in range(30):
            v = v * 1.5
        return v * (time.time() > 0)  # which a program would not ask again

    for _ in range(2):
        fn(paddle.ones([300, 300]))
    parts = list(fn.split_state.segments.values())
    cores = [program.segment.forward_core for part in parts for program in part.program_cache.programs()]
    assert cores and all(core.options.serial for core in cores)


def test_build_strategy_must_be_one():
    with pytest.raises(TypeError, match=r"build_strategy takes a paddle.static.BuildStrategy, got int"):
        paddle.jit.to_static(lambda v: v, build_strategy=3)
    with pytest.raises(ValueError, match="backend must be None or 'CINN', got 'bogus'"):
        paddle.jit.to_static(backend="bogus")


# --- endurance -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's figures of memory")
@pytest.mark.parametrize("form", ["kernels", "native"])
def test_a_hundred_thousand_steps_leave_nothing_behind(form):
    command = [sys.executable, "-m", "tests.static.endurance", form]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1 << 20


@pytest.mark.slow
def test_eight_threads_and_ten_thousand_steps_each(exe):
    main, startup, _, loss, _ = regression()
    exe.run(startup)
    held, data = np.array(static.global_scope().find_var("w").get_tensor()), [batch(step) for step in range(10)]

    def train(_):
        own = static.Scope()
        own.var("w").set(held)
        found = [exe.run(main, data[step % 10], [loss], scope=own)[0].tobytes() for step in range(10_000)]
        return found, own.value_of("w").tobytes()

    alone = train(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == alone for found in pool.map(train, range(8)))
