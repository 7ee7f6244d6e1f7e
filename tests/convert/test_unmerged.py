"""Byte arrays, buffers and NumPy arrays that one path changes: what eager code gives, or an error in one program."""

import array
import contextlib
import csv
import io

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnknownValueError, UnsupportedError
from vitrify.jit.split import SMALLEST_PART

OUTSIDE = io.StringIO()


def filled(change, made=lambda: np.zeros(3), told=lambda a: float(a.sum())):
    """A function that makes an object, changes it where a tensor decides, and tells what it holds."""

    def fn(x):
        found = made()
        if x.sum() > 0:
            found = change(found)
        return told(found)

    return fn


def _put(a):
    a[0] = 1
    return a


def _put_slice(a):
    a[1:] = 1
    return a


def _add(a):
    a += 1
    return a


def _fill(a):
    a.fill(2)
    return a


def _append(a):
    a.append(7)
    return a


def _extend(a):
    a += b"d"
    return a


def _write(s):
    s.write("yes")
    return s


def _print(s):
    print("yes", file=s)
    return s


def registered(x):
    log = []
    with contextlib.ExitStack() as stack:
        if x.sum() > 0:
            stack.callback(log.append, 1)
    return len(log)


def rows(x):
    out = io.StringIO()
    writer = csv.writer(out)
    if x.sum() > 0:
        writer.writerow([1, 2])
    return out.getvalue()


def copied(x):
    a = np.zeros(3)
    if x.sum() > 0:
        np.copyto(a, np.ones(3))
    return float(a.sum())


def added(x):
    a = np.zeros(3)
    if x.sum() > 0:
        np.add(a, 1, out=a)
    return float(a.sum())


def in_a_loop(x):
    found = bytearray()
    while x.sum() < 10:
        found.append(1)
        x = x + 1
    return len(found)


BY_PATH = {
    "bytearray": filled(_append, bytearray, len),
    "bytearray +=": filled(_extend, lambda: bytearray(b"abc"), len),
    "array": filled(_append, lambda: array.array("i"), len),
    "StringIO": filled(_write, io.StringIO, io.StringIO.getvalue),
    "print": filled(_print, io.StringIO, lambda s: s.getvalue()),
    "ExitStack": registered,
    "csv": rows,
    "loop": in_a_loop,
}


ARRAYS_BY_PATH = {
    "item": filled(_put),
    "slice": filled(_put_slice),
    "+=": filled(_add),
    "copyto": copied,
    "out=": added,
    "fill": filled(_fill),
}


def values(fn):
    return [fn(paddle.to_tensor(v)) for v in ([1.0, 2.0], [-1.0, -2.0], [3.0, 4.0], [-1.0, -2.0])]


@pytest.mark.parametrize("name", BY_PATH)
def test_a_change_by_path_is_left_to_python_or_refused(name):
    fn = BY_PATH[name]
    assert values(paddle.jit.to_static(fn)) == values(fn)
    with pytest.raises(UnsupportedError, match="can neither undo"):
        paddle.jit.to_static(fn, full_graph=True)(paddle.ones([2]))


@pytest.mark.parametrize("name", ARRAYS_BY_PATH)
def test_arrays_that_the_function_makes_are_changed_by_the_program(name):
    fn = ARRAYS_BY_PATH[name]
    assert values(paddle.jit.to_static(fn)) == values(fn)
    assert values(paddle.jit.to_static(fn, full_graph=True)) == values(fn)


def on_one_path(x):
    if x.sum() > 0:
        s = io.StringIO()
        s.write("abc")
        a = np.zeros(3)
        a.fill(2)
        a += 1
        n = len(s.getvalue()) + float(a.sum())
    else:
        n = 0.0
    return x + n


def without_a_path(x):
    s, a = io.StringIO(), np.arange(3.0)
    s.write("abc")
    print("d", file=s)
    a[0] = 5
    return x + len(s.getvalue()) + float(a.sum())


@pytest.mark.parametrize("fn", [on_one_path, without_a_path])
def test_what_no_other_path_sees_is_changed(fn):
    wanted = [found.tolist() for found in values(fn)]
    assert [found.tolist() for found in values(paddle.jit.to_static(fn, full_graph=True))] == wanted


def test_a_buffer_from_outside_is_written_on_the_path_taken():
    def fn(x):
        if x.sum() > 0:
            OUTSIDE.write("p")
        return x

    values(paddle.jit.to_static(fn, full_graph=True))
    assert OUTSIDE.getvalue() == "pp"


def test_a_text_of_the_run_in_a_buffer_made_inside():
    def fn(x):
        s = io.StringIO()
        print(float(x.sum()), file=s)
        return s.getvalue()

    assert values(paddle.jit.to_static(fn)) == values(fn)
    with pytest.raises(UnknownValueError, match="into a buffer made in this function"):
        paddle.jit.to_static(fn, full_graph=True)(paddle.ones([2]))


def test_a_buffer_from_outside_is_not_read_while_converting():
    with pytest.raises(UnsupportedError, match="reads or writes a file"):
        paddle.jit.to_static(lambda x: x + len(OUTSIDE.getvalue()), full_graph=True)(paddle.ones([2]))


