"""Dicts whose keys only a run knows, as results of saved functions: refused, as no file holds them."""

import pytest

import vitrify as paddle
from vitrify.core.errors import DTypeError


def test_refused(tmp_path):
    def f(x):
        return x, {int(x.sum()): x}

    static = paddle.jit.to_static(f, full_graph=True, input_spec=[paddle.static.InputSpec([2], "float32")])
    with pytest.raises(DTypeError, match="whose keys are known only when it runs"):
        paddle.jit.save(static, str(tmp_path / "model"))
