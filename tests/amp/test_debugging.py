"""Checks of numbers, and counts of calls by dtype: the same of eager code and of programs."""

import csv
import threading
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pytest

import vitrify as paddle
from vitrify.amp import debugging
from vitrify.amp.debugging import DebugMode, TensorCheckerConfig
from vitrify.core.errors import ArgumentError, DTypeError, NotFiniteError, UnsupportedError
from vitrify.core.inspector import INSPECTORS
from vitrify.core.setting import WATCH
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def nobody_looks_afterwards():
    yield
    assert INSPECTORS.get() == () and not WATCH.on


@pytest.fixture(params=["eager", "program"])
def maybe_compiled(request):
    """What makes a function a program, or leaves it as it is."""
    return paddle.jit.to_static(full_graph=True) if request.param == "program" else lambda f: f


class Checking:
    """`with` tensors checked."""

    def __init__(self, mode=DebugMode.CHECK_NAN_INF, **options):
        self.config = TensorCheckerConfig(True, mode, **options)

    def __enter__(self):
        debugging.enable_tensor_checker(self.config)
        return self.config

    def __exit__(self, *_):
        debugging.disable_tensor_checker()


# -- check_numerics ---------------------------------------------------------------------------------------------------


# What PaddlePaddle 3.3.1 gives on the CPU.
@pytest.mark.parametrize(
    ("values", "stats", "extremes"),
    [
        ([1.0, 0.0, 3.0], [0, 0, 1], [3.0, 0.0, 4 / 3]),
        ([1.0, 0.0, 3.0, NAN, INF], [1, 1, 1], [INF, 0.0, NAN]),
        ([NAN, NAN], [2, 0, 0], [NAN, NAN, NAN]),
        ([-INF, 1.0], [0, 1, 0], [1.0, -INF, -INF]),
        ([], [0, 0, 0], [0.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_check_numerics(values, stats, extremes, dtype, maybe_compiled):
    @maybe_compiled
    def check(x):
        return debugging.check_numerics(x, "pow", "res", DebugMode.CHECK_NAN_INF)

    found = check(paddle.to_tensor(values, dtype=dtype))
    assert [v.dtype for v in found] == [paddle.int64, paddle.float32]
    assert found[0].tolist() == stats
    np.testing.assert_allclose(found[1].numpy(), np.float32(extremes), rtol=1e-6)


@pytest.mark.parametrize(
    ("values", "mode", "line"),
    [
        (
            [1.0, 0.0, 3.0, NAN, INF], DebugMode.CHECK_NAN_INF,
            "[PRECISION] [ERROR] in [device=cpu, op=pow, tensor=res, dtype=fp32], numel=5, num_nan=1, num_inf=1, "
            "num_zero=1, max=inf, min=0.000000e+00, mean=nan\n",
        ),
        (
            [1.0, 0.0, 3.0], DebugMode.CHECK_ALL,
            "[PRECISION] in [device=cpu, op=pow, tensor=res, dtype=fp32], numel=3, num_zero=1, max=3.000000e+00, "
            "min=0.000000e+00, mean=1.333333e+00\n",
        ),
        (
            [-1e6, 1.0], DebugMode.CHECK_ALL_FOR_OVERFLOW,
            "[PRECISION] in [device=cpu, op=pow, tensor=res, dtype=fp32], numel=2, num_zero=0, max=1.000000e+00, "
            "min=-1.000000e+06, mean=-4.999995e+05\n",
        ),
        ([65504.0], DebugMode.CHECK_ALL_FOR_OVERFLOW, ""),
        ([1.0, 0.0], DebugMode.CHECK_NAN_INF, ""),
    ],
)  # fmt: skip
def test_reports_are_paddles(values, mode, line, maybe_compiled, capsys):
    @maybe_compiled
    def check(x):
        return debugging.check_numerics(x, "pow", "res", mode)

    x = paddle.to_tensor(values)
    check(x)
    assert capsys.readouterr().out == line
    check(x)
    assert capsys.readouterr().out == line


def test_abort(maybe_compiled, capsys):
    @maybe_compiled
    def check(x):
        debugging.check_numerics(x, "pow", "res")
        return x * 2

    assert check(paddle.to_tensor([1.0])).tolist() == [2.0]
    with pytest.raises(NotFiniteError, match=r"pow: there are 1 NaN and 0 Inf values in \[device=cpu, op=pow"):
        check(paddle.to_tensor([NAN]))
    assert "num_nan=1" in capsys.readouterr().out


def test_complex_numbers_have_magnitudes():
    x = paddle.to_tensor([3 + 4j, 0j])
    stats, values = debugging.check_numerics(x, "o", "x")
    assert stats.tolist() == [0, 0, 1] and values.tolist() == [5.0, 0.0, 2.5]


@pytest.mark.parametrize(
    "arguments", [(paddle.ones([1], "int32"), "o", "x"), ([1.0], "o", "x"), (paddle.ones([1]), 1, "x"),
                  (paddle.ones([1]), "o", None), (paddle.ones([1]), "o", "x", 0)]
)  # fmt: skip
def test_what_check_numerics_refuses(arguments):
    with pytest.raises(DTypeError, match="check_numerics"):
        debugging.check_numerics(*arguments)


# -- the checker ------------------------------------------------------------------------------------------------------


def reported(text):
    """The ops that lines speak of."""
    return [line.split("op=")[1].split(",")[0] for line in text.splitlines()]


def test_checker_reports_each_op(maybe_compiled, capsys):
    @maybe_compiled
    def f(x):
        y = paddle.log(x) * 2
        return paddle.where(x > 0, y, x)

    x = paddle.to_tensor([0.0, 1.0])
    f(x)
    with Checking():
        f(x)
    assert reported(capsys.readouterr().out) == ["log", "multiply"]
    f(x)
    assert capsys.readouterr().out == ""


def test_checker_aborts_at_the_users_line(maybe_compiled):
    @maybe_compiled
    def f(x):
        y = paddle.log(x)
        return y * 2

    x = paddle.to_tensor([0.0, 1.0])
    with Checking(DebugMode.CHECK_NAN_INF_AND_ABORT), pytest.raises(NotFiniteError) as caught:
        f(x)
    assert "log: there are 0 NaN and 1 Inf" in str(caught.value) and "y = paddle.log(x)" in str(caught.value)


def test_branches_and_loops_report_what_is_in_them(maybe_compiled, capsys):
    @maybe_compiled
    def f(x):
        while x.max() < 3:
            x = x + 1
        if x.sum() > 0:
            x = paddle.log(x - x)
        return x

    x = paddle.to_tensor([1.0])
    f(x)
    with Checking():
        f(x)
    assert reported(capsys.readouterr().out) == ["log"]


def test_gradients_and_updates_are_checked(maybe_compiled, capsys):
    @maybe_compiled
    def f(x):
        return paddle.sqrt(x).sum()

    weight = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    optimizer = paddle.optimizer.SGD(0.1, [weight])
    loss = f(weight)
    with Checking():
        loss.backward()
        in_backward = reported(capsys.readouterr().out)
        optimizer.step()
        in_step = reported(capsys.readouterr().out)
    assert in_backward and in_step
    assert np.isinf(weight.numpy()).all()


def test_whole_training_steps_are_looked_at_to_their_end(maybe_compiled, capsys):
    layer = paddle.nn.Linear(2, 2)
    adam = paddle.optimizer.Adam(0.1, parameters=layer.parameters())

    @maybe_compiled
    def train(x):
        loss = layer(x).sum()
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)
        return loss

    x = paddle.ones([3, 2])
    for _ in range(3):
        train(x)
    with debugging.collect_operator_stats():
        train(x)
    assert counts(capsys.readouterr().out)["adam_update"] == [0, 0, 2, 0]
    layer.weight.set_value(np.full([2, 2], INF, "float32"))
    with Checking():
        train(x)
    assert "adam_update" in reported(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"checked_op_list": ["elementwise_mul"]}, ["multiply"]),
        ({"checked_op_list": ["log", "sum"]}, ["log", "sum"]),
        ({"skipped_op_list": ("log", "multiply")}, ["sum"]),
        ({"checked_op_list": ["log"], "skipped_op_list": ["log"]}, []),
        ({"checked_op_list": []}, []),
    ],
)
def test_lists_of_ops(options, expected, capsys):
    with Checking(**options):
        (paddle.log(paddle.to_tensor([0.0])) * 2).sum()
    assert reported(capsys.readouterr().out) == expected


