"""What tensor loops carry: numbers that become tensors, containers, objects, names that come and go."""

# ruff: noqa: E731, F841

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

import vitrify as paddle

P = namedtuple("P", "a b")


@dataclass
class D:
    a: object
    b: object


class Box:
    def __init__(self, **fields):
        self.__dict__.update(fields)


A = [1.0, -2.0, 3.0]
B = [-4.0, 0.5, -1.0]
L = [2.0, 1.0, -1.0, 3.0, 0.5]
I0, I1, I3, I5, IM = (np.array(v) for v in (0, 1, 3, 5, -2))


def list_under_two_names(x):
    items = [x * 1, x * 2]
    m = items
    i = paddle.to_tensor(0)
    while i < 3:
        items[0] = items[0] + 1
        i = i + 1
    return m


def setitem_of_a_temporary_by_tensor_index(x):
    i = paddle.to_tensor(0)
    y = x * 2
    while i < 3:
        y[i] = y[i] + 1
        i = i + 1
    return y


def augmented_items_by_tensor_index(x):
    y = x * 1
    i = paddle.to_tensor(0)
    while i < 3:
        y[i] += i
        y[i] *= 2
        i = i + 1
    return y


def mask_and_slice_written_in_branches(x):
    y = x * 1
    if x.sum() > 0:
        y[y > 0] = 5.0
    else:
        y[:2] = x[1:3]
    return y


def view_changed_in_a_loop(x):
    y = x * 1
    v = y[:2]
    i = paddle.to_tensor(0)
    while i < 3:
        v.add_(paddle.ones([1]))
        i = i + 1
    return (y, v)


def base_of_a_view_changed_in_a_loop(x):
    y = x * 1
    v = y[:2]
    i = paddle.to_tensor(0)
    while i < 3:
        y.add_(paddle.ones([1]))
        i = i + 1
    return (y, v)


def tensor_in_a_dict_changed_in_a_loop(x):
    d = {"a": x * 1}
    t = d["a"]
    i = paddle.to_tensor(0)
    while i < 2:
        d["a"].add_(paddle.ones([1]))
        i = i + 1
    return (d, t)


def accumulator_starts_as_the_argument(x):
    i = paddle.to_tensor(0)
    y = x
    while i < 3:
        y = y + x
        i = i + 1
    return (y, x)


def int_becomes_a_scalar_tensor(x):
    s = 0
    i = paddle.to_tensor(0)
    while i < 3:
        s = s + x.sum()
        i = i + 1
    return s


def number_becomes_a_vector(x):
    s = 0
    i = paddle.to_tensor(0)
    while i < 3:
        s = s + x
        i = i + 1
    return s


def int_becomes_float_by_product(x):
    n = 1
    while x.sum() < 10 and n < 50:
        n = n * 1.5
        x = x + n
    return (n, x)


def int_becomes_float_by_division(x):
    n = 8
    while x.sum() < 10 and n > 1:
        n = n / 2
        x = x + n
    return (n, x)


def bool_flag_ends_the_loop(x):
    done = False
    n = 0
    while not done:
        x = x + 1
        n += 1
        if x.sum() > 20:
            done = True
    return (x, n, done)


def strings_functions_and_none_stay(x):
    s = "a"
    f = lambda v: v + 1
    z = None
    while x.sum() < 20:
        x = f(x)
        s = "a"
        z = None
    return (x, s, z)


def string_changed_and_unused(x):
    s = "a"
    while x.sum() < 20:
        x = x + 1
        s = "b"
    return x


def deleted_and_set_again(x):
    t = x
    while x.sum() < 20:
        t = x + 1
        x = t * 1
        del t
        t = x
    return t


def temporary_deleted_in_each_iteration(x):
    while x.sum() < 20:
        t = x + 1
        x = t * 1
        del t
    return x


def born_in_the_loop_and_used_after(x):
    while x.sum() < 5:
        t = x + 1
        x = t * 1
    return t


def born_in_the_loop_and_unused(x):
    while x.sum() < 5:
        t = x + 1
        x = t * 1
    return x


def int_born_in_the_loop(x):
    i = paddle.to_tensor(0)
    while i < x.sum():
        k = 3
        i = i + 1
    return k


def grows_by_concat(x):
    y = x
    i = paddle.to_tensor(0)
    while i < 3:
        y = paddle.concat([y, x * i.astype("float32")])
        i = i + 1
    return y


def int_tensor_becomes_float(x):
    y = paddle.to_tensor(1)
    i = paddle.to_tensor(0)
    while i < 3:
        y = y + x.sum()
        i = i + 1
    return y


