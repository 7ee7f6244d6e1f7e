"""Every Layer: text, gradients, copies, state, programs; and that none is left out of the table."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import vitrify as paddle
from vitrify import ParamAttr, nn, to_tensor
from vitrify.core.rng import rng_guard
from vitrify.eager.tensor import Tensor
from vitrify.jit import to_static
from vitrify.static import InputSpec

from .layer_cases import CASES

RANDOM_OR_LISTED_ELSEWHERE = {
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "Layer", "LayerDict", "LayerList", "ParameterDict",
    "ParameterList", "RNNCellBase", "Sequential",
}  # fmt: skip


def arguments(case):
    rng = np.random.default_rng(0)
    made = []
    for given in case.inputs:
        array = rng.normal(size=given).astype("float32") if isinstance(given, tuple) else given
        made.append(to_tensor(array, stop_gradient=not isinstance(given, tuple)))
    return made


def tensors(outputs):
    if isinstance(outputs, (list, tuple)):
        return [t for item in outputs for t in tensors(item)]
    return [outputs] if isinstance(outputs, Tensor) else []


def total(outputs):
    return sum((t * t).sum() for t in tensors(outputs) if t.dtype.is_floating)


@pytest.fixture(params=CASES, ids=lambda case: case.id)
def case(request):
    return request.param


def test_text_is_paddles(case):
    if case.text is not None:
        assert repr(case.make()) == case.text


def test_gradients_reach_inputs_and_parameters(case):
    layer, args = case.make(), arguments(case)
    loss = total(layer(*args))
    if loss.stop_gradient:  # integers in, integers out
        assert not any(True for _ in layer.parameters())
        return
    loss.backward()
    for name, param in layer.named_parameters():
        assert param.stop_gradient or param.grad is not None, name
    assert all(a.stop_gradient or a.grad is not None for a in args)


def test_copies_and_pickles_compute_the_same(case):
    layer, args = case.make(), arguments(case)
    layer.eval()
    expected = [t.numpy() for t in tensors(layer(*args))]
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert not twin.training
        for one, two in zip(tensors(twin(*args)), expected):
            np.testing.assert_array_equal(one.numpy(), two)


def test_state_moves_to_another_layer(case):
    one, two, args = case.make(), case.make(), arguments(case)
    one.eval()
    two.eval()
    assert two.set_state_dict(one.state_dict()) == ([], [])
    for a, b in zip(tensors(one(*args)), tensors(two(*args))):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("batch", ["known", "unknown"])
def test_programs_compute_the_same(case, batch):
    layer, args = case.make(), arguments(case)
    specs = [InputSpec([None if batch == "unknown" else a.shape[0], *a.shape[1:]], a.dtype.name) for a in args]
    compiled = to_static(copy.deepcopy(layer).forward, input_spec=specs)
    results = []
    for call in (layer, compiled):
        with rng_guard(3):
            results.append([t.numpy() for t in tensors(call(*args))])
    for one, two in zip(*results):
        assert one.dtype == two.dtype
        np.testing.assert_allclose(one, two, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", [c for c in CASES if c.random], ids=lambda case: case.id)
def test_random_layers_are_quiet_in_evaluation(case):
    layer, args = case.make(), arguments(case)
    with rng_guard(0):
        drawn = [layer(*args).numpy() for _ in range(10)]
    assert any((one != drawn[0]).any() for one in drawn)
    layer.eval()
    for a, b in zip(tensors(layer(*args)), tensors(layer(*args))):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_constructors_have_signatures_and_documentation():
    for name in nn.__all__:
        cls = getattr(nn, name)
        if inspect.isclass(cls) and issubclass(cls, nn.Layer):
            assert "Source: paddle.nn" in (cls.__doc__ or ""), name
            assert not {p.kind for p in inspect.signature(cls).parameters.values()} & {
                inspect.Parameter.VAR_KEYWORD
            } or name in ("Identity",), name


@pytest.mark.parametrize(
    "name",
    """AdaptiveAvgPool1D AdaptiveMaxPool1D AlphaDropout Dropout2D Dropout3D FeatureAlphaDropout Flatten
    LocalResponseNorm MaxPool1D Unflatten""".split(),  # noqa: SIM905
)
def test_some_inputs_are_called_input(name):
    settings = {
        "AdaptiveAvgPool1D": (2,), "AdaptiveMaxPool1D": (2,), "LocalResponseNorm": (3,), "MaxPool1D": (2,),
        "Unflatten": (1, [2, 2]),
    }  # fmt: skip
    layer = getattr(nn, name)(*settings.get(name, ())).eval()
    x = paddle.arange(24.0).reshape({"Dropout2D": [2, 4, 3, 1], "Dropout3D": [2, 4, 3, 1, 1]}.get(name, [2, 4, 3]))
    assert layer(input=x).tolist() == layer(x).tolist()
    with pytest.raises(TypeError):
        layer(x=x)


def test_settings_of_one_call():
    pooled, where = nn.MaxPool2D(2, return_mask=True)(paddle.arange(49.0).reshape([1, 1, 7, 7]))
    unpool = nn.MaxUnPool2D(2)
    assert unpool(pooled, where, output_size=[7, 7]).shape == [1, 1, 7, 7]
    assert unpool(pooled, indices=where * 0).shape == [1, 1, 6, 6]
    scores, lengths = paddle.zeros([3, 1, 4]), paddle.to_tensor([3])
    by_times = nn.CTCLoss()(scores, paddle.to_tensor([[1]], dtype="int32"), lengths, paddle.to_tensor([1]), True)
    assert by_times.shape == []
    assert nn.SyncBatchNorm(2)(x=paddle.ones([3, 2])).shape == [3, 2]


@pytest.mark.parametrize(
    ("call", "method"),
    [
        (lambda: nn.Conv2D(3), "Conv2D.__init__"),
        (lambda: nn.Conv3DTranspose(3), "Conv3DTranspose.__init__"),
        (lambda: nn.ZeroPad2D(), "ZeroPad2D.__init__"),
        (lambda: nn.ConstantPad1D(1), "ConstantPad1D.__init__"),
        (lambda: nn.LPPool1D(), "LPPool1D.__init__"),
        (lambda: nn.ReLU(beta=1), "ReLU.__init__"),
        (lambda: nn.CrossEntropyLoss()(paddle.ones([2, 3])), "CrossEntropyLoss.forward"),
        (lambda: nn.ReLU()(), "ReLU.forward"),
        (lambda: nn.Linear(3), "Linear.__init__"),
    ],
)
def test_missing_arguments_are_those_of_the_layer(call, method):
    with pytest.raises(TypeError, match=rf"^{method}\(\) (missing|got an unexpected)"):
        call()


def test_settings_are_checked_like_arguments():
    with pytest.raises(TypeError, match="missing a required argument: 'groups'"):
        nn.Maxout()
    with pytest.raises(TypeError, match="unexpected keyword argument 'beta'"):
        nn.ReLU(beta=1)
    with pytest.raises(ValueError, match="reduction must be 'none', 'mean' or 'sum', got 'average'"):
        nn.L1Loss("average")
    assert nn.KLDivLoss("batchmean").reduction == "batchmean"
    assert list(inspect.signature(nn.LeakyReLU).parameters) == ["negative_slope", "name"]
    assert list(inspect.signature(nn.LeakyReLU().forward).parameters) == ["x"]
    assert nn.MSELoss()(input=to_tensor([1.0]), label=to_tensor([3.0])).item() == 4.0


@pytest.mark.parametrize(
    "layer, sizes, keyword, kept",
    [
        (nn.Conv1D, (3, 4, 3), "weight_attr", "_param_attr"),
        (nn.Conv2DTranspose, (3, 4, 3), "weight_attr", "_param_attr"),
        (nn.BatchNorm, (4,), "param_attr", "_param_attr"),
        (nn.LayerNorm, (4,), "weight_attr", "_weight_attr"),
        (nn.InstanceNorm2D, (4,), "weight_attr", "_weight_attr"),
        (nn.GroupNorm, (2, 4), "weight_attr", "_weight_attr"),
    ],
)
def test_layers_keep_how_their_parameters_were_asked_for(layer, sizes, keyword, kept):
    """Model code that makes a layer like another one reads these, as in `nn.Conv2D(..., bias_attr=old._bias_attr)`."""
    given = ParamAttr(learning_rate=0.5)
    asked, plain = layer(*sizes, **{keyword: given, "bias_attr": given}), layer(*sizes)
    assert getattr(asked, kept) is asked._bias_attr is given
    assert getattr(plain, kept) is plain._bias_attr is None


def test_embedding_keeps_how_its_weight_was_asked_for():
    given = ParamAttr(learning_rate=0.5)
    assert nn.Embedding(3, 4, weight_attr=given)._weight_attr is given
