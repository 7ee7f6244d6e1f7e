"""Lists and dicts of the user's objects and variables, of which a tensor decides how many items they get."""

import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError, UnsupportedError

HISTORY = []
SEEN = {}


class Slotted:
    __slots__ = ("held",)

    def __init__(self):
        self.held = []


class Box:
    def __init__(self):
        self.items = [paddle.ones([2])]
        self.alias = self.items
        self.named = {}
        self.deep = {"a": [], "b": {"c": [1]}}
        self.slotted = Slotted()


def appended(x, box):
    if x.sum() > 0:
        box.items.append(x * 2)
    return x


def appended_and_read(x, box):
    if x.sum() > 0:
        box.items.append(x * 2)
    return box.items[-1] * len(box.items)


def key_set(x, box):
    if x.sum() > 0:
        box.named["k"] = x * 2
    return box.named.get("k", x)


def in_a_loop(x, box):
    for v in x:
        if v > 0:
            box.deep["a"].append(v)
    return paddle.stack(box.deep["a"]) if len(box.deep["a"]) > 0 else x


def of_a_global(x, box):
    if x.sum() > 0:
        HISTORY.append(x * 2)
    return x


def keys_of_a_global(x, box):
    if x.sum() > 0:
        SEEN["v"] = x
    else:
        SEEN["w"] = x * 2
    return x


def deep_inside(x, box):
    if x.sum() > 0:
        box.deep["b"]["c"].append(5)
    return x * len(box.deep["b"]["c"])


def given_another_name(x, box):
    box.other = box.items
    if x.sum() > 0:
        box.items.append(x)
    return box.other[-1]


def met_by_another_name_later(x, box):
    if x.sum() > 0:
        box.items.append(x)
    same = box.alias
    return same[-1] * len(same)


def in_a_slot(x, box):
    if x.sum() > 0:
        box.slotted.held.append(x)
    return x * len(box.slotted.held)


def popped(x, box):
    if x.sum() > 0 and len(box.items) > 0:
        box.items.pop()
    return x


def by_inner_functions(x, box):
    def keep(v):
        if v.sum() > 0:
            box.items.append(v)

    keep(x)
    keep(-x)
    return sum(box.items)


def returned(x, box):
    if x.sum() > 0:
        box.items.append(x)
    return box.items


def made():
    history = []

    def of_a_closure(x, box):
        if x.sum() > 0:
            history.append(x)
        return x * len(history) + sum(history)

    return of_a_closure


def plain(value):
    """A value as plain Python, with the classes of containers."""
    if isinstance(value, paddle.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {type(value).__name__: {key: plain(held) for key, held in value.items()}}
    if isinstance(value, Slotted):
        return plain(value.held)
    return plain(vars(value)) if isinstance(value, Box) else value


def steps(function):
    """What a function does in a few calls with one object: results, gradients, what is held."""
    HISTORY.clear()
    SEEN.clear()
    box = Box()
    for sign in (1.0, -1.0, 1.0, 2.0, -3.0):
        x = paddle.to_tensor([sign, sign * 0.5], stop_gradient=False)
        result = function(x, box)
        last = result[-1] if isinstance(result, list) else result
        try:
            last.sum().backward()
            gradient = None if x.grad is None else x.grad.tolist()
        except StaleBackwardError:
            gradient = "spent"
        is_kept = result is box.items, box.alias is box.items
        yield plain(result), gradient, plain(box), plain(HISTORY), plain(SEEN), is_kept


@pytest.mark.parametrize("mode", [{"full_graph": True}, {}], ids=["whole", "segments"])
@pytest.mark.parametrize(
    "make",
    [
        *[
            lambda f=f: f
            for f in (
                appended, appended_and_read, key_set, in_a_loop, of_a_global, keys_of_a_global, deep_inside,
                given_another_name, met_by_another_name_later, in_a_slot, popped, by_inner_functions, returned,
            )
        ],
        made,
    ],
    ids=lambda make: make().__name__,
)  # fmt: skip
def test_as_eagerly(make, mode):
    static = paddle.jit.to_static(make(), **mode)
    assert list(steps(static)) == list(steps(make()))
    if mode:
        assert len(static.program_cache) > 0


def test_a_failed_trace_leaves_the_users_own():
    def unconvertible(x, box):
        if x.sum() > 0:
            box.items.append(x)
        return {*box.items}

    box = Box()
    held = box.items
    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(unconvertible, full_graph=True)(paddle.ones([2]), box)
    assert box.items is held and type(held) is list and len(held) == 1


def test_what_nothing_can_stand_for_is_refused():
    holder = ([],)

    def of_a_tuple(x):
        if x.sum() > 0:
            holder[0].append(x)
        return x

    with pytest.raises(UnsupportedError, match="is changed in an `if`"):
        paddle.jit.to_static(of_a_tuple, full_graph=True)(paddle.ones([2]))
    assert holder == ([],)


class Shelf:
    def __init__(self):
        self.table = {"a": 1, "b": 2, "c": 3}
        self.items = [1, 2, 3, 4, 5, 6]
        self.numbers = {1, 2, 3}


def key_popped(x, shelf):
    return x * shelf.table.pop("a" if x.sum() > 0 else "b", 7)


def default_set(x, shelf):
    return x * shelf.table.setdefault("a" if x.sum() > 0 else "d", 9)


def item_popped(x, shelf):
    return x * shelf.items.pop(1 if x.sum() > 0 else 0)


def number_discarded(x, shelf):
    shelf.numbers.discard(1 if x.sum() > 0 else 3)
    return x * len(shelf.numbers)


def moved_between_them(x, shelf):
    put = shelf.items.append if x.sum() > 0 else shelf.numbers.add
    put(9)
    return x


def updated_in_a_loop(x, shelf):
    while x.sum() < 4:
        x = x + 1
        shelf.table.update({"e": float(x.sum())})
        shelf.table.pop("a", None)
        shelf.table.setdefault("f", 2)
    return x


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "f", [updated_in_a_loop, key_popped, default_set, item_popped, number_discarded, moved_between_them]
)
def test_a_change_by_an_argument_that_a_tensor_chooses_is_made_on_its_path_alone(f, full_graph):
    shelves = Shelf(), Shelf()
    static = paddle.jit.to_static(f, full_graph=full_graph)
    for values in ([1.0, 2.0], [1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]):
        found = [fn(paddle.to_tensor(values), shelf).tolist() for fn, shelf in zip((f, static), shelves)]
        assert found[0] == found[1]
        assert vars(shelves[0]) == vars(shelves[1])
