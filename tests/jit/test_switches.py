"""The switches around to_static, and what a static function shows of itself."""

import io
import types

import pytest

import vitrify as paddle
from vitrify.core.config import CODE_LEVEL

from .models import counted, tensor

X = (1.0, 2.0, 3.0)


def test_enable_to_static():
    f, runs = counted(lambda x: x * 2)
    paddle.jit.enable_to_static(False)
    try:
        f(tensor(*X)), f(tensor(*X))
    finally:
        paddle.jit.enable_to_static(True)
    assert len(runs) == 2 and len(f.program_cache) == 0
    with pytest.raises(TypeError):
        paddle.jit.enable_to_static("yes")


@paddle.jit.not_to_static
def left_alone(x):
    return [type(x).__name__, len(x.shape)]


def test_not_to_static_leaves_the_function_as_it_is():
    seen = paddle.jit.to_static(lambda x: left_alone(x))(tensor(*X))
    assert seen == ["Variable", 1]
    assert left_alone(tensor(*X)) == ["Tensor", 1]


def test_ignored_modules_are_not_converted():
    module = types.ModuleType("somewhere")
    source = "def pick(x):\n    return x * 2 if x.sum() > 0 else x\n"
    exec(compile(source, __file__, "exec"), module.__dict__)
    paddle.jit.ignore_module([module])
    with pytest.raises(TypeError, match="bool"):
        paddle.jit.to_static(lambda x: module.pick(x), full_graph=True)(tensor(*X))


def choose(x):
    if x.sum() > 0:
        return x * 2
    return x


def test_code_shows_the_converted_source():
    f = paddle.jit.to_static(choose)
    assert "def choose(x):" in f.code and "convert_ifelse" in f.code


def test_set_code_level_prints_while_converting(capsys):
    source = CODE_LEVEL.value
    paddle.jit.set_code_level(100)
    try:
        paddle.jit.to_static(lambda x: x * 2 if x.sum() > 0 else x)(tensor(*X))
    finally:
        CODE_LEVEL.set(source)
    assert "convert_ifexp" in capsys.readouterr().out


def test_concrete_program_and_main_program():
    f = paddle.jit.to_static(choose, input_spec=[paddle.static.InputSpec([None, 3], name="x")])
    program = f.concrete_program
    assert program.inputs[0].name == "x" and program.inputs[0].shape == [-1, 3]
    assert f.main_program is program.main_program or f.main_program.global_block().ops
    assert "if" in str(f.main_program)
    assert len(f.outputs) == 1


def test_concrete_program_needs_a_spec_or_a_call():
    f = paddle.jit.to_static(choose)
    with pytest.raises(ValueError, match="input_spec"):
        f.concrete_program
    f(tensor(*X))
    assert f.concrete_program.inputs[0].shape == [3]


def test_concrete_program_of_the_last_new_signature():
    f = paddle.jit.to_static(choose)
    f(tensor(*X))
    f(tensor(*X).astype("float64"))
    assert f.concrete_program.inputs[0].dtype is paddle.float64
    assert len(f.program_cache.concrete_programs()) == 2


def test_repr():
    f = paddle.jit.to_static(choose)
    f(tensor(*X))
    assert repr(f) == "<StaticFunction choose, 1 programs>"


def test_verbosity_is_kept():
    paddle.jit.set_verbosity(3)
    paddle.jit.set_verbosity(0)


def test_prints_go_to_where_they_are_sent():
    out = io.StringIO()
    f = paddle.jit.to_static(lambda x: print("traced", file=out) or x * 2)
    f(tensor(*X)), f(tensor(*X))
    assert out.getvalue() == "traced\n" * 2
