"""Tensors that a program captured and that get another shape or dtype in place: the next call gets another program."""

import copy
import pickle

import pytest

import vitrify as paddle


class Holder:
    def __init__(self):
        self.table = paddle.ones([3])


HELD = Holder()


def in_a_layer():
    net = paddle.nn.Layer()
    net.register_buffer("table", paddle.ones([3]))
    return net


def unsqueezed(table):
    table.unsqueeze_(-1)


def of_other_data(table):
    table.data = paddle.ones([2, 5], "float64")


def copied(table):
    table.copy_(paddle.zeros([4]))


def reading(holder):
    return lambda x: (holder.table * 2).sum(axis=0) + x


def reading_a_global(holder):
    def read(x):
        return (HELD.table * 2).sum(axis=0) + x

    HELD.table = holder.table
    return read


def reading_a_closure(holder):
    table = holder.table
    return lambda x: (table * 2).sum(axis=0) + x


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("change", [unsqueezed, of_other_data, copied])
@pytest.mark.parametrize("made", [reading, reading_a_global, reading_a_closure])
@pytest.mark.parametrize("holder", [Holder, in_a_layer])
@pytest.mark.parametrize("calls", [1, 40])
def test_changed_outside(holder, made, change, full_graph, calls):
    held = holder()
    function = made(held)
    static = paddle.jit.to_static(function, full_graph=full_graph)
    x = paddle.ones([1])
    for _ in range(calls):
        static(x)
    change(held.table)
    for _ in range(3):
        found, wanted = static(x), function(x)
        assert found.shape == wanted.shape and found.dtype is wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("full_graph", [True, False])
def test_changed_by_the_program(full_graph):
    def grow(holder):
        def grown(x):
            holder.table.unsqueeze_(-1)
            return holder.table.detach().mean(axis=0), holder.table.sum()

        return grown

    eager, held = grow(Holder()), Holder()
    static = paddle.jit.to_static(grow(held), full_graph=full_graph)
    for _ in range(3):
        x = paddle.ones([1])
        assert [t.shape for t in static(x)] == [t.shape for t in eager(x)]
    assert held.table.shape == [3, 1, 1, 1]


def test_a_captured_tensor_is_pickled_and_copied_as_before():
    table = paddle.ones([3])
    before = pickle.dumps(table)
    paddle.jit.to_static(lambda x: x + table, full_graph=True)(paddle.ones([3]))
    assert pickle.dumps(table) == before
    assert vars(copy.deepcopy(table)).keys() == {"_name"}