MADE = {"ndarray": lambda: np.zeros(2), "bytearray": lambda: bytearray(b"a"), "array": lambda: array.array("i", [1])}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("full_graph", [True, False])
def test_what_a_call_gives_is_not_what_the_caller_made_of_the_last_one(name, full_graph):
    make = MADE[name]
    fn = paddle.jit.to_static(lambda x: (make(), {"k": [make()]}, x + 1), full_graph=full_graph)
    for _ in range(3):
        found, held, _ = fn(paddle.ones([2]))
        assert bytes(found) == bytes(held["k"][0]) == bytes(make())
        found[0] = held["k"][0][0] = 5


@pytest.mark.parametrize("make", [bytearray, lambda: array.array("b")])
def test_what_the_caller_gives_is_changed_in_each_call(make):
    def fn(x, found):
        found.append(7)
        return x + len(found)

    given, static = make(), paddle.jit.to_static(fn)
    assert [static(paddle.ones([1]), given).item() for _ in range(3)] == [2, 3, 4]
    assert bytes(given) == b"\7\7\7"
    with pytest.raises(UnsupportedError, match="nor repeat for an object of the caller"):
        paddle.jit.to_static(fn, full_graph=True)(paddle.ones([1]), given)


def callbacks_around_a_break(x, log):
    stack = contextlib.ExitStack()
    stack.callback(log.append, "left")
    y = x * 2
    if float(x.numpy().sum()) > 0:
        log.append("positive")
    stack.close()
    return y


def entered_where_a_tensor_says_so(x, log):
    @contextlib.contextmanager
    def noted(name):
        log.append(name)
        yield
        log.append("left " + name)

    with contextlib.ExitStack() as stack:
        stack.enter_context(noted("outer"))
        if x[0] > 0:
            stack.enter_context(noted("inner"))
        return x * 2


def rows_around_a_break(x, log):
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["a"])
    y = x * 2
    if float(x.numpy().sum()) > 0:
        rows.writerow(["positive"])
    rows.writerow(["z"])
    log.append(text.getvalue())
    return y


@pytest.mark.parametrize("f", [callbacks_around_a_break, entered_where_a_tensor_says_so, rows_around_a_break])
@pytest.mark.parametrize("smallest", [0, None])
def test_what_is_made_around_a_break_is_made_in_each_call(f, smallest):
    static = paddle.jit.to_static(f)
    with SMALLEST_PART.scope(SMALLEST_PART.get() if smallest is None else smallest):
        for value in (0.5, -0.5, 0.5, -0.5):
            logs = [], []
            x = paddle.to_tensor([value, 0.1])
            assert f(x, logs[0]).tolist() == static(x, logs[1]).tolist()
            assert logs[0] == logs[1]


@pytest.mark.parametrize("make", [contextlib.ExitStack, lambda: csv.writer(io.StringIO())])
def test_an_object_that_holds_others_does_not_leave_a_program(make):
    fn = paddle.jit.to_static(lambda x: (x + 1, make()), full_graph=True)
    with pytest.raises(UnsupportedError, match="that was made inside is given back or kept in an object"):
        fn(paddle.ones([2]))


def _filled(value):
    return paddle.nn.initializer.Constant(value)


class Changing(paddle.nn.Layer):
    """Layers whose containers its forward changes, as `change` says."""

    def __init__(self, change):
        super().__init__()
        self.row = paddle.nn.LayerList([paddle.nn.Linear(2, 2, weight_attr=_filled(v)) for v in (0.1, 0.2, 0.3)])
        self.other = paddle.nn.Linear(2, 2, weight_attr=_filled(0.4))
        self.named = paddle.nn.LayerDict({"a": paddle.nn.Linear(2, 2, weight_attr=_filled(0.5))})
        first = paddle.create_parameter([2], "float32", default_initializer=_filled(2.0))
        self.scales = paddle.nn.ParameterList([first])
        self.change = change

    def forward(self, x):
        self.change(self, x)
        for layer in self.row:
            x = layer(x)
        for layer in self.named.values():
            x = layer(x)
        for scale in self.scales:
            x = x * scale
        return x


def popped(net, x):
    if len(net.row) > 1:
        net.row.pop(0)


def deleted(net, x):
    if len(net.row) > 1:
        del net.row[0]


def appended_on_a_path(net, x):
    if x.sum() > 0:
        net.row.append(net.other)


def appended_new(net, x):
    net.row.append(paddle.nn.Linear(2, 2, weight_attr=_filled(0.2)))


def new_parameter(net, x):
    net.scales.append(paddle.create_parameter([2], "float32", default_initializer=_filled(3.0)))


def put_and_cleared(net, x):
    net.named.update({"b": net.other})
    if len(net.row) == 3:
        net.named.clear()


CHANGES = [popped, deleted, appended_on_a_path, appended_new, new_parameter, put_and_cleared]


@pytest.mark.parametrize("change", CHANGES)
def test_containers_of_layers_change_as_in_eager_code(change):
    eager, net = Changing(change), Changing(change)
    static = paddle.jit.to_static(net.forward)
    for row in ([1.0, 2.0], [1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        x = paddle.to_tensor(row)
        assert np.allclose(static(x).numpy(), eager(x).numpy())
        names = [[name for name, _ in layer.named_parameters()] for layer in (net, eager)]
        assert names[0] == names[1]
        assert all(isinstance(parameter, paddle.Tensor) for parameter in net.parameters())
    whole = paddle.jit.to_static(Changing(change).forward, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"LayerList|LayerDict|ParameterList"):
        whole(paddle.ones([2]))
