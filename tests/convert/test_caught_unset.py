"""A `try` sees that a path left a variable unset, and `:=` in it binds the variable of the function."""

import pytest

import vitrify as paddle

VALUES = ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.1, 0.2, -0.1])


def returned(x):
    if x.sum() > 0:
        y = x * 2
    try:
        return y
    except NameError as err:
        print(err)
    return -x


def in_an_operation(x):
    for v in x:
        if v > 0.15:
            y = x * v
    try:
        found = (y + x).sum() * 2
    except UnboundLocalError:
        found = x.sum()
    return found


def as_an_argument(x):
    if x.sum() > 0:
        y = x * 2
    try:
        found = [halved(y)]
    except NameError:
        found = [x]
    else:
        found.append(y)
    return found


def of_a_list(x):
    try:
        if x.sum() > 0:
            ys = []
        return ys
    except UnboundLocalError:
        return [x]


def as_a_choice(x):
    if x.sum() > 0:
        y = x * 2
    try:
        return x if x.max() > 2.5 else y
    except NameError:
        return -x


def in_a_lambda(x):
    if x.sum() > 0:
        y = x * 2
    try:
        return (lambda: y + 1)()
    except NameError:
        return -x


def in_a_function_inside(x):
    if x.sum() > 0:
        y = x * 2

    def inner(v):
        return y * v

    try:
        return inner(x) + 1
    except NameError:
        return -x


def beside_an_open_list(x):
    found = [v for v in x if v > 0]

    def inner(v):
        return limited(v) * len(found)

    try:
        return inner(x)
    except ValueError:
        return -x


def in_a_generator(x):
    if x.sum() > 0:
        y = x * 2
    try:
        return sum(v * y for v in x)
    except NameError:
        return -x


def key_in_a_generator(x):
    try:
        return sum({1: 2, 2: 3}[int(v)] for v in x)
    except KeyError:
        return -x


def bound_in_a_condition(x):
    t = 0
    try:
        if (t := t + 1) < x.sum():
            x = limited(x)
    except ValueError:
        x = x * 3
    return x, t


def bound_in_an_operation(x):
    t = 0.5
    try:
        x = limited(t + (t := x.sum()) * x + t) + t
    except ValueError:
        x = x * t
    return x, t


def halved(x):
    return x / 2


def limited(x):
    if x.sum() > 0.3:
        raise ValueError("too large")
    return x * 0.5


CASES = (
    returned, in_an_operation, as_an_argument, of_a_list, as_a_choice, in_a_lambda, in_a_function_inside,
    beside_an_open_list, in_a_generator, key_in_a_generator, bound_in_a_condition, bound_in_an_operation,
)  # fmt: skip


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", CASES)
def test_it_is_as_in_eager_code(function, full_graph, capsys):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for values in VALUES * 2:
        x = paddle.to_tensor(values)
        found, wanted = [(repr(f(x)), capsys.readouterr().out) for f in (static, function)]
        assert found == wanted
