"""Recursion that a tensor stops, on objects, containers, views, closures and classes; errors and prints inside it."""

import numpy as np

import vitrify as paddle

AREA = "recursion"
N = np.array
X = np.array([1.0, 2.0, 3.0], "float32")


def swap_args(a, b, n):
    if n == 0:
        return a, b
    return swap_args(b, a, n - 1)


def swaps(x, n):
    return swap_args(x, x * 2, n)


def view_changed(a, n):
    if n == 0:
        return a.sum()
    a[0] = a[0] + 1
    return view_changed(a[1:], n - 1) if a.shape[0] > 1 else a.sum()


def views(x, n):
    y = x * 1
    s = view_changed(y, n)
    return y, s


def setitem_rec(a, i):
    if i >= a.shape[0]:
        return a
    a[i] = a[i] * 2
    return setitem_rec(a, i + 1)


def setitems(x, i):
    y = x * 1
    z = setitem_rec(y, i)
    return y, z


class Node:
    def __init__(self):
        self.n = 0
        self.total = 0.0
        self.seen = []


def obj_rec(node, x):
    node.n += 1
    node.total = node.total + x.sum()
    if x.sum() > 20:
        return x
    return obj_rec(node, x * 2)


def objects(x):
    node = Node()
    y = obj_rec(node, x)
    return y, node.n, node.total


GLOBAL_NODE = Node()


def global_object(x):
    GLOBAL_NODE.n = 0
    GLOBAL_NODE.total = 0.0
    y = obj_rec(GLOBAL_NODE, x)
    return y, GLOBAL_NODE.n, GLOBAL_NODE.total


def list_state(x):
    seen = [0.0]

    def rec(y):
        seen[0] = seen[0] + y.sum()
        if y.sum() > 20:
            return y
        return rec(y * 2)

    return rec(x), seen[0]


def dict_state(x):
    seen = {"a": 0}

    def rec(y):
        seen["a"] += 1
        if y.sum() > 20:
            return y
        return rec(y * 2)

    return rec(x), seen["a"]


def try_inside(x, n):
    try:
        if n == 0:
            return x
        return try_inside(x * 2, n - 1)
    finally:
        x = x + 1


def raises(x, n):
    if n == 0:
        raise ValueError("no")
    if x.sum() > 100:
        return x
    return raises(x * 2, n - 1)


def asserts(x, n):
    assert n >= 0, "neg"
    if x.sum() > 100:
        return x
    return asserts(x * 2, n - 1)


def prints_tensors(x, n):
    print(f"n={n}")
    if n == 0:
        return x
    y = prints_tensors(x * 2, n - 1)
    print("back", n)
    return y + 1


def both_sides(x, n):
    if n <= 0:
        return x
    if x.sum() > 0:
        y = both_sides(x - 2, n - 1)
    else:
        y = both_sides(x + 3, n - 1)
    return y * x


def generator_sum(x, n):
    if n == 0:
        return x
    return sum(generator_sum(x * k, n - 1) for k in (1.0, 0.5))


def dict_comp(x, n):
    if n == 0:
        return {"a": x}
    d = {k: v * 2 for k, v in dict_comp(x, n - 1).items()}
    return d


def augmented(x, n, acc=0):
    acc += 1
    if n == 0:
        return x * acc
    return augmented(x, n - 1, acc) + acc


def bool_result(n):
    if n == 0:
        return True
    return not bool_result(n - 1)


def str_result(n):
    if n == 0:
        return "a"
    return str_result(n - 1)


def mixed_none(x, n):
    if n == 0:
        return None, x
    return mixed_none(x + 1, n - 1)


def two_functions_one_closure(x, n):
    w = paddle.ones([3]) * 2

    def a(y, m):
        if m <= 0:
            return y
        return b(y * w, m - 1)

    def b(y, m):
        if m <= 0:
            return y + w
        return a(y, m - 1) + x

    return a(x, n)


def local_capture_changes(x, n):
    scale = x * 0 + 1

    def rec(y, m):
        if m <= 0:
            return y * scale
        return rec(y + scale, m - 1)

    first = rec(x, n)
    scale = scale * 3
    return first, rec(x, n)


def frame_closure(x, n):
    # a closure over a local of the recursive frame itself
    def apply(v):
        return v + x

    if n == 0:
        return apply(x)
    return apply(frame_closure(x * 2, n - 1))


def int_scale(n):
    # int accumulators mixing with tensor of other dtype
    def rec(m, acc):
        if m == 0:
            return acc
        return rec(m - 1, acc * 2 + m)

    return rec(n, 1)


def grad_none_dims(x, n):
    if n == 0:
        return x.mean(0)
    return grad_none_dims(x * 2, n - 1) + x.sum(0)


def loop_calls_rec(x, n):
    out = []
    for i in range(3):
        out.append(both_sides(x + i, n))
    return paddle.stack(out)


def rec_in_if_expr(x, n):
    y = (rec_in_if_expr(x, n - 1) if n > 0 else x) + 1
    return y


