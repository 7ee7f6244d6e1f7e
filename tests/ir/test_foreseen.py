"""Sizes that are tensors of the program, made of known sizes and of constants: they are known while it is built."""

import numpy as np
import pytest

import vitrify as paddle

USES = {
    "reshape": lambda x: x.reshape([paddle.shape(x)[0], -1]).split(3, 1)[0],
    "product": lambda x: paddle.zeros([paddle.shape(x)[0] * 2, paddle.shape(x).prod()]),
    "quotient": lambda x: paddle.full([6 // paddle.shape(x)[0], paddle.full([1], 4, "int64")], 1.0),
    "whole": lambda x: x.expand(paddle.concat([paddle.full([1], 2, "int64"), paddle.shape(x)])).unbind(0)[1],
    "slice": lambda x: paddle.unstack(x[: paddle.shape(x)[0]], 0)[1],
    "int": lambda x: x.split(int(paddle.shape(x)[1]), 1)[0],
    "numel": lambda x: x.reshape([int(paddle.numel(x))]),
}


@pytest.mark.parametrize("name", USES)
def test_sizes_made_of_known_ones_are_known(name):
    use = USES[name]
    compiled = paddle.jit.to_static(use, input_spec=[paddle.static.InputSpec([2, 3])], full_graph=True)
    x = paddle.arange(6, dtype="float32").reshape([2, 3])
    assert np.array_equal(compiled(x).numpy(), use(x).numpy())
    assert all(-1 not in out.shape for out in compiled.concrete_program.outputs)


def test_sizes_made_of_unknown_ones_are_not():
    spec = paddle.static.InputSpec([None, 3])
    compiled = paddle.jit.to_static(lambda x: paddle.zeros([paddle.shape(x)[0]]), input_spec=[spec], full_graph=True)
    assert compiled(paddle.ones([2, 3])).shape == [2] and compiled(paddle.ones([4, 3])).shape == [4]
    assert compiled.concrete_program.outputs[0].shape == [-1]


def test_a_size_that_cannot_be_is_found_when_the_program_runs():
    def divided(x):
        return paddle.zeros([2 // (paddle.shape(x)[0] - 2)])

    compiled = paddle.jit.to_static(divided, full_graph=True)
    for call in (divided, compiled):
        with pytest.raises((ValueError, ZeroDivisionError)):
            call(paddle.ones([2, 3]))


def test_a_number_that_only_a_run_knows_stays_open():
    compiled = paddle.jit.to_static(lambda x: x.split(int(x.sum()), 1), full_graph=True)
    for total, wanted in ((3, [1, 1, 1]), (1, [3])):
        assert [part.shape[1] for part in compiled(paddle.full([1, 3], total / 3))] == wanted


SETTINGS = {
    "diagonal": lambda x: x.diagonal(offset=paddle.to_tensor(1, dtype="int32")),
    "trace": lambda x: paddle.trace(x, paddle.full([1], -1, dtype="int64")),
    "tril": lambda x: paddle.tril(x, paddle.to_tensor([1])),
    "rot90": lambda x: paddle.rot90(x, k=paddle.full([], 3, dtype="int32")),
    "histogram": lambda x: paddle.histogram(x, bins=4, max=paddle.to_tensor(3.5)),
    "matrix_power": lambda x: paddle.linalg.matrix_power(x[:, :2] + 1, paddle.to_tensor(-1)),
    "numbers": lambda x: x * float(paddle.to_tensor(2.5)) if bool(paddle.to_tensor(True)) else x,
    "changed": lambda x: x.diagonal(offset=paddle.to_tensor(0).add_(paddle.to_tensor(1))),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_tensors_made_of_constants_are_settings(name):
    use = SETTINGS[name]
    x = paddle.arange(6, dtype="float32").reshape([2, 3])
    compiled = paddle.jit.to_static(use, full_graph=True)
    for _ in range(2):
        np.testing.assert_allclose(compiled(x).numpy(), use(x).numpy())


def test_a_tensor_of_the_outside_is_no_constant():
    offset = paddle.to_tensor(1)
    with pytest.raises(ValueError, match="offset must be a Python value"):
        paddle.jit.to_static(lambda x: x.diagonal(offset=offset), full_graph=True)(paddle.ones([2, 3]))
