"""`paddle.utils`, `paddle.incubate`, and the other things model code imports beside tensor functions."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.jit import to_static


def test_nests():
    nest = {"b": [1, (2, 3)], "a": 4}
    assert paddle.utils.flatten(nest) == [4, 1, 2, 3] and paddle.utils.flatten(5) == [5]
    assert paddle.utils.pack_sequence_as(nest, [1, 2, 3, 4]) == {"b": [2, (3, 4)], "a": 1}
    assert paddle.utils.map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [3, 4]}) == {"x": [4, 6]}
    with pytest.raises(ArgumentError, match="3 values for 4 places"):
        paddle.utils.pack_sequence_as(nest, [1, 2, 3])


def doubled(states):
    return paddle.utils.map_structure(lambda s: s * 2, states)


def test_nests_in_programs():
    static = to_static(doubled, full_graph=True)
    for _ in range(2):
        found = static({"h": paddle.ones([2]), "c": [paddle.zeros([1])]})
        assert found["h"].tolist() == [2.0, 2.0] and found["c"][0].tolist() == [0.0]


def test_modules_that_may_be_missing():
    assert paddle.utils.try_import("math").pi > 3
    with pytest.raises(ImportError, match="pip install no_such_module"):
        paddle.utils.try_import("no_such_module")
    with pytest.raises(ImportError, match="my message"):
        paddle.utils.try_import("no_such_module", "my message")
    with pytest.raises(UnsupportedError, match="no C\\+\\+ interface"):
        paddle.utils.cpp_extension.load(name="x", sources=[])


def test_deprecated_functions_warn():
    @paddle.utils.deprecated(update_to="new", since="2.0", reason="slow")
    def old():
        return 3

    with pytest.warns(DeprecationWarning, match="deprecated since 2.0, use new: slow"):
        assert old() == 3
    with pytest.raises(UnsupportedError, match="deprecated"):
        paddle.utils.deprecated(level=2)(old)()
    paddle.utils.require_version("2.0")


def test_fused_linear_is_linear():
    for transpose in (False, True):
        layer = paddle.incubate.nn.FusedLinear(3, 4, transpose_weight=transpose)
        x = paddle.rand([2, 3])
        weight = layer.weight.numpy().T if transpose else layer.weight.numpy()
        np.testing.assert_allclose(layer(x).numpy(), x.numpy() @ weight, rtol=1e-5)
        assert list(layer.state_dict()) == ["weight", "bias"] and not isinstance(layer, paddle.nn.Linear)


def test_parameters_of_tensors():
    parameter = paddle.framework.EagerParamBase.from_tensor(paddle.ones([2]), trainable=True)
    assert isinstance(parameter, paddle.nn.Parameter) and parameter.trainable and parameter.tolist() == [1.0, 1.0]
    with paddle.static.amp.fp16_guard():
        assert (parameter * 2).dtype == paddle.float32


@pytest.mark.parametrize(
    "name", ["setup", "CppExtension", "CUDAExtension", "BuildExtension", "load_op_meta_info_and_register_op"]
)
def test_extensions_are_refused_when_they_are_asked_for(name):
    with pytest.raises(UnsupportedError, match=rf"cpp_extension\.{name}: vitrify has no C\+\+ interface to extend"):
        getattr(paddle.utils.cpp_extension, name)("x")
