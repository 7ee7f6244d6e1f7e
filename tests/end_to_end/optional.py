"""Values that are None on one path of a tensor's decision: a flag tells, and any use raises what eager code does."""

import vitrify as paddle

CALLS = ([1.0, 2.0],), ([-1.0, -2.0],), ([0.0, 0.5],), ([3.0, -1.0, 4.0, 2.0],)


class Holder:
    def __init__(self, v):
        self.v = v


def longest_positive(x):
    best = None
    idx = -1
    for i, s in enumerate(x):
        if s > 0 and (best is None or s > best):
            best, idx = s, i
    return best, idx


def differences_of_positive(x):
    prev = None
    out = []
    for v in x:
        if prev is not None:
            out.append(v - prev)
        if v > 0:
            prev = v
    return out


def mask_on_a_path(x):
    m = None
    if x.sum() > 0:
        m = (x > 1).astype("float32")
    y = x * 2
    if m is not None:
        y = y * m
    return y


def default_of_helper(x):
    def attn(q, mask=None):
        s = q * 2
        if mask is not None:
            s = s + mask
        return s

    m = None
    if x.sum() > 0:
        m = x
    return attn(x, m)


def state_of_loop(x):
    h = None
    n = (x > 0).sum()
    for _ in range(n):
        h = x if h is None else h * 0.5 + x
    if h is None:
        return x * 0
    return h


def used_without_asking(x):
    h = None
    for v in x:
        if v > 0:
            h = v
    return h * 2


def method_without_asking(x):
    h = None
    for v in x:
        if v > 0:
            h = v
    return h.exp()


def asserted(x):
    h = None
    for v in x:
        if v > 0:
            h = v
    assert h is not None, "none"
    return paddle.exp(h)


def shown(x):
    h = None
    for v in x:
        if v > 0:
            h = v
    print("h is", h, f"{h}")
    return isinstance(h, paddle.Tensor)


def number_or_default(x):
    h = None
    for v in x:
        if v > 0:
            h = float(v)
    if h is None:
        h = 0.0
    return x * h


def number(x):
    h = None
    for v in x:
        if v > 0:
            h = int(v)
    return h


def two_of_them(x):
    a = None
    b = None
    if x.sum() > 0:
        a = x
    if x[0] > 1:
        b = x * 2
    if a is not None and b is not None:
        return paddle.add(a, b)
    if a is not None:
        return a
    if b is not None:
        return b
    return x * 9


def either_missing(x):
    a = None
    b = None
    if x.sum() > 0:
        a = x
    if x[0] > 1:
        b = x * 2
    if a is None or b is None:
        return x
    return paddle.add(a, b)


def replaced(x):
    a = None
    if x.sum() > 0:
        a = x
    a = a if a is not None else x * 3
    return paddle.exp(a)


def or_default(x):
    a = None
    if x.sum() > 0:
        a = x.sum()
    return x * (a or 2.0)


def given_back_in_containers(x):
    a = None
    if x.sum() > 0:
        a = x.sum()
    return [a, x], {"k": a}, (a,)


def attribute(x):
    o = Holder(None)
    if x.sum() > 0:
        o.v = x * 2
    if o.v is None:
        o.v = x
    return o.v * 3


def dict_value(x):
    cache = {"k": None}
    for v in x:
        if cache["k"] is None:
            if v > 0:
                cache["k"] = v
        else:
            cache["k"] = cache["k"] + v
    return cache


def in_tuple(x):
    st = (None, None)
    for v in x:
        if v > 0:
            st = (v, st[0])
    return st


def found_by_helper(x):
    def find(x):
        for v in x:
            if v > 1:
                return v
        return None

    r = find(x)
    if r is None:
        return x
    return x + r


def while_test_asks(x):
    r = None
    while r is None or r.sum() < 10:
        r = x.abs() + 1 if r is None else r * 2
    return r


def extremes(x):
    lo = None
    hi = None
    for v in x:
        if v > 0:
            lo = v if lo is None else paddle.minimum(lo, v)
            hi = v if hi is None else paddle.maximum(hi, v)
    if lo is None:
        return None
    return hi - lo


def set_and_reset(x):
    r = None
    for v in x:
        if v > 0:
            r = v
        else:
            r = None
    return r


def reset_on_a_path(x):
    r = x
    if x.sum() > 0:
        r = None
    return x if r is None else r.mean()


def augmented(x):
    r = None
    if x.sum() > 0:
        r = x
    r += 1
    return r


