"""Blocks changed by hand, as users of Paddle's static mode write it: operators by the names of Paddle's programs.

The numbers are what PaddlePaddle 3.3.1 gives for the same lines (FLAGS_enable_pir_api=0).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.ir.program import Block, Program, Variable

X = np.array([[1, -2, 3.0]], "float32")


class Net(NamedTuple):
    """x -> relu -> y, y * 2 -> z."""

    main: Program
    block: Block
    x: Variable
    y: Variable
    z: Variable

    def run(self, *fetches: Any) -> list[Any]:
        found = paddle.static.Executor().run(self.main, feed={"x": X}, fetch_list=list(fetches))
        return [a.astype(float).round(4).tolist() for a in found]

    def out(self, name: str = "o") -> Variable:
        return self.block.create_var(name=name, shape=[-1, 3], dtype="float32")


@pytest.fixture
def net() -> Iterator[Net]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3])
        y = paddle.nn.functional.relu(x)
        yield Net(main, main.global_block(), x, y, y * 2.0)


def test_append_op_takes_names_and_variables(net: Net) -> None:
    out = net.out()
    net.block.append_op(type="tanh", inputs={"X": [net.z.name]}, outputs={"Out": ["o"]})
    net.block.append_op(
        type="scale", inputs={"X": out}, outputs={"Out": net.out("p")},
        attrs={"scale": 3.0, "bias": 1.0, "bias_after_scale": True},
    )  # fmt: skip
    assert net.run("o", "p") == [[[0.964, 0.0, 1.0]], [[3.8921, 1.0, 4.0]]]


def test_attributes_that_are_not_given_are_what_paddle_takes_them_to_be(net: Net) -> None:
    for kind in ("scale", "leaky_relu", "softmax", "reduce_sum"):
        net.block.append_op(type=kind, inputs={"X": net.x}, outputs={"Out": net.out(kind)})
    scaled, leaky, soft, summed = net.run("scale", "leaky_relu", "softmax", "reduce_sum")
    assert scaled == X.tolist() and leaky == [[1.0, -0.04, 3.0]]
    assert soft == [[0.1185, 0.0059, 0.8756]] and summed == [1.0, -2.0, 3.0]


def test_a_result_takes_shape_and_dtype_of_what_the_operator_gives(net: Net) -> None:
    bare = net.block.create_var(name="bare")
    wrong = net.block.create_var(name="wrong", shape=[7], dtype="int64")
    for var in (bare, wrong):
        net.block.append_op(type="tanh", inputs={"X": net.z}, outputs={"Out": var})
        assert var.shape == [-1, 3] and var.dtype == paddle.float32


def test_an_operator_that_writes_what_it_reads(net: Net) -> None:
    net.block.append_op(type="scale", inputs={"X": net.y}, outputs={"Out": net.y}, attrs={"scale": 10.0})
    after = net.y + 0.0
    assert net.run(net.y, net.z, after) == [[[10.0, 0.0, 30.0]], [[2.0, 0.0, 6.0]], [[10.0, 0.0, 30.0]]]
    assert net.block.ops[2].output_arg_names == [net.y.name]


def test_insert_op_changes_what_stands_behind(net: Net) -> None:
    for _ in range(2):
        net.block._insert_op(1, type="scale", inputs={"X": net.y}, outputs={"Out": net.y}, attrs={"scale": 10.0})
    assert [op.op.name for op in net.block.ops] == ["relu", "scale", "scale", "multiply"]
    assert net.run(net.y, net.z) == [[[100.0, 0.0, 300.0]], [[200.0, 0.0, 600.0]]]


def test_prepend_op_changes_what_is_fed(net: Net) -> None:
    net.block._prepend_op(type="scale", inputs={"X": net.x}, outputs={"Out": net.x}, attrs={"scale": -1.0})
    assert net.run(net.x, net.z) == [[[-1.0, 2.0, -3.0]], [[0.0, 4.0, 0.0]]]


@pytest.mark.parametrize("steps", ["remove, insert", "insert, remove", "insert behind, remove"])
def test_an_operator_in_the_place_of_another(net: Net, steps: str) -> None:
    at = 1 if "behind" in steps else 0
    for step in steps.split(", "):
        if step == "remove":
            net.block._remove_op(1 if steps == "insert, remove" else 0)
        else:
            net.block._insert_op(at, type="abs", inputs={"X": net.x}, outputs={"Out": net.y})
    assert [op.op.name for op in net.block.ops] == ["abs", "multiply"]
    assert net.run(net.z, net.y) == [[[2.0, 4.0, 6.0]], [[1.0, 2.0, 3.0]]]


def test_what_is_taken_out_again_leaves_no_trace(net: Net) -> None:
    net.block._insert_op(1, type="scale", inputs={"X": net.y}, outputs={"Out": net.y}, attrs={"scale": 10.0})
    net.block._remove_op(1)
    assert [op.op.name for op in net.block.ops] == ["relu", "multiply"]
    assert net.run(net.y, net.z) == [[[1.0, 0.0, 3.0]], [[2.0, 0.0, 6.0]]]


def test_gradients_pass_what_was_put_in(net: Net) -> None:
    net.x.stop_gradient = False
    out = net.out()
    net.block.append_op(type="tanh", inputs={"X": net.x}, outputs={"Out": out})
    net.block.append_op(type="square", inputs={"X": out}, outputs={"Out": out})
    grads = paddle.static.gradients([out], [net.x])
    np.testing.assert_allclose(net.run(*grads)[0], 2 * np.tanh(X) * (1 - np.tanh(X) ** 2), atol=1e-4)


def test_renaming(net: Net) -> None:
    net.out("y2")
    net.block.ops[0]._rename_output(net.y.name, "y2")
    net.block.ops[1]._rename_input(net.y.name, "y2")
    net.block._rename_var(net.z.name, "result")
    assert net.run("y2", "result") == [[[1.0, 0.0, 3.0]], [[2.0, 0.0, 6.0]]]


def test_what_operators_tell(net: Net) -> None:
    both = paddle.concat([net.y, net.z])
    net.block.append_op(type="softmax", inputs={"X": net.z}, outputs={"Out": net.out()}, attrs={"axis": 0})
    relu, joined, softmax = net.block.ops[0], net.block.ops[2], net.block.ops[3]
    assert (relu.input("X"), relu.output("Out"), relu.output_names) == (["x"], [net.y.name], ["Out"])
    assert [n for name in joined.input_names for n in joined.input(name)] == [net.y.name, net.z.name]
    assert softmax.attr("axis") == 0
    softmax._set_attr("axis", -1)
    assert net.run("o") == [[[0.0179, 0.0024, 0.9796]]] and joined.output("Out") == [both.name]
    with pytest.raises(ArgumentError, match="relu has no input 'Q'"):
        relu.input("Q")
    with pytest.raises(ArgumentError, match="relu has no output 'Q'"):
        relu.output("Q")


def test_parameters_of_a_block(net: Net) -> None:
    w = net.block.create_parameter(
        shape=[3, 2], dtype="float32", name="w", initializer=paddle.nn.initializer.Constant(2.0)
    )
    net.block.append_op(type="matmul_v2", inputs={"X": net.z, "Y": w}, outputs={"Out": net.out()})
    net.block.append_op(type="scale", inputs={"X": w}, outputs={"Out": w}, attrs={"scale": 0.5})
    paddle.static.Executor().run(paddle.static.default_startup_program())
    assert w.trainable and w.persistable and [p.name for p in net.block.iter_parameters()] == ["w"]
    assert net.run("o") == [[[16.0, 16.0]]] and net.run("o") == [[[8.0, 8.0]]]
    with pytest.raises(ArgumentError, match="takes no 'colour'"):
        net.block.create_parameter(shape=[1], colour="red")


SLOTS = {"W": "Param", "G": "Grad", "V": "Velocity", "R": "LearningRate"}
STEPS = {
    "sgd": ("WGR", {}, {"ParamOut": "W"}, [[1.9, 2.2, 1.7]]),
    "momentum": (
        "WGVR", {"mu": 0.9}, {"ParamOut": "W", "VelocityOut": "V"}, [[1.855, 2.155, 1.655], [1.45, -1.55, 3.45]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", STEPS)
def test_updates_appended_by_hand(net: Net, kind: str) -> None:
    reads, attrs, writes, expected = STEPS[kind]
    starts = {"W": ([3], 2.0), "V": ([3], 0.5), "R": ([1], 0.1)}
    held = {
        name: net.block.create_parameter(shape=shape, name=name, initializer=paddle.nn.initializer.Constant(value))
        for name, (shape, value) in starts.items()
    }
    held["G"] = net.block.create_var(name="G")
    net.block.append_op(type="reduce_sum", inputs={"X": net.x}, outputs={"Out": held["G"]})
    net.block.append_op(
        type=kind, inputs={SLOTS[c]: held[c] for c in reads}, outputs={s: held[c] for s, c in writes.items()},
        attrs=attrs,
    )  # fmt: skip
    paddle.static.Executor().run(paddle.static.default_startup_program())
    assert net.run(*writes.values()) == expected


@pytest.mark.parametrize(
    ("kind", "reads", "attrs", "expected"),
    [
        ("sum", {"X": ["x", "z"]}, {}, [[3.0, -2.0, 9.0]]),
        ("mean", {"X": "x"}, {}, 0.6667),
        ("squared_l2_norm", {"X": "x"}, {}, [14.0]),
        ("clip_by_norm", {"X": "x"}, {"max_norm": 1.0}, [[0.2673, -0.5345, 0.8018]]),
        ("huber_loss", {"X": "x", "Y": "z"}, {"delta": 1.0}, [[0.5, 1.5, 2.5]]),
        ("dropout", {"X": "x"}, {"is_test": True}, [[0.5, -1.0, 1.5]]),
    ],
)
def test_operators_of_training(net: Net, kind: str, reads: Any, attrs: Any, expected: Any) -> None:
    known = {"x": net.x, "z": net.z}
    given = {slot: [known[n] for n in ([names] if isinstance(names, str) else names)] for slot, names in reads.items()}
    net.block.append_op(type=kind, inputs=given, outputs={"Out": net.out()}, attrs=attrs)
    assert net.run("o") == [expected]


def test_the_statistics_of_a_layer_norm(net: Net) -> None:
    slots = {slot: net.block.create_var(name=slot) for slot in ("Y", "Mean", "Variance")}
    made = net.block.append_op(type="layer_norm", inputs={"X": net.x}, outputs=slots, attrs={"begin_norm_axis": 1})
    assert net.run("Mean", "Variance") == [[0.6667], [4.2222]] and made.type == "layer_norm"


def test_an_operator_that_counts(net: Net) -> None:
    count = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    net.block.append_op(type="increment", inputs={"X": count}, outputs={"Out": count}, attrs={"step": 2.0})
    paddle.static.Executor().run(paddle.static.default_startup_program())
    assert [net.run(count)[0] for _ in range(2)] == [[2.0], [4.0]]


def test_what_is_refused(net: Net) -> None:
    block = net.block
    with pytest.raises(ArgumentError, match="no such variable"):
        block.append_op(type="tanh", inputs={"X": net.z}, outputs={"Out": ["nope"]})
    with pytest.raises(ArgumentError, match="no operator 'no_such_op'"):
        block.append_op(type="no_such_op", inputs={"X": net.z}, outputs={"Out": net.z})
    with pytest.raises(ArgumentError, match="scale has no input 'X'"):
        block.append_op(type="scale", outputs={"Out": net.z})
    with pytest.raises(UnsupportedError, match="zzz=3"):
        block.append_op(type="scale", inputs={"X": net.z}, outputs={"Out": net.z}, attrs={"zzz": 3})
    with pytest.raises(ArgumentError, match="Its type is missing"):
        block.append_op(inputs={"X": net.z})
    with pytest.raises(ArgumentError, match="outside the 2 operators"):
        block._insert_op(9, type="scale", inputs={"X": net.z}, outputs={"Out": net.z})
    with pytest.raises(ArgumentError, match="outside the 2 operators"):
        block._remove_op(2)
    with pytest.raises(ArgumentError, match="no variable is named 'no'"):
        block._var_recursive("no")
    assert len(block.ops) == 2 and block._find_var_recursive("no") is None


def test_pruning_by_the_older_name(net: Net) -> None:
    net.y * 3.0
    assert [op.op.name for op in net.main._prune(net.z).global_block().ops] == ["relu", "multiply"]
