"""Sparse tensors against dense ones: creation, conversion, arithmetic, products, movement, gradients, programs."""

import numpy as np
import pytest
import scipy.sparse

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError

S = paddle.sparse
PLACES, VALUES = [[0, 1, 2, 2], [1, 2, 0, 3]], [1.0, 2.0, 3.0, 4.0]


def coo(values=None, **options):
    return S.sparse_coo_tensor(PLACES, VALUES if values is None else values, [3, 4], dtype="float64", **options)


def csr():
    return coo().to_sparse_csr()


def other():
    return S.sparse_coo_tensor([[0, 2, 1], [1, 3, 0]], [10.0, 20.0, 30.0], [3, 4], dtype="float64")


DENSE, OTHER = coo().numpy(), other().numpy()
BOTH = pytest.mark.parametrize("make", [coo, csr], ids=["coo", "csr"])


def same(found, wanted):
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


# -- making ----------------------------------------------------------------------------------------------------------


def test_coo():
    x = coo()
    assert x.shape == [3, 4] and x.dtype == paddle.float64 and x.nnz() == 4 and x.ndim == 2 and x.size == 12
    assert x.indices().tolist() == PLACES and x.values().tolist() == VALUES and x.stop_gradient
    assert x.is_sparse() and x.is_sparse_coo() and not x.is_sparse_csr() and not x.is_dense()
    same(x, scipy.sparse.coo_array((VALUES, PLACES), (3, 4)).toarray())
    assert S.sparse_coo_tensor(PLACES, VALUES).shape == [3, 4]
    assert S.sparse_coo_tensor(PLACES, [1, 2, 3, 4]).dtype == paddle.int64
    # To the letter what PaddlePaddle 3.3.1 prints.
    assert repr(x) == (
        "Tensor(shape=[3, 4], dtype=paddle.float64, place=Place(cpu), stop_gradient=True, \n"
        "       indices=[[0, 1, 2, 2],\n"
        "                [1, 2, 0, 3]], \n"
        "       values=[1., 2., 3., 4.])"
    ).replace("dtype=paddle.", f"dtype={paddle.float64!r}".removesuffix("float64"))


def test_csr():
    x = S.sparse_csr_tensor([0, 2, 3, 5], [1, 3, 2, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0], [3, 4])
    same(x, scipy.sparse.csr_array(([1.0, 2.0, 3.0, 4.0, 5.0], [1, 3, 2, 0, 1], [0, 2, 3, 5]), (3, 4)).toarray())
    assert x.to_sparse_coo(2).indices().tolist() == [[0, 0, 1, 2, 2], [1, 3, 2, 0, 1]]
    assert x.is_sparse_csr() and x.sparse_dim() == 2 and "crows=[0, 2, 3, 5]" in repr(x)


