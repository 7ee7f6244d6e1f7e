"""`try` around calls of functions that a tensor lets raise: caught, passed on, cleaned up after, as in eager code."""

import vitrify as paddle

from .functions import N, X


class CodeError(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def checked(x, limit=2):
    if x.sum() > limit:
        raise ValueError("big")
    return x * 2


def checked_twice(x):
    y = checked(x)
    if y.sum() < -3:
        raise KeyError("negative")
    return checked(y, 20) + 1


def counted(x):
    for i in range(3):
        if x.sum() > 5:
            raise CodeError(i)
        x = x + 1
    return x


class Stepper:
    def __init__(self, x):
        self.x = x
        self.steps = 0
        self.log = []

    def step(self, k):
        self.steps += 1
        if self.x.sum() > 4:
            raise CodeError(k)
        self.x = self.x + k
        return self.x

    def __call__(self, k):
        return self.step(k)

    def add(self, x):
        if x.sum() < 0:
            raise ValueError("negative")
        self.x = self.x + x
        self.log.append(x)


def through_two_calls(x):
    try:
        y = checked_twice(x)
    except ValueError:
        y = x * 3
    except KeyError:
        y = x * 5
    return y


def with_else(x):
    try:
        y = checked_twice(x)
    except KeyError:
        y = x * 3
    except ValueError:
        y = x
    else:
        y = y * 5
    return y


def several_in_one_expression(x):
    try:
        a = checked(x) + checked(x * 2, limit=3) * len([x, x])
    except ValueError as err:
        return x * 10, str(err)
    return a, "ok"


def in_a_loop(x):
    out = []
    for _ in range(3):
        try:
            out.append(checked(x))
        except ValueError:
            out.append(x * 100)
        x = x + 1
    return out


def attribute_of_the_error(x):
    try:
        return counted(x)
    except CodeError as err:
        return x * err.code


def method_in_a_loop(x):
    stepper = Stepper(x)
    try:
        for k in range(4):
            stepper.step(k)
    except CodeError as err:
        code = err.code
    else:
        code = -1
    return stepper.x, stepper.steps, code


def callable_object(x):
    stepper = Stepper(x)
    try:
        stepper(1)
        stepper(2)
    except CodeError:
        x = x - 1
    finally:
        stepper.steps += 10
    return stepper.x, stepper.steps, x


def another_raised_in_handler(x):
    def guarded(z):
        try:
            return checked(z)
        except ValueError:
            z = z + 1
        raise KeyError("k")

    try:
        return guarded(x)
    except KeyError:
        return x * 7


def assertion(x):
    def small(z):
        assert z.sum() < 3, "no"
        return z * 2

    try:
        return small(x)
    except AssertionError:
        return x * 7


def in_a_condition(x):
    try:
        if checked(x).sum() > 1:
            y = 1
        else:
            y = 2
    except ValueError:
        y = 3
    return x * y


def behind_and(x):
    try:
        y = x.sum() > 1 and checked(x, 4).sum() > 0
    except ValueError:
        y = x.sum() > 100
    return x * 2 if y else x * 3


def conditional_expression(x):
    try:
        return checked(x) if x.sum() > 1 else x
    except ValueError:
        return x * 5


def only_finally(x):
    log = []
    try:
        y = checked(x, 100)
    finally:
        log.append(x)
    return y, log


def not_caught(x):
    try:
        return checked(x)
    except KeyError:
        return x


def raised_again(x):
    try:
        checked(x)
    except ValueError:
        print("caught")
        raise
    return x


def raised_from(x):
    try:
        checked(x)
    except ValueError as err:
        raise KeyError("z") from err
    return x


def leaves_the_loop(x):
    i = 0
    while i < 5:
        try:
            x = checked(x, 8)
        except ValueError:
            break
        i += 1
    else:
        i = 100
    return x, i


def tried_again(x):
    def retry(function, count):
        for i in range(count):
            try:
                return function(x - i * 4)
            except ValueError:
                pass
        raise RuntimeError("gave up")

    return retry(checked, 3)


def objects_that_refuse(x):
    total = Stepper(x * 0)
    for v in (x, x * 2, x - 2):
        try:
            total.add(v)
        except ValueError:
            total.x = total.x - v
    return total.x, total.log


def order_of_evaluation(x):
    seen = []

    def noted(k, z):
        seen.append(k)
        if z.sum() > 5:
            raise ValueError("large")
        return z + k

    try:
        y = noted(1, x) * seen[-1] + noted(2, x * 0.5)
    except ValueError:
        y = x
    return y, paddle.to_tensor(len(seen))


class Refused(Exception):
    def __init__(self, value, *more):
        super().__init__(value)
        self.value = value


def told(x):
    if x.sum() > 2:
        raise ValueError(f"{float(x.sum()):.1f} is too much", x.sum())
    return x


def refuses(x, k=1):
    if x.sum() > 2:
        if x.max() > 4:
            raise Refused(x * k, k)
        raise KeyError(x.sum())
    return x * 2


def tensor_of_the_error(x):
    try:
        return told(x)
    except ValueError as err:
        return x - err.args[1]


def text_of_the_error(x):
    try:
        return told(x), "none"
    except ValueError as err:
        return x, str(err.args[0])


def several_errors_of_tensors(x):
    try:
        x = refuses(x, 3)
    except Refused as err:
        x = x - err.value
    except KeyError as err:
        x = x - err.args[0] * 2
    return x


def one_of_several_errors(x):
    try:
        x = refuses(x)
    except KeyError as err:
        x = x - err.args[0] * 2
    return x


def another_error_of_its_tensor(x):
    try:
        return refuses(x)
    except KeyError as err:
        raise Refused(err.args[0]) from err


def errors_of_tensors_in_a_loop(x):
    i = 0
    while i < 3:
        try:
            x = refuses(x)
        except Refused as err:
            x = x - err.value
            break
        except KeyError:
            x = x - 1
        i += 1
    return x, i


def error_kept(x):
    kept = None
    try:
        x = refuses(x)
    except (Refused, KeyError) as err:
        kept = err
    return x if kept is None else x * 7


def more_calls_than_kinds(x):
    """Each call makes an exception of its own; there are more of them than a value may have kinds."""
    try:
        a, b, c = checked(x), checked(x * 0.5), checked(x, 30)
        d, e, f = checked(-x), checked(a, 9), checked(b, 8)
        g, h, i = checked(c, 90), checked(d), checked(e, 40)
        return a + b + c + d + e + f + g + h + i + checked(f, 7)
    except ValueError as err:
        return x * 7, str(err)


BIG, SMALL = ([40.0, 2.0, 3.0],), ([0.1, 0.2, 0.1],)
CALLS = [(X,), (N,), SMALL, BIG]
CASES = [
    (fn, CALLS)
    for fn in (
        through_two_calls, with_else, several_in_one_expression, in_a_loop, attribute_of_the_error,
        method_in_a_loop, callable_object, another_raised_in_handler, assertion, in_a_condition,
        behind_and, conditional_expression, not_caught, raised_again, raised_from, leaves_the_loop, tried_again,
        objects_that_refuse, order_of_evaluation, only_finally,
        tensor_of_the_error, text_of_the_error, several_errors_of_tensors, one_of_several_errors,
        another_error_of_its_tensor, errors_of_tensors_in_a_loop, error_kept, more_calls_than_kinds,
    )
]  # fmt: skip
