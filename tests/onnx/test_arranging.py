"""ONNX nodes that move elements, pick boxes and read images between elements, as ONNX Runtime computes them."""

import numpy as np
import onnx
import onnxruntime
import pytest

import vitrify as paddle
from tests.onnx.nodes import agrees, saved, saved_graph

RNG = np.random.default_rng(6)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


def boxes(images, count):
    low = RNG.random((images, count, 2)).astype("float32")
    return np.concatenate([low, low + RNG.random((images, count, 2)).astype("float32")], -1)


X, PLANES = floats(2, 3, 4), floats(2, 3, 5, 6)
SCORES = RNG.random((2, 3, 8)).astype("float32")
NMS = {"b": boxes(2, 8), "s": SCORES}
ROIS = {"r": np.array([[0, 0, 4, 4], [1, 1, 5, 3]], "float32"), "i": np.array([1, 0])}
LIMITS = {"m": np.array([2]), "t": np.array([0.3], "float32"), "l": np.array([0.2], "float32")}
CASES = {
    "BitShift": ("BitShift", {"x": np.array([1, 200, 7], "uint8"), "y": np.array([1, 1, 3], "uint8")}, {},
                 {"direction": "LEFT"}),
    "BitShift down": ("BitShift", {"x": np.array([1, 200, 7], "uint64"), "y": np.array([1, 3, 0], "uint64")}, {},
                      {"direction": "RIGHT"}),
    "ReverseSequence": ("ReverseSequence", {"x": floats(4, 2, 3)}, {"n": np.array([3, 1])}, {}),
    "ReverseSequence of batches": ("ReverseSequence", {"x": floats(2, 4)}, {"n": np.array([4, 2])},
                                   {"batch_axis": 0, "time_axis": 1}),
    "CenterCropPad": ("CenterCropPad", {"x": PLANES}, {"n": np.array([8, 3])}, {"axes": [2, 3], "opset": 18}),
    "Col2Im": ("Col2Im", {"x": floats(2, 12, 25)}, {"n": np.array([6, 7]), "k": np.array([2, 3])}, {"opset": 18}),
    "AffineGrid": ("AffineGrid", {"t": floats(2, 2, 3)}, {"n": np.array([2, 3, 4, 5])}, {"opset": 20}),
    **{f"GridSample {padding} {corners}": (
        "GridSample", {"x": PLANES, "g": floats(2, 3, 4, 2)}, {},
        {"mode": "cubic", "padding_mode": padding, "align_corners": corners, "opset": 20})
       for padding in ("zeros", "border", "reflection") for corners in (0, 1)},
    "RoiAlign of maxima": ("RoiAlign", {"x": PLANES}, ROIS, {"mode": "max", "sampling_ratio": 2, "output_height": 2,
                                                            "output_width": 3, "spatial_scale": 0.7}),
    "HannWindow": ("HannWindow", {}, {"n": np.array(7)}, {}),
    "BlackmanWindow": ("BlackmanWindow", {}, {"n": np.array(7)}, {"periodic": 0}),
    "DFT": ("DFT", {"x": floats(2, 8, 1)}, {}, {}),
    "DFT of complex numbers": ("DFT", {"x": floats(2, 8, 2)}, {}, {"inverse": 1}),
    "DFT of one side": ("DFT", {"x": floats(2, 8, 1)}, {}, {"onesided": 1}),
    "STFT": ("STFT", {"x": floats(2, 32, 1)}, {"s": np.array(4), "w": floats(8)}, {}),
    "NonMaxSuppression": ("NonMaxSuppression", NMS, LIMITS, {}),
    "NonMaxSuppression by middles": ("NonMaxSuppression", NMS, LIMITS, {"center_point_box": 1}),
    "NonMaxSuppression of one": ("NonMaxSuppression", {"b": NMS["b"][:1], "s": SCORES[:1, :1]}, LIMITS, {}),
    "NonMaxSuppression of none": ("NonMaxSuppression", NMS, {}, {}),
    "NonMaxSuppression of turned boxes": (
        "NonMaxSuppression", {"b": NMS["b"][..., [2, 1, 0, 3]], "s": SCORES}, {**LIMITS, "l": None}, {}),
    "Dropout": ("Dropout", {"x": X}, {}, {"outputs": 2}),
    "Resize symmetric": (
        "Resize", {"x": PLANES}, {"r": None, "s": np.array([1, 1, 1.5, 0.7], "float32")},
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric", "opset": 19}),
    "Resize of what is inside": (
        "Resize", {"x": PLANES}, {"r": None, "s": np.array([1, 1, 1.5, 2.7], "float32")},
        {"mode": "cubic", "exclude_outside": 1}),
}  # fmt: skip
FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


@pytest.mark.parametrize("name", CASES)
def test_a_node(name, tmp_path):
    type_, fed, kept, attrs = CASES[name]
    agrees(saved(tmp_path, type_, fed, kept, **attrs), fed)


def test_a_cache_is_written_from_each_samples_place_on(tmp_path):
    cache, new = floats(2, 4, 3), floats(2, 2, 3)
    fed = {"c": cache, "u": new, "w": np.array([1, 3])}
    path = saved(tmp_path, "TensorScatter", fed, {}, opset=24, mode="circular")
    wanted = cache.copy()
    wanted[0, 1:3], wanted[1, [3, 0]] = new[0], new[1]
    np.testing.assert_array_equal(paddle.onnx.load(path)(*map(paddle.to_tensor, fed.values())), wanted)


def test_running_products(tmp_path):
    path = saved(tmp_path, "CumProd", {"x": X}, {"a": np.array(1)}, opset=26, exclusive=1, reverse=1)
    wanted = np.stack([X[:, 1] * X[:, 2], X[:, 2], np.ones_like(X[:, 0])], 1)
    np.testing.assert_allclose(paddle.onnx.load(path)(paddle.to_tensor(X)), wanted, rtol=1e-6)


@pytest.mark.parametrize("bounds", [(0, 2), (1, 9), (-2, -1), (3, 1)])
def test_a_slice_between_what_only_the_run_knows(bounds, tmp_path):
    fed = {"x": X, "a": np.array([bounds[0]]), "b": np.array([bounds[1]]), "c": np.array([1])}
    node = onnx.helper.make_node("Slice", ["x", "a", "b", "c1"], ["y0"])
    del fed["c"]
    agrees(saved_graph(tmp_path, [node], fed, {"c1": np.array([1])}), fed)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_places_to_channels_in_either_order(mode, tmp_path):
    x = floats(1, 3, 4, 6)
    path = saved(tmp_path, "SpaceToDepth", {"x": x}, {}, opset=28, blocksize=2, mode=mode)
    blocks = x.reshape(1, 3, 2, 2, 3, 2)
    perm = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    wanted = blocks.transpose(perm).reshape(1, 12, 2, 3)
    np.testing.assert_array_equal(paddle.onnx.load(path)(paddle.to_tensor(x)), wanted)


FUSED = {
    "FusedConv": (["x", "w", "b"], {"activation": "Relu"}),
    "FusedConv by a bound": (["x", "w", "b"], {"activation": "LeakyRelu", "activation_params": [0.3]}),
    "FusedConv within bounds": (["x", "w"], {"activation": "Clip", "activation_params": [-0.1, 0.2]}),
    "FusedConv of a sum": (["x", "w", "b", "z"], {"activation": "Relu"}),
}


@pytest.mark.parametrize("name", FUSED)
def test_convolutions_with_activations(name, tmp_path):
    names, attrs = FUSED[name]
    fed = {"x": PLANES}
    kept = {n: v for n, v in {"w": floats(4, 3, 2, 2), "b": floats(4), "z": floats(2, 4, 4, 5)}.items() if n in names}
    node = onnx.helper.make_node("FusedConv", names, ["y0"], domain="com.microsoft", **attrs)
    path = saved_graph(tmp_path, [node], fed, kept, domains=["com.microsoft"], typed=False)
    model = onnx.load(path)
    model.graph.output[0].type.tensor_type.elem_type = FLOAT
    onnx.save(model, path)
    agrees(path, fed)


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_what_no_turn_of_a_loop_gave_has_open_sizes_of_0(turns, tmp_path):
    helper, sizes = onnx.helper, ["a", "b"]
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("Identity", ["on"], ["still"]),
         helper.make_node("Identity", ["w"], ["s"])],
        "body",
        [helper.make_tensor_value_info("i", INT, []), helper.make_tensor_value_info("on", onnx.TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", FLOAT, sizes)],
        [helper.make_tensor_value_info("still", onnx.TensorProto.BOOL, []),
         *[helper.make_tensor_value_info(n, FLOAT, sizes) for n in ("w", "s")]],
    )  # fmt: skip
    fed = {"n": np.array(turns), "x": floats(2, 3)}
    node = helper.make_node("Loop", ["n", "", "x"], ["y0", "y1"], body=body)
    agrees(saved_graph(tmp_path, [node], fed, outputs=2, open_dims=(0, 1)), fed)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("how", ["add", "mul", "amin", "amax"])
def test_numbers_put_along_an_axis_combine(how, include_self, dtype, tmp_path):
    rng = np.random.default_rng(0)
    x, values = (rng.integers(-9, 9, size).astype(dtype) for size in ((4, 3), (2, 3)))
    index = np.array([[0, 1, 1], [0, 2, 1]])

    def put(x, index, values):
        return paddle.put_along_axis(x, index, values, 0, reduce=how, include_self=include_self)

    specs = [paddle.static.InputSpec([None, 3], a.dtype.name) for a in (x, index, values)]
    paddle.onnx.export(put, str(tmp_path / "put"), input_spec=specs, opset_version=18)
    session = onnxruntime.InferenceSession(str(tmp_path / "put.onnx"))
    given = dict(zip([i.name for i in session.get_inputs()], (x, index, values)))
    (found,) = session.run(None, given)
    np.testing.assert_array_equal(found, put(*map(paddle.to_tensor, (x, index, values))).numpy())
