"""paddle.inference: configs, predictors, handles, clones in threads, and what it says when something is wrong."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import vitrify as paddle
import vitrify.inference.program_model
from vitrify import inference, nn
from vitrify.core.blas_threads import blas_thread_count
from vitrify.core.config import kernel_threads
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError
from vitrify.ir.model_file import read_model, write_model

SPEC = paddle.static.InputSpec
X = np.arange(12, dtype="float32").reshape(3, 4) / 10


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.bn = nn.BatchNorm1D(2)

    def forward(self, x, shift):
        y = self.bn(self.fc(x)) + shift
        return {"y": y, "rest": [x, y, 3]}


@pytest.fixture
def saved(tmp_path):
    net = Net()
    net.eval()
    paddle.jit.save(net, tmp_path / "net", input_spec=[SPEC([None, 4], name="x"), SPEC([2], name="shift")])
    return net, str(tmp_path / "net")


def filled(predictor, x=X):
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.get_input_handle("shift").copy_from_cpu(np.ones(2, "float32"))
    return predictor


def outputs(predictor):
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def test_handles_in_and_out(saved):
    net, path = saved
    predictor = inference.create_predictor(inference.Config(path + ".vtmodel", path + ".vtparams"))
    assert predictor.get_input_names() == ["x", "shift"]
    assert predictor.get_input_tensor_shape() == {"x": [-1, 4], "shift": [2]}
    assert predictor.get_input_types()["x"] is inference.DataType.FLOAT32
    assert len(set(predictor.get_output_names())) == 3
    filled(predictor)
    assert predictor.run() is None
    wanted = net(paddle.to_tensor(X), paddle.ones([2]))["y"].numpy()
    y, x, again = outputs(predictor)
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    np.testing.assert_array_equal(again, y)
    np.testing.assert_array_equal(x, X)
    handle = predictor.get_output_handle(predictor.get_output_names()[0])
    assert handle.shape() == [3, 2] and handle.type() is inference.DataType.FLOAT32 and handle.lod() == []


def test_a_list_in_gives_a_list(saved):
    net, path = saved
    predictor = inference.create_predictor(inference.Config(path))
    found = predictor.run([paddle.to_tensor(X[:1]), paddle.ones([2])])
    np.testing.assert_allclose(found[0].numpy(), net(paddle.to_tensor(X[:1]), paddle.ones([2]))["y"].numpy(), rtol=1e-6)
    assert found[0].stop_gradient
    with pytest.raises(ArgumentError, match="takes 2 inputs"):
        predictor.run([paddle.ones([1, 4])])
    with pytest.raises(DTypeError, match="a list of Tensors"):
        predictor.run([X, X])


def test_reshape_says_which_shape_comes(saved):
    predictor = inference.create_predictor(inference.Config(saved[1]))
    handle = predictor.get_input_handle("x")
    handle.reshape([6, 4])
    assert handle.shape() == [6, 4]
    handle.copy_from_cpu(np.zeros(24, "float32"))
    assert handle.shape() == [6, 4]
    handle.copy_from_cpu(X)
    assert handle.shape() == [3, 4]
    with pytest.raises(ShapeError, match=r"input 'x' has shape \[-1, 4\], but received \[3, 5\]"):
        handle.reshape([3, 5])


def test_what_a_handle_holds_is_its_own(saved):
    predictor = inference.create_predictor(inference.Config(saved[1]))
    x = X.copy()
    filled(predictor, x)
    x[:] = -100
    predictor.run()
    first = outputs(predictor)
    predictor.run()
    for a, b in zip(first, outputs(predictor)):
        np.testing.assert_array_equal(a, b)
    first[0][:] = 7
    assert not (outputs(predictor)[0] == 7).any()
    predictor.get_input_handle("x").share_external_data(paddle.zeros([1, 4]))
    predictor.run()
    assert outputs(predictor)[1].tolist() == [[0.0] * 4]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda p: p.run(), ArgumentError, "copy_from_cpu was not called for input 'x'"),
        (lambda p: p.get_input_handle("X"), ArgumentError, "no input 'X'; there are x, shift"),
        (lambda p: p.get_output_handle("nope"), ArgumentError, "no output 'nope'"),
        (lambda p: outputs(p), ArgumentError, "run\\(\\) was not called"),
        (lambda p: p.get_input_handle("x").copy_from_cpu([1.0]), DTypeError, "expects a numpy.ndarray"),
        (lambda p: p.get_input_handle("x").copy_from_cpu(X.astype("float64")), DTypeError, "but received float64"),
        (lambda p: p.get_input_handle("x").copy_from_cpu(np.array(["a"])), DTypeError, "is no tensor"),
        (lambda p: p.get_input_handle("x").copy_from_cpu(X[0]), ShapeError, "has shape"),
        (lambda p: p.get_output_handle(p.get_output_names()[0]).reshape([1]), ArgumentError, "is an output"),
        (lambda p: p.get_input_handle("x").set_lod([[0, 1]]), ArgumentError, "levels of detail"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(saved, call, error, message):
    predictor = inference.create_predictor(inference.Config(saved[1]))
    with pytest.raises(error, match=message):
        call(predictor)


def test_configs_that_name_no_model(tmp_path):
    with pytest.raises(ArgumentError, match="no model is named"):
        inference.create_predictor(inference.Config())
    with pytest.raises(FileNotFoundError, match="nope"):
        inference.create_predictor(inference.Config(str(tmp_path / "nope")))
    with pytest.raises(FileNotFoundError, match="holds no single model file"):
        inference.create_predictor(inference.Config(str(tmp_path)))
    with pytest.raises(DTypeError, match="expects a Config"):
        inference.create_predictor("path")
    with pytest.raises(DTypeError, match="named by a path"):
        inference.Config(b"bytes", b"bytes")


def test_a_model_by_folder_and_from_memory(saved, tmp_path):
    _, path = saved
    assert inference.create_predictor(inference.Config(str(tmp_path))).get_input_names() == ["x", "shift"]
    config = inference.Config()
    with open(path + ".vtmodel", "rb") as model, open(path + ".vtparams", "rb") as params:
        parts = [model.read(), params.read()]
    config.set_model_buffer(parts[0], len(parts[0]), parts[1], len(parts[1]))
    assert config.model_from_memory()
    predictor = filled(inference.create_predictor(config))
    predictor.run()
    assert outputs(predictor)[0].shape == (3, 2)


def test_settings_are_kept(saved):
    config = inference.Config(saved[1])
    assert config.ir_optim() and not config.use_gpu() and config.cpu_math_library_num_threads() == 1
    config.disable_glog_info()
    config.enable_mkldnn()
    config.set_mkldnn_cache_capacity(10)
    config.switch_ir_optim(False)
    config.switch_use_feed_fetch_ops(False)
    config.enable_memory_optim(False)
    config.set_cpu_math_library_num_threads(2)
    config.pass_builder().delete_pass("fc_fuse_pass")
    config.delete_pass("fc_fuse_pass")
    assert config.glog_info_disabled() and config.mkldnn_enabled() and not config.use_feed_fetch_ops_enabled()
    assert not config.ir_optim() and config.cpu_math_library_num_threads() == 2
    assert "cpu_math_thread" in config.summary()
    config.disable_mkldnn()
    assert not config.mkldnn_enabled() and not config.tensorrt_engine_enabled()
    with pytest.warns(UserWarning, match="there is no TensorRT here"):
        config.enable_tensorrt_engine(1 << 30, 1, 3, inference.PrecisionType.Half, False, False)
    with pytest.raises(ArgumentError, match="at least 1"):
        config.set_cpu_math_library_num_threads(0)
    copy = inference.Config(config)
    copy.enable_mkldnn()
    assert not config.mkldnn_enabled()
    predictor = filled(inference.create_predictor(config))
    predictor.run()
    assert outputs(predictor)[0].shape == (3, 2)


def test_matrix_products_use_the_threads_of_the_config(saved, monkeypatch):
    """While a model runs, and not after it: one where none was set, as in Paddle."""
    before, told = blas_thread_count(), []
    lowered = vitrify.inference.program_model._Compiled.run

    def run(self, frame):
        told.append((blas_thread_count(), kernel_threads()))
        return lowered(self, frame)

    monkeypatch.setattr(vitrify.inference.program_model._Compiled, "run", run)
    for wanted in (1, 2):
        config = inference.Config(saved[1])
        if wanted > 1:
            config.set_cpu_math_library_num_threads(wanted)
        filled(inference.create_predictor(config)).run()
        assert told.pop() == (None if before is None else wanted, wanted)
        assert blas_thread_count() == before


def test_other_methods_are_not_read(saved, tmp_path):
    """A predictor runs `forward` alone; where there is none it says which functions there are."""

    model = read_model(saved[1])
    assert len(model.functions) > 1
    assert list(inference.Config(saved[1]).read_model().functions) == ["forward"]
    write_model(tmp_path / "other", replace(model, functions={"first": model.functions["forward"]}))
    with pytest.raises(ArgumentError, match="no function `forward`, it has first"):
        inference.create_predictor(inference.Config(str(tmp_path / "other")))


def test_clones_share_the_model_and_run_in_threads(saved):
    net, path = saved
    pool = inference.PredictorPool(inference.Config(path), 4)
    inputs = [X * n for n in range(4)]

    def run(n):
        predictor = filled(pool.retrieve(n), inputs[n])
        found = []
        for _ in range(5):
            predictor.run()
            found.append(outputs(predictor)[0])
        return found

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(run, range(4)))
    for x, found in zip(inputs, results):
        wanted = net(paddle.to_tensor(x), paddle.ones([2]))["y"].numpy()
        for y in found:
            np.testing.assert_allclose(y, wanted, rtol=1e-5)
    with pytest.raises(ArgumentError, match="no predictor 4"):
        pool.retrieve(4)
    with pytest.raises(ArgumentError, match="at least 1"):
        inference.PredictorPool(inference.Config(path), 0)


def test_hooks_see_inputs_and_outputs(saved):
    predictor = filled(inference.create_predictor(inference.Config(saved[1])))
    seen = []
    predictor.register_input_hook(lambda kind, name, value: seen.append((kind, name, list(value.shape))))
    predictor.register_output_hook(lambda kind, name, value: seen.append((kind, list(value.shape))))
    predictor.run()
    assert seen[:3] == [("feed", "x", [3, 4]), ("feed", "shift", [2]), ("fetch", [3, 2])]
    predictor.clear_intermediate_tensor()
    assert predictor.try_shrink_memory() == 0
    with pytest.raises(ArgumentError, match="was not called"):
        outputs(predictor)


def test_modes_around_it_do_not_matter(saved):
    predictor = inference.create_predictor(inference.Config(saved[1]))
    paddle.enable_static()
    try:
        filled(predictor).run()
    finally:
        paddle.disable_static()
    assert outputs(predictor)[0].shape == (3, 2)


def test_kinds_and_versions():
    assert inference.PrecisionType.Half.name == "Half" and inference.PlaceType.GPU.value == 1
    assert inference.get_num_bytes_of_data_type(inference.DataType.BFLOAT16) == 2
    assert inference.get_version().startswith("version: 3.")
    assert inference.get_trt_compile_version() == inference.get_trt_runtime_version() == (0, 0, 0)
