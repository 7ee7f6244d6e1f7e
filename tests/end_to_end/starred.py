"""`a, *b = values`: lists whose length a tensor decides, tensors, and Python's own iterables."""

import vitrify as paddle


def grown(x):
    ys = []
    while x.sum() < 20:
        ys.append(x)
        x = x * 2
    return ys


def first_and_rest(x):
    a, *b = grown(x)
    total = a * 0
    for v in b:
        total = total + v * v
    return a, total, len(b)


def rest_and_last(x):
    *a, b = grown(x)
    return b, len(a), sum(a, x * 0)


def middle(x):
    a, *b, c, d = grown(x)
    b.append(x)
    return a + d, c, b


def rest_stacked(x):
    _, *rest = grown(x)
    return paddle.stack(rest).sum(0)


def rest_of_a_known_list(x):
    a, *b = [x, x * 2, x * 3]
    while b[-1].sum() < 50:
        b.append(b[-1] * 2)
    return a, b


def rest_of_a_tensor(x):
    a, *b = x
    c, *_ = b
    return a + c


def of_others(x):
    a, *b = "abc"
    c, *d = (i * x for i in range(3))
    *e, (f, *g) = [x, [x * 2, 3, 4]]
    (h, *i), j = (1, 2, 3), {"k": x}
    [*k] = j
    return a, b, c, d, e, f, g, h, i, k


def too_few(x):
    *_, a, b = [x]
    return a + b


def too_few_at_run_time(x):
    a, b, *_ = grown(x)
    return a + b


def in_a_branch(x):
    ys = grown(x)
    if len(ys) > 2:
        a, *ys = ys
    else:
        a = x
    return a, len(ys)


def in_a_loop(x):
    left, total = grown(x), x * 0
    while len(left) > 1:
        head, *left = left
        total = total * 2 + head
    return total, len(left)


class Pair:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        if self.x.sum() > 0:
            return iter([self.x, self.x * 2])
        return iter([self.x, self.x * 3])


def attribute_target(x):
    pair = Pair(x)
    pair.a, *pair.b = [x, x * 2]
    return pair.a + pair.b[0]


A, B, C = ([1.0, 2.0],), ([0.25, 1.0],), ([0.5, 0.0],)
CASES = [
    (first_and_rest, [A, B, C]), (rest_and_last, [A, B]), (middle, [B, C]), (rest_stacked, [A, B]),
    (rest_of_a_known_list, [A, B]), (rest_of_a_tensor, [A]), (of_others, [A]), (too_few, [A]),
    (too_few_at_run_time, [A, ([15.0, 1.0],), ([30.0, 1.0],)]), (in_a_branch, [A, B, ([15.0, 1.0],)]),
    (in_a_loop, [A, B]), (attribute_target, [A]),
]  # fmt: skip
