"""Ops that Paddle's programs have otherwise than we do: what is written gives the same when it is read back."""

import numpy as np
import pytest

import vitrify as paddle
from tests.paddle_program.test_writing import FORMATS, SPEC, desc_of, round_trip
from vitrify import nn

RANDOM = np.random.RandomState(0)
TALL, WIDE = RANDOM.randn(5, 3).astype("float32"), RANDOM.randn(3, 5).astype("float32")
BOX = TALL[:, :, None] * WIDE[0]
SQUARE = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 5]], "float32")
WHOLE, OTHER = np.array([12, -18, 7, 0, 100]), np.array([18, 12, 0, 0, 75])
POINTS = np.array([[1, 2], [3, -1], [0.5, 0.5], [4.9, 3], [5, 3], [9, 9]], "float32")
ODD = np.array([1, -3.5, 0, 1e-30, 1e30, 0.49999, 1e-40, np.inf, np.nan], "float32")


def listed(found):
    return [found[0], *found[1]]


def put(place):
    def function(x, *rest):
        y = x * 1.0
        *places, value = rest
        y[place(*places)] = value
        return y

    return function


def collected(x):
    out = []
    i = paddle.zeros([], "int64")
    while i < x.shape[0]:
        out.append(x[i] * 2)
        i = i + 1
    return paddle.stack(out)


def checked(x):
    if x.sum() > 1000:
        raise ValueError("too much")
    assert (x < 1000).all(), f"too large: {x.max()}"
    print("sum", x.sum())
    return x + 1


CASES = {
    "assert, print and raise": (checked, SQUARE),
    "a list that begins empty": (collected, SQUARE),
    "lstsq": (lambda x, y: paddle.linalg.lstsq(x, y)[0], TALL, TALL[:, :2]),
    "lstsq of a wide matrix": (lambda x, y: paddle.linalg.lstsq(x, y, driver="gelsy")[::2], WIDE, WIDE[:, :2]),
    "isin": (lambda x, y: (paddle.isin(x, y), paddle.isin(x, y, invert=True)), WHOLE, OTHER),
    "gcd": (paddle.gcd, WHOLE, OTHER),
    "lcm": (lambda x, y: paddle.lcm(x.unsqueeze(1), y), WHOLE, OTHER),
    "frexp": (paddle.frexp, ODD),
    "as_strided": (lambda x: paddle.as_strided(x, [2, 2], [1, 2], 1), SQUARE),
    "histogramdd": (lambda x: listed(paddle.histogramdd(x, bins=[3, 2], ranges=[0.0, 5.0, -3.0, 3.0])), POINTS),
    "histogramdd of any range": (lambda x: listed(paddle.histogramdd(x, bins=[3, 2], density=True)), POINTS),
    "histogram_bin_edges": (lambda x: paddle.histogram_bin_edges(x, 4), POINTS),
    "repeat_interleave": (lambda x, n: paddle.repeat_interleave(x, n, 0), SQUARE, np.array([2, 0, 1])),
    "fill_diagonal": (lambda x: (x * 1.0).fill_diagonal_(7.0), SQUARE),
    "lu": (lambda x: paddle.linalg.lu_unpack(*paddle.linalg.lu(x)), SQUARE[::-1].copy()),
    "eig": (lambda x: paddle.linalg.eig(x)[0].real(), SQUARE),
    "einsum of a diagonal": (lambda x: paddle.einsum("ii->i", x), SQUARE),
    "linspace": (lambda x: paddle.linspace(x.min(), x.max(), x.shape[0]), SQUARE),
    "eye": (lambda x: paddle.eye(x.shape[0], x.shape[1]) * x, TALL),
    "view_as": (paddle.view_as, TALL, WIDE),
    "logical shifts": (lambda x, y: paddle.bitwise_right_shift(x, y, is_arithmetic=False), WHOLE, OTHER % 5),
    "a norm over some axes": (lambda x: paddle.linalg.vector_norm(x, 3.0, [0, 2]), TALL[None] * 2.0),
    "equal_all": (paddle.equal_all, SQUARE, SQUARE),
    "unfold": (lambda x: x.unfold(0, 3, 2), TALL),
    "slices backwards": (lambda x: (x[3:0:-2], x[-2::-1], x[:1:-1], x[:, ::-2]), TALL),
    "fewer indices than rows": (lambda x, i: paddle.take_along_axis(x, i, 1, False), TALL, WHOLE[None, :2] % 3),
    "a diagonal among twos": (lambda x: paddle.diag(x, padding_value=2.0), TALL[0]),
    "writing behind a dimension": (put(lambda i: (slice(None), i)), SQUARE, np.array([0, 2]), TALL[:3, :2]),
    "writing around a dimension": (put(lambda i: (i, slice(None), i)), BOX, np.array([0, 2]), TALL[:2]),
    "writing at None": (put(lambda: (slice(None), None, 1)), TALL, TALL[:, :1]),
    "abs and relu of whole numbers": (lambda x, y: (paddle.abs(x * y), nn.functional.relu(x - y)), WHOLE, OTHER),
    "float64": (lambda x, y: nn.functional.relu(x @ y - 1) + x @ y, TALL * 1.0, WIDE * 1.0),
    "quotients": (lambda x, y: (2.0 / x, y / x, x / y, x[0] / y), SQUARE + 1, SQUARE[:1]),
}  # fmt: skip


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", FORMATS)
def test_ops(kind, name, is_known, tmp_path):
    function, *values = CASES[name]
    given = [paddle.to_tensor(v, dtype="float64" if name == "float64" else None) for v in values]
    specs = [SPEC(t.shape if is_known else [None] * t.ndim, t.dtype, f"x{i}") for i, t in enumerate(given)]
    round_trip(function, specs, given, tmp_path, kind)


