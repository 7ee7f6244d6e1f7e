"""What NumPy and `tolist()` give as conditions, numbers, positions and items of loops: only the run knows it."""

import numpy as np

from .functions import M, N, X, Z


def decides(x):
    if x.numpy().sum() > 0 and not np.isnan(x.numpy()).any():
        return x * 2
    return x - 1


def item_decides(x):
    a = x.numpy()
    return x + 1 if a[0] > a[1] else x - 1


def stops_a_loop(x):
    n = 0
    while float(np.abs(x.numpy()).max()) < 10:
        x = x * 2 + 1
        n += 1
    return x, n


def leaves_a_loop(x):
    for k in range(4):  # noqa: B007 - read behind the loop
        x = x * 1.5
        if x.numpy().max() > 3:
            break
    return x, k


def counts_to(x):
    return [x * k for k in range(int(np.argmax(x.numpy())) + 1)], sum(range(np.argmax(x.numpy())))


def positions(x):
    parts = [x, x * 2, x * 3]
    return parts[int(np.argmax(x.numpy()))], parts[np.argmin(x.numpy())]


def items(x):
    total = 0
    for v in x.tolist():
        if v > 0:
            total += v
        else:
            total -= 1
    return total


def runs_without_blanks(x):
    out, before = [], -1
    for v in x.astype("int64").tolist():
        if v not in (before, 0):
            out.append(v)
        before = v
    return out


def rows(x):
    return [[v for v in row if v > 0] for row in x.tolist()], [max(row) for row in x.tolist()]


def counted(x):
    counts = {}
    for v in x.astype("int64").tolist():
        counts[v] = counts.get(v, 0) + 1
    return counts


def asked(x):
    values = x.tolist()
    return any(v > 2 for v in values), max(values), sorted(values), 2.0 in values, len(values)


def found(x):
    places = np.nonzero(x.numpy() > 0)[0]
    return len(places), places.size, [int(k) * 2 for k in places]


def numbers(x):
    a, n = x.numpy(), int(x.sum())
    return n * a, a + n, n - float(a.min()), isinstance(a, np.ndarray), bool(a.any()), round(float(a[0]), 1)


def scaled(x):
    length = float(np.linalg.norm(x.numpy()))
    return x / length if length > 1 else x


def words(x):
    whole = x.astype("int64").abs().tolist()
    return ",".join(str(v) for v in whole), "".join(map(chr, [97 + v for v in whole])), hex(whole[0]), bin(whole[1])


def raises(x):
    if x.numpy().max() > 2.5:
        raise ValueError(f"large: {float(x.numpy().max()):.2f}")
    assert (x.numpy() < 2.25).all(), "less"
    return x


def not_evaluated(x):
    places = np.nonzero(x.numpy() > 0)[0]
    if len(places) == 0:
        return x.sum() * 1.0
    return x[int(places[0])]


CASES = [
    *[(f, ((X,), (N,), (Z,), ([1.0, 1.0, 2.0, 0.0, 2.0, 2.0],))) for f in (
        decides, item_decides, stops_a_loop, leaves_a_loop, counts_to, items, runs_without_blanks, counted, asked,
        found, numbers, scaled, words, raises, not_evaluated,
    )],
    (positions, ((X,), (N,))),
    (rows, ((M,),)),
]  # fmt: skip
