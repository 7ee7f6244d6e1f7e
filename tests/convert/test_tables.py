"""Dicts and sets whose keys are numbers that only a run knows: as in eager code, in values, order and errors."""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

KEYS = [3, 1, 3, 9, 1, 7], [5, 5, 5], [2, 40, 2, 17, 40, 40, 2]
VALUES = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, -2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 7.0]


def set_add_len(x):
    seen = set()
    for t in x:
        seen.add(int(t))
    return len(seen)


def set_dup(x):
    seen = set()
    dups = []
    for t in x:
        k = int(t)
        if k in seen:
            dups.append(k)
        seen.add(k)
    return dups, len(seen)


def set_return_sorted(x):
    seen = set()
    for t in x:
        seen.add(int(t))
    return sorted(seen)


def set_return(x):
    seen = set()
    for t in x:
        seen.add(int(t))
    return seen


def set_comp(x):
    return len({int(t) % 3 for t in x})


def set_tolist(x):
    return len(set(x.tolist())) == len(x)


def set_iter(x):
    s = set()
    for t in x:
        s.add(int(t))
    r = 0
    for k in s:
        r += k
    return r


def set_discard(x):
    s = set()
    for t in x:
        k = int(t)
        if k in s:
            s.discard(k)
        else:
            s.add(k)
    return len(s), sum(s)


def set_remove(x):
    s = set()
    for t in x:
        s.add(int(t))
    s.remove(int(x[0]))
    return sorted(s)


def set_remove_err(x):
    s = {1, 2}
    s.remove(int(x[0]))
    return len(s)


def set_first_value(x, i):
    seen = set()
    out = x[0] * 0
    for j in range(len(i)):
        if int(i[j]) not in seen:
            out = out + x[j]
            seen.add(int(i[j]))
    return out


def dict_set(x, i):
    d = {}
    for j in range(len(i)):
        d[int(i[j])] = x[j] * 2
    r = x[0] * 0
    for k in d:
        r = r + d[k] * k
    return r


def dict_return(x, i):
    d = {}
    for j in range(x.shape[0]):
        d[int(i[j])] = x[j] * 2
    return d


def dict_count(x):
    counts = {}
    for t in x:
        k = int(t)
        counts[k] = counts.get(k, 0) + 1
    return counts


def dict_count_in(x):
    counts = {}
    for t in x:
        k = int(t)
        if k in counts:
            counts[k] += 1
        else:
            counts[k] = 1
    return counts, len(counts), max(counts.values())


def dict_items(x):
    counts = {}
    for t in x:
        k = int(t)
        counts[k] = counts.get(k, 0) + 1
    best = -1
    arg = -1
    for k, v in counts.items():
        if v > best:
            best, arg = v, k
    return arg, best


def dict_sorted_items(x):
    counts = {}
    for t in x:
        k = int(t)
        counts[k] = counts.get(k, 0) + 1
    return sorted(counts.items(), key=lambda kv: -kv[1])


def dict_max_key(x):
    counts = {}
    for t in x:
        k = int(t)
        counts[k] = counts.get(k, 0) + 1
    return max(counts, key=counts.get)


def defaultdict_int(x):
    d = defaultdict(int)
    for t in x:
        d[int(t)] += 1
    return d


def defaultdict_list(x, i):
    d = defaultdict(list)
    for j in range(len(i)):
        d[int(i[j])].append(x[j])
    r = []
    for k, v in d.items():
        r.append(paddle.stack(v).sum() * k)
    return paddle.stack(r)


def setdefault_list(x, i):
    d = {}
    for j in range(len(i)):
        d.setdefault(int(i[j]), []).append(x[j])
    return {k: paddle.stack(v).mean() for k, v in d.items()}


def counter_loop(x):
    c = Counter()
    for t in x:
        c[int(t)] += 1
    return c


def counter_tolist(x):
    c = Counter(x.tolist())
    return c


def counter_common(x):
    c = Counter(int(t) for t in x)
    return c.most_common(1)


def counter_common_all(x):
    c = Counter(x.tolist())
    return c.most_common()


def memo(x, i):
    cache = {}

    def f(k):
        if k not in cache:
            cache[k] = x * k
        return cache[k]

    r = x * 0
    for t in i:
        r = r + f(int(t))
    return r, len(cache)


