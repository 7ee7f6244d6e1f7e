"""What numbers that a tensor gives don't do: Python's refusals of `n + []`, `n[0]`, `n.k = 1`, where they stand."""

A, B = [1.0, 2.0], [-1.0, -2.0]


def plus_list(x):
    return int(x.sum()) + []


def plus_text(x):
    return int(x.sum()) + "a"


def list_plus(x):
    return [x] + x.sum().item()


def tuple_plus(x):
    return (x, 1) + float(x.sum())


def text_plus(x):
    return "a" + int(x.sum())


def set_or(x):
    return {1, 2} | int(x.sum())


def less_than_list(x):
    return int(x.sum()) > []


def flag_plus(x):
    return bool(x.sum() > 0) + "a"


def added_to(x):
    n = int(x.sum())
    n += []
    return n


def text_added_to(x):
    n = float(x.sum())
    n -= "a"
    return n


def on_one_path(x):
    if x.sum() > 0:
        x = x * (int(x.sum()) + [])
    return x


def caught(x):
    try:
        return int(x.sum()) + []
    except TypeError:
        return x * 2


def item(x):
    return int(x.sum())[0]


def item_set(x):
    n = int(x.sum())
    n[0] = 1


def item_deleted(x):
    n = int(x.sum())
    del n[0]


def item_of_tuple_set(x):
    (x, x)[0] = 1


def item_of_tuple_deleted(x):
    pair = (x, x)
    del pair[0]


def attribute_set(x):
    n = int(x.sum())
    n.k = 1


def member(x):
    n = int(x.sum())
    return n in n


def looped(x):
    for _ in int(x.sum()):
        x = x + 1
    return x


def measured(x):
    return len(float(x.sum()))


def compared(x):
    n = int(x.sum())
    return n == {}, n != "a", n == [1], n != (), n == {1}


def formatted(x):
    n = int(x.sum())
    return "%d" % n  # noqa: UP031 - the operator is what is looked at


def kind_that_is_none(x):
    return isinstance(x.sum(), 5)


def truth_that_is_a_tensor(x):
    class Weighed:
        def __bool__(self):
            return x.sum() > 0

    return x if Weighed() else -x


CASES = [
    (function, ((A,), (B,)))
    for function in (
        plus_list, plus_text, list_plus, tuple_plus, text_plus, set_or, less_than_list, flag_plus, added_to,
        text_added_to, on_one_path, caught, item, item_set, item_deleted, item_of_tuple_set, item_of_tuple_deleted,
        attribute_set, member, looped, measured, compared, formatted, kind_that_is_none, truth_that_is_a_tensor,
    )
]  # fmt: skip
