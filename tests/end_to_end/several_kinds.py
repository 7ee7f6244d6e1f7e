"""Values of one kind on some paths of a tensor's decision and of another on others: None or a cache, texts, methods."""

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import vitrify as paddle

P, N, B, S = [1.0, 2.0], [-1.0, -2.0], [100.0, 3.0], [5.0, 2.0]


@dataclass
class Cache:
    k: Any
    v: Any


class Pair(NamedTuple):
    k: Any
    v: Any


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Box:
    def __init__(self, value):
        self.value = value


class Decoder(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.cache = None
        self.first = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Constant(0.5))
        self.second = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Constant(0.25))

    def forward(self, y):
        while y.sum() < 8:
            if self.cache is None:
                self.cache = (y, y)
            else:
                k, v = self.cache
                self.cache = (k + y, v * y)
            y = y + 1
        layer = self.first if y.sum() > 9 else self.second
        y, self.cache = y if self.cache is None else self.cache[0] + self.cache[1], None
        return layer(y)


def cache_tuple(x):
    past = None
    i = 0
    while x.sum() + i < 8:
        if past is not None:
            k, v = past
            k = paddle.concat([k, x])
            v = v + x
        else:
            k = x
            v = x * 2
        past = (k, v)
        x = x + 1
        i += 1
    if past is None:
        return x
    return past[0].sum() + past[1]


def cache_fixed(x):
    past = None
    y = x
    while y.sum() < 8:
        if past is None:
            past = (y, y * 2)
        else:
            past = (past[0] + y, past[1] * 0.5)
        y = y + 1
    if past is not None:
        return past[0] + past[1]
    return y


def cache_dict(x):
    past = None
    y = x
    while y.sum() < 8:
        if past is None:
            past = {"k": y, "v": y * 2}
        else:
            past = {"k": past["k"] + y, "v": past["v"] * 0.5}
        y = y + 1
    if past is not None:
        return past["k"] + past["v"]
    return y


def cache_list(x):
    past = None
    y = x
    while y.sum() < 8:
        if past is None:
            past = [y, y * 2]
        else:
            past = [past[0] + y, past[1] * 0.5]
        y = y + 1
    if past is not None:
        return past[0] + past[1]
    return y


def cache_dc(x):
    past = None
    y = x
    while y.sum() < 8:
        if past is None:
            past = Cache(y, y * 2)
        else:
            past = Cache(past.k + y, past.v * 0.5)
        y = y + 1
    if past is not None:
        return past.k + past.v
    return y


def cache_nt(x):
    past = None
    y = x
    while y.sum() < 8:
        past = Pair(y, y * 2) if past is None else Pair(past.k + y, past.v * 0.5)
        y = y + 1
    if past is not None:
        return past.k + past.v
    return y


def cache_returned(x):
    past = None
    y = x
    while y.sum() < 8:
        past = (y, y * 2)
        y = y + 1
    return y, past


def cache_branch_ret(x):
    past = None
    if x.sum() > 0:
        past = (x, x * 2)
    return past


def cache_branch_use(x):
    past = None
    if x.sum() > 0:
        past = (x, x * 2)
    return past[0]


def cache_branch_truth(x):
    past = None
    if x.sum() > 0:
        past = (x, x * 2)
    if past:
        return past[1]
    return x


def cache_for(x):
    past = None
    for i in range(5):
        if x.sum() > 8:
            break
        past = (x, x * i) if past is None else (past[0] + x, past[1] + x)
        x = x + i
    return x if past is None else past[1] + x


def cache_nested(x):
    past = None
    y = x
    while y.sum() < 8:
        if past is None:
            past = ((y, y * 2), [y])
        else:
            (a, b), c = past
            past = ((a + b, b), [c[0] + a])
        y = y + 1
    if past is not None:
        return past[0][0] + past[1][0]
    return y


def cache_helper(x):
    def step(y, cache):
        if cache is None:
            cache = {"k": y.unsqueeze(0)}
        else:
            cache = {"k": paddle.concat([cache["k"], y.unsqueeze(0)])}
        return cache["k"].mean(0), cache

    cache = None
    y = x
    while y.sum() < 8:
        o, cache = step(y, cache)
        y = y + o.abs() + 1
    return y


def first_turn_list(x):
    out = None
    y = x
    while y.sum() < 8:
        if out is None:
            out = []
        out.append(y)
        y = y + 1
    if out is None:
        return x
    return paddle.stack(out)


def best_pair(x):
    best = None
    for i in range(3):
        s = (x * i).sum()
        if best is None or s > best[0]:
            best = (s, i)
    return best[0], best[1]