def test_steps(capsys):
    config = TensorCheckerConfig(True, DebugMode.CHECK_NAN_INF, debug_step=[1, 3])
    found = []
    for _ in range(5):
        debugging.enable_tensor_checker(config)
        paddle.log(paddle.to_tensor([0.0]))
        found.append(len(capsys.readouterr().out.splitlines()))
    debugging.disable_tensor_checker()
    assert found == [0, 1, 1, 0, 0] and config.current_step_id == 5 and TensorCheckerConfig.current_step_id == 0


def test_not_enabled_is_off(capsys):
    debugging.enable_tensor_checker(TensorCheckerConfig(True, DebugMode.CHECK_NAN_INF))
    debugging.enable_tensor_checker(TensorCheckerConfig(False, DebugMode.CHECK_NAN_INF))
    paddle.log(paddle.to_tensor([0.0]))
    assert capsys.readouterr().out == ""


def test_integers_and_empty_tensors_pass():
    with Checking(DebugMode.CHECK_NAN_INF_AND_ABORT):
        assert (paddle.ones([2], "int32") + 1).tolist() == [2, 2]
        assert (paddle.zeros([0]) * 2).shape == [0]


def test_other_threads_are_checked(capsys):
    with Checking():
        thread = threading.Thread(target=lambda: paddle.log(paddle.to_tensor([0.0])))
        thread.start()
        thread.join()
    assert reported(capsys.readouterr().out) == ["log"]


