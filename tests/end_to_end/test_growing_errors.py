"""Lists and dicts of a length that a tensor decides: what is refused, where, and with which way out."""

import os

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from .differential import compare
from .functions import X


def grown(x):
    out = []
    while x.sum() < 20:
        out.append(x)
        x = x + 1
    return out


def changed_in_place(x):
    out = []
    y = x * 1
    while y.sum() < 20:
        out.append(y)
        y.add_(paddle.to_tensor(1.0))
    return out


def item_changed_in_place(x):
    out = grown(x)
    first = out[0]
    first.add_(paddle.to_tensor(1.0))
    return out


def last_changed_in_place(x):
    out = []
    y = x * 1
    while y.sum() < 20:
        y = y + 1
        out.append(y)
    y.add_(paddle.to_tensor(1.0))
    return out


def dict_item_changed(x):
    out = []
    while x.sum() < 20:
        x = x + 1
        out.append({"a": x})
    out[0]["a"] = x
    return out


def row_shared(x):
    rows = []
    row = [x]
    while x.sum() < 20:
        x = x + 1
        rows.append(row)
    row.append(x)
    return rows


def last_row_changed(x):
    rows = []
    row = [x]
    while x.sum() < 20:
        x = x + 1
        row = [x]
        rows.append(row)
    row.append(x)
    return rows


def tensor_key(x):
    found = {}
    while x.sum() < 20:
        x = x + 1
        found[x.sum()] = x
    return found


def only_empty(x):
    out = []
    while x.sum() < 20:
        out.append(())
        x = x + 1
    return out


def items_of_two_kinds(x):
    out = []
    while x.sum() < 20:
        out.append(x)
        out.append([x])
        x = x + 1
    return out


def stacked_pairs(x):
    out = []
    while x.sum() < 20:
        out.append((x, x))
        x = x + 1
    return paddle.stack(out)


def sorted_by_rows(x):
    return sorted(grown(x), key=lambda v: v * 2)


def grown_rows(x):
    rows = [[x]]
    while x.sum() < 20:
        x = x + 1
        rows.append([x])
        rows[0].append(x)
    return rows


def slice_shares_rows(x):
    rows = grown_rows(x)
    rest = rows[1:]
    rows[1].append(x)
    return rest


def copy_shares_rows(x):
    rows = grown_rows(x)
    other = list(rows)
    rows[1].append(x)
    return other


def sum_has_rows_twice(x):
    rows = grown_rows(x)
    rows = rows + rows
    rows[0].append(x)
    return rows


def sorted_shares_rows(x):
    rows = grown_rows(x)
    other = sorted(rows, key=lambda row: row[0].sum())
    other[0].append(x)
    return rows


def comprehension_shares_rows(x):
    rows = grown_rows(x)
    other = [row for row in rows if row[0].sum() > 0]
    other[0].append(x)
    return rows


def row_in_two_lists(x):
    rows, others, row = grown_rows(x), grown_rows(x), [x]
    rows.append(row)
    others.append(row)
    rows[-1].append(x)
    return others


def row_in_a_tuple(x):
    rows = grown_rows(x)
    pairs = [(x, rows[0]) for _ in rows]
    rows[0].append(x)
    return pairs


def chosen_row_changed(x):
    rows = grown_rows(x)
    row = rows[0] if x.sum() > 0 else rows[1]
    row.append(x)
    return rows


def carried_row_changed(x):
    rows = grown_rows(x)
    row = rows[0]
    while x.sum() < 80:
        x = x * 2
        row.append(x)
        row = rows[1]
    return rows


def one_list_twice(x):
    row = [x]
    rows = [row, row]
    while x.sum() < 20:
        x = x + 1
        rows.append([x])
    rows[0].append(x)
    return rows


def twice_in_a_tuple(x):
    row = [x]
    pair = (row, row)
    while x.sum() < 20:
        x = x + 1
        pair[0].append(x)
        pair = (pair[1], pair[0])
    return row


def chosen_row_read(x):
    rows = grown_rows(x)
    row = rows[0] if x.sum() > 0 else rows[1]
    rows[0].append(x)
    return len(row)


def row_read_after_others_moved(x):
    rows = grown_rows(x)
    row = rows[1]
    rows.pop(0)
    rows[0].append(x)
    return len(row)


def rows_and_slice_returned(x):
    rows = grown_rows(x)
    return rows, rows[1:]


def rows_twice_returned(x):
    rows = grown_rows(x)
    return rows + rows


def chosen_row_returned(x):
    rows = grown_rows(x)
    return rows, rows[0] if x.sum() > 0 else rows[1]


def stars_for_a_library(x):
    return os.path.join("a", *grown(x))


def stars_for_rows_of_any_length(x):
    return list(zip(*[grown(x + v) for v in grown(x)]))


