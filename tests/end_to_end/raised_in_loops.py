"""`raise` and `assert` in loops that a tensor stops, in a `try` around them: what a turn raises leaves the loop."""

import vitrify as paddle

X, N, B, W, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [5.0, 6.0, 7.0], [30.0, 1.0, 1.0], [0.0, 0.0, 10.0]


def left_by_an_error(x):
    try:
        while x.sum() < 50:
            x = x * 2 + 1
            if x.max() > 20:
                raise ValueError("big")
    except ValueError:
        x = x - 1
    return x


def raised_again(x):
    try:
        while x.sum() < 50:
            x = x * 2 + 1
            if x.max() > 20:
                raise ValueError("big")
    except ValueError as e:
        x = x - 1
        if x.sum() > 60:
            raise RuntimeError("second") from e
    else:
        x = x * 10
    return x


def with_tensors(x):
    try:
        while x.sum() < 50:
            x = x * 2 + 1
            if x.max() > 20:
                raise ValueError("big", x)
    except ValueError as e:
        return e.args[1] * 2, e.args[0]
    return x


def with_text(x):
    try:
        for v in x:
            if v > 2:
                raise ValueError(f"big {v}")
            if v < -1:
                raise KeyError(v)
    except (ValueError, KeyError) as e:
        print("caught", e)
        raise
    return x


class Found(Exception):
    """Carries a tensor."""

    def __init__(self, value):
        super().__init__("found")
        self.value = value


def own_class_in_an_endless_loop(x):
    best = x
    try:
        while True:
            best = best * 1.5 + 1
            if best.sum() > 30:
                raise Found(best)
            elif best.sum() < -30:
                raise Found(-best)
    except Found as e:
        best = e.value
    return best


def last_of_several(x):
    last = None
    for i in range(4):
        try:
            while x.sum() < 10 * i:
                x = x + 1
                if x.max() > 8:
                    raise ValueError(i)
        except ValueError as e:
            last = e
            x = x - 7
    return x, None if last is None else str(last)


def asserted(x):
    try:
        while x.sum() < 50:
            x = x * 2 + 1
            assert x.max() < 20, "big"
    except AssertionError as e:
        return x, str(e)
    return x, ""


def asserted_alone(x):
    try:
        while x.sum() < 50:
            x = x * 2 + 1
            assert x.max() < 20
    except AssertionError:
        return x
    return -x


def classes_by_number(x):
    kinds = [ValueError, KeyError]
    try:
        for i, v in enumerate(x):
            if v > 1:
                raise kinds[i % 2](i)
    except LookupError as e:
        return x * e.args[0]
    except ValueError as e:
        return x - e.args[0]
    return x


def from_nested_loops(x):
    for a in x:
        try:
            for b in x:
                while b < 5:
                    b = b + a.abs() + 1
                    if a * b > 9:
                        raise KeyError("product")
                    if a * b < -3:
                        raise ValueError(a, b)
                else:
                    x = x + 1
                    if x.sum() > 40:
                        raise RuntimeError
        except KeyError:
            x = x * 2
        except ValueError as e:
            x = x - e.args[1]
        except RuntimeError:
            break
    return x


def finally_in_the_loop(x):
    log = []
    try:
        for v in x:
            try:
                if v > 2:
                    raise ValueError("v", v)
            finally:
                log.append(v)
    except ValueError as e:
        x = x * e.args[1]
    return x, paddle.stack(log)


def caused_by_another(x):
    try:
        for v in x:
            try:
                if v > 2:
                    raise ValueError("inner", v)
            except ValueError as e:
                raise RuntimeError("outer", v) from e
    except RuntimeError as e:
        return x * e.args[1] - e.__cause__.args[1] if isinstance(e.__cause__, ValueError) else x
    return x


def caught_in_a_handler(x):
    n = 0
    while n < 3:
        n += 1
        try:
            for v in x:
                if v > 2:
                    raise ValueError("big")
                x = x + 1
        except ValueError as e:
            x = x - 5
            try:
                if x.min() < -6:
                    raise KeyError("low") from e
            except KeyError as k:
                x = x * 0.5
                if x.sum() > 0:
                    raise RuntimeError("both") from k
        else:
            x = x * 2
    return x


CASES = [(f, ((X,), (N,), (B,), (W,), (Z,))) for f in (
    left_by_an_error, raised_again, with_tensors, with_text, own_class_in_an_endless_loop, last_of_several, asserted,
    asserted_alone, classes_by_number, from_nested_loops, finally_in_the_loop, caused_by_another,
    caught_in_a_handler,
)]  # fmt: skip