def test_dimensions_that_are_stored_whole():
    x = S.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], [3, 2])
    assert x.sparse_dim() == 1 and x.dense_dim() == 1
    same(x, [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    assert paddle.to_tensor(x.numpy()).to_sparse_coo(1).values().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_there_and_back():
    dense = paddle.to_tensor(DENSE)
    same(dense.to_sparse_coo(2), DENSE)
    same(dense.to_sparse_csr(), DENSE)
    assert dense.to_sparse_csr().crows().tolist() == csr().crows().tolist() == [0, 1, 2, 4]
    same(paddle.zeros([2, 3]).to_sparse_csr(), np.zeros((2, 3)))


def test_places_stored_twice_are_summed():
    x = S.sparse_coo_tensor([[1, 0, 1], [1, 0, 1]], [1.0, 2.0, 3.0], [2, 2])
    assert not x.is_coalesced() and x.coalesce().is_coalesced()
    assert S.coalesce(x).indices().tolist() == [[0, 1], [0, 1]] and S.coalesce(x).values().tolist() == [2.0, 4.0]
    same(x, [[2.0, 0.0], [0.0, 4.0]])


# -- arithmetic ------------------------------------------------------------------------------------------------------

UNARY = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sqrt", "square", "log1p", "abs", "neg",
         "deg2rad", "rad2deg", "expm1", "isnan")  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@BOTH
def test_unary(name, make):
    small = make().with_values(make().values() * 0.2)
    found = getattr(S, name)(small)
    dense = getattr(paddle, name)(paddle.to_tensor(DENSE * 0.2))
    same(found, dense.numpy())
    assert type(found) is type(small) and found.nnz() == 4


@BOTH
def test_pow_and_cast(make):
    same(S.pow(make(), 3), DENSE**3)
    found = S.cast(make(), "int32", "float32")
    assert found.dtype == paddle.float32 and found.to_sparse_coo(2).nnz() == 4
    assert make().astype("float32").dtype == paddle.float32


@BOTH
def test_binary(make):
    x, y = make(), make().like(other())
    for name, wanted in (("add", DENSE + OTHER), ("subtract", DENSE - OTHER), ("multiply", DENSE * OTHER)):
        found = getattr(S, name)(x, y)
        same(found, wanted)
        assert type(found) is type(x) and found.nnz() == 5
    with np.errstate(all="ignore"):
        same(S.divide(x, y), DENSE / OTHER)
    same(S.multiply(x, 2.0), DENSE * 2)
    same(S.divide(x, 2.0), DENSE / 2)
    same(S.add(x, paddle.ones([3, 4], "float64")), DENSE + 1)
    assert S.is_same_shape(x, y) and not S.is_same_shape(x, paddle.ones([3]))


# -- products --------------------------------------------------------------------------------------------------------

RIGHT = np.random.default_rng(0).normal(size=(4, 2))


@BOTH
def test_products(make):
    x, right = make(), paddle.to_tensor(RIGHT)
    same(S.matmul(x, right), DENSE @ RIGHT)
    same(S.mv(x, right[:, 0]), DENSE @ RIGHT[:, 0])
    same(S.addmm(paddle.ones([3, 2], "float64"), x, right, 2.0, 3.0), 2 + 3 * DENSE @ RIGHT)
    product = S.matmul(x, make().like(S.transpose(other(), [1, 0])))
    assert type(product) is type(x)
    same(product, DENSE @ OTHER.T)


@BOTH
def test_masks(make):
    left = np.random.default_rng(1).normal(size=(3, 4))
    same(S.mask_as(paddle.to_tensor(left), make()), np.where(DENSE != 0, left, 0))
    found = S.masked_matmul(paddle.to_tensor(left[:, :2]), paddle.to_tensor(RIGHT.T), make())
    same(found, np.where(DENSE != 0, left[:, :2] @ RIGHT.T, 0))
    assert found.nnz() == 4


def test_principal_components():
    paddle.seed(0)
    values = S.pca_lowrank(coo(), 3)[1]
    np.testing.assert_allclose(values.numpy(), np.linalg.svd(DENSE - DENSE.mean(0))[1], atol=1e-9)


# -- movement --------------------------------------------------------------------------------------------------------


@BOTH
def test_movement(make):
    x = make()
    same(S.transpose(x, [1, 0]), DENSE.T)
    same(S.reshape(x, [2, -1]), DENSE.reshape(2, 6))
    same(S.slice(x, [0, 1], [1, -3], [3, 4]), DENSE[1:3, 1:])
    assert type(S.transpose(x, [1, 0])) is type(x) and S.sum(x).values().tolist() == [10.0]
    same(S.sum(x, -1, keepdim=True), DENSE.sum(-1, keepdims=True))
    if x.is_sparse_coo():
        same(S.sum(x, 0), DENSE.sum(0))
        same(S.reshape(x, [12]), DENSE.reshape(-1))


# -- gradients and programs ------------------------------------------------------------------------------------------


def test_gradients_flow_through_values():
    values = paddle.to_tensor(VALUES, dtype="float64", stop_gradient=False)
    right = paddle.to_tensor(RIGHT, stop_gradient=False)
    x = S.sparse_coo_tensor(PLACES, values, [3, 4], stop_gradient=False)
    S.matmul(S.square(x), right).sum().backward()
    rows = RIGHT.sum(1)[PLACES[1]]
    same(values.grad, 2 * np.array(VALUES) * rows)
    same(right.grad, (DENSE**2).T @ np.ones((3, 2)))
    same(x.grad, np.where(DENSE != 0, 2 * DENSE * RIGHT.sum(1), 0))


def test_gradients_of_conversions():
    dense = paddle.to_tensor(DENSE, stop_gradient=False)
    (dense.to_sparse_csr().values() * paddle.arange(1, 5, dtype="float64")).sum().backward()
    assert dense.grad.numpy()[DENSE != 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    x = coo(stop_gradient=False)
    x.to_dense().backward(paddle.full([3, 4], 2.0, "float64"))
    assert x.grad.values().tolist() == [2.0] * 4 and x.detach().stop_gradient


def test_in_programs():
    def fn(values, right):
        x = S.sparse_coo_tensor(PLACES, values, [3, 4])
        return S.matmul(S.add(x, x), right), S.transpose(x, [1, 0]).to_dense(), x.to_sparse_csr().values()

    compare(fn, (paddle.to_tensor(VALUES, dtype="float64"), paddle.to_tensor(RIGHT)))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: S.sparse_coo_tensor([[0, 5], [1, 1]], [1.0, 2.0], [2, 2]), ShapeError),
        (lambda: S.sparse_coo_tensor([[0, 1], [1, 1]], [1.0], [2, 2]), ArgumentError),
        (lambda: S.sparse_coo_tensor(PLACES, VALUES, [3]), ShapeError),
        (lambda: S.sparse_coo_tensor(paddle.to_tensor([[0.5]]), [1.0]), ArgumentError),
        (lambda: S.sparse_csr_tensor([0, 2], [1, 3, 2], [1.0, 2.0, 3.0], [3, 4]), ArgumentError),
        (lambda: S.add(coo(), S.sparse_coo_tensor([[0], [0]], [1.0], [2, 2])), ShapeError),
        (lambda: S.sin(paddle.ones([2])), DTypeError),
        (lambda: S.multiply(coo(), "2"), DTypeError),
        (lambda: S.matmul(coo(), paddle.ones([3, 3])), ShapeError),
        (lambda: S.transpose(coo(), [0, 0]), ShapeError),
        (lambda: S.reshape(coo(), [5]), ShapeError),
        (lambda: S.sum(csr(), 0), ArgumentError),
        (lambda: S.coalesce(csr()), DTypeError),
        (lambda: paddle.ones([2]).to_sparse_coo(2), ArgumentError),
        (lambda: paddle.ones([2]).to_sparse_csr(), ShapeError),
    ],
)  # fmt: skip
def test_errors(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("function", [
    lambda a: S.reshape(a.to_sparse_coo(2), [-1]).to_dense(),
    lambda a: S.add(a.to_sparse_coo(2), a.to_sparse_coo(2)).to_dense(),
    lambda a: S.transpose(a.to_sparse_coo(2), [1, 0]).to_dense(),
    lambda a: a.to_sparse_csr().to_dense(),
    lambda a: a.to_sparse_coo(2).shape[0] * a,
    lambda a: a + float(S.is_same_shape(a.to_sparse_coo(2), a.t())),
])  # fmt: skip
def test_unknown_sizes_are_part_of_the_key(function):
    """The places of a sparse tensor are told apart by its sizes."""
    spec = [paddle.static.InputSpec([None, None], "float64")]
    static = paddle.jit.to_static(function, input_spec=spec, full_graph=True)
    for dense in (DENSE, DENSE.T, DENSE[:, :2]):
        given = paddle.to_tensor(dense.copy())
        np.testing.assert_array_equal(static(given).numpy(), function(given).numpy())


@pytest.mark.parametrize("fn", [S.add, S.subtract, S.multiply, S.divide])
@pytest.mark.parametrize("shape", [[0, 3], [3, 0], [0, 0]])
def test_arithmetic_without_elements(fn, shape):
    def combined(x):
        return fn(x.to_sparse_coo(2), x.to_sparse_coo(2)).to_dense()

    x = paddle.zeros(shape)
    open_sizes = [paddle.static.InputSpec([None, None])]
    for call in (combined, paddle.jit.to_static(combined, input_spec=open_sizes, full_graph=True)):
        assert call(x).shape == shape
