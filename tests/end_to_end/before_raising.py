"""What functions change before a tensor decides that they raise: it stays changed, as in eager code."""

import vitrify as paddle

from .functions import N, X


class Model:
    def __init__(self):
        self.items = [paddle.to_tensor([3.0, 4.0, 5.0])]
        self.count = 0
        self.last = None

    def __deepcopy__(self, memo):
        return Model()


class TooLarge(Exception):
    pass


BOTH = [(X, Model()), (N, Model())]


def attribute(x, model):
    model.last = x
    if x.sum() > 2:
        raise ValueError("large")
    return x * 2


def appended(x, model):
    model.items.append(x)
    if x.sum() > 2:
        raise ValueError("large")
    model.count = 7
    return x * 2


def between_prints(x, model):
    print("first", x.sum())
    model.count += 1
    if x.sum() > 2:
        raise ValueError("large")
    print("second")
    return x * 2


def tensor_in_place(x, model):
    model.items[0].add_(x.detach())
    model.last = x
    assert x.sum() < 4, "big"
    model.items[0].zero_()
    return x * 2


def in_a_python_loop(x, model):
    for i in range(5):
        model.count += 1
        model.items[0] = model.items[0] + x
        if model.items[0].sum() > 20:
            raise TooLarge(f"at {i}")
    return x


def in_a_tensor_loop(x, model):
    while x.sum() < 10:
        model.items[0] = model.items[0] + x
        x = x + 1
        if model.items[0].sum() > 30:
            raise TooLarge("sum")
    return x


def always(x, model):
    model.count = 5
    raise ValueError("always")


def missing_item(x, model):
    model.items.append(x)
    return model.items[5]


def nothing_before(x, model):
    if x.sum() > 2:
        raise ValueError("large")
    model.last = x
    return x


def index_of_the_program(x, model):
    model.last = x
    i = (x.sum() * 3).astype("int64")
    return x[i]


def given_list(x, items):
    items.append(x)
    items[0] = x * 2
    if x.sum() > 2:
        raise ValueError("large")
    items.clear()
    return x


def only_where_it_raises(x, model):
    if x.sum() > 2:
        model.items[0] = x
        raise KeyError("large")
    return x * 2


def tensor_only_where_it_raises(x, model):
    while x.sum() > 2:
        model.items[0].add_(x.detach())
        raise KeyError("large")
    return x * 2


def wrong_on_one_path(x, model):
    if x.sum() > 2:
        model.count += 1
        return model.items[min]
    return x


def no_such_attribute_on_one_path(x, model):
    if x.sum() > 2:
        model.items.append(x)
        return model.items[0].no_such
    return x


def put_back_but_for_the_error(x, held):
    row = [x]
    if x.sum() > 2:
        row.append(x)
    held.reverse()
    row[1] = x * 2
    held.reverse()
    return row[-1]


CASES = [
    *[
        (fn, BOTH)
        for fn in (
            attribute, appended, between_prints, tensor_in_place, in_a_python_loop, in_a_tensor_loop,
            always, missing_item, nothing_before, index_of_the_program, only_where_it_raises,
            tensor_only_where_it_raises, wrong_on_one_path, no_such_attribute_on_one_path,
        )
    ],
    (attribute, BOTH, {"shared": True}),
    (appended, BOTH, {"full_graph": False}),
    (only_where_it_raises, BOTH, {"full_graph": False}),
    (put_back_but_for_the_error, [(X, [[1.0], [2.0]]), (N, [[1.0], [2.0]])]),
    (given_list, [(X, [[1.0], [2.0]]), (N, [[1.0], [2.0]])]),
]  # fmt: skip