def two_sum(x):
    seen = {}
    for j, t in enumerate(x):
        k = int(t)
        if 10 - k in seen:
            return seen[10 - k], j
        seen[k] = j
    return None


def dict_index(x):
    d = {}
    for j, t in enumerate(x):
        d.setdefault(int(t), j)
    return [d[int(t)] for t in x]


def dict_del(x):
    d = {}
    for t in x:
        d[int(t)] = int(t) * 2
    del d[int(x[0])]
    return d, len(d)


def dict_pop(x):
    d = {0: 1}
    for t in x:
        d[int(t)] = int(t) * 2
    a = d.pop(int(x[0]))
    b = d.pop(int(x[0]), None)
    return a, b, list(d)


def dict_keyerror(x):
    d = {}
    d[int(x[0])] = 1
    try:
        return d[int(x[1])]
    except KeyError:
        return -5


def dict_keyerror_out(x):
    d = {}
    d[int(x[0])] = 1
    return d[int(x[1])]


def dict_tuple_key(x):
    d = {}
    for j in range(len(x) - 1):
        k = (int(x[j]), int(x[j + 1]))
        d[k] = d.get(k, 0) + 1
    return d


def set_tuple(x):
    s = set()
    for j in range(len(x) - 1):
        s.add((int(x[j]), int(x[j + 1])))
    return len(s)


def dict_straight(x):
    d = {int(x[0]): "a", int(x[1]): "b"}
    return d[int(x[0])], len(d)


def dict_comp(x):
    d = {int(t): int(t) ** 2 for t in x}
    return d


def dict_zip(x):
    return dict(zip(x.tolist(), range(3)))


def dict_fromkeys(x):
    return list(dict.fromkeys(x.tolist()))


def dict_update(x):
    d = {}
    d.update({int(x[0]): 1})
    d.update([(int(x[1]), 2)])
    e = d | {int(x[2]): 3}
    return d, e


def set_ops(x):
    a = set(x.tolist())
    b = {3, 5, 40}
    return len(a & b), len(a | b), len(a - b), len(b - a), a <= b, a == b, 3 in a


def dict_inv(x):
    d = {}
    for j, t in enumerate(x):
        d[int(t)] = j
    inv = {v: k for k, v in d.items()}
    return inv


def dict_print(x):
    d = {}
    for j, t in enumerate(x):
        d[int(t)] = j
    print(d, len(d))
    return f"{d}"


def truthy(x):
    s = set()
    if x[0] > 3:
        s.add(int(x[1]))
    if s:
        return 1
    return 0


def isin(x):
    s = set()
    s.add(int(x[0]))
    return isinstance(s, set), isinstance(s, dict), type(s) is set


class Register:
    def __init__(self):
        self.d = {}
        self.s = set()

    def put(self, k, v):
        self.d[k] = v
        self.s.add(k)


def obj(x, i):
    r = Register()
    for j in range(len(i)):
        r.put(int(i[j]), x[j])
    return sum(r.d.values()), len(r.s)


def while_cycle(x):
    seen = set()
    n = int(x[0])
    c = 0
    while n not in seen:
        seen.add(n)
        n = (n * 7 + 3) % 11
        c += 1
    return c


def collatz(x):
    n = int(x[0])
    path = {}
    while n != 1:
        path[n] = len(path)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return path


def bfs(x):
    n = 12
    q = deque([int(x[0])])
    dist = {int(x[0]): 0}
    while q:
        u = q.popleft()
        for v in ((u * 2) % n, (u + 3) % n):
            if v not in dist:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist


def float_keys(x):
    d = {}
    for t in x:
        d[float(t) / 2] = int(t)
    return d


def mod_buckets(x):
    b = {0: [], 1: [], 2: []}
    for t in x:
        b[int(t) % 3].append(int(t))
    return b


def popitem(x):
    d = {}
    for j, t in enumerate(x):
        d[int(t)] = j
    return d.popitem(), d


def reversed_(x):
    d = {}
    for j, t in enumerate(x):
        d[int(t)] = j
    return list(reversed(d)), list(d.keys()), list(d.values())


