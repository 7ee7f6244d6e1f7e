"""Jacobians and Hessians."""

import numpy as np
import pytest

from vitrify.autograd import hessian, jacobian
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.eager.tensor import to_tensor

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])


def leaf(value):
    return to_tensor(np.array(value, "float64"), stop_gradient=False)


def test_the_jacobian_of_a_linear_map_is_its_matrix():
    x = leaf([1.0, 2.0, 3.0])
    J = jacobian(to_tensor(A) @ x, x)
    assert J.shape == [2, 3] and J[:].tolist() == A.tolist()
    assert J[1].tolist() == A[1].tolist() and J[0, 2].item() == 3.0 and J[:, 1:].tolist() == A[:, 1:].tolist()
    assert J[-1:, ::2].tolist() == A[-1:, ::2].tolist() and J[..., 0].tolist() == A[:, 0].tolist()
    assert J.numpy().tolist() == A.tolist()


def test_only_the_rows_asked_for_are_computed_and_each_once():
    x = leaf([1.0, 2.0, 3.0])
    J = jacobian(x * x, x)
    J[1]
    J[1:2]
    assert list(J._rows) == [1]


def test_tuples_give_tuples():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    (dx, dy), (ex, ey) = jacobian((x * y, x.sum()), (x, y))
    assert dx[:].tolist() == [[3.0, 0.0], [0.0, 3.0]] and dy[:].tolist() == [[1.0], [2.0]]
    assert ex[:].tolist() == [1.0, 1.0] and ey[:].tolist() == [0.0]  # not used: zeros


def test_batches():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    J = jacobian(x * x, x, batch_axis=0)
    assert J.shape == [3, 2, 2] and J[2].tolist() == [[10.0, 0.0], [0.0, 12.0]]
    assert J[:, 0, 0].tolist() == [2.0, 6.0, 10.0]
    H = hessian((x * x * x).sum(axis=1), x, batch_axis=0)
    assert H[:].tolist() == [np.diag(6 * row).tolist() for row in x.numpy()]


def test_the_hessian_of_a_quadratic_form():
    x, B = leaf([1.0, 2.0]), np.array([[2.0, 1.0], [0.0, 3.0]])
    y = (x * (to_tensor(B) @ x)).sum()
    assert hessian(y, x)[:].tolist() == (B + B.T).tolist()
    assert hessian(y.reshape([1]), x)[0, 1].item() == 1.0


def test_mixed_second_derivatives():
    x, y = leaf([2.0]), leaf([3.0, 4.0])
    H = hessian((x * y * y).sum(), (x, y))
    assert H[0][0][:].tolist() == [[0.0]] and H[0][1][:].tolist() == [[6.0, 8.0]]
    assert H[1][0][:].tolist() == [[6.0], [8.0]] and H[1][1][:].tolist() == [[4.0, 0.0], [0.0, 4.0]]


def test_errors():
    x = leaf([[1.0, 2.0]])
    with pytest.raises(ShapeError, match=r"ys has shape \[1, 2\], expected at most 1 dimensions"):
        jacobian(x * x, x)
    with pytest.raises(ArgumentError, match="batch_axis must be None or 0"):
        jacobian(x, x, batch_axis=1)
    with pytest.raises(ShapeError, match="expected one element"):
        hessian(leaf([1.0, 2.0]) * 2, leaf([1.0]))
