"""Laws of all elementwise ops: shapes broadcast as NumPy's do, dtypes promote alike when eager and when recorded."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vitrify as paddle
from vitrify.core.dtype import ALL, promote, promote_scalar
from vitrify.core.errors import DTypeError, ShapeError
from vitrify.core.meta import UNKNOWN, Meta
from vitrify.testing.paths import record

SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4, min_side=0)
ANY_SHAPE = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def ones(shape, dtype="float64"):
    return paddle.ones(list(shape), dtype)


@given(SHAPES)
def test_shapes_broadcast_and_cotangents_fit_the_inputs(shapes):
    x, y = [paddle.to_tensor(np.random.default_rng(0).random(s), stop_gradient=False) for s in shapes.input_shapes]
    out = x * y
    assert tuple(out.shape) == shapes.result_shape
    np.testing.assert_array_equal(out.numpy(), x.numpy() * y.numpy())
    out.sum().backward()
    assert x.grad.shape == x.shape and y.grad.shape == y.shape
    wanted = np.broadcast_to(y.numpy(), shapes.result_shape)
    np.testing.assert_allclose(x.grad.sum().numpy(), wanted.sum())


@given(SHAPES, st.data())
def test_unknown_sizes_broadcast_to_what_the_run_gives(shapes, data):
    """The meta of a recorded call, some sizes unknown, fits the shape that the eager call has."""
    metas = []
    for shape in shapes.input_shapes:
        hidden = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        metas.append(Meta(tuple(UNKNOWN if h else d for h, d in zip(hidden, shape)), ones(shape).dtype))
    recorded = record(lambda inputs: inputs[0] + inputs[1], metas, differentiate=True)
    found = recorded.outputs[0].meta
    assert len(found.shape) == len(shapes.result_shape)
    assert all(d in (UNKNOWN, s) for d, s in zip(found.shape, shapes.result_shape))
    arrays = [np.ones(s) for s in shapes.input_shapes]
    outs, grads = recorded.run(arrays, [np.ones(shapes.result_shape)])
    assert outs[0].shape == shapes.result_shape
    assert [g.shape for g in grads] == [tuple(s) for s in shapes.input_shapes]


@given(ANY_SHAPE, ANY_SHAPE)
def test_shapes_that_do_not_broadcast_raise_alike(a, b):
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ShapeError, match=r"add: shapes do not broadcast: x is .*, y is .* \(dimension"):
            ones(a) + ones(b)
        with pytest.raises(ShapeError, match="add: shapes do not broadcast"):
            record(lambda v: v[0] + v[1], [Meta(a, ALL[-1]), Meta(b, ALL[-1])])
    else:
        assert tuple((ones(a) + ones(b)).shape) == np.broadcast_shapes(a, b)


def outcome(compute):
    """The dtype that a call gives, or DTypeError."""
    try:
        return compute()
    except DTypeError:
        return DTypeError


@pytest.mark.parametrize("a", ALL, ids=str)
@pytest.mark.parametrize("b", ALL, ids=str)
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())], ids=str)
def test_two_tensors_promote_as_the_rule_says(a, b, shapes):
    wanted = outcome(lambda: promote(a, b, not shapes[0], not shapes[1]))
    eager = outcome(lambda: (ones(shapes[0], a) + ones(shapes[1], b)).dtype)
    metas = [Meta(s, d) for s, d in zip(shapes, (a, b))]
    recorded = outcome(lambda: record(lambda v: v[0] + v[1], metas).outputs[0].dtype)
    assert eager is wanted and recorded is wanted


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("number", [True, 2, 2.5, 1j], ids=repr)
@pytest.mark.parametrize("shape", [(2,), ()], ids=str)
def test_a_tensor_and_a_number_promote_as_the_rule_says(dtype, number, shape):
    wanted = promote_scalar(dtype, number)
    assert (ones(shape, dtype) + number).dtype is wanted
    assert (number + ones(shape, dtype)).dtype is wanted
    assert record(lambda v: v[0] + number, [Meta(shape, dtype)]).outputs[0].dtype is wanted


def test_mixed_dtypes_give_the_gradient_in_each_input_s_own():
    x = paddle.to_tensor([1.0, 2.0], "float32", stop_gradient=False)
    y = paddle.to_tensor([3.0, 4.0], "float64", stop_gradient=False)
    (x * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (paddle.float32, paddle.float64)
    assert x.grad.tolist() == [3.0, 4.0]
