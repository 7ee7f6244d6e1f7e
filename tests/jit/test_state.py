"""Parameters, buffers and arguments: shared with eager code, changed by programs, frozen and thawed."""

import numpy as np
import pytest

import vitrify as paddle

from .models import Average, Scale, Stack, counted, tensor

X = (1.0, 2.0, 3.0)


def test_buffers_follow_eager():
    nets = [Average(), paddle.jit.to_static(Average())]
    for step in range(4):
        x = tensor(*X) * step
        a, b = (net(x) for net in nets)
        assert a.tolist() == b.tolist()
        assert nets[0].mean.tolist() == nets[1].mean.tolist()
    assert nets[1].mean.stop_gradient and nets[1].mean.is_leaf
    for net in nets:
        net.eval()
    assert nets[0](x).tolist() == nets[1](x).tolist()
    assert nets[0].mean.tolist() == nets[1].mean.tolist()


class Alternates(paddle.nn.Layer):
    """Trains in every other call."""

    def __init__(self):
        super().__init__()
        self.drop = paddle.nn.Dropout(0.0)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = self.drop(x) * (2 if self.training else 3)
        if self.calls % 2:
            self.eval()
        else:
            self.train()
        return y


@pytest.mark.parametrize("full_graph", [True, False])
def test_the_mode_that_forward_leaves_a_layer_in(full_graph):
    eager, static = Alternates(), paddle.jit.to_static(Alternates(), full_graph=full_graph)
    for _ in range(5):
        assert static(tensor(*X)).tolist() == eager(tensor(*X)).tolist()
        assert [part.training for part in static.sublayers()] == [part.training for part in eager.sublayers()]
        assert static.training is eager.training


def test_a_buffer_changed_outside_is_seen():
    net = paddle.jit.to_static(Average())
    net.eval()
    assert net(tensor(*X)).tolist() == [1, 2, 3]
    net.mean.set_value(paddle.ones([3]))
    assert net(tensor(*X)).tolist() == [0, 1, 2]