def nested_tuple(x):
    t = (x, 0, (x * 2, 1.0))
    while t[0].sum() < 30:
        t = (t[0] + 1, t[1] + 1, (t[2][0] * 2, t[2][1] * 0.5))
    return t


def nested_namedtuples(x):
    t = P(x, P(0, x))
    while t.a.sum() < 30:
        t = P(t.a + 1, P(t.b.a + 1, t.b.b * 1.5))
    return t


def dataclasses_made_anew(x):
    t = D(x, D(0, x))
    while t.a.sum() < 30:
        t = D(t.a + 1, D(t.b.a + 1, t.b.b * 1.5))
    return (t.a, t.b.a, t.b.b)


def dataclass_fields_assigned(x):
    t = D(x, D(0, x))
    u = t.b
    while t.a.sum() < 30:
        t.a = t.a + 1
        t.b.a += 1
        t.b.b = t.b.b * 1.5
    return (t.a, t.b.a, t.b.b, u.a, u.b)


def nested_dict_made_anew(x):
    d = {"a": x, "n": {"k": 0, "v": x}}
    while d["a"].sum() < 30:
        d = {"a": d["a"] + 1, "n": {"k": d["n"]["k"] + 1, "v": d["n"]["v"] * d["n"]["k"]}}
    return d


def nested_dict_updated_by_key(x):
    d = {"a": x, "n": {"k": 0, "v": x}}
    while d["a"].sum() < 30:
        d["a"] = d["a"] + 1
        d["n"]["k"] += 1
        d["n"]["v"] = d["n"]["v"] * d["n"]["k"]
    return d


def simultaneous_assignment(x):
    a, b = (0, 1)
    while (x + b).sum() < 100:
        a, b = (b, a + b)
    return (a, b)


def swap_with_update(x):
    a, b = (x, x * 2)
    n = 0
    while a.sum() < 30 and n < 10:
        a, b = (b, a + 1)
        n += 1
    return (a, b, n)


def three_names_rotate_with_a_number(x):
    a, b, c = (x, x * 2, 1)
    n = 0
    while a.sum() < 30 and n < 10:
        a, b, c = (b, c + x, a)
        n += 1
    return (a, b, c, n)


def list_made_anew_in_another_order(x):
    items = [x, x * 2, x * 3]
    n = 0
    while items[0].sum() < 30 and n < 7:
        items = [items[1], items[2] + 1, items[0]]
        n += 1
    return items


def items_of_a_list_permuted(x):
    items = [x, x * 2, x * 3]
    n = 0
    while items[0].sum() < 30 and n < 7:
        items[0], items[1], items[2] = (items[1], items[2] + 1, items[0])
        n += 1
    return items


def attributes_of_nested_objects(x):
    o = Box(h=x, n=0, i=Box(v=x, w=Box(z=1)))
    while o.h.sum() < 30:
        o.h = o.h + 1
        o.n += 1
        o.i.v = o.i.v * 1.1
        o.i.w.z = o.i.w.z * 2
    return (o.h, o.n, o.i.v, o.i.w.z)


def attributes_of_objects_in_a_list(x):
    os = [Box(h=x), Box(h=x * 2)]
    n = 0
    while os[0].h.sum() < 30 and n < 10:
        for o in os:
            o.h = o.h + 1
        os[1].h = os[1].h + os[0].h
        n += 1
    return [o.h for o in os]


CASES = [
    *[(f, ((A,),(B,),(L,))) for f in (
        list_under_two_names, setitem_of_a_temporary_by_tensor_index, augmented_items_by_tensor_index,
        mask_and_slice_written_in_branches, view_changed_in_a_loop, base_of_a_view_changed_in_a_loop,
        tensor_in_a_dict_changed_in_a_loop, accumulator_starts_as_the_argument, int_becomes_a_scalar_tensor,
        number_becomes_a_vector, int_becomes_float_by_product, int_becomes_float_by_division,
        bool_flag_ends_the_loop, strings_functions_and_none_stay, string_changed_and_unused,
        deleted_and_set_again, temporary_deleted_in_each_iteration, born_in_the_loop_and_used_after,
        born_in_the_loop_and_unused, int_born_in_the_loop, grows_by_concat, int_tensor_becomes_float,
        nested_tuple, nested_namedtuples, dataclasses_made_anew, dataclass_fields_assigned,
        nested_dict_made_anew, nested_dict_updated_by_key, simultaneous_assignment, swap_with_update,
        three_names_rotate_with_a_number, list_made_anew_in_another_order, items_of_a_list_permuted,
        attributes_of_nested_objects, attributes_of_objects_in_a_list,
    )],
]  # fmt: skip
