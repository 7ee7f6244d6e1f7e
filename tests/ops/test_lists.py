"""Ops on lists of unknown length: the same as Python's lists, values, gradients and second gradients."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.dtype import float32, float64
from vitrify.core.meta import Meta
from vitrify.ir.program import Program
from vitrify.ir.verify import VerifyError, verify
from vitrify.ops import lists as ops
from vitrify.ops.creation import full

ROWS = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 4.0], [-1.0, 0.25]], "float32")


def made(x, dtype=float32):
    """The rows of x as a list of the program."""
    return ops.list_of_op(*[x[i] ** 2 for i in range(4)], item=Meta((2,), dtype))


def rows(x):
    """The same, eagerly."""
    return [x[i] ** 2 for i in range(4)]


def stacked(items):
    """A list of the program as one tensor."""
    return ops.list_stack_op(items, axis=0)


def at(value):
    """An index that only the program knows."""
    return full([], value, "int64")


def order():
    """A permutation that only the program knows."""
    return paddle.to_tensor(np.array([2, 0, 3, 1]))


def with_item(items, index, item):
    """A copy with another item."""
    out = list(items)
    out[index] = item
    return out


CASES = {
    "of": (lambda x: stacked(made(x)), lambda x: paddle.stack(rows(x))),
    "append": (
        lambda x: stacked(ops.list_append_op(made(x), x[1] * 3)),
        lambda x: paddle.stack([*rows(x), x[1] * 3]),
    ),
    "get": (lambda x: ops.list_get_op(made(x), index=at(2)), lambda x: rows(x)[2]),
    "get from the end": (lambda x: ops.list_get_op(made(x), index=-1), lambda x: rows(x)[-1]),
    "set": (
        lambda x: stacked(ops.list_set_op(made(x), x[0] * x[1], index=at(1))),
        lambda x: paddle.stack(with_item(rows(x), 1, x[0] * x[1])),
    ),
    "put": (
        lambda x: stacked(ops.list_put_op(made(x), x[0] * x[1], index=at(1))),
        lambda x: paddle.stack(with_item(rows(x), 1, x[0] * x[1])),
    ),
    "put at the end": (
        lambda x: stacked(ops.list_put_op(made(x), x[0] * x[1], index=at(4))),
        lambda x: paddle.stack([*rows(x), x[0] * x[1]]),
    ),
    "remove": (
        lambda x: stacked(ops.list_remove_op(made(x), index=at(-2))),
        lambda x: paddle.stack([rows(x)[0], rows(x)[1], rows(x)[3]]),
    ),
    "slice": (
        lambda x: stacked(ops.list_slice_op(made(x), start=at(1), stop=None, step=2)),
        lambda x: paddle.stack(rows(x)[1::2]),
    ),
    "slice backwards": (
        lambda x: stacked(ops.list_slice_op(made(x), start=None, stop=None, step=-1)),
        lambda x: paddle.stack(rows(x)[::-1]),
    ),
    "extend": (
        lambda x: stacked(ops.list_extend_op(made(x), made(x * 3))),
        lambda x: paddle.stack(rows(x) + rows(x * 3)),
    ),
    "order": (
        lambda x: stacked(ops.list_order_op(made(x), order())),
        lambda x: paddle.stack([rows(x)[i] for i in (2, 0, 3, 1)]),
    ),
    "zip": (
        lambda x: stacked(ops.list_get_op(ops.list_zip_op(made(x), made(x * 3)), index=at(1))),
        lambda x: paddle.stack([rows(x)[1], rows(x * 3)[1]]),
    ),
    "pluck": (
        lambda x: stacked(ops.list_pluck_op(ops.list_zip_op(made(x), made(x * 3)), index=1)),
        lambda x: paddle.stack(rows(x * 3)),
    ),
    "cast": (
        lambda x: stacked(ops.list_cast_op(made(x), dtype=float64)),
        lambda x: paddle.stack(rows(x)).astype("float64"),
    ),
    "stack": (lambda x: ops.list_stack_op(made(x), axis=1), lambda x: paddle.stack(rows(x), axis=1)),
    "unstack": (
        lambda x: ops.list_get_op(ops.list_unstack_op(x**3, axis=1), index=at(1)),
        lambda x: paddle.unstack(x**3, axis=1)[1],
    ),
    "join": (lambda x: ops.list_join_op(made(x), axis=0), lambda x: paddle.concat(rows(x))),
    "split": (
        lambda x: ops.list_get_op(ops.list_split_op(ops.list_join_op(made(x), axis=0) ** 2, made(x), axis=0), index=3),
        lambda x: rows(x)[3] ** 2,
    ),
    "sum": (lambda x: ops.list_sum_op(made(x), dtype=float32), lambda x: sum(rows(x))),
    "spread": (
        lambda x: stacked(ops.list_spread_op(x[0] * x[1], made(x))),
        lambda x: paddle.stack([x[0] * x[1]] * 4),
    ),
}


def outcome(fn):
    """The value, the gradient of its sum of squares, and the gradient of that gradient's sum of cubes."""
    x = paddle.to_tensor(ROWS, stop_gradient=False)
    y = fn(x)
    (first,) = paddle.grad((y * y).sum(), x, create_graph=True)
    (second,) = paddle.grad((first**3).sum(), x)
    return y.numpy(), first.numpy(), second.numpy()


@pytest.mark.parametrize("name", CASES)
def test_like_python(name):
    program, python = CASES[name]
    static = paddle.jit.to_static(program, full_graph=True)
    for found, wanted in zip(outcome(static), outcome(python)):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_length():
    static = paddle.jit.to_static(lambda x: ops.list_len_op(made(x)), full_graph=True)
    assert static(paddle.to_tensor(ROWS)).item() == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda x: ops.list_get_op(made(x), index=at(4)),
        lambda x: ops.list_get_op(made(x), index=at(-5)),
        lambda x: stacked(ops.list_set_op(made(x), x[0], index=at(7))),
        lambda x: stacked(ops.list_put_op(made(x), x[0], index=at(5))),
        lambda x: stacked(ops.list_remove_op(made(x), index=at(4))),
    ],
)
def test_outside(change):
    static = paddle.jit.to_static(change, full_graph=True)
    with pytest.raises(IndexError):
        static(paddle.to_tensor(ROWS))


def test_empty():
    def nothing(x):
        return stacked(ops.list_slice_op(made(x), start=4, stop=None, step=None))

    with pytest.raises(ValueError, match="empty"):
        paddle.jit.to_static(nothing, full_graph=True)(paddle.to_tensor(ROWS))


def test_a_list_is_needed():
    static = paddle.jit.to_static(lambda x: ops.list_get_op(x, index=0), full_graph=True)
    with pytest.raises(ValueError, match="a list is needed"):
        static(paddle.to_tensor(ROWS))


def test_programs_with_lists_are_verified():
    static = paddle.jit.to_static(CASES["append"][0], full_graph=True)
    static(paddle.to_tensor(ROWS))
    program = static.concrete_program.main_program
    verify(program)
    text = str(program)
    assert "list<float32[2]>" in text
    operator = next(o for o in program.global_block().ops if o.op.name == "list_append")
    operator.outputs[0].meta = Meta((2,), float32)
    with pytest.raises(VerifyError):
        verify(program)
    assert isinstance(program, Program)
