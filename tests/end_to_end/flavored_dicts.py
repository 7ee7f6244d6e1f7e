"""`defaultdict`, `OrderedDict` and `Counter` of which a tensor decides what they hold; numbers it chose as keys."""

from collections import Counter, OrderedDict, defaultdict

import vitrify as paddle

from .functions import N, X

Z = [0.5, -2.0, 1.0]


def lists_by_sign(x):
    found = defaultdict(list)
    for v in x:
        if v > 0:
            found["up"].append(v)
        else:
            found["down"].append(v * 2)
    return found["up"], len(found["down"]), len(found), sorted(found)


def default_returned(x):
    found = defaultdict(list)
    if x.sum() > 0:
        found["up"].append(x)
    return found


def sums_by_sign(x):
    found = defaultdict(float)
    for v in x:
        found["up" if v > 0 else "down"] += v
    return sorted(found.keys()), found["up"]


def default_tensors(x):
    found = defaultdict(lambda: paddle.zeros([3]))
    if x.sum() > 0:
        found["a"] += x
    found["b"] = found["a"] + 1
    return found["a"], found["b"], len(found), list(found)


def default_sets(x):
    edges = defaultdict(set)
    for a, b in [(0, 1), (1, 2), (0, 2)]:
        if x[a] > x[b]:
            edges[a].add(b)
        else:
            edges[b].add(a)
    return [sorted(edges[k]) for k in range(3)]


def default_copied(x):
    found = defaultdict(int, a=1)
    if x.sum() > 0:
        found["b"] = 2
    copied = found.copy()
    copied["z"] += 1
    both = found | {"q": 3}
    return found.pop("b", 7), len(copied), isinstance(copied, defaultdict), found == {"a": 1}, type(both), both["w"]


def missing_without_a_factory(x):
    found = defaultdict(None, a=x)
    if x.sum() > 0:
        found["b"] = x
    return found["b"]


def argument_filled(x, found):
    if x.sum() > 0:
        found["up"].append(x)
    else:
        found["down"].append(x)
    return x


def counted(x):
    counts = Counter()
    for v in x:
        if v > 0:
            counts["up"] += 1
        else:
            counts["down"] += 1
    return counts["up"], counts["down"], counts["none"], len(counts), counts.total()


def counter_updated(x):
    counts = Counter("abca")
    if x.sum() > 0:
        counts.update("aab", z=2)
    else:
        counts.subtract(["a", "b"])
    del counts["c"]
    del counts["nothing"]
    return counts["a"], counts["b"], sorted(counts)


def counter_returned(x):
    counts = Counter(a=1)
    if x.sum() > 0:
        counts["b"] += 5
    return counts


def counter_of_python(x):
    counts = Counter("hello world")
    parts = counts + Counter("l"), counts - Counter("l"), counts | Counter("zz"), counts & Counter("low")
    same = counts == Counter("hello world"), counts != Counter()
    return counts.most_common(2), x * counts["l"], parts, same, list(Counter("ab").elements()), repr(Counter("aab"))


def ordered(x):
    found = OrderedDict()
    found["a"] = x
    if x.sum() > 0:
        found["b"] = x * 2
    found["c"] = x * 3
    return sum(found.values()), "b" in found, len(found), found


def ordered_moved(x):
    found = OrderedDict(a=x, b=x * 2, c=x * 3)
    found.move_to_end("a")
    found.move_to_end("c", last=False)
    if x.sum() > 0:
        found["d"] = x
    key, value = found.popitem(last=False)
    return key, value, len(found), isinstance(found, OrderedDict), type(found) is OrderedDict, found


def recently_used(x):
    cache = OrderedDict()
    for i in range(5):
        if i % 3 in cache:
            cache.move_to_end(i % 3)
        else:
            cache[i % 3] = x * i
        if len(cache) > 2:
            cache.popitem(last=False)
    same = cache == OrderedDict(cache), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1) == {"a": 1}
    return list(cache), list(cache.values()), same


def counters_changed_in_place(x):
    counts = same = Counter("aab")
    counts += Counter("bc")
    counts -= Counter("a")
    counts |= Counter("zz")
    counts &= Counter("abzz")
    return sorted(same.items()), counts is same, x


def counters_signed_and_compared(x):
    counts = Counter(a=2, b=-1)
    compared = counts <= Counter(a=3), counts > Counter(a=1), Counter(a=1) < counts, counts >= counts
    return sorted((+counts).items()), sorted((-counts).items()), compared, x