def unused_result(x, n):
    if n > 0:
        _ = unused_result(x, n - 1)
    return x * 2


def early_with_loop_return(x, n):
    while n > 0:
        n = n - 1
        y = early_with_loop_return(x + 1, n - 2)
        if y.sum() > 15:
            return y
    return x


def rec_kwonly(x, *, n):
    if n == 0:
        return x
    return rec_kwonly(x + 1, n=n - 1)


def kwonly(x, n):
    return rec_kwonly(x, n=n)


class Tree:
    def __init__(self, k):
        self.k = k

    @staticmethod
    def stat(x, n):
        if n == 0:
            return x
        return Tree.stat(x * 2, n - 1)

    @classmethod
    def cls(cls, x, n):
        if n == 0:
            return x
        return cls.cls(x * 2, n - 1)

    def meth(self, x, n):
        if n == 0:
            return x * self.k
        return self.meth(x + self.k, n - 1)


def classes(x, n):
    return Tree.stat(x, n), Tree.cls(x, n), Tree(3).meth(x, n)


class Sub(Tree):
    def meth(self, x, n):
        if n <= 0:
            return x
        return super().meth(x, n) + self.meth(x, n - 2)


def supers(x, n):
    return Sub(2).meth(x, n)


def depth_by_shape(x):
    if x.shape[0] == 1:
        return x
    if x.sum() > 0:
        return depth_by_shape(x[1:]) * 2
    return depth_by_shape(x[:-1])


def y_combinator(x, n):
    def make(f):
        def g(v, m):
            if m == 0:
                return v
            return f(f)(v * 2, m - 1)

        return g

    return make(make)(x, n)


def memo(x, n):
    def fib(m):
        if m < 2:
            return m
        return fib(m - 1) + fib(m - 2)

    return fib(n) * x


def changes_dtype(n):
    if n == 0:
        return n * 1.0
    return changes_dtype(n - 1) + n


def inplace_captured_param(x, n):
    counter = paddle.zeros([])

    def rec(y, m):
        counter.add_(paddle.ones([]))
        if m <= 0:
            return y
        return rec(rec(y, m - 1), m - 2)

    return rec(x, n), counter


def nested_rec_inplace(x, n):
    buf = x * 1

    def rec(m):
        if m > 0:
            buf.scale_(2.0)
            rec(m - 1)
            buf.add_(x)

    rec(n)
    return buf


def bn_like(x, n):
    state = {"mean": paddle.zeros([3])}

    def rec(y, m):
        state["mean"] = state["mean"] * 0.9 + y * 0.1
        if m == 0:
            return y
        return rec(y + state["mean"], m - 1)

    return rec(x, n), state["mean"]


def fresh(x, n):
    if n == 0:
        return x * 1
    return fresh(x, n - 1) * 2


def uses_fresh(x, n):
    y = x * 1
    z = fresh(y, n)
    z.add_(y)
    y.add_(z)
    return y, z


def fresh_in_a_loop(x, n):
    y = x * 1
    for i in range(3):
        y = fresh(y, n)
        y[i] = 0.0
    return y


def tally(x, n, counts):
    counts[0] = counts[0] + x.sum()
    counts[1] += 1
    if n > 0:
        tally(x * 2, n - 1, counts)


def uses_tally(x, n):
    counts = [0.0, 0]
    tally(x, n, counts)
    return counts


def table(x, n, held):
    held["total"] = held["total"] + x
    if n == 0:
        return held
    return table(x * 2, n - 1, held)


def uses_table(x, n):
    held = {"total": x * 0}
    returned = table(x, n, held)
    return held["total"], returned["total"], returned is held


def other_list(x, n, pair):
    if n == 0:
        return pair[0] - pair[1]
    return other_list(x, n - 1, [pair[1] + x, pair[0]])


def uses_other_list(x, n):
    return other_list(x, n, [x, x * 3])


CALLS = [(X, N(3)), (X, N(0))]
CASES = [
    *[(f, CALLS) for f in (
        swaps, views, try_inside, raises, asserts, prints_tensors, both_sides, generator_sum, dict_comp, augmented,
        mixed_none, two_functions_one_closure, local_capture_changes, frame_closure, loop_calls_rec, rec_in_if_expr,
        unused_result, early_with_loop_return, kwonly, classes, supers, y_combinator, memo, inplace_captured_param,
        nested_rec_inplace, bn_like, uses_fresh, fresh_in_a_loop,
        uses_tally, uses_table, uses_other_list,
    )],
    (setitems, [(X, N(0)), (X, N(2))]),
    *[(f, [(X,)]) for f in (objects, global_object, list_state, dict_state, depth_by_shape)],
    *[(f, [(N(3),), (N(0),)]) for f in (bool_result, str_result, int_scale, changes_dtype)],
    (grad_none_dims, [(np.ones((2, 3), "float32"), N(2)), (np.ones((4, 3), "float32"), N(2))]),
]  # fmt: skip