def indexed(x):
    r = None
    if x.sum() > 0:
        r = x
    return r[0]


def length_asked(x):
    r = None
    if x.sum() > 0:
        r = x
    return len(r)


def not_none_negated(x):
    r = None
    if x.sum() > 0:
        r = x
    return x if r is not None else x * 2


def negated(x):
    r = None
    if x.sum() > 0:
        r = x
    return -r


def under_another_name(x):
    r = None
    if x.sum() > 0:
        r = x
    s = r
    if s is not None:
        return paddle.exp(s)
    return x


def unrolled_loop(x):
    r = None
    if x.sum() > 0:
        r = x
    for _ in range(2):
        if r is not None:
            r = r * 2
    return r


def passed_to_closure(x):
    r = None
    if x.sum() > 0:
        r = x

    def g(y):
        return y * 2 if y is not None else x * 5

    return g(r)


def number_compared(x):
    r = None
    if x.sum() > 0:
        r = 3
    return r is None, r == 3 if r is not None else False


def matched(x):
    r = None
    if x.sum() > 0:
        r = x[0]
    match r:
        case None:
            return x
        case _:
            return x * r


def loop_with_two_conditions(x):
    r = None
    i = 0
    while i < 3 and x.sum() < 10:
        if r is None:
            r = x
        else:
            r = r + x
        x = x + 1
        i += 1
    return r, i


def skipped_items(x):
    acc = None
    for v in x:
        t = None
        if v > 0:
            t = v * 2
        if t is None:
            continue
        acc = t if acc is None else acc + t
    return acc


def recursive(x):
    def rec(n):
        if n <= 0:
            return None
        r = rec(n - 1)
        return x if r is None else r + x

    return rec((x > 0).sum())


def attribute_asked(x):
    r = None
    if x.sum() > 0:
        r = x
    if hasattr(r, "shape"):
        return r * 2
    return x


def shape_asked(x):
    r = None
    if x.sum() > 0:
        r = x
    return r.shape


def in_list(x):
    r = None
    if x.sum() > 0:
        r = x
    z = [r]
    if z[0] is None:
        return x
    return z[0] * 2


class Network:
    def __init__(self):
        self.h = None

    def step(self, x):
        if self.h is None:
            self.h = x
        else:
            self.h = self.h * 0.5 + x
        return self.h


def held_by_object(x):
    n = Network()
    for v in x:
        if v > 0:
            n.step(v)
    return n.h


def held_by_object_in_loop(x):
    n = Network()
    while x.sum() < 6:
        n.step(x)
        x = x + 1
    return n.h


def smallest_and_log(x):
    best = None
    log = {}
    for i, v in enumerate(x):
        if best is None or v < best:
            best = v
            log["i"] = i
        elif v > best:
            log["j"] = v
    return best, log


def pair_of_helper(x):
    def pick(vs, key=None):
        best = None
        for v in vs:
            k = v if key is None else key(v)
            if best is None or k > best[0]:
                best = (k, v)
        return best[1]

    return pick([x[0], x[1]], key=lambda v: -v), pick([x[0], x[1]])


def read_by_lambda(x):
    y = None
    if x.sum() > 0:
        y = x
    held = [lambda: y]
    return x * 2 if held[0]() is None else held[0]() * 3


def two_swapped(x):
    a = b = None
    for v in x:
        if v > 0:
            a, b = b, v
    return a, b


def nested_loops(x):
    a = None
    for i in range(3):
        for v in x:
            if v > i:
                a = v
                break
        else:
            continue
        break
    return a


def set_by_closure(x):
    a = None

    def set_(v):
        nonlocal a
        a = v

    if x.sum() > 0:
        set_(x)
    return a


def default_in_dict(x):
    d = {}
    for v in x:
        if v > 0:
            d.setdefault("k", None)
        if "k" in d and d["k"] is None:
            d["k"] = v
    return d


def items_of_list(x):
    xs = [None, None]
    i = 0
    for v in x[:2]:
        if v > 0:
            xs[i] = v
        i = i + 1
    return xs


def asked_as_values(x):
    r = None
    if x.sum() > 0:
        r = x
    t = (r is None, r is not None)
    return t, bool(r is None), int(r is None)


def set_before_break(x):
    r = None
    while True:
        if x.sum() > 8:
            r = x
            break
        x = x + 1
        if x[0] > 5:
            break
    return r


