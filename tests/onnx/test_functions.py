"""Functions of a model, graphs inside of nodes, and what is refused of them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import vitrify as paddle
from tests.onnx.nodes import agrees, saved, saved_graph
from vitrify.core.errors import FileFormatError, UnsupportedError
from vitrify.onnx import running

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3)).astype("float32")
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def constant(name, value):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value)))


def referring(node, **names):
    """The node with attributes that name those of the function's call."""
    for name, (outer, kind) in names.items():
        node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=outer, type=kind))
    return node


LEAKY = referring(helper.make_node("LeakyRelu", ["x"], ["a"]), alpha=("slope", onnx.AttributeProto.FLOAT))
HALVED = [LEAKY, constant("half", np.float32(0.5)), helper.make_node("Mul", ["a", "half"], ["y"])]


def halved(**given):
    return helper.make_function("own", "Halved", ["x"], ["y"], HALVED, OPSETS, **given)


def test_a_function_is_recorded_in_place_of_its_calls(tmp_path):
    twice = helper.make_function(
        "own", "Twice", ["x", "shift"], ["y", "z"],
        [helper.make_node("Halved", ["x"], ["y"], domain="own", slope=0.25),
         helper.make_node("Halved", ["y"], ["w"], domain="own", slope=0.5), helper.make_node("Neg", ["w"], ["z"])],
        OPSETS,
    )  # fmt: skip
    nodes = [
        helper.make_node("Twice", ["x", ""], ["y0", "y1"], domain="own"),
        helper.make_node("Halved", ["x"], ["y2"], domain="own"),  # without the attribute: LeakyRelu's own default
    ]
    path = saved_graph(tmp_path, nodes, {"x": X}, None, 3, functions=[halved(attributes=["slope"]), twice],
                       domains=["own"])  # fmt: skip
    agrees(path, {"x": X})


def test_attributes_of_a_function_have_defaults(tmp_path):
    default = helper.make_attribute("slope", 0.75)
    nodes = [helper.make_node("Halved", ["x"], ["y0"], domain="own")]
    path = saved_graph(tmp_path, nodes, {"x": X}, functions=[halved(attribute_protos=[default])], domains=["own"])
    agrees(path, {"x": X})


def test_functions_that_call_themselves_and_those_that_grow_are_refused(tmp_path, monkeypatch):
    def calling(name, *others):
        inner = [helper.make_node(o, ["x"], [f"y{i}"], domain="own") for i, o in enumerate(others)]
        return helper.make_function("own", name, ["x"], ["y0"], inner, OPSETS)

    nodes = [helper.make_node("F0", ["x"], ["y0"], domain="own")]
    own = saved_graph(tmp_path, nodes, {"x": X}, functions=[calling("F0", "F0")], domains=["own"],
                      typed=False)  # fmt: skip
    with pytest.raises(FileFormatError, match="functions call each other deeper than 32"):
        paddle.onnx.load(own)
    growing = [calling(f"F{i}", f"F{i + 1}", f"F{i + 1}") for i in range(20)]
    leaf = helper.make_function("own", "F20", ["x"], ["y0"], [helper.make_node("Neg", ["x"], ["y0"])], OPSETS)
    many = saved_graph(tmp_path, nodes, {"x": X}, functions=[*growing, leaf], domains=["own"],
                       typed=False)  # fmt: skip
    monkeypatch.setattr(running, "MOST_NODES", 1000)
    with pytest.raises(FileFormatError, match="more than 1000 nodes together"):
        paddle.onnx.load(many)


def test_operators_of_others_are_not_taken_for_those_of_onnx(tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["y0"], domain="com.example")]
    with pytest.raises(UnsupportedError, match=r"the operator 'Relu' of 'com\.example' cannot be read"):
        paddle.onnx.load(saved_graph(tmp_path, nodes, {"x": X}, domains=["com.example"]))


def floats(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


@pytest.mark.parametrize("turns", [0, 1, 4])
def test_a_loop_stacks_what_its_turns_give(turns, tmp_path):
    body = helper.make_graph(
        [helper.make_node("Add", ["c", "x"], ["d"]), helper.make_node("ReduceSum", ["d"], ["s"], keepdims=0),
         helper.make_node("Identity", ["d"], ["e"]), helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", 9, []),
         floats("c", [2, 3])],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), floats("d", [2, 3]), floats("e", [2, 3]),
         floats("s", [])],
    )  # fmt: skip
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y0", "y1", "y2"], body=body)]
    fed = {"x": X, "n": np.array(turns)}
    agrees(saved_graph(tmp_path, nodes, fed, None, 3), fed)


@pytest.mark.parametrize("attrs", [
    {}, {"scan_input_axes": [1], "scan_output_axes": [1]}, {"scan_input_directions": [1]},
    {"scan_output_directions": [1]}, {"scan_output_axes": [-1]},
])  # fmt: skip
@pytest.mark.parametrize("open_dims", [(), (0, 1)])
def test_a_scan(attrs, open_dims, tmp_path):
    axis = attrs.get("scan_input_axes", [0])[0]
    start = X.sum(axis)
    body = helper.make_graph(
        [helper.make_node("Add", ["c", "x"], ["d"]), helper.make_node("Neg", ["d"], ["e"])], "body",
        [floats("c"), floats("x")], [floats("d"), floats("e")],
    )  # fmt: skip
    nodes = [helper.make_node("Scan", ["s", "t"], ["y0", "y1"], body=body, num_scan_inputs=1, **attrs)]
    fed = {"s": start, "t": X}
    agrees(saved_graph(tmp_path, nodes, fed, None, 2, open_dims), fed)


def test_factors_are_no_parameters(tmp_path):
    fed = {"x": RNG.normal(size=(1, 2, 3, 4)).astype("float32")}
    path = saved(tmp_path, "Resize", fed, {"r": None, "s": np.array([1, 1, 2, 2], "float32")}, mode="linear")
    assert not paddle.onnx.load(path).state_dict()


def test_operator_sets_outside_of_the_known_ones_are_refused(tmp_path):
    path = saved(tmp_path, "Relu", {"x": X}, {}, opset=6)
    with pytest.raises(UnsupportedError, match="operator set 6; 7 to 28 can be read"):
        paddle.onnx.load(path)
