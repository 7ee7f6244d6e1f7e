"""Lists, dicts and objects that a tensor decides to be one of several: each name sees what is changed by another."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare


class Node:
    """Something with attributes."""


def chosen_list(x, c):
    a, b = ([x * 1], [x * 2])
    c = a if c > 0 else b
    c[0] = x * 5
    return (a, b, c)


def source_of_a_chosen_list(x, c):
    a, b = ([x * 1], [x * 2])
    c = a if c > 0 else b
    a[0] = x * 5
    return (a, b, c)


def source_of_a_choice_grows(x, c):
    a, b = ([x * 1], [x * 2])
    c = a if c > 0 else b
    a.append(x)
    return c


def changed_as_one_of_two(x, c):
    a = [x]
    b = [x * 2]
    chosen = a if c > 0 else b
    chosen.append(x + 1)
    return (a, b, chosen)


def replaced_on_a_path(x, c):
    a = [x]
    b = a
    if c > 0:
        b = [x * 3]
    b.append(x + 1)
    return (a, b)


def dict_changed_as_one_of_two(x, c):
    a = {"k": x}
    b = {"k": x * 2}
    chosen = a if c > 0 else b
    chosen["k"] = x + 5
    chosen["n"] = x
    return (a["k"], b["k"], len(a), len(b))


def object_changed_as_one_of_two(x, c):
    p = Node()
    q = Node()
    p.v = x
    q.v = x * 2
    o = p if c > 0 else q
    o.v = o.v + 1
    return (p.v, q.v, o.v)


def changed_by_the_first_name(x, c):
    a = [x]
    if c > 0:
        b = a
    else:
        b = [x, x]
    a.append(x * 7)
    return (len(b), b)


def chosen_in_each_turn(x, c):
    out = []
    a = [x]
    b = [x * 2]
    for i in range(3):
        chosen = a if x.sum() + i > c else b
        chosen.append(x + i)
        out.append(chosen)
    return (a, b, [len(o) for o in out])


def chosen_in_each_turn_of_a_loop(x, c):
    a = [x]
    b = [x * 2]
    i = paddle.to_tensor(0)
    while i < 3:
        chosen = a if i > c else b
        chosen.append(x + i)
        i = i + 1
    return (len(a), len(b), a, b)


def none_or_a_list(x, c):
    a = [x]
    b = None
    if c > 0:
        b = a
    if b is not None:
        b.append(x)
    return a


def chosen_among_items(x, c):
    a = [[x], [x * 2]]
    chosen = a[0] if c > 0 else a[1]
    chosen[0] = chosen[0] + 1
    chosen += [x]
    return a


def set_by_default_under_two_keys(x, c):
    d = {}
    chosen = d.setdefault("a", []) if c > 0 else d.setdefault("b", [])
    chosen.append(x)
    return d


def swapped_and_set(x, c):
    a = [x, x + 1]
    b = a
    if c > 0:
        a, b = (b, [x * 9])
    b[0] = x * 4
    return (a[0], b[0])


def swapped_and_grown(x, c):
    a = [x]
    b = [x * 2]
    if c > 0:
        a, b = (b, a)
    a.append(x * 5)
    return (a, b)


def asked_which_it_is(x, c):
    a = [x]
    b = [x]
    chosen = a if c > 0 else b
    return (chosen is a, chosen is b, chosen == a)


def two_names_on_one_path(x, c):
    if c > 0:
        chosen = [x]
        m = chosen
    else:
        chosen = [x]
        m = [x, x]
    chosen.append(x * 7)
    return (chosen, m)


def two_names_of_a_dict_on_one_path(x, c):
    if c > 0:
        chosen = {"a": x}
        m = chosen
    else:
        chosen = {"a": x * 2}
        m = {"a": x * 3}
    chosen["a"] = x + 1
    return (chosen["a"], m["a"])


def two_names_of_a_dict_that_grows(x, c):
    if c > 0:
        chosen = {"a": x}
        m = chosen
    else:
        chosen = {"a": x * 2}
        m = {"a": x * 3}
    chosen["b"] = x + 1
    return (len(chosen), len(m))


def two_names_of_an_object(x, c):
    if c > 0:
        p = Node()
        q = p
        p.v = x
    else:
        p = Node()
        q = Node()
        p.v = x * 2
        q.v = x * 3
    p.v = p.v + 1
    return (p.v, q.v)


def taken_from_a_dict_or_put_there(x, c):
    d = {"n": []}
    if c > 0:
        chosen = d["n"]
    else:
        chosen = [x]
        d["m"] = chosen
    chosen.append(x + 1)
    return d


def chosen_among_attributes(x, c):
    n = Node()
    n.xs = [x]
    n.ys = [x * 2]
    t = n.xs if c > 0 else n.ys
    t.append(x + 1)
    t[0] = x * 5
    return (n.xs, n.ys)


def the_best_so_far(x, c):
    a = [x]
    best = a
    for i in range(3):
        cur = [x + i, x * i]
        if cur[0].sum() > c + 3 * i:
            best = cur
    best.append(x * 9)
    return (best, a)


def walk_down_a_tree(x, c):
    left = {"v": x}
    right = {"v": x * 2}
    node = {"l": left, "r": right, "v": x * 0}
    cur = node
    cur = cur["l"] if c > 0 else cur["r"]
    cur["v"] = cur["v"] + 1
    return (left["v"], right["v"])


def two_names_for_the_chosen(x, c):
    a = [x]
    b = [x * 2]
    chosen = a if c > 0 else b
    k = chosen
    k.append(x)
    chosen.pop(0)
    return (a, b, k is chosen)


def given_to_a_function(x, c):
    a = [x]
    b = [x * 2]

    def add(chosen, v):
        chosen.append(v)

    add(a if c > 0 else b, x + 3)
    add(b if c > 0 else a, x + 4)
    return (a, b)


def grouped_by_an_expression(x, c):
    groups = {"p": [], "n": []}
    for i in range(3):
        (groups["p"] if x[i] > c + 1 else groups["n"]).append(x[i])
    return groups


def numbers_in_lists(x, c):
    a = [1, 2]
    b = [3]
    chosen = a if c > 0 else b
    chosen.append(4)
    return (a, b, sum(chosen))


def begun_anew(x, c):
    longest, run = [], []
    for v in x:
        if v > c:
            run.append(v)
        else:
            run = []
        if len(run) > len(longest):
            longest = list(run)
    return longest, run


def counted_anew(x, c):
    state = {"n": 0}
    for v in x:
        if v > c:
            state["n"] += 1
        else:
            state = {**state, "n": 0}
        state["last"] = v
    return state


def begun_anew_beside_the_old(x, c):
    run = []
    kept = [run]
    for v in x:
        if v > c:
            run.append(v)
        else:
            run = []
    return run, kept


def exchanged_in_turns(x, c):
    a, b = [], []
    for v in x:
        if v > c:
            a, b = b, a
        a.append(v)
    return a, b


def begun_anew_by_a_function(x, c):
    def grown(run, v):
        if v > c:
            run.append(v)
        else:
            run = []
        run.append(v * 2)
        return run

    run, lengths = [], []
    for v in x:
        after = grown(run, v)
        lengths.append(len(run))
        run = after
    return run, lengths


CASES = [
    chosen_list,
    source_of_a_chosen_list,
    source_of_a_choice_grows,
    changed_as_one_of_two,
    replaced_on_a_path,
    dict_changed_as_one_of_two,
    object_changed_as_one_of_two,
    changed_by_the_first_name,
    chosen_in_each_turn,
    chosen_in_each_turn_of_a_loop,
    none_or_a_list,
    chosen_among_items,
    set_by_default_under_two_keys,
    swapped_and_set,
    swapped_and_grown,
    asked_which_it_is,
    two_names_on_one_path,
    two_names_of_a_dict_on_one_path,
    two_names_of_a_dict_that_grows,
    two_names_of_an_object,
    taken_from_a_dict_or_put_there,
    chosen_among_attributes,
    the_best_so_far,
    walk_down_a_tree,
    two_names_for_the_chosen,
    given_to_a_function,
    grouped_by_an_expression,
    numbers_in_lists,
    begun_anew,
    counted_anew,
    begun_anew_beside_the_old,
    exchanged_in_turns,
    begun_anew_by_a_function,
]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_other_names_see_the_change(function):
    compare(function, *[([1.0, 2.0, 3.0], c) for c in ([1.0], [-1.0], [4.0])])
