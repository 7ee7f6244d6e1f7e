"""Builtins, module math, operator, copy and collections given tensors."""

import copy
import heapq
import math
import operator
from collections import Counter, OrderedDict, defaultdict, deque

import vitrify as paddle

from .functions import M, N, X


def length(x):
    n = len(x)
    return x * n if x.sum() > 0 else x * (n - 1)


def numbers(x):
    s = x.sum()
    return int(s) + x, float(s) * x, bool(s > 0), x * abs(s)


def rounding(x):
    s = (x.mean() * 0.75).item()
    return x * round(s), x + round(s, 1), divmod(int(x.sum()), 4), round(2.567, 2)


def powers(x):
    return pow(x, 2), pow(int(abs(x.sum())), 3, 5), pow(2, 5, 7)


def max_of_scalars(x):
    return max(x.sum(), x.mean()) * x + min(x[0], x[1], 0.5)


def max_of_items(x):
    return max([x[0], x[1], x[2]]) * 2 + min(x)


def max_with_key(x):
    return max([x, x * 2, x[:2]], key=lambda v: v.shape[0]), max(x[0], x[1], key=lambda v: -v)


def max_default(x):
    return max([], default=x), min([x.sum()], default=x), max((), default=3.0)


def max_of_key_tensors(x):
    return min([x, x * 2, -x], key=lambda v: (v * v).sum() + v[0])


def max_tie(x):
    return max(x[0], x[0] * 1.0) + min(x[1], x[1] * 1.0)


def max_of_integers(x):
    n = (x > 0).sum()
    return max(n, 2) + min(n, 1), max(1, 2, 3)


def max_ambiguous(x):
    return max(x, x * 2)


def summed(x):
    return sum(x), sum([x, x * 2], x), sum(v for v in (x, x)), sum([1, 2])


def summed_rows(m):
    return sum(m), sum(row.sum() for row in m)


def sorted_numbers(x):
    a, b, c = sorted([x[0], x[1], x[2]])
    return a + b * 2 + c * 3


def sorted_reverse(x):
    return sorted(x, reverse=True)


def sorted_with_key(x):
    return sorted([x, x * 2, -x], key=lambda v: v.sum())


def sorted_tensor_key_reverse(x):
    first, *rest = sorted([x, x + 1, x - 1], key=lambda v: (v * v).sum(), reverse=True)
    return first * 2 + rest[0]


def sort_list(x):
    items = [x[1], x[0], x[2]]
    items.sort()
    more = [x * 2, x]
    more.sort(key=lambda v: v.sum(), reverse=True)
    return items, more[0]


def sorted_in_branch(x):
    if x.sum() > 0:
        y = sorted([x[0], x[1]])[0]
    else:
        y = sorted([x[0], x[1]], reverse=True)[0]
    return y * x


def sorted_by_what_python_knows(x):
    pairs = {"b": x, "a": x * 2}
    items = [(2, x), (1, x * 3)]
    items.sort(reverse=True)
    return [v for _, v in sorted(pairs.items())], sorted([("one", x)]), items


def sorted_by_both(x):
    rows = sorted([(1, x.sum()), (0, x[0]), (1, x[0]), (0, x.sum())], key=lambda row: (-row[0], row[1]))
    return [number for number, _ in rows], [v for _, v in rows]


def sorted_python(x):
    return sorted({"b": 1, "a": 2}), sorted([3, 1, 2], key=lambda i: -i), x


def kinds(x):
    flags = [isinstance(x, paddle.Tensor), isinstance(x, (int, (float, paddle.Tensor))), isinstance(3, int | str)]
    flags += [type(x) is paddle.Tensor, x.__class__ is paddle.Tensor, issubclass(type(x), paddle.Tensor)]
    flags += [isinstance(x, int | paddle.Tensor), int is int, callable(x), isinstance(x, (list, tuple))]
    return x if all(flags[:2]) else -x, flags


def ranges(x):
    total = x * 0
    for i in range(int(abs(x.sum())), 0, -1):
        total = total + i
    return total


def zipped(x):
    total = x.sum() * 0
    for a, b in zip(x, x * 2, strict=True):
        total = total + a * b if a > 0 else total
    return total


def zip_strict_fails(x):
    return [a * b for a, b in zip(x, [1, 2], strict=True)]


def enumerated(x):
    total = x.sum() * 0
    for i, v in enumerate(x, start=2):
        total = total + v * i if v > 0 else total - i
    for i, v in enumerate([x, x], int(abs(x.sum()))):
        total = total + (v * i).sum()
    return total


def reversing(x):
    out = [v * 2 for v in reversed(x)]
    return out, list(reversed([x, -x]))


def any_all(x):
    flags = [v > 0 for v in x]
    y = x * 2 if any(flags) else x
    y = y * 3 if all(flags) else y
    return y + 1 if any(v > 2 for v in x) and all([]) is not False else y


def any_of_python(x):
    return any([0, "", None]), all([1, "a"]), any(len(v.shape) == 1 for v in (x,)), x


def iterators(x):
    it = iter(x)
    a = next(it)
    b = next(it)
    c = next(it, None)
    return a + b * 2 + c * 3, next(it, x)


