"""`try` and `suppress` around what Python finds wrong on one path: a missing key, an index, a division."""

from contextlib import suppress

from .functions import N, X


def missing_key(x):
    d = {"a": x}
    try:
        if x.sum() > 0:
            y = d["b"]
        else:
            y = x + 1
    except KeyError:
        y = x * 10
    return y


def division_suppressed(x):
    y = x
    with suppress(ZeroDivisionError):
        if x.sum() > 0:
            y = y + 1 // 0
        y = y + 1
    return y


def index_in_a_loop(x):
    held = [x]
    try:
        for v in x:
            if v > 0:
                x = x + held[3]
            x = x + 1
    except IndexError:
        x = x * 2
    return x


def counted_by_key(x):
    counts = {"a": 1}
    for v in x:
        try:
            if v > 0:
                counts["a"] += 1
            else:
                counts["b"] += 1
        except KeyError as err:
            x = x * 2 + len(str(err))
    return x + counts["a"]


def key_deleted(x):
    d = {"a": x}
    try:
        if x.sum() > 0:
            del d["b"]
        x = x + 1
    except (KeyError, IndexError):
        return x * 7
    finally:
        d["c"] = x
    return x + d["c"]


def one_on_each_path(x):
    n = 0
    try:
        n = int("a") if x.sum() > 0 else 3 % n
    except ValueError:
        x = x * 2
    except ZeroDivisionError:
        x = x * 3
    return x + n


def looked_up(d, key, x):
    if x.sum() > 0:
        return d[key]
    return x


def in_a_called_function(x):
    try:
        y = looked_up({}, "q", x)
    except KeyError:
        y = x * 3
    return y


def several_suppressed(x):
    d = {"a": [x]}
    with suppress(KeyError, IndexError):
        if x.sum() > 0:
            x = d["a"][2]
        x = x + d["a"][0]
    with suppress(KeyError):
        x = x + looked_up(d, "n", x)
    return x


def another_raised(x):
    try:
        y = {}["b"] if x.sum() > 0 else x + 1
    except KeyError as err:
        raise ValueError("bad " + str(err)) from err
    return y


def passed_by(x):
    try:
        y = {}["b"] if x.sum() > 0 else x + 1
    except IndexError:
        y = x
    return y


def cleaned_up_behind(x):
    log = []
    try:
        y = {}["b"] if x.sum() > 0 else x + 1
    finally:
        log.append(x)
    return y


def operands_beside_it(x):
    steps = []
    try:
        y = x[0] ** 2 + x / 2 if x.sum() > 0 else x * (steps[len(steps)] / 2)
    except IndexError:
        y = x[0] + x[1] ** 2
    return y


def index_in_a_while_loop(x):
    held = [x]
    try:
        while x.sum() > -20:
            x = x - 1
            if x.sum() < 0:
                held.pop(4)
    except IndexError:
        x = x * 2
    else:
        x = x + 100
    return x


def key_in_nested_loops(x):
    d, n = {}, 0
    while x.sum() > -9:
        n += 1
        try:
            for v in x:
                while x.sum() > 2:
                    x = x - v if n < 3 else x + d["k"]
                    x = x - 1
        except KeyError as err:
            x = x * 2 - len(str(err))
        x = x - 2
    return x + n


FUNCTIONS = (
    missing_key, division_suppressed, index_in_a_loop, counted_by_key, key_deleted, one_on_each_path,
    in_a_called_function, several_suppressed, another_raised, passed_by, cleaned_up_behind, operands_beside_it,
    index_in_a_while_loop, key_in_nested_loops,
)  # fmt: skip
CASES = [(f, [(X,), (N,), ([1.0, -3.0, 4.0],)]) for f in FUNCTIONS]