@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
def test_programs_in_every_mode(mode, capsys):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2])
        out = paddle.log(x) + paddle.sqrt(x)
    core = lower(main.global_block(), [x], [out], options=ExecutionOptions(mode=mode, threads=2))
    with Checking():
        core(np.zeros((2, 2), "float32"))
    assert sorted(reported(capsys.readouterr().out)) == ["add", "log"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"debug_mode": 1}, DTypeError),
        ({"checked_op_list": "log"}, DTypeError),
        ({"skipped_op_list": 3}, DTypeError),
        ({"debug_step": 3}, DTypeError),
        ({"debug_step": [5, 1]}, ArgumentError),
        ({"debug_step": [1]}, ArgumentError),
    ],
)
def test_what_configurations_refuse(options, error):
    with pytest.raises(error, match="TensorCheckerConfig"):
        TensorCheckerConfig(True, **options)


def test_only_configurations_enable():
    with pytest.raises(DTypeError, match="enable_tensor_checker: expected a TensorCheckerConfig, got 3"):
        debugging.enable_tensor_checker(3)


def test_switches_belong_outside_of_programs():
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        debugging.enable_operator_stats_collection()
        return x + 1

    with pytest.raises(UnsupportedError, match="enable_operator_stats_collection cannot be part of a program"):
        f(paddle.ones([1]))


# -- counts -----------------------------------------------------------------------------------------------------------


def counts(text):
    """Each op with its calls in float16, bfloat16, float32 and others."""
    rows = [line.split("|") for line in text.splitlines() if line.startswith("  ")]
    return {row[0].strip(): [int(cell) for cell in row[1:]] for row in rows}


def test_calls_are_counted_by_dtype(maybe_compiled, capsys):
    @maybe_compiled
    def f(x, n):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            y = paddle.matmul(x, x)
        return y.astype("float32") + x, n + 1

    x, n = paddle.ones([2, 2]), paddle.ones([2], "int32")
    f(x, n)
    with debugging.collect_operator_stats():
        f(x, n)
        f(x, n)
    assert counts(capsys.readouterr().out) == {
        "add": [0, 0, 2, 2], "cast": [0, 2, 4, 0], "matmul": [0, 2, 0, 0],
    }  # fmt: skip


def test_the_table_is_paddles(capsys):
    with debugging.collect_operator_stats():
        paddle.ones([1]).exp()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"<{'-' * 55} op list {'-' * 56}>"
    assert lines[1].startswith("<--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- |")
    zero = "|  0                "
    assert lines[2] == f"  {'exp':<40}{zero}{zero}|  1                {zero}"
    assert lines[-2] == f"<{'-' * 53} op count: {len(lines) - 4} {'-' * 54}>" and lines[-1] == ""


def test_nothing_is_said_of_what_was_not_counted(capsys):
    debugging.disable_operator_stats_collection()
    assert capsys.readouterr().out == ""


