"""Messages along the edges of graphs, reduced at the nodes; numbers as PaddlePaddle 3.3.1 gives them."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import geometric

ROWS = [[1.0, 2, 3], [3, 2, 1], [4, 5, 6]]
SEGMENTS = {
    "sum": [[4, 4, 4], [0, 0, 0], [4, 5, 6]],
    "mean": [[2, 2, 2], [0, 0, 0], [4, 5, 6]],
    "max": [[3, 2, 3], [0, 0, 0], [4, 5, 6]],
    "min": [[1, 2, 1], [0, 0, 0], [4, 5, 6]],
}
NODES = [[0.0, 2, 3], [1, 4, 5], [2, 6, 7]]
SOURCES, ENDS = [0, 1, 2, 0], [1, 2, 1, 0]
RECEIVED = {
    "sum": [[0, 2, 3], [2, 8, 10], [1, 4, 5]],
    "mean": [[0, 2, 3], [1, 4, 5], [1, 4, 5]],
    "max": [[0, 2, 3], [2, 6, 7], [1, 4, 5]],
    "min": [[0, 2, 3], [0, 2, 3], [1, 4, 5]],
}


def tensors(*values):
    return [paddle.to_tensor(v) for v in values]


@pytest.mark.parametrize("how", SEGMENTS)
def test_segments(how):
    rows, numbers = tensors(ROWS, [0, 0, 2])
    assert getattr(geometric, f"segment_{how}")(rows, numbers).tolist() == SEGMENTS[how]


@pytest.mark.parametrize("how", RECEIVED)
def test_send_u_recv(how):
    x, sources, ends = tensors(NODES, SOURCES, ENDS)
    assert geometric.send_u_recv(x, sources, ends, how).tolist() == RECEIVED[how]
    more = geometric.send_u_recv(x, sources, ends, how, out_size=5)
    assert more.tolist() == [*RECEIVED[how], [0, 0, 0], [0, 0, 0]]


def test_messages_of_edges():
    x, sources, ends, y = tensors(NODES, SOURCES, ENDS, [[2.0]] * 4)
    for how, expected in RECEIVED.items():
        found = geometric.send_ue_recv(x, y, sources, ends, "mul", how)
        assert found.tolist() == (2 * np.array(expected)).tolist()
    pairs = geometric.send_uv(x, x, sources, ends, "sub")
    assert pairs.tolist() == [[-1, -2, -2], [-1, -2, -2], [1, 2, 2], [0, 0, 0]]


@pytest.mark.parametrize(
    "nodes, edges, given",
    [((3,), (4,), (3, 1)), ((3, 2), (4,), (3, 2)), ((3, 2, 3), (4, 3), (3, 2, 3)), ((3, 2), (4, 5, 2), (3, 5, 2))],
)
def test_what_edges_carry_is_aligned_after_the_edges(nodes, edges, given):
    x, y, sources, ends = paddle.ones(nodes), paddle.full(edges, 2.0), *tensors(SOURCES, ENDS)
    found = geometric.send_ue_recv(x, y, sources, ends, "mul")
    assert found.tolist() == np.broadcast_to(np.reshape([2.0, 4, 2], [3] + [1] * (len(given) - 1)), given).tolist()
    assert geometric.send_uv(x, y[:3], sources, ends).shape == [4, *given[1:]]


def test_means_of_whole_numbers_are_whole():
    x, numbers = tensors([-3, 0, 5], [0, 0, 1])
    assert geometric.segment_mean(x, numbers).tolist() == [-1, 5]
    assert str(geometric.send_u_recv(x, numbers, numbers, "mean").dtype) == "paddle.int64"


@pytest.mark.parametrize("how", RECEIVED)
def test_static_as_eager_with_gradients(how):
    def layer(x, sources, ends):
        return (geometric.send_u_recv(x, sources, ends, how) * x).sum()

    gradients = []
    for fn in (layer, paddle.jit.to_static(layer, full_graph=True)):
        x, sources, ends = tensors(NODES, SOURCES, ENDS)
        x.stop_gradient = False
        for _ in range(2):
            fn(x, sources, ends).backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1] and gradients[0] != np.zeros((3, 3)).tolist()


def test_what_is_refused():
    x, sources, ends = tensors(NODES, SOURCES, ENDS)
    with pytest.raises(ValueError, match="reduce_op must be one of"):
        geometric.send_u_recv(x, sources, ends, "median")
    with pytest.raises(ValueError, match="message_op must be one of"):
        geometric.send_uv(x, x, sources, ends, "pow")
    with pytest.raises(ValueError, match="send_u_recv: nodes must lie along a first dimension"):
        geometric.send_u_recv(x[0, 0], sources, ends)


@pytest.mark.parametrize("how", SEGMENTS)
def test_segments_in_a_program(how):
    compiled = paddle.jit.to_static(getattr(geometric, f"segment_{how}"), full_graph=True)
    for numbers, expected in (([0, 0, 2], SEGMENTS[how]), ([0, 1, 2], ROWS)):
        rows, numbers = tensors(ROWS, numbers)
        rows.stop_gradient = False
        out = compiled(rows, numbers)
        assert out.tolist() == expected
        out.sum().backward()
        reached = 3 if how == "sum" else np.count_nonzero(np.any(expected, axis=1))
        assert rows.grad.sum() == 3.0 * reached


@pytest.mark.parametrize("how", SEGMENTS)
def test_no_rows_are_no_segments_in_programs_too(how):
    function = getattr(geometric, f"segment_{how}")
    spec = [paddle.static.InputSpec([None, 3], "float32"), paddle.static.InputSpec([None], "int64")]
    for run in (function, paddle.jit.to_static(lambda x, n: function(x, n), full_graph=True, input_spec=spec)):
        assert run(paddle.zeros([0, 3]), paddle.zeros([0], "int64")).shape == [0, 3]


@pytest.mark.parametrize("how", RECEIVED)
def test_messages_in_a_program_of_any_size(how):
    def received(x, edges, size):
        return geometric.send_u_recv(x, edges[0], edges[1], how), geometric.send_u_recv(x, *edges, how, size)

    spec = [
        paddle.static.InputSpec([None, 3], "float32"),
        paddle.static.InputSpec([2, None], "int64"),
        paddle.static.InputSpec([], "int64"),
    ]
    compiled = paddle.jit.to_static(received, input_spec=spec, full_graph=True)
    plain, sized = compiled(*tensors(NODES, [SOURCES, ENDS], 5))
    assert plain.tolist() == RECEIVED[how] and sized.tolist() == [*RECEIVED[how], [0.0] * 3, [0.0] * 3]
    plain, sized = compiled(*tensors([*NODES, [9.0, 9, 9]], [SOURCES, ENDS], 0))
    assert plain.tolist() == sized.tolist() == [*RECEIVED[how], [0.0] * 3]