def containers(x):
    pairs = [("k", x)]
    numbers = [1, 2, 1]
    return list(x), tuple(x * 2), len(set(numbers)), dict(pairs, a=x), dict(pairs), list({"a": x}.values())


def tensors_in_sets(x):
    y = x * 2
    both = {x, y}
    return len(both), x in both, len(frozenset([x, x]))


def attributes(x):
    class Holder:
        pass

    h = Holder()
    setattr(h, "v", x * 2)  # noqa: B010
    if x.sum() > 0:
        setattr(h, "v", x * 3)  # noqa: B010
    w = getattr(h, "v")  # noqa: B009
    delattr(h, "v")
    return w, hasattr(h, "v"), getattr(h, "v", 3.0), getattr(x, "shape"), hasattr(x, "nothing")  # noqa: B009


def slices(x):
    s = slice(0, 2)
    return x[s], x[slice(None, None, 2)]


def math_functions(x):
    s = (x * x).sum()
    return math.sqrt(s) * x, math.exp(s * 0.1) + x, math.floor(s * 0.3), math.ceil(s * 0.3), math.log(s), math.pi * x


def math_more(x):
    s = x.mean()
    y = math.atan2(s, 2.0) + math.hypot(s, 3.0) + math.fabs(s) + math.copysign(2.0, s) + math.pow(s, 2)
    return y * x, math.isnan(s), math.isfinite(s), math.trunc((s * 3).item()), math.degrees(s), math.tanh(s)


def math_of_python(x):
    return x * math.sqrt(x.shape[0]), math.prod(x.shape), math.prod([x.sum(), x.mean()]), math.comb(4, 2)


def math_domain(x):
    return math.sqrt(x.sum()) * x


def math_log_domain(x):
    return math.log(x.sum()) * x if x.shape[0] > 1 else x


def copies(x):
    y = copy.copy(x)
    z = copy.deepcopy({"a": [x * 2, x]})
    z["a"].append(y + 1)
    return y * 2, z


def copied_list(x):
    a = [x, x * 2]
    b = copy.copy(a)
    b[0] = x * 5
    if x.sum() > 0:
        b.append(x)
        b.pop()
    return a[0], b[0], list(a), a[:1], a.copy()


def deques(x):
    d = deque([x, x * 2], maxlen=3)
    d.append(x * 3)
    d.appendleft(x * 4)
    d.rotate(1)
    if x.sum() > 0:
        d[0] = d[0] * 2
    return list(d), d.popleft()


def default_dict(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["b"].append(x * 2)
    d["a"].append(x * 3)
    total = defaultdict(lambda: 0)
    total["s"] += x
    total["s"] += x * 2
    return d["a"][1], len(d), total["s"]


def ordered(x):
    d = OrderedDict(a=x, b=x * 2)
    d.move_to_end("a")
    c = Counter("hello")
    c.update("l")
    return list(d.values()), c["l"]


def heaps(x):
    h = []
    for i in (3, 1, 2):
        heapq.heappush(h, (i, i * 2))
    return x * heapq.heappop(h)[1], len(h)


def unbound_mutators(x):
    out = [x]
    list.append(out, x * 2)
    d = {}
    dict.update(d, a=x)
    if x.sum() > 0:
        dict.__setitem__(d, "a", x * 2)
        list.__setitem__(out, 0, x * 5)
    return out, d["a"]


def operator_writes(x):
    out = [x, x]
    operator.setitem(out, 0, x * 2)
    if x.sum() > 0:
        operator.setitem(out, 1, x * 3)
    out = operator.iadd(out, [x])
    return out, operator.contains([1.0, 2.0], 2.0)


def strings(x):
    names = ["a", "b"]
    return x * len(",".join(names)), "{}-{}".format(*names), sorted("ba"), ord("a"), bin(3)


def identities(x):
    y = x
    return id(x) == id(y), hash(x) == hash(y), x is y, x


def complexes(x):
    return complex(1.0, 2.0) * 2, complex(x.sum()), x


def global_names(x):
    return x * globals()["X"][0]


def evaluated(x):
    return x * eval("a + 1", {"a": 2})


CASES = [
    *[(f, ((X,), (N,))) for f in (
        length, numbers, rounding, powers, max_of_scalars, max_of_items, max_with_key, max_default,
        max_of_key_tensors, max_tie, max_of_integers, max_ambiguous, summed, sorted_numbers, sorted_reverse,
        sorted_with_key, sorted_tensor_key_reverse, sort_list, sorted_in_branch, sorted_python, kinds, ranges, zipped,
        sorted_by_what_python_knows, sorted_by_both,
        zip_strict_fails, enumerated, reversing, any_all, any_of_python, iterators, containers, tensors_in_sets,
        attributes, slices, math_functions, math_more, math_of_python, math_domain, math_log_domain, copies,
        copied_list, deques, default_dict, ordered, heaps, unbound_mutators, operator_writes, strings, identities,
        complexes, global_names, evaluated,
    )],
    (summed_rows, ((M,),)),
]  # fmt: skip
