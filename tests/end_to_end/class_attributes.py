"""Attributes that a class has and an object gets of its own: it has them where the path taken sets them, only there."""

import copy

P, N, L = [1.0, 2.0], [-1.0, -2.0], [3.0, 4.0]


class Scale:
    by = 0.5


class Box:
    held = None


def over_none(x, box):
    if x.sum() > 0:
        box.held = x * 2
    return x


def over_none_by_name(x, box):
    if x.sum() > 0:
        box.held = x * 2
    return x


def over_none_in_a_loop(x, box):
    while x.sum() > 1:
        box.held = x
        x = x - 1
    return x


def asked_for_all_of_its_own(x, scale):
    if x.sum() > 0:
        scale.by = 2.0
    return x * scale.by, "by" in vars(scale), list(scale.__dict__)


def on_one_path(x, scale):
    if x.sum() > 0:
        scale.by = 2.0
    return x * scale.by


def the_same_number(x, scale):
    if x.sum() > 0:
        scale.by = 0.5
    return x * scale.by


def on_nested_paths(x, scale):
    if x.sum() > 0:
        if x.sum() > 4:
            scale.by = x
        else:
            scale.by = 3.0
    return x * scale.by


def in_a_loop(x, scale):
    while x.sum() > 1:
        scale.by = scale.by + 1
        x = x - 1
    return x * scale.by


def left_by_break(x, scale):
    for i in range(3):
        if x.sum() > i + 2:
            scale.by = i
            break
    return x * scale.by


def behind_what_is_raised(x, scale):
    if x.sum() > 4:
        raise ValueError("large")
    scale.by = 0.5
    return x


def behind_what_python_finds_wrong(x, scale):
    y = x.no_such_attribute
    scale.by = 0.5
    return y


def made_inside(x):
    scale = Scale()
    if x.sum() > 0:
        scale.by = x * 2
    return scale


def made_inside_deleted(x):
    scale = Scale()
    scale.by = x
    if x.sum() > 0:
        del scale.by
    return scale, scale.by


def made_inside_in_a_loop(x):
    scale = Scale()
    while x.sum() > 1:
        scale.by = x
        x = x - 1
    return [scale, scale.by]


def made_inside_copied(x):
    scale = Scale()
    if x.sum() > 0:
        scale.by = 3
    other = copy.copy(scale)
    other.more = x
    return other, scale


def made_inside_before_python(x):
    scale = Scale()
    if x.sum() > 0:
        scale.by = 2.0
    y = x * scale.by + x.exp() - x.sum()
    if x.numpy()[0] > 100:
        return None
    return y, sorted(vars(scale)), scale


def made_inside_the_class_lacks_it(x):
    box = Scale()
    if x.sum() > 0:
        box.extra = [x, 3]
    if x.sum() > 4:
        box.word = 7
    return box, hasattr(box, "extra"), getattr(box, "word", 3)


def made_inside_read(x):
    box = Scale()
    if x.sum() > 0:
        box.extra = x
    return box.extra


def made_inside_item_read(x):
    box = {}
    if x.sum() > 0:
        box["extra"] = x
    return box["extra"]


MADE_INSIDE = (
    made_inside, made_inside_deleted, made_inside_in_a_loop, made_inside_copied, made_inside_before_python,
    made_inside_the_class_lacks_it, made_inside_read, made_inside_item_read,
)  # fmt: skip
CASES = [
    (fn, [(v,) for v in (N, P, L, N)], {"full_graph": whole})
    for fn in MADE_INSIDE
    for whole in (True, False)
    if not (whole and fn is made_inside_before_python)
] + [
    (fn, [(v, Box()) for v in (N, P, L, N)], {"full_graph": whole})
    for fn in (over_none, over_none_by_name, over_none_in_a_loop)
    for whole in (True, False)
] + [
    (asked_for_all_of_its_own, [(v, Scale()) for v in (N, P, L, N)], {"full_graph": False})
] + [
    (fn, [(v, Scale()) for v in (N, P, L, N)], {"full_graph": whole})
    for fn in (
        on_one_path, the_same_number, on_nested_paths, in_a_loop, left_by_break, behind_what_is_raised,
        behind_what_python_finds_wrong,
    )
    for whole in (True, False)
]  # fmt: skip
