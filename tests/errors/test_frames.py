"""Tracebacks of what fails in converted code have no frame of vitrify's and no name that conversion made up."""

import os
import re
import sys
import traceback

import pytest

import vitrify as paddle
from vitrify.core.config import DEBUG
from vitrify.eager import layer_hooks

from . import failing

PACKAGE = os.path.dirname(paddle.__file__)
MADE_UP = re.compile(r"\b(then|orelse|body|test|raised|broke|returned|result|error|found|value)_\d+\b|vt\.|convert_")
CASES = pytest.mark.parametrize("fn", failing.PROGRAMS, ids=lambda fn: fn.__name__)


def failure(call):
    """What a call raises, not as pytest would show it."""
    try:
        call(paddle.to_tensor([1.0, -2.0, 3.0]))
    except Exception as err:  # noqa: BLE001 - whatever it is
        return err
    raise AssertionError("nothing was raised")


def frames_of(err):
    """The frames behind that of `failure`, and those of what the exception came of.

    Python 3.10 keeps those that the exception left last.
    """
    frames = traceback.extract_tb(err.__traceback__)[1:]
    border = next((i for i, f in enumerate(frames) if f.filename.startswith(PACKAGE)), len(frames))
    while sys.version_info < (3, 11) and border < len(frames) and frames[border].filename.startswith(PACKAGE):
        frames.pop(border)
    inner = err.__cause__ or (None if err.__suppress_context__ else err.__context__)
    while inner is not None:
        frames += traceback.extract_tb(inner.__traceback__)
        inner = inner.__cause__ or (None if inner.__suppress_context__ else inner.__context__)
    return frames


def functions_in(path):
    """Names of functions that are written in a file."""
    with open(path) as file:
        return {*re.findall(r"\b(?:def|class) (\w+)", file.read()), "<lambda>"}


@CASES
@pytest.mark.parametrize("full_graph", [True, False], ids=["whole", "segments"])
def test_a_traceback_has_the_users_frames_alone(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    eager = failure(fn)
    names = functions_in(failing.__file__) | {"<listcomp>", "<dictcomp>", "<genexpr>"}
    for _ in range(3):
        err = failure(static)
        assert type(err) is type(eager)
        frames = frames_of(err)
        assert not [f"{f.filename}:{f.lineno}" for f in frames if f.filename.startswith((PACKAGE, "<"))]
        assert {f.name for f in frames if f.filename == failing.__file__} <= names
        told = "\n".join([str(err), *getattr(err, "__notes__", ())])
        assert not MADE_UP.search(told)
        assert [f for f in frames if f.filename == failing.__file__] or f"{failing.__file__}:" in told


def test_a_part_of_a_function_is_one_frame_with_it():
    err = failure(paddle.jit.to_static(failing.raise_in_loop, full_graph=True))
    assert "\n".join(err.__notes__).count("in raise_in_loop") == 1
    err = failure(paddle.jit.to_static(failing.in_ternary, full_graph=True))
    assert "<lambda>" not in "\n".join(err.__notes__)


def test_an_error_that_names_its_place_names_it_once():
    told = "".join(traceback.format_exception(failure(paddle.jit.to_static(failing.shape_mismatch, full_graph=True))))
    assert told.count("in inner") == 1 and "in shape_mismatch" in told


@pytest.mark.parametrize("call", ["code", "concrete_program", "explain", "save"])
def test_what_shows_or_saves_a_function_has_no_frame_of_ours(call, tmp_path):
    def generator(x):
        yield x

    static = paddle.jit.to_static(generator, input_spec=[paddle.static.InputSpec([3])])
    calls = {
        "code": lambda x: static.code,
        "concrete_program": lambda x: static.concrete_program,
        "explain": lambda x: paddle.jit.explain(paddle.jit.to_static(failing.raise_in_branch, full_graph=True), x),
        "save": lambda x: paddle.jit.save(static, str(tmp_path / "model")),
    }
    assert {f.filename for f in frames_of(failure(calls[call]))} <= {__file__, failing.__file__}


def test_calls_of_layers_leave_no_frame():
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return x.missing

    class WithHook(failing.Hooked):
        def forward(self, x):
            return self.l(x)

    # On Python 3.10 each handler that passes an exception on stays in its traceback, one for each Layer.
    kept = {layer_hooks.__file__} if sys.version_info < (3, 11) else set()
    for layer in (Net(), paddle.jit.to_static(Net()), WithHook(), paddle.jit.to_static(WithHook())):
        assert {f.filename for f in frames_of(failure(layer))} <= {__file__, failing.__file__, *kept}


def test_debug_keeps_all():
    DEBUG.set(True)
    try:
        frames = frames_of(failure(paddle.jit.to_static(failing.reshape_bad)))
    finally:
        DEBUG.set(False)
    assert any(f.filename.startswith(PACKAGE) for f in frames)
