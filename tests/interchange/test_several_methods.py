"""Layers of several methods in others' formats: all of them are written, or none is."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

SPEC = [paddle.static.InputSpec([None, 2])]


class Counting(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(2, 2)
        self.register_buffer("count", paddle.zeros([2]))

    @paddle.jit.to_static(input_spec=SPEC, full_graph=True)
    def forward(self, x):
        return self.linear(x)

    @paddle.jit.to_static(input_spec=SPEC, full_graph=True)
    def counted(self, x):
        self.count.add_(paddle.ones([2]))
        return x + self.count


@pytest.mark.parametrize("format", ["paddle", "paddle3", "onnx", "native"])
def test_a_method_that_a_format_cannot_say_leaves_no_files_of_the_others(format, tmp_path):
    with pytest.raises(UnsupportedError, match="counted changes its arguments or buffers in place"):
        paddle.jit.save(Counting(), str(tmp_path / "net"), format=format)
    assert [*tmp_path.iterdir()] == []
