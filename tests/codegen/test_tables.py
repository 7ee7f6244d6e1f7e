"""Rows of tables that integers name, in whole programs: read and added to as the operators do it, to the bit."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import block_of
from tests.codegen.test_whole import numbers, program_of
from vitrify.core.dtype import as_dtype
from vitrify.ops.embedding import embedding_grad_op, embedding_op
from vitrify.ops.gather import gather_adjoint_op, gather_op
from vitrify.ops.index import index_get_adjoint_op, index_get_op
from vitrify.ops.put_along_axis import first_places_op
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

DTYPES = ["float32", "float64", "float16", "bfloat16"]


def check(fn, *arrays):
    """Compare the native program with the operators, to the bit; the program."""
    metas = [(a.shape, as_dtype(a.dtype).name) for a in arrays]
    program, block = program_of(fn, *metas), block_of(fn, *metas)
    found = program(arrays)
    assert found is not None
    wanted = lower(block, options=ExecutionOptions(passes=False, native="never"))(*arrays)
    for out, expected in zip(found, wanted, strict=True):
        assert out.dtype == expected.dtype and out.shape == expected.shape
        assert out.tobytes() == expected.tobytes()
    return program


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ids", [np.array([[3, 0, 3], [1, 4, 0]]), np.array(2), np.zeros((2, 0), int), np.arange(5)])
def test_embedding_and_its_gradient(ids, dtype):
    for width, padding in ((1, None), (8, 3), (19, 0)):
        table = numbers(5, width).astype(as_dtype(dtype).np)
        ct = numbers(*ids.shape, width, seed=1).astype(table.dtype)

        def fn(x, weight, ct, padding=padding):
            rows = embedding_op(x, weight, padding_idx=padding)
            return rows, embedding_grad_op(ct, x, weight, padding_idx=padding)

        check(fn, ids, table, ct)


@pytest.mark.parametrize("bad", [5, -1])
def test_ids_outside_are_left_to_the_interpreter(bad):
    def fn(x, weight):
        return embedding_op(x, weight, padding_idx=None) * 2

    program = check(fn, np.array([0, 4]), numbers(5, 3))
    assert program([np.array([0, bad]), numbers(5, 3)]) is None


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_slices_along_any_axis(axis, dtype):
    x = numbers(4, 5, 6)
    for index in ([0, 3, 3], [[1, 2], [3, 0]], []):
        index = np.array(index, dtype)
        ct = numbers(*x.shape[:axis], *index.shape, *x.shape[axis + 1 :], seed=1)

        def fn(x, index, ct):
            return (
                gather_op(x, index, axis=axis), gather_adjoint_op(ct, x, index, axis=axis),
                index_get_op(x, index, axes=(axis,)), index_get_adjoint_op(ct, x, index, axes=(axis,)),
                first_places_op(x, index, axes=(axis,)),
            )  # fmt: skip

        program = check(fn, x, index, ct)
        if index.size and dtype != "uint8":
            check(fn, x, index - index.dtype.type(4), ct)  # counted from the end
            assert program([x, index + index.dtype.type(7), ct]) is None
            assert program([x, index - index.dtype.type(11), ct]) is None


def test_tables_of_other_layouts_and_integers():
    check(lambda x, i: gather_op(x, i, axis=0), numbers(6, 8)[::2], np.array([2, 0, 1, 1])[::-1])
    check(lambda x, i: gather_op(x, i, axis=0), np.arange(12).reshape(3, 4).T, np.array([3, 0]))


def test_masks_are_left_to_the_interpreter():
    x, mask = numbers(4, 3), np.array([True, False, True, True])
    program = program_of(lambda x, m: index_get_op(x, m, axes=(0,)) * 1, (x.shape, "float32"), ([4], "bool"))
    assert program([x, mask]) is None


def test_several_indices():
    check(lambda x, i, j: index_get_op(x, i, j, axes=(0, 1)) * 1, numbers(4, 3), np.array([0, -1]), np.array([2, 0]))


def test_a_model_with_an_embedding_trains_as_one_call():
    def run(native):
        paddle.seed(5)
        table, layer = paddle.nn.Embedding(7, 6, padding_idx=2), paddle.nn.Linear(6, 7)
        opt = paddle.optimizer.SGD(0.1, parameters=[*table.parameters(), *layer.parameters()])

        @paddle.jit.to_static(full_graph=True)
        def step(x, y):
            loss = paddle.nn.functional.cross_entropy(layer(table(x)), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        x, y = paddle.to_tensor([[1, 2, 2], [6, 0, 1]]), paddle.to_tensor([[2, 2, 1], [0, 1, 6]])
        with paddle.core.config.flags_guard({"native": native, "native_after_ms": 0}):
            return [float(step(x, y)) for _ in range(8)], table.weight.numpy()

    (losses, weight), (wanted, wanted_weight) = run(True), run(False)
    np.testing.assert_allclose(losses, wanted, rtol=1e-6)
    np.testing.assert_allclose(weight, wanted_weight, rtol=1e-6)
