"""`paddle.base` and `paddle.framework`: the inner names that repositories import mean what the public ones mean."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from vitrify.base import core
from vitrify.base.data_feeder import check_dtype, check_shape, check_type, check_variable_and_dtype, convert_dtype
from vitrify.base.framework import in_dygraph_mode, in_dynamic_or_pir_mode, in_pir_mode
from vitrify.framework import core as framework_core


def test_dtypes_have_their_older_names():
    x = paddle.ones([2])
    assert x.dtype == core.VarDesc.VarType.FP32 == core.DataType.FLOAT32
    assert x.astype("bfloat16").dtype == core.VarDesc.VarType.BF16
    assert paddle.base.framework.convert_np_dtype_to_dtype_(np.float16) is paddle.float16
    assert isinstance(x, framework_core.eager.Tensor)


def test_the_mode_is_known_while_tracing():
    seen = []

    def note(x):
        seen.append((in_dygraph_mode(), in_pir_mode(), in_dynamic_or_pir_mode()))
        return x

    note(paddle.ones([1]))
    paddle.enable_static()
    try:
        note(None)
    finally:
        paddle.disable_static()
    assert seen == [(True, False, True), (False, True, True)]


def test_a_guard_leaves_static_mode_for_a_block():
    paddle.enable_static()
    try:
        with paddle.base.dygraph.guard(paddle.CPUPlace()):
            assert paddle.in_dynamic_mode()
            assert paddle.base.dygraph.to_variable(np.ones(2, "float32")).tolist() == [1.0, 1.0]
        assert not paddle.in_dynamic_mode()
    finally:
        paddle.disable_static()
    with paddle.base.dygraph.guard():
        assert paddle.in_dynamic_mode()
    assert paddle.in_dynamic_mode()


def test_to_variable_keeps_tensors():
    x = paddle.ones([2])
    assert paddle.base.dygraph.to_variable(x) is x
    named = paddle.base.dygraph.to_variable([1, 2], name="given", dtype="float64")
    assert (named.name, named.dtype) == ("given", paddle.float64)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda v: check_variable_and_dtype(3, "x", ["float32"], "relu"), "The type of 'x' in relu must be"),
        (lambda v: check_variable_and_dtype(v, "x", ["int32"], "relu"), "The data type of 'x' in relu must be"),
        (lambda v: check_type(3, "x", (str, list), "relu"), "but received <class 'int'>"),
        (lambda v: check_dtype("float32", "x", "int32", "relu"), "but received float32"),
        (lambda v: check_shape(3, "fill"), "The type of 'shape' in fill must be"),
        (lambda v: check_shape([1.5], "fill"), "The type of 'element of shape' in fill"),
        (lambda v: check_shape([v], "fill"), "The data type of 'element of shape' in fill"),
        (lambda v: check_shape(v, "fill"), "The data type of 'shape' in fill"),
    ],
)
def test_checks_look_while_a_program_is_built(check, message):
    check(paddle.ones([2]))  # eagerly nothing is looked at
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("v", [2], "float32")
        with pytest.raises(TypeError, match=message):
            check(v)
        check_variable_and_dtype(v, "x", ["float32"], "relu")
        check_shape([2, paddle.static.data("n", [], "int32")], "fill")


def test_names_of_dtypes():
    names = [convert_dtype(d) for d in (paddle.float32, "int64", np.dtype("bool"), np.float16)]
    assert names == ["float32", "int64", "bool", "float16"]
    with pytest.raises(TypeError, match="no dtype"):
        convert_dtype("no dtype")


def test_wishes_for_primitives_are_noted():
    before = core._is_fwd_prim_enabled(), core._is_bwd_prim_enabled()
    try:
        core._set_prim_all_enabled(True)
        assert core._is_all_prim_enabled()
        core._set_prim_backward_enabled(False)
        assert (core._is_fwd_prim_enabled(), core._is_all_prim_enabled()) == (True, False)
    finally:
        core._set_prim_forward_enabled(before[0])
        core._set_prim_backward_enabled(before[1])


def test_other_makers_devices_are_absent():
    assert not (core.is_compiled_with_cinn() or core.is_compiled_with_rocm() or core.is_compiled_with_xpu())
    assert core.get_cuda_device_count() >= 0


def marked(x):
    if isinstance(x, paddle.static.Variable):
        x = x + 1
    if isinstance(x, (list, paddle.Tensor)):
        x = x + 10
    if isinstance(x.shape[0], paddle.static.Variable):
        x = x + 100
    return x


def test_a_variable_is_a_tensor_in_dynamic_mode():
    variable = paddle.static.Variable
    assert paddle.base.Variable is paddle.base.framework.Variable is paddle.common_ops_import.Variable is variable
    x, weight = paddle.ones([2]), paddle.nn.Linear(1, 1).weight
    assert isinstance(x, variable) and isinstance(weight, variable) and not isinstance([x], variable)
    assert issubclass(paddle.Tensor, variable) and not issubclass(int, variable)
    for spec in ([2], [None]):
        static = paddle.jit.to_static(marked, input_spec=[paddle.static.InputSpec(spec)], full_graph=True)
        assert static(x).tolist() == marked(x).tolist() == [12.0, 12.0]
    with paddle.static.program_guard(paddle.static.Program()):
        assert isinstance(paddle.static.data("x", [1]), variable)
    own = type("Own", (variable,), {})
    assert not isinstance(x, own) and issubclass(own, variable) and not issubclass(paddle.Tensor, own)
