"""What one path gives that holds no tensor (an empty list, text, None, a class), read where another left it unset."""

import vitrify as paddle

A, B, C = [1.0, 2.0], [-1.0, -2.0], [0.0, 0.5]


def empty_list(x):
    if x.sum() > 0:
        ys = []
    return ys


def empty_list_changed(x):
    if x.sum() > 0:
        ys = []
    ys.append(x)
    ys += [x]
    return ys, len(ys)


def empty_list_gone_through(x):
    if x.sum() > 0:
        ys = []
    for y in ys:
        x = x + y
    return x


def empty_dict(x):
    if x.sum() > 0:
        d = {}
    d["a"] = x
    return d


def empty_tuple(x):
    if x.sum() > 0:
        t = ()
    return t


def text(x):
    if x.sum() > 0:
        t = "abc"
    print(t)
    return x


def none(x):
    if x.sum() > 0:
        t = None
    return x if t is None else x * 2


def a_class(x):
    if x.sum() < 0:
        t = int
    return t(x.sum())


def text_and_tensor(x):
    if x.sum() < 0:
        t = ("abc", x)
    print(t[0])
    return t


def nested_empty_list(x):
    if x.sum() < 0:
        t = {"k": []}
    t["k"].append(x)
    return t


def tensors_in_list(x):
    if x.sum() < 0:
        t = [x, x * 2]
    return t


def set_again_on_a_path(x):
    if x.sum() < 0:
        ys = []
    if x.sum() < 1:
        ys = [x]
    return ys


def changed_on_a_path(x):
    if x.sum() < 0:
        ys = []
    if x.sum() < -1:
        ys.append(x)
    return ys


def read_by_function(x):
    if x.sum() < 0:
        ys = {}

    def inner():
        return ys

    return inner()


def deleted(x):
    if x.sum() < 0:
        ys = []
    del ys
    return x


def set_in_loop(x):
    while x.sum() < 0:
        ys = []
        x = x + 1
    return ys, x


def filled_in_loop(x):
    while x.sum() < 0:
        ys = []
        x = x + 1
        ys.append(x)
    return ys, x


def text_in_loop(x):
    while x.sum() < 0:
        t = "a"
        x = x + 1
    print(t)
    return x


def set_in_loop_over_items(x):
    for v in x:
        if v < 0:
            ys = []
    return ys


def set_by_break_or_else(x):
    for v in x:
        if v < 0:
            ys = []
            break
    else:
        ys = [x]
    return ys


def returns_empty_list(x):
    for v in x:
        if v > 0:
            return []
    if x.sum() < -1:
        return [x]
    return [x, x]


def returns_number(x):
    for v in x:
        if v > 0:
            return 3
    return 4


def returns_text_with_tensor(x):
    for v in x:
        if v > 0:
            return (v, "a")
    return (x[0], "a")


def returns_from_endless_loop(x):
    i = 0
    while True:
        if x.sum() > 1:
            return x, i, "k"
        x = x + 1
        i += 1


def returns_none_in_helper(x):
    def helper(x):
        if x.sum() < 0:
            return None
        if x.sum() > 1:
            return None

    return x if helper(x) is None else x * 2


def two_names_of_one(x):
    if x.sum() > 0:
        ys = {}
        zs = ys
    zs["a"] = x
    return ys, zs


def library_function(x):
    if x.sum() < 0:
        f = paddle.Tensor
    return isinstance(x, f)


def never_set_read_on_a_path(x, k=0):
    """Python decides that `y` is unset, a tensor whether that is noticed."""
    if k > 3:
        y = x
    if x.sum() > 0:
        print("before")
        x = y * 2
    return x


def never_set_read_in_a_loop(x, k=0):
    if k > 3:
        y = x
    while x.sum() > 0.75:
        x = x - 1
        if x.max() < 0.25:
            x = y + x
    return x


def deleted_read_on_a_path(x):
    y = x * 2
    del y
    if x.sum() > 0:
        print("before")
        return y  # noqa: F821 - what happens then is tested
    return x


CASES = [
    (function, ((A,), (B,), (C,)))
    for function in (
        empty_list, empty_list_changed, empty_list_gone_through, empty_dict, empty_tuple, text, none, a_class,
        text_and_tensor, nested_empty_list, tensors_in_list, set_again_on_a_path, changed_on_a_path, read_by_function,
        deleted, set_in_loop, filled_in_loop, text_in_loop, set_in_loop_over_items, set_by_break_or_else,
        returns_empty_list, returns_number, returns_text_with_tensor, returns_from_endless_loop,
        returns_none_in_helper, two_names_of_one, library_function, never_set_read_on_a_path, never_set_read_in_a_loop,
        deleted_read_on_a_path,
    )
]  # fmt: skip
