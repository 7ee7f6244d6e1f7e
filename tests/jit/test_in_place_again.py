"""Tensors changed in place twice, the second time by what gives the tensor itself, a view of it, or another tensor."""

import numpy as np
import pytest

import vitrify as paddle

CHANGES = {
    "cast": lambda y: y.cast_("float32"),
    "squeeze": lambda y: y.squeeze_(),
    "reshape": lambda y: y.reshape_(y.shape),
    "apply": lambda y: y.apply_(lambda v: v),
    "bitwise_not with out": lambda y: paddle.bitwise_not_(y.astype("int64"), y.astype("int64")),
    "resize": lambda y: y.resize_([3]),
    "resize to fewer": lambda y: y.resize_([2]),
    "resize to more": lambda y: y.resize_([2, 2]),
    "copy": lambda y: y.copy_(y * 3, True),
    "set_value": lambda y: y.set_value(y * 3),
    "assign": lambda y: paddle.assign(y * 3, y),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("full_graph", [True, False])
def test_the_first_change_stays(change, full_graph):
    def changed(x):
        y = x + 0
        y.add_(paddle.ones([3]))
        given = change(y)
        y.multiply_(paddle.full_like(y, 2.0))
        return y, given

    x = paddle.to_tensor([1.0, -2.0, 3.0])
    for ours, eager in zip(paddle.jit.to_static(changed, full_graph=full_graph)(x), changed(x)):
        assert (ours is None) == (eager is None)
        if eager is not None:
            np.testing.assert_array_equal(ours.numpy(), eager.numpy())


@pytest.mark.parametrize("value", [1, [1, -1], np.ones([3]), np.ones([1, 3], "float32"), [[1.0], [2.0], [3.0]]])
def test_a_value_that_does_not_fit_is_refused_as_in_eager_mode(value):
    def filled(x):
        y = x + 0
        y.set_value(value)
        return y

    def told(function):
        with pytest.raises(ValueError) as found:
            function(paddle.zeros([3]))
        return type(found.value), str(found.value).partition("\n")[0]

    assert told(paddle.jit.to_static(filled, full_graph=True)) == told(filled)


@pytest.mark.parametrize("value", [1, [1.0, 2.0, 3.0], None])
@pytest.mark.parametrize("full_graph", [None, True])
def test_only_tensors_are_copied_in_place(value, full_graph):
    def copied(x):
        y = x + 0
        return y.copy_(value, True)

    function = copied if full_graph is None else paddle.jit.to_static(copied, full_graph=True)
    with pytest.raises(TypeError, match="copy_: other must be a tensor"):
        function(paddle.zeros([3]))


@pytest.mark.parametrize("size", [3, 1])
def test_dimensions_go_in_place_where_sizes_are_open(size):
    """The view that says which sizes are taken to be more than 1 stands between the tensor and what it becomes."""

    def squeezed(x):
        y = x * 1
        part = y[0:1]
        y.squeeze_()
        part.zero_()
        return y * 2, part

    spec = [paddle.static.InputSpec([None, 2], "float32")]
    compiled = paddle.jit.to_static(squeezed, full_graph=True, input_spec=spec)
    for ours, eager in zip(compiled(paddle.ones([size, 2])), squeezed(paddle.ones([size, 2]))):
        assert ours.shape == eager.shape and ours.tolist() == eager.tolist()
