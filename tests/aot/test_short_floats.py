"""Native programs compute with 16-bit floats by way of float32 where nothing does so directly: as eager kernels do."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.aot import load
from vitrify.nn import functional as F
from vitrify.static import InputSpec

RNG = np.random.default_rng(0)
MATRIX, IMAGE, KERNEL = ((3, 8), (2, 3, 8, 8), (4, 3, 3, 3))

OPS = {
    "matmul": (lambda x: x @ x.t(), [MATRIX]),
    "sum": (lambda x: x.sum(1), [MATRIX]),
    "mean": (lambda x: x.mean(), [MATRIX]),
    "cumsum": (lambda x: x.cumsum(1), [MATRIX]),
    "sort": (lambda x: x.sort(1), [MATRIX]),
    "argmax": (lambda x: x.argmax(1), [MATRIX]),
    "layer_norm": (lambda x: F.layer_norm(x, 8), [MATRIX]),
    "conv2d": (lambda x, w: F.conv2d(x, w), [IMAGE, KERNEL]),
    "conv2d_transpose": (lambda x, w: F.conv2d_transpose(x, w.transpose([1, 0, 2, 3])), [IMAGE, KERNEL]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [IMAGE]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), [IMAGE]),
    "batch_norm": (lambda x: F.batch_norm(x, paddle.zeros([3]), paddle.ones([3])), [IMAGE]),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", OPS)
def test_ops(name, dtype, tmp_path):
    function, shapes = OPS[name]
    given = [paddle.to_tensor(RNG.normal(size=shape).astype("float32")).astype(dtype) for shape in shapes]
    specs = [InputSpec([None, *s[1:]] if len(shapes) == 1 else list(s), dtype) for s in shapes]
    paddle.jit.save(function, str(tmp_path / "m"), input_spec=specs, format="native")
    wanted = function(*given)
    (found,) = load(str(tmp_path / "m"))(*[x.numpy() for x in given])
    assert found.dtype == wanted.numpy().dtype
    np.testing.assert_allclose(found.astype("float64"), wanted.numpy().astype("float64"), rtol=1e-2, atol=1e-2)


def test_what_has_no_form_in_float32_either(tmp_path):
    with pytest.raises(paddle.core.errors.UnsupportedError, match="inverse cannot be compiled ahead of time"):
        paddle.jit.save(
            lambda x: paddle.inverse(x.astype("float32")),
            str(tmp_path / "m"), input_spec=[InputSpec([3, 3], "bfloat16")], format="native",
        )  # fmt: skip
