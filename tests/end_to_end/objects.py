"""Python objects that tensor control flow changes: lists, dicts, attributes, closures, globals."""

# ruff: noqa: PLW0603

from collections import namedtuple

import vitrify as paddle

from .functions import N, X

P = namedtuple("P", "a b")
G = None


class S:
    def __init__(s, x):
        s.h = x
        s.n = 0

    def step(s):
        s.h = s.h * 2
        s.n += 1


def counter_outside():
    c = 0

    def bump(k):
        nonlocal c
        c = c + k
        return c

    return bump


def dictarg(x):
    d = {"a": x, "l": [x, x * 2]}
    for k in d:
        if k == "a" and d[k].sum() > 0:
            d[k] = d[k] * 3
    return d


def listappend_py(x):
    out = []
    for i in range(3):
        out.append(x * i)
    return paddle.concat(out)


def dict_in_loop(x):
    st = {"h": x, "n": 0}
    while st["h"].sum() < 20:
        st["h"] = st["h"] * 1.5 + 1
        st["n"] = st["n"] + 1
    return st["h"] * st["n"]


def nonloc(x):
    n = 0

    def inc():
        nonlocal n
        n = n + 1

    if x.sum() > 0:
        inc()
        inc()
    return x * n


def nt(x):
    p = P(x, x * 2)
    if x.sum() > 0:
        p = P(p.b, p.a)
    return p.a - p.b


def glob(x):
    global G
    if x.sum() > 0:
        G = x * 2
    else:
        G = x
    r = G
    G = None
    return r


def local_list(x):
    if x.sum() > 0:
        parts = []
        parts.append(x)
        parts.append(x * 2)
        y = paddle.concat(parts)
    else:
        parts = [x * 3]
        parts.extend([x])
        y = paddle.concat(parts)
    return y


def local_list_returned(x):
    if x.sum() > 0:
        parts = []
        parts.append(x)
    else:
        parts = [x * 3]
    return parts[0] * 2


def local_dict(x):
    if x.sum() > 0:
        d = {}
        d["a"] = x * 2
    else:
        d = {"a": x}
    return d


def both_append(x):
    out = [x]
    if x.sum() > 0:
        out.append(x * 2)
    else:
        out.append(x * 3)
    return out


def local_list_in_while(x):
    n = 0
    while x.sum() < 20 and n < 5:
        n += 1
        ps = []
        for i in range(2):
            ps.append(x * i)
        ps.append(x)
        x = x + ps[0] + ps[1] + ps[2] + 1
    return x


def alias_dict(x):
    st = {"h": x}
    alias = st
    while st["h"].sum() < 20:
        st["h"] = st["h"] + 3
    return alias["h"]


def dict_new_key_in_branch(x):
    d = {}
    if x.sum() > 0:
        d["k"] = x * 2
    else:
        d["k"] = x
    return d["k"]


def list_item_in_loop(x):
    h = [x, x * 2]
    n = 0
    while n < 3 and h[0].sum() < 50:
        h[0], h[1] = h[1], h[0] + h[1]
        n += 1
    return h


def obj_state(x):
    s = S(x + 1)
    while s.h.sum() < 30:
        s.step()
        if s.n > 4:
            break
    return (s.h, s.n)


def obj_in_branch(x):
    if x.sum() > 0:
        s = S(x)
        s.step()
        y = s.h
    else:
        y = x
    return y


def obj_attr_branch(x):
    s = S(x)
    if x.sum() > 0:
        s.h = s.h * 5
    return s.h


def rebinding_dict(x):
    st = {"h": x}
    while st["h"].sum() < 20:
        st = {"h": st["h"] + 2}
    return st["h"]


def nonlocal_in_while(x):
    n = 0

    def inc():
        nonlocal n
        n += 1

    while x.sum() < 20:
        x = x + 1
        inc()
    return x * n


def uses_counter(x):
    b = counter_outside()
    if x.sum() > 0:
        b(2)
    return x * b(1)


def dict_iter(x):
    out = {}
    for k, v in {"a": x, "b": x * 2}.items():
        if v.sum() > 0:
            out[k] = v * 2
        else:
            out[k] = v
    return out


def del_(x):
    y = x * 2
    z = y
    del y
    if z.sum() > 0:
        y = z
    else:
        y = -z
    return y


class Log:
    def __init__(self, x):
        self.x = x
        self.seen = []

    def note(self, v):
        self.seen.append(v)
        return self


def made_anew_or_noted(x):
    """Nobody else knows the object of either path once one stands for both: what it holds can be changed."""
    log = Log(x)
    for _ in range(3):
        log = Log(log.x * 2) if log.x.sum() > 4 else log.note(log.x)
        log.x = log.x + 1
    return log.x, log.seen


CASES = [
    *[(f, ((X,), (N,))) for f in (
        dictarg, listappend_py, dict_in_loop, nonloc, nt, glob, local_list, local_list_returned, local_dict,
        both_append, local_list_in_while, alias_dict, dict_new_key_in_branch, list_item_in_loop, obj_state,
        obj_in_branch, obj_attr_branch, rebinding_dict, nonlocal_in_while, uses_counter, dict_iter, del_,
        made_anew_or_noted,
    )],
]  # fmt: skip
