"""try, with and jumps through them, in code that tensors decide."""

import contextlib

import vitrify as paddle

from .functions import N, X, Z


class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *args):
        self.log.append("out")
        return self.swallow


def swallowing_with(x):
    log = []
    with Manager(log) as a, Manager(log, True) as b:
        if x.sum() > 0:
            y = x * 2
        else:
            y = x
        raise ValueError
    return y, len(log), a is b


def swallowed_midway(x):
    total = x * 0
    with Manager([], True):
        for i in range(3):
            total = total + x
            if i == 1:
                raise KeyError
    return total


class Counter:
    def __init__(self):
        self.entered = self.left = 0

    def __enter__(self):
        self.entered += 1

    def __exit__(self, *args):
        self.left += 2


def with_break(x):
    counter = Counter()
    for _i in range(4):
        with counter:
            x = x + 1
            if x.sum() > 9:
                break
            if x.sum() > 5:
                continue
        x = x * 1.5
    return x, counter.entered, counter.left


def with_return(x):
    with paddle.no_grad():
        for i in range(4):
            if x.sum() > 6:
                return x * i
            x = x + 1
    return x


def with_targets(x):
    d = {}
    with contextlib.nullcontext((x, [x * 2, 3])) as (d["a"], (b, *d["c"])):
        if x.sum() > 0:
            b = b + d["a"]
    return b, d["a"], d["c"]


def no_grad_in_branch(x):
    if x.sum() > 0:
        with paddle.no_grad():
            y = x * 2
        z = x * y
    else:
        z = x * 3
    return z


def no_grad_in_loop(x):
    y = x
    while y.sum() < 20:
        with paddle.no_grad():
            k = y.abs().max() + 1
        y = y * k + 1
        if y.max() > 50:
            break
    return y


def set_grad_enabled(x):
    for i in range(3):
        with paddle.set_grad_enabled(i == 1):
            x = x * 2 if x.sum() > 0 else x * 3
    return x


def decorated_no_grad(x):
    @paddle.no_grad()
    def k(v):
        if v.sum() > 0:
            return v * 2
        return v

    return k(x) * x


def enabled_in_disabled(x):
    with paddle.no_grad():
        with paddle.enable_grad():
            if x.sum() > 0:
                y = x * 2
            else:
                y = x * 3
        z = y * 2
    return y, z


def finally_always(x):
    try:
        if x.sum() > 0:
            return x * 2
    finally:
        print("bye")
    return x * 3


def suppressed(x):
    with contextlib.suppress(KeyError):
        if x.sum() > 0:
            x = x * 2
        {}["a"]
    return x


def caught_python_error(x, key):
    try:
        scale = {"a": 2}[key]
        n = int("7" if key == "a" else key)
    except KeyError as err:
        scale, n = 3, len(err.args)
    except (TypeError, ValueError):
        scale, n = 4, 4
    else:
        scale += 1
    if x.sum() > 0:
        x = x * scale
    return x + n


def caught_shape_error(x):
    try:
        y = x + paddle.ones([7])
    except Exception:  # noqa: BLE001
        y = x * 2
    if y.sum() > 0:
        return y
    return -y


def remainders_under_a_handler(x):
    n = 0
    try:
        while n < 7 and x.sum() < 9:
            n += 1
            if n % 3 or n // 2 == 1:
                x = x + n % 4 * 0.5
    except Exception:  # noqa: BLE001
        n = -1
    return x, n


def autocast_in_branch(x):
    if x.sum() > 0:
        with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
            y = paddle.matmul(x.unsqueeze(0), x.unsqueeze(1))
    else:
        y = paddle.matmul(x.unsqueeze(0), x.unsqueeze(1)) * 2
    return y.astype("float32")


def return_in_finally(x):
    try:
        raise ValueError
    finally:
        return x * 2  # noqa: B012


class Half:
    def __init__(self, value):
        self.value = value * 0.5


def error_that_one_path_may_have_raised(x):
    found = []
    low = float(x.min())
    try:
        if x.mean() >= 0.5:
            if x.sum() >= 1:
                assert x.sum() < 1000, f"it is {x.max()}"
            if low > 0:
                Half(x)
        else:
            found.append(x.mean())
    except ValueError:
        pass
    finally:
        found.append(x.sum())
    return found


CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        swallowing_with, swallowed_midway, with_break, with_return, with_targets, no_grad_in_branch, no_grad_in_loop,
        set_grad_enabled, decorated_no_grad, enabled_in_disabled, finally_always, suppressed, caught_shape_error,
        autocast_in_branch, return_in_finally, remainders_under_a_handler, error_that_one_path_may_have_raised,
    )],
    (caught_python_error, ((X, "a"), (X, "b"), (N, "a"))),
]  # fmt: skip
