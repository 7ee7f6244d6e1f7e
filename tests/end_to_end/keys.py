"""Dicts whose keys a tensor decides: set, taken out and moved on one path, then read in every way and given back."""

import copy
from collections import OrderedDict

import vitrify as paddle

from .functions import N, X


def made(x):
    d = {"a": x}
    if x.sum() > 0:
        d["c"] = x * 2
    return d


def got(x):
    d = made(x)
    return d.get("c", x), d.get("zz", x * 7), d["a"]


def key_error(x):
    return made(x)["c"]


def summed(x):
    return sum(made(x).values())


def looped(x):
    t = x * 0
    for v in made(x).values():
        t = t * 2 + v
    return t


def looped_keys(x):
    d = made(x)
    t = x * 0
    for k in d:
        t = t * 3 + d[k]
    return t


def looped_items(x):
    t = x * 0
    for k, v in made(x).items():
        t = t + v if k == "a" else t * v
    return t


def looped_with_break(x):
    t = x * 0
    for v in made(x).values():
        if v.max() > 3:
            break
        t = t + v
    else:
        t = t - 100
    return t


def looped_with_return(x):
    for _key, v in made(x).items():
        if v.max() > 5:
            return v * 100
        x = x + v
    return x


def listed(x):
    values = list(made(x).values())
    return paddle.stack(values), len(values)


def counted(x):
    d = made(x)
    return len(d), len(d.keys()), len(d.values()), len(d.items())


def asked(x):
    d = made(x)
    return "c" in d, "c" in d.keys(), "a" in d, "zz" not in d, "c" not in d  # noqa: SIM118


def truth(x):
    d = {}
    if x.sum() > 0:
        d["c"] = x
    t = x if d else x * 3
    return t if not d.keys() else t * 5


def popped(x):
    d = made(x)
    return d.pop("c", x), d


def popped_error(x):
    return made(x).pop("c")


def deleted(x):
    d = made(x)
    del d["c"]
    return d


def deleted_guarded(x):
    d = made(x)
    if "c" in d:
        del d["c"]
    return d


def set_default(x):
    d = made(x)
    y = d.setdefault("c", x * 5)
    return y, d


def set_later(x):
    d = made(x)
    d["c"] = x * 9
    return d


def updated(x):
    e = {"b": x}
    e.update(made(x))
    return e, e.get("c", x)


def updated_over(x):
    e = {"c": x * 11, "a": x}
    e.update(made(x))
    return e


def united(x):
    d = made(x)
    d |= {"e": x}
    return d | {"z": x}, {"z": x} | d, {**d, "y": x}, {"q": x, **d}


def copied(x):
    d = made(x)
    e, f, g, h = d.copy(), dict(d), {**d}, copy.copy(d)
    d["a"] = x * 100
    return e, f, g, h, copy.deepcopy(d)


def as_comprehension(x):
    d = made(x)
    return {k: v * 2 for k, v in d.items()}, {k: v for k, v in d.items() if v.max() > 3}


def any_all(x):
    d = made(x)
    return any(v.max() > 3 for v in d.values()), all([v.max() > 3 for v in d.values()])  # noqa: C419


def order_kept(x):
    d = {}
    if x.sum() > 0:
        d["b"] = x
        d["a"] = x * 2
    else:
        d["a"] = x * 3
        d["z"] = x
    return d


def popped_inside(x):
    d = {"a": x, "b": x * 2, "n": 3}
    if x.sum() > 0:
        y = d.pop("b")
    else:
        y = x
    return d, y


def cleared_inside(x):
    d = {"a": x, "b": "text"}
    if x.sum() > 0:
        d.clear()
    return d, "b" in d


def updated_inside(x):
    d = {"a": x}
    if x.sum() > 0:
        d.update(b=x * 2, c="text", d=[x, 1])
    else:
        d.setdefault("e", x)
        del d["a"]
    return d


def values_of_kinds(x):
    d = {}
    if x.sum() > 0:
        d["none"], d["text"], d["list"], d["pair"], d["dict"] = None, "t", [x, 2], (x, "u"), {"x": x, 1: 2}
    return d


def outer_list_inside(x):
    d, xs = {}, [x]
    if x.sum() > 0:
        d["xs"] = xs
    xs.append(x * 2)
    return d, xs


def branches_make_dicts(x):
    if x.sum() > 0:
        d = {"a": x, "p": x * 2}
    else:
        d = {"a": x * 3, "q": x}
    return d, d.get("p", x), "q" in d


