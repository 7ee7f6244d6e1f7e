"""Whether what a compiled function gives wants a gradient, where a tensor decided it: as the path taken left it."""

import pytest

import vitrify as paddle


def detached(x):
    y = x * 2
    if x.sum() > 0:
        y = y.detach()
    return y


def without_gradient(x):
    y = x * 2
    if x.sum() > 0:
        with paddle.no_grad():
            y = x * 3
    return y, x * 1


def constant_returned_early(x):
    if x.sum() > 0:
        return paddle.zeros([2])
    return x * 3


def told_to_stop(x):
    y = x * 2
    if x.sum() > 0:
        y.stop_gradient = True
    return {"y": y, "square": y * y}


def one_of_three(x):
    if x.sum() > 2:
        y = x.detach() * 2
    elif x.max() > 0:
        y = x * 3
    else:
        y = (x * 4).detach()
    return y + 1


def decided_twice(x):
    y = x * 2
    if x.sum() > 0:
        y = y.detach()
        if x.max() > 1.5:
            y = y + x
    z = y * 2
    if x.min() < 0:
        z = z + y.detach()
    return y, z, y + x


def in_a_loop(x):
    y = x * 2
    while y.abs().sum() < 5:
        y = y.detach() * 2
    return y


def of_two_loops(x):
    y = x * 1
    for _ in range(2):
        if x.sum() > 0:
            y = y.detach() * 2
    while y.sum() < -4:
        y = y / 2
    return [y, y * x.detach()]


def kept(x):
    if x.sum() > 0:
        Kept.value = x.detach() * 2
    else:
        Kept.value = x * 2
    return Kept.value * 3


class Kept:
    value = None


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Constant(0.5))

    def forward(self, x):
        if x.sum() > 0:
            return paddle.ones([2])
        return self.inner(x)


def decided_inside_of_branches(x):
    c = x + 1
    if x.sum() > 3:
        c = x * 1
    else:
        c = x
    if x.sum() > -1:
        c = c.detach() if x.max() > 1 else c
    return c, c + 1


def told(x):
    return detached(x).stop_gradient


def decides(x):
    y = one_of_three(x)
    if y.stop_gradient:
        return y * 3
    return y * 4


FUNCTIONS = [
    detached, without_gradient, constant_returned_early, told_to_stop, one_of_three, decided_twice, in_a_loop,
    of_two_loops, decided_inside_of_branches, kept,
]  # fmt: skip
ROWS = [[1.0, 2.0], [-1.0, -2.0], [2.0, -1.0], [1.0, -1.5], [-0.5, 0.25]] * 2


def outcome(function, row, stop_gradient=False):
    """What a call gives, whether each tensor in it wants a gradient, and the gradient from each."""
    x = paddle.to_tensor(row, stop_gradient=stop_gradient)
    Kept.value = None
    result = function(x)
    if not isinstance(result, (tuple, list, dict, paddle.Tensor)):
        return result
    found = []
    for tensor in [*paddle.utils.flatten(result), *([] if Kept.value is None else [Kept.value])]:
        x.clear_grad()
        if not tensor.stop_gradient:
            tensor.sum().backward(retain_graph=True)
        found.append((tensor.tolist(), tensor.stop_gradient, None if x.grad is None else x.grad.tolist()))
    return found


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_outputs_want_a_gradient_where_eager_ones_do(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for row in ROWS:
        assert outcome(static, row) == outcome(function, row)
    for row in ROWS:
        assert outcome(static, row, stop_gradient=True) == outcome(function, row, stop_gradient=True)


@pytest.mark.parametrize("full_graph", [True, False])
def test_so_do_those_of_layers(full_graph):
    net = Net()
    static = paddle.jit.to_static(Net(), full_graph=full_graph)
    for row in ROWS:
        assert outcome(static, row) == outcome(net, row)


@pytest.mark.parametrize("function", [told, decides])
def test_python_between_segments_may_ask(function):
    static = paddle.jit.to_static(function, full_graph=False)
    for row in ROWS:
        assert outcome(static, row) == outcome(function, row)


def test_many_decisions_in_a_row():
    def function(x):
        y = x * 1
        for i in range(80):
            if x.sum() > i:
                y = y.detach()
            y = y + 1
        return y

    static = paddle.jit.to_static(function, full_graph=True)
    for row in ROWS[:2]:
        assert outcome(static, row) == outcome(function, row)


def test_programs_in_which_nothing_stops_have_no_further_output():
    static = paddle.jit.to_static(lambda x: x * 2 if x.sum() > 0 else x * 3, full_graph=True)
    static(paddle.to_tensor([1.0], stop_gradient=False))
    assert len(static.concrete_program.block.outputs) == 1


@pytest.mark.parametrize("like", [paddle.expand_as, paddle.view_as, lambda x, y: x.expand(y.shape)])
def test_a_tensor_that_only_gives_a_size_gives_no_gradient(like):
    spec = [paddle.static.InputSpec([None, None], stop_gradient=False)] * 2
    x, y = paddle.ones([2, 3]), paddle.ones([2, 3])
    y.stop_gradient = False
    static = paddle.jit.to_static(like, input_spec=spec, full_graph=True)
    assert like(x, y).stop_gradient and static(x, y).stop_gradient


def detached_of_what_changes_on_a_path(x):
    first = second = x * 1
    if x.sum() > 0:
        second[1] = 0.5
        first = first.detach()
    return first, second


def detached_behind_an_early_return(x):
    y = x * 2
    z = y.detach()
    if x.sum() > 0:
        return y, y
    w = z.detach()
    z.scale_(0.5)
    return w, z


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [detached_of_what_changes_on_a_path, detached_behind_an_early_return])
def test_what_is_a_detached_tensor_on_one_path_stops_there_when_its_memory_changes(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for row in ROWS:
        assert outcome(static, row) == outcome(function, row)


def written_itself_before_its_base(x):
    y = x * 2
    z = y.detach()
    z[0] = x[1]
    y.scale_(0.5)
    return y, z, z.detach()


def written_itself_on_a_path(x):
    y = x * 2
    z = y.detach()
    if x.sum() > 0:
        z.add_(x)
    y.scale_(0.5)
    return y, z


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [written_itself_before_its_base, written_itself_on_a_path])
def test_a_detached_tensor_keeps_the_gradient_of_what_was_written_to_it(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for row in ROWS:
        assert outcome(static, row) == outcome(function, row)
