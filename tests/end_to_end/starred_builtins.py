"""Builtins called with `*values` of which a tensor decides how many there are."""

import vitrify as paddle


def positive(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return found


def pairs(x):
    return [(v, v * 2) for v in positive(x)]


def extremes(x):
    found = positive(x)
    return max(*found, x.mean()), min(x.mean(), *found)


def extreme_of_them_alone(x):
    found = positive(x)
    return max(*found) if len(found) > 1 else x.sum()


def extreme_of_any_number(x):
    return max(*positive(x))


def extreme_by_key(x):
    return min(x[1], *positive(x), x[2], key=lambda v: -v * v)


def columns_unpacked(x):
    first, second = zip(*pairs(x))
    return paddle.stack(first) * 2 + paddle.stack(list(second))


def columns_gone_through(x):
    total = x.sum() * 0
    for number, column in enumerate(zip(*pairs(x))):
        total = total + sum(column) * (number + 1)
    return total


def columns_of_rows(x):
    rows = []
    for v in x:
        if v > 0:
            rows.append(x * v)
    columns = list(zip(*rows))
    return len(columns), [sum(column) for column in columns]


def columns_mapped(x):
    rows = [[x[0], x[1], x[2]]]
    for v in positive(x):
        rows.append([v, v * 2, v * 3])
    a, b, c = map(sum, zip(*rows))
    return a + b * c


def printed(x):
    count, found = 0, []
    for v in x:
        if v > 0:
            found.append(count)
        count += 1
    print("all", *found, sep=", ")
    print(*found, end="!\n")
    print(*found, "end")
    return x + count


A, B, C, D = ([1.0, 2.0, 3.0],), ([-1.0, -2.0, -3.0],), ([1.0, -2.0, 3.0],), ([-1.0, 2.0, -3.0],)
CASES = [
    *[(f, [A, B, C, D]) for f in (extremes, extreme_of_them_alone, extreme_of_any_number, extreme_by_key)],
    *[(f, [A, B, C, D]) for f in (columns_unpacked, columns_gone_through, columns_of_rows, columns_mapped, printed)],
]