def returned_early(x):
    r = None
    for v in x:
        if r is not None and v > r:
            return v
        r = v
    return None


def first_step(x):
    h = c = None
    for t in range(3):
        if t == 0:
            h, c = x, x * 2
        else:
            h, c = h * c, c + 1
        if h.sum() > 50:
            break
    return h, c


def first_step_with_op(x):
    h = None
    for t in range(3):
        if t == 0:
            h = x
        else:
            h = paddle.maximum(h, x * t)
        if h.sum() > 50:
            break
    return h


def first_iteration_with_op(x):
    h = None
    t = 0
    while t < 4 and x.sum() < 20:
        if t > 0:
            h = paddle.maximum(h, x)
        else:
            h = x
        t += 1
        x = x + 1
    return h


def two_sums(x):
    s = None
    for v in x:
        s = v if s is None else s + v
    s2 = None
    for v in x:
        if v < 0:
            s2 = v if s2 is None else s2 + v
    return s, s2


def asked_twice(x):
    r = None
    if x.sum() > 0:
        r = x
    y = x
    if r is None:
        y = y + 1
    y = y * 2
    if r is not None:
        y = y + paddle.exp(r)
    return y


def nested_containers(x):
    r = None
    if x.sum() > 0:
        r = x
    rs = {"a": r, "b": [r, (r, x)]}
    return [v is None for v in rs["b"][:1]], rs


def number_or_default_times(x):
    r = None
    if x.sum() > 0:
        r = 2.5
    return r, (r or 1.0) * x, r is None and x.sum() < 0


def flag(x):
    r = None
    if x.sum() > 0:
        r = True
    return r, 1 if r else 0, r is True, r is None


def overwritten_on_a_path(x):
    if x.sum() > 0:
        y = None
    else:
        y = x
    if x[0] > 0:
        y = x * 3
    return y


def of_three_kinds(x):
    y = 1
    if x.sum() > 0:
        y = None
    if x[0] < 0:
        y = x
    return y


def in_generator(x):
    def gen():
        r = None
        for v in [x[0], x[1]]:
            r = v if r is None else r + v
            yield r

    return list(gen())


def replaced_before_loop(x):
    r = None
    if x.sum() > 0:
        r = x
    r = r if r is not None else paddle.zeros([x.shape[0]])
    for _ in range((x > 0).sum()):
        r = r + x
    return r


def carry_reset(x):
    carry = None
    ys = []
    for v in x:
        carry = v if carry is None else carry * 0.5 + v
        if carry > 0:
            ys.append(carry)
        else:
            carry = None
    return ys


def carry_reset_in_loop(x):
    carry = None
    i = (x > 0).sum() * 0
    while i < 3:
        if carry is not None and carry.sum() > 4:
            carry = None
        else:
            carry = x if carry is None else carry + x
        i = i + 1
    return carry


def text_chosen(x):
    r = None
    if x.sum() > 0:
        r = x
    s = "none" if r is None else "some"
    print(s)
    return x


CASES = [
    (function, CALLS)
    for function in (
        longest_positive,
        differences_of_positive,
        mask_on_a_path,
        default_of_helper,
        state_of_loop,
        used_without_asking,
        method_without_asking,
        asserted,
        shown,
        number_or_default,
        number,
        two_of_them,
        either_missing,
        replaced,
        or_default,
        given_back_in_containers,
        attribute,
        dict_value,
        in_tuple,
        found_by_helper,
        while_test_asks,
        extremes,
        set_and_reset,
        reset_on_a_path,
        augmented,
        indexed,
        length_asked,
        not_none_negated,
        negated,
        under_another_name,
        unrolled_loop,
        passed_to_closure,
        number_compared,
        matched,
        loop_with_two_conditions,
        skipped_items,
        recursive,
        attribute_asked,
        shape_asked,
        in_list,
        held_by_object,
        held_by_object_in_loop,
        smallest_and_log,
        pair_of_helper,
        read_by_lambda,
        two_swapped,
        nested_loops,
        set_by_closure,
        default_in_dict,
        items_of_list,
        asked_as_values,
        set_before_break,
        returned_early,
        first_step,
        first_step_with_op,
        first_iteration_with_op,
        two_sums,
        asked_twice,
        nested_containers,
        number_or_default_times,
        flag,
        overwritten_on_a_path,
        of_three_kinds,
        in_generator,
        replaced_before_loop,
        carry_reset,
        carry_reset_in_loop,
        text_chosen,
    )
]
