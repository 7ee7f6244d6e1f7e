"""Corpus: comprehensions and generator expressions."""

# ruff: noqa: C416, C400, C401, C402

from __future__ import annotations

from tests.transformers.corpus import Corpus

CORPUS = Corpus()


def loud(xs):
    for x in xs:
        print("item", x)
        yield x


@CORPUS.case(([3, 1, 2],), ([],), (5,))
def plain(xs):
    return [x + 1 for x in xs], {x % 2 for x in xs}, {x: x * 2 for x in xs}


@CORPUS.case(([3, 1, 2, -4],))
def filtered(xs):
    return [x for x in xs if x > 0 if x != 2], {x: -x for x in xs if not x < 0}


@CORPUS.case(([1, 2, 3], [10, 20]), ([], [1]))
def two_loops(xs, ys):
    return [x + y for x in xs if x > 1 for y in ys if y > x], [(y, x) for y in ys for x in [y, y + 1]]


@CORPUS.case(([[1, 2], [3]],))
def same_name_twice(xs):
    x = 5
    return [x for x in xs for x in x], x


@CORPUS.case(([(1, (2, 3)), (4, (5, 6))],), ([(1, 2)],), ([3],))
def nested_targets(xs):
    return [a + b * c for a, (b, c) in xs]


@CORPUS.case(([(1, 2, 3), (4, 5)],), ([()],))
def star_targets(xs):
    return [(a, rest) for a, *rest in xs]


@CORPUS.case(([(1,), (4,)],), ([(1, 2)],))
def single_targets(xs):
    return [a for (a,) in xs]


@CORPUS.case(([(1, 2), (3, 4)],), ([(1, 2, 3)],), ([(1,)],), ([1],))
def pair_targets(xs):
    return {a: b for a, b in xs}, [a for a, b in xs if b > 2]


@CORPUS.case(([[1, 2], [3, 4]],))
def nested_comprehensions(rows):
    return [[row[i] for row in rows] for i in range(len(rows[0]))]


@CORPUS.case(([1, 2, 3],))
def late_binding(xs):
    return [f() for f in [lambda: x for x in xs]], [list(g) for g in [(x + y for y in xs) for x in xs]]


@CORPUS.case(([1, 2, 3],))
def generator_is_lazy(xs):
    generator = (print("made", x) or x for x in loud(xs) if x != 2)
    print("before")
    first = next(generator)
    print("between")
    return first, list(generator), list(generator)


@CORPUS.case((3,), (None,))
def first_iterable_at_once(xs):
    try:
        generator = (x for x in xs)
    except TypeError:
        return "at once"
    return list(generator)


@CORPUS.case(([0, 0, 5, 0],), ([],), ([0],))
def any_stops(xs):
    source = loud(xs)
    return any(x > 3 for x in source), list(source)


@CORPUS.case(([1, 2, 0, 5],), ([],))
def all_stops(xs):
    source = loud(xs)
    generator = (x > 0 for x in source)
    return all(generator), list(generator)


@CORPUS.case(([1, 2, 3],), ([],))
def consumers(xs):
    return (
        sum(x * 2 for x in xs), sum((x for x in xs), 10), max((x for x in xs), default=0), sorted(-x for x in xs),
        tuple(x for x in xs), set(x % 2 for x in xs), dict((x, 1) for x in xs), list(x for x in xs),
        min(x for x in [*xs, 9]), frozenset(x for x in xs) == set(xs), ",".join(str(x) for x in xs),
    )  # fmt: skip


@CORPUS.case(([0.1] * 10,), (["a"],))
def sum_of_floats(xs):
    return sum(x for x in xs)


@CORPUS.case(([[1, 2], [0, 3]],))
def nested_any(rows):
    return any(all(x > 0 for x in row) for row in rows), any(x > 2 for row in rows for x in row)


@CORPUS.case(([1, 2, 3],))
def walrus_inside(xs):
    found = [y for x in xs if (y := x * 2) > 2]
    return found, y


@CORPUS.case(([1, 2, 3],))
def closure_over_function(xs):
    n = 1
    generator = (x + n for x in xs)
    n = 10
    return list(generator)


@CORPUS.case(([1, 2, 3],))
def in_a_loop(xs):
    out = []
    for x in xs:
        if x > 1:
            out.append([x * y for y in xs if y >= x])
    return out


@CORPUS.case(({"a": 1, "b": 2},))
def over_dicts(d):
    return {v: k for k, v in d.items()}, [k for k in d], [*(v for v in d.values())], max(d[k] for k in d)


@CORPUS.case(([1, 0],))
def errors_inside(xs):
    return [1 // x for x in xs]


@CORPUS.case(([1, 2],))
def stop_iteration_inside(xs):
    return list(next(iter([])) for x in xs)


@CORPUS.case(([1, 2, 3],))
def lambda_with_comprehension(xs):
    f = lambda k: [x + k for x in xs if x != k]  # noqa: E731
    return f(1), f(2)


@CORPUS.case(([1, 2, 3],))
def unhashable(xs):
    return {[x] for x in xs}


@CORPUS.case(([1, 2, 3],))
def sent_and_closed(xs):
    generator = (x for x in xs)
    first = generator.send(None)
    generator.close()
    return first, list(generator)


@CORPUS.case(([1, 2, 3, 4],))
def in_for_and_star(xs):
    total = 0
    for y in (x * 2 for x in xs if x != 3):
        if y > 6:
            break
        total += y
    first, *rest = (x for x in xs)
    return total, first, rest, 3 in (x for x in xs), list(zip((x for x in xs), "ab"))
