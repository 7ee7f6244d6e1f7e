"""Attributes and items that one path sets to what no tensor stands for: never left out, never set on both paths."""

from .functions import N, X


class Box:
    def __init__(self):
        self.value = None
        self.table = {}

    def __deepcopy__(self, memo):
        return Box()


class Other:
    pass


def list_for_none(x, box):
    if x.sum() > 0:
        box.value = []
    return x


def text_for_none(x, box):
    if x.sum() > 0:
        box.value = "a"
    return x


def object_for_none(x, box):
    if x.sum() > 0:
        box.value = Other()
    return x


def new_list(x, box):
    if x.sum() > 0:
        box.new = []
    return x


def new_text(x, box):
    if x.sum() > 0:
        box.new = "a"
    return x


def new_none(x, box):
    if x.sum() > 0:
        box.new = None
    return x


def key_for_list(x, box):
    if x.sum() > 0:
        box.table["a"] = []
    return x


def key_for_text(x, box):
    if x.sum() > 0:
        box.table["a"] = "b"
    return x


def key_for_empty_tuple(x, box):
    if x.sum() > 0:
        box.table["a"] = ()
    return len(box.table)


def list_in_a_loop(x, box):
    while x.sum() < 10:
        box.new = []
        x = x + 3
    return x


def key_in_a_loop(x, box):
    while x.sum() < 10:
        box.table["k"] = {}
        x = x + 3
    return x


def text_in_a_loop(x, box):
    while x.sum() < 10:
        box.value = "a"
        x = x + 3
    return x


LARGE = [20.0, 3.0, 1.0]

CASES = [
    (fn, [(X, Box()), (N, Box()), (LARGE, Box())], {"full_graph": False})
    for fn in (
        list_for_none, text_for_none, object_for_none, new_list, new_text, new_none, key_for_list, key_for_text,
        key_for_empty_tuple, list_in_a_loop, key_in_a_loop, text_in_a_loop,
    )
]  # fmt: skip
