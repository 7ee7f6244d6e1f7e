"""`a, b = values` where a tensor decides how many values there are."""

CALLS = ([1.0, 2.0],), ([-1.0, -2.0],), ([3.0, -1.0, 4.0, 2.0],), ([1.0, -2.0],)


def positives(x):
    values = [v for v in x if v > 0]
    a, b = values
    return a + b


def pairs(x):
    values = []
    for v in x:
        if v > 0:
            values.append((v, v * 2))
    ((a, b),) = values
    return a + b


def masked(x):
    a, b = x[x > 0]
    return a * b


def known_lengths(x):
    a, b = x * 2 if x.shape[0] == 2 else (x[0], x[1])
    c, d = b, a
    (k, v), (_, w) = {"a": x, "b": x * 2}.items()
    m, n = "ab"
    return c, d, k, v, w, m + n


CASES = [(function, CALLS) for function in (positives, pairs, masked, known_lengths)]
