"""Containers written by item and as a whole in one region, and containers that others take the place of."""

from collections import deque

import numpy as np

import vitrify as paddle

from .functions import N, X

PAIR = [np.array([3.0, 4.0, 1.0], "float32"), np.array([5.0, 6.0, 2.0], "float32")]


class Store:
    """Containers that converted code did not make."""

    def __init__(self):
        first, second = (paddle.to_tensor(values) for values in PAIR)
        self.items = [first, second]
        self.table = {"a": first, "b": second}
        self.queue = deque([first, second])
        self.log = []
        self.other = None

    def __deepcopy__(self, memo):
        return Store()


BOTH = [(X, Store()), (N, Store())]


def given_list(x, items):
    if x.sum() > 0:
        items.insert(0, x)
    else:
        items[1] = x
        items.append(x)
    return len(items)


def given_list_left_early(x, items):
    for _ in range(2):
        items.reverse()
        if x.sum() > 0:
            return 4.0
        items[1] = x
    return 3.0


def either_way(x, store):
    if x.sum() > 0:
        store.items.insert(0, x)
    else:
        store.items[1] = x
        store.items.insert(0, x)
    store.items.pop()


def item_against_whole(x, store):
    if x.sum() > 0:
        store.items[0] = x * 2
    else:
        store.items.reverse()
        store.items[0] = x
    return store.items[0] + store.items[1]


def item_whole_item(x, store):
    store.items[0] = x
    store.items.reverse()
    store.items[0] = x + 1
    return store.items[0] + store.items[1] * 3


def left_early(x, store):
    for _ in range(2):
        store.items.reverse()
        if x.sum() > 0:
            return 4.0
        store.items[1] = x
    return 2.0


def in_a_loop(x, store):
    while x.sum() < 20:
        store.items.reverse()
        store.items[1] = store.items[1] + x
        x = x + 3
    return store.items[0]


def in_a_loop_with_break(x, store):
    while x.sum() < 20:
        store.items[0] = x
        store.items.reverse()
        if x.sum() > 10:
            store.items[1] = store.items[1] * 2
            break
        store.items[1] = store.items[1] + x
        x = x + 3
    return store.items[0]


def nested(x, store):
    if x.sum() > 0:
        store.items[0] = x
        if x.sum() > 2:
            store.items.reverse()
        store.items[0] = store.items[0] * 2
    else:
        store.items.append(store.items.pop(0))
    return store.items[0]


def loops_in_loops(x, store):
    while x.sum() < 10:
        store.items.reverse()
        for i in range(2):
            store.items[i] = store.items[i] + x
            if store.items[0].sum() > 20:
                store.items.append(store.items.pop(0))
                break
        x = x + 2
    return store.items[0] * 2 + store.items[1]


def last_item_by_two_names(x, store):
    if x.sum() > 0:
        store.items[-1] = x
    else:
        store.items[1] = x * 2
    return store.items[1]


def given_dict(x, table):
    if x.sum() > 0:
        table.update(a=x)
    else:
        table["a"] = x * 2
        table.update(b=x)


def dict_item_against_whole(x, store):
    if x.sum() > 0:
        store.table["a"] = x * 2
    else:
        store.table.update(a=x, b=x * 3)
        store.table["b"] = x * 4
    return store.table["a"] + store.table["b"]


def dict_in_a_loop(x, store):
    while x.sum() < 20:
        store.table["a"] = store.table["a"] + x
        store.table.update(b=store.table["a"])
        x = x + 3


def key_comes_back_last(x, store):
    del store.table["a"]
    store.table["a"] = x
    return list(store.table)


def key_comes_back_last_on_both_paths(x, store):
    if x.sum() > 0:
        store.table["c"] = x
        del store.table["a"]
        store.table["a"] = x
    else:
        store.table["c"] = x * 2
        del store.table["a"]
        store.table["a"] = x * 3
    return list(store.table)


def key_gone_on_one_path(x, store):
    if x.sum() > 0:
        del store.table["a"]
    else:
        store.table["b"] = x
    return store.table["b"]


def turned_queue(x, store):
    if x.sum() > 0:
        store.queue[0] = x
        store.queue.rotate(1)
        store.queue[0] = store.queue[0] * 2
    else:
        store.queue.reverse()
        store.queue[1] = x
    store.items, store.queue = list(store.queue), None


def item_of_a_log(x, store):
    store.log.append(x)
    store.log[0] = x
    return x


def item_of_a_log_on_two_paths(x, store):
    store.log.append(x)
    if x.sum() > 0:
        store.log[0] = x
    else:
        store.log[0] = x * 2
    return x


def becomes_none(x, store):
    store.items = None
    return x * 2


def begins_a_new_log(x, store):
    store.log.append(x)
    if len(store.items) > 1:
        store.other, store.log = store.log, []
    return x


def list_of_one_path_given_back(x):
    out, y = [], [x]
    if x.sum() > 0:
        y = out
    for i in range(3):
        out.append(x * i)
    return y


def dict_of_one_path_changed(x):
    a, b = {"k": x}, {"k": x * 2}
    c = a if x.sum() > 0 else b
    c["k"] = x * 5
    return a["k"] + b["k"]


def set_of_an_object(x, store):
    store.table["seen"] = {1, 2}
    store.table["seen"].add(3)
    return x * len(store.table["seen"])


def test_of_a_loop_counts(x):
    n = [0]

    def goes_on():
        n[0] += 1
        return x.sum() > n[0]

    while goes_on():
        x = x - 1
    return x * n[0]


def inner_list_found_before_others_move(x, rows):
    rows.insert(0, [x])
    rows[1].append(x * 2)


ROWS = [[np.array([1.0], "float32")], [np.array([2.0], "float32")]]

CASES = [
    (given_list, [(X, PAIR), (N, PAIR)], {"gradients": False}),
    (given_list_left_early, [(X, PAIR), (N, PAIR)]),
    *[
        (fn, BOTH)
        for fn in (
            either_way, item_against_whole, item_whole_item, left_early, in_a_loop, in_a_loop_with_break, nested,
            loops_in_loops, last_item_by_two_names, dict_item_against_whole, dict_in_a_loop, key_comes_back_last,
            key_comes_back_last_on_both_paths, turned_queue, becomes_none, begins_a_new_log,
        )
    ],
    (given_dict, [(X, {"a": PAIR[0], "b": PAIR[1]}), (N, {"a": PAIR[0], "b": PAIR[1]})]),
    (key_gone_on_one_path, BOTH, {"full_graph": False}),
    (list_of_one_path_given_back, [(X,), (N,)], {"full_graph": False}),
    (dict_of_one_path_changed, [(X,), (N,)], {"full_graph": False}),
    (set_of_an_object, BOTH),
    (test_of_a_loop_counts, [(X,), (N,)]),
    (item_of_a_log, BOTH, {"shared": True}),
    (item_of_a_log_on_two_paths, BOTH, {"shared": True}),
    (inner_list_found_before_others_move, [(X, ROWS)]),
]  # fmt: skip
