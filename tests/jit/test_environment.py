"""What belongs to the moment of the call: the environment, and library functions that want text now."""

import json
import os
from os import environ

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

NAME = "VITRIFY_TEST_SCALE"


def by_item(x):
    return x * int(os.environ[NAME])


def by_membership(x):
    return x * (2 if NAME in os.environ else 3)


def by_getenv(x):
    return x * int(os.getenv(NAME, "7")) if x.sum() > 0 else x


def by_get(x):
    return x * int(os.environ.get(NAME) or 3) + int(environ.get(NAME, "1"))


def by_a_missing_name(x):
    try:
        return x * int(environ[NAME])
    except KeyError:
        return x - 1


@pytest.mark.parametrize("function", [by_item, by_membership, by_getenv, by_get, by_a_missing_name])
def test_variables_that_are_read_by_name_guard_the_program(function, monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(function, full_graph=True)
    for value in ("2", "4", None, "2"):
        if value is not None:
            monkeypatch.setenv(NAME, value)
        elif function is not by_item:
            monkeypatch.delenv(NAME)
        for _ in range(2):
            assert static(x).tolist() == function(x).tolist()
    assert static.cache_info().misses == (2 if function is by_item else 3)


def by_a_copy(x):
    return x * len(dict(os.environ))


def going_through(x):
    return x * sum(1 for _ in environ)


def counted(x):
    return x * len(os.environ)


@pytest.mark.parametrize("function", [by_a_copy, going_through, counted])
def test_the_environment_as_a_whole_is_refused_or_read_at_each_call(function, monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match="reads the environment"):
        paddle.jit.to_static(function, full_graph=True)(x)
    static = paddle.jit.to_static(function)
    for value in ("2", "4"):
        monkeypatch.setenv(NAME + value, value)
        assert static(x).tolist() == function(x).tolist()


def set_there(x):
    os.environ[NAME] = "3"
    return x


def set_by_another_name(x):
    environ[NAME] = "3"
    return x


def deleted(x):
    del os.environ[NAME]
    return x


@pytest.mark.parametrize("function", [set_there, set_by_another_name, deleted])
def test_a_change_of_the_environment_is_refused_or_made_by_each_call(function, monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    monkeypatch.setenv(NAME, "2")
    with pytest.raises(UnsupportedError, match="reads the environment"):
        paddle.jit.to_static(function, full_graph=True)(x)
    static = paddle.jit.to_static(function)
    for _ in range(3):
        monkeypatch.setenv(NAME, "2")
        static(x)
        assert os.environ.get(NAME) == (None if function is deleted else "3")


def described(x):
    return json.dumps([f"{x.sum()}"])


def test_a_library_that_wants_text_now_is_named():
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match=r"json\.dumps\(\) needs a value or text made of tensors") as info:
        paddle.jit.to_static(described, full_graph=True)(x)
    assert "GraphText" not in str(info.value)
    assert paddle.jit.to_static(described)(x) == described(x)