def nested_branches(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x
        if x.max() > 2:
            d["c"] = x
        else:
            d.pop("a")
    return d, len(d)


def in_loop(x):
    d = {"n": 0}
    while x.sum() < 40:
        if x.sum() > 10:
            d["big"] = x
        d["n"] += 1
        x = x + 2
    return d


def read_in_loop(x):
    d = {}
    t = x * 0
    while x.sum() < 40:
        t = t + d.get("last", x)
        if "last" in d:
            t = t * 0.5
        d["last"] = x
        x = x + 3
    return t, d


def popped_in_loop(x):
    d = {"a": x, "b": x * 2}
    xs = d["b"]
    while x.sum() < 40:
        x = x + d.pop("a", 5)
    return d, x, d["b"] is xs


def nested_list_in_loop(x):
    d = {"xs": [], "n": x * 0}
    xs = d["xs"]
    while x.sum() < 40:
        d["n"] = d["n"] + 1
        xs.append(x)
        x = x + 4
    return d["n"], len(d["xs"]), d["xs"] is xs


def for_range_of_tensor(x, n=3):
    d = {"sum": x}
    for i in range(paddle.to_tensor(n)):
        if x.sum() > i:
            d["seen"] = i
        d["sum"] = d["sum"] + i
    return d


def argument_changed(d, x):
    if x.sum() > 0:
        d["c"] = x * 2
    return d.get("c", x)


def argument_popped(d, x):
    if x.sum() > 0:
        d.pop("a")
    else:
        d.update(b=x, e=3)
    return x


def argument_cleared(d, x):
    while x.sum() < 20:
        x = x + 3
        d["last"] = x
    if x.max() > 15:
        d.clear()
    return len(d)


def argument_nested(d, x):
    inner = d["inner"]
    if x.sum() > 0:
        inner["k"] = x
        d["inner"]["n"] = 4
    return inner, d["inner"] is inner


def type_told(d, x):
    return type(d) is dict, isinstance(d, dict), type({}) is dict, type(d.copy()) is dict, x


class Holder:
    """An object that keeps a dict made by converted code."""

    def __init__(self):
        self.table = {}

    def fill(self, x):
        table = {"a": x}
        if x.sum() > 0:
            table["b"] = x * 2
        self.table = table
        return len(self.table)


def object_filled(x):
    h = Holder()
    n = h.fill(x)
    return h.table, n, h.table.get("b", x)


def passed_on(x):
    def total(table, **more):
        return sum(table.values()) + len(more)

    return total(made(x), p=1)


def matched(x):
    match made(x):
        case {"c": c, "a": a}:
            return c + a
        case {"a": a}:
            return a * 7


def is_none(x):
    d = {"a": None}
    return d.get("a") is None, d.get("b") is None, x


def ordered(x):
    d = OrderedDict(a=x)
    d["b"] = x * 2
    d.move_to_end("a")
    return list(d), d


def part_is_listed_too(x):
    """A tensor in the dict is in a list of unknown length, too: the dict may change, only that tensor not in place."""
    out = [x, x * 2]
    d = {"a": x, "b": [x, x * 3]}
    while len(out) < x.max() + 4:
        out.append(paddle.sin(x))
    for _ in range(2):
        if x.sum() < 30:
            for _ in range(3):
                if x.sum() > 0:
                    d["c"] = d["a"] * 2
                    d["b"].append(d["c"])
    return out, d


def key_is_new_and_part_listed(x):
    out = [x]
    d = {"a": x}
    while len(out) < x.max() + 4:
        out.append(paddle.sin(x))
    for n in range(2):
        while 0 < x.sum() < 7:
            d["b"] = x * n
            x = d["a"] + x
    return out, d, x


CASES = [
    *[(f, ((X,), (N,))) for f in (
        got, key_error, summed, looped, looped_keys, looped_items, looped_with_break, looped_with_return, listed,
        counted, asked, truth, popped, popped_error, deleted, deleted_guarded, set_default, set_later, updated,
        updated_over, united, copied, as_comprehension, any_all, order_kept, popped_inside, cleared_inside,
        updated_inside, values_of_kinds, outer_list_inside, branches_make_dicts, nested_branches, in_loop, read_in_loop,
        popped_in_loop, nested_list_in_loop, for_range_of_tensor, object_filled, passed_on, matched, is_none, ordered,
        part_is_listed_too, key_is_new_and_part_listed,
    )],
    *[(f, (({"a": X, "b": N}, X), ({"a": X, "b": N}, N))) for f in (
        argument_changed, argument_popped, argument_cleared, type_told,
    )],
    (argument_nested, (({"inner": {}}, X), ({"inner": {}}, N))),
]  # fmt: skip
