"""In-place changes: shared memory, the version counter, the tape, and stale backward passes."""

import numpy as np
import pytest

from vitrify.core.errors import ArgumentError, DTypeError, ShapeError, StaleBackwardError
from vitrify.eager.grad_mode import no_grad
from vitrify.eager.tensor import to_tensor
from vitrify.ops.creation import assign


def leaf(*values):
    return to_tensor(np.array(values, "float64"), stop_gradient=False)


def plain(*values):
    return to_tensor(np.array(values, "float64"))


def test_an_in_place_op_returns_the_tensor_with_its_new_content():
    x = plain(1.0, 2.0)
    assert x.add_(plain(10.0, 20.0)) is x
    assert x.tolist() == [11.0, 22.0] and x.inplace_version == 1


def test_everyone_on_the_same_memory_sees_the_change():
    x = plain(1.0, 2.0, 3.0)
    detached, view = x.detach(), x[1:]
    x.multiply_(plain(2.0, 2.0, 2.0))
    assert detached.tolist() == [2.0, 4.0, 6.0] and view.tolist() == [4.0, 6.0]
    view.add_(plain(1.0, 1.0))
    assert x.tolist() == [2.0, 5.0, 7.0]
    assert x.inplace_version == detached.inplace_version == view.inplace_version == 2


def test_another_shape_or_dtype_takes_new_memory():
    x = plain(1.0, 2.0)
    before = x.detach()
    x.astype_("float32") if hasattr(x, "astype_") else x._become(x.astype("float32"))
    assert x.dtype.name == "float32" and before.dtype.name == "float64" and x.inplace_version == 1
    x.reshape_([2, 1])
    x.add_(to_tensor([[1.0], [1.0]]))
    assert x.tolist() == [[2.0], [3.0]]


def test_a_broadcast_view_is_not_written_through():
    x = plain(1.0).expand([3])
    x.add_(plain(1.0, 2.0, 3.0))
    assert x.tolist() == [2.0, 3.0, 4.0]


def test_the_tape_follows():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.add_(y)
    y.sin_()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos([2.0, 4.0]))


def test_an_op_keeps_the_content_that_it_overwrites_itself():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 1
    y.multiply_(w)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0] and w.grad.tolist() == [1.0, 2.0]


def test_a_tensor_without_gradient_joins_the_tape():
    x, w = plain(1.0, 2.0), leaf(3.0, 4.0)
    x.multiply_(w)
    assert not x.stop_gradient and not x.is_leaf
    x.sum().backward()
    assert w.grad.tolist() == [1.0, 2.0]


def test_a_leaf_that_wants_a_gradient_is_protected():
    x = leaf(1.0)
    with pytest.raises(ArgumentError, match="wants a gradient cannot be changed in place"):
        x.add_(plain(1.0))
    with no_grad():
        x.add_(plain(1.0))
    assert x.tolist() == [2.0] and x.is_leaf and not x.stop_gradient


def test_under_no_grad_the_place_on_the_tape_stays():
    x = leaf(1.0)
    y = x * 2
    with no_grad():
        y.add_(plain(1.0))
    assert not y.stop_gradient and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


STALE = {
    "an input, by an in-place op": lambda x, y, z: x.add_(plain(1.0)),
    "an output, by an in-place op": lambda x, y, z: y.add_(plain(1.0)),
    "by set_value": lambda x, y, z: y.set_value(plain(1.0)),
    "through a view": lambda x, y, z: y[:].add_(plain(1.0)),
    "through a detached tensor": lambda x, y, z: y.detach().add_(plain(1.0)),
}


@pytest.mark.parametrize("change", STALE.values(), ids=STALE)
def test_backward_notices_what_it_needs_being_changed(change):
    x = leaf(1.0) * 1
    y = x.exp()  # keeps y
    z = x * x + y  # keeps x
    change(x, y, z)
    with pytest.raises(StaleBackwardError, match="modified in place"):
        z.sum().backward()


def test_the_stale_error_names_op_argument_shape_and_versions():
    x = leaf(1.0, 2.0) * 1
    y = (x * x).sum()
    x.add_(plain(1.0, 1.0))
    with pytest.raises(StaleBackwardError) as raised:
        y.backward()
    assert str(raised.value).splitlines() == [
        "multiply: backward needs y (shape [2]), which was modified in place: its version is 1, backward expects 0",
        "  hint: modify a copy (x.clone()), or use the op without the trailing underscore",
    ]


def test_changes_that_backward_does_not_need_are_fine():
    x = leaf(1.0)
    y = x * 1
    z = y + 1.0
    y.add_(plain(5.0))
    z.sum().backward()
    assert x.grad.tolist() == [1.0]


def test_memory_given_up_is_not_stale():
    x = leaf(1.0, 2.0) * 1
    y = (x * x).sum()
    x.reshape_([2, 1])
    x._become(x.astype("float32"))
    y.backward()


# --- content ----------------------------------------------------------------------------------------------------------


def test_set_value_copies_values_into_any_tensor():
    x = leaf(1.0, 2.0)
    shared = x.detach()
    x.set_value(np.array([5.0, 6.0]))
    assert shared.tolist() == [5.0, 6.0] and not x.stop_gradient
    x.set_value([7, 8])
    assert x.tolist() == [7.0, 8.0]


