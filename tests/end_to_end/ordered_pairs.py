"""`sorted`, `min` and `max` of tuples with numbers and tensors in them, and by keys that are tuples."""

from .functions import N, X


def best_pair(x):
    return max([(v.item(), i) for i, v in enumerate(x)]), min([(v, i) for i, v in enumerate(x)])


def pairs_in_order(x):
    pairs = [(v.item(), i) for i, v in enumerate(x)]
    return sorted(pairs), sorted(pairs, reverse=True)


def by_pairs(x):
    return sorted([(v, v * 2) for v in x], key=lambda p: (-p[0] > 0, p[1]))


def zipped(x):
    first = sorted(zip([2, 1, 2], x))
    return first, sorted(zip((v.item() for v in x), (3, 2, 1)), key=lambda p: (p[0] > 0, -p[1]))


def beams(x):
    found = [(v.item(), [i, i + 1]) for i, v in enumerate(x)]
    found.sort(key=lambda b: b[0], reverse=True)
    return found[:2], max(((v.abs().item(), -i) for i, v in enumerate(x)), key=lambda p: p)


TIES = [2.0, 2.0, 1.0]
CASES = [(f, ((X,), (N,), (TIES,))) for f in (best_pair, pairs_in_order, by_pairs, zipped, beams)]
