"""Operators of Programs in Paddle's words, as code that looks for operators reads them."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.errors import ArgumentError, UnsupportedError

F = paddle.nn.functional


@pytest.fixture
def block():
    main = static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, static.Program()):
        x, y = static.data("x", [-1, 4]), static.data("y", [4, 3])
        image = static.data("image", [-1, 3, 8, 8])
        F.softmax(static.nn.fc(x, 8, activation="relu"))
        paddle.matmul(x, y, transpose_x=True)
        static.nn.batch_norm(static.nn.conv2d(image, 4, 3))
        paddle.concat([x * 2.0, x.reshape([-1, 4])])
        static.nn.embedding(static.data("ids", [-1, 1], "int64"), [10, 8])
        loss = paddle.mean(F.cross_entropy(x, static.data("label", [-1, 1], "int64")))
        paddle.optimizer.Adam(parameters=[static.create_parameter([2], "float32")])
        F.relu6(loss)
    return main.global_block()


def of_type(block, kind):
    (found,) = [op for op in block.ops if op.type == kind]
    return found


def test_products(block):
    product, other = (of_type(block, kind) for kind in ("mul", "matmul_v2"))
    assert product.input("X") + product.input("Y") == ["x", "fc_0.w_0"] and product.attr("x_num_col_dims") == 1
    assert of_type(block, "elementwise_add").input("Y") == ["fc_0.b_0"]
    assert other.input("X") + other.input("Y") == ["x", "y"] and other.attr("trans_x") is True
    assert other.input_names == ["X", "Y"] and other.output("Out") == other.output_arg_names


def test_layers(block):
    conv, norm, look_up = (of_type(block, kind) for kind in ("conv2d", "batch_norm", "lookup_table_v2"))
    assert conv.input("Filter") == ["conv2d_0.w_0"] and conv.input("Input") == ["image"]
    assert conv.attr("strides") == [1, 1] and conv.output("Output") == norm.input("X")
    assert norm.input("Mean") == norm.output("MeanOut") == ["batch_norm_0.w_1"] and norm.attr("is_test") is False
    assert look_up.input("W") == ["embedding_0.w_0"] and look_up.input("Ids") == ["ids"]
    assert of_type(block, "softmax_with_cross_entropy").input("Label") == ["label"]


def test_numbers_among_the_inputs_are_attributes(block):
    scale = of_type(block, "scale")
    assert scale.input("X") == ["x"] and scale.attr("scale") == 2.0
    assert scale.output("Out")[0] in of_type(block, "concat").input("X")


def test_where_an_operator_stands(block):
    op = of_type(block, "concat")
    assert block.ops[op.idx] is op and op.block is block and op.desc.type() == "concat"
    assert block.var(op.output("Out")[0]).op is op and block.var("x").op is None


def test_operators_are_printed_with_slots_and_attributes(block):
    scale = of_type(block, "scale")
    out = scale.output("Out")
    assert str(scale).startswith(f"{{Out={out}}} = scale(inputs={{X=['x'], ") and "scale = 2.0" in str(scale)
    assert scale.to_string(True) == str(scale)
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [1])
        static.nn.cond(x > 0, lambda: x * 2, lambda: x)
    assert "block[1]" in str(main.global_block().ops[-1])


def test_attributes_are_set_by_their_names():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2, 3])
        z = F.softmax(x * 2.0, axis=1)
    scale, softmax = main.global_block().ops
    scale._set_attr("scale", 3.0)
    softmax._set_attr("axis", 0)
    given = np.arange(6, dtype="float32").reshape(2, 3)
    (found,) = static.Executor().run(main, feed={"x": given}, fetch_list=[z])
    np.testing.assert_allclose(found, F.softmax(paddle.to_tensor(given * 3), axis=0).numpy(), rtol=1e-6)
    with pytest.raises(ArgumentError, match="softmax has no attribute 'twist', it has axis"):
        softmax._set_attr("twist", 1)


def test_an_attribute_that_would_take_several_operators_is_not_set(block):
    with pytest.raises(UnsupportedError, match="conv2d with the input Bias"):
        of_type(block, "conv2d")._set_attr("strides", [2, 2])


def test_updates_have_the_names_of_optimizers():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        loss = static.nn.fc(static.data("x", [2, 3]), 1).mean()
        paddle.optimizer.Momentum(use_nesterov=True).minimize(loss)
    updates = [op for op in main.global_block().ops if op.type == "momentum"]
    assert sorted(op.input("Param")[0].split(".")[-1] for op in updates) == ["b_0", "w_0"]


def test_blocks_print_and_variables_tell_what_is_fed():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4])
        y = static.nn.cond(x.sum() > 0, lambda: x * 2, lambda: x)
    block = main.global_block()
    assert block.to_string() == str(block) == str(main).removeprefix("program\n\n")
    assert "block 0" not in str(main.block(1)) and str(main.block(1)).startswith("block 1 in 0")
    assert [v.is_data for v in (x, y)] == [v.need_check_feed for v in (x, y)] == [True, False]
