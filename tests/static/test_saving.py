"""Files of programs: what was learned, programs for inference, bytes; and changing programs by hand."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, static
from vitrify.core.errors import FileFormatError
from vitrify.ir.surgery import insert_op, remove_op, rename_var, replace_op
from vitrify.ir.verify import verify

X = np.arange(12, dtype="float32").reshape(4, 3) / 10


@pytest.fixture(autouse=True)
def _a_scope_and_names_of_its_own():
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield


@pytest.fixture
def exe():
    return static.Executor()


def trained(exe, steps=2):
    """main, x, prediction and loss of a small net, trained a little in the global scope."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
        h = nn.functional.dropout(static.nn.batch_norm(static.nn.fc(x, 4, activation="tanh")), 0.5)
        out = static.nn.fc(h, 2)
        loss = ((out - y) ** 2).mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
    exe.run(startup)
    for _ in range(steps):
        exe.run(main, feed={"x": X, "y": X[:, :1]})
    return main, x, out, loss


# --- save and load ---------------------------------------------------------------------------------------------------


def test_training_goes_on_from_files(exe, tmp_path):
    main, _, _, loss = trained(exe)
    static.save(main, str(tmp_path / "model"))
    feed = {"x": X, "y": X[:, :1]}
    paddle.seed(0)
    wanted = [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(2)]
    for _ in range(3):
        exe.run(main, feed=feed)
    static.load(main, str(tmp_path / "model"), exe)
    paddle.seed(0)
    assert [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(2)] == wanted


def test_states_by_name(exe, tmp_path):
    main, *_ = trained(exe)
    path = str(tmp_path / "deep" / "model")
    static.save(main, path)
    parameters, state = paddle.load(path + ".pdparams"), static.load_program_state(path)
    assert set(parameters) == set(main.state_dict("param")) and set(state) == set(main.state_dict())
    assert set(state) - set(parameters) == set(main.state_dict("opt")) == set(paddle.load(path + ".pdopt"))
    assert {f.name for f in (tmp_path / "deep").iterdir()} == {"model.pdparams", "model.pdopt", "model.pdmodel"}
    some = static.load_program_state(path, [main.global_block().var("fc_0.w_0")])
    assert list(some) == ["fc_0.w_0"]
    static.set_program_state(main, {"fc_0.w_0": some["fc_0.w_0"] * 0})
    assert not main.state_dict()["fc_0.w_0"].any()
    main.set_state_dict(state)
    assert np.array_equal(main.state_dict()["fc_0.w_0"], state["fc_0.w_0"])


def test_wrong_states(exe, tmp_path):
    main, *_ = trained(exe)
    with pytest.warns(UserWarning, match="the program has no variables other"):
        static.set_program_state(main, {"other": np.zeros(1)})
    with pytest.raises(ValueError, match=r"'fc_0.w_0' is float32\[3, 4\] in the program, the value has shape \[1\]"):
        static.set_program_state(main, {"fc_0.w_0": np.zeros(1)})
    with pytest.raises(TypeError, match="the value is float64"):
        static.set_program_state(main, {"fc_0.w_0": np.zeros([3, 4])})
    with pytest.raises(FileNotFoundError, match="there is no"):
        static.load(main, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="must end in a file name"):
        static.save(main, str(tmp_path) + "/")
    other = static.Program()
    with static.program_guard(other, static.Program()):
        static.create_parameter([1], "float32", name="mine")
    with pytest.raises(ValueError, match="'mine' has no value in this scope"):
        static.save(other, str(tmp_path / "other"))
    static.save(main, str(tmp_path / "model"))
    with pytest.raises(ValueError, match="has no value of 'mine'"):
        static.load(other, str(tmp_path / "model"))
    with pytest.raises(ValueError, match="mode must be"):
        main.state_dict("some")


def test_damaged_files_are_refused(exe, tmp_path):
    main, *_ = trained(exe)
    static.save(main, str(tmp_path / "model"))
    held = (tmp_path / "model.pdparams").read_bytes()
    (tmp_path / "model.pdparams").write_bytes(held[:-3] + b"abc")
    with pytest.raises(paddle.core.errors.FileFormatError):
        static.load(main, str(tmp_path / "model"))


# --- inference -------------------------------------------------------------------------------------------------------


