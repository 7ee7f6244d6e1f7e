"""The predictor's interface on every format that can be read."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vitrify as paddle
from vitrify import inference, nn

FILES = {"vitrify": (".vtmodel", ".vtparams"), "paddle3": (".json", ".pdiparams"), "paddle": (".pdmodel", ".pdiparams")}
FILES |= {"onnx": (".onnx", "")}
ROWS = np.sin(np.arange(24)).reshape(6, 4).astype("float32")


@pytest.fixture(params=FILES)
def saved(request, tmp_path):
    """A config of a model in the format, and the model."""
    paddle.seed(2)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.Tanh(), nn.Linear(8, 3))
    net.eval()
    spec = [paddle.static.InputSpec([None, 4], name="x")]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=spec, format=request.param)
    program, params = FILES[request.param]
    config = inference.Config(str(tmp_path / "net") + program, str(tmp_path / "net") + params if params else "")
    config.set_cpu_math_library_num_threads(1)
    config.enable_memory_optim()
    return config, net


def ran(predictor, rows):
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.reshape(list(rows.shape))
    handle.copy_from_cpu(rows)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def test_handles_batches_and_clones(saved):
    config, net = saved
    assert config.cpu_math_library_num_threads() == 1
    predictor = inference.create_predictor(config)
    assert predictor.get_input_names() == ["x"] and len(predictor.get_output_names()) == 1
    assert predictor.get_input_tensor_shape() == {"x": [-1, 4]}
    wanted = net(paddle.to_tensor(ROWS)).numpy()
    for size in (6, 1, 3):
        np.testing.assert_allclose(ran(predictor, ROWS[:size]), wanted[:size], rtol=1e-5, atol=1e-6)
    (found,) = predictor.run([paddle.to_tensor(ROWS)])
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)
    clones = [predictor.clone() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        rounds = pool.map(lambda clone: [ran(clone, ROWS[i % 3 :]) for i in range(20)], clones)
        for results in rounds:
            for i, result in enumerate(results):
                np.testing.assert_allclose(result, wanted[i % 3 :], rtol=1e-5, atol=1e-6)
    predictor.clear_intermediate_tensor()
    predictor.try_shrink_memory()
