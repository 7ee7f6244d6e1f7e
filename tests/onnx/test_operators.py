"""Nodes that other frameworks write, with all their attributes and optional inputs, give what ONNX Runtime gives."""

import numpy as np
import onnx
import pytest

from tests.onnx.nodes import agrees, saved, saved_graph

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


def ints(*values, shape=None):
    return np.array(values, "int64").reshape(shape or (len(values),))


X = floats(2, 3, 4)
INFINITE = np.array([1, np.inf, -np.inf, np.nan], "float32")
NONE, BELOW, ABOVE = {}, {"detect_positive": 0}, {"detect_negative": 0}
CASES = {
    **{f"Einsum {e}": ("Einsum", {f"x{i}": floats(*s) for i, s in enumerate(shapes)}, {}, {"equation": e})
       for e, *shapes in [
           ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("iij->j", (3, 3, 2)), ("ij,jk", (2, 3), (3, 4)),
           ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4)), (" ij , jk,kl -> il", (2, 3), (3, 4), (4, 5)),
           ("bi,bj,bk->bijk", (2, 3), (2, 4), (2, 5))]},
    **{f"{type_} {attrs}": (type_, {"x": np.abs(X) + 0.1}, {}, attrs)
       for type_ in ("ReduceL1", "ReduceLogSum", "ReduceSumSquare")
       for attrs in ({}, {"axes": [1, -1], "keepdims": 0})},
    **{f"IsInf {attrs}": ("IsInf", {"x": INFINITE}, {}, attrs)
       for attrs in (NONE, BELOW, ABOVE, {**BELOW, **ABOVE})},
    "OneHot": ("OneHot", {"x": ints(0, -2, 4, 7, shape=(2, 2))}, {"d": ints(5, shape=()), "v": floats(2)}, {}),
    "OneHot in front": ("OneHot", {"x": ints(1, 2, -5, -6)}, {"d": ints(5), "v": ints(0, 3)}, {"axis": 0}),
    "OneHot of given": ("OneHot", {"x": ints(1, 2), "d": ints(3, shape=()), "v": ints(0, 3)}, {}, {}),
    "Pow of ints by floats": ("Pow", {"x": ints(2, 3), "y": np.array([0.5, 2.5], "float32")}, {}, {}),
    "Hardmax": ("Hardmax", {"x": np.round(X)}, {}, {}),
    "Hardmax of columns": ("Hardmax", {"x": np.round(X)}, {}, {"axis": 0}),
    "ArgMax": ("ArgMax", {"x": np.round(X)}, {}, {"axis": 1, "select_last_index": 1}),
    "ArgMin": ("ArgMin", {"x": np.round(X)}, {}, {"axis": -1, "select_last_index": 1, "keepdims": 0}),
    **{f"CumSum {attrs}": ("CumSum", {"x": X}, {"axis": ints(1, shape=())}, {"exclusive": 1, **attrs})
       for attrs in ({}, {"reverse": 1})},
    "MatMul of vectors": ("MatMul", {"x": floats(3), "y": floats(3)}, {}, {}),
    "MatMul by a vector": ("MatMul", {"x": floats(2, 4, 3), "y": floats(3)}, {}, {}),
    "MatMul of a vector": ("MatMul", {"x": floats(3), "y": floats(2, 3, 4)}, {}, {}),
    "Mean": ("Mean", {"x": X, "y": floats(4), "z": floats(3, 1)}, {}, {}),
    "CastLike": ("CastLike", {"x": X * 3}, {"y": ints(1)}, {}),
    "Flatten": ("Flatten", {"x": X}, {}, {"axis": 2}),
    "Pad of axes": ("Pad", {"x": X}, {"p": ints(1, 2, 0, 1), "v": floats(), "a": ints(1, -1)}, {"opset": 18}),
    **{f"ScatterND {how} {depth}": (
        "ScatterND", {"x": floats(4, 3)},
        {"i": ints(1, 0, -1, 2, 1, 0, shape=(6 // depth, depth)), "u": floats(6, 3) if depth == 1 else floats(3)},
        {"reduction": how, "opset": 18})
       for how in ("add", "mul", "min", "max") for depth in (1, 2)},
    **{f"Resize {mode} {where} {attrs} {by}": (
        "Resize", {"x": floats(1, 2, 4, 5)}, {"r": None, **by},
        {"mode": mode, "coordinate_transformation_mode": where, **attrs})
       for where in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
       for mode, attrs in [
           *[("nearest", {"nearest_mode": m}) for m in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")],
           ("linear", {}), ("cubic", {}), ("cubic", {"cubic_coeff_a": -0.5})]
       for by in ({"s": np.array([1, 1, 2, 1.6], "float32")}, {"s": None, "z": ints(1, 2, 3, 7)},
                  {"s": None, "z": ints(1, 2, 1, 2)})
       if (where, mode) != ("align_corners", "cubic")},
    **{f"Resize {mode} {where} by factors that leave the sizes": (
        "Resize", {"x": floats(1, 2, 4, 5)}, {"r": None, "s": np.array([1, 1, 1.2, 1.1], "float32")},
        {"mode": mode, "coordinate_transformation_mode": where, **attrs})
       for where in ("half_pixel", "asymmetric", "pytorch_half_pixel")
       for mode, attrs in (("nearest", {"nearest_mode": "floor"}), ("linear", {}), ("cubic", {}))},
    "Resize of two axes": ("Resize", {"x": floats(1, 2, 4, 5)}, {"r": None, "s": np.array([2, 3], "float32")},
                           {"mode": "linear", "axes": [3, 2], "opset": 18}),
    "Resize of batches": ("Resize", {"x": floats(2, 4)}, {"r": None, "s": np.array([2, 1], "float32")}, {}),
    "older Resize": ("Resize", {"x": floats(1, 2, 4, 5)}, {"s": np.array([1, 1, 2, 3], "float32")}, {"opset": 10}),
    "Upsample": ("Upsample", {"x": floats(1, 2, 4, 5)}, {"s": np.array([1, 1, 2, 3], "float32")},
                 {"opset": 9, "mode": "linear"}),
    "older Upsample": ("Upsample", {"x": floats(1, 2, 4, 5)}, {}, {"opset": 7, "scales": [1.0, 1.0, 2.0, 3.0]}),
    **{f"older {type_} {attrs}": (type_, {"x": X}, {}, {"opset": opset, **attrs}) for type_, opset, attrs in [
        ("Squeeze", 11, {}), ("Unsqueeze", 12, {"axes": [0, -1]}), ("Slice", 9, {"starts": [1, 0], "ends": [3, -1],
        "axes": [1, 2]}), ("Slice", 9, {"starts": [0, 1], "ends": [1, 9]}), ("Pad", 10, {"pads": [0, 1, 1, 1, 0, 1],
        "value": 2.0}), ("Pad", 10, {"pads": [0, 1, 1, 1, 0, 1], "mode": "reflect"}), ("Clip", 10, {"max": 0.5}),
        ("Clip", 10, {"min": -0.5, "max": 0.5}), ("ReduceSum", 11, {"axes": [-1], "keepdims": 0}),
        ("Softmax", 11, {}), ("Softmax", 12, {"axis": 2}), ("LogSoftmax", 11, {"axis": 0}), ("Hardmax", 11, {})]},
    "older TopK": ("TopK", {"x": X}, {}, {"outputs": 2, "k": 2, "opset": 9, "axis": 1}),
    "older Split": ("Split", {"x": X}, {}, {"outputs": 2, "split": [1, 3], "opset": 11, "axis": 2}),
    "older Scatter": ("Scatter", {"x": floats(3, 3)}, {"i": ints(1, 0, 2, shape=(1, 3)), "u": floats(1, 3)},
                      {"opset": 9}),
}  # fmt: skip


PLANES, BYTES = floats(2, 2, 5, 6), np.arange(60).reshape(1, 2, 5, 6).astype("uint8") * 4
SCALE, ZERO = {"s": np.float32(0.05)}, {"z": np.uint8(120)}
SMALL = {"w": np.arange(-9, 9).reshape(1, 2, 3, 3).astype("int8"), "ws": np.float32([0.02]), "wz": np.int8([0])}
Y_SCALE = {"ys": np.float32(1.5), "yz": np.uint8(128)}
QUANTIZED = {
    "QuantizeLinear": ("QuantizeLinear", {"x": X}, {**SCALE, **ZERO}, {}),
    "QuantizeLinear without zero": ("QuantizeLinear", {"x": X}, SCALE, {}),
    "QuantizeLinear along": (
        "QuantizeLinear", {"x": X}, {"s": np.float32([0.1, 0.2, 0.3]), "z": np.int8([1, -2, 3])}, {"axis": 1}),
    "DequantizeLinear": ("DequantizeLinear", {"x": BYTES}, {**SCALE, **ZERO}, {}),
    "DequantizeLinear along": (
        "DequantizeLinear", {"x": BYTES}, {"s": np.float32([0.1, 0.2]), "z": np.uint8([1, 2])}, {"axis": 1}),
    "DynamicQuantizeLinear": ("DynamicQuantizeLinear", {"x": X}, {}, {"outputs": 3}),
    "MatMulInteger": (
        "MatMulInteger", {"x": BYTES},
        {"w": np.arange(-6, 6).reshape(6, 2).astype("int8"), **ZERO, "v": np.int8(2)}, {}),
    "QLinearMatMul": (
        "QLinearMatMul", {"x": BYTES},
        {**SCALE, **ZERO, "w": np.arange(12).reshape(6, 2).astype("uint8"), "b": np.float32(0.1), "c": np.uint8(5),
         **Y_SCALE}, {}),
    "ConvInteger": ("ConvInteger", {"x": BYTES}, {"w": SMALL["w"].view("uint8"), **ZERO}, {"pads": [1, 1, 0, 0]}),
    "QLinearConv": (
        "QLinearConv", {"x": BYTES}, {**SCALE, **ZERO, **SMALL, **Y_SCALE, "b": np.int32([40])}, {"strides": [2, 1]}),
    "LRN": ("LRN", {"x": floats(1, 5, 2, 3)}, {}, {"size": 3, "alpha": 0.1, "beta": 0.7, "bias": 1.5}),
    **{f"RoiAlign {where}": (
        "RoiAlign", {"x": PLANES}, {"r": np.float32([[0, 0, 4, 4], [1, 1, 5, 3]]), "i": ints(1, 0)},
        {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "coordinate_transformation_mode": where})
       for where in ("half_pixel", "output_half_pixel")},
    "RoiAlign of old": (
        "RoiAlign", {"x": PLANES[:1]}, {"r": np.float32([[0, 0, 4, 4]]), "i": ints(0)}, {"opset": 11}),
    **{f"Unique {attrs}": ("Unique", {"x": ints(3, 1, 1, 2, 3, 0, shape=(3, 2))}, {}, {"outputs": 4, **attrs})
       for attrs in ({}, {"sorted": 0}, {"axis": 0}, {"axis": 1, "sorted": 0})},
}  # fmt: skip
# What needs to know sizes.
SIZED = {
    **{f"{type_} {way} {attrs}": (type_, {"x": PLANES}, kept, {"auto_pad": way, **attrs})
       for way in ("SAME_UPPER", "SAME_LOWER")
       for type_, kept, attrs in [
           ("Conv", {"w": floats(3, 2, 4, 3)}, {"strides": [2, 2]}), ("MaxPool", {}, {"kernel_shape": [2, 3]}),
           ("AveragePool", {}, {"kernel_shape": [2, 3], "strides": [2, 1]}),
           ("ConvTranspose", {"w": floats(2, 3, 3, 3)}, {"strides": [2, 2]})]},
    "ConvTranspose to a size": (
        "ConvTranspose", {"x": PLANES}, {"w": floats(2, 3, 3, 3)}, {"output_shape": [10, 13], "strides": [2, 2]}),
    **{f"MaxPool {order}": (
        "MaxPool", {"x": PLANES}, {}, {"outputs": 2, "kernel_shape": [2, 2], "strides": [2, 2], "storage_order": order})
       for order in (0, 1)},
}  # fmt: skip


@pytest.mark.parametrize("name", SIZED)
def test_a_node_of_known_sizes(name, tmp_path):
    type_, fed, kept, attrs = SIZED[name]
    agrees(saved(tmp_path, type_, fed, kept, **attrs), fed)


@pytest.mark.parametrize("sizes", [None, [2, 2, 5, 6]])
def test_maxima_are_put_back(sizes, tmp_path):
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    kept = {} if sizes is None else {"sizes": ints(*sizes)}
    nodes = [
        onnx.helper.make_node("MaxPool", ["x"], ["p", "i"], **window),
        onnx.helper.make_node("MaxUnpool", ["p", "i", *kept], ["y0"], **window),
    ]
    given = {"x": PLANES if sizes else PLANES[:, :, :4]}  # without sizes what is left over has no place
    agrees(of_floats(saved_graph(tmp_path, nodes, given, kept, typed=False)), given)


def of_floats(path):
    """The file, whose result ONNX itself cannot tell the type of."""
    model = onnx.load(path)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    onnx.save(model, path)
    return path


CONTRIBUTED = {
    "Gelu": (["x"], {}), "BiasGelu": (["x", "b"], {}), "FastGelu": (["x", "b"], {}), "QuickGelu": (["x"], {}),
    "FusedMatMul": (["x", "w"], {"transB": 1, "alpha": 0.5}),
    "SkipLayerNormalization": (["x", "x", "b", "b"], {"epsilon": 1e-5}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRIBUTED)
def test_operators_that_onnx_runtime_writes(name, tmp_path):
    names, attrs = CONTRIBUTED[name]
    given, kept = {"x": floats(2, 3, 4)}, {"b": floats(4), "w": floats(5, 4)}
    node = onnx.helper.make_node(name, names, ["y0"], domain="com.microsoft", **attrs)
    kept = {k: v for k, v in kept.items() if k in names}
    path = saved_graph(tmp_path, [node], given, kept, domains=["com.microsoft"], typed=False)
    agrees(of_floats(path), given)


@pytest.mark.parametrize("open_dims", [(), (0, 1, 2)], ids=["known", "open"])
@pytest.mark.parametrize("name", [*CASES, *QUANTIZED])
def test_a_node(name, open_dims, tmp_path):
    type_, fed, kept, attrs = (CASES | QUANTIZED)[name]
    agrees(saved(tmp_path, type_, fed, kept, open_dims=open_dims, **attrs), fed)
