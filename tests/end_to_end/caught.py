"""`raise` and `assert` that a tensor decides, caught by a `try` around them in the same function."""

import contextlib
from contextlib import suppress

import vitrify as paddle

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


def left_by_break_and_continue(x):
    for i in range(4):
        try:
            if x.sum() > 2.5:
                break
            if x.min() < -1.5:
                x = x + 0.3
                continue
            if x.max() > 1:
                raise ValueError(i)
            x = x * 1.5
        except ValueError as err:
            print(err.args[0])
            x = x * 0.5 + 0.75
            if i == 2:
                continue
        else:
            print("else")
            x = x - 0.1
        finally:
            print("finally")
        x = x + 0.2
    else:
        print("through")
    return x


def left_while_searching(x):
    found = x * 0
    i = 0
    while True:
        try:
            i += 1
            for value in x:
                if value > i:
                    raise LookupError
                if value < -1.5:
                    break
            else:
                found = found + 10
                break
            found = found - 1
            if i > 2:
                break
        except LookupError:
            found = found + 1
    return found * i


def handler_with_scopes_of_its_own(x):
    y = x
    try:
        if x.sum() > 0:
            raise ValueError("positive", 2.0)
    except ValueError as err:
        for value in [part * 0.5 for part in (x, y) if len(err.args) == 2]:
            y = y + value

        def scale(v):
            return v * err.args[1]  # noqa: F821

        y = scale(y)
    return y


def handler_whose_function_has_its_name(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive", 2.0)
        return x
    except ValueError as err:

        def scale(err):
            return x * err

        return scale(err=err.args[1])


def raised_from(x):
    cause = KeyError("cause")
    try:
        if x.sum() > 0:
            raise ValueError("positive") from cause
        if x.min() < -1:
            raise ValueError from None
    except ValueError as err:
        print(repr(err.__cause__))
        return x * 2
    return x


def raised_variable(x):
    error = ValueError("positive")
    kind = KeyError
    try:
        if x.sum() > 0:
            raise error
        if x.min() < -1:
            raise kind
    except (ValueError, KeyError) as err:
        print(type(err), err is error)
        return x * 2
    return x


class Fault(Exception):
    pass


def own_class_by_its_name(x):
    try:
        if x.sum() > 0:
            raise Fault
    except Fault:
        return x * 2
    return x


def suppressed(x):
    with suppress(ValueError):
        if x.sum() > 0:
            raise ValueError("pos")
        x = x * 2
    return x


def suppressed_and_left(x):
    for i in range(3):
        with contextlib.suppress(ValueError, KeyError):
            if x.sum() > i:
                raise KeyError(i)
            if x.sum() < -2:
                break
            x = x * 2
            continue
        x = x - 1
    return x


def suppressed_is_another(x):
    try:
        with suppress(KeyError):
            if x.sum() > 0:
                raise ValueError("pos")
            if x.min() < -1:
                raise KeyError("k")
            x = x * 2
        x = x + 1
    except ValueError:
        x = x * 10
    return x


def a_suppress_of_ones_own(x):
    suppress = contextlib.nullcontext
    with suppress(ValueError):
        if x.sum() > 0:
            raise ValueError("pos")
    return x


def raised_under_a_mode(x):
    for i in range(3):
        try:
            with paddle.no_grad():
                if x.sum() > i:
                    raise ValueError(i)
                if x.sum() < -2:
                    break
                y = x * 2
            x = x + y
        except ValueError as err:
            print(err)
            x = x - 1
    return x


CASES = [(f, ((P,), (N,), (S,))) for f in (
    try_raise, try_raise_as, try_two, try_loop, try_assert, try_reraise, try_pass, try_finally,
    name_is_unset_behind_the_handler, class_raised_in_nested_loops, raised_in_a_handler, python_decides,
    return_in_the_body, own_class, left_by_break_and_continue, left_while_searching, handler_with_scopes_of_its_own,
    handler_whose_function_has_its_name, raised_from, raised_variable, own_class_by_its_name,
    suppressed, suppressed_and_left, suppressed_is_another, a_suppress_of_ones_own, raised_under_a_mode,
)]  # fmt: skip
