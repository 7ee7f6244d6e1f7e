"""Lists and dicts whose length a tensor decides: built in loops and branches, used there and elsewhere, returned."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle

from .functions import N, X

Pair = namedtuple("Pair", "value score")
LONG = [0.5, 1.0, 1.5, 2.0]
NONE = [-40.0, 1.0, 2.0]  # sums to less than any bound below from the start


@dataclass
class Beam:
    """A plain object as an item."""

    tokens: Any
    score: Any


class Store:
    """An object that keeps lists."""

    def __init__(self):
        self.seen = []

    def add(self, x):
        self.seen.append(x)


def appended(x):
    out = []
    while x.sum() < 40:
        out.append(x * 2)
        x = x + 1
    return out


def stacked(x):
    out = [x]
    while x.sum() < 40:
        x = x * 1.5 + 1
        out.append(x)
    return paddle.stack(out), paddle.stack(out, axis=1)


def concatenated(x):
    out = [x]
    while x.sum() < 40:
        x = x + 2
        out.append(x * x)
    return paddle.concat(out), paddle.concat(x=out, axis=0)


def concatenated_method(x):
    out = [x[:1]]
    i = 0
    while i < x.sum() and len(out) < 6:
        out.append(x[:1] * i)
        i += 1
    return paddle.concat(out)


def summed(x):
    out = []
    while x.sum() < 40:
        out.append(x.mean())
        x = x + 1
    return sum(out), sum(out, x.sum()), len(out)


def added_up(x):
    out = [x]
    while x.sum() < 40:
        x = x + 3
        out.append(x)
    return paddle.add_n(out)


def numbers(x):
    out = []
    i = 0
    while x.sum() < 40:
        out.append(i)
        x = x + 1
        i += 1
    return out, x


def from_range(x):
    out = []
    for i in range(paddle.to_tensor(4)):
        out.append(x * i)
    return out


def from_sizes(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * 3)
    return out


def filtered(x):
    return [v * 2 for v in x if v > 0]


def filtered_twice(x):
    kept = [v for v in x if v > 0]
    return [v * v for v in kept if v < 2], [v + 1 for v in kept]


def one_branch(x):
    out = []
    if x.sum() > 0:
        out.append(x)
    return out, len(out)


def both_branches(x):
    if x.sum() > 0:
        out = [x, x * 2]
    else:
        out = [x * 3]
    total = x * 0
    for v in out:
        total = total + v
    return total, out


def branch_then_loop(x):
    out = []
    if x[0] > 0:
        out.append(x)
    while x.sum() < 20:
        x = x + 2
        out.append(x)
    return out


def returned_early(x):
    if x.sum() > 0:
        return [x, x + 1]
    return [x]


def returned_in_loop(x):
    out = []
    while x.sum() < 40:
        out.append(x)
        if x[0] > 3:
            return out
        x = x + 1
    return out


def consumed(x):
    out = []
    y = x
    while y.sum() < 40:
        out.append(y)
        y = y * 2 + 1
    total = x * 0
    for i, v in enumerate(out):
        total = total + v * i
    return total


def consumed_by_index(x):
    out = [x]
    while x.sum() < 30:
        x = x + 1
        out.append(x * x)
    return out[0] + out[-1] * 2, out[len(out) - 1]


def reversed_list(x):
    out = []
    while x.sum() < 30:
        out.append(x)
        x = x + 1
    y = x * 0
    for v in reversed(out):
        y = y * 0.5 + v
    out.reverse()
    return y, out


def zipped(x):
    a, b = [], []
    while x.sum() < 30:
        a.append(x)
        b.append(x.sum())
        x = x + 1.5
    return [p * q for p, q in zip(a, b)]


def sliced(x):
    out = [x, x * 2]
    while x.sum() < 30:
        x = x + 1
        out.append(x)
    return out[1:], out[:-1], out[::2], out[-2:]


def sliced_in_loop(x):
    out = [x, x * 2]
    while x.sum() < 30:
        x = x + out[-1] + out[-2] + 1
        out = out[-2:]
        out.append(x)
    return out


def popped(x):
    stack = [x]
    y = x * 0
    while stack:
        node = stack.pop()
        y = y + node
        if node.sum() < 12:
            stack.append(node + 1)
            if node[0] > 2:
                stack.append(node * 2)
    return y


def queued(x):
    queue = [x]
    seen = x * 0
    while len(queue) > 0:
        v = queue.pop(0)
        seen = seen * 0.9 + v
        if v.sum() < 10:
            queue.append(v + 1)
            queue.append(v + 2)
    return seen


def popped_at_tensor(x):
    out = [x, x + 1, x + 2]
    i = (x > 0).sum().astype("int64") % 3
    v = out.pop(i)
    return v, out


def inserted(x):
    out = [x]
    while x.sum() < 25:
        x = x + 1
        out.insert(0, x)
        out.insert(-1, x * 10)
        out.insert(1, x * 100)
    return out


def stored(x):
    out = [x, x, x]
    while x.sum() < 25:
        x = x + 1
        out.append(x)
        out[0] = x * 2
        out[-1] = out[-1] + out[1]
    return out


def stored_at_tensor(x):
    out = [x, x + 1, x + 2]
    i = (x > 0).sum().astype("int64") % 3
    out[i] = x * 10
    return out[0], out[1], out[i]


def stored_slice(x):
    out = [x]
    while x.sum() < 25:
        x = x + 1
        out.append(x)
    out[1:] = [x * 2, x * 3]
    out[:1] = [x]
    return out


def deleted(x):
    out = [x, x * 2]
    while x.sum() < 25:
        x = x + 1
        out.append(x)
        del out[0]
    return out


def extended(x):
    out = []
    while x.sum() < 25:
        x = x + 1
        out.extend([x, -x])
        out += [x * 2]
    return out


def extended_by_list(x):
    a, b = [], [x]
    while x.sum() < 25:
        x = x + 1
        a.append(x)
    b.extend(a)
    b += a
    return b, a + b, [x] + a, a + [x]


def cleared(x):
    out = []
    count = x * 0
    while x.sum() < 40:
        x = x + 1
        out.append(x)
        if len(out) > 3:
            count = count + out[0]
            out.clear()
    return count, out


def copied(x):
    out = [x]
    while x.sum() < 25:
        x = x + 1
        out.append(x)
    other = out.copy()
    more = list(out)
    other.append(x * 2)
    return out, other, more


def pairs(x):
    out = []
    while x.sum() < 25:
        x = x + 1
        out.append((x, x.sum()))
    total = x * 0
    for v, s in out:
        total = total + v * s
    return total, out


def dicts(x):
    out = []
    while x.sum() < 25:
        x = x + 1
        out.append({"v": x, "n": len(out), "kind": "row"})
    return out, out[-1]["v"]


def named(x):
    out = []
    while x.sum() < 25:
        x = x + 1
        out.append(Pair(x, x.mean()))
    return [p.value * p.score for p in out], out


def objects(x):
    out = [Beam([x], x.sum())]
    while x.sum() < 25:
        x = x + 1
        out.append(Beam([x], x.sum()))
    return out[-1].tokens[0] * out[0].score


def lists_of_lists(x):
    rows = []
    while x.sum() < 25:
        row = []
        y = x
        while y.sum() < 30:
            row.append(y)
            y = y + 2
        rows.append(row)
        x = x + 2
    return rows, len(rows)


def filled_rows(x):
    rows = []
    while x.sum() < 25:
        rows.append([x])
        rows[-1].append(x * 2)
        x = x + 2
    return rows


def grown_rows(x):
    rows = []
    while x.sum() < 25:
        rows.append([x])
        if x[0] > 2:
            rows[-1].append(x * 2)
        x = x + 2
    return rows


def row_by_row(x):
    rows = []
    while x.sum() < 25:
        rows.append([x, x * 2])
        x = x + 2
    return [a + b for a, b in rows]


def reset_each_time(x):
    sums = x * 0
    for _ in range(3):
        out = []
        y = x
        while y.sum() < 20:
            out.append(y)
            y = y + 1
        if len(out) > 0:
            sums = sums + paddle.stack(out).sum(axis=0)
        x = x + 1
    return sums


def reset_in_tensor_loop(x):
    sums = x * 0
    while x.sum() < 20:
        out = [x]
        y = x
        while y.sum() < 22:
            y = y + 2
            out.append(y)
        sums = sums + paddle.stack(out).mean(axis=0)
        x = x + 3
    return sums, x


def beams(x):
    held = [(x, x.sum())]
    steps = 0
    while held[0][1] < 60 and steps < 4:
        new = []
        for tokens, score in held:
            new.append((tokens + 1, score + 3))
            new.append((tokens * 2, score * 2))
        held = new
        steps += 1
    return held[0], len(held)


def best_beams(x):
    held = [([x.sum()], x.sum())]
    while held[0][1] < 200:
        new = []
        for tokens, score in held:
            new.append((tokens + [score], score * 2 + 1))
            new.append((tokens + [-score], score + 5))
        held = sorted(new, key=lambda beam: beam[1], reverse=True)[:3]
    return [score for _, score in held], held[0][0]


def sorted_known(x):
    items = [(x[0], x * 1), (x[1], x * 2), (x[2], x * 3)]
    items.sort(key=lambda item: item[0])
    return [v for _, v in items], sorted([x[0], x[1], x[2]], reverse=True)


def sorted_unknown(x):
    out = []
    while x.sum() < 30:
        out.append(x * (-1) ** len(out))
        x = x + 1.5
    out.sort(key=lambda v: v.sum())
    return out


def attribute(x):
    s = Store()
    while x.sum() < 25:
        s.add(x)
        x = x + 1
    return s.seen


def aliased(x):
    out = []
    held = {"out": out}
    pair = (out, x)
    while x.sum() < 25:
        out.append(x)
        x = x + 1
    held["out"].append(x)
    return len(pair[0]), held["out"]


def through_function(x):
    def grow(items, v):
        while v.sum() < 25:
            items.append(v)
            v = v + 1

    out = [x]
    grow(out, x)
    return out


def closed_over(x):
    out = []

    def add(v):
        out.append(v * 2)

    while x.sum() < 25:
        add(x)
        x = x + 1
    return out


def nonlocal_list(x):
    out = []

    def renew(v):
        nonlocal out
        out = [*([v] if len(out) == 0 else []), v]

    while x.sum() < 25:
        renew(x)
        x = x + 1
    return out


def truth(x):
    out = []
    if x.sum() > 3:
        out.append(x)
    a = 1 if out else 2
    b = not out
    return a, x * 2 if out and x[0] > 0 else x * 3, b


def truth_or(x):
    out = []
    if x.sum() > 3:
        out.append(x)
    return out or [x * 2]


def in_while_test(x):
    todo = [x]
    n = 0
    while todo and n < 10 and x.sum() < 100:
        v = todo.pop()
        x = x + v
        n += 1
        if x.sum() < 40:
            todo.append(v + 1)
    return x, n


def while_else(x):
    out = []
    while x.sum() < 25:
        x = x + 1
        if x[0] > 6:
            break
        out.append(x)
    else:
        out.append(x * 0)
    return out


def tuple_of_lists(x):
    state = ([], [])
    while x.sum() < 25:
        state[0].append(x)
        state[1].append(x.sum())
        x = x + 1
    return state


def rebound(x):
    out = []
    while x.sum() < 25:
        out = out + [x]
        x = x + 1
    return out


def rebound_shorter(x):
    out = [x, x + 1, x + 2]
    while x.sum() < 25:
        out = out[1:] if x[0] > 3 else out
        x = x + 1
    return out, len(out)


def dtype_joined(x):
    out = [1]
    while x.sum() < 25:
        out.append(x.sum())
        x = x + 1
    return sum(out)


def sizes_differ(x):
    out = []
    y = x
    while len(out) < x.sum():
        out.append(y)
        y = paddle.concat([y, x])
    return out, paddle.concat(out)


def grows_while_iterated(x):
    out = [x]
    for v in out:
        if v.sum() < 20:
            out.append(v + 2)
    return out


def nested_three(x):
    out = []
    while x.sum() < 15:
        for k in range(2):
            if x[0] > k:
                out.append(x * (k + 1))
            while len(out) < 2:
                out.append(x - 1)
        x = x + 2
    return out


def dict_keys(x):
    found = {"last": x, "sum": x.sum()}
    while x.sum() < 25:
        x = x + 1
        found["last"] = x
        found["sum"] = x.sum()
    return found


def dict_of_lists(x):
    found = {"a": [], "b": []}
    while x.sum() < 25:
        x = x + 1
        found["a"].append(x)
        if x[0] > 3:
            found["b"].append(x * 2)
    return found


def isinstance_list(x):
    out = []
    while x.sum() < 25:
        out.append(x)
        x = x + 1
    return isinstance(out, list), isinstance(out, tuple), x


def unbound_methods(x):
    out = []
    while x.sum() < 25:
        list.append(out, x)
        x = x + 1
    return out


def any_all(x):
    out = []
    while x.sum() < 25:
        out.append(x.mean())
        x = x + 1
    return any(v > 3 for v in out), all(v < 5 for v in out)


def empty_rows(x):
    out = [[], []]
    while x.sum() < 25:
        out[0].append(x)
        out[1].append(x.sum())
        x = x + 1
    return out


def constant_inside(x):
    out = []
    while x.sum() < 25:
        out.append(paddle.ones([2]) * x[0])
        x = x + 1
    return out


def generated(x):
    out = []
    while x.sum() < 25:
        out.append(x)
        x = x + 1
    return sum(v.sum() for v in out), [v.sum() for v in out]


def index_error(x):
    out = []
    while x.sum() < 25:
        out.append(x)
        x = x + 1
    return out[5]


def pop_error(x):
    out = []
    if x.sum() > 0:
        out.append(x)
    return out.pop()


def stack_of_none(x):
    out = []
    while x.sum() < 25:
        out.append(x)
        x = x + 1
    return paddle.stack(out)


def without_gradient(x):
    out = []
    while x.sum() < 20:
        with paddle.no_grad():
            out.append(x * 2)
            out.append(x)
        out.append(x * 3)
        x = x + 1
    return sum(out)


def in_place_before(x):
    out = []
    y = x * 1
    while y.sum() < 20:
        y.add_(paddle.to_tensor(1.0))
        out.append(y.clone())
    return out


def twice(x):
    out = [x]
    while x.sum() < 20:
        x = x + 1
        out.append(x)
    return out, {"again": out}


def swapped(x):
    a, b = [x], []
    while x.sum() < 20:
        a, b = b, a
        a.append(x)
        x = x + 1
    return a, b


def in_recursion(x, n):
    if n == 0:
        return [x]
    return [x, *in_recursion(x + 1, n - 1)]


def argument_of_recursion(x, seen=()):
    if x.sum() > 0:
        return argument_of_recursion(x - 1, [*seen, x])
    return x, len(seen)


def argument(xs, x):
    while x.sum() < 10:
        xs.append(x)
        x = x + 1
    return x


def argument_emptied(xs, x):
    while len(xs) > 0 and x.sum() < 100:
        x = x + xs.pop()
    return x


def argument_in_dict(held, x):
    while x.sum() < 10:
        held["a"].append(x)
        x = x + 1
    return x


def returned_with_more(held, x):
    """The list that both paths give stays the argument itself."""
    if x.sum() > 0:
        return held, x
    return held, x * 2


def sum_of_numbers(x):
    """A sum of Python numbers is one, however many there are."""
    for p in range(int(x.max())):
        print(sum([n + 1 for n in range(p)]))
    return x


def stored_out_of_range(x):
    """An item that nothing reads is stored all the same, or fails."""
    rows = [x]
    if x.sum() > 0:
        rows.append(x)
    rows[1] = x
    return x


def taken_out_of_range(x):
    rows = [x]
    if x.sum() > 0:
        rows.append(x)
    rows[1]
    del rows[1]
    return x


def slices_between_bounds(x):
    rows = [v for v in x if v > 0]
    rows[0:1] = [v for v in x if v < 0]
    rows[-2:-1] = [x[0] * 9]
    del rows[1:2]
    known = [x[0], x[1], x[2]]
    known[1:1] = [v for v in x if v < 0]
    return rows, known


SHORT = (
    slices_between_bounds, stored_out_of_range, taken_out_of_range, sum_of_numbers,
    twice,    swapped,    without_gradient, in_place_before,
    appended, stacked, concatenated, concatenated_method, summed, added_up, numbers, from_range, from_sizes, filtered,
    filtered_twice, one_branch, both_branches, branch_then_loop, returned_early, returned_in_loop, consumed,
    consumed_by_index, reversed_list, zipped, sliced, sliced_in_loop, popped, queued, popped_at_tensor, inserted,
    stored, stored_at_tensor, stored_slice, deleted, extended, extended_by_list, cleared, copied, pairs, dicts, named,
    objects, lists_of_lists, filled_rows, grown_rows, row_by_row, reset_each_time, reset_in_tensor_loop, beams,
    best_beams, sorted_known, sorted_unknown, attribute, aliased, through_function, closed_over, nonlocal_list, truth,
    truth_or, in_while_test, while_else, tuple_of_lists, rebound, rebound_shorter, dtype_joined, sizes_differ,
    grows_while_iterated, nested_three, dict_keys, dict_of_lists, isinstance_list, unbound_methods,
    any_all, empty_rows, constant_inside, generated, index_error, pop_error, stack_of_none,
)  # fmt: skip

A = np.array(X, "float32")
CASES = [
    *[(f, ((X,), (N,), (LONG,))) for f in SHORT],
    (in_recursion, ((X, 2),)),
    (argument_of_recursion, ((X,), (N,))),
    (argument, (([A], X), ([A, A], N))),
    (argument_emptied, (([A, A], X), ([A, A], NONE))),
    (argument_in_dict, (({"a": [A]}, X),)),
    (returned_with_more, (([A, A], X), ([A, A], N))),
]
