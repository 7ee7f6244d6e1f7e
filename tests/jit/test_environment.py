"""What belongs to the moment of the call: the environment, and library functions that want text now."""

import json
import os

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

NAME = "VITRIFY_TEST_SCALE"


def by_item(x):
    return x * int(os.environ[NAME])


def by_membership(x):
    return x * (2 if NAME in os.environ else 3)


def by_a_copy(x):
    return x * len(dict(os.environ))


@pytest.mark.parametrize("function", [by_item, by_membership, by_a_copy])
def test_the_environment_is_refused_or_read_at_each_call(function, monkeypatch):
    x = paddle.to_tensor([1.0, 2.0])
    monkeypatch.setenv(NAME, "2")
    with pytest.raises(UnsupportedError, match="reads the environment"):
        paddle.jit.to_static(function, full_graph=True)(x)
    static = paddle.jit.to_static(function)
    for value in ("2", "4", None, "5"):
        if value is None:
            monkeypatch.setenv(NAME + "_MORE", "1")
        else:
            monkeypatch.setenv(NAME, value)
        assert static(x).tolist() == function(x).tolist()


def described(x):
    return json.dumps([f"{x.sum()}"])


def test_a_library_that_wants_text_now_is_named():
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match=r"json\.dumps\(\) needs a value or text made of tensors") as info:
        paddle.jit.to_static(described, full_graph=True)(x)
    assert "GraphText" not in str(info.value)
    assert paddle.jit.to_static(described)(x) == described(x)
