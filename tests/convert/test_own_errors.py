"""Exceptions of the user's own: what their `__init__` makes of tensors, what they hold, and groups of them."""

import sys

import pytest

import vitrify as paddle

MODES = [True, False]


class Diverged(ValueError):
    def __init__(self, value, step=0):
        super().__init__(f"diverged at step {step}")
        self.value = value
        self.step = step


class Told(RuntimeError):
    def __init__(self, message, *, code=3):
        super().__init__(message)
        self.code = code

    def __str__(self):
        return f"{self.code}: {self.args[0]}"


class Bounded(Diverged):
    def __init__(self, value, limit):
        super().__init__(value * 2, step=limit)
        self.over = value - limit if limit < 2 else value


def diverging(x, n):
    if n > 2:
        raise Diverged(x.sum(), n)
    return x * 2


def telling(x, n):
    if n > 2:
        raise Told(f"sum of {x.sum():.1f}", code=n)
    return x * 2


def bounded(x, n):
    if n > 2:
        raise Bounded(x, n - 2)
    return x * 2


def outcome(function, x, n):
    try:
        return function(x, n)
    except (Diverged, Told) as err:
        return {"type": type(err), "text": str(err), "args": err.args, **vars(err)}


def told(value):
    """What can be compared."""
    if isinstance(value, paddle.Tensor):
        return value.tolist(), value.stop_gradient
    if isinstance(value, dict):
        return {key: told(held) for key, held in value.items() if key != "__notes__"}
    return [told(item) for item in value] if isinstance(value, (list, tuple)) else value


def same(first, second, full_graph):
    static = paddle.jit.to_static(second, full_graph=full_graph)
    for n in (1.0, 3.0, 5.0, 1.0, 3.0):
        found = []
        for function in (first, static):
            x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            found.append(told(outcome(function, x, paddle.to_tensor(n))))
        assert found[0] == found[1]


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize("raising", [diverging, telling, bounded], ids=lambda fn: fn.__name__)
def test_what_leaves_the_call(raising, full_graph):
    same(raising, raising, full_graph)


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize("raising", [diverging, telling, bounded], ids=lambda fn: fn.__name__)
def test_what_a_handler_inside_sees(raising, full_graph, capsys):
    def caught(x, n):
        try:
            return raising(x, n), None
        except (Diverged, Told) as err:
            print("caught", err)
            held = [getattr(err, name, None) for name in ("value", "step", "code", "over")]
            return x * 3, (str(err), held)

    same(caught, caught, full_graph)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("caught")]
    assert lines[::2] == lines[1::2]
    assert lines


@pytest.mark.parametrize("full_graph", MODES)
def test_its_own_attributes_are_left_alone(full_graph):
    def f(x, n):
        if n > 2:
            raise Told("seven", code=7)
        return x * 2

    static = paddle.jit.to_static(f, full_graph=full_graph)
    for _ in range(3):
        static(paddle.ones([2]), paddle.to_tensor(1.0))
        with pytest.raises(Told) as info:
            static(paddle.ones([2]), paddle.to_tensor(3.0))
        assert {name for name in vars(info.value) if name != "__notes__"} == {"code"}


def grouped(x, n):
    if n > 2:
        raise ExceptionGroup("many", [Diverged(x * n, n), ValueError("other")])  # noqa: F821 - of Python 3.11
    return x * 2


@pytest.mark.parametrize("full_graph", MODES)
def test_exceptions_in_a_group_hold_tensors_of_the_run(full_graph):
    static = paddle.jit.to_static(grouped, full_graph=full_graph)
    for n in (3.0, 4.0) * 2:
        static(paddle.ones([2]), paddle.to_tensor(1.0))
        try:
            static(paddle.ones([2]), paddle.to_tensor(n))
        except Exception as err:  # noqa: BLE001 - a NameError before Python 3.11
            found = err
        assert type(found).__name__ == ("ExceptionGroup" if sys.version_info >= (3, 11) else "NameError")
        for error in getattr(found, "exceptions", ())[:1]:
            assert error.value.tolist() == [n, n]
            assert error.step.item() == n
