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


def shape_of_reshaped(x):
    y = x * 2
    y.unsqueeze_(0)
    z = x * 3
    z.unsqueeze_(-1).reshape_([1, -1, 1])
    z.add_(z)
    return y.shape, y.ndim, y.transpose([1, 0]), z.shape, z, len(z)


def reshaped_in_branch(x):
    y = x * 2
    if x.sum() > 0:
        y.unsqueeze_(0)
    else:
        y.reshape_([1, 3])
        y.add_(y)
    return y.shape, y.flatten_().shape, y


def reshaped_over_and_over(x):
    y = x * 2
    for _ in range(3):
        y.unsqueeze_(0)
        y[..., 0] = 1.0
    return y, y.squeeze_(), y.ndim


def set_in_loops_with_breaks(x):
    """What the outer loop carries may be what the inner one began with: the change is then told to itself."""
    y = x * 1
    turn = 0
    while True:
        turn += 1
        if turn > 2:
            break
        for _ in range(2):
            count = 0
            while True:
                count += 1
                if count > 3:
                    return x
                if turn % 2 == 0:
                    y[1:] = 0.5
                elif x[0] >= 0:
                    break
    return y


def leaf_on_one_path(x, y):
    """Only the path taken can say that a leaf which wants a gradient may not be changed."""
    if x.sum() > 0:
        y[0] = 1.5
    return x * y


def leaf_through_a_view(x, y):
    """The leaf stays one: its gradient is that of its content."""
    before = y.sum()
    v = y[1:]
    v[0] = x.sum()
    return before * 3 + v.sum() + (y * x).sum()


CASES = [
    *[(f, ((X,), (N,))) for f in (
        setitem_mask, slices, setitem_dyn, inplace_chain, set_in_loops_with_breaks,
        shape_of_reshaped, reshaped_in_branch, reshaped_over_and_over,
    )],
    *[(f, ((X, N),)) for f in (
        inplace_arg,
    )],
    *[(f, ((N, X), (X, N))) for f in (
        leaf_on_one_path, leaf_through_a_view,
    )],
]  # fmt: skip
