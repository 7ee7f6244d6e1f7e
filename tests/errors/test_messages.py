"""Errors name what was expected and given, and show the user's file, line and source, never our own names."""

import inspect
import re
import sys
import traceback

import pytest

import vitrify as paddle
from vitrify.core.config import DEBUG
from vitrify.core.unset_local import UNSET

from . import programs as p

EXPECTED = {
    p.shape: (ValueError, "reshape: cannot reshape x float32[3] into [4]"),
    p.called: (ValueError, "concat: tensors differ in rank: x[0] is float32[3], x[1] is float32[2, 2]"),
    p.own_error: (KeyError, "missing"),
    p.ambiguous: (ValueError, "the condition has 3 elements (bool[3]); its truth is ambiguous"),
    p.mixed_kinds: (ValueError, "what the function returns depends on a tensor condition, but one branch gives a nd"),
    p.grows: (Exception, "a list whose length is known only when the program runs has items of different kinds"),
    p.grows_in_branch: (Exception, "a list grows in a loop or branch that a tensor decides, and its items"),
    p.rank_changes: (ValueError, "loop variable 'x' changes its number of dimensions inside a tensor loop"),
    p.needs_value: (Exception, "a NumPy value computed from tensors is used as the target of an assignment to its"),
    p.needs_number: (Exception, "a NumPy value computed from tensors is used as a Python number, but known only when"),
    p.text_split: (Exception, "a text made of tensors is asked for split() where its characters are needed before"),
    p.text_kept: (Exception, "a text made of tensors is kept, a parameter of which changes later, where its"),
    p.caught_too_early: (Exception, "a tensor decides whether ValueError is raised here, so the `try` statement at"),
    p.assert_caught_too_early: (Exception, "a tensor decides whether AssertionError is raised here, so the `try`"),
    p.array_changed: (Exception, "a NumPy value computed from tensors is used as what is changed while another"),
    p.recursion: (RecursionError, "recursion calls itself without end while it is converted: a tensor decides when"),
    p.endless_recursion: (RecursionError, "every path through endless calls it again"),
    p.changes_its_argument: (Exception, "the recursive function swap changes what its argument 'pair' holds"),
    p.too_deep: (RecursionError, "the function calls itself more than"),
    p.fails_deep_inside: (ValueError, "add: shapes do not broadcast: x is [3], y is [5]"),
    p.backward_inside: (Exception, "backward, in a loop or recursion that a tensor decides, through what it got"),
    p.generator: (Exception, "generator functions are not converted: `generator`"),
    p.run_shape: (ValueError, "add: shapes do not broadcast: x is [3], y is [7]"),
    p.run_index: (IndexError, "index 7 is out of"),
    p.run_index_in_loop: (IndexError, "index 7 is out of"),
    p.run_assert: (AssertionError, "too large"),
    p.run_unset: (UnboundLocalError, UNSET.format("y")),
}
CASES = pytest.mark.parametrize("fn", EXPECTED, ids=lambda f: f.__name__)
INTERNAL = re.compile(r"true_fn|then_|orelse|convert_|vt\.|\bresult\b|returned|_tmp|tmp_\d|<lambda>")
AS_EAGER = [p.shape, p.called, p.own_error, p.ambiguous, p.run_shape, p.run_index, p.run_assert, p.run_unset]


def failure(fn, static=True):
    fn = paddle.jit.to_static(fn, full_graph=True) if static else fn
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    with pytest.raises(Exception) as caught:
        fn(x, paddle.to_tensor(7))
    return caught.value


def text_of(err):
    return "".join(traceback.format_exception(err))


def marked_line(fn):
    """File:line of the `# here` in `fn`, in a function inside it, or in what it calls."""
    nested = [code for code in fn.__code__.co_consts if inspect.iscode(code) and "<" not in code.co_name]
    for code in (*nested, fn.__code__, p.inner.__code__):
        lines, start = inspect.getsourcelines(code)
        for offset, line in enumerate(lines):
            if "# here" in line:
                return f"{p.__file__}:{start + offset} in {code.co_name}", line.strip()
    raise AssertionError(fn)


@CASES
def test_class_and_message(fn):
    kind, message = EXPECTED[fn]
    err = failure(fn)
    assert isinstance(err, kind) and message in str(err)


@CASES
def test_the_users_line_is_shown(fn):
    where, line = marked_line(fn)
    shown = text_of(failure(fn))
    file, _, rest = where.rpartition(":")
    number, function = rest.split(" in ")
    assert f"{file}:{number} in {function}" in shown or f'File "{file}", line {number}, in {function}' in shown
    assert line in shown


@CASES
def test_no_internal_names(fn):
    err = failure(fn)
    assert not INTERNAL.search(str(err)), str(err)


@CASES
def test_tracebacks_hold_the_users_frames(fn):
    frames = traceback.extract_tb(failure(fn).__traceback__)
    ours = [f for f in frames if "vitrify/src" in f.filename or "/vitrify/" in f.filename]
    assert len(ours) <= (sys.version_info < (3, 11)), [f"{f.filename}:{f.lineno}" for f in ours]


@pytest.mark.parametrize("fn", AS_EAGER, ids=lambda f: f.__name__)
def test_eager_raises_the_same_class(fn):
    assert isinstance(failure(fn), type(failure(fn, static=False)))


def test_debug_shows_everything():
    DEBUG.set(True)
    try:
        frames = traceback.extract_tb(failure(p.shape).__traceback__)
    finally:
        DEBUG.set(False)
    assert any(f.filename.endswith("program_builder.py") for f in frames)


def test_an_error_can_be_raised_again_and_again():
    f = paddle.jit.to_static(p.run_index, full_graph=True)
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    for _ in range(3):
        with pytest.raises(IndexError, match="index 7"):
            f(x, paddle.to_tensor(7))
        assert f(x, paddle.to_tensor(1)).item() == 2.0


def test_kernels_errors_in_backward_name_the_line():
    def f(x):
        return (x * x).sum()

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = paddle.jit.to_static(f, full_graph=True)(x)
    with pytest.raises(ValueError, match="shape"):
        y.backward(paddle.ones([3]))


def test_equal_functions_in_two_files_name_their_own(tmp_path):
    text = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"
    for name in ("first.py", "second.py"):
        path = tmp_path / name
        path.write_text(text)
        namespace: dict = {}
        exec(compile(text, str(path), "exec"), namespace)
        with pytest.raises(ValueError, match=f"{name}:2 in f"):
            paddle.jit.to_static(namespace["f"], full_graph=True)(paddle.ones([3]))
