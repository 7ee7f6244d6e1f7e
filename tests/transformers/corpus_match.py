"""Corpus: `match` with patterns of every kind."""

from __future__ import annotations

import collections
from dataclasses import dataclass

from tests.transformers.corpus import Corpus

CORPUS = Corpus()


@dataclass
class Point:
    x: object
    y: object


class Loud:
    """Compares aloud, so that the order of comparisons shows."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if isinstance(other, Loud):  # the test compares arguments silently
            return self.value == other.value
        print("compare", self.value, other)
        return self.value == other

    def __repr__(self):
        return f"Loud({self.value})"

    def __hash__(self):
        return hash(self.value)


class Colour:
    RED = 1
    BLUE = "b"


@dataclass(match_args=False)
class BadArgs:
    __match_args__ = ["x"]
    x: int = 1


@CORPUS.case(0, 1, -1, 2.5, "a", True, None, b"x", 3j)
def literals(x):
    match x:
        case -1:
            return "minus"
        case 0 | 1:
            return "bit"
        case "a" | b"x":
            return "text"
        case 2.5:
            return "float"
        case 0 + 3j:
            return "complex"
    return "none"


@CORPUS.case(None, True, False, 1, 0)
def singletons(x):
    match x:
        case None:
            return "none"
        case True:
            return "true"
        case False:
            return "false"
        case other:
            return other


@CORPUS.case(([1, 2],), ([0, 2],), ((1, 2, 3),), ("ab",), ({1, 2},), ([],), ([[5, 6], 7],))
def sequences(x):
    match x:
        case []:
            return "empty"
        case [0, y]:
            return ("zero", y)
        case [[a, b], c]:
            return (a, b, c)
        case (a, b):
            return (a, b)
        case [first, *_]:
            return first
    return "other"


@CORPUS.case((list(range(6)),), ([1],), ([1, 2],), (range(4),), (collections.deque([1, 2, 3]),))
def stars(x):
    match x:
        case [a, *middle, 5]:
            return a, middle
        case [*_, 2]:
            return "ends in two"
        case [a, b, *rest]:
            return a, b, rest
        case [*everything]:
            return everything


@CORPUS.case(
    ({"kind": "add", "a": 1, "b": 2},), ({"kind": "neg", "a": 1, "more": 3},), ({},), ({"kind": 3},), ([1],),
    (collections.defaultdict(int),),
)  # fmt: skip
def mappings(x):
    match x:
        case {"kind": "add", "a": a, "b": b}:
            return a + b
        case {"kind": "neg", "a": a, **rest}:
            return -a, rest
        case {"kind": int(k)}:
            return k
        case {}:
            return "mapping"
    return None


@CORPUS.case(Point(0, 0), Point(0, 3), Point(4, 0), Point(1, [2, 3]), 3, Point(Point(1, 2), 5))
def classes(p):
    match p:
        case Point(0, 0):
            return "origin"
        case Point(x=0, y=y):
            return ("y axis", y)
        case Point(x, 0):
            return ("x axis", x)
        case Point(Point(a, b), y=c):
            return a, b, c
        case Point(x=x, y=[y, *_]):
            return x, y
    return None


@CORPUS.case(3, 3.5, "s", b"b", [1], (1,), {"a": 1}, {1}, True, None)
def builtin_classes(x):
    match x:
        case bool(b):
            return "bool", b
        case int(n):
            return "int", n
        case float() as f:
            return "float", f
        case str(s) | bytes(s):
            return "text", s
        case list([y]) | tuple([y]):
            return "one", y
        case dict(d):
            return "dict", d
        case set():
            return "set"


@CORPUS.case(BadArgs(), 1)
def bad_match_args(x):
    match x:
        case BadArgs(1):
            return 1
    return 2


@CORPUS.case(Point(1, 2), 1)
def too_many_positional(x):
    match x:
        case Point(1, 2, 3):
            return 1
    return 2


@CORPUS.case(1, "a")
def builtin_takes_one(x):
    match x:
        case int(1, 2):
            return 1
    return 2


@CORPUS.case(Point(1, 2))
def twice_the_same_attribute(x):
    match x:
        case Point(1, x=1):
            return 1


@CORPUS.case(1, "b", 3)
def dotted(x):
    match x:
        case Colour.RED:
            return "red"
        case Colour.BLUE:
            return "blue"
        case Colour.GREEN:
            return "green"


@CORPUS.case(1, 5, -3, 0)
def guards(x):
    match x:
        case n if n > 3:
            return "big", n
        case 0 if x == 0:
            return "zero"
        case n if (print("asked"), n < 0)[1]:
            return "negative", n
    return "left", n


@CORPUS.case(([1, 5],), ([1, 0],), ([2, 2],))
def captures_stay_when_the_guard_fails(x):
    a = b = None
    match x:
        case [a, b] if b > 3:
            return a + b
        case [2, b]:
            pass
    return a, b


@CORPUS.case(([0, 1],), ([1, 0],), ([1, 1],))
def captures_in_alternatives(x):
    match x:
        case [0, y] | [y, 0]:
            return y
        case [1 | 2 as y, _]:
            return "one", y


@CORPUS.case(Loud(3), Loud(1), Loud(9))
def order_of_comparisons(x):
    match x:
        case 1 | 2:
            return "a"
        case 3:
            return "b"
    return None


@CORPUS.case(([Loud(0), Loud(1), 2],), ([Loud(1), Loud(1), 1],))
def order_inside_sequences(xs):
    match xs:
        case [0, 0, _]:
            return 1
        case [0, 1, Point()]:
            return 2
        case [Point(), 0, 0]:
            return 3
        case [1, 1, 1]:
            return 4


@CORPUS.case(3, 0)
def subject_once(n):
    calls = []

    def subject():
        calls.append(n)
        return n

    match subject():
        case 1:
            pass
        case 2 | 3:
            calls.append("found")
    return calls


@CORPUS.case(4, 1)
def subject_rebound(x):
    match x:
        case x if x > 100:
            return 1
        case 4:
            return x
    return -x


@CORPUS.case((1, 2), (0, 0), (0, 5))
def pairs(x, y):
    match x, y:
        case 0, 0:
            return "both"
        case 0, _:
            return "first"
        case _:
            return x + y


@CORPUS.case(([1, 0, -1, 2, 3],), ([],))
def in_loops(xs):
    total = 0
    for x in xs:
        match x:
            case 0:
                continue
            case -1:
                total += 10
            case 3:
                break
            case n:
                total += n
    else:
        total = -total
    return total


@CORPUS.case(1, 2)
def unset_afterwards(x):
    match x:
        case 1:
            y = 3
    return y


@CORPUS.case(([1, [2, {"k": 3}]],), ([1, [2, {}]],))
def nested_matches(x):
    match x:
        case [a, inner]:
            match inner:
                case [b, {"k": c}]:
                    return a, b, c
                case _:
                    return inner


@CORPUS.case(5, 2)
def walrus_in_guard(x):
    match x:
        case n if (m := n * 2) > 6:
            return m
        case _:
            return m + 1


@CORPUS.case({"a": 1})
def duplicate_keys(x):
    key = Colour
    match x:
        case {key.BLUE: 1, Colour.BLUE: 2}:
            return 1
    return 2


@CORPUS.case({"b": 1}, {"b": 1, "c": 2})
def duplicate_keys_found(x):
    key = Colour
    match x:
        case {key.BLUE: 1, Colour.BLUE: 2}:
            return 1
    return 2


@CORPUS.case((3,), (1,))
def captured_by_a_closure(x):
    def get():
        return y

    y = 0
    match x:
        case 3 as y:
            pass
    return get()


@CORPUS.case(3, "x", None)
def undefined_class(x):
    match x:
        case 3:
            return 3
        case Missing():  # noqa: F821
            return 4
