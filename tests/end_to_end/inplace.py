"""In-place changes of temporaries, arguments and views."""

from .functions import N, X


def setitem_mask(x):
    y = x * 1
    y[y < 0] = 0.0
    return y


def slices(x):
    y = x * 1
    y[:2] = y[1:] * 3
    y[-1] += 5
    return y[::2]


def setitem_dyn(x):
    y = x * 0
    i = 0
    while i < 3 and y.sum() < 100:
        y[i] = x[i] * i
        i = i + 1
    return y


def inplace_chain(x):
    y = x.clone()
    y.multiply_(y).add_(x)
    if y.sum() > 3:
        y.subtract_(x)
    return y


def inplace_arg(x, y):
    y.add_(x)
    return y * 2


CASES = [
    *[(f, ((X,), (N,))) for f in (
        setitem_mask, slices, setitem_dyn, inplace_chain,
    )],
    *[(f, ((X, N),)) for f in (
        inplace_arg,
    )],
]  # fmt: skip