def test_exponentials_of_matrices(tmp_path):
    for kind in FORMATS:
        for scale in (0.1, 3.0):
            given = [paddle.to_tensor(np.stack([SQUARE, SQUARE * 0.1]) * scale)]
            round_trip(paddle.linalg.matrix_exp, [SPEC([None, 3, 3])], given, tmp_path, kind, rtol=1e-4)


def test_what_does_not_hold_is_raised_by_the_read_program(tmp_path):
    def positive(x):
        assert (x > 0).all(), "not positive"
        return x + 1

    for kind, ending in FORMATS.items():
        paddle.jit.save(positive, tmp_path / "f", input_spec=[SPEC([2])], format=kind)
        net = paddle.jit.load(str(tmp_path / "f") + ending)
        with pytest.raises(AssertionError, match="does not hold"):
            net(paddle.to_tensor([1.0, -1.0]))


def test_no_dividend_of_pdmodel_programs_is_smaller_than_the_divisor(tmp_path):
    """oneDNN divides the other way round there."""
    spec = [SPEC([None, 3], name="x"), SPEC([1, 3], name="y")]
    paddle.jit.save(lambda x, y: (2.0 / x, y / x, x / y), tmp_path / "f", input_spec=spec, format="paddle")
    block = desc_of(tmp_path / "f.pdmodel").blocks[0]
    shapes = {v.name: list(v.type.lod_tensor.tensor.dims) for v in block.vars}
    pairs = [[shapes[i.arguments[0]] for i in op.inputs] for op in block.ops if op.type == "elementwise_div"]
    assert pairs == [[[-1, 3], [-1, 3]], [[-1, 3], [-1, 3]], [[-1, 3], [1, 3]]]


def test_einsum_of_pdmodel_programs_has_the_outputs_that_are_counted(tmp_path):
    spec = [SPEC([2, 3]), SPEC([3, 4])]
    paddle.jit.save(lambda x, y: paddle.einsum("ij,jk->ki", x, y), tmp_path / "f", input_spec=spec, format="paddle")
    ops = desc_of(tmp_path / "f.pdmodel").blocks[0].ops
    for op in ops:
        if op.type == "einsum":
            assert {o.parameter: len(o.arguments) for o in op.outputs} == {"Out": 1, "InnerCache": 2, "XShape": 2}