def best_pair2(x):
    best = None
    for r in x:
        if r > 0:  # noqa: SIM102
            if best is None or r > best[0]:
                best = (r, r * 2)
    if best is None:
        return x
    return best[1]


def per_layer(x):
    pasts = [None, None]
    y = x
    while y.sum() < 8:
        for i in range(2):
            p = pasts[i]
            pasts[i] = (y, y * i) if p is None else (p[0] + y, p[1] - y)
        y = y + pasts[0][0].abs() + 1
    return y


def each_layer(y, cache, pairs):
    """A decoder's layers beside what each of them kept, which is None in the first step."""
    if cache is None:
        cache = [None] * 2
    kept = ()
    for i, (scale, c) in enumerate(pairs([2.0, 3.0], cache)):
        grown = y.reshape([1, -1])
        if c is not None:
            grown = paddle.concat([c[0], grown])
        kept = (*kept, (grown, grown * scale))
        y = y + grown.mean(0) * i
    return y, kept


def cache_beside_layers(x):
    found = []
    for pairs in (
        zip,
        lambda scales, cache: [(scale, cache[i]) for i, scale in enumerate(scales)],
        lambda scales, cache: zip(scales, reversed([*reversed(cache)])),
        lambda scales, cache: zip(scales, [*cache]),
    ):
        past = None
        y = x
        for _ in range(3):
            y, kept = each_layer(y.abs() + 1, past, pairs)
            if y.sum() > 8:
                break
            past = kept
        found.append(y)
    return found


def pair_by_class(x):
    pair = (x + 1, x)
    if x.sum() > 0:
        pair = Pair(x, x * 2)
    return list(pair), [*reversed(pair), x], dict(zip("ab", pair)), sum(pair)


def pair_or_error(x):
    pair = None
    if x.sum() > 0:
        pair = (x, x * 2)
    return list(pair)


def twice_or_kept(y, kept):
    """Of the four paths that two questions leave, one would fail: none takes it."""
    wide = y
    if kept is None:
        wide = paddle.concat([y, y])
    if kept is not None:
        wide = kept
    return paddle.matmul(paddle.ones([1, 4]), wide.unsqueeze(-1)), wide


def widened(y, cache):
    if cache is None:
        cache = [None] * 2
    found = ()
    for scale, c in zip([1.0, 2.0], cache):
        own, _ = c[:2] if c is not None else (None, None)
        product, wide = twice_or_kept(y, own)
        y = y + product.sum().abs() * scale + 1
        found = (*found, (wide, y))
    return y, found


def failing_on_no_path(x):
    past = None
    y = x
    n = 0
    while n < 3:
        y, kept = widened(y, past)
        n += 1
        if y.sum() > 60:
            break
        past = kept
    return y


def break_cache(x):
    past = None
    while True:
        past = (x, x * 2) if past is None else (past[0] + x, past[1])
        if past[0].sum() > 8:
            break
        x = x + 1
    return past


def isinst(x):
    past = None
    while x.sum() < 8:
        if isinstance(past, tuple):
            y = past[0]
        else:
            y = x
        past = (y + 1, x)
        x = x + 1
    if isinstance(past, tuple):
        return past[0]
    return x


def back_to_none(x):
    past = None
    n = 0
    while n + x.sum() < 8:
        if past is None:
            past = (x, x + 1)
        else:
            x = x + past[0].abs().sum() * 0 + 1
            past = None
        n += 1
    return x if past is None else past[1]


def text_loop(x):
    mode = "grow"
    while x.sum() < 10 and mode != "stop":
        if mode == "grow":
            x = x * 2
            if x.max() > 3:
                mode = "add"
        elif mode == "add":
            x = x + 3
            mode = "last"
        else:
            mode = "stop"
        if x.sum() < 0:
            x = -x
    print(mode)
    return x, mode


def text_return(x):
    return "pos" if x.sum() > 0 else "neg"


def text_key(x):
    table = {"pos": 1.0, "neg": 2.0}
    k = "pos" if x.sum() > 0 else "neg"
    return x * table[k]


def text_methods(x):
    k = "pos" if x.sum() > 0 else "neg"
    print(k.upper(), k + "!", len(k), f"{k:>5}", "%s" % k)  # noqa: UP031
    if k.startswith("p"):
        return x
    return x * 2


def text_getattr(x):
    k = "sum" if x.sum() > 0 else "mean"
    return getattr(x, k)()


def act_str(x):
    act = "relu" if x.sum() > 0 else "tanh"
    return getattr(paddle.nn.functional, act)(x)


def fn_chosen(x):
    f = paddle.tanh if x.sum() > 0 else paddle.nn.functional.relu
    return f(x)


