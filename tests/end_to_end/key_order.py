"""Dicts whose keys stand in an order that a tensor decides: given back, gone through, carried by loops."""

from collections import Counter, OrderedDict, defaultdict

from .functions import N, X

Z = [0.5, -2.0, 1.0]


def made(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
        d["b"] = x * 2
    else:
        d["b"] = x * 3
        d["a"] = x * 4
    return d


def given_back(x):
    d = made(x)
    d["c"] = x
    return d, dict(d), {**d, "e": x}, d | {"b": 1}


def gone_through(x):
    found, total = [], x * 0
    for key in made(x):
        found.append(key)
        total = total * 2 + made(x)[key]
    return found, total


def shown_as_lists(x):
    d = made(x)
    return list(d), list(d.values()), [key for key, _ in d.items()], [(k, v.sum()) for k, v in d.items()], tuple(d)


def made_of_it(x):
    d = made(x)
    return {k: v + 1 for k, v in d.items()}, sum(d.values()), sorted(d), len(d), "a" in d


def set_again(x):
    d = {"a": 1, "b": 2, "c": 3}
    if x.sum() > 0:
        d["a"] = d.pop("a")
    elif x[0] > 0:
        del d["b"]
        d["d"] = 4
    d["b"] = 5
    return d, list(d)


def sums_by_sign(x):
    d = {}
    for v in x:
        key = "up" if v > 0 else "down"
        d[key] = d.get(key, 0) + v
    return d, list(d), d.get("up")


def lists_by_sign(x):
    d = defaultdict(list)
    for v in x:
        d["up" if v > 0 else "down"].append(v)
    return [(key, len(values)) for key, values in d.items()], d


def recently_used(x):
    d = OrderedDict((k, k) for k in "abc")
    for key, v in zip("abc", x):
        if v > 0:
            d.move_to_end(key)
        else:
            d.move_to_end(key, last=False)
    return d, list(d)


def in_a_loop(x):
    d = {"a": x, "b": x * 2}
    n = 0
    while x.sum() < 9:
        if n % 2 == 0:
            d["a"] = d.pop("a") + 1
        else:
            d["c"] = x
            d["b"] = d.pop("b")
        x = x + 1.5
        n += 1
    return d, list(d), n


def updated(x):
    d = {"z": 0, "b": x}
    d.update(made(x))
    e = made(x)
    e.update(d)
    return d, e


def counted(x):
    found = Counter()
    for v in x:
        found["up" if v > 0 else "down"] += 1
    return dict(found), found


def numbered(x):
    d = made(x)
    found = [(i, key, value.sum()) for i, (key, value) in enumerate(d.items())]
    return found, next(iter(d)), [*d], list(zip(d, range(2))), [key for key in d if key != "a"]


def grown(x):
    d = {"a": x}
    if x.sum() > 0:
        d["c"] = x * 2
    return d


def as_tuple(x):
    return x * len(tuple(grown(x)))


def order_decided(x):
    d = {}
    if x.sum() > 0:
        d["p"], d["q"] = x, x + 1
    else:
        d["q"], d["p"] = x, x + 1
    return list(d.values())


def order_given_back(x):
    d = grown(x)
    d["e"] = x
    d["c"] = x
    return d


def order_looped(x):
    d = {"a": x, "b": x * 2}
    while d["a"].sum() < 30:
        d["b"] = d["b"] + d.pop("a")
        d["a"] = d["b"]
    return list(d)


class Registry:
    def __init__(self):
        self.seen = {"k": 0}


def kept_in_an_object(x, registry):
    for i, v in enumerate(x):
        if v > 0:
            registry.seen[f"p{i}"] = v
            registry.seen["k"] = registry.seen.pop("k") + 1
    return list(registry.seen)


CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        given_back, gone_through, shown_as_lists, made_of_it, set_again, sums_by_sign, lists_by_sign, recently_used,
        in_a_loop, updated, counted, numbered, as_tuple, order_decided, order_given_back, order_looped,
    )],
    (kept_in_an_object, tuple((v, Registry()) for v in (X, N, Z))),
]  # fmt: skip
