"""Loops that change what a variable holds and then put something else in it; iterators whose items have effects.

Others may know what the variable held before the loop: the first iteration changes that, later ones what they made.
"""

import numpy as np

import vitrify as paddle

PAIR = [np.array([3.0, 4.0], "float32"), np.array([5.0, 6.0], "float32")]
TIMES = [np.array([n, 0.0], "float32") for n in (0.0, 1.0, 3.0)]
GIVEN = [(n, PAIR) for n in TIMES]


def turned(x, pair):
    for _ in range(x.astype("int64").sum()):
        pair.reverse()
        pair = [x]


def item_set(x, pair):
    i = paddle.to_tensor(0.0)
    while i < x.sum():
        pair[0] = pair[1]
        pair = [x, x]
        i += 1
    return pair[0]


def item_added_to(x, pair):
    for _ in range(x.astype("int64").sum()):
        pair[0] += 1
        pair = [x, x]


def grown(x, pair):
    for _ in range(x.astype("int64").sum()):
        pair.append(x)
        pair = [x * 2, x]
    return pair[0]


def copied(x, pair):
    for _ in range(x.astype("int64").sum()):
        pair.reverse()
        pair = pair + []
    return pair[0]


def changed_by_another_name(x, pair):
    for _ in range(x.astype("int64").sum()):
        old = pair
        pair = [x, x]
        old.reverse()


def last_is_kept(x, pair):
    last = pair
    for _ in range(x.astype("int64").sum()):
        pair.append(x)
        last = pair
        pair = [x * 2]
    return pair[0] + last[0]


def dict_known_by_another_name(x):
    table = {"a": x}
    other = table
    for _ in range(x.astype("int64").sum()):
        table["a"] = x * 2
        table = {"a": x}
    return other["a"]


def local_dict(x):
    table = {"a": x}
    for _ in range(x.astype("int64").sum()):
        table["a"] = table["a"] * 2
        table = {"a": table["a"] + 1}
    return table["a"]


def collected(x, pair):
    found = [x]
    for _ in range(x.astype("int64").sum()):
        pair.append(x)
        found.append(pair[-1])
        pair = [x * 2]
    return paddle.stack(found)


def two_exchanged(x, pair):
    other = [x, x * 3]
    for _ in range(x.astype("int64").sum()):
        pair[0] = x * 5
        pair, other = other, pair
    return pair[0] + 10 * other[0]


def kept_by_a_dict(x, pair):
    held = {}
    for _ in range(x.astype("int64").sum()):
        pair.append(x)
        pair = [x * 2]
        held["last"] = pair
    return held.get("last", [x])[0]


def exchanged_on_one_path(x, pair):
    for _ in range(x.astype("int64").sum()):
        pair[0] = pair[1]
        if x.sum() > 1:
            pair = [x, x]
    return pair[0]


def in_two_loops(x, pair):
    i = paddle.to_tensor(0.0)
    while i < x.sum():
        j = paddle.to_tensor(0.0)
        while j < 2:
            pair[0] = pair[0] + 1
            pair = [pair[0] * 2, x]
            j += 1
        i += 1
    return pair[0]


# --- items made while the loop runs ----------------------------------------------------------------------------------


class Counter:
    """Counts up to n."""

    def __init__(self, n):
        self.n = n
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


def announced(a):
    print("made")
    return a


def doubled(a):
    return a * 2


def made_by_map(x):
    for v in map(doubled, [x, x * 2]):
        if v.sum() > 3:
            return v
    return x


def made_by_map_with_effects(x):
    for v in map(announced, [x, x * 2]):
        if v.sum() > 1:
            return v
    return x


def made_by_generator(x):
    def items():
        held = x
        for _ in range(4):
            yield held
            held = held * 2

    for v in items():
        if v.sum() > 3:
            break
    return v


def made_by_generator_with_effects(x):
    def items():
        for i in range(4):
            print("item", i)
            yield x * i

    for v in items():
        if v.sum() > 3:
            break
    return v


def counted(x):
    for n in Counter(4):
        if (x * n).sum() > 3:
            break
    return x * n


def counter_read_later(x):
    counter = Counter(3)
    for n in counter:
        if (x * n).sum() > 3:
            break
    return x * counter.i


def given_counter(x, counter):
    for n in counter:
        if (x * n).sum() > 3:
            break
    return x * n


def wrapped(x):
    found = x
    for i, (a, b) in enumerate(zip([x, x * 2], reversed([x * 3, x * 4]))):
        found = b * i
        if a.sum() > 3:
            break
    return found


def noisy(a):
    return a + paddle.rand([2])


def random_items(x):
    for v in map(noisy, [x, x * 2]):
        if v.sum() > 100:
            break
    return paddle.rand([2]).sum() * 0 + v.sum() * 0


SEVERAL = [(n,) for n in TIMES]
PYTHON_BY_DEFAULT = {"full_graph": False}

CASES = [
    *[
        (fn, GIVEN)
        for fn in (
            turned, item_set, item_added_to, grown, copied, changed_by_another_name, last_is_kept, collected,
            two_exchanged, kept_by_a_dict, exchanged_on_one_path, in_two_loops,
        )
    ],
    *[(fn, SEVERAL) for fn in (dict_known_by_another_name, local_dict)],
    *[(fn, SEVERAL) for fn in (made_by_map, made_by_generator, counted, wrapped)],
    *[
        (fn, SEVERAL, PYTHON_BY_DEFAULT)
        for fn in (made_by_map_with_effects, made_by_generator_with_effects, counter_read_later, random_items)
    ],
    (given_counter, [(n, Counter(3)) for n in TIMES], PYTHON_BY_DEFAULT),
]  # fmt: skip
