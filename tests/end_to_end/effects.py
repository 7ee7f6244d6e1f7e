# ruff: noqa: UP031, UP032, B011
"""What functions show and raise while they run: prints, asserts, exceptions and text made of tensors, in order."""

import collections
import dataclasses
import logging
import sys

import vitrify as paddle

from .functions import M, N, X, Z

Pair = collections.namedtuple("Pair", "first second")
LOG = logging.getLogger("vitrify.tests.effects")


@dataclasses.dataclass
class Point:
    x: object
    y: int = 2


class Named:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Named({self.value})"


class Labelled(Named):
    def __str__(self):
        return "labelled " + str(self.value)


class CodeError(ValueError):
    def __init__(self, value, code=3):
        super().__init__(f"code {code}: {value}")
        self.code = code
        self.value = value


class Plain(RuntimeError):
    pass


# -- raise ------------------------------------------------------------------------------------------------------------


def guard_clause(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


def guard_clauses(x):
    if x.sum() < 0:
        raise ValueError("negative")
    if x.max() > 2.5:
        raise KeyError("large")
    if x.min() == 0:
        raise Plain
    return x * 2


def raise_in_else(x):
    if x.sum() > 0:
        y = x * 3
    else:
        raise Plain("not positive")
    return y


def raise_in_both(x):
    if x.sum() > 0:
        raise ValueError("positive")
    else:
        raise TypeError("not positive")


def raise_in_elifs(x):
    s = x.sum()
    if s > 3:
        y = x * 2
    elif s > 0:
        raise ValueError("small")
    elif s < -2:
        raise KeyError("very negative")
    else:
        y = x
    return y


def raise_keeps_python_values(x):
    if x.sum() > 0:
        mode, values, nothing = "up", [x, 1], None
    else:
        raise ValueError("down")
    return mode, values, nothing


def raise_message(x):
    if x.sum() < 0:
        raise ValueError(f"sum is {x.sum():.2f}, first {x[0]!r}")
    return x


def raise_many_args(x):
    if x.sum() < 0:
        raise ValueError("sum", x.sum(), [x[0], 1], {"k": x})
    return x


def raise_custom(x):
    if x.sum() < 0:
        raise CodeError(x.sum(), code=7)
    return x


def raise_from(x):
    if x.sum() < 0:
        raise Plain("outer") from KeyError("inner")
    return x


def raise_from_error_of_a_path(x):
    try:
        if x.sum() < 0:
            raise CodeError(x, code=7)
    except CodeError as err:
        raise Plain("outer") from err
    return x


def text_of_key_error(x):
    err = None
    if x.sum() < 0:
        err = KeyError(x.sum())
    if err is not None:
        print("no", err, repr(err))
    return x


def raise_from_none(x):
    try:
        {}["a"]
    except KeyError:
        if x.sum() < 0:
            raise Plain("outer") from None
    return x


def raise_object_made_before(x):
    err = CodeError("early", 5)
    err.extra = [1, 2]
    y = x * 2
    if y.sum() < 0:
        raise err
    return y


def raise_class_alone(x):
    if x.sum() < 0:
        raise Plain
    return x


def reraise(x):
    try:
        int("a")
    except ValueError:
        if x.sum() < 0:
            raise
    return x


def raise_nested(x):
    if x.sum() < 0:
        if x.min() < -1.5:
            raise ValueError("far")
        x = x + 1
    return x


def raise_nested_else(x):
    if x.sum() < 0:
        if x.min() < -1.5:
            y = x * 2
        else:
            raise ValueError("near")
    else:
        if x.max() > 2:
            raise KeyError("big")
        y = x * 3
    return y


def raise_in_while(x):
    n = 0
    while x.sum() < 20:
        x = x * 2
        n += 1
        if n > 3:
            raise RuntimeError(f"no end after {n}: {x.sum():.1f}")
    return x


def raise_in_for(x):
    total = paddle.zeros([])
    for row in x:
        if row.sum() < 0:
            raise ValueError(f"row {row.tolist() if False else row.sum()}")
        total = total + row.sum()
    return total


def raise_in_for_range(x):
    for i in range(int(x.sum())):
        if x[0] + i > 5:
            raise ValueError(f"at {i}")
        x = x + i
    return x


def loop_always_raises(x):
    while x.sum() > 0:
        raise ValueError("first iteration")
    return x + 1


def raise_in_loop_else(x):
    while x.sum() > 0:
        if x.sum() > 5:
            break
        x = x - 10
    else:
        raise Plain("no break")
    return x


def helper_raises(x):
    def check(v):
        if v.min() < -1.5:
            raise ValueError(f"check failed for {v.min()}")
        return v

    if x.sum() < 1:
        x = check(x) + 1
    return check(x)


def raise_in_ternary(x):
    def fail():
        raise Plain("ternary")

    return x if x.sum() > 0 else fail()


def raise_behind_and(x):
    def fail():
        raise Plain("behind and")

    return x * 2 if x.sum() > 0 or fail() else x


def raise_in_python_branch_of_tensor_branch(x, strict):
    if x.sum() < 0:
        if strict:
            raise ValueError("strict")
        x = -x
    return x


def caught_in_the_branch(x):
    if x.sum() < 0:
        try:
            raise ValueError("caught")
        except ValueError as err:
            x = x + len(err.args)
        finally:
            x = x * 2
    return x


def finally_in_the_branch(x):
    if x.sum() < 0:
        try:
            print("try")
            raise ValueError("passes")
        finally:
            print("finally")
    return x


def other_handler_around(x):
    try:
        if x.sum() < 0:
            raise ValueError("not a key")
    except KeyError:
        x = x + 1
    return x


def key_error_in_branch(x):
    table = {"a": 1}
    if x.sum() < 0:
        x = x + table["missing"]
    return x


def index_errors_in_branches(x):
    items, table = [x], {"a": x}
    if x.sum() < 0:
        items[len(items)] = x * 2
    if x.max() > 2:
        del table["b"]
    if x.min() == 0:
        items.pop(3)
    return items[0]


def zero_division_in_branch(x):
    count = 0
    if x.sum() < 0:
        x = x / (1 // count)
    return x


def raise_after_prints(x):
    print("one", x.sum())
    print("two")
    raise ValueError("end")


def raise_text_at_the_end(x):
    raise ValueError(f"always {x.sum()}")


def raise_with_gradient(x):
    y = x * x
    if y.sum() > 100:
        raise ValueError("large")
    while y.sum() < 50:
        y = y * 2
        if y.max() > 1000:
            raise ValueError("diverged")
    return y


# -- assert -----------------------------------------------------------------------------------------------------------


def assert_text(x):
    assert x.sum() > 0, f"sum {x.sum()} of {x}"
    return x


def assert_plain(x):
    assert x.sum() > 0
    return x


def assert_object(x):
    assert x.sum() > 0, ("code", 3)
    return x


def said(text):
    print("said", text)
    return text


def assert_lazy(x):
    assert x.sum() > 0, said(f"sum {x.sum()}")
    return x


def assert_false_in_branch(x):
    if x.sum() < 0:
        assert False, f"reached with {x.sum()}"
    return x


def assert_in_loop(x):
    i = 0
    while x.sum() < 20:
        assert i < 2, f"i is {i}"
        x = x * 2
        i += 1
    return x


# -- print ------------------------------------------------------------------------------------------------------------


def print_kinds(x):
    print(x, x.sum(), 1, "a", None, True, sep=" | ", end=" end\n")
    print()
    print(x, flush=True)
    return x


def print_containers(x):
    print([x, 1], (x,), {"a": x, 2: [x.sum()]}, {1})
    print(Pair(x, 2), Point(x), [Point(x.sum(), 3)])
    return x


def print_objects(x):
    print(Named(x), [Named(x.sum())], Labelled(2), Labelled(x), f"{Labelled(x)!r} {Labelled(x)}")
    return x


def print_numbers(x):
    print(x.sum().item(), float(x.max()), int(x.sum()), x.shape, len(x), x.sum().item() * 3, x[0].item() / 3)
    return x


def print_count(x):
    n, low = 0, 1.5
    while x.sum() < 20:
        x = x * 2
        n += 1
        low = low / 3
        print(n, low)
    print("after", n, n + 1, n / 2, n > 2, -n, low)
    return x


def print_chosen(x):
    if x.sum() > 0:
        n, f = 1, 0.1
    else:
        n, f = 2, 0.2
    print(n, f, f * 3)
    return x * f


def print_range(x):
    for i in range(int(x.sum())):
        print(i, i * 2)
    for i, row in enumerate(x):
        print(i, row)
    return x


def print_in_branches(x):
    print("before")
    if x.sum() > 0:
        print("positive", x.sum())
    else:
        print("negative", x.sum())
    print("after")
    return x


def print_before_change(x):
    text = f"{x}"
    x = x + 1
    y = x.clone()
    seen = str(y)
    y.add_(paddle.ones([3]))
    print(text, seen, y)
    return y


def print_order(x):
    for i in range(3):
        print("start", i)
        if x.sum() < i:
            print("stop", i)
            raise ValueError(f"at {i}")
        assert x.min() > -1.5, f"low {i}"
        print("end", i)
    return x


def print_to_stdout(x):
    print("out", x.sum(), file=sys.stdout)
    return x


def print_bad_separator(x):
    print(x, sep=3)
    return x


def print_under_and(x):
    def show(v):
        print("asked", v.sum())
        return v.sum() > 1

    return x * 2 if x.min() > 0 and show(x) else x


# -- text -------------------------------------------------------------------------------------------------------------


def text_format_specs(x):
    s, width = x.sum(), 12
    print(f"{s:.3f}|{s:>10.2f}|{s:{width}.1f}|{s!r:>5}|{s!s}|{3:>4}|{'a'!r:^7}|{x.sum().item():+.2e}")
    print(f"{s=}", f"{s = :.1f}", f"{{}} {s:.0f}%")
    return x


def text_functions(x):
    s = x.sum()
    print(str(s), repr(s), format(s, ".2f"), format(3, "04d"), "{:.1f} {}".format(s, 2), "{a:.2f}".format(a=s))
    return x


def text_percent(x):
    s = x.sum()
    print("%s and %d and %.2f" % (s, s, s.item()), "%d%%" % 3, "%(a)s" % {"a": s})
    return x


def text_joined(x):
    parts = [str(v) for v in x]
    print(", ".join(parts), "-".join(["a", "b"]), "+".join(f"{v:.1f}" for v in x))
    return x


def text_added(x):
    line = "x: "
    line += f"{x.sum()}"
    line = "[" + line + "]" + "!" * 2
    print(line, line * 2, line.upper(), line[:4], f"{line:>60}")
    return x


def text_in_text(x):
    inner = f"inner {x.sum():.1f}"
    outer = f"<{inner}> <{inner!r}> <{inner:>20}>"
    print(outer)
    if x.sum() < 0:
        raise ValueError(outer)
    return x


def text_of_bool(x):
    print(bool(x.sum() > 0), not x.sum() > 0, x.sum() > 0)
    return x


def text_chosen(x):
    sign = "positive" if x.sum() > 0 else f"negative ({x.sum()})"
    print(sign, f"[{sign:>10}]")
    name = "a"
    if x.max() > 0.7:
        name += f" {x.max().item()}"
    print(name + "!")
    return x


def text_is_str(x):
    s = f"{x}"
    return x if isinstance(s, str) and not isinstance(s, int) else x + 1


def text_of_exception(x):
    err = ValueError(f"sum {x.sum()}")
    print(err, repr(err), [err])
    return x


def plain_text(x):
    name, n = "abc", 5
    print(f"{name!r:>8}|{n:03d}|{n!s:<4}|{name}", str(n), "%s" % name, "{}".format(name), ascii("é"))
    return x


def order_of_fields(x):
    seen = []
    text = f"{seen.append(1)}{seen}{seen.append(2)}{seen}"
    print(text)
    return x


def logged(x):
    LOG.warning("sum %s", x.sum())
    LOG.info("nothing to see: %s", x)
    return x


def written(x):
    sys.stdout.write(f"sum {x.sum()}\n")
    sys.stdout.write("end\n")
    sys.stdout.flush()
    return x


BOTH = ((X,), (N,))
ALL = ((X,), (N,), (Z,))
CASES = [
    *[(f, ALL) for f in (
        guard_clause, guard_clauses, raise_in_else, raise_in_both, raise_in_elifs, raise_keeps_python_values,
        raise_message, raise_many_args, raise_custom, raise_from, raise_from_none, raise_object_made_before,
        raise_from_error_of_a_path, text_of_key_error,
        raise_class_alone, reraise, raise_nested, raise_nested_else, raise_in_while, loop_always_raises,
        raise_in_loop_else, helper_raises, raise_in_ternary, raise_behind_and, caught_in_the_branch,
        finally_in_the_branch, other_handler_around, key_error_in_branch,
        index_errors_in_branches, zero_division_in_branch, raise_after_prints,
        raise_text_at_the_end, assert_text, assert_plain, assert_object, assert_lazy, assert_false_in_branch,
        assert_in_loop, print_order,
    )],
    (raise_in_for, ((M,), ([[1.0], [-2.0]],))),
    (raise_in_for_range, ((X,), (N,), ([4.0, 1.0],))),
    (raise_in_python_branch_of_tensor_branch, ((X, True), (N, True), (N, False))),
    (raise_with_gradient, ((X,), ([30.0, 1.0, 1.0],), ([0.0, 0.1, 0.0],))),
    *[(f, BOTH) for f in (
        print_kinds, print_containers, print_objects, print_numbers, print_chosen, print_range, print_in_branches,
        print_before_change, print_to_stdout, print_bad_separator, print_under_and, text_format_specs, text_functions,
        text_percent, text_joined, text_added, text_in_text, text_of_bool, text_is_str, text_of_exception, plain_text,
        text_chosen,        order_of_fields, logged, written,
    )],
    (print_count, ((X,), ([30.0, 1.0, 1.0],))),
]  # fmt: skip
