"""Tables in tables, and in other containers: a change of an inner one is seen by all who know it, as in eager code."""

from collections import Counter, defaultdict, deque

import pytest

from tests.end_to_end.differential import compare

KEYS = [3, 1, 3, 9, 1, 7], [5, 5], [2, 40, 2, 17]


def dicts(x):
    found = {}
    for t in x:
        k = int(t) % 2
        if k not in found:
            found[k] = {}
        found[k][int(t)] = t * 2
    return found


def with_known_keys(x):
    found = defaultdict(dict)
    for n, t in enumerate(x):
        found[int(t) % 2][n] = int(t)
    return {k: sum(inner.values()) for k, inner in found.items()}


def default_dicts(x):
    found = defaultdict(lambda: defaultdict(int))
    for t in x:
        found[int(t) % 2][int(t)] += 1
    return found


def sets(x):
    found = defaultdict(set)
    for t in x:
        found[int(t) % 2].add(int(t))
    return found


def asked_for_more(x):
    found = defaultdict(set)
    for t in x:
        found[int(t)].add(int(t) + 1)
    return (int(x[0]) + 1) in found[int(x[0])], 4 in found[int(x[0]) + 1], len(found)


def counters(x):
    found = defaultdict(Counter)
    for t in x:
        found[int(t) % 2][int(t)] += 1
    return [(k, inner.most_common(1)) for k, inner in found.items()]


def by_another_name(x):
    found = {}
    for t in x:
        inner = found.setdefault(int(t) % 2, {})
        again = found[int(t) % 2]
        inner[int(t)] = 1
        again[int(t)] += 1
    return found


def put_later(x):
    inner, found = {}, {}
    for t in x:
        inner[int(t)] = 1
    found[int(x[0])] = inner
    inner[int(x[0]) + 1] = 2
    found[int(x[0])][int(x[0]) + 2] = 3
    return sorted(inner.items()), len(found[int(x[0])])


def list_in_tuple(x):
    found = {}
    for t in x:
        k = int(t) % 2
        if k in found:
            first, rest = found[k]
            rest.append(int(t) - first)
        else:
            found[k] = (int(t), [int(t)])
    return found


def searched(x):
    nearby = defaultdict(set)
    for t in x:
        nearby[int(t)].add(int(t) + 2)
    seen, queue = {int(x[0])}, deque([int(x[0])])
    while queue:
        for other in sorted(nearby[queue.popleft()]):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return sorted(seen)


NESTED = [
    dicts, with_known_keys, default_dicts, sets, asked_for_more, counters, by_another_name, put_later, list_in_tuple,
    searched,
]  # fmt: skip


@pytest.mark.parametrize("function", NESTED, ids=lambda f: f.__name__)
def test_nested(function):
    compare(function, *[(keys,) for keys in KEYS])


def given_beside_its_owner(x):
    found = {}
    for t in x:
        found.setdefault(int(t), {})[int(t)] = 1
    inner = found[int(x[0])]
    inner[8] = 2
    return found, inner


def given_alone(x):
    found = {}
    for t in x:
        found.setdefault(int(t), set()).add(int(t) + 1)
    first, second = found[int(x[0])], found[int(x[1])]
    first.add(8)
    return first, second


def lists_in_tuples(x):
    rows = []
    for t in x:
        rows.append((int(t), [int(t)]))
        rows[-1][1].append(0)
    at = int(x[0]) % 2
    rows[at][1].append(100)
    first = rows[0][1]
    rows[at][1].append(200)
    first.append(300)
    return rows, first


def deques(x):
    queues = []
    for t in x:
        queues.append(deque([int(t)], maxlen=2))
    for queue in queues:
        queue.append(1)
        queue.append(2)
    return [list(queue) for queue in queues]


def replaced(x):
    rows = []
    for t in x:
        rows.append((int(t), [int(t)]))
    first = rows[0]
    rows[0] = (9, [9])
    first[1].append(300)
    return rows, first


KNOWN = [given_beside_its_owner, given_alone, lists_in_tuples, deques, replaced]


@pytest.mark.parametrize("function", KNOWN, ids=lambda f: f.__name__)
def test_by_more_than_one_name(function):
    compare(function, *[(keys,) for keys in KEYS])
