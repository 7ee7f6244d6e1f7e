"""Statements and expressions of every kind in which a tensor decides, and their plain Python forms."""

from dataclasses import dataclass

import vitrify as paddle

from .functions import N, X, Z


@dataclass
class Point:
    x: object
    y: object


# -- match --


def match_literal(x):
    match x.argmax():
        case 0:
            y = x * 2
        case 1 | 2:
            y = x * 3
        case _:
            y = x
    return y


def match_singletons(x):
    positive = bool(x.sum() > 0)
    found = x if x.sum() > 5 else None
    match (0, positive, found):
        case (1, _, _):
            y = x * 2
        case (0, True, None):
            y = x * 3
        case (0, False, None):
            y = x * 4
        case (_, True, held):
            y = held * 5
    match {"flag": positive, "raw": x.sum() > 0}:
        case {"raw": True}:
            return y
        case {"flag": False}:
            return y + 1
        case {"flag": True | None}:
            return y + 2


def match_given_back(x):
    match [x, x * 2, x * 3], {"a": [x * 2], "b": x, "c": 1}:
        case [[first, *others], {"a": held, **rest}]:
            if x.sum() > 0:
                held.append(first)
                others.append(first)
                rest["d"] = first
            return held, others, rest


def match_own_equality(x):
    class Near:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            return (self.v - other).abs().max() < 1

        __hash__ = None

    match (Near(x), 1):
        case (0.0, 1):
            return x * 2
        case (1.5, 1):
            return x * 3
        case _:
            return x


def match_return(x):
    match x.argmax():
        case 0:
            return x * 2
        case 2:
            return x * 3
    return x


def match_item_in_sequence(x):
    match [x.argmax(), x * 2]:
        case [0, y]:
            return y + 1
        case [2, y]:
            return y + 2
        case [_, y]:
            return y


def match_guard(x):
    match x:
        case y if y.sum() > 5:
            return y * 2
        case y if y.sum() > 0:
            return y * 3
    return x


def match_guard_and_capture(x, k):
    match [k, x]:
        case [1, y] if y.sum() > 0:
            z = y * 2
        case [2, y]:
            z = y * 5
        case [_, y]:
            z = y - 1
    return y, z


def match_class(x):
    match Point(x.sum() > 0, x):
        case Point(True, y):
            return y
        case Point(x=flag, y=y) if flag:
            return y * 2
        case Point():
            return x * 3


def match_mapping(x):
    match {"n": x.argmax(), "v": x}:
        case {"n": 0, "v": v}:
            return v * 2
        case {"n": 2, **rest}:
            return rest["v"] * 3
        case {"v": v}:
            return v


def match_alternatives_capture(x):
    match [x.argmax(), x.argmin()]:
        case [0, k] | [k, 0]:
            return x * k
        case [a, b]:
            return x + a + b


def match_tensor_class(x):
    match x:
        case paddle.Tensor(shape=[n]):
            return x * n
        case _:
            return 3


def match_none(x, y=None):
    match y:
        case None:
            return x
        case paddle.Tensor() as z:
            return x + z


def match_in_loop(x):
    y = paddle.zeros([])
    for v in x:
        match v.astype("int32"):
            case 1:
                y = y + v
                continue
            case 2:
                y = y * 10
            case n if n < 0:
                break
        y = y + 1
    else:
        y = y + 100
    return y


def match_python(x, command):
    match command:
        case ["add", n] | ["plus", n]:
            return x + n
        case ["mul", *ns]:
            for n in ns:
                x = x * n
        case str() as s if s.startswith("n"):
            return -x
        case {"power": int(p)}:
            return x**p
    return x


def match_as_tensor(x):
    match x.argmin():
        case 0 | 1 as k:
            return x * k
        case k:
            return x + k


def match_unset(x):
    match x.argmax():
        case 0:
            y = x * 2
        case 2:
            y = x * 4
    return y


CASES = [
    *[(f, ((X,), (N,), (Z,), ([3.0, 1.0, -2.0],))) for f in (
        match_literal, match_return, match_item_in_sequence, match_guard, match_class, match_mapping,
        match_alternatives_capture, match_tensor_class, match_none, match_in_loop, match_as_tensor, match_unset,
        match_singletons, match_given_back, match_own_equality,
    )],
    *[(f, ((X, 1), (N, 1), (X, 2), (X, 3))) for f in (match_guard_and_capture,)],
    (match_python, ((X, ("add", 2)), (X, ("mul", 2, 3)), (X, "neg"), (X, "zz"), (X, ("plus", 1)))),
    (match_none, ((X, N),)),
]  # fmt: skip
