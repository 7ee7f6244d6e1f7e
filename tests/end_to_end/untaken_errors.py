"""What Python finds wrong with plain values on a path that a tensor decides about: raised where that path is taken."""

import vitrify as paddle

X, N = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5]


def loop_over_a_number(x):
    if x.sum() > 0:
        for i in 5:
            x = x + i
    return x


def none_in_arithmetic(x):
    y = None
    if x.sum() > 0:
        x = x + (y + 1)
    return x


def call_of_a_number(x):
    f = 3
    if x.sum() > 0:
        x = f(x)
    return x


def too_many_arguments(x):
    def g(a):
        return a

    if x.sum() > 0:
        x = g(x, x)
    return x


def unknown_keyword(x):
    def g(a):
        return a

    return g(x, b=1) if x.sum() > 0 else x


def unknown_keyword_of_an_op(x):
    return paddle.sum(x, foo=5) if x.sum() > 0 else x


def no_tensors_to_join(x):
    return paddle.concat(5) if x.sum() > 0 else x


def text_and_number(x):
    s = "a" + 1 if x.sum() > 0 else "b"
    return x, s


def length_of_a_number(x):
    return x * len(5) if x.sum() > 0 else x


def number_taken_apart(x):
    if x.sum() > 0:
        a, b = 5
        x = x * a + b
    return x


def number_indexed(x):
    five = 5
    return x * five[0] if x.sum() > 0 else x


def order_of_kinds(x):
    if x.sum() > 0:
        return x * sorted([1, "a"])[0]
    return x if x.max() > 0 else x * (str(1) < 1)


def key_without_hash(x):
    if x.sum() > 0:
        d = {[]: 1}
        x = x * len(d)
    return x


def attribute_of_none(x):
    y = None
    if x.sum() > 0:
        return y.shape
    return x


def attribute_of_a_list(x):
    return [].foo if x.sum() > 0 else x


def item_in_a_number(x):
    return x * (1 in 5) if x.sum() > 0 else x


def tensor_and_text(x):
    return x + "a" if x.sum() > 0 else x


def after_a_change(x, found):
    found.append(x * 2)
    if x.sum() > 0:
        found.append(x + [None][0] + (None + 1))
    return found


def in_a_tensor_loop(x):
    while x.sum() < 10:
        if x.sum() > 7:
            x = None + 1
        x = x + 1
    return x


def in_a_called_function(x):
    def half(n):
        return None // 2 if n.sum() > 0 else n / 2

    return half(x) + half(-x.abs())


def keyword_twice_behind_stars(x):
    def g(a, *rest, **kw):
        return a

    held, items = {"a": x}, [x]
    if x.sum() > 20:
        x = g(x, a=x)
    if x.sum() > 10:
        x = g(x, **held)
    return g(*items, **held) if x.sum() > 0 else x


def too_many_behind_a_star(x):
    def g(a):
        return a

    return g(*[x, x]) if x.sum() > 0 else x


CASES = [
    *[(f, ((N,), (X,))) for f in (
        loop_over_a_number, none_in_arithmetic, call_of_a_number, too_many_arguments, unknown_keyword,
        unknown_keyword_of_an_op, no_tensors_to_join, text_and_number, length_of_a_number, number_taken_apart,
        number_indexed, order_of_kinds, key_without_hash, attribute_of_none, attribute_of_a_list, item_in_a_number,
        tensor_and_text, in_a_tensor_loop, in_a_called_function, keyword_twice_behind_stars, too_many_behind_a_star,
    )],
    (after_a_change, ((N, [[1.0]]), (X, [[1.0]]))),
]  # fmt: skip
