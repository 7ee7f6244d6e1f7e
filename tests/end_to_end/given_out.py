"""What a program gives out that is no tensor: texts, numbers in lists; lists that objects of the trace hold."""

from dataclasses import dataclass, field

import numpy as np

from .functions import N, X

EXACT = {"strict": True}


def text_of_a_number(x):
    return f"loss {float(x.sum()):.3f}"


def text_chosen(x):
    text = "small"
    if x.sum() > 0:
        text = f"big {x}"
    return x * 2, {"text": text, "parts": [f"{i} {x[i].item():.2f}" for i in range(2)]}


def text_kept_in_a_list(x):
    log = {"lines": []}
    if x.sum() > 0:
        log["lines"].append(f"{x.sum()}")
    else:
        log["lines"].append("no %s" % x.sum())  # noqa: UP031
    return log


def text_that_cannot_be(x):
    return f"{x:.2f}"


def places(x):
    found = []
    for i in range(4):
        if x[i % 3] > 0:
            found.append(i)
    return found, [found]


def places_and_values(x):
    found = []
    for i in range(4):
        if x[i % 3] > 0:
            found.append((i, {"value": float(x[i % 3]), "tensor": x[i % 3] * i}))
    return found


def places_used_by_python(x):
    found = []
    for i in range(4):
        if x[i % 3] > 0:
            found.append(i)
    met = set()
    scale = x.numpy().sum()  # what follows is Python's
    for i in found:
        met.add(i)
    return [i in met for i in range(4)], x * float(scale)


@dataclass
class State:
    held: object
    history: list = field(default_factory=list)
    seen: dict = field(default_factory=dict)
    steps: int = 0


@dataclass(frozen=True)
class Frozen:
    items: list = field(default_factory=lambda: [1])


@dataclass
class Given:
    items: list
    value: object


def field_made_by_its_class(x):
    state = State(x)
    while state.held.sum() < 12:
        state.held = state.held + 1
        if state.held[0] > 0:
            state.history.append(state.held.sum())
        else:
            state.seen["below"] = state.held
        state.steps += 1
    return state


def frozen_field(x):
    made = Frozen()
    if x.sum() > 0:
        made.items.append(2)
    return made


def list_of_a_dataclass(x):
    made = Given([], x)
    if x.sum() > 0:
        made.items.append(x)
    return made.items, len(made.items)


def by_two_keys(x):
    found = []
    for i in range(3):
        if x[i] > -1.5:
            found.append((x[i].reshape([1]), i))
    found.sort(key=lambda item: (item[0] > 0, -item[0]))
    return found, [i for _, i in sorted(found, key=lambda item: (item[0] > 0, -item[1]), reverse=True)]


def a_name_twice(x):
    rows = []
    for i in range(3):
        if x[i] > 0:
            rows.append((i, x[i], (2, x)))
    pairs = [(1, x, (2, x)), (3, x * 2, (4, x + 1))]
    return [v for _, v, _ in rows], [i * v for i, v, (i, v) in pairs], {a: b.sum() for a, b, (a, _) in pairs}


CASES = [
    *((f, ((X,), (N,)), EXACT) for f in (text_of_a_number, text_chosen, text_kept_in_a_list, text_that_cannot_be)),
    *((f, ((X,), (N,)), EXACT) for f in (places, places_and_values, field_made_by_its_class)),
    (places_used_by_python, ((X,), (N,), (np.array([1.0, -1, 1]),)), {**EXACT, "full_graph": False}),
    *((f, ((X,), (N,))) for f in (frozen_field, list_of_a_dataclass, by_two_keys, a_name_twice)),
]
