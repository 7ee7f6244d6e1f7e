"""What is left as it is: library code, ignored modules, and what not_to_static marks."""

import functools
import sys
import types

import pytest

import vitrify as paddle
from vitrify.convert.values.user_code import is_user_code


def branches(x):
    if x.sum() > 0:
        return x * 2
    return x


def run(fn):
    return paddle.jit.to_static(fn, full_graph=True)(paddle.ones([2]))


def test_plain_functions_are_the_users():
    assert is_user_code(branches)
    assert not is_user_code(functools.wraps)
    assert not is_user_code(paddle.nn.functional.relu)


@paddle.jit.not_to_static
def marked(x):
    return branches(x)


@paddle.jit.not_to_static
class MarkedClass:
    def __init__(self, x):
        self.x = x if x.ndim == 1 else -x

    def go(self, x):
        return branches(x)

    @classmethod
    def make(cls, x):
        return branches(x)

    def __call__(self, x):
        return branches(x)

    def __bool__(self):
        return bool((self.x > 0).all())


class MarkedMethod:
    @paddle.jit.not_to_static
    def go(self, x):
        return branches(x)

    @staticmethod
    @paddle.jit.not_to_static
    def plain(x):
        return branches(x)


LEFT_ALONE = {
    "function": lambda x: marked(x),
    "method of a class": lambda x: MarkedClass(x).go(x),
    "classmethod": lambda x: MarkedClass.make(x),
    "callable object": lambda x: MarkedClass(x)(x),
    "method": lambda x: MarkedMethod().go(x),
    "staticmethod": lambda x: MarkedMethod.plain(x),
    "object": lambda x: paddle.jit.not_to_static(Callable())(x),
    "special method": lambda x: x if MarkedClass(x) else -x,
}


class Callable:
    def __call__(self, x):
        return branches(x)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_marked_code_runs_as_it_is(name):
    with pytest.raises(TypeError, match="known only when the program runs"):
        run(LEFT_ALONE[name])


def test_a_wrapper_of_a_marked_function_is_not_marked():
    @functools.wraps(marked)
    def wrapper(x):
        return x * 3 if x.sum() > 0 else x

    assert run(lambda x: wrapper(x)).tolist() == [3.0, 3.0]


def test_ignored_modules_and_their_submodules():
    module = types.ModuleType("some_library.part")
    module.branches = types.FunctionType(branches.__code__, globals(), "branches")
    module.branches.__module__ = "some_library.part"
    sys.modules["some_library.part"] = module
    assert is_user_code(module.branches)
    paddle.jit.ignore_module([types.ModuleType("some_library")])
    assert not is_user_code(module.branches)
    with pytest.raises(TypeError, match="known only when the program runs"):
        run(lambda x: module.branches(x))


def _doubled(x):
    return x * 2 if isinstance(x, paddle.Tensor) else x * 3


@paddle.jit.not_to_static
def marked_that_asks(x):
    return _doubled(x)


@paddle.jit.not_to_static
def marked_that_asks_a_number(n):
    return [isinstance(n, kind) for kind in (int, float, paddle.Tensor)]


@pytest.mark.parametrize("full_graph", [True, False])
def test_code_that_nobody_converts_is_told_that_a_tensor_of_the_program_is_a_tensor(full_graph):
    f = paddle.jit.to_static(lambda x: marked_that_asks(x) + 1, full_graph=full_graph)
    assert [f(paddle.ones([2])).tolist() for _ in range(2)] == [[3.0, 3.0]] * 2


def test_code_that_nobody_converts_is_told_the_class_of_a_number():
    told = run(lambda x: marked_that_asks_a_number(int(x.sum())))
    assert told == [True, False, False]


def test_the_class_of_a_tensor_is_tensor_where_it_is_converted():
    assert run(lambda x: [x.__class__ is paddle.Tensor, isinstance(x, paddle.Tensor)]) == [True, True]


def test_what_library_code_asks_goes_by_the_code_that_calls_it():
    @functools.singledispatch
    def kind(value):
        return "other"

    kind.register(paddle.Tensor, lambda value: "tensor")
    assert run(paddle.jit.not_to_static(lambda x: kind(x))) == "tensor"