def dicts_united_in_place(x):
    found = first = defaultdict(list, {"a": [1]})
    found |= {"b": [2]}
    kept = second = OrderedDict(a=1)
    kept |= {"b": 2}
    return sorted(first.items()), found is first, list(second.items()), kept is second, x


def ordered_from_sorted(x):
    made = OrderedDict(sorted({"b": x, "a": x * 2}.items(), reverse=True))
    return list(made), made["a"], defaultdict(int, [("n", 2)])["n"]


GIVEN = OrderedDict(b=2, a=1)


def ordered_beside_one_from_outside(x):
    made = OrderedDict(a=1, b=2)
    return made == GIVEN, made == GIVEN, made != GIVEN, made == dict(GIVEN), made == OrderedDict(made), x


def in_a_loop(x):
    found, counts = defaultdict(list), Counter()
    while x.sum() < 20:
        x = x + 2
        if x[0] > 2:
            found["big"].append(x)
        counts["turns"] += 1
    return len(found["big"]), counts["turns"], x


def keys_that_a_tensor_chose(x):
    known, seen = {}, {5}
    k = 1 if x.sum() > 0 else 2
    known[k] = x
    seen.add(k)
    taken = known.pop(k) if x[0] > 100 else known[k]
    table = {1: x, 2: x * 3, 3: x}
    del table[k]
    return taken, known.get(1), sorted(seen), k in seen, known.setdefault(k, x * 9), len(known), k in known, len(table)


def counted_by_a_number(x):
    counts = defaultdict(int)
    for v in x:
        k = 1 if v > 0 else 0
        counts[k] += 1
    return counts[0], counts[1]


def grouped_by_setdefault(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault("up" if v > 0 else "down", []).append(v * i)
    return [sum(groups[key]) for key in ("up", "down") if key in groups]


def grouped_where_there_is_a_list(x):
    groups = {}
    for i, v in enumerate(x):
        key = "up" if v > 0 else "down"
        if key in groups:
            groups[key].append(v * i)
        else:
            groups[key] = [v]
    return groups.get("up"), groups.get("down"), len(groups)


def grouped_in_short_lists(x):
    groups = {}
    for v in x:
        key = "up" if v > 0 else "down"
        if key not in groups:
            groups[key] = []
        kept = groups[key]
        kept.append(v)
        kept.append(v * 2)
        if len(kept) > 2:
            kept.pop(0)
    return groups.get("up", 0), groups.get("down", 1)


def grouped_and_sorted(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault("up" if v > 0 else "down", []).append(v * i)
    return {key: sum(found) for key, found in sorted(groups.items())}


def pairs_sorted_by_key(x):
    known, ints = {}, {}
    for i, v in enumerate(x):
        known["up" if v > 0 else "down"] = v * i
        if v > 0:
            ints[-i] = v
    weighted = 0
    for key, value in sorted(ints.items()):
        weighted = weighted * 2 + value * key
    falling, rising = sorted(known.items(), reverse=True), dict(sorted(known.items()))
    return falling, rising, [key for key, _ in sorted(known.items())], weighted


def extremes_by_path(x):
    found = {}
    for name, fn in {"relu": abs, "doubled": lambda v: v * 2, "mean": lambda v: v.mean()}.items():
        made = fn(x).sum()
        if made > 1:
            found[name] = made
    sets = {1 if v > 0 else 2 for v in x}
    best = max(found, key=lambda name: float(found[name]), default=None)
    least = min(found.items(), key=lambda pair: pair[1]) if found else None
    return best, least, max(found.values(), default=0), max(found, default="z"), max(sets, key=lambda n: -n), min(sets)


FILLED = ((X, defaultdict(list, {"up": []})), (N, defaultdict(list)), (X, defaultdict(list)))
CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        lists_by_sign, default_returned, sums_by_sign, default_tensors, default_sets, default_copied,
        missing_without_a_factory, counted, counter_updated, counter_returned, counter_of_python, ordered,
        ordered_moved, ordered_beside_one_from_outside, recently_used, in_a_loop, keys_that_a_tensor_chose,
        counted_by_a_number, counters_changed_in_place, counters_signed_and_compared, dicts_united_in_place,
        ordered_from_sorted, grouped_by_setdefault, grouped_where_there_is_a_list, grouped_in_short_lists,
        grouped_and_sorted, pairs_sorted_by_key, extremes_by_path,
    )],
    (argument_filled, FILLED),
]  # fmt: skip