REFUSED = [
    (stars_for_a_library, "`join` called with *values, whose number is known only when the program runs"),
    (stars_for_rows_of_any_length, "how long each is must be known"),
    *[(fn, "leave the function") for fn in (rows_and_slice_returned, rows_twice_returned, chosen_row_returned)],
    *[
        (fn, "also an item of a list")
        for fn in (
            slice_shares_rows,
            copy_shares_rows,
            sum_has_rows_twice,
            sorted_shares_rows,
            comprehension_shares_rows,
            row_in_two_lists,
            row_in_a_tuple,
            chosen_row_changed,
            carried_row_changed,
            one_list_twice,
            twice_in_a_tuple,
        )
    ],
    (chosen_row_read, "is read that may have been changed"),
    (row_read_after_others_moved, "is read that may have been changed"),
    (sorted_by_rows, "keys that are no tensors of one element"),
    (changed_in_place, "change of what a list holds"),
    (item_changed_in_place, "change of what a list holds"),
    (last_changed_in_place, "change of what a list holds"),
    (dict_item_changed, "change of what a list holds"),
    (row_shared, "also an item of a list"),
    (last_row_changed, "also an item of a list"),
    (tensor_key, "tensor as the key"),
    (only_empty, "hold nothing that the program knows"),
    (items_of_two_kinds, "items of different kinds"),
    (stacked_pairs, "stack of a list of containers"),
]


@pytest.mark.parametrize(("fn", "message"), REFUSED, ids=[fn.__name__ for fn, _ in REFUSED])
def test_refused(fn, message):
    with pytest.raises(UnsupportedError) as caught:
        paddle.jit.to_static(fn, full_graph=True)(paddle.to_tensor(X))
    assert message in caught.value.message
    assert caught.value.loc is not None
    assert caught.value.loc.file == __file__
    assert caught.value.hint


OF_SHARED = ("also an item", "is read that", "leave the function")
SHARED = [fn for fn, message in REFUSED if any(part in message for part in OF_SHARED)]


@pytest.mark.parametrize("fn", SHARED, ids=lambda fn: fn.__name__)
def test_what_is_refused_runs_in_segments(fn):
    compare(fn, (X,), full_graph=False)


def test_a_list_in_a_tuple_says_how_to_go_on():
    held = ([paddle.to_tensor(X)],)

    def grows(x):
        while x.sum() < 20:
            held[0].append(x)
            x = x + 1
        return x

    with pytest.raises(UnsupportedError, match=r"xs = list\(xs\)"):
        paddle.jit.to_static(grows, full_graph=True)(paddle.to_tensor(X))
    assert len(held[0]) == 1


def test_second_gradient_through_a_returned_list():
    found = []
    for fn in (lambda x: grown(x * x), paddle.jit.to_static(lambda x: grown(x * x), full_graph=True)):
        x = paddle.to_tensor([0.5, 1.0, 1.5], stop_gradient=False)
        total = sum((v**3).sum() for v in fn(x)[1:])
        (first,) = paddle.grad(total, x, create_graph=True)
        (second,) = paddle.grad((first**2).sum(), x)
        found.append((first.numpy(), second.numpy()))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)


def test_backward_twice_and_of_some_items_only():
    static = paddle.jit.to_static(grown, full_graph=True)
    x = paddle.to_tensor(X, stop_gradient=False)
    out = static(x)
    out[1].sum().backward(retain_graph=True)
    (out[0] * 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 3.0, 3.0])


def test_saved_and_loaded(tmp_path):
    class Model(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(3, 3)

        def forward(self, x):
            return grown(self.linear(x)), x

    model = Model()
    path = os.path.join(tmp_path, "model")
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    paddle.jit.save(paddle.jit.to_static(model, input_spec=spec, full_graph=True), path)
    x = paddle.to_tensor(np.ones((2, 3), "float32"))
    wanted, _ = model(x)
    found, _ = paddle.jit.load(path)(x)
    assert type(found) is list
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)


def test_lists_of_containers_are_not_saved(tmp_path):
    def pairs(x):
        out = []
        while x.sum() < 20:
            out.append((x, x.sum()))
            x = x + 1
        return out

    static = paddle.jit.to_static(pairs, input_spec=[paddle.static.InputSpec([3], "float32")], full_graph=True)
    with pytest.raises(TypeError, match="list of containers"):
        paddle.jit.save(static, os.path.join(tmp_path, "model"))


def test_one_program_serves_every_length():
    static = paddle.jit.to_static(grown, full_graph=True)
    lengths = [len(static(paddle.to_tensor(start))) for start in (X, [4.0, 4.0, 4.0], [9.0, 9.0, 9.0])]
    assert lengths == [5, 3, 0]
    assert len(static.program_cache) == 1
