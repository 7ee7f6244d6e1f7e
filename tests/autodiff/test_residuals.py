"""What the backward of a program keeps: only what its rules read."""

import pytest

import vitrify as paddle
from vitrify.static import InputSpec


def watched(f, *shapes):
    """Names of the forward variables kept for backward."""
    specs = [InputSpec(shape, name=f"x{i}", stop_gradient=False) for i, shape in enumerate(shapes)]
    static = paddle.jit.to_static(f)
    args = [paddle.ones([2 if d is None else d for d in shape]) for shape in shapes]
    for arg in args:
        arg.stop_gradient = False
    static = paddle.jit.to_static(f, input_spec=specs)
    static(*args).sum().backward()
    program = static.program_cache.last()
    return {v.name for v in program.segment.backward.residuals}


@pytest.mark.parametrize(
    ("f", "shapes", "kept"),
    [
        (lambda x: x + 1, ([None, 3],), set()),
        (lambda x: x * 2 - 1, ([None, 3],), set()),
        (lambda x: x * x, ([None, 3],), {"x0"}),
        (lambda x, w: x + w, ([None, 3], [3]), set()),
        (lambda x, w: x * w, ([None, 3], [3]), {"x0", "x1"}),
        (lambda x, w: x + w, ([None, 3], [1, 3]), set()),
        (lambda x: -(x + 1), ([None, None],), set()),
    ],
)
def test_what_is_kept(f, shapes, kept):
    assert watched(f, *shapes) == kept


def test_two_unknown_sizes_keep_their_shapes():
    assert watched(lambda x, y: x + y, [None, 3], [None, 3]) == {"x0_shape", "x1_shape"}


def test_a_stretched_operand_gets_the_sum():
    f = paddle.jit.to_static(lambda x, y: x + y, input_spec=[InputSpec([None, 3])] * 2)
    for rows in (1, 4):
        x, y = paddle.ones([rows, 3]), paddle.ones([4, 3])
        x.stop_gradient = y.stop_gradient = False
        f(x, y).sum().backward()
        assert x.grad.shape == [rows, 3] and x.grad.numpy().sum() == 12
