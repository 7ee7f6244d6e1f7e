"""Branches and early returns."""

# fmt: off
# ruff: noqa
from tests.transformers.corpus import Corpus

CORPUS = Corpus()
case = CORPUS.case
NUMBERS = (-2, -1, 0, 1, 2, 3, 10)


@case(*NUMBERS)
def simple_if(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


@case(*NUMBERS)
def if_without_else(x):
    y = 0
    if x > 0:
        y = x
    return y


@case(*NUMBERS)
def elif_chain(x):
    if x < 0:
        s = "neg"
    elif x == 0:
        s = "zero"
    elif x < 3:
        s = "small"
    else:
        s = "big"
    return s


@case(*NUMBERS)
def return_both(x):
    if x > 0:
        return x
    else:
        return -x


@case(*NUMBERS)
def return_early(x):
    if x > 0:
        return x
    x = x * 2
    return x


@case(*NUMBERS)
def return_early_in_else(x):
    if x > 0:
        x += 1
    else:
        return "no"
    return x


@case(*NUMBERS)
def return_chain(x):
    if x < -1:
        return "a"
    if x < 0:
        return "b"
    y = x + 1
    if y > 3:
        return y
    return "c"


@case(*NUMBERS)
def return_nested(x):
    if x > 0:
        if x > 2:
            return "big"
        x = x + 100
    x = x * 2
    return x


@case(*NUMBERS)
def return_nested_deep(x):
    y = 1
    if x > -2:
        if x > 0:
            y = 2
            if x > 2:
                return y, "deep"
            y = 3
        else:
            if x == 0:
                return "zero"
        y += 10
    return x, y


@case(*NUMBERS)
def return_none_implicit(x):
    if x > 0:
        return x


@case(*NUMBERS)
def return_bare(x):
    if x > 0:
        return
    return x


@case(*NUMBERS)
def return_none_one_path(x):
    if x > 0:
        if x == 1:
            return "one"
    else:
        return "neg"


@case(*NUMBERS)
def return_elif(x):
    if x < 0:
        return "neg"
    elif x == 0:
        y = "zero"
    else:
        return "pos"
    return y + "!"


@case(*NUMBERS)
def return_with_raise(x):
    if x < 0:
        raise ValueError("negative")
    if x == 0:
        return "zero"
    return x


@case(*NUMBERS)
def raise_else_return(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    elif x > 2:
        return x
    else:
        raise KeyError(x)


@case(*NUMBERS)
def unset_in_branch(x):
    if x > 0:
        y = 1
    return y


@case(*NUMBERS)
def unset_but_unused(x):
    if x > 0:
        y = 1
        x = x + y
    return x


@case(*NUMBERS)
def unset_used_only_if_set(x):
    if x > 0:
        y = 1
    if x > 0:
        return y
    return "unset"


@case(*NUMBERS)
def unset_copied(x):
    if x > 0:
        y = 1
    z = y
    return "reached", z


@case(*NUMBERS)
def unset_augmented(x):
    if x > 0:
        y = 1
    y += 1
    return y


@case(*NUMBERS)
def unset_passed(x):
    if x > 0:
        y = 1
    return repr(y)


@case(*NUMBERS)
def unset_in_nested(x):
    if x > 0:
        if x > 2:
            y = 1
        z = y
    else:
        z = 0
    return z


@case(*NUMBERS)
def deleted_in_branch(x):
    y = 1
    if x > 0:
        del y
    return y


@case(*NUMBERS)
def deleted_then_set(x):
    y = 1
    if x > 0:
        del y
        y = 2
    return y


@case(*NUMBERS)
def deleted_twice(x):
    y = 1
    if x > 0:
        del y
    del y
    return x


@case(*NUMBERS)
def deleted_before(x):
    y = 1
    del y
    if x > 0:
        y = 2
    return y


@case(*NUMBERS)
def deleted_parameter(x):
    z = x
    if z > 0:
        del x
    else:
        x = 5
    return x


@case(*NUMBERS)
def walrus_test(x):
    if (y := x * 2) > 2:
        return y
    return -y


@case(*NUMBERS)
def walrus_elif(x):
    if x < 0:
        z = "n"
    elif (y := x + 1) > 2:
        z = y
    else:
        z = y * 100
    return z


@case(*NUMBERS)
def walrus_lazy(x):
    if x > 0 and (y := x - 1) > 0:
        return y
    return "no"


@case(*NUMBERS)
def walrus_lazy_unset(x):
    ok = x > 0 and (y := x - 1)
    if ok:
        z = 1
    else:
        z = y
    return z


@case(*NUMBERS)
def swap_in_branch(x):
    a, b = 1, 2
    if x > 0:
        a, b = b, a
    return a, b


@case(*NUMBERS)
def many_outputs(x):
    a = b = c = 0
    if x > 0:
        a = 1
        d = a + 1
    else:
        b = 1
        d = 7
        c, a = a, c
    return a, b, c, d


@case(*NUMBERS)
def return_in_with(x):
    with Manager() as m:
        if x > 0:
            return m, x
        x = x - 1
    return x


@case(*NUMBERS)
def return_after_with(x):
    if x > 100:
        return "no"
    with Manager():
        y = x + 1
        return y


@case(*NUMBERS)
def return_in_swallowing(x):
    with Manager(swallow=True):
        if x > 0:
            raise ValueError
        return "in"
    return "after"


@case(*NUMBERS)
def function_in_branch(x):
    if x > 0:
        def g(y):
            return x + y
    else:
        def g(y):
            return y - x
    return g(10)


@case(*NUMBERS)
def import_in_branch(x):
    if x > 0:
        import math
        y = math.floor(x / 2)
    else:
        from operator import neg as negate
        y = negate(x)
    return y


@case(*NUMBERS)
def class_in_branch(x):
    if x > 0:
        class A:
            value = x
            double = value * 2
    else:
        class A:
            value = -x
            double = 0
    return A.value, A.double


@case(*NUMBERS)
def only_raise(x):
    if x:
        raise RuntimeError("x")
    raise RuntimeError("not x")


@case(*NUMBERS)
def return_in_match(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2 as small:
            y = small
        case int() if x < 0:
            if x == -2:
                return "minus two"
            y = "neg"
        case _:
            y = "other"
    return y


@case(*NUMBERS)
def match_in_tail(x):
    if x == 3:
        return 33
    match x:
        case 0:
            return "zero"
        case 1:
            y = 1


@case((1, 2), ([3, 4, 5], 0), ({"k": 1, "z": 2}, 0), ("s", 0))
def match_captures(x, d):
    if d:
        return d
    match x:
        case [a, *rest]:
            r = a, rest
        case {"k": v, **others}:
            r = v, others
        case str(s):
            r = s
        case _:
            r = None
    return r


@case(*NUMBERS)
def ternary_nested(x):
    return "a" if x < 0 else "b" if x == 0 else ("c" if x < 3 else "d")


@case(*NUMBERS)
def condition_values(x):
    items = []
    if items or x:
        items.append(x)
    return items and items[0] or "none"


@case(*NUMBERS)
def globals_in_branch(x):
    global COUNTER
    COUNTER = 0
    if x > 0:
        COUNTER += 1
    else:
        COUNTER = -1
    return COUNTER


@case(*NUMBERS)
def global_unset_then_set(x):
    global FRESH
    globals().pop("FRESH", None)
    if x > 0:
        FRESH = x
    return globals().get("FRESH", "missing")


class Manager:
    def __init__(self, swallow=False):
        self.swallow = swallow
        self.log = []

    def __enter__(self):
        return "entered"

    def __exit__(self, *args):
        self.log.append("exit")
        return self.swallow
