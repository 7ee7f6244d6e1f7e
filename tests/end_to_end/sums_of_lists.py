"""`sum` of lists of unknown length: 0 where nothing is in them, a tensor where at least one item is known to be."""

import vitrify as paddle

A, B, C = [[1.0, 2.0], [-3.0, -4.0]], [[-1.0, -2.0], [-3.0, -4.0]], [[1.0, 2.0], [3.0, 4.0]]


def kept(x):
    found = []
    for row in x:
        if row.sum() > 0:
            found.append(row)
    return found


def of_what_may_be_nothing(x):
    return sum(kept(x))


def appended(x):
    found = kept(x)
    found.append(x[0])
    return sum(found), sum(found[1:])


def extended(x):
    found = kept(x)
    found.extend([x[0], x[1]])
    return sum(found[1:]), sum(found[2:])


def popped(x):
    found = kept(x)
    found.append(x[0])
    found.pop()
    return sum(found)


def joined(x):
    return sum((kept(x) + [x[0]])[:])


def popped_on_one_path(x):
    found = kept(x)
    found.append(x[0])
    if x.sum() > 0:
        found.pop()
    return sum(found)


def emptied_in_a_loop(x):
    found = kept(x)
    found.append(x[0])
    while len(found) > 0:
        found.pop()
    return sum(found)


def cleared(x):
    found = kept(x)
    found.append(x[0])
    found.clear()
    return sum(found)


def item_deleted(x):
    found = kept(x)
    found.append(x[0])
    del found[0]
    return sum(found)


def slice_emptied(x):
    found = kept(x)
    found.append(x[0])
    found[0:1] = []
    return sum(found)


def filtered(x):
    found = kept(x)
    found.append(x[0])
    return sum([row for row in found if row.sum() > 0])


def turned_round(x):
    found = kept(x)
    found.append(x[0])
    found.reverse()
    found.insert(0, x[1])
    return sum(found[2:]), sum(found[::2][1:])


def of_a_copy(x):
    found = kept(x)
    found.append(x[0])
    copied = found.copy()
    copied.pop()
    return sum(copied), sum(found)


def item_set(x):
    found = kept(x)
    found.append(x[0])
    found[0] = found[0] * 3
    last = found.pop()
    found.extend([last, last])
    return sum(found[1:])


def given_to_functions_of_tensors(x):
    total = sum(kept(x))
    return paddle.nn.functional.relu(total), paddle.isnan(total), total.clip(1.0), paddle.allclose(total, total)


START = paddle.to_tensor([0.5, 0.25])


def from_a_start_from_outside(x):
    return sum(kept(x), START), sum([row for row in x if row[0] > 2], x[0])


CASES = [
    (given_to_functions_of_tensors, ((A,), (C,))),
    *[(function, ((A,), (B,), (C,)))
    for function in (
        of_what_may_be_nothing, appended, extended, popped, joined, popped_on_one_path, emptied_in_a_loop, cleared,
        item_deleted, slice_emptied, filtered, turned_round, of_a_copy, item_set, from_a_start_from_outside,
    )],
]  # fmt: skip
