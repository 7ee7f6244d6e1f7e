"""Attention, turned places and norms of ONNX files, as ONNX Runtime computes them."""

import numpy as np
import pytest

import vitrify as paddle
from tests.onnx.nodes import agrees, saved

RNG = np.random.default_rng(5)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


Q, K, V = floats(2, 4, 5, 8), floats(2, 2, 6, 8), floats(2, 2, 6, 3)
FLAT = {"q": floats(2, 5, 32), "k": floats(2, 6, 16), "v": floats(2, 6, 16)}
HEADS = {"q_num_heads": 4, "kv_num_heads": 2}
NEW = {"opset": 23}
MASK = RNG.random((5, 6)) > 0.3
X = floats(2, 3, 4, 8)
TURNS = {"c": floats(2, 4, 4), "s": floats(2, 4, 4)}
CASES = {
    "Attention": ("Attention", {"q": Q, "k": K, "v": V}, NEW),
    "Attention of flat heads": ("Attention", FLAT, {**HEADS, "scale": 0.3, **NEW}),
    "Attention to the past": ("Attention", {**FLAT, "k": FLAT["k"][:, :5], "v": FLAT["v"][:, :5]},
                              {**HEADS, "is_causal": 1, **NEW}),
    "Attention with a mask": ("Attention", {"q": Q, "k": K, "v": V, "m": MASK}, NEW),
    "Attention with a bias": ("Attention", {"q": Q, "k": K, "v": V, "m": floats(2, 1, 5, 6)}, NEW),
    "Attention with a cache": (
        "Attention", {"q": Q, "k": K, "v": V, "m": floats(5, 9), "p": floats(2, 2, 3, 8), "w": floats(2, 2, 3, 3)},
        {"outputs": 3, **NEW}),
    "RotaryEmbedding": ("RotaryEmbedding", {"x": X, **TURNS}, NEW),
    "RotaryEmbedding by places": (
        "RotaryEmbedding", {"x": X, "c": floats(9, 4), "s": floats(9, 4), "p": np.array([[0, 3, 8, 1], [2, 2, 5, 7]])},
        {"interleaved": 1, **NEW}),
    "RotaryEmbedding of a part": (
        "RotaryEmbedding", {"x": floats(2, 4, 24), "c": floats(2, 4, 2), "s": floats(2, 4, 2)},
        {"num_heads": 3, "rotary_embedding_dim": 4, **NEW}),
    "RMSNormalization": ("RMSNormalization", {"x": X, "w": floats(4, 8)}, {"axis": -2, **NEW}),
    "MeanVarianceNormalization": ("MeanVarianceNormalization", {"x": X}, {}),
    "LpNormalization": ("LpNormalization", {"x": X}, {"axis": 1}),
    "LpNormalization of zeros": ("LpNormalization", {"x": np.zeros((2, 3), "float32")}, {"p": 1}),
    "Shrink": ("Shrink", {"x": X}, {"lambd": 0.3, "bias": 0.1}),
    "ThresholdedRelu": ("ThresholdedRelu", {"x": X}, {"alpha": 0.4}),
    "Swish": ("Swish", {"x": X}, {"alpha": 0.7, "opset": 24}),
}  # fmt: skip


@pytest.mark.parametrize("open_dims", [(), (0, 2)], ids=["known", "open"])
@pytest.mark.parametrize("name", CASES)
def test_a_node(name, open_dims, tmp_path):
    type_, fed, attrs = CASES[name]
    if len(next(iter(fed.values())).shape) == 3:  # the sizes of heads are known
        open_dims = open_dims[:1]
    agrees(saved(tmp_path, type_, fed, {}, open_dims=open_dims, **attrs), fed)


def test_numbers_from_what_only_the_run_knows_keep_their_dtype(tmp_path):
    fed = {"a": np.array(1, "float32"), "b": np.array(5, "float32"), "c": np.array(1.5, "float32")}
    agrees(saved(tmp_path, "Range", fed, {}), fed)


def test_rows_that_see_nothing_are_zero(tmp_path):
    fed = {"q": Q, "k": K, "v": V, "m": np.zeros((5, 6), bool)}
    out = paddle.onnx.load(saved(tmp_path, "Attention", fed, {}, **NEW))(*map(paddle.to_tensor, fed.values()))
    assert not out.numpy().any()


@pytest.mark.parametrize("opset", [18, 21])
def test_groups_of_channels(opset, tmp_path):
    x, per = floats(2, 6, 5), 3 if opset < 21 else 6
    kept = {"w": floats(per), "b": floats(per)}
    path = saved(tmp_path, "GroupNormalization", {"x": x}, kept, num_groups=3, opset=opset)
    w, b = (paddle.to_tensor(np.repeat(v, 6 // per)) for v in kept.values())
    wanted = paddle.nn.functional.group_norm(paddle.to_tensor(x), 3, 1e-5, w, b)
    np.testing.assert_allclose(paddle.onnx.load(path)(paddle.to_tensor(x)), wanted, rtol=1e-5, atol=1e-6)
