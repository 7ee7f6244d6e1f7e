"""Whether tensors stop gradients, asked and shown where a path decides about it: as in eager code, in one program."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

ROWS = [([1.0, 2.0],), ([-1.0, -2.0],), ([5.0, 6.0],)]


def a_branch_detaches(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.detach() * 3
    if y.stop_gradient:
        return y + 1
    return y * 2


def prints_what_is_computed(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.detach() * 3
    print(y * 2, (y + 1, [y.sum()]))
    return y


def texts(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.detach() * 3
    return (f"{y}", str(y * 2), repr(y))


def turns_that_start_detached(x):
    y = x.detach()
    while y.sum() < 10 and x.sum() > 0:
        y = y + x
        print(y.stop_gradient, y)
    print(y.stop_gradient, y)
    return y


def asks_in_turns(x):
    y = x
    n = 0
    while y.abs().sum() < 20:
        if y.sum() > 3:
            y = y.detach() * 2
        else:
            y = y * 2 - 1
        if y.stop_gradient:
            n = n + 1
        print(y.stop_gradient)
    return (y, n)


def sets_the_flag_on_a_path(x):
    y = x * 2
    if x.sum() > 0:
        y.stop_gradient = True
    print(y, y.stop_gradient, y.is_leaf)
    z = y * 2
    print(z.stop_gradient, z.is_leaf)
    return z


def asks_for_leaves(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.detach()
    return y * (1 if y.is_leaf else 2)


def combines_flags(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    z = x * 3 if x.sum() > 4 else x.detach()
    if y.stop_gradient and (not z.stop_gradient):
        return x * 1
    if y.stop_gradient or z.stop_gradient:
        return x * 2
    return x * 3


def raises(x):
    y = x * 2 if x.sum() > 4 else x.detach()
    if y.stop_gradient:
        raise AssertionError("no grad")
    return y


def compares_flags(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    z = x * 3
    return (
        x * (1 if y.stop_gradient == z.stop_gradient else 2),
        y.stop_gradient != z.stop_gradient,
        y.stop_gradient is True,
    )


def gives_flags_back(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    return (y.stop_gradient, {"a": y.stop_gradient}, [y.requires_grad])


def hands_the_flag_on(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    z = x * 3
    z.stop_gradient = y.stop_gradient
    print(z.stop_gradient)
    return z * 2


def nested_branches(x):
    if x.sum() > 0:
        if x.sum() > 5:
            y = x * 2
        else:
            y = x.detach()
        if y.stop_gradient:
            z = y + 1
        else:
            z = y + 2
    else:
        z = x
    print(z.stop_gradient, z)
    return z


def flags_of_a_plain_list(x):
    items = []
    for i in range(3):
        if x.sum() > i * 2:
            items.append(x * i)
        else:
            items.append(x.detach() * i)
    return (
        sum(1 for t in items if t.stop_gradient),
        [t.stop_gradient for t in items],
        all(t.stop_gradient for t in items),
    )


def items_that_differ(x):
    items = []
    if x.sum() > 0:
        items.append(x * 2)
    if x.sum() > 5:
        items.append(x.detach())
    for t in items:
        print(t, t.stop_gradient)
    return items


def changes_an_item(x):
    y = paddle.zeros([2])
    if x.sum() > 0:
        y[0] = x[0]
    print(y.stop_gradient, y)
    return y if y.stop_gradient else y * 2


def asks_by_getattr(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    return (x * (1 if y.stop_gradient else 3), getattr(y, "stop_gradient", None))


def asks_in_the_condition(x):
    y = x.detach()
    n = 0
    while y.stop_gradient and n < 4:
        n += 1
        if x.sum() * n > 3:
            y = y + x
    return (y, n)


def returns_early(x):
    for i in range(3):
        if x.sum() > 4:
            x = x.detach()
        x = x + i
        if x.stop_gradient:
            return x * 5
    return x


def prints_a_list(x):
    items = []
    while x.sum() < 10 and x.sum() > 0:
        if x.sum() > 4:
            items.append(x.detach())
        else:
            items.append(x)
        x = x + 1
    print(items)
    for t in items:
        print(t.stop_gradient)
    return items


def copies_and_casts(x):
    y = x * 2 if x.sum() > 0 else x.detach()
    print(y.clone().stop_gradient, y.astype("float64").stop_gradient, (y > 0).stop_gradient, y.argmax().stop_gradient)
    return y


def lists_of_lists(x):
    rows = []
    while x.sum() < 20 and x.sum() > 0:
        row = []
        if x.sum() > 4:
            row.append(x.detach())
        row.append(x * 2)
        rows.append(row)
        x = x + 2
    for r in rows:
        for t in r:
            print(t.stop_gradient, t)
    return rows


def pops_and_inserts(x):
    items = [x, x.detach()]
    if x.sum() > 0:
        items.insert(0, x.detach() * 2)
    if x.sum() > 4:
        items.pop(1)
    items.reverse()
    for t in items:
        print(t.stop_gradient)
    a = items[-1]
    return (a * 2 if a.stop_gradient else a * 3, paddle.stack(items).stop_gradient, paddle.concat(items[:1]))


def slices_and_stacks(x):
    items = []
    while x.abs().sum() < 12:
        items.append(x if x.sum() > 3 else x.detach())
        x = x * 2
    m = items[1:] + [x]
    s = paddle.stack(m)
    print(s.stop_gradient, m, paddle.concat(items + [x]).stop_gradient)
    return s


def exchanges_items(x):
    items = [x.detach()]
    while x.abs().sum() < 12:
        items.append(x.detach())
        x = x * 2
    items[0] = x
    if x.sum() > 0:
        items[-1] = x
    return ([t.stop_gradient for t in items], items, sum(items).stop_gradient)


def pairs(x):
    items = []
    while x.abs().sum() < 12:
        items.append((x.detach(), x))
        if x.sum() > 4:
            items.append((x, x.detach()))
        x = x * 2
    for a, b in items:
        print(a.stop_gradient, b.stop_gradient)
    return x


def values_of_a_dict(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x.detach()
    if x.sum() > 4:
        d["a"] = x.detach()
    for k in d:
        print(k, d[k].stop_gradient)
    return d["a"].stop_gradient


def a_dict_filled_in_turns(x):
    d = {}
    while x.abs().sum() < 12:
        d[int(x.sum())] = x if x.sum() > 3 else x.detach()
        x = x * 2
    for k in d:
        print(k, d[k].stop_gradient)
    return x


def sorts(x):
    items = []
    while x.abs().sum() < 12:
        items.append(x if x.sum() > 3 else x.detach())
        x = x * 2
    items.sort(key=lambda t: -t.sum())
    for t in items:
        print(t.stop_gradient, t)
    return items


def branches_in_turns(x):
    y = x * 2
    while y.abs().sum() < 10:
        if y.sum() > 4:
            y = y.detach()
        z = y * 3 if y.stop_gradient else y + 1
        w = z if z.sum() > 2 else z.detach()
        print(z.stop_gradient, w.stop_gradient)
        y = y + w.abs() + 1
    return y


def the_best_of_some(x):
    best = x.detach()
    for i in range(4):
        cand = x * i
        if cand.sum() > best.sum():
            best = cand
        print(i, best.stop_gradient)
    return best


def leaves_a_loop(x):
    y = x.detach()
    for i in range(5):
        y = y + 1
        if y.sum() > 6:
            break
        if i == 2:
            y = y + x
    print(y, y.stop_gradient)
    return y


def conditional_expressions(x):
    y = (x if x.sum() > 0 else x.detach()) if x.sum() < 4 else x * 2
    return ({"s": y.stop_gradient, "t": f"{y.stop_gradient}"}, "g" if not y.stop_gradient else "s")


def asks_a_helper(x):

    def helper(t, keep):
        if keep.sum() > 2:
            t = t.detach()
        return t

    a = helper(x, x)
    b = helper(x * 2, x - 4)
    if a.stop_gradient and b.stop_gradient:
        return x * 0
    if a.stop_gradient:
        return b
    return a + b


def may_be_none(x):
    y = None
    if x.sum() > 0:
        y = x.detach()
    if x.sum() > 4:
        y = x
    print(y)
    if y is None:
        return x
    return y * 2 if y.stop_gradient else y


def an_attribute(x):

    class B:
        pass

    b = B()
    b.t = x
    if x.sum() > 0:
        b.t = x.detach()
    print(b.t.stop_gradient, b.t)
    return b.t


FUNCTIONS = [
    a_branch_detaches,
    prints_what_is_computed,
    texts,
    turns_that_start_detached,
    asks_in_turns,
    sets_the_flag_on_a_path,
    asks_for_leaves,
    combines_flags,
    raises,
    compares_flags,
    gives_flags_back,
    hands_the_flag_on,
    nested_branches,
    flags_of_a_plain_list,
    items_that_differ,
    changes_an_item,
    asks_by_getattr,
    asks_in_the_condition,
    returns_early,
    prints_a_list,
    copies_and_casts,
    lists_of_lists,
    pops_and_inserts,
    slices_and_stacks,
    exchanges_items,
    pairs,
    values_of_a_dict,
    a_dict_filled_in_turns,
    sorts,
    branches_in_turns,
    the_best_of_some,
    leaves_a_loop,
    conditional_expressions,
    asks_a_helper,
    may_be_none,
    an_attribute,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_whole_program_says_what_eager_code_does(function):
    compare(function, *ROWS)


def an_item_or_another(x):
    items = []
    while x.abs().sum() < 20:
        items.append(x.detach() if x.sum() > 3 else x)
        x = x * 2
    first = items[0] if len(items) > 0 else x
    print(first.stop_gradient)
    for _ in range(2):
        if x.sum() > 21:
            first = first * 2
    return first, first.stop_gradient


def test_an_item_that_a_path_exchanges():
    compare(an_item_or_another, *ROWS)


def doubled(x):
    if x.sum() > 20:
        return x * 1
    return doubled(x.abs() * 2)


def asks_of_a_recursion(x):
    y = doubled(x)
    print(y.stop_gradient, y)
    return y if y.stop_gradient else y * 2


def shown_on_the_way(x):
    print(x, x.stop_gradient)
    if x.sum() > 20:
        return x.detach()
    return shown_on_the_way(x.abs() * 2)


def asks_of_what_it_cuts_off(x):
    y = shown_on_the_way(x)
    print(y, y.stop_gradient)
    return y + x


def calls_with_both(x):
    y, z = doubled(x), doubled(x.detach())
    print(x.stop_gradient)
    return y + z


@pytest.mark.parametrize("function", [asks_of_a_recursion, asks_of_what_it_cuts_off, calls_with_both])
def test_functions_that_call_themselves(function):
    compare(function, *ROWS)


def test_nothing_tells_of_what_a_function_gives_that_calls_itself():
    def halved(x):
        if x.sum() < 1:
            return x.detach() if x.sum() < 0 else x
        return halved(x / 2)

    def function(x):
        return halved(x).stop_gradient

    with pytest.raises(UnsupportedError, match="nothing in the program tells whether a gradient comes"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor([1.0, 2.0], stop_gradient=False))


def test_the_name_of_one_of_two_tensors_is_no_others():
    def function(x):
        a, b = x * 2, x * 3
        a.name, b.name = "a", "b"
        c = a if x.sum() > 0 else b
        return x * (1 if c.name == "a" else 2)

    compare(function, *ROWS)
