"""Deques of which a tensor decides what they hold, made inside or given from outside."""

from collections import deque

import vitrify as paddle

from .functions import N, X

Z = [0.5, -2.0, 1.0]


def both_ends_by_path(x):
    q = deque()
    for v in x:
        if v > 0:
            q.append(v)
        else:
            q.appendleft(v * 2)
    return q, len(q), q[0], q[-1]


def taken_by_path(x):
    q = deque([x, x * 2, x * 3])
    if x.sum() > 0:
        first = q.popleft()
    else:
        first = q.pop()
        q.popleft()
    return first, q, len(q)


def grown_in_a_loop(x):
    q = deque()
    while x.sum() < 20:
        q.append(x)
        x = x + 2
        if x[0] > 3:
            q.appendleft(x * 2)
    total = paddle.zeros([3])
    for v in q:
        total = total + v
    return total, len(q), q


def bounded_in_a_loop(x):
    q = deque(maxlen=2)
    n = 0
    while x.sum() < 20:
        q.append(x)
        x = x + 2
        n += 1
    return q, q.maxlen, n, x


def bounded_on_the_left(x):
    q = deque([1.0, 2.0], maxlen=3)
    for v in x:
        if v > 0:
            q.appendleft(float(v))
        elif v < -1:
            q.extendleft([3.0, 4.0])
    return q


def never_longer(x):
    q = deque(maxlen=0)
    if x.sum() > 0:
        q.append(x)
    return len(q), q


def rotated(x):
    q = deque([1, 2, 3, 4])
    n = int(x.sum())
    q.rotate(n)
    if x.sum() > 0:
        q.rotate()
        q.append(5)
    q.rotate(-n)
    return list(q), q[1]


def extended(x):
    q = deque([x])
    if x.sum() > 0:
        q.extend([x + 1, x + 2])
        q.extendleft(v * 2 for v in [x, x + 1])
    else:
        q += deque([x])
    return q, q.copy(), q + deque([x]), len(q * 2)


def breadth_first(x):
    edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
    q, seen = deque([0]), []
    while q:
        k = q.popleft()
        if k not in seen:
            seen.append(k)
            for other in edges[k]:
                if x[k % 3] > -1:
                    q.append(other)
    return seen, len(q), x


def first_in_first_out(x):
    q = deque([x])
    done = []
    while len(q) > 0:
        v = q.popleft()
        if v.sum() < 10:
            q.append(v + 2)
            if len(done) < 2:
                q.append(v + 4)
        done.append(v)
    return paddle.stack(done), len(done)


def empty_popped(x):
    q = deque()
    if x.sum() > 0:
        q.append(x)
    return q.pop()


def changed_while_gone_through(x):
    q = deque([1, 2, 3])
    for v in q:
        x = x + v
        if x.sum() > 0:
            q.append(4)
    return x


def left_once_changed(x):
    q = deque([1, 2, 3])
    for v in q:
        x = x + v
        if x.sum() > 6:
            q.append(4)
            break
    return x, list(q)


def outside_of_it(x):
    q = deque([x, x])
    if x.sum() > 0:
        q.append(x * 2)
    return q[2]


def items_set(x):
    q = deque([x, x * 2, x * 3])
    n = int((x > 0).sum())
    if n > 1:
        q.append(x)
    q[1] = x * 5
    q[n - 4] = x * 7
    del q[0]
    return q, q[0]


def full(x):
    q = deque([1, 2], maxlen=3)
    if x.sum() > 0:
        q.insert(0, 9)
    q.insert(1, 7)
    return q


def asked(x):
    q = deque([x, x])
    if x.sum() > 0:
        q.clear()
    kinds = isinstance(q, deque), isinstance(q, list), type(q) is deque
    return kinds, bool(q), list(q), 3 if q else 4, [v * 2 for v in q], list(reversed(q)), list(enumerate(q))


def looked_for(x):
    q = deque([3, 1, 2])
    if x.sum() > 0:
        q.append(7)
        q.append(3)
    q.reverse()
    return 7 in q, sorted(q), sum(q), max(q), min(q), any(q), tuple(q), [*q, 0], q.count(3), q.index(1)


def removed(x):
    q = deque([3, 1, 2])
    if x.sum() > 0:
        q.append(7)
    q.remove(1)
    q.remove(7)
    return q


def one_of_two(x):
    a, b = deque([x]), deque([x * 2])
    q = a if x.sum() > 0 else b
    q.append(x * 3)
    return len(a), len(b), q, q is a


def in_a_table(x):
    found = {"a": deque(), "b": deque([x[0]])}
    for v in x:
        found["a" if v > 0 else "b"].append(v * 2)
    return found, len(found["a"])


def made_on_one_path(x):
    if x.sum() > 0:
        q = deque([x, x])
    else:
        q = deque([x])
    q.append(x)
    return q


def made_anew_in_a_loop(x):
    q = deque([1], maxlen=4)
    while x.sum() < 20:
        q = deque(list(q)[-2:], maxlen=4)
        q.append(int(x.sum()))
        x = x + 2
    return q, x


def filled(x, q):
    if x.sum() > 0:
        q.append(x * 2)
    elif len(q):
        q.popleft()
    return len(q)


class Memory:
    def __init__(self):
        self.seen = deque(maxlen=3)


def remembered(x, memory):
    if x.sum() > 0:
        memory.seen.append(x)
    return x * len(memory.seen)


def printed(x):
    q = deque([1], maxlen=4)
    if x.sum() > 0:
        print("up", q)
    print(len(q), q)
    return str(q), f"{q}"


FILLED = tuple((v, deque([paddle.to_tensor(Z)])) for v in (X, N, X, Z))
CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        both_ends_by_path, taken_by_path, grown_in_a_loop, bounded_in_a_loop, bounded_on_the_left, never_longer,
        rotated, extended, breadth_first, first_in_first_out, empty_popped, changed_while_gone_through,
        left_once_changed, outside_of_it, items_set, full, asked, looked_for, removed, one_of_two, in_a_table,
        made_on_one_path, made_anew_in_a_loop, printed,
    )],
    (filled, FILLED),
    (remembered, tuple((v, Memory()) for v in (X, N, X, Z))),
]  # fmt: skip
