"""Dicts and sets that the function did not make, which get keys that only a run knows: who holds them sees that."""

from collections import Counter, OrderedDict, defaultdict
from functools import partial
from types import SimpleNamespace

import pytest

import vitrify as paddle

NUMBERS = Counter()
STEPS = [3, 1, 3], [2, 1, 1], [3, 1, 3], [4, 4, 0]


class Tally:
    """Containers in attributes."""

    hits = None

    def __init__(self):
        self.counts = {}
        self.seen = {1, 9}
        self.other = {"inner": {2: 1}, "list": [Counter()]}
        self.latest = OrderedDict()


def in_attribute(tally, v):
    for t in v:
        k = int(t)
        tally.counts[k] = tally.counts.get(k, 0) + 1
    return len(tally.counts)


def in_set(tally, v):
    new = []
    for t in v:
        k = int(t)
        if k not in tally.seen:
            tally.seen.add(k)
            new.append(k)
    return new


def in_containers(tally, v):
    for t in v:
        tally.other["inner"][int(t)] = 5
        tally.other["list"][0][int(t)] += 1
    return sorted(tally.other["inner"])


def by_path(tally, v):
    if v.sum() > 5:
        tally.counts[int(v[0])] = 1
    else:
        tally.counts.pop(int(v[0]), None)
    return sorted(tally.counts.items())


def latest(tally, v):
    for t in v:
        k = int(t)
        if k in tally.latest:
            tally.latest.move_to_end(k)
        tally.latest[k] = k + 1
        if len(tally.latest) > 2:
            tally.latest.popitem(last=False)
    return list(tally.latest)


def in_class(tally, v):
    for t in v:
        Tally.hits[int(t)].append(int(t))
    return len(Tally.hits)


def in_global(tally, v):
    for t in v:
        NUMBERS[int(t)] += 1
    return max(NUMBERS.values())


FUNCTIONS = [in_attribute, in_set, in_containers, by_path, latest, in_class, in_global]


def _observed(function, is_static):
    NUMBERS.clear()
    Tally.hits = defaultdict(list)
    tally = Tally()
    held = [tally.counts, tally.seen, tally.latest]
    call = (
        paddle.jit.to_static(lambda v: function(tally, v), full_graph=True) if is_static else partial(function, tally)
    )
    found = []
    for step in STEPS:
        result = call(paddle.to_tensor(step))
        found.append((result, str(vars(tally)), str(NUMBERS), str(Tally.hits)))
    assert all(a is b for a, b in zip(held, [tally.counts, tally.seen, tally.latest]))
    return found


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_state_is_changed_as_in_eager_code(function):
    assert _observed(function, is_static=True) == _observed(function, is_static=False)


def count(counts, v):
    for t in v:
        counts[int(t)] = counts.get(int(t), 0) + 1
    return counts


@pytest.mark.parametrize("kind", [dict, Counter, OrderedDict, lambda items: defaultdict(int, items)])
def test_a_dict_given_as_argument(kind):
    static = paddle.jit.to_static(count, full_graph=True)
    for step in STEPS:
        mine, theirs = kind({1: 10}), kind({1: 10})
        assert static(mine, paddle.to_tensor(step)) is mine
        assert mine == count(theirs, paddle.to_tensor(step)) and list(mine) == list(theirs)


def test_a_set_given_as_argument():
    def add(seen, v):
        for t in v:
            seen.add(int(t))
        return len(seen)

    static = paddle.jit.to_static(add, full_graph=True)
    mine = {1}
    assert static(mine, paddle.to_tensor([1, 5, 5])) == 2 and mine == {1, 5}


def test_gradients_reach_what_a_dict_of_the_user_holds():
    cache = SimpleNamespace(of={})

    def scaled(i, x):
        k = int(i)
        if k not in cache.of:
            cache.of[k] = x * k
        return cache.of[k]

    static = paddle.jit.to_static(scaled, full_graph=True)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    static(paddle.to_tensor(3), x)
    assert list(cache.of) == [3]
    static(paddle.to_tensor(3), x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
