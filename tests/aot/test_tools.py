"""Native programs by paddle.inference and the command line."""

import threading

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from vitrify.static import InputSpec
from vitrify.tools.command import main


@pytest.fixture(scope="module")
def saved(mlp, tmp_path_factory):
    """The MLP's path in vitrify's own format, and as a native program elsewhere."""
    net, native = mlp
    path = str(tmp_path_factory.mktemp("own") / "mlp")
    paddle.jit.save(net, path, input_spec=[InputSpec([None, 20], name="x")])
    return path, native


@pytest.mark.parametrize("ending", ["", ".so"])
def test_a_predictor_runs_it(mlp, rows, ending):
    net, path = mlp
    predictor = paddle.inference.create_predictor(paddle.inference.Config(path + ending))
    assert predictor.get_input_names() == ["x"]
    assert predictor.get_input_tensor_shape() == {"x": [-1, 20]}
    (name,) = predictor.get_output_names()
    for n in (1, 5):
        predictor.get_input_handle("x").copy_from_cpu(rows(n))
        predictor.run()
        found = predictor.get_output_handle(name).copy_to_cpu()
        np.testing.assert_allclose(found, net(paddle.to_tensor(rows(n))).numpy(), 1e-5, 1e-5)
    assert predictor.run([paddle.to_tensor(rows(2))])[0].shape == [2, 10]


def test_a_predictor_refuses_what_others_refuse(mlp, rows):
    predictor = paddle.inference.create_predictor(paddle.inference.Config(mlp[1]))
    with pytest.raises(ShapeError, match="input 'x' has shape"):
        predictor.get_input_handle("x").copy_from_cpu(rows(3)[:, 1:])
    with pytest.raises(DTypeError):
        predictor.get_input_handle("x").copy_from_cpu(rows(3).astype("int64"))
    with pytest.raises(ArgumentError, match="the model has no input 'y'"):
        predictor.get_input_handle("y")


def test_clones_run_in_threads(mlp, rows):
    net, path = mlp
    wanted, wrong = net(paddle.to_tensor(rows(7))).numpy(), []

    def work(predictor):
        for _ in range(50):
            (found,) = predictor.run([paddle.to_tensor(rows(7))])
            if not np.allclose(found.numpy(), wanted, 1e-5, 1e-5):
                wrong.append(found)

    pool = paddle.inference.PredictorPool(paddle.inference.Config(path), 3)
    threads = [threading.Thread(target=work, args=(pool.retrieve(i),)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_needs_operators_says_so(mlp):
    with pytest.raises(UnsupportedError, match="machine code, without the operators") as caught:
        paddle.jit.load(mlp[1])
    assert "hint: run it by paddle.inference or vitrify.aot.load" in str(caught.value)


def test_show(mlp, capsys):
    assert main(["show", mlp[1] + ".so"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("function forward\n  takes  x: float32[?, 20]\n  gives  ")
    assert "machine code and parameters, " in text
    assert main(["print", mlp[1] + ".so"]) == 1
    assert "without the operators" in capsys.readouterr().err


def test_run_and_bench(mlp, rows, tmp_path, capsys):
    np.save(tmp_path / "x.npy", rows(3))
    target = tmp_path / "out.npz"
    assert main(["run", mlp[1], "--input", f"x={tmp_path / 'x.npy'}", "--output", str(target)]) == 0
    (found,) = np.load(target).values()
    np.testing.assert_allclose(found, mlp[0](paddle.to_tensor(rows(3))).numpy(), 1e-5, 1e-5)
    capsys.readouterr()
    assert main(["bench", mlp[1], "--repeat", "3"]) == 0
    assert "median" in capsys.readouterr().out


def test_convert_and_diff(saved, tmp_path, capsys):
    own, _ = saved
    target = str(tmp_path / "made.so")
    assert main(["convert", own, target]) == 0
    printed = capsys.readouterr().out
    assert "made.so: " in printed
    assert "made.h: " in printed
    assert main(["convert", own, target]) == 1
    assert "--force replaces it" in capsys.readouterr().err
    assert main(["diff", own, target, "--size", "4"]) == 0
    text = capsys.readouterr().out
    assert "programs: not compared" in text
    assert "outputs: agree" in text
    assert main(["convert", target, str(tmp_path / "back.vtmodel")]) == 1
    assert "without the operators" in capsys.readouterr().err
