"""Programs as bytes and back, and what Paddle keeps of programs in C++."""

import random
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from tests.fuzz.damage import damaged
from vitrify import static
from vitrify.core.errors import ArgumentError, FileFormatError, UnsupportedError

BY_PADDLE = Path(__file__).parents[1] / "data" / "paddle_program" / "by_hand.desc"
X = np.arange(8, dtype="float32").reshape(2, 4) / 8


@pytest.fixture(autouse=True)
def _a_scope_of_its_own():
    with static.scope_guard(static.Scope()):
        yield


@pytest.fixture
def trained():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss = paddle.mean(static.nn.fc(static.data("x", [None, 4]), 3, activation="relu"))
        paddle.optimizer.SGD(0.5).minimize(loss)
    return main, startup, loss


def test_a_program_comes_back_and_trains(trained):
    main, startup, loss = trained
    data = main.desc.serialize_to_string()
    assert isinstance(data, bytes)
    again = static.Program.parse_from_string(data)
    assert again.desc.serialize_to_string() == data and str(again) == str(main)
    exe = static.Executor()
    exe.run(startup)
    first, second = (exe.run(again, feed={"x": X}, fetch_list=[loss.name])[0].item() for _ in range(2))
    assert second < first


def test_descriptions(trained):
    main, _, _ = trained
    desc = main.desc
    block, first = desc.block(0), desc.block(0).op(0)
    assert (desc.num_blocks(), block.id, block.parent, block.op_size()) == (1, 0, -1, len(main.global_block().ops))
    assert (first.type(), first.input("X"), first.output("Out")) == ("mul", ["x"], ["fc_0.tmp_0"])
    assert (first.id(), first.attr("x_num_col_dims"), first.has_attr("twist")) == (0, 1, False)
    assert first.inputs() == {"X": ["x"], "Y": ["fc_0.w_0"]} and first.outputs() == {"Out": ["fc_0.tmp_0"]}
    assert (first.input_arg_names(), first.output_arg_names()) == (["x", "fc_0.w_0"], ["fc_0.tmp_0"])
    assert set(first.attr_names()) == set(first.get_attr_map()) == {"x_num_col_dims", "y_num_col_dims"}
    weight = block.find_var(b"fc_0.w_0")
    assert (weight.name(), weight.shape(), weight.dtype()) == ("fc_0.w_0", [4, 3], paddle.float32)
    assert weight.persistable() and weight.is_parameter() and not weight.stop_gradient() and weight.lod_level() == 0
    assert block.has_var("x") and block.find_var("nobody") is None and "x" in [v.name() for v in block.all_vars()]
    x = main.global_block().var("x").desc
    x.set_stop_gradient(False)
    x.set_persistable(True)
    assert main.global_block().var("x").persistable and not x.stop_gradient()
    desc.flush()
    with pytest.raises(ArgumentError, match="no operator 99"):
        block.op(99)
    with pytest.raises(ArgumentError, match="no block 1"):
        desc.block(1)
    scale = static.Program()
    with static.program_guard(scale):
        y = static.data("x", [2]) * 2.0
    scale.global_block().desc.op(0)._set_attr("scale", 3.0)
    assert static.Executor().run(scale, feed={"x": [1.0, 2.0]}, fetch_list=[y])[0].tolist() == [3, 6]


def test_a_program_of_paddles():
    """By PaddlePaddle 2.6.2: it takes what nothing gives, and its variables have their names."""
    program = static.Program.parse_from_string(BY_PADDLE.read_bytes())
    block = program.global_block()
    assert [v.name for v in block.inputs] == ["x"] and block.var("x").shape == [-1, 4]
    names = ["batch_norm_0.b_0", "batch_norm_0.w_0", "fc_0.b_0", "fc_0.w_0"]
    assert sorted(p.name for p in program.all_parameters()) == names
    values = {name: np.ones(block.var(name).shape, "float32") for name in names}
    values |= {"batch_norm_0.w_1": np.zeros(3, "float32"), "batch_norm_0.w_2": np.ones(3, "float32")}
    for name, value in values.items():
        static.global_scope().var(name).set(value)
    found = static.Executor().run(program, feed={"x": X}, fetch_list=["fc_0.tmp_2", "softmax_0.tmp_0"])
    np.testing.assert_allclose(found[0], np.repeat(X.sum(1, keepdims=True) + 1, 3, 1), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.full((2, 3), 1 / 3), rtol=1e-6)


def test_other_things_are_refused():
    for data in (b"", b"garbage", b"\x93VTPROGR", BY_PADDLE.read_bytes()[:-3]):
        with pytest.raises(FileFormatError):
            static.Program.parse_from_string(data)
    with pytest.raises(TypeError, match="takes bytes, but received str"):
        static.Program.parse_from_string("text")


@pytest.mark.parametrize("by_paddle", [False, True])
def test_damaged_bytes_end_well(by_paddle, trained):
    data = BY_PADDLE.read_bytes() if by_paddle else trained[0].desc.serialize_to_string()
    ends = set()
    for seed in range(300):
        try:
            static.Program.parse_from_string(damaged(data, random.Random(seed)))
            ends.add("read")
        except (FileFormatError, UnsupportedError):
            ends.add("refused")
    assert ends == ({"read", "refused"} if by_paddle else {"refused"})
