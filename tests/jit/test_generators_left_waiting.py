"""Generators that a trace which fails leaves waiting: their `finally` runs as often as in eager code, and then."""

from __future__ import annotations

import pytest

import vitrify as paddle

NOTES: list[str] = []


def items(x):
    try:
        for i in range(3):
            yield x * i
    finally:
        NOTES.append("closed")
        print("closed")


def left_by_a_tensor(x):
    taken = items(x)
    first = next(taken)
    if x.sum() > 0:
        first = first + next(taken)
    return first + len(x.numpy().tobytes())


def left_behind_a_file(x):
    found = []
    for item in items(x):
        found.append(item)
        open("/dev/null").close()
        if len(found) == 2:
            break
    return found[-1]


@pytest.mark.parametrize("function", [left_by_a_tensor, left_behind_a_file], ids=lambda f: f.__name__)
def test_generators_are_closed_where_eager_code_closes_them(function, capsys):
    static = paddle.jit.to_static(function)
    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(4):
        NOTES.clear()
        expected = function(x).tolist(), [*NOTES], capsys.readouterr().out
        NOTES.clear()
        assert (static(x).tolist(), [*NOTES], capsys.readouterr().out) == expected