def lam_chosen(x):
    if x.sum() > 0:
        f = lambda v: v * 2  # noqa: E731
    else:
        f = lambda v: v + x  # noqa: E731
    return f(x)


def dtype_chosen(x):
    d = "float64" if x.sum() > 0 else "int32"
    return x.astype(d).astype("float32")


def mixed_ret(x):
    if x.sum() > 0:
        return "text"
    return x


def mixed_ret2(x):
    if x.sum() > 0:
        return [x]
    return x, x


def mixed_ret3(x):
    if x.sum() > 0:
        return x
    if x.min() > -1.5:
        return None
    return {"a": x}


def enumy(x):
    k = Mode.FAST if x.sum() > 0 else Mode.SLOW
    if k is Mode.FAST:
        return x
    return k.value * x


def list_or_tuple(x):
    v = [x, x] if x.sum() > 0 else (x,)
    t = x * 0
    for q in v:
        t = t + q
    return t, len(v)


def match_opt(x):
    v = ("a", x) if x.sum() > 0 else None
    match v:
        case None:
            return x
        case ("a", y):
            return y * 2


def comp_opt(x):
    v = [x, x] if x.sum() > 0 else None
    return [q * 2 for q in v] if v is not None else x


def opt_or(x):
    v = (x, x + 1) if x.sum() > 0 else None
    v = v or (x * 3, x)
    return v[0] + v[1]


def alias(x):
    a = {"k": x}
    p = None
    if x.sum() > 0:
        p = a
    if p is not None:
        p["k"] = x * 5
    return a["k"]


def obj_none(x):
    b = None
    if x.sum() > 0:
        b = Box(x)
    return x if b is None else b.value * 2


def obj_loop(x):
    node = None
    n = 0
    while n < 3 and x.sum() < 100:
        if x.max() > 1 - n:
            node = (x, node) if node is None else (x + node[0], None)
        n += 1
    return x if node is None else node[0]


def numpy_count(x):
    n = np.int64(0)
    for v in x:
        if v > 1:
            n += 1
    return n, x * n


def numpy_scalars_in_while(x):
    total, count = np.float32(0), np.int64(0)
    while total < 5:
        total = total + np.float32(2)
        count += 1
        if x.sum() > total:
            break
    return x * total + count


def equal_numpy_scalars(x):
    a = np.float32(2)
    if x.sum() > 0:
        a = np.float32(2)
    return x * a, a


def tuples_of_other_lengths(x):
    box, kept = Cache(x * 1, x), [x]
    if x.sum() > 0:
        return x, box, kept
    return x, box, kept, {"x": x}


def object_in_all_returns(x):
    box = Cache(x * 1, x)
    for _ in range(3):
        if x.max() > 4:
            return box, x, box
        box.k = box.k + x
    return {"found": box}


NET = Decoder()


def layer_chosen(x):
    return NET(x)


def int_or_float_in_a_loop(x):
    """Python computes an int where all operands are ints, else a float: the class of a number depends on the path."""
    n, m = 0, 1
    for v in x:
        if v > 0:
            n = n + 1
        if v > 1.5:
            n, m = n - 0.5, m * 2.0
        m = -m * 3
    print(n, m, n + m, m * n - 1, n / 2, n // 2, m % 2, n + 0.5, n + True)
    return n, m, n + m, isinstance(n - 2, int), x * n


def int_or_tensor_computed_with(x):
    n = 0
    if x.sum() > 4:
        n = x.sum()
    m = n * 2 + 1
    print(m, n // 2)
    return m, -m, n - m, isinstance(m, int)


CASES = [(f, ((P,), (N,), (S,), (B,))) for f in (
    cache_tuple, cache_fixed, cache_dict, cache_list, cache_dc, cache_nt,
    cache_returned, cache_branch_ret, cache_branch_use, cache_branch_truth, cache_for, cache_nested,
    cache_helper, cache_beside_layers, failing_on_no_path, pair_by_class, pair_or_error,
    first_turn_list, best_pair, best_pair2, per_layer, break_cache,
    isinst, back_to_none, text_loop, text_return, text_key, text_methods,
    text_getattr, act_str, fn_chosen, lam_chosen, dtype_chosen, mixed_ret,
    mixed_ret2, mixed_ret3, enumy, list_or_tuple, match_opt, comp_opt,
    opt_or, alias, obj_none, obj_loop, layer_chosen, numpy_count, numpy_scalars_in_while, equal_numpy_scalars,
    tuples_of_other_lengths, object_in_all_returns, int_or_float_in_a_loop,
    int_or_tensor_computed_with,
)]  # fmt: skip
