"""Copies and changes of form between instructions: where they stand, that each is made once, and none on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.place import CPUPlace, SimulatedPlace
from vitrify.runtime.lowering import lower

PLACE = SimulatedPlace(4)


def built(build, *specs):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [static.data(f"x{i}", *spec) for i, spec in enumerate(specs)]
        outputs = build(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    return main.global_block(), inputs, outputs


def both(build, specs, given):
    """The program lowered at the device; it gives the bits that it gives on the CPU, where no transfer appears."""
    made = built(build, *specs)
    plain, core = lower(*made, place=CPUPlace()), lower(*made, place=PLACE)
    assert not {i.operator.op.name for i in plain.instructions} & {
        "memcpy_h2d", "memcpy_d2h", "transfer_dtype", "transfer_layout"
    }  # fmt: skip
    for a, b in zip(core(*given), plain(*given)):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return [i.operator.op.name for i in core.instructions], core


def test_attributes_that_tensors_give_are_read_by_the_host():
    types, core = both(lambda x, n: (x.reshape([n, -1]), x.reshape([n, 2]) + 1), [([6],), ([], "int32")],
                       [np.arange(6, dtype="float32"), np.array(3, "int32")])  # fmt: skip
    assert types.count("memcpy_d2h") == 1  # both read the copy
    assert "memcpy_d2h" in str(core)


def test_what_only_the_host_computes_comes_back_to_the_device():
    def build(x):
        made = paddle.linalg.matrix_exp(x * 0.5)
        return made + 1, made * 2

    types, _ = both(build, [([3, 3], "float32")], [np.eye(3, dtype="float32")])
    assert types.count("memcpy_d2h") == types.count("memcpy_h2d") == 1
    assert types.index("memcpy_d2h") < types.index("matrix_exp") < types.index("memcpy_h2d")


def test_what_the_host_made_is_not_copied_back_for_the_host():
    def build(x):
        return paddle.linalg.matrix_exp(paddle.linalg.matrix_exp(x))

    types, _ = both(build, [([2, 2], "float32")], [np.zeros((2, 2), "float32")])
    assert [t for t in types if t.startswith("mem")] == ["memcpy_d2h", "memcpy_h2d"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dtypes_that_a_kernel_does_not_take(dtype):
    def build(x):
        return paddle.linalg.inv(x) + x, paddle.linalg.det(x)

    value = paddle.to_tensor([[2.0, 1.0], [0.0, 4.0]], dtype=dtype)._data
    types, core = both(build, [([2, 2], dtype)], [value])
    assert types.count("transfer_dtype") == 3  # in once, out twice
    assert "transfer_dtype" in str(core)
    types, _ = both(build, [([2, 2], "float32")], [value.astype("float32")])
    assert "transfer_dtype" not in types


def test_layouts_that_a_kernel_does_not_take():
    def build(x, w):
        y = paddle.nn.functional.conv2d(x, w, data_format="NHWC")
        return paddle.nn.functional.relu(y), paddle.nn.functional.conv2d(x, w, data_format="NHWC", padding=1)

    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape).astype("float32") for shape in ((2, 5, 5, 3), (4, 3, 3, 3))]
    types, _ = both(build, [([2, 5, 5, 3],), ([4, 3, 3, 3],)], given)
    assert types.count("transfer_layout") == 3  # x in once, each result out
    assert "transfer_layout" not in both(
        lambda x, w: paddle.nn.functional.conv2d(x, w), [([2, 3, 5, 5],), ([4, 3, 3, 3],)],
        [np.ascontiguousarray(np.moveaxis(given[0], -1, 1)), given[1]],
    )[0]  # fmt: skip


def test_gradients_change_layouts_as_well():
    def build(x, w):
        y = paddle.nn.functional.conv2d(x, w, data_format="NHWC")
        return static.gradients([(y * y).sum()], [x, w])

    rng = np.random.default_rng(1)
    given = [rng.standard_normal(shape).astype("float32") for shape in ((1, 4, 4, 2), (3, 2, 3, 3))]
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, w = static.data("x", [1, 4, 4, 2]), static.data("w", [3, 2, 3, 3])
        x.stop_gradient = w.stop_gradient = False
        found = build(x, w)
    made = (main.global_block(), [x, w], found)
    core = lower(*made, place=PLACE)
    for a, b in zip(core(*given), lower(*made)(*given)):
        assert a.tobytes() == b.tobytes()
    assert "transfer_layout" in str(core)
