"""Containers of classes derived from Python's own, as arguments, made inside, changed and given back."""

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any

import vitrify as paddle
from tests.end_to_end.differential import Fresh


class Named(dict):
    pass


class Ordered(OrderedDict):
    pass


class Items(list):
    pass


class Pair(tuple):
    pass


class Last(deque):
    pass


class Lists(defaultdict):
    pass


class Output(OrderedDict):
    """Items are attributes, too, as outputs of transformer libraries have them."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __getitem__(self, key):
        return dict(self.items())[key] if isinstance(key, str) else tuple(self.values())[key]


@dataclass
class Result(Output):
    loss: Any = None
    logits: Any = None

    def __post_init__(self):
        for name in ("loss", "logits"):
            if getattr(self, name) is not None:
                self[name] = getattr(self, name)


def of_dict(x):
    return Named(a=x * 2)


def of_ordered_dict(x):
    made = Ordered()
    made["b"] = x * 2
    made["a"] = x + 1
    made.move_to_end("b")
    return made


def of_list(x):
    made = Items([x])
    made.append(x * 2)
    made.name = "two"
    made.kept = x - 1
    return made


def of_tuple(x):
    return Pair((x * 2, x))


def of_deque(x):
    return Last([x, x * 2, x * 3], 2)


def of_defaultdict(x):
    made = Lists(list)
    made["a"].append(x * 2)
    return made


def of_outputs(x):
    made = Result(logits=x * 2)
    made.extra = x + 1
    return made, made[0], made["logits"], made.logits, len(made)


def given_dict(d):
    return d["a"] * 2


def given_output(d):
    return d.logits * d["logits"] + d[0]


def given_changed(d):
    d["b"] = d["a"] * 2
    d.note = d["a"] + 1
    return d


def given_list(xs):
    xs.append(xs[0] + xs.scale)
    return xs[-1]


def in_branch(x):
    if x.sum() > 0:
        made = Result(loss=x.sum(), logits=x * 2)
    else:
        made = Result(loss=x.sum() * 3, logits=x * 4)
    return made, made.loss + 1


def changed_in_branch(x):
    made = Output()
    made["a"] = x
    if x.sum() > 0:
        made["a"] = x * 2
    return made


def in_loop(x):
    made = Named(total=x * 0, steps=0)
    while made["total"].sum() < 5:
        made["total"] = made["total"] + x
        made["steps"] += 1
    return made


def _output(value):
    made = Output()
    made["logits"] = paddle.to_tensor(value)
    return made


def _items(value):
    made = Items([paddle.to_tensor(value)])
    made.scale = paddle.to_tensor(value)
    return made


def _named(value):
    return Fresh(lambda: Named(a=paddle.to_tensor(value)))


X = ([1.0, 2.0],)
BOTH = [X, ([-1.0, -2.0],)]
CASES = [
    (of_dict, [X]),
    (of_ordered_dict, [X]),
    (of_list, [X]),
    (of_tuple, [X]),
    (of_deque, [X]),
    (of_defaultdict, [X]),
    (of_outputs, [X]),
    (given_dict, [(_named([1.0]),), (_named([4.0]),)]),
    (given_output, [(Fresh(lambda: _output([1.0])),), (Fresh(lambda: _output([3.0])),)]),
    (given_changed, [(_named([1.0]),), (_named([4.0]),)]),
    (given_list, [(Fresh(lambda: _items([1.0])),), (Fresh(lambda: _items([3.0])),)]),
    (in_branch, BOTH),
    (changed_in_branch, BOTH),
    (in_loop, [X]),
]