def test_a_buffer_set_with_a_gradient_takes_none():
    class Keeps(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", paddle.zeros([3]))
            self.w = self.create_parameter([3])

        def forward(self, x):
            y = x * self.w
            self.last.set_value(y)
            return y + self.last

    eager, static = Keeps(), paddle.jit.to_static(Keeps())
    static.w.set_value(eager.w)
    for net in (eager, static):
        for _ in range(2):
            net(tensor(*X)).sum().backward()
    assert static.last.is_leaf and static.last.stop_gradient
    assert np.allclose(eager.last.numpy(), static.last.numpy())
    assert np.allclose(eager.w.grad.numpy(), static.w.grad.numpy())


def test_arguments_changed_in_place_are_written_back():
    def f(x, y):
        y.add_(x)
        x[0] = 9.0
        return y * 2

    results = []
    for fn in (f, paddle.jit.to_static(f)):
        for _ in range(2):
            x, y = tensor(*X), tensor(4.0, 5.0, 6.0)
            out = fn(x, y)
            results.append((x.tolist(), y.tolist(), out.tolist()))
    assert results[0] == results[1] == results[2] == results[3]


def test_a_changed_argument_that_is_returned_is_itself():
    f = paddle.jit.to_static(lambda x: x.add_(x))
    x = tensor(*X)
    assert f(x) is x and x.tolist() == [2, 4, 6]
    g = paddle.jit.to_static(lambda x: x)
    assert g(x) is x


@pytest.mark.parametrize("change", ["add_", "equal_", "floor_divide_"])
def test_a_leaf_that_wants_a_gradient_cannot_be_changed(change):
    def f(x):
        getattr(x, change)(x)
        return x

    for fn in (f, paddle.jit.to_static(f)):
        with pytest.raises(ValueError, match="cannot be changed in place"):
            fn(tensor(*X, grad=True))


def test_parameters_are_shared_with_optimizers():
    losses = []
    for convert in (lambda net: net, paddle.jit.to_static):
        net = Scale()
        net.w.set_value(tensor(0.5, 0.5, 0.5))
        net = convert(net)
        optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        seen = []
        for _ in range(5):
            loss = ((net(tensor(*X)) - 7) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            seen.append(loss.item())
        losses.append(seen)
    assert np.allclose(*losses, rtol=1e-5)
    assert losses[0][-1] < losses[0][0]


def test_thawing_after_the_first_call():
    net = Scale()
    net.w.stop_gradient = True
    net = paddle.jit.to_static(net)
    net(tensor(*X)).sum().backward()
    assert net.w.grad is None and net.b.grad is not None
    net.w.stop_gradient = False
    net(tensor(*X)).sum().backward()
    assert net.w.grad is not None


def test_freezing_after_the_first_call():
    net = paddle.jit.to_static(Scale())
    net(tensor(*X)).sum().backward()
    net.clear_gradients()
    net.w.stop_gradient = True
    before = net.w.grad.numpy().copy() if net.w.grad is not None else None
    net(tensor(*X)).sum().backward()
    assert before is None or np.array_equal(net.w.grad.numpy(), before)
    assert np.abs(net.b.grad.numpy()).sum() > 0


def test_everything_frozen():
    net = Scale()
    for p in net.parameters():
        p.stop_gradient = True
    net = paddle.jit.to_static(net)
    assert net(tensor(*X)).stop_gradient


def test_global_tensors_are_captured():
    weight = tensor(*X, grad=True)
    f = paddle.jit.to_static(lambda x: x * weight)
    f(tensor(*X)).sum().backward()
    assert weight.grad.tolist() == [1, 2, 3]
    with paddle.no_grad():
        weight.set_value(tensor(3.0, 3.0, 3.0))
    assert f(tensor(*X)).tolist() == [3, 6, 9]


def test_outputs_that_are_inputs_or_parameters():
    net = Scale()
    f = paddle.jit.to_static(lambda x: (x, net.w, x * 1, None, "text", [net.w]))
    x = tensor(*X)
    for _ in range(2):
        a, w, y, none, text, (again,) = f(x)
        assert a is x and w is net.w and again is net.w and y is not x and none is None and text == "text"


def test_dead_code_runs_nothing_but_effects_stay(capsys):
    def f(x):
        unused = x * 3  # noqa: F841
        print("seen", x.shape)
        return x

    g, _ = counted(f)
    g(tensor(*X)), g(tensor(*X))
    assert capsys.readouterr().out == "seen paddle.Size([3])\n" * 2


def test_random_numbers_are_those_of_eager():
    def f(x):
        return x + paddle.rand([3]) + paddle.randn([3])

    drawn = []
    for fn in (f, paddle.jit.to_static(f)):
        paddle.seed(7)
        drawn.append([fn(tensor(*X)).tolist() for _ in range(3)])
    assert np.allclose(*drawn)


def test_stack_of_layers_over_steps():
    nets = [Stack(), Stack()]
    nets[1].set_state_dict(nets[0].state_dict())
    nets[1] = paddle.jit.to_static(nets[1])
    for step in range(3):
        x = tensor(*X) * (step + 1)
        a, b = (net(x) for net in nets)
        assert np.allclose(a.numpy(), b.numpy())
        for out in (a, b):
            out.sum().backward()
    for p, q in zip(nets[0].parameters(), nets[1].parameters()):
        assert np.allclose(p.grad.numpy(), q.grad.numpy())


@pytest.mark.parametrize("full_graph", [True, False])
def test_attributes_set_by_a_setattr_of_the_users(full_graph):
    class Caching(paddle.nn.Layer):
        """Keeps what it computed first, as models do that wrap the `__setattr__` of Layer."""

        def __setattr__(self, name, value):
            return super().__setattr__(name, value)

        def __delattr__(self, name):
            return super().__delattr__(name)

        def forward(self, x):
            if not hasattr(self, "_kept"):
                self._kept = paddle.arange(3.0) * 2.0
                self._spare = x + 1.0
            out = x * self._kept[:2]
            if hasattr(self, "_spare"):
                del self._spare
            return out

    layer, x = Caching(), paddle.to_tensor([1.0, 2.0])
    compiled = paddle.jit.to_static(layer, full_graph=full_graph)
    for _ in range(3):
        assert compiled(x).tolist() == [0.0, 4.0]
        assert layer._kept.tolist() == [0.0, 2.0, 4.0] and not hasattr(layer, "_spare")


class KeepsItsParameter(paddle.nn.Layer):
    """Where a tensor says so, a second name for its parameter: Layers register what they are given."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2])
        self.last = None

    def forward(self, x):
        if x.sum() > 5:
            self.last = self.weight
        return x * self.weight


@pytest.mark.parametrize("full_graph", [True, False])
def test_an_attribute_that_no_run_set_is_where_it_was(full_graph):
    layer = KeepsItsParameter()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for _ in range(2):
        static(paddle.to_tensor([1.0, 2.0]))
        assert layer.last is None
        assert "last" in vars(layer)
        assert [name for name, _ in layer.named_parameters()] == ["weight"]


class AlsoInATable(paddle.nn.Layer):
    """Keeps its buffer in a dict, too, from the first call on."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", paddle.to_tensor([0.0, 0.1]))
        self.table = {"last": paddle.to_tensor([0.1, 0.2])}

    def forward(self, x):
        self.total[0] = 0.5
        self.total = self.total + x
        seen = self.table["last"].sum()
        self.table["last"] = self.total
        return seen


@pytest.mark.parametrize("full_graph", [True, False])
def test_a_buffer_that_something_else_holds_by_now_is_changed_there_too(full_graph):
    eager, layer = AlsoInATable(), AlsoInATable()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for step in range(5):
        x = paddle.to_tensor([float(step), 1.0])
        assert eager.forward(x).tolist() == static(x).tolist()
        assert eager.total.tolist() == layer.total.tolist()


class Replaces(paddle.nn.Layer):
    """Puts another tensor in a buffer's place, at each call or where a tensor says so."""

    def __init__(self, by_path):
        super().__init__()
        self.by_path = by_path
        self.register_buffer("count", paddle.zeros([1]))

    def forward(self, x):
        if not self.by_path:
            self.count = self.count + 1
        elif x.sum() > 0:
            self.count += 1
        return x * self.count


@pytest.mark.parametrize("by_path", [False, True])
def test_a_buffer_that_each_call_replaces_needs_one_program(by_path):
    layer, twin = Replaces(by_path), Replaces(by_path)
    static = paddle.jit.to_static(layer, full_graph=True)
    inputs = [tensor(value, grad=True) for value in (1.0, 2.0, -1.0, 3.0)]
    found = [static(x).tolist() for x in inputs]  # with no change of another Layer in between, which lets it look anew
    assert found == [twin(x).tolist() for x in inputs]
    assert layer.count.tolist() == twin.count.tolist()
    assert static.forward.cache_info().misses == 1
    held = {"same": layer.count}
    layer.count = held["same"] * 10
    twin.count = layer.count
    assert static(tensor(1.0, grad=True)).tolist() == twin(tensor(1.0, grad=True)).tolist()
