"""`min` and `max` of tensors beside Python numbers: what is chosen is what eager code shows and gives back."""

import vitrify as paddle

P, N, B = [1.0, 2.0], [-1.0, -3.0], [-1.0, 3.0]


def at_least(x):
    return max(x.sum(), 0.5)


def shown(x):
    print(max(x.sum(), 0.5), min(x.mean(), 0, x.sum()))
    return x * max(x.sum(), 0)


def attribute_of_a_number(x):
    return max(x.sum(), 0.5).astype("float64")


def largest_so_far(x):
    best = 0
    for v in x:
        best = max(best, v)
    return best, isinstance(best, int), isinstance(best, paddle.Tensor)


def where_a_tensor_decides(x):
    best = 0
    for v in x:
        if v > -2:
            best = max(best, v)
    return best * x


def sorted_of_nothing(x):
    found = sorted(v for v in x if v > 1.5)
    return len(found), found


def sorted_in_place(x):
    found = [v for v in x if v > 0.5]
    found.sort(key=lambda v: -v)
    y = x.sum()
    for v in found:
        y = y * 2 + v
    return y


def the_tensor_itself(x):
    a, b = x.sum(), x.mean()
    most, first = max(a, b), sorted([b, a])[0]
    return most is a, most is b, first is a, sorted([a, a])[1] is a, max([x, x], key=lambda v: v.sum()) is x


def changed_in_place(x):
    a, b = x * 1, x * 2
    max([a, b], key=lambda v: v.sum()).add_(paddle.ones([2]))
    sorted([a, b], key=lambda v: v.mean())[0].add_(paddle.ones([2]))
    return a, b


def numbers_of_two_classes(x):
    return min(x.sum().item(), 2, x.mean().item()), max(int(x.sum()), 0.5)


LOW, HIGH, FLAT = (paddle.to_tensor(v) for v in (0.25, 0.75, [0.5, 0.5]))


def by_tensors_from_outside(x):
    pairs = [(HIGH, x), (LOW, x * 2), (HIGH, x * 3)]
    rows = sorted([(2, HIGH), (1, HIGH), (1, LOW)])
    return sorted(pairs, key=lambda p: p[0]), rows[0][1] is LOW, (LOW, 1) < (HIGH, 0), [FLAT[0], 1] < [FLAT[1], 2]


CASES = [
    (fn, [(P,), (N,), (B,)], {"full_graph": whole})
    for fn in (
        at_least, shown, attribute_of_a_number, largest_so_far, where_a_tensor_decides, sorted_of_nothing,
        sorted_in_place, the_tensor_itself, changed_in_place, numbers_of_two_classes, by_tensors_from_outside,
    )
    for whole in (True, False)
]  # fmt: skip
