"""Groups of operators: when they are compiled, and that it changes nothing but the time they take."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import block_of, numbers
from vitrify.codegen import native
from vitrify.core.config import flags_guard
from vitrify.core.errors import ShapeError
from vitrify.runtime import fused
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

UNKNOWN = (-1, -1)


@pytest.fixture(autouse=True)
def nothing_on_disk():
    with flags_guard({"cache_mb": 0}):
        yield


def layer(x, w, b):
    h = paddle.nn.functional.gelu(x * w + b)
    return h * 2 - x.exp(), h > 0


def lowered(native_choice, fn=layer, metas=((UNKNOWN, "float32"), ([-1], "float32"), ([], "float32"))):
    return lower(block_of(fn, *metas), options=ExecutionOptions(native=native_choice))


def kernels(core):
    """The kernels that the core's groups have so far."""
    held = [cell.cell_contents for i in core.instructions for cell in i.step.__closure__]
    groups = [getattr(value, "__self__", None) for value in held]
    return [g._kernel for g in groups if isinstance(g, fused._Group)]


@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((0, 5), (5,)), ((7, 1), (1,)), ((64, 129), (1,)), ((1, 1), (6,))])
def test_native_and_not_are_the_same(shapes):
    arrays = [numbers(*shapes[0]), numbers(*shapes[1]), np.array(0.25, "float32")]
    found, wanted = (lowered(choice)(*[a.copy() for a in arrays]) for choice in ("always", "never"))
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.native
def test_always_and_never_do_what_they_say():
    always, never = lowered("always"), lowered("never")
    for core in (always, never):
        core(numbers(3, 5), numbers(5), np.array(0.25, "float32"))
    assert all(isinstance(k, native.NativeKernel) for k in kernels(always)) and len(kernels(always)) == 1
    assert kernels(never) == []


@pytest.mark.native
def test_a_group_is_compiled_when_its_runs_have_paid_for_it():
    with flags_guard({"native_after_ms": 0.1}):
        core = lowered("auto")
        arrays = [numbers(3, 5), numbers(5), np.array(0.25, "float32")]
        core(*arrays)
        assert kernels(core) == [None]
        for _ in range(200):
            core(*arrays)
        assert isinstance(kernels(core)[0], native.NativeKernel)


def test_what_has_no_native_form_runs_as_ever():
    core = lowered("always", lambda x: paddle.erfinv(x) * 2 + 1, (([-1], "float32"),))
    x = numbers(4) / 4
    for _ in range(2):
        np.testing.assert_allclose(core(x)[0], paddle.erfinv(paddle.to_tensor(x)).numpy() * 2 + 1, rtol=1e-6)


def test_sizes_that_do_not_fit_raise_what_they_raise_without_a_kernel():
    errors = []
    for choice in ("always", "never"):
        with pytest.raises(ShapeError) as caught:
            lowered(choice)(numbers(3, 5), numbers(4), np.array(0.25, "float32"))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_arrays_of_the_caller_are_not_written_to():
    core = lowered("always", lambda x: x * 2 + 1, ((UNKNOWN, "float32"),))
    x = numbers(300, 300)
    kept = x.copy()
    (out,) = core(x)
    assert np.array_equal(x, kept) and not np.shares_memory(out, x)


def test_a_group_takes_the_memory_of_what_nobody_needs_any_more():
    def fn(x):
        y = paddle.matmul(x, x)
        return (y * 2 + 1).matmul(x)

    core = lowered("always", fn, (UNKNOWN_SQUARE,))
    x = numbers(200, 200)
    np.testing.assert_allclose(core(x)[0], (x @ x * 2 + 1) @ x, rtol=1e-3, atol=1e-2)


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_a_runner_writes_into_what_it_alone_has(threads):
    body = block_of(lambda x: x * 2 + 1, (UNKNOWN, "float32"))
    run = fused.runner(body, lower(body), ExecutionOptions(native="always"))
    arrays = [numbers(800, 800)]  # large enough for several threads
    address, wanted = arrays[0].ctypes.data, arrays[0] * 2 + 1
    with flags_guard({"num_threads": threads}):
        (out,) = run(arrays)
    assert out.ctypes.data == address and np.array_equal(out, wanted)


UNKNOWN_SQUARE = ((200, 200), "float32")


@pytest.mark.native
def test_switches_of_a_build_strategy_decide_about_groups():
    block = block_of(layer, *(((2, 3), "float32"), ((3,), "float32"), ([], "float32")))

    def types(**switches):
        strategy = paddle.static.BuildStrategy()
        for name, value in switches.items():
            setattr(strategy, name, value)
        core = lower(block, options=strategy.options())
        core(numbers(2, 3), numbers(3), np.array(0.25, "float32"))
        return [i.operator.op.name for i in core.instructions], len([k for k in kernels(core) if k is not None])

    assert types() == types(enable_auto_fusion=True) == (["fused"], 0)
    assert types(build_cinn_pass=True) == (["fused"], 1)
    assert types(enable_auto_fusion=False) == ([op.op.name for op in block.ops], 0)


def test_what_a_group_raises_names_its_operators_and_inputs(monkeypatch):
    def fails(group, arrays):
        raise MemoryError("no room")

    monkeypatch.setattr(fused._Group, "run", fails)
    with pytest.raises(MemoryError, match="no room") as caught:
        lowered("always")(numbers(3, 5), numbers(5), np.array(0.25, "float32"))
    note = "\n".join(caught.value.__notes__)
    assert "multiply, add, gelu" in note and "computed together, failed on (float32[" in note
    assert "test_fused.py" in note and "AttributeError" not in note
