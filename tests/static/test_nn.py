"""`static.nn`: the numbers of PaddlePaddle 3.3.1 (nn_paddle.json), parameters, and clear errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.static import nn_cases
from vitrify import static

WANTED = json.loads((Path(__file__).parent / "nn_paddle.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", nn_cases.CASES)
def test_paddles_numbers(name):
    found, wanted = nn_cases.run(paddle, name), WANTED[name]
    if name != "instance_norm":  # Paddle makes none there by default, against its documentation
        assert found["parameters"] == wanted["parameters"]
        for one, two in zip(found["after"], wanted["after"]):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    for (shape, values), (expected_shape, expected) in zip(found["outputs"], wanted["outputs"]):
        assert shape == expected_shape
        if name != "instance_norm":
            np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)


def test_instance_norm_has_a_scale_and_a_bias_as_documented():
    parameters = nn_cases.run(paddle, "instance_norm")["parameters"]
    assert parameters == [["instance_norm_0.w_0", [4]], ["instance_norm_0.b_0", [4]]]


# What PaddlePaddle 3.3.1 calls the results; it counts those of `group_norm` and `spectral_norm` with other functions'.
NAMES = {
    "fc": "fc_0.tmp_1", "fc_flat2": "fc_0.tmp_2", "fc_list": "fc_0.tmp_4", "fc_without_bias": "fc_0.tmp_1",
    "conv2d": "conv2d_0.tmp_2", "conv2d_groups": "conv2d_0.tmp_0", "conv2d_transpose": "conv2d_transpose_0.tmp_1",
    "conv3d": "conv3d_0.tmp_1", "batch_norm": "batch_norm_0.tmp_4", "batch_norm_rows": "batch_norm_0.tmp_3",
    "batch_norm_test": "batch_norm_0.tmp_2", "layer_norm": "layer_norm_0.tmp_2",
    "layer_norm_plain": "layer_norm_0.tmp_3", "instance_norm": "instance_norm_0.tmp_2", "prelu_all": "prelu_0.tmp_0",
    "embedding": "embedding_0.tmp_0", "bilinear": "bilinear_tensor_product_0.tmp_0", "row_conv": "row_conv_0.tmp_1",
    "deform_conv2d": "deformable_conv_0.tmp_1",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_paddles_names(name):
    with static.program_guard(static.Program(), static.Program()), paddle.utils.unique_name.guard():
        inputs = {key: static.data(key, *spec) for key, spec in nn_cases.INPUTS.items()}
        assert nn_cases.CASES[name](paddle, inputs).name == NAMES[name]


def test_fc_is_mul_and_elementwise_add():
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        out = static.nn.fc(static.data("x", [None, 2, 3]), 4, activation="relu", name="hidden")
        static.nn.fc(out, 2, name="hidden")
    block = main.global_block()
    first = block.ops[0]
    assert [op.type for op in block.ops] == ["mul", "elementwise_add", "relu", "mul", "elementwise_add"]
    assert (first.input("X"), first.input("Y"), first.output("Out")) == (["x"], ["hidden.w_0"], ["hidden.tmp_0"])
    assert (first.attr("x_num_col_dims"), first.attr("y_num_col_dims")) == (1, 1)
    assert [op.output("Out")[0] for op in block.ops] == [f"hidden.tmp_{i}" for i in range(5)]
    assert [p.name for p in main.all_parameters()] == ["hidden.w_0", "hidden.b_0", "hidden.w_1", "hidden.b_1"]


def test_results_are_fetched_by_name():
    main, startup, exe = static.Program(), static.Program(), static.Executor()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        static.nn.fc(static.data("x", [None, 3]), 2, weight_attr=paddle.nn.initializer.Constant(1.0), activation="relu")
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        given = {"x": np.array([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]], "float32")}
        found = exe.run(main, feed=given, fetch_list=["fc_0.tmp_1", "fc_0.tmp_2"])
    assert [v.tolist() for v in found] == [[[6, 6], [-6, -6]], [[6, 6], [0, 0]]]


X = ("x", [None, 4, 6, 6])

ERRORS = {
    "fc axis": (lambda x: static.nn.fc(x, 2, num_flatten_dims=4), ValueError, r"num_flatten_dims must lie in \[1, 3\]"),
    "fc unknown": (
        lambda x: static.nn.fc(static.data("u", [3, None]), 2),
        ValueError,
        "dimension 1 of x must",
    ),
    "fc attrs": (lambda x: static.nn.fc([x, x], 2, weight_attr=[None]), ValueError, "1 weight_attr for 2 inputs"),
    "activation": (lambda x: static.nn.fc(x, 2, activation="rellu"), ValueError, "there is no activation 'rellu'"),
    "groups": (lambda x: static.nn.conv2d(x, 4, 3, groups=3), ValueError, "groups=3 must divide the 4 channels"),
    "filter": (lambda x: static.nn.conv2d(x, 4, [3, 3, 3]), ValueError, "filter_size takes an int or 2 of them"),
    "transpose": (lambda x: static.nn.conv2d_transpose(x, 4), ValueError, "one of filter_size and output_size"),
    "layer_norm": (lambda x: static.nn.layer_norm(x, begin_norm_axis=0), ValueError, "must lie in"),
    "prelu": (lambda x: static.nn.prelu(x, "some"), ValueError, "mode must be"),
    "instance_norm": (lambda x: static.nn.instance_norm(x, param_attr=False), ValueError, "False together"),
    "auc": (lambda x: static.auc(x, x, curve="PR"), ValueError, "curve must be 'ROC'"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with static.program_guard(static.Program(), static.Program()), pytest.raises(kind, match=text):
        call(static.data(*X))


def test_gradients_reach_every_parameter():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2, 3, 6, 6])
        h = static.nn.conv2d(x, 4, 3, act="relu")
        h = static.nn.batch_norm(h)
        h = static.nn.prelu(static.nn.group_norm(h, 2), "element")
        h = static.nn.layer_norm(static.nn.instance_norm(static.nn.conv2d_transpose(h, 2, filter_size=2)))
        loss = static.nn.fc(h, 1).mean()
        pairs = static.append_backward(loss)
    trained = [p.name for p in main.all_parameters() if p.trainable]
    assert [p.name for p, _ in pairs] == trained and len(trained) == 15


def test_running_statistics_in_a_branch_change_where_it_runs():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [4, 2])
        y = static.nn.cond(x.sum() > 0, lambda: static.nn.batch_norm(x), lambda: x * 1)
    mean = next(v for v in main.all_parameters() if v.name.endswith("w_1"))
    with static.scope_guard(static.Scope()):
        exe = static.Executor()
        exe.run(startup)
        a = np.arange(8, dtype="float32").reshape(4, 2)
        exe.run(main, feed={"x": -a}, fetch_list=[y])
        assert mean.get_value().tolist() == [0, 0]
        exe.run(main, feed={"x": a}, fetch_list=[y])
        np.testing.assert_allclose(mean.get_value(), [0.3, 0.4], rtol=1e-5)


def test_setitem_changes_in_place():
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [3, 2])
        y = static.setitem(x, (slice(None), 1), paddle.ones([3])) * 2
    found = static.Executor().run(main, feed={"x": np.zeros((3, 2), "float32")}, fetch_list=[x, y])
    assert [array.tolist() for array in found] == [[[0.0, 1.0]] * 3, [[0.0, 2.0]] * 3]
