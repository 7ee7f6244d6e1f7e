"""Python constructs, each as a small function and its arguments. The harness finds out what becomes of each."""

# ruff: noqa
from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import random
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle

VECTOR = [1.0, 2.0, 3.0]
LAYERS = paddle.nn.LayerList([paddle.nn.Linear(3, 3) for _ in range(2)])
MATRIX = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@dataclass(frozen=True)
class Construct:
    """One row of the table. `calls` holds the arguments of each call; lists of floats become tensors."""

    name: str
    group: str
    fn: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]


CONSTRUCTS: list[Construct] = []


def construct(group: str, name: str, *calls: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put the decorated function into the table; without `calls` it is called with a vector, twice with other values."""

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        CONSTRUCTS.append(Construct(name, group, fn, calls or ((VECTOR,), ([-1.0, -2.0, 0.5],))))
        return fn

    return add


BRANCH, LOOP, LOGIC, CALL, DATA, OBJECT = "Branches", "Loops", "Logic", "Calls", "Containers", "Objects"
RECURSION, STATEMENT, BUILTIN, HOST, SOURCE = "Recursion", "Statements", "Builtins", "Host", "Where functions come from"


# -- branches ---------------------------------------------------------------------------------------------------------
@construct(BRANCH, "`if` / `elif` / `else` on tensors")
def if_elif_else(x):
    if x.sum() > 3:
        y = x * 2
    elif x.sum() > 0:
        y = x
    else:
        y = -x
    return y


@construct(BRANCH, "early `return` in a branch")
def early_return(x):
    if x.sum() > 0:
        return x * 2
    x = x + 1
    return x


@construct(BRANCH, "variable born in one branch only", (VECTOR,))
def born_in_branch(x):
    if x.sum() > 0:
        y = x * 2
    return y


@construct(BRANCH, "dtype differs between branches (promoted)")
def dtype_differs(x):
    if x.sum() > 0:
        n = 1
    else:
        n = 2.5
    return x * n


@construct(BRANCH, "attribute assigned in a branch")
def attribute_in_branch(x):
    box = Box(x)
    if x.sum() > 0:
        box.value = x * 2
    return box.value


@construct(BRANCH, "subscript assigned in a branch")
def subscript_in_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d["a"] = x * 2
    return d["a"]


@construct(BRANCH, "list appended to in a branch")
def list_in_branch(x):
    items = [x]
    if x.sum() > 0:
        items.append(x * 2)
    else:
        items.append(x * 3)
    return items[1]


@construct(BRANCH, "list that has more items on one path")
def list_grows_in_branch(x):
    items = [x]
    if x.sum() > 0:
        items.append(x * 2)
    return sum(items)


@construct(BRANCH, "nested function and `lambda` defined in a branch")
def function_in_branch(x):
    if x.sum() > 0:
        scale = lambda y: y * 2
        y = scale(x)
    else:

        def shrink(y):
            return y / 2

        y = shrink(x)
    return y


@construct(BRANCH, "None on one path, tensor on the other, tested later")
def none_or_tensor(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        return x
    return y


@construct(BRANCH, "text on one path, tensor on the other")
def text_or_tensor(x):
    y = x
    if x.sum() > 0:
        y = "positive"
    return y


@construct(BRANCH, "Python value that a tensor chose, as an argument (`axis = 0 if t else None`)", (MATRIX,), ([[-9.0, 2.0], [1.0, 2.0]],))
def chosen_argument(x):
    axis = 0 if x.sum() > 0 else None
    return x.sum(axis) * 2


@construct(BRANCH, "tensors of different rank", (MATRIX,), ([[-9.0, 2.0], [1.0, 2.0]],))
def rank_differs(x):
    y = x if x.sum() > 0 else x.sum(0)
    return y.mean(-1)


@construct(BRANCH, "wrong use of Python values on a path (`None + 1`), raised if taken")
def wrong_on_a_path(x):
    scale = None
    if x.sum() < 0:
        x = x * (scale + 1)
    return x


@construct(BRANCH, "`del` in a branch", (VECTOR,))
def delete_in_branch(x):
    y = x * 2
    if x.sum() < 0:
        del y
    return y


@construct(BRANCH, "in-place operation in a branch")
def inplace_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        y.add_(x)
    return y


# -- loops ------------------------------------------------------------------------------------------------------------
@construct(LOOP, "`while` on a tensor")
def while_tensor(x):
    while x.sum() < 100:
        x = x + 10
    return x


@construct(LOOP, "`while True` with `break`")
def while_true(x):
    while True:
        x = x + 10
        if x.sum() > 50:
            break
    return x


@construct(LOOP, "`continue` and `break` on tensors")
def continue_break(x):
    total = x * 0
    for i in range(10):
        if total.sum() > 50:
            break
        if (x + i).sum() < 3:
            continue
        total = total + x * x
    return total


@construct(LOOP, "`else` of loops")
def loop_else(x):
    for i in range(3):
        if x.sum() > 5:
            break
        x = x + 1
    else:
        x = x * 2
    return x


@construct(LOOP, "`return` in nested loops")
def return_in_loops(x):
    for i in range(3):
        for j in range(3):
            if (x.sum() * (i + 1) * (j + 1)) > 20:
                return x * i + j
    return x


@construct(LOOP, "`for` over a tensor", (MATRIX,))
def for_tensor(x):
    total = 0
    for row in x:
        total = total + row * row
    return total


@construct(LOOP, "`for` over a tensor of unknown length")
def for_unknown(x):
    total = x.sum() * 0
    for item in x[x > 0]:
        total = total + item * item
    return total


@construct(LOOP, "`range` with tensor bounds", ([3],), ([5],))
def range_tensor(n):
    total = paddle.zeros([1])
    for i in range(n.sum()):
        total = total + i
    return total


@construct(LOOP, "`range` with a negative step and a tensor bound", ([3],), ([6],))
def range_negative(n):
    total = paddle.zeros([1])
    for i in range(n.sum(), 0, -2):
        total = total * 2 + i
    return total


@construct(LOOP, "`enumerate` and `zip` over tensors", (MATRIX,))
def enumerate_zip(x):
    total = 0
    for i, (a, b) in enumerate(zip(x, x * 2), 1):
        total = total + a * b * i
    return total


@construct(LOOP, "`iter`, `enumerate`, `zip`, `map` of tensors, left where a tensor says and gone on with", (MATRIX,))
def kept_iterators(x):
    rows = enumerate(x)
    for i, row in rows:  # noqa: B007 - it is what the loop leaves
        if row.sum() > 0:
            break
    left = iter([row for _, row in rows])
    return i, any((row > 0).all() for row in left), list(left)


@construct(LOOP, "`reversed`, `map`, `filter` over Python sequences")
def map_filter(x):
    for f in map(lambda n: n * 2, filter(lambda n: n > 1, reversed([1, 2, 3]))):
        x = x * f
    return x


@construct(LOOP, "`for` over dicts and their views")
def for_dict(x):
    for name, scale in {"a": 2, "b": 3}.items():
        if x.sum() < 20:
            x = x * scale
    return x


@construct(LOOP, "custom iterator")
def custom_iterator(x):
    for n in Countdown(3):
        x = x * n
    return x


@construct(LOOP, "custom iterator whose end a tensor finds")
def ended_iterator(x):
    total = x * 0
    for y in Doubling(x):
        total = total + y
    return total


@construct(LOOP, "`itertools.count` and `cycle`, left by a tensor")
def endless(x):
    for n, sign in zip(itertools.count(1), itertools.cycle([1, -1])):
        x = x * 1.5 + n * sign
        if x.abs().sum() > 30:
            break
    return x, n


@construct(LOOP, "loop variable that is a tuple of tensors")
def tuple_state(x):
    state = (x, x * 2)
    while state[0].sum() < 50:
        state = (state[1] + 5, state[0])
    return state


@construct(LOOP, "loop variable that is a dict of tensors")
def dict_state(x):
    state = {"a": x, "n": 0}
    while state["a"].sum() < 50:
        state = {"a": state["a"] + 5, "n": state["n"] + 1}
    return state["a"], state["n"]


@construct(LOOP, "loop variable that is a namedtuple or dataclass")
def record_state(x):
    p, q = Pair(x, x), Box(x)
    while p.first.sum() < 50:
        p = Pair(p.second + 5, p.first)
        q = dataclasses.replace(q, value=q.value + 1)
    return p, q.value


@construct(LOOP, "loop variable that changes its size")
def size_changes(x):
    while x.shape[0] < 10:
        x = paddle.concat([x, x * 2])
    return x


@construct(LOOP, "loop variable that changes its rank")
def rank_changes(x):
    while x.sum() < 20:
        x = paddle.unsqueeze(x + 5, 0)
    return x


@construct(LOOP, "Python number that becomes a tensor")
def number_becomes_tensor(x):
    total = 0
    n = 0
    while n < 3:
        total = total + x.sum() * n
        n += 1
    return total


@construct(LOOP, "list that grows in a tensor loop, then stacked")
def list_grows(x):
    out = []
    while x.sum() < 50:
        x = x + 5
        out.append(x * x)
    return paddle.stack(out)


@construct(LOOP, "list popped from and inserted into in a tensor loop", (VECTOR,))
def list_pops(x):
    out = [x, x * 2, x * 3]
    while x.sum() < 50:
        x = x + out.pop(0)
        out.insert(1, x)
    return out[0]


@construct(LOOP, "`while` with `:=`")
def while_walrus(x):
    while (total := x.sum()) < 50:
        x = x + 5
    return x * total


@construct(LOOP, "three loops deep, mixed")
def three_deep(x):
    for i in range(2):
        n = 0
        while x.sum() < 50 * (i + 1):
            for row in x:
                if row > 20:
                    break
                x = x + row.abs() + 1
            n += 1
            if n > 5:
                break
    return x


# -- logic ------------------------------------------------------------------------------------------------------------
@construct(LOGIC, "`and` / `or` / `not`, short-circuit")
def and_or_not(x):
    if x.sum() > 0 and not (x.max() > 10 or x.min() < -10):
        return x * 2
    return x


@construct(LOGIC, "value of `or`")
def value_of_or(x):
    return (x.sum() > 0 or x.min()) * 1.0


@construct(LOGIC, "chained comparison")
def chained(x):
    if -1 < x.sum() < 3:
        return x
    return -x


@construct(LOGIC, "conditional expression")
def ternary(x):
    return x * 2 if x.sum() > 0 else (x if x.sum() < -3 else -x)


@construct(LOGIC, "`in` on a list and on a tensor")
def contains(x):
    if 2.0 in x or 7 in [1, 2]:
        return x * 2
    return x


@construct(LOGIC, "`is None`")
def is_none(x):
    return x if x is not None else 0


@construct(LOGIC, "`any` / `all` of a `map` whose function prints or appends")
def any_of_a_map(x):
    seen = []

    def large(v):
        print(v)
        seen.append(v * 2)
        return v.sum() > 3

    return any(map(large, [x, x * 2, x - 1])), seen


@construct(LOGIC, "`any` / `all` over a generator of tensors")
def any_all(x):
    if any(v > 2 for v in x) and all(v > 0 for v in x):
        return x * 2
    return x


@construct(LOGIC, "`:=` in a condition")
def walrus(x):
    if (y := x.sum()) > 0:
        return x * y
    return x


# -- calls ------------------------------------------------------------------------------------------------------------
@construct(CALL, "function with tensor branches called")
def calls_function(x):
    return early_return(x) + while_tensor(x)


@construct(CALL, "method, classmethod, staticmethod")
def calls_methods(x):
    return Tools(2).scale(x) + Tools.double(x) + Tools.halve(x)


@construct(CALL, "property with a tensor branch")
def calls_property(x):
    return Box(x).doubled


@construct(CALL, "`super()`")
def calls_super(x):
    return Special(3).scale(x)


@construct(CALL, "callable object")
def calls_object(x):
    return Tools(2)(x)


@construct(CALL, "`functools.partial`")
def calls_partial(x):
    return functools.partial(Tools.blend, weight=0.5)(x, x * 2)


@construct(CALL, "`functools.wraps` decorator")
def calls_decorated(x):
    return decorated(x)


@construct(CALL, "closure with `nonlocal`")
def closure_nonlocal(x):
    count = 0

    def step(y):
        nonlocal count
        count += 1
        if y.sum() > 0:
            count += 10
        return y * 2

    y = step(step(x))
    return y * count


@construct(CALL, "`global` written")
def writes_global(x):
    global COUNTER
    COUNTER = COUNTER + 1
    return x * 2


@construct(CALL, "lambda in a container, higher-order function")
def higher_order(x):
    table = {"double": lambda y: y * 2 if y.sum() > 0 else y}
    return apply(table["double"], x)


def fill(x, y=1.0, z=2.0, *, scale=1):
    return (x * y + z) * scale


@construct(CALL, "default, keyword-only, `*args`, `**kwargs`")
def star_arguments(x):
    return collect(x, x * 2, scale=3, extra=x)


@construct(CALL, "star-args call")
def star_call(x):
    args, kwargs = (x, x), {"scale": 2}
    return collect(*args, **kwargs)


@construct(CALL, "star-args call, their number known only when it runs")
def star_call_of_open_list(x):
    found = [x]
    while found[-1].sum() < 20:
        found.append(found[-1] + 1)
    return collect(x, *found, scale=2)


@construct(CALL, "`f(*xs)` and `f(**d)`, their number and names known only when it runs, given to parameters")
def stars_given_to_parameters(x):
    found, named = [x], {}
    while found[-1].sum() < 20:
        found.append(found[-1] + 15)
    if x.sum() > 0:
        named["scale"] = 2
    return fill(*found, **named)


@construct(CALL, "`max(*xs)`, `zip(*rows)`, `print(*xs)`, their number known only when it runs")
def builtins_of_open_list(x):
    found = [x.sum()]
    while found[-1] < 20:
        found.append(found[-1] + 1)
    print(*found)
    first, second = zip(*[(v, v * 2) for v in found])
    return max(*found) + sum(first) * min(*second)


@construct(CALL, "Layer made inside, whose parameters are drawn by each run")
def layer_made_inside(x):
    paddle.seed(3)
    if x.sum() > 0:
        x = paddle.nn.Linear(3, 3)(x)
    return x


@construct(CALL, "Layer with hooks")
def layer_with_hooks(x):
    return HOOKED(x)


@construct(CALL, "`y.register_hook(...)` on a tensor made inside")
def hook_on_tensor(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 3)
    return y * x


@construct(CALL, "plain class made inside")
def makes_object(x):
    box = Box(x)
    box.value = box.value * 2
    return box.value


# -- recursion --------------------------------------------------------------------------------------------------------
@construct(RECURSION, "recursion with Python depth")
def python_recursion(x, n=3):
    return x if n == 0 else python_recursion(x * 2, n - 1)


@construct(RECURSION, "recursion that a tensor stops")
def tensor_recursion(x):
    if x.sum() > 50:
        return x
    return tensor_recursion(x + 5) * 1.5


@construct(RECURSION, "mutual recursion that a tensor stops")
def mutual_recursion(x):
    if x.sum() > 50:
        return x
    return other_half(x + 3)


@construct(RECURSION, "recursion that only an exception ends")
def raising_recursion(x):
    if x.sum() > 50:
        raise ValueError("too large")
    return raising_recursion(x + 5)


# -- containers -------------------------------------------------------------------------------------------------------
@construct(DATA, "list, dict, set comprehension")
def comprehensions(x):
    rows = [v * 2 for v in x if True]
    d = {k: v for k, v in zip("abc", rows)}
    return d["a"] + d["b"], len({k for k in d})


@construct(DATA, "comprehension whose condition is a tensor")
def comprehension_if(x):
    return sum([v for v in x if v > 1], paddle.zeros([]))


@construct(DATA, "generator expression used up at once")
def generator_expression(x):
    return sum(v * v for v in x)


@construct(DATA, "star-unpacking")
def star_unpacking(x):
    first, *rest = x
    return first + sum(rest)


@construct(DATA, "slices and `x[i] = v` with tensor indices")
def set_item(x):
    y = x * 1
    i = paddle.argmax(x)
    y[i] = 0
    y[1:] = y[1:] * 2
    return y


@construct(DATA, "`x[mask] = v`")
def set_mask(x):
    y = x * 1
    y[y > 1] = 0
    return y


@construct(DATA, "argument changed in place", ([1, 2, 3],), ([4, 5, 6],))
def changes_argument(x):
    x[0] = 5
    if x.sum() > 12:
        x.add_(x)
    return x * 2


@construct(DATA, "list argument changed", (VECTOR, 2))
def changes_list(x, n):
    items = list(range(n))
    items.append(x)
    return items


@construct(DATA, "augmented assignment to every target")
def augmented(x):
    box, d = Box(x), {"a": x}
    box.value += 1
    d["a"] *= 2
    x -= 1
    return box.value, d["a"], x


@construct(DATA, "list of tensors of other ranks or dtypes, None and tuples, whose length a tensor decides")
def items_of_kinds(x):
    found = [x, None]
    for v in x:
        if v > 0:
            found.append(v)
        if v > 1:
            found.append((v, "large"))
    return found, len(found)


@construct(DATA, "sort with a tensor key")
def sort_key(x):
    return paddle.stack(sorted([x[0], x[1], x[2]], key=lambda v: -v))


@construct(DATA, "axis that only a run knows")
def axis_of_the_run(x):
    return x.reshape([1, -1]).flip(int(x.argmax()) % 2), x.reshape([1, -1]).softmax(-int(x.argmin() > 0) - 1)


@construct(DATA, "`x.shape` arithmetic")
def shape_arithmetic(x):
    return x.reshape([x.shape[0] // 1, 1]) * (x.shape[0] + 1)


@construct(DATA, "`d[k] = v` and `d[k] += v` where a tensor gives `k`, one of the keys")
def item_set_by_number(x):
    counts = {0: 0, 1: 0}
    for v in x:
        counts[int(v > 0)] += 1
    counts[int(x.argmax()) % 2] = 7
    return counts


@construct(DATA, "dict and set whose keys are numbers that only a run knows")
def keys_of_the_run(x):
    counts, seen = {}, set()
    for v in x:
        counts[int(v)] = counts.get(int(v), 0) + v
        seen.add(int(v) % 2)
    return counts, seen, len(seen)


@construct(DATA, "dict of dicts, or of sets, whose keys are numbers that only a run knows")
def keys_of_the_run_in_dicts(x):
    counts, seen = {}, defaultdict(set)
    for v in x:
        counts.setdefault(int(v) % 2, {})[int(v)] = v
        seen[int(v) % 2].add(int(v))
    return counts, seen


@construct(DATA, "set changed on one path")
def set_by_path(x):
    found = {0}
    if x.sum() > 3:
        found.add(1)
    found |= {2}
    return x * len(found), found


@construct(DATA, "`deque` changed on one path, and in a loop that a tensor stops")
def deque_by_path(x):
    waiting, done = deque([x], maxlen=8), []
    while waiting:
        item = waiting.popleft()
        if item.sum() < 10:
            waiting.append(item + 2)
        else:
            waiting.rotate(1)
        done.append(item)
    return paddle.stack(done)


@construct(DATA, "`index`, `remove`, `==` and slices changed between two tensors, of a list that grew on one path")
def list_searched(x):
    found = [3, 1, 2]
    if x.sum() > 0:
        found.append(7)
    n = found.index(2)
    found[n - 1 : n] = [5, 6]
    found.remove(3)
    return x * n, found, found == [5, 6, 2]


@construct(DATA, "`defaultdict`, `Counter`, `OrderedDict` changed on one path")
def dicts_of_the_library_by_path(x):
    groups, counts, latest = defaultdict(list), Counter(), OrderedDict()
    for v in x:
        groups["up" if v > 0 else "down"].append(v)
        counts[int(v > 0)] += 1
    if x.sum() > 3:
        latest["last"] = x
    return groups["up"], counts[1], latest


@construct(DATA, "item of a list, tuple or `LayerList` at a tensor's position")
def item_at_a_position(x):
    at = x.argmax() % 2
    rows = [[x], []]
    rows[at].append(x * 2)
    return (paddle.sin, paddle.cos)[at](x), LAYERS[int(at)](x), rows


@construct(DATA, "reshape by a tensor")
def reshape_tensor(x):
    return paddle.reshape(x, [paddle.to_tensor(3), 1])


# -- statements -------------------------------------------------------------------------------------------------------
@construct(STATEMENT, "`match` on values and guards")
def match_values(x):
    match x.sum():
        case s if s > 3:
            return x * 2
        case s:
            return x - s


@construct(STATEMENT, "`match` on structure")
def match_structure(x):
    match (x, {"scale": 2}):
        case [y, {"scale": n}] if y.sum() > 0:
            return y * n
        case _:
            return x


@construct(STATEMENT, "`with` as a mode (no_grad, auto_cast)")
def with_mode(x):
    with paddle.no_grad():
        y = x * 2
    if x.sum() > 0:
        with paddle.amp.auto_cast(False):
            y = y + x
    return y + x


@construct(STATEMENT, "`with` whose context manager, or its flag, a tensor chooses")
def with_chosen(x):
    with paddle.no_grad() if x.sum() > 0 else contextlib.nullcontext():
        y = x * 2
    with paddle.set_grad_enabled(bool(x.max() > 2)):
        y = y + x * x
    return y + x


@construct(STATEMENT, "`with` of a user's context manager")
def with_user(x):
    with doubling() as n:
        x = x * n
    return x


@construct(STATEMENT, "`try` / `except` / `finally`, Python exceptions")
def try_except(x):
    try:
        y = {"a": x}["b"]
    except KeyError:
        y = x * 2
    finally:
        x = x + 1
    return y + x


@construct(STATEMENT, "`raise` if a tensor says so")
def raises(x):
    if x.sum() > 3:
        raise ValueError("too large")
    return x


@construct(STATEMENT, "`try` around what a tensor raises")
def try_tensor(x):
    try:
        if x.sum() > 3:
            raise ValueError("too large")
    except ValueError:
        x = x / 2
    return x


@construct(STATEMENT, "`try` around a call that a tensor lets raise")
def try_call(x):
    def check(x):
        if x.sum() > 3:
            raise ValueError("too large")

    try:
        check(x)
    except ValueError:
        x = x / 2
    return x


@construct(STATEMENT, "`try` around an operator, item or property that a tensor lets raise")
def try_property(x):
    class Checked:
        @property
        def value(self):
            if x.sum() > 3:
                raise ValueError("too large")
            return x

    try:
        return Checked().value * 2
    except ValueError:
        return x / 2


@construct(STATEMENT, "`try` around a comprehension, or special method, that a tensor lets raise")
def try_comprehension(x):
    def checked(value):
        if value.sum() > 3:
            raise ValueError("too large")
        return value

    try:
        return sum([checked(v) for v in (x, x * 2)])
    except ValueError:
        return x / 2


@construct(STATEMENT, "`try` around what Python finds wrong on one path (a missing key, `1 // 0`)")
def try_lookup(x):
    found = {"a": x}
    try:
        y = found["b"] if x.sum() > 3 else x
    except KeyError:
        y = x / 2
    return y


@construct(STATEMENT, "`try` around an operation that a tensor lets fail (`d[int(v)]`, `1 / int(v)`)")
def try_operations(x):
    found = []
    for v in x:
        try:
            found.append(6 / int(v - 1))
        except ZeroDivisionError:
            found.append(-1.0)
    return found


@construct(STATEMENT, "`with suppress(...)` around what a tensor lets raise")
def suppressed_lookup(x):
    found = [x]
    with contextlib.suppress(IndexError):
        if x.sum() > 3:
            x = found[1]
        x = x + 1
    return x


@construct(STATEMENT, "`assert` on a tensor, with a message")
def asserts(x):
    assert x.sum() < 3, f"sum is {x.sum()}"
    return x


@construct(STATEMENT, "`if x.stop_gradient`, and `print` of a tensor, where a path decides about it")
def flag_of_a_path(x):
    y = x * 2 if x.sum() > 3 else x.detach()
    print(y, y.stop_gradient)
    return y + 1 if y.stop_gradient else y * 2


@construct(STATEMENT, "`print` of tensors, in order")
def prints(x):
    print("sum", x.sum())
    if x.sum() > 0:
        print(f"max {x.max()}")
    return x


@construct(STATEMENT, "f-string of a tensor, returned")
def f_string(x):
    return f"sum {x.sum()}", x


@construct(STATEMENT, "`break`, `continue` and `return` in `finally`, if a tensor says so")
def jumps_in_finally(x):
    while x.sum() < 50:
        try:
            x = x + 5
            if x.sum() > 30:
                raise ValueError("dropped")
        finally:
            if x.sum() > 40:
                return x * 2
            if x.sum() > 25:
                break
            continue
    return x


@construct(STATEMENT, "`del` of names and items")
def deletes(x):
    d = {"a": x, "b": x * 2}
    del d["a"]
    y = d["b"]
    del d
    return y


@construct(STATEMENT, "generator function consumed inside")
def consumes_generator(x):
    return sum(countdown(x, 3))


@construct(STATEMENT, "generator function with a tensor branch inside")
def consumes_branching_generator(x):
    return sum(positive_rows(x), paddle.zeros([]))


def up_to_negative(x):
    left = []
    try:
        for row in x:
            if row.sum() < 0:
                return
            yield row
    finally:
        left.append(x)


@construct(STATEMENT, "generator function with a `yield` in `try` / `finally`, which a tensor ends")
def consumes_watched_generator(x):
    return sum(up_to_negative(x), paddle.zeros([]))


def growing(x):
    while x.sum() < 20:
        x = x + 2
        yield x
    yield from (v for v in x if v > 7)


@construct(STATEMENT, "generator function with a tensor loop and `yield from`, left by a tensor")
def leaves_a_generator(x):
    total = x * 0
    for y in growing(x):
        if y.max() > 8:
            break
        total = total + y
    return total


@construct(STATEMENT, "`paddle.seed(...)`, random numbers before and after")
def seeds(x):
    y = paddle.rand([3])
    paddle.seed(5)
    return x * paddle.rand([3]), y * 0


@construct(STATEMENT, "class defined inside")
def class_inside(x):
    class Local:
        factor = 2

    return x * Local.factor


@construct(STATEMENT, "import inside")
def import_inside(x):
    import math as m

    return x * m.pi


# -- builtins ---------------------------------------------------------------------------------------------------------
@construct(BUILTIN, "`len`, `abs`, `min`, `max`, `sum`, `pow`")
def number_builtins(x):
    return abs(x) + max(x[0], x[1]) + min(x[0], 0) + sum(x) + pow(x, 2) + len(x)


@construct(BUILTIN, "`int`, `float`, `bool` of tensors")
def casts(x):
    return x * int(x.sum()) + float(x.sum()), bool(x.sum() > 0)


@construct(BUILTIN, "`sorted` of tensors")
def sorted_tensors(x):
    return paddle.stack(sorted(x))


@construct(BUILTIN, "`isinstance`, `getattr`, `hasattr`, `type`")
def introspection(x):
    if isinstance(x, paddle.Tensor) and hasattr(x, "shape") and callable(getattr(x, "sum")):
        return x * 2
    return x


@construct(BUILTIN, "`str` of a tensor, printed")
def str_tensor(x):
    print(str(x.sum()))
    return x


@construct(BUILTIN, "functions of `math`")
def math_functions(x):
    return x * math.sqrt(4) + math.exp(x.sum())


# -- host round trips -------------------------------------------------------------------------------------------------
@construct(HOST, "`x.numpy()` whose result goes back to tensors")
def numpy_roundtrip(x):
    y = np.sort(x.detach().numpy())
    return paddle.to_tensor(y) + x


@construct(HOST, "`x.numpy()` that drives Python")
def numpy_drives(x):
    n = int(x.numpy().sum())
    return x * len("a" * abs(n))


@construct(HOST, "`x.item()` in arithmetic")
def item_arithmetic(x):
    return x * x.sum().item()


@construct(HOST, "`x.item()` in a condition")
def item_condition(x):
    if x.sum().item() > 3:
        return x * 2
    return x


@construct(HOST, "`x.numpy()` and `x.tolist()` on one path")
def numpy_on_one_path(x):
    array, numbers = np.zeros(3, "float32"), []
    if x.sum() > 3:
        array, numbers = x.detach().numpy() * 2, x.tolist()
    return x * float(array.max()) + sum(numbers), len(numbers)


@construct(HOST, "`random.Random(5)`, `numpy.random.default_rng(0)` made inside")
def made_generators(x):
    first, second = random.Random(5), np.random.default_rng(0)
    if x.sum() > 3:
        x = x * first.random()
    return x + first.random() + float(second.normal())


@construct(HOST, "`x.tolist()`")
def to_list(x):
    return x + sum(x.tolist())


@construct(HOST, "NumPy function on a tensor")
def numpy_function(x):
    return paddle.to_tensor(np.cumsum(x.detach())) + x


@construct(HOST, "array of NumPy's made inside, filled on a path or in a loop", (VECTOR,))
def filled_array(x):
    found = np.zeros(4, dtype="float32")
    for i in range(3):
        if x[i] > 0:
            found[i] = x[i].item()
    while found.sum() < 9:
        found[3] += 1
    return paddle.to_tensor(found) + x.sum()


@construct(HOST, "Python number from a tensor as a dict key", (VECTOR,))
def item_as_key(x):
    return {6: x * 2}[int(x.sum())]


@construct(HOST, "`random.random()`", (VECTOR,))
def random_number(x):
    return x * (random.random() < 2)


@construct(HOST, "`if numpy.random.rand() < p` (layers left out), `random.choice`, `random.shuffle` of a list", (VECTOR,))
def random_path(x):
    parts = [x, x, x]
    random.shuffle(parts)
    if np.random.rand() < 2:
        return random.choice(parts)
    return -x


@construct(HOST, "`time.time()`", (VECTOR,))
def wall_clock(x):
    return x * (time.time() > 0)


@construct(HOST, "`backward()` inside, to a leaf of the function's own", (VECTOR,))
def backward_to_own_leaf(x):
    w = paddle.to_tensor([1.0], stop_gradient=False)
    loss = (x.detach() * w).sum()
    loss.backward()
    return w.grad


@construct(HOST, "`backward()` inside, to an argument", (VECTOR,))
def backward_inside(x):
    x.stop_gradient = False
    loss = (x * x).sum()
    loss.backward()
    return x.grad.detach()


@construct(HOST, "`locals()`", (VECTOR,))
def reads_locals(x):
    y = x * 2
    return locals()["y"]


# -- objects ----------------------------------------------------------------------------------------------------------
@construct(OBJECT, "attribute that counts calls")
def counts_calls(x):
    STATE.calls += 1
    return x * 2


@construct(OBJECT, "attribute that holds a running tensor")
def running_state(x):
    y = HOLDER.step(x)
    return y


@construct(OBJECT, "dataclass made and replaced")
def dataclass_replace(x):
    return dataclasses.replace(Box(x), value=x * 2).value


@construct(OBJECT, "`__getitem__`, `__len__`, `__contains__` of a class")
def special_methods(x):
    shelf = Shelf([x, x * 2])
    return shelf[1] * len(shelf) if 0 in shelf else x


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def width(self):
        return self.high - self.low


@construct(OBJECT, "object made on both paths, read and called afterwards")
def object_on_both_paths(x):
    i = Interval(x, x * 2) if x.sum() > 0 else Interval(x * 3, x)
    return i.width() + i.low


@construct(OBJECT, "object exchanged in a tensor loop")
def object_in_a_loop(x):
    i = Interval(x, x + 1)
    while i.high.sum() < 20:
        i = Interval(i.low + 1, i.high + i.width())
    return i.high


@construct(OBJECT, "operators of a class")
def class_operators(x):
    return (Money(x) + Money(x * 2)).amount


@construct(OBJECT, "`functools.cached_property`")
def cached(x):
    return Tools(3).cubed * x


# -- where functions come from ----------------------------------------------------------------------------------------
CONSTRUCTS.append(
    Construct(
        "lambda on a line with others", SOURCE, (lambda a: a, lambda a: a * 2 if a.sum() > 0 else a)[1], ((VECTOR,),)
    )
)
CONSTRUCTS.append(Construct("bound method of a plain class", SOURCE, lambda x: METHOD(x), ((VECTOR,),)))
CONSTRUCTS.append(Construct("function without source (`exec`)", SOURCE, eval("lambda x: x * 2"), ((VECTOR,),)))
CONSTRUCTS.append(Construct("C function", SOURCE, math.fabs, ((2.5,),)))


@construct(SOURCE, "generator function as the target", (VECTOR,))
def generator_target(x):
    yield x * 2


@construct(SOURCE, "coroutine as the target", (VECTOR,))
async def coroutine_target(x):
    return x * 2


# -- what the functions use -------------------------------------------------------------------------------------------
COUNTER = 0
Pair = namedtuple("Pair", "first second")


@dataclass
class Box:
    value: Any

    @property
    def doubled(self):
        if self.value.sum() > 0:
            return self.value * 2
        return self.value


class Doubling:
    """Doubles a tensor until it is large."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.x.abs().sum() > 30:
            raise StopIteration
        self.x = self.x * 2
        return self.x


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1


class Tools:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.scale(x)

    def scale(self, x):
        if x.sum() > 0:
            return x * self.factor
        return x

    @classmethod
    def double(cls, x):
        return cls(2).scale(x)

    @staticmethod
    def halve(x):
        return x / 2 if x.sum() > 0 else x

    @staticmethod
    def blend(a, b, weight):
        return a * weight + b * (1 - weight)

    @functools.cached_property
    def cubed(self):
        return self.factor**3


class Special(Tools):
    def scale(self, x):
        return super().scale(x) + 1


class Shelf:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)

    def __contains__(self, i):
        return i < len(self.items)


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        if self.amount.sum() > 0:
            return Money(self.amount + other.amount)
        return Money(self.amount - other.amount)


class State:
    calls = 0


class Holder:
    def __init__(self):
        self.total = paddle.zeros([3])

    def step(self, x):
        self.total = self.total.detach() * 0 + x
        return self.total * 2


STATE, HOLDER, METHOD = State(), Holder(), Tools(2).scale
HOOKED = paddle.nn.Identity()
HOOKED.register_forward_post_hook(lambda layer, inputs, output: output * 2)


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) + 1

    return wrapper


@logged
def decorated(x):
    return x * 2 if x.sum() > 0 else x


def apply(f, x):
    return f(x)


def collect(x, *rest, scale=1, **extra):
    total = x * scale
    for y in (*rest, *extra.values()):
        total = total + y
    return total


def other_half(x):
    if x.sum() > 40:
        return x * 2
    return mutual_recursion(x + 2)


def countdown(x, n):
    while n:
        yield x * n
        n -= 1


def positive_rows(x):
    for row in x:
        if row > 0:
            yield row


@contextlib.contextmanager
def doubling():
    yield 2
