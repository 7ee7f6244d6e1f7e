"""`return`, `break` and `continue` in `finally`, where a tensor decides: what was on its way is dropped."""

# ruff: noqa: B012 - jumps in `finally` are what this is about

import vitrify as paddle

X, N, B, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [5.0, 6.0, 7.0], [0.5, 0.5, 0.5]


def always_breaks(x):
    while x.sum() < 100:
        try:
            x = x * 2
        finally:
            break
    return x


def breaks_if(x):
    n = 0
    while x.sum() < 100:
        try:
            x = x * 2 + 1
            if n > 8:
                raise ValueError("late")
        finally:
            n += 1
            if x.sum() > 20:
                break
    return x, n


def returns_if(x):
    try:
        if x.sum() > 5:
            raise ValueError("a")
        x = x * 2
    finally:
        if x.sum() > 8:
            return x + 1
    return x - 1


def another_result(x):
    try:
        return x * 2
    finally:
        if x.sum() > 3:
            return x + 1


def continues_if(x):
    out = []
    for v in x:
        try:
            if v > 2:
                raise ValueError("big")
            out.append(v * 2)
        finally:
            if v > 1:
                continue
        out.append(v)
    return paddle.stack(out)


def python_decides(x):
    for i in range(5):
        try:
            x = x + 1
            if i == 2:
                raise KeyError("k")
        finally:
            if i == 2:
                break
    return x


def nested(x):
    for v in x:
        try:
            try:
                if v > 2:
                    raise ValueError("a")
                elif v > 1:
                    return x * 2
            except ValueError:
                if v > 5:
                    raise KeyError("k") from None
                x = x + 1
            else:
                x = x - 1
            finally:
                if v > 6:
                    continue
                if v < 0:
                    break
        finally:
            print("outer", v)
            if x.sum() > 100:
                return x
    else:
        return x * 100
    return x


def endless(x):
    n = 0
    while True:
        n += 1
        try:
            if x.sum() > 20:
                return x, n
            if x.sum() > 10:
                raise ValueError("v")
            x = x * 2 + 1
            if n > 3:
                break
            continue
        finally:
            if n > 6:
                return x - 1, n
            if x.sum() > 15:
                x = x + 5
                continue
    return x, -n


def returned_from_nested_loops(x):
    try:
        for v in x:
            for w in x:
                if v * w > 5:
                    return v + w
    finally:
        if x.sum() > 10:
            return x.max()
    return x.sum()


def check(x):
    if x.sum() > 3:
        raise KeyError("deep")
    return x + 1


def raised_in_a_call(x):
    for i in range(3):
        try:
            x = check(x)
        finally:
            if x.sum() > 10 or i > 0:
                continue
    return x


def raises_itself(x):
    try:
        if x.sum() > 3:
            raise ValueError("first")
    finally:
        if x.sum() > 10:
            raise RuntimeError("second")
        if x.sum() < 0:
            return x * 7
    return x


def caught_outside(x):
    def helper(y):
        try:
            if y.sum() > 3:
                raise ValueError("h")
            return y
        finally:
            if y.sum() > 10:
                return y * 0

    try:
        return helper(x) + 1
    except ValueError:
        return x - 1


def under_a_mode(x):
    for v in x:
        with paddle.no_grad():
            try:
                y = v * 2
                if y > 3:
                    continue
            finally:
                if y > 8:
                    break
        x = x + y
    return x


def asserts(x):
    for i in range(3):
        try:
            assert x.sum() < 10, f"big {x.sum()}"
            x = x * 2
        finally:
            if i == 1:
                continue
            print("final", i)
    return x


CASES = [(f, ((X,), (N,), (B,), (Z,))) for f in (
    always_breaks, breaks_if, returns_if, another_result, continues_if, python_decides, nested, endless,
    returned_from_nested_loops, raised_in_a_call, raises_itself, caught_outside, under_a_mode, asserts,
)]  # fmt: skip
