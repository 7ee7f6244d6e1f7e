"""Functions of tensors some or all of whose sizes only a run knows: the values are those of eager code."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ShapeError, UnknownValueError

RNG = np.random.default_rng(0)
WIDE, LOW, SQUARES = (RNG.standard_normal(shape).astype("float32") for shape in ((2, 3), (1, 2), (2, 3, 3)))
ROW = WIDE[0]
RATES = np.array([[0.5, 2.0], [30.0, 1.0]], "float32")
D = paddle.distribution

CASES = [
    ("block_diag", lambda a, b: paddle.block_diag([a, b]), (WIDE, LOW), ([None, None], [None, None])),
    ("block_diag by width", lambda a, b: paddle.block_diag([a, b, a]), (WIDE, LOW), ([None, 3], [1, None])),
    ("block_diag of a row", lambda a, b: paddle.block_diag([a, b]), (ROW, LOW), ([None], [1, None])),
    *[
        (f"matrix_power {n}", lambda a, n=n: paddle.linalg.matrix_power(a, n), (SQUARES,), ([None, 3, None],))
        for n in (-1, 0, 1, 2, 3)
    ],
    ("entropy of counts", lambda a: D.Poisson(a).entropy(), (RATES,), ([None, None],)),
    *[(f"pdist {p}", lambda a, p=p: paddle.pdist(a, p), (SQUARES[0],), ([None, None],)) for p in (1.0, 2.0, 3.0)],
    *[
        (f"combinations {r} {again}", lambda a, r=r, again=again: paddle.combinations(a, r, again), (ROW,), ([None],))
        for r in (1, 2)
        for again in (False, True)
    ],
    (
        "triangles",
        lambda a: (
            a.flatten()[: paddle.tril_indices(a.shape[0], a.shape[1], -1).shape[1]].sum()
            + paddle.concat(
                [paddle.triu_indices(a.shape[0], a.shape[1], k).flatten() for k in (-1, 0, 2)]
                + [paddle.tril_indices(a.shape[0], a.shape[1], k).flatten() for k in (-1, 0, 2)]
            )
        ),
        (WIDE,),
        ([None, None],),
    ),
    (
        "shares of classes",
        lambda a, i: D.Categorical(a).log_prob(i) + D.Categorical(a[0]).prob(i),
        (RATES, np.array([0, 1, 1])),
        ([None, None], [None]),
    ),
    (
        "shares of classes in rows",
        lambda a, i: D.Categorical(a[0]).prob(i),
        (RATES, np.array([[0, 1, 1]])),
        ([None, None], [None, None]),
    ),
    (
        "a transform for each row",
        lambda a: D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0).forward(a),
        (WIDE,),
        ([None, None],),
    ),
    (
        "stretch of a reshape",
        lambda a: D.ReshapeTransform((3, 3), (9,)).forward_log_det_jacobian(a),
        (SQUARES,),
        ([None, None, None],),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_values_and_gradients_are_those_of_eager_code(case):
    _, fn, arrays, shapes = case
    spec = [paddle.static.InputSpec(shape, str(a.dtype)) for shape, a in zip(shapes, arrays)]
    compiled = paddle.jit.to_static(fn, full_graph=True, input_spec=spec)
    found = []
    for call in (fn, compiled, compiled):
        given = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
        out = call(*given)
        (out * out).sum().backward() if not out.stop_gradient else None
        found.append([out.numpy(), *[np.zeros(1) if x.grad is None else x.grad.numpy() for x in given]])
    for got in found[1:]:
        for mine, wanted in zip(got, found[0]):
            assert mine.shape == wanted.shape
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


def test_rows_without_a_transform_are_refused_when_the_run_sees_them():
    stacked = D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0)
    spec = [paddle.static.InputSpec([None, None], "float32")]
    compiled = paddle.jit.to_static(lambda a: stacked.forward(a), full_graph=True, input_spec=spec)
    with pytest.raises(ShapeError):
        compiled(paddle.to_tensor(SQUARES[0]))


def test_matrices_that_are_no_squares_are_refused_with_open_sizes_too():
    compiled = paddle.jit.to_static(
        lambda a: paddle.linalg.matrix_power(a, 2),
        full_graph=True,
        input_spec=[paddle.static.InputSpec([None, None], "float32")],
    )
    with pytest.raises(ShapeError):
        compiled(paddle.to_tensor(WIDE))


class Widened(paddle.nn.Layer):
    """Reshapes its input to the shape that it broadcasts to with another."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def forward(self, x):
        return x.reshape(paddle.broadcast_shape(x.shape, self.other))


def test_open_sizes_broadcast_with_ones(tmp_path):
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    for other in ([1], [1, 1], [1, 1, 1], [3], [1, 3]):
        layer = Widened(other)
        paddle.jit.save(layer, str(tmp_path / "m"), input_spec=spec)
        found, wanted = paddle.jit.load(str(tmp_path / "m"))(paddle.to_tensor(WIDE)), layer(paddle.to_tensor(WIDE))
        assert found.shape == wanted.shape and found.tolist() == wanted.tolist()
    with pytest.raises(UnknownValueError, match="only a run knows whether two sizes broadcast"):
        paddle.jit.save(Widened([2, 3]), str(tmp_path / "m"), input_spec=spec)
    with pytest.raises(ShapeError):
        paddle.jit.save(Widened([1, 2]), str(tmp_path / "m"), input_spec=spec)
