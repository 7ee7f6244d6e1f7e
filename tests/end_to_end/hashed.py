"""Numbers of the program among tuples and lists that are compared or looked for."""


def tuples_equal(x):
    n = int(x.sum())
    return (n, 1) == (3, 1), (n, 2) != (3, 2), (n,) == (3, 3), (n, 1) == [3, 1], (1, n, 2) == (1, 3, 2)


def nested_lists_equal(x):
    n = int(x.sum())
    return [n, [n, 2]] == [3, [3, 2]], [n] != [4], [[n]] == [[3], []]


def tuple_with_tensor_decides(x):
    if (x.sum(), 1) == (3.0, 1):
        return x * 2
    return x * x


def tuples_in_order(x):
    n = int(x.sum())
    return (n, 1) < (3, 2), (n, 2) <= (3, 1), [n, 2] >= [3, 1], (1, n) > (1, 2), (n,) < (3, 0), (n, 0) > (n,)


def order_decides_a_loop(x):
    at, steps = (int(x.sum()), 0), 0
    while at < (20, 5):
        at = (at[0] + 4, at[1] + 1)
        x, steps = x * 1.5, steps + 1
    return x, steps, at


def tuples_in_containers(x):
    n = int(x.sum())
    return (n, 1) in [(3, 1)], (n, 1) in ((4, 1), 2), (n, 1) in {(3, 1)}, (n, 1) in {(3, 1): 2}


def in_views(x):
    n = int(x.sum())
    d, places = {"a": 3, "b": 5}, {(3, 1): 2}.keys()
    return n in d.values(), ("a", n) in d.items(), ("b", n) in d.items(), (n, 1) in places


def visited_until_seen(x):
    seen, n = [(0, 1), (3, 1)], int(x.sum())
    if (n, 1) not in seen:
        x = x * 3
    return x


CASES = [
    (tuples_equal, [([1.0, 2.0],), ([1.0, 4.0],)]),
    (nested_lists_equal, [([1.0, 2.0],), ([1.0, 3.0],)]),
    (tuple_with_tensor_decides, [([1.0, 2.0],), ([1.0, 3.0],)]),
    (tuples_in_order, [([1.0, 2.0],), ([1.0, 1.0],), ([4.0, 2.0],)]),
    (order_decides_a_loop, [([1.0, 2.0],), ([10.0, 30.0],)]),
    (tuples_in_containers, [([1.0, 2.0],), ([1.0, 3.0],)]),
    (in_views, [([1.0, 2.0],), ([1.0, 4.0],)]),
    (visited_until_seen, [([1.0, 2.0],), ([1.0, 4.0],)]),
]
