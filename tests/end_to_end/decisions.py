"""`and`, `or`, `not`, chains and ternaries on tensors; what branches give."""

# ruff: noqa: F841

import numpy as np

import vitrify as paddle


class Box:
    def __init__(self, **fields):
        self.__dict__.update(fields)


A = [1.0, -2.0, 3.0]
B = [-4.0, 0.5, -1.0]
L = [2.0, 1.0, -1.0, 3.0, 0.5]
I0, I1, I3, I5, IM = (np.array(v) for v in (0, 1, 3, 5, -2))
MASKS = ((A, None), (A, np.array([True, False, True])), (A, np.array([False, False, False])))


def tensor_and_none_unused(x):
    r = x.sum() > 0 and None
    return x


def tensor_or_text_unused(x):
    r = x.sum() > 0 or "no"
    return x


def size_and_number_then_tensor(x):
    if x.shape[0] > 4 and 0:
        return x
    if x.shape[0] > 4 and x.sum() > 0:
        return x * 2
    return x * 3


def flag_and_several_elements(x):
    return x.sum() > -100 and x


def empty_list_or_default(x):
    out = []
    out = out or [x]
    return out


def none_guard_and_any(x, mask):
    if mask is not None and mask.any():
        x = x * 2
    return x


def guarded_index_in_while(x):
    i = paddle.to_tensor(0)
    while i < 3 and x[i] > -3:
        i = i + 1
    return i


def guarded_index_in_if(x, i):
    if i < 3 and x[i] > 0:
        return x * 2
    return x


def guarded_division(x, i):
    if i != 0 and 10 // i > 2:
        return x * 2
    return x


def guarded_modulo(x, i):
    if i == 0 or 10 % i == 1:
        return x * 2
    return x


def nested_ternaries(x):
    return x * 2 if x.sum() > 5 else x * 3 if x[0] > 0 else -x


def ternary_of_tensor_and_number(x):
    return x if x.sum() > 0 else 1.5


def value_of_and(x):
    a = x.sum()
    return a and a * 2


def value_of_or(x):
    a = x.sum()
    return a or a + 1


def chained_comparison_value(x):
    return 0 < x.sum() < 10


def chained_comparison_as_test(x):
    if 0 < x.sum() < 3 < x[0] + 5:
        return x
    return -x


def none_or_tensor_unused(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    return x


def other_item_in_each_branch(x):
    items = [x, x * 2]
    if x.sum() > 0:
        items[0] = x * 5
    else:
        items[1] = x * 7
    return items


def attribute_made_and_changed_in_a_loop(x):
    o = Box(h=x)
    i = paddle.to_tensor(0)
    while i < 3:
        o.h = o.h * 2
        o.h.add_(paddle.ones([1]))
        i = i + 1
    return o.h


def items_swapped_in_a_branch(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["a"], d["b"] = (d["b"], d["a"])
    return d


def new_key_in_both_branches(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    else:
        d["a"] = x * 2
    return d


def tuple_in_a_branch(x):
    t = (x, 1)
    if x.sum() > 0:
        t = (x * 2, 2)
    return t


def number_in_a_branch(x):
    n = 1
    if x.sum() > 0:
        n = 2
    return (x * n, n)


def lists_of_two_lengths_unused(x):
    items = [x]
    if x.sum() > 0:
        items = [x, x]
    return x


def shapes_of_two_sizes(x):
    y = x
    if x.sum() > 0:
        y = paddle.concat([x, x])
    return y


def ranks_of_two_branches_differ(x):
    y = x
    if x.sum() > 0:
        y = x.sum()
    return y


def lists_and_texts_in_nested_conditions(x):
    total, found, items, text = x.sum(), [], [x], ""
    steps = 0
    if total > 1 and (total > 9 or found):
        steps += 1
    if total and (total < -9 or items):
        steps += 2
    if total < 1 or (total > 3 and text):
        steps += 4
    both = total > 0 and ((total > 9 and text) or (total < 9 and items))
    return x * 2 if both else x, steps


CASES = [
    *[(f, ((A,),(B,),(L,))) for f in (
        tensor_and_none_unused, tensor_or_text_unused, size_and_number_then_tensor,
        flag_and_several_elements, empty_list_or_default, guarded_index_in_while, nested_ternaries,
        ternary_of_tensor_and_number, value_of_and, value_of_or, chained_comparison_value,
        chained_comparison_as_test, none_or_tensor_unused, other_item_in_each_branch,
        attribute_made_and_changed_in_a_loop, items_swapped_in_a_branch, new_key_in_both_branches,
        tuple_in_a_branch, number_in_a_branch, lists_of_two_lengths_unused, shapes_of_two_sizes,
        ranks_of_two_branches_differ, lists_and_texts_in_nested_conditions,
    )],
    *[(f, MASKS) for f in (
        none_guard_and_any,
    )],
    *[(f, ((A, I0), (A, I3), (A, I5))) for f in (
        guarded_index_in_if, guarded_division, guarded_modulo,
    )],
]  # fmt: skip