def test_an_inference_model_runs_alone(exe, tmp_path):
    main, x, out, _ = trained(exe)
    test = main.clone(for_test=True)
    (wanted,) = exe.run(test, feed={"x": X, "y": X[:, :1]}, fetch_list=[out])
    path = str(tmp_path / "model")
    static.save_inference_model(path, [x], [out], exe)
    with static.scope_guard(static.Scope()) as _:
        program, feeds, fetches = static.load_inference_model(path, exe)
        (found,) = exe.run(program, feed={feeds[0]: X}, fetch_list=fetches)
        assert feeds == ["x"] and set(static.global_scope().local_var_names()) == set(program.state_dict())
    assert found.tobytes() == wanted.tobytes()
    verify(program)
    assert {op.op.name for op in program.global_block().ops}.isdisjoint({"dropout", "adam_update", "batch_norm"})
    layer = paddle.jit.load(path)
    assert layer(paddle.to_tensor(X)).numpy().tobytes() == wanted.tobytes()
    assert "fc_0.w_0" in layer.state_dict()


def test_a_saved_layer_loads_as_a_program(exe, tmp_path):
    layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.ReLU())
    layer.eval()
    path = str(tmp_path / "layer")
    paddle.jit.save(layer, path, input_spec=[static.InputSpec([None, 3], name="rows")])
    program, feeds, fetches = static.load_inference_model(path, exe)
    (found,) = exe.run(program, feed={feeds[0]: X}, fetch_list=fetches)
    np.testing.assert_array_equal(found, layer(paddle.to_tensor(X)).numpy())
    assert layer[0].weight.name in {p.name for p in program.all_parameters()}


def test_bytes(exe, tmp_path):
    main, x, out, _ = trained(exe)
    program, state = static.serialize_program([x], [out]), static.serialize_persistables([x], [out], exe)
    static.save_to_file(str(tmp_path / "p"), program)
    with static.scope_guard(static.Scope()):
        loaded = static.deserialize_program(static.load_from_file(str(tmp_path / "p")))
        static.deserialize_persistables(loaded, state, exe)
        (found,) = exe.run(loaded, feed={"x": X}, fetch_list=list(loaded.global_block().outputs))
    (wanted,) = exe.run(static.normalize_program(main, [x], [out]), feed={"x": X}, fetch_list=[out])
    assert found.tobytes() == wanted.tobytes()


def test_wrong_inference_models(exe, tmp_path):
    main, x, _, loss = trained(exe)
    other = static.Program()
    with static.program_guard(other, static.Program()):
        z = static.data("z", [1])
    path = str(tmp_path / "model")
    with pytest.raises(ValueError, match="needs 'y', which is not among feed_vars"):
        static.save_inference_model(path, [x], [loss], exe)
    with pytest.raises(ValueError, match="feed_vars: the program has no variable 'z'"):
        static.save_inference_model(path, [z], [loss], exe)
    with pytest.raises(TypeError, match="takes Variables, but received str"):
        static.normalize_program(main, ["x"], [loss])
    with pytest.raises(TypeError, match="takes a Program, but received int"):
        static.normalize_program(3, [x], [loss])


# --- programs changed by hand ----------------------------------------------------------------------------------------


def test_prune_keeps_what_the_targets_need(exe):
    main, _x, out, loss = trained(exe)
    cut = main.prune([out])
    assert len(cut.global_block().ops) < len(main.global_block().ops) and [
        v.name for v in cut.global_block().inputs
    ] == ["x"]
    verify(cut)
    cut = main.prune([loss], given=[out])
    assert {v.name for v in cut.global_block().inputs} == {"y"} and not cut.all_parameters()


def scaled():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2])
        y = x * 2
        z = y + 1
    return main, x, y, z


def outcome(main, z):
    verify(main)
    return (
        static.Executor().run(main, feed={main.global_block().inputs[0].name: [1.0, 2.0]}, fetch_list=[z])[0].tolist()
    )


def test_operators_are_put_in_taken_out_and_exchanged():
    main, x, y, z = scaled()
    block = main.global_block()
    assert outcome(main, z) == [3, 5]
    replace_op(block, 1, "subtract", {"X": y, "Y": 1.0})
    assert outcome(main, z) == [1, 3]
    tripled = insert_op(block, 1, "elementwise_mul", [y, 3.0])
    replace_op(block, 2, "add", [tripled.outputs[0], x])
    assert outcome(main, z) == [7, 14]
    insert_op(block, 3, "scale", [z], {"scale": 0.0, "bias": 9.0, "bias_after_scale": True})
    assert remove_op(block, 3).op.name == "scale" and outcome(main, z) == [7, 14]
    rename_var(main, "x", "image")
    rename_var(main, z.name, "result")
    assert outcome(main, "result") == [7, 14]
    assert block.ops[-1].input_arg_names == [tripled.outputs[0].name, "image"] and block.ops[-1].output_arg_names == [
        "result"
    ]