def test_counts_end_where_the_block_raises(capsys):
    with pytest.raises(KeyError), debugging.collect_operator_stats():
        raise KeyError("x")
    assert "op count: 0" in capsys.readouterr().out


def test_counts_and_checks_at_once(capsys):
    with Checking(), debugging.collect_operator_stats():
        paddle.log(paddle.to_tensor([0.0]))
    out = capsys.readouterr().out
    assert "[ERROR]" in out and counts(out)["log"] == [0, 0, 1, 0]


# -- layers -----------------------------------------------------------------------------------------------------------


class Inverse(paddle.nn.Layer):
    @debugging.check_layer_numerics
    def forward(self, x, other=None):
        if x.sum() > 10:  # converted with the rest
            x = x * 2
        return 1 / x, 3


def test_layers_check_what_goes_in_and_comes_out(maybe_compiled, capsys):
    layer = maybe_compiled(Inverse())
    assert layer(paddle.to_tensor([4.0]))[0].tolist() == [0.25]
    assert layer(paddle.to_tensor([20.0]))[0].item() == pytest.approx(1 / 40)
    with pytest.raises(NotFiniteError, match=r"Inverse: there are 0 NaN and 1 Inf values in .*tensor=output 0"):
        layer(paddle.to_tensor([0.0]))
    with pytest.raises(NotFiniteError, match=r"Inverse: there are 1 NaN and 0 Inf values in .*tensor=input 0"):
        layer(paddle.to_tensor([NAN]))
    assert len(reported(capsys.readouterr().out)) == 2


def test_layers_want_a_tensor_first():
    with pytest.raises(RuntimeError, match="Inverse: the first input must be a tensor, got int"):
        Inverse()(3)
    with pytest.raises(RuntimeError, match="Inverse: the first input must be a tensor, got nothing"):
        Inverse()()


# -- two logs ---------------------------------------------------------------------------------------------------------


def logged(folder, dtype):
    with Checking(DebugMode.CHECK_ALL, output_dir=str(folder)):
        x = paddle.to_tensor([60000.0, 1.0], dtype=dtype)
        y = x * 2
        y.sum()
        if dtype == "float16":
            paddle.exp(paddle.zeros([1], dtype))


def test_logs_side_by_side(tmp_path, capsys):
    logged(tmp_path / "a", "float32")
    logged(tmp_path / "b", "float16")
    assert capsys.readouterr().out == ""
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["worker_cpu.log"]
    debugging.compare_accuracy(str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "out.csv"), loss_scale=4)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_op = {row["op"]: row for row in rows}
    assert by_op["multiply"]["verdict"] == "only the second has NaN or Inf"
    assert (by_op["multiply"]["max 1"], by_op["multiply"]["inf 2"]) == ("120000.0", "1")
    assert by_op["exp"]["verdict"] == "only in the second" and by_op["exp"]["mean 2 / 4"] == "0.25"


def test_logs_as_an_excel_file(tmp_path):
    logged(tmp_path / "a", "float32")
    logged(tmp_path / "b", "float16")
    debugging.compare_accuracy(str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "out.xlsx"))
    with ZipFile(tmp_path / "out.xlsx") as file:
        assert file.testzip() is None
        sheet = ElementTree.fromstring(file.read("xl/sheet.xml"))
        parts = [ElementTree.fromstring(file.read(name)) for name in file.namelist()]
    assert len(parts) == 5
    rows = [["".join(cell.itertext()) for cell in row] for row in sheet.iter(f"{sheet.tag[:-9]}row")]
    assert rows[0][:3] == ["op", "tensor", "verdict"] and ["multiply", ""] in [row[:2] for row in rows]
    assert len({len(row) for row in rows}) == 1


def test_what_comparing_refuses(tmp_path):
    folder = str(tmp_path)
    with pytest.raises(ArgumentError, match="no log of checked tensors"):
        debugging.compare_accuracy(folder, folder, folder + "/out.csv")
    with pytest.raises(ArgumentError, match="loss_scale must be positive"):
        debugging.compare_accuracy(folder, folder, folder + "/out.csv", loss_scale=0)
    with pytest.raises(UnsupportedError, match="dump_all_tensors"):
        debugging.compare_accuracy(folder, folder, folder + "/out.csv", dump_all_tensors=True)
