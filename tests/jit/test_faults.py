"""A failure of ours while tracing: results stay right, and whoever runs the function is told."""

from __future__ import annotations

import warnings

import pytest

import vitrify as paddle
from vitrify.convert.control import branches
from vitrify.core.errors import InternalError
from vitrify.jit.faults import FaultWarning


def f(x):
    y = x * 2
    if x.sum() > 0:
        y = y + 1
    return y


@pytest.fixture(params=[AttributeError("none there"), InternalError("no such block")], ids=lambda e: type(e).__name__)
def failing(request, monkeypatch):
    names = {"__name__": branches.__name__, "error": request.param}
    exec(compile("def fail(*args): raise error.with_traceback(None)", branches.__file__, "exec"), names)
    monkeypatch.setattr(branches, "_emit_if", names["fail"])
    return request.param


def test_it_is_told_once_and_explained(failing):
    static = paddle.jit.to_static(f, full_graph=False)
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.warns(FaultWarning, match=f"f runs as Python.*fault of vitrify.*{type(failing).__name__}: ") as seen:
        assert static(x).tolist() == [3.0, 5.0]
    assert len(seen) == 1 and seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaultWarning)  # of parts that meet it again
        assert static(x).tolist() == [3.0, 5.0]
    assert "a fault of vitrify" in str(paddle.jit.explain(static))


def test_a_whole_function_raises_it(failing):
    with pytest.raises(type(failing)):
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor([1.0, 2.0]))


def test_what_cannot_be_converted_is_no_fault():
    def g(x):
        y = x + 1
        if float(y.numpy().sum()) > 0:
            y = y * 2
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paddle.jit.to_static(g, full_graph=False)(paddle.to_tensor([1.0])).tolist() == [4.0]
