"""convert_to_mixed_precision: models whose operators compute in 16 bits, in files that predictors run."""

import os

import numpy as np
import pytest

import vitrify as paddle
from vitrify import inference
from vitrify.inference import PlaceType, PrecisionType, convert_to_mixed_precision
from vitrify.static import InputSpec


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(4, 8)
        self.norm = paddle.nn.BatchNorm1D(8)
        self.last = paddle.nn.Linear(8, 3)

    def forward(self, x):
        h = self.norm(self.first(x))
        if h.mean() > 0:
            h = h * 2
        return self.last(paddle.nn.functional.relu(h)), self.last.weight.sum()


X = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    paddle.seed(3)
    net = Net()
    net.eval()
    path = str(tmp_path_factory.mktemp("saved") / "net")
    paddle.jit.save(net, path, [InputSpec([None, 4])], format="paddle3")
    return path, [out.numpy() for out in net(paddle.to_tensor(X))]


def converted(path, target, ending=".json", params=".pdiparams", **given):
    given = {"mixed_precision": PrecisionType.Half, "backend": PlaceType.CPU, **given}
    convert_to_mixed_precision(path + ".json", path + ".pdiparams", target + ending, target + params, **given)
    return inference.create_predictor(inference.Config(target + ending, target + params))


def outputs(predictor, x=X):
    return [out.numpy() for out in predictor.run([paddle.to_tensor(x)])]


@pytest.mark.parametrize("precision", ["Half", "Bfloat16"])
@pytest.mark.parametrize(
    "endings", [(".json", ".pdiparams"), (".pdmodel", ".pdiparams"), (".vtmodel", ".vtparams"), (".json", ".weights")]
)
def test_half_precision_is_near(saved, tmp_path, endings, precision):
    path, wanted = saved
    predictor = converted(path, str(tmp_path / "half"), *endings, mixed_precision=PrecisionType[precision])
    for found, exact in zip(outputs(predictor), wanted):
        assert found.dtype == np.float32
        assert not np.array_equal(found, exact)
        np.testing.assert_allclose(found, exact, rtol=0.05, atol=0.05)


def test_weights_are_stored_in_the_low_precision(saved, tmp_path):
    target = str(tmp_path / "half")
    converted(saved[0], target)
    kinds = {p.shape[-1] if p.ndim == 2 else 0: p.dtype.name for p in paddle.jit.load(target).parameters()}
    assert kinds[8] == "float16"
    assert os.path.getsize(target + ".pdiparams") < os.path.getsize(saved[0] + ".pdiparams")


def test_inputs_and_outputs_can_be_low_too(saved, tmp_path):
    predictor = converted(saved[0], str(tmp_path / "half"), keep_io_types=False)
    found = outputs(predictor, X.astype("float16"))
    assert [out.dtype for out in found] == [np.float16, np.float16]
    np.testing.assert_allclose(found[0], saved[1][0], rtol=0.05, atol=0.05)


def test_what_is_in_the_black_list_stays(saved, tmp_path):
    every = {"matmul_v2", "elementwise_add", "mean", "relu", "reduce_sum", "assign"}
    predictor = converted(saved[0], str(tmp_path / "same"), black_list=every)
    for found, exact in zip(outputs(predictor), saved[1]):
        np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("ending", [".json", ".pdmodel", ".vtmodel"])
def test_cut_off_at_any_rename_the_files_are_of_one_save(saved, tmp_path, monkeypatch, ending):
    target, files = str(tmp_path / "half"), (ending, ".weights")
    rename = os.replace
    first = outputs(converted(saved[0], target, *files))

    def cut_off(*args):
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        rename(*args)

    for cut in range(3):  # of the tensors, of the program, and of the tensors to their own name
        left = cut
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(os, "replace", cut_off)
            converted(saved[0], target, *files, mixed_precision=PrecisionType.Bfloat16)
        found = outputs(inference.create_predictor(inference.Config(target + ending, target + ".weights")))
        assert np.array_equal(found[0], first[0]) == (cut < 2)


def test_wrong_arguments_are_told(saved, tmp_path):
    target = str(tmp_path / "none")
    for given, message in [
        ({"mixed_precision": PrecisionType.Int8}, "Half or Bfloat16"),
        ({"ending": ".onnx"}, "ends in none of"),
        ({"grey_list": ()}, "grey_list"),
        ({"black_list": ["no_such_op"]}, "no_such_op"),
    ]:
        with pytest.raises(ValueError, match=message):
            converted(saved[0], target, **given)
    assert not os.listdir(tmp_path)
