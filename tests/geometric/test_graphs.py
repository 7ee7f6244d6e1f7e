"""Sampling neighbors and numbering nodes anew; the numbers are those of the examples in Paddle's documentation."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import geometric, incubate
from vitrify.core.errors import ArgumentError, ShapeError, UnsupportedError

ROW = [3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7]
COLPTR = [0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13]
NODES = [0, 8, 1, 7]
NEIGHBORS = {0: {3, 7}, 8: {9, 7}, 1: {0, 9}, 7: set()}


def ints(*values):
    return [paddle.to_tensor(v) for v in values]


def lists(tensors):
    return [t.tolist() for t in tensors]


@pytest.mark.parametrize(
    "function",
    [
        geometric.sample_neighbors,
        lambda r, c, n: geometric.weighted_sample_neighbors(r, c, paddle.ones([len(ROW)]), n),
        incubate.graph_sample_neighbors,
    ],
)
def test_all_neighbors(function):
    neighbors, count = function(*ints(ROW, COLPTR, NODES))
    assert count.tolist() == [2, 2, 2, 0] and str(count.dtype) == "paddle.int32"
    assert neighbors.tolist() == [3, 7, 9, 7, 0, 9]


def test_a_sample_repeats_none_and_tells_its_edges():
    row, colptr, nodes, eids = ints(ROW, COLPTR, [0, 8, 1, 7, 5], list(range(100, 113)))
    paddle.seed(0)
    drawn = set()
    for _ in range(20):
        neighbors, count, edges = geometric.sample_neighbors(row, colptr, nodes, 1, eids=eids, return_eids=True)
        assert count.tolist() == [1, 1, 1, 0, 1]
        assert [ROW[e - 100] for e in edges.tolist()] == neighbors.tolist()
        assert all(v in NEIGHBORS[n] for n, v in zip([0, 8, 1], neighbors.tolist()))
        drawn.add(tuple(neighbors.tolist()))
    assert len(drawn) > 4
    assert geometric.sample_neighbors(row, colptr, nodes, 0)[1].tolist() == [0] * 5


def test_weights_decide_what_is_drawn():
    row, colptr = ints(list(range(10)), [0, 10])
    weights = paddle.to_tensor(np.r_[np.full(2, 1.0), np.zeros(8)].astype("float32"))
    paddle.seed(0)
    for _ in range(10):
        found, _ = geometric.weighted_sample_neighbors(row, colptr, weights, paddle.to_tensor([0]), 2)
        assert sorted(found.tolist()) == [0, 1]


def test_seeds_repeat_samples():
    row, colptr, nodes = ints(list(range(50)), [0, 50], [0])
    paddle.seed(4)
    first = geometric.sample_neighbors(row, colptr, nodes, 5)[0].tolist()
    second = geometric.sample_neighbors(row, colptr, nodes, 5)[0].tolist()
    paddle.seed(4)
    assert geometric.sample_neighbors(row, colptr, nodes, 5)[0].tolist() == first != second


@pytest.mark.parametrize("function", [geometric.reindex_graph, incubate.graph_reindex])
def test_new_numbers(function):
    found = function(*ints([0, 1, 2], [8, 9, 0, 4, 7, 6, 7], [2, 3, 2]))
    assert lists(found) == [[3, 4, 0, 5, 6, 7, 6], [0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 8, 9, 4, 7, 6]]


def test_new_numbers_of_several_graphs():
    neighbors, counts = ints([8, 9, 0, 4, 7, 6, 7], [0, 2, 3, 5, 1]), ints([2, 3, 2], [1, 3, 1])
    assert lists(geometric.reindex_heter_graph(paddle.to_tensor([0, 1, 2]), neighbors, counts)) == [
        [3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1],
        [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2],
        [0, 1, 2, 8, 9, 4, 7, 6, 3, 5],
    ]


def test_new_numbers_of_graphs_that_are_joined():
    neighbors, counts = ints([8, 9, 0, 4, 7, 6, 7, 0, 2, 3, 5, 1], [2, 3, 2, 1, 3, 1])
    assert lists(geometric.reindex_graph(paddle.to_tensor([0, 1, 2]), neighbors, counts)) == [
        [3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1],
        [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2],
        [0, 1, 2, 8, 9, 4, 7, 6, 3, 5],
    ]


def test_messages_under_their_old_name():
    x, edges = paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([[0, 1, 2], [1, 0, 1]])
    assert incubate.graph_send_recv(x, edges[0], edges[1], "max").tolist() == [[2.0], [4.0], [0.0]]


def test_what_is_wrong_is_said():
    row, colptr, nodes = ints(ROW, COLPTR, NODES)
    with pytest.raises(ArgumentError, match="there are no eids to return"):
        geometric.sample_neighbors(row, colptr, nodes, return_eids=True)
    with pytest.raises(ShapeError, match=r"2 nodes with \[1, 1\] neighbors, but 3 are given"):
        geometric.reindex_graph(*ints([0, 1], [1, 2, 3], [1, 1]))
    with pytest.raises(ShapeError, match="edges need a weight each, edge_weight has 1"):
        geometric.weighted_sample_neighbors(row, colptr, paddle.ones([1]), nodes)
    more = paddle.ones([len(ROW) + 1])  # PaddlePaddle's own example has a weight that no edge needs
    assert len(geometric.weighted_sample_neighbors(row, colptr, more, nodes)) == 2
    with pytest.raises(UnsupportedError, match="sample_neighbors cannot be part of a program"):
        paddle.jit.to_static(geometric.sample_neighbors, full_graph=True)(row, colptr, nodes)