def test_set_value_wants_the_same_shape_and_dtype():
    x = plain(1.0, 2.0)
    with pytest.raises(ShapeError, match=r"has shape \[2\], the value has \[3\]"):
        x.set_value(np.ones(3))
    with pytest.raises(DTypeError, match=r"is float64, the value is float32\n  hint: cast it"):
        x.set_value(np.ones(2, "float32"))


def test_copy_takes_the_other_shape():
    x, shared = plain(1.0, 2.0), None
    shared = x.detach()
    assert x.copy_(plain(3.0, 4.0)) is x and shared.tolist() == [3.0, 4.0]
    x.copy_(plain(1.0, 2.0, 3.0), True)
    assert x.shape == [3]
    with pytest.raises(DTypeError, match="the source is int64"):
        x.copy_(to_tensor([1]))


def test_data_is_the_memory():
    x, other = leaf(1.0), plain(5.0, 6.0)
    assert x.data.stop_gradient and x.data.tolist() == [1.0]
    x.data = other
    other.add_(plain(1.0, 1.0))
    assert x.tolist() == [6.0, 7.0] and not x.stop_gradient
    with pytest.raises(DTypeError, match="data: expects a Tensor"):
        x.data = 3


def test_detach_in_place_cuts_the_tape():
    x = leaf(1.0)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and y.stop_gradient


# -- views: the tape follows the memory ------------------------------------------------------------------------------


def reshaped_base(x):
    y = x * 2
    z = y.reshape([-1])
    y.unsqueeze_(0)
    y.multiply_(y)
    return z * z


def written_view(x):
    y = x * x
    z = y.reshape([2, 2])
    z[1].multiply_(x[:2])
    return y * x


def written_base(x):
    y = x * x
    a, b = y[1:3], y.reshape([2, 2]).t()
    y.multiply_(x)
    y[0] = 3.0
    return (a * 2).sum() + (b * b).sum() + y


def zeros_filled_through_views(x):
    y = to_tensor(np.zeros((2, 2)))
    y[0][1] = x[0] * x[1]
    y[1].add_(x[2:])
    return y * y


@pytest.mark.parametrize("fn", [reshaped_base, written_view, written_base, zeros_filled_through_views])
def test_gradients_follow_shared_memory(fn):
    values = np.array([0.5, -1.5, 2.0, 3.0])
    x = to_tensor(values, stop_gradient=False)
    fn(x).sum().backward()
    steps = np.eye(4) * 1e-6
    wanted = [(float(fn(plain(*values + d)).sum()) - float(fn(plain(*values - d)).sum())) / 2e-6 for d in steps]
    np.testing.assert_allclose(x.grad.numpy(), wanted, 1e-6)


def test_views_of_a_leaf_leave_it_a_leaf():
    x = leaf(1.0, 2.0)
    x[:1].add_(plain(3.0))
    assert x.is_leaf and x.tolist() == [4.0, 2.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [8.0, 4.0]


def test_many_views_are_not_kept():
    x = plain(1.0, 2.0)
    for _ in range(1000):
        x[0]
    assert len(x.version_cell()[1]) < 100


def test_assign_fills_a_leaf_that_wants_a_gradient():
    x = leaf(1.0, 2.0)
    assert assign(plain(3.0, 4.0), x) is x
    assert x.is_leaf and not x.stop_gradient and x.tolist() == [3.0, 4.0] and x.inplace_version == 1
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 8.0]


def test_what_assign_filled_a_leaf_with_gets_its_gradient():
    x, source = leaf(1.0, 2.0), leaf(3.0, 4.0)
    assign(source * 2.0, x)
    assert not x.is_leaf
    (x * x).sum().backward()
    assert source.grad.tolist() == [24.0, 32.0]
    y = leaf(1.0)
    loss = (y * y).sum()
    assign(plain(5.0), y)
    with pytest.raises(StaleBackwardError):
        loss.backward()


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ({"shape": [2, 1]}, [[1.0], [2.0]]),
        ({"shape": [3], "stride": [2]}, [1.0, 3.0, 5.0]),
        ({"shape": [2], "offset": 16}, [5.0, 6.0]),
        ({"stride": [1, 2]}, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]),
    ],
    ids=str,
)
def test_set_shows_the_memory_of_another_tensor(how, wanted):
    source = to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = to_tensor([0.0] * 4)
    assert x.set_(source, **how) is x and x.tolist() == wanted
    source.set_value(source + 10)
    np.testing.assert_array_equal(x.numpy(), np.add(wanted, 10))
    assert x.set_().shape == [0]


def test_set_refuses_what_it_cannot_show():
    x = to_tensor([0.0] * 4)
    for source, how in ((to_tensor([1, 1]), {}), (to_tensor([1.0, 1.0]), {"offset": 2}), ("no tensor", {})):
        with pytest.raises((TypeError, ValueError), match="set_: "):
            x.set_(source, **how)
    x.stop_gradient = False
    with pytest.raises(ValueError, match="cannot be changed in place"):
        x.set_(to_tensor([1.0] * 4))
    assert (x * 2).set_(to_tensor([1.0] * 4)).stop_gradient
