"""What is raised for a variable that the path taken did not set: Python's own exception, with a note of its line."""

from __future__ import annotations

import sys

import pytest

import vitrify as paddle


def by_a_branch(x):
    if x.sum() > 0:
        y = x * 2
    return x + y


def by_a_loop(x):
    for i in range(x.sum().astype("int32")):
        x = x + i
    return x + i


def in_an_inner_function(x):
    if x.sum() > 0:
        y = x * 2

    def inner():
        return y

    return inner()


def in_a_generator(x):
    if x.sum() > 0:
        y = x * 2
    return sum(y for _ in range(2))


def in_a_list(x):
    if x.sum() > 0:
        y = x * 2
    return [y for _ in range(2)]


def deleted(x):
    y = x * 2
    if x.sum() < 0:
        del y
    return y


def told_by_a_handler(x):
    if x.sum() > 0:
        y = x * 2
    try:
        return y
    except NameError as err:
        return type(err).__name__, str(err)


def outcome(function):
    try:
        return function(paddle.to_tensor([-1.0, -2.0]))
    except Exception as err:  # noqa: BLE001 - its class is what is compared
        return type(err), err.args


FUNCTIONS = [by_a_branch, by_a_loop, in_an_inner_function, in_a_generator, in_a_list, deleted, told_by_a_handler]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_exception_is_pythons(function, whole):
    static = paddle.jit.to_static(function, full_graph=whole)
    for _ in range(2):
        assert outcome(static) == outcome(function)


@pytest.mark.parametrize("function", [by_a_branch, by_a_loop, deleted])
def test_no_handler_of_value_errors_catches_it(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(UnboundLocalError) as caught:
        static(paddle.to_tensor([-1.0, -2.0]))
    assert type(caught.value) is UnboundLocalError


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
def test_a_note_tells_where_the_variable_is_set():
    static = paddle.jit.to_static(by_a_branch, full_graph=True)
    with pytest.raises(UnboundLocalError) as caught:
        static(paddle.to_tensor([-1.0, -2.0]))
    line = by_a_branch.__code__.co_firstlineno + 3
    first, where = caught.value.__notes__
    assert first == f"'y' is set near line {line - 1}, on a path that was not taken"
    assert f"test_unset_errors.py:{line} in by_a_branch" in where


def test_a_list_without_an_item_raises_pythons_index_error():
    def first(x):
        rows = []
        if x.sum() > 0:
            rows.append(x)
        return rows[0]

    def popped(x):
        rows = []
        if x.sum() > 0:
            rows.append(x)
        return rows.pop()

    def of_a_tuple(x):
        return (x, x + 1)[x.sum().astype("int32") + 8]

    def of_a_range(x):
        return x + range(3)[x.sum().astype("int32") + 8]

    for function in (first, popped, of_a_tuple, of_a_range):
        static = paddle.jit.to_static(function, full_graph=True)
        assert outcome(static) == outcome(function)
        assert outcome(static)[0] is IndexError


def test_what_a_number_is_not_is_pythons_type_error():
    def measured(x):
        return len(float(x.sum()))

    def looped(x):
        return [v + 1 for v in int(x.sum())]

    def searched(x):
        return 1 in float(x.sum())

    for function in (measured, looped, searched):
        static = paddle.jit.to_static(function, full_graph=True)
        assert outcome(static) == outcome(function)
        assert outcome(static)[0] is TypeError
