"""Layers, optimizers and schedulers in programs written by hand: five steps are those of eager code."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, optimizer, static
from vitrify.ir.parse import parse_program
from vitrify.ir.verify import verify
from vitrify.nn import functional as F

STEPS = 5


def batches(n=STEPS):
    rng = np.random.default_rng(3)
    for _ in range(n):
        x = rng.normal(size=(6, 4)).astype("float32")
        yield x, (x[:, :1] * 2 - x[:, 1:2]).astype("float32")


class Net(nn.Layer):
    def __init__(self, **attrs):
        super().__init__()
        self.first = nn.Linear(4, 5, **attrs)
        self.norm = nn.BatchNorm1D(5)
        self.second = nn.Linear(5, 1)

    def forward(self, x):
        return self.second(self.norm(paddle.tanh(self.first(x))))


def squared_error(net, x, y):
    return F.square_error_cost(net(x), y).mean()


@pytest.fixture(autouse=True)
def _a_scope_and_names_of_its_own():
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
        yield


def start_values():
    rng = np.random.default_rng(7)
    with paddle.utils.unique_name.guard():
        return {name: rng.normal(size=p.shape).astype("float32") ** 2 + 0.1 for name, p in Net().named_parameters()}


def eager_losses(make, after=None, net=None, data=batches):
    net = net or Net()
    net.set_state_dict(start_values())
    opt = make(net.parameters())
    losses = []
    for x, y in data():
        loss = squared_error(net, paddle.to_tensor(x), paddle.to_tensor(y))
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
        if after is not None:
            after(opt)
    return losses, {p.name: p.numpy() for p in net.parameters()}


def static_losses(make, after=None, build=Net, data=batches):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
        net = build()
        loss = squared_error(net, x, y)
        opt = make(None)
        opt.minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    net.set_state_dict(start_values())
    losses = []
    for x, y in data():
        losses.append(float(exe.run(main, feed={"x": x, "y": y}, fetch_list=[loss])[0]))
        if after is not None:
            after(opt)
    return losses, {p.name: p.get_value() for p in main.all_parameters()}


def same(make, after=None, build=Net, data=batches):
    with paddle.utils.unique_name.guard():
        wanted, values = eager_losses(make, after, build(), data)
    found, held = static_losses(make, after, build, data)
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    assert held.keys() == values.keys()
    for name, value in values.items():
        np.testing.assert_allclose(held[name], value, rtol=2e-5, atol=2e-6, err_msg=name)


OPTIMIZERS = {
    "ASGD": {"learning_rate": 0.01, "batch_num": 2},
    "SGD": {"learning_rate": 0.01},
    "Momentum": {"learning_rate": 0.01, "use_nesterov": True},
    "Adagrad": {"learning_rate": 0.01},
    "RMSProp": {"learning_rate": 0.01, "momentum": 0.5, "centered": True},
    "Adadelta": {"learning_rate": 0.5},
    "Adam": {"learning_rate": 0.01},
    "AdamW": {"learning_rate": 0.01, "weight_decay": 0.1, "apply_decay_param_fun": lambda name: name.endswith("w_0")},
    "Adamax": {"learning_rate": 0.01},
    "Lamb": {"learning_rate": 0.01, "exclude_from_weight_decay_fn": lambda p: p.name.endswith("b_0")},
    "NAdam": {"learning_rate": 0.01},
    "RAdam": {"learning_rate": 0.01},
    "Rprop": {"learning_rate": 0.01, "learning_rate_range": (1e-5, 0.1)},
}


def test_every_optimizer_is_here():
    others = {"Optimizer", "LBFGS", "lr"}
    assert set(OPTIMIZERS) == set(optimizer.__all__) - others


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_five_steps_are_those_of_eager_code(name):
    same(lambda parameters: getattr(optimizer, name)(**OPTIMIZERS[name], parameters=parameters))


@pytest.mark.parametrize(
    "clip", [nn.ClipGradByValue(0.1), nn.ClipGradByNorm(0.2), nn.ClipGradByGlobalNorm(0.3)], ids=str
)
def test_clipping_comes_first_then_decay_then_the_update(clip):
    same(
        lambda parameters: optimizer.Momentum(
            0.05, parameters=parameters, weight_decay=paddle.regularizer.L2Decay(0.1), grad_clip=clip
        )
    )


def test_a_parameter_has_its_own_rate_and_regularizer():
    def build():
        attr = paddle.ParamAttr(learning_rate=0.1, regularizer=paddle.regularizer.L1Decay(0.1), need_clip=False)
        return Net(weight_attr=attr)

    clip = nn.ClipGradByGlobalNorm(0.3)
    same(lambda p: optimizer.SGD(0.05, parameters=p, weight_decay=0.01, grad_clip=clip), build=build)


def test_a_scheduler_changes_the_rate_of_the_program():
    def make(parameters):
        return optimizer.Adam(optimizer.lr.StepDecay(0.1, 2, 0.5), parameters=parameters)

    same(make, after=lambda opt: opt._learning_rate.step())


def test_set_lr_changes_the_rate_of_the_program():
    same(lambda p: optimizer.SGD(0.1, parameters=p), after=lambda opt: opt.set_lr(opt.get_lr() * 0.5))


def test_the_order_of_operators():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss = nn.Linear(2, 1)(static.data("x", [None, 2])).mean()
        clip = nn.ClipGradByNorm(1.0)
        opt = optimizer.Adam(0.1, weight_decay=paddle.regularizer.L1Decay(0.1), grad_clip=clip)
        updates, pairs = opt.minimize(loss)
    kinds = [op.op.name for op in main.global_block().ops if op.role == "optimize"]
    assert kinds == ["clip_gradients_by_norm", *["sign", "multiply", "add", "adam_update"] * 2]
    assert [op.op.name for op in updates] == ["adam_update"] * 2
    assert [(p.name, list(g.shape)) for p, g in pairs] == [("linear_0.w_0", [2, 1]), ("linear_0.b_0", [1])]
    kept = {v.name for v in main.list_vars() if v.persistable}
    assert kept == {v.name for v in startup.list_vars() if v.persistable}
    assert set(opt.state_dict()) == kept - {"linear_0.w_0", "linear_0.b_0", "learning_rate_0"}


def test_gradients_are_fetched_by_the_names_of_parameters():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss = (nn.Linear(2, 1)(static.data("x", [None, 2]))).sum()
        optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    fetch = ["linear_0.w_0@GRAD", "linear_0.b_0@GRAD"]
    assert [v.tolist() for v in exe.run(main, feed={"x": [[1.0, 2.0]]}, fetch_list=fetch)] == [[[1], [2]], [1]]
    verify(main)
    assert str(parse_program(str(main))) == str(main)


def test_parameter_groups_in_a_program():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        a, b = nn.Linear(2, 1, bias_attr=False), nn.Linear(2, 1, bias_attr=False)
        x = static.data("x", [None, 2])
        groups = [{"params": a.parameters()}, {"params": b.parameters(), "learning_rate": 0.5}]
        optimizer.SGD(0.1, parameters=groups).minimize((a(x) + b(x)).mean())
    exe = static.Executor()
    exe.run(startup)
    a.weight.set_value(np.ones([2, 1]))
    b.weight.set_value(np.ones([2, 1]))
    exe.run(main, feed={"x": np.ones([1, 2], "float32")})
    np.testing.assert_allclose(a.weight.get_value(), 0.9)
    np.testing.assert_allclose(b.weight.get_value(), 0.95)


@pytest.mark.parametrize("keep", [False, True])
def test_sixteen_bit_parameters(keep):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([2], "float16", default_initializer=nn.initializer.Constant(1.0))
        optimizer.Adam(1e-3, multi_precision=keep).minimize((w * 2).sum())
    exe = static.Executor()
    exe.run(startup)
    eager = nn.Parameter(paddle.ones([2], "float16"))
    opt = optimizer.Adam(1e-3, parameters=[eager], multi_precision=keep)
    for _ in range(4):
        exe.run(main)
        (eager * 2).sum().backward()
        opt.step()
        opt.clear_grad()
    assert w.get_value().dtype == np.float16 and w.get_value().tolist() == eager.tolist()
    assert any("fp32_master" in v.name for v in main.list_vars()) is keep


def test_two_optimizers_in_one_program():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
        first, second = optimizer.Adam(0.1), optimizer.Adam(0.2)
        first.minimize((w * 2).sum())
        second.minimize((w * 3).sum())
    assert not set(first.state_dict()) & set(second.state_dict())
    exe = static.Executor()
    exe.run(startup)
    exe.run(main)
    np.testing.assert_allclose(w.get_value(), [0.7], rtol=1e-5)


def test_testing_leaves_dropout_and_statistics_alone():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
        net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.Linear(4, 1))
        out = net(x)
        loss = F.mse_loss(out, y)
        test = main.clone(for_test=True)
        optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    for a, b in batches():
        exe.run(main, feed={"x": a, "y": b})
    held = net[1]._mean.get_value()
    assert np.abs(held).max() > 0
    first, second = (exe.run(test, feed={"x": a, "y": b}, fetch_list=[out])[0] for _ in range(2))
    assert np.array_equal(first, second) and np.array_equal(held, net[1]._mean.get_value())
    eager = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.Linear(4, 1))
    eager.set_state_dict({name: p.get_value() for name, p in net.state_dict().items()})
    eager.eval()
    np.testing.assert_allclose(first, eager(paddle.to_tensor(a)).numpy(), rtol=1e-5, atol=1e-6)


def test_a_test_program_normalizes_a_batch_of_one():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        out = nn.BatchNorm1D(2)(static.data("x", [None, 2]))
    exe = static.Executor()
    exe.run(startup)
    exe.run(main, feed={"x": [[3.0, 8.0], [1.0, 0.0]]})
    x = np.array([[1.0, 5.0]], "float32")
    (trained,) = exe.run(main, feed={"x": x}, fetch_list=[out])
    (found,) = exe.run(main.clone(for_test=True), feed={"x": x}, fetch_list=[out])
    assert trained.tolist() == x.tolist()
    np.testing.assert_allclose(found, (x - [0.2, 0.4]) / np.sqrt([1.0 * 0.9 + 0.1, 0.9 + 1.6]), rtol=1e-4)


def test_dropout_draws_what_eager_code_draws():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        out = F.dropout(static.data("x", [8]), 0.5)
    x = np.ones(8, "float32")
    paddle.seed(5)
    found = static.Executor().run(main, feed={"x": x}, fetch_list=[out])[0]
    paddle.seed(5)
    assert np.array_equal(found, F.dropout(paddle.to_tensor(x), 0.5).numpy())


def test_parameters_of_one_name_are_one():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        a, b = (nn.Linear(2, 2, weight_attr=paddle.ParamAttr(name="shared"), bias_attr=False) for _ in range(2))
        assert a.weight is b.weight and len(main.all_parameters()) == 1
        with pytest.raises(ValueError, match=r"'shared' is float32\[2, 2\] .* cannot be shared as float32\[3, 2\]"):
            nn.Linear(3, 2, weight_attr=paddle.ParamAttr(name="shared"))
        x = static.data("x", [2])
        x.name = "held"
    assert len([op for op in startup.global_block().ops if op.op.name == "initialize"]) == 1


def test_training_and_test_programs_share_by_name():
    startup = static.Program()
    outs = []
    for _ in range(2):
        main = static.Program()
        with static.program_guard(main, startup), paddle.utils.unique_name.guard():
            outs.append((main, nn.Linear(2, 1)(static.data("x", [None, 2]))))
    assert len([op for op in startup.global_block().ops if op.op.name == "initialize"]) == 2
    exe = static.Executor()
    exe.run(startup)
    first, second = (exe.run(main, feed={"x": np.ones([1, 2], "float32")}, fetch_list=[out])[0] for main, out in outs)
    assert np.array_equal(first, second)


def test_initializers_called_later_fill_at_startup():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        layer = nn.Linear(2, 2)
        nn.initializer.Constant(3.0)(layer.weight)
        nn.initializer.Assign(np.arange(2, dtype="float32"))(layer.bias)
    static.Executor().run(startup)
    assert layer.weight.get_value().tolist() == [[3, 3], [3, 3]] and layer.bias.get_value().tolist() == [0, 1]
    with pytest.raises(ValueError, match="filled by the startup program of its guard"):
        nn.initializer.Constant(3.0)(layer.weight)


class Twice(nn.initializer.Initializer):
    def __init__(self, value):
        self.value = value

    def values(self, shape, dtype):
        return np.full(shape, 2 * self.value, dtype.np)


def test_initializers_of_the_users_own():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([2], "float32", default_initializer=Twice(4))
    static.Executor().run(startup)
    assert w.get_value().tolist() == [8, 8]


def test_values_of_parameters():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([2], "float32", name="w")
        y = w + 1
    with pytest.raises(ValueError, match="'w' has no value in this scope"):
        w.set_value(np.ones(2))
    static.Executor().run(startup)
    w.set_value([1.0, 2.0])
    assert w.get_value().tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"'w' is float32\[2\], the value has shape \[3\]"):
        w.set_value(np.ones(3))
    with pytest.raises(ValueError, match="no scope keeps"):
        y.get_value()
    assert w.trainable
    w.trainable = False
    assert w.stop_gradient


# --- static mode -----------------------------------------------------------------------------------------------------


@pytest.fixture
def static_mode():
    with static.program_guard(static.Program(), static.Program()):
        paddle.disable_static()
        paddle.enable_static()
        assert not paddle.in_dynamic_mode()
        yield
        paddle.disable_static()
    assert paddle.in_dynamic_mode()


def test_the_shape_of_the_tutorials(static_mode):
    x, y = static.data("x", [None, 4], "float32"), static.data("y", [None, 1], "float32")
    hidden = nn.Linear(4, 8)(x)
    loss = paddle.mean(F.square_error_cost(nn.Linear(8, 1)(F.relu(hidden)), y))
    schedule = optimizer.lr.ExponentialDecay(0.1, 0.99)
    optimizer.Adam(schedule).minimize(loss)
    exe = static.Executor(paddle.CPUPlace())
    exe.run(static.default_startup_program())
    losses = []
    for a, b in batches(60):
        (value,) = exe.run(static.default_main_program(), feed={"x": a, "y": b}, fetch_list=[loss])
        losses.append(float(value))
        schedule.step()
    assert sum(losses[-5:]) < 0.1 * sum(losses[:5])


def test_arrays_become_constants_in_static_mode(static_mode):
    t = paddle.to_tensor(np.array([1.0, 2.0], "float32"))
    assert isinstance(t, static.Variable)
    layer = nn.Layer()
    layer.register_buffer("table", t)
    assert dict(layer.named_buffers()) == {"table": t}
    (out,) = static.Executor().run(fetch_list=[layer.table + 1])
    assert out.tolist() == [2, 3]


class Rows(paddle.io.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return np.full([4], i, "float32"), np.array([i], "float32")


def test_batches_of_a_loader_are_fed(static_mode):
    x, y = static.data("x", [None, 4]), static.data("y", [None, 1])
    total = (x.sum(axis=1, keepdim=True) + y).sum()
    exe = static.Executor()
    for a, b in paddle.io.DataLoader(Rows(), batch_size=2):
        exe.run(feed={"x": a, "y": b}, fetch_list=[total])
    loader = paddle.io.DataLoader(Rows(), feed_list=[x, y], batch_size=2, return_list=False)
    assert [exe.run(feed=batch, fetch_list=[total])[0].item() for batch in loader()] == [5, 25]
    with pytest.raises(ValueError, match="needs feed_list"):
        paddle.io.DataLoader(Rows(), return_list=False)
    with pytest.raises(ValueError, match="a batch has 2 parts, feed_list has 1"):
        next(iter(paddle.io.DataLoader(Rows(), feed_list=[x], return_list=False)))


def test_step_belongs_to_eager_code(static_mode):
    opt = optimizer.SGD(0.1)
    with pytest.raises(paddle.core.errors.UnsupportedError, match=r"SGD\(...\).minimize\(loss\)"):
        opt.step()


def test_misuse_of_minimize():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([1], "float32")
        opt = optimizer.SGD(0.1)
        loss, other = (w * 2).sum(), static.data("x", [1]).sum()
        with pytest.raises(ValueError, match="the loss depends on no parameter"):
            opt.minimize(other)
        with pytest.raises(TypeError, match="loss must be a Tensor, got float"):
            opt.minimize(3.0)
        with pytest.raises(ValueError, match="loss must have one element"):
            opt.minimize(static.data("y", [3]) * w)
    with pytest.raises(ValueError, match="no program is being written here"):
        opt.minimize(loss)
    opt.minimize(loss, startup)
    with pytest.raises(ValueError, match=r"has no value in this scope(.|\n)*startup program"):
        static.Executor().run(main, fetch_list=[loss])
    with pytest.raises(ValueError, match="parameters must be given"):
        optimizer.SGD(0.1)