def test_operations_that_would_break_a_program():
    main, x, y, z = scaled()
    block = main.global_block()
    with pytest.raises(ValueError, match=r"'multiply_0' is read by add"):
        remove_op(block, 0)
    with pytest.raises(ValueError, match="no op is named 'ad'"):
        insert_op(block, 0, "ad", [x])
    with pytest.raises(ValueError, match="index 5 is outside the 2 operators"):
        insert_op(block, 5, "add", [x, x])
    with pytest.raises(ValueError, match="add has no input 'input', it has x, y"):
        insert_op(block, 0, "add", {"Input": x})
    with pytest.raises(ValueError, match=r"sum gives float32\[\], 'add_0' is float32\[2\]"):
        replace_op(block, 1, "sum", [y], {"axis": (0,), "keepdim": False})
    with pytest.raises(ValueError, match="sum has no attribute 'dtype', its attributes are axis, keepdim"):
        replace_op(block, 1, "sum", [y], {"axis": (0,), "keepdim": False, "dtype": None})
    with pytest.raises(ValueError, match="sum needs the attribute 'axis'"):
        replace_op(block, 1, "sum", [y], {"keepdim": False})
    with pytest.raises(ValueError, match="already has a variable 'x'"):
        rename_var(main, z.name, "x")
    for name in (3, ""):
        with pytest.raises(TypeError, match="the new name must be a text"):
            rename_var(main, "x", name)
    for change, *more in ((remove_op,), (replace_op, "add", [x, x])):
        with pytest.raises(IndexError, match=f"{change.__name__}: index 2 is outside the 2 operators"):
            change(block, 2, *more)
        with pytest.raises(TypeError, match=f"{change.__name__} takes an Operator or its number, but received str"):
            change(block, "add", *more)
    before = main.to_string()
    with pytest.raises(ValueError, match="multiply at 0 would read 'add_0', which add writes behind it"):
        insert_op(block, 0, "multiply", [z, 2.0])
    with pytest.raises(ValueError, match="multiply at 0 would read 'add_0', which add writes behind it"):
        replace_op(block, 0, "multiply", [z, 2.0])
    assert main.to_string() == before
    assert outcome(main, z) == [3, 5]


def test_operators_tell_about_themselves():
    main, _x, _y, _z = scaled()
    with static.program_guard(main, static.Program()):
        w = paddle.transpose(static.data("m", [2, 3]), [1, 0])
    op = main.global_block().ops[-1]
    assert op.attr_names == ["axis"] and op.all_attrs() == {"axis": [1, 0]}  # as Paddle's programs name them
    assert op.attr("perm") == (1, 0) and op.has_attr("perm")  # as ours do
    assert op.output_arg_names == [w.name] and main.global_block().has_var("m") and main.current_block().index == 0
    with pytest.raises(ValueError, match="transpose2 has no attribute 'twist', it has axis"):
        op.attr("twist")


def test_a_state_that_paddle_saved(exe, tmp_path):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        static.nn.fc(x, 4)
    exe.run(startup)
    state = {"fc_0.w_0": paddle.ones([3, 4]), "fc_0.b_0": paddle.full([4], 2.0)}
    paddle.save(state, str(tmp_path / "model.pdparams"), format="paddle")
    assert (tmp_path / "model.pdparams").read_bytes()[:1] == b"\x80"  # a pickle
    static.load(main, str(tmp_path / "model"), exe)
    assert static.global_scope().find_var("fc_0.b_0").get_tensor().numpy().tolist() == [2.0] * 4
    assert static.load_program_state(str(tmp_path / "model"))["fc_0.w_0"].shape == (3, 4)
    paddle.save([1, 2], str(tmp_path / "other.pdparams"), format="paddle")
    with pytest.raises(FileFormatError, match="no dict of tensors"):
        static.load(main, str(tmp_path / "other"), exe)


def test_what_a_program_wrote_without_dimensions_is_an_array(exe, tmp_path):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        total = static.create_global_var([], 1.5, "float32", persistable=True, name="total")
        paddle.assign(total * 2 + 1, total)  # whose kernels give scalars of NumPy
    exe.run(startup)
    exe.run(main)
    held = static.global_scope().find_var("total").get_tensor()
    assert isinstance(np.array(held), np.ndarray) and np.array(held) == 4.0
    static.save(main, str(tmp_path / "model"))
    held.set(np.zeros([], "float32"), paddle.CPUPlace())
    static.load(main, str(tmp_path / "model"), exe)
    assert np.array(held) == 4.0
