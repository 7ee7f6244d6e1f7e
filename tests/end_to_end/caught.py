"""`raise` and `assert` that a tensor decides, caught by a `try` around them in the same function."""

P, N, S = [1.0, 2.0], [-1.0, -2.0], [-0.5, 0.25]


def try_raise(x):
    try:
        if x.sum() > 0:
            raise ValueError("pos")
        y = x * 2
    except ValueError:
        y = x * 3
    return y


def try_raise_as(x):
    try:
        if x.sum() > 0:
            raise ValueError("pos")
        y = x * 2
    except ValueError as e:
        print(e)
        y = x * 3
    else:
        y = y + 1
    finally:
        print("done")
    return y


def try_two(x):
    try:
        if x.sum() > 0:
            raise ValueError("pos")
        if x.min() < -1:
            raise KeyError("k")
        y = x * 2
    except ValueError:
        y = x * 3
    except (KeyError, IndexError):
        y = x * 4
    return y


def try_loop(x):
    n = 0
    while n < 3:
        n += 1
        try:
            if x.sum() > n:
                raise RuntimeError
        except RuntimeError:
            x = x - 1
            continue
        x = x + 1
    return x


def try_assert(x):
    try:
        assert x.sum() > 0, "neg"
    except AssertionError:
        x = x * 2
    return x


def try_reraise(x):
    try:
        try:
            if x.sum() > 0:
                raise ValueError("pos")
        except ValueError:
            raise KeyError("other")  # noqa: B904
    except KeyError:
        return x * 7
    return x


def try_pass(x):
    try:
        if x.sum() > 0:
            raise ValueError("pos")
    except KeyError:
        return x
    return x * 2


def try_finally(x):
    y = x
    try:
        if x.sum() > 0:
            raise ValueError("pos")
    finally:
        print("bye")
    return y


def name_is_unset_behind_the_handler(x):
    e = 3.0
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    except ValueError as e:
        print(e.args)
    return x * e


def class_raised_in_nested_loops(x):
    total = x * 0
    try:
        for row in (x, x + 1):
            for value in row:
                if value > 2:
                    raise StopIteration
                total = total + value
            total = total * 2
    except StopIteration:
        total = total - 1
    else:
        total = total + 100
    return total


def raised_in_a_handler(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        x = x + 1
    except ValueError:
        if x.max() > 1:
            raise KeyError("large") from None
    return x


def python_decides(x, n=2):
    try:
        if n > 1:
            raise ValueError(n)
        return x
    except (KeyError, ValueError) as err:
        return x * err.args[0]
    finally:
        print("done")


def return_in_the_body(x):
    for i in range(3):
        try:
            if x.sum() > i:
                raise ValueError
            if x.min() < -1.5:
                return x * 5
        except ValueError:
            x = x - 1
    return x


class Refused(Exception):
    def __init__(self, reason, code=3):
        super().__init__(reason)
        self.code = code


def own_class(x):
    try:
        if x.sum() > 0:
            raise Refused("positive", code=5)
        if x.min() < -1:
            raise Refused("negative")
    except Refused as refused:
        return x * refused.code
    return x


CASES = [(f, ((P,), (N,), (S,))) for f in (
    try_raise, try_raise_as, try_two, try_loop, try_assert, try_reraise, try_pass, try_finally,
    name_is_unset_behind_the_handler, class_raised_in_nested_loops, raised_in_a_handler, python_decides,
    return_in_the_body, own_class,
)]  # fmt: skip