def ordered(x):
    d = OrderedDict()
    for t in x:
        k = int(t)
        if k in d:
            d.move_to_end(k)
        d[k] = k
        if len(d) > 3:
            d.popitem(last=False)
    d.move_to_end(int(x[-1]), last=False)
    return d


def nested_pairs(x):
    pairs = set()
    for a in x:
        for b in x:
            if int(a) < int(b):
                pairs.add((int(a), int(b)))
    return sorted(pairs)


def set_algebra(x):
    a = {int(t) for t in x}
    b = {int(t) * 2 for t in x} | {1, 9}
    b ^= {4}
    b -= {int(x[0])}
    return [list(a | b), list(a & b), list(a - b), list(a ^ b), list(b - a)]


def set_popped(x):
    s = set(x.tolist())
    s.discard(int(x[0]))
    s.add(65)
    r = []
    while s:
        r.append(s.pop())
    return r


def text_keys(x):
    d = {}
    for t in x:
        d[f"k{int(t)}"] = d.get(f"k{int(t)}", 0) + 1
    return d


def counter_operators(x):
    a = Counter(x.tolist())
    b = Counter([1, 3, 3, 3, 40])
    return a + b, a - b, a & b, a | b, a.total(), list(a.elements())


def counter_updated(x):
    a = Counter()
    for t in x:
        a.update([int(t)])
    a.subtract({int(x[0]): 1})
    a.update(int(t) for t in x if t > 2)
    return a


def sorted_by_get(x):
    counts = {}
    for t in x:
        counts[int(t)] = counts.get(int(t), 0) + 1
    return sorted(counts, key=counts.get), sorted(counts, key=lambda k: (counts.get(k), -k), reverse=True)


def sorted_by_what_is_missing(x):
    counts = {int(t): 1 for t in x}
    return sorted([int(t) for t in x if t > 8], key=lambda k: counts.get(k + 1))


OF_KEYS = [
    sorted_by_get,
    sorted_by_what_is_missing,
    counter_updated,
    ordered,
    nested_pairs,
    set_algebra,
    set_popped,
    text_keys,
    counter_operators,
    set_add_len,
    set_dup,
    set_return_sorted,
    set_return,
    set_comp,
    set_tolist,
    set_iter,
    set_discard,
    set_remove,
    set_remove_err,
    dict_count,
    dict_count_in,
    dict_items,
    dict_sorted_items,
    dict_max_key,
    defaultdict_int,
    counter_loop,
    counter_tolist,
    counter_common,
    counter_common_all,
    two_sum,
    dict_index,
    dict_del,
    dict_pop,
    dict_keyerror,
    dict_keyerror_out,
    dict_tuple_key,
    set_tuple,
    dict_straight,
    dict_comp,
    dict_zip,
    dict_fromkeys,
    dict_update,
    set_ops,
    dict_inv,
    dict_print,
    truthy,
    isin,
    while_cycle,
    collatz,
    bfs,
    float_keys,
    mod_buckets,
    popitem,
    reversed_,
]
OF_BOTH = [set_first_value, dict_set, dict_return, defaultdict_list, setdefault_list, memo, obj]


@pytest.mark.parametrize("function", OF_KEYS, ids=lambda f: f.__name__)
def test_of_keys(function):
    compare(function, *[(keys,) for keys in KEYS])


@pytest.mark.parametrize("function", OF_BOTH, ids=lambda f: f.__name__)
def test_of_keys_and_values(function):
    compare(function, *zip(VALUES, KEYS))


def grows(x):
    d = {}
    for t in x:
        d[int(t)] = 1
    for k in d:
        d[k + 100] = 1
    return d


def set_grows(x):
    s = set()
    for t in x:
        s.add(int(t))
    for k in s:
        s.add(k + 100)
    return s


def grows_and_ends(x):
    d = {}
    for t in x:
        d[int(t)] = 1
    for k in d:
        d[k] += 1
        if k > 4:
            d[k + 100] = 1
            break
    return d


@pytest.mark.parametrize("function", [grows, set_grows, grows_and_ends], ids=lambda f: f.__name__)
def test_changes_while_it_is_gone_through(function):
    compare(function, *[(keys,) for keys in KEYS])
