"""auto_cast decides the dtype of each op; decorate casts parameters."""

import pytest

import vitrify as paddle
from vitrify import amp
from vitrify.amp.auto_cast import amp_state
from vitrify.eager.layer import Layer


def dtypes(**options):
    """The dtypes of a gaining op, an op that needs the range, and one in between."""
    x, y = paddle.ones([2, 2]), paddle.ones([2, 2])
    with amp.auto_cast(**options):
        return [out.dtype.name for out in (paddle.matmul(x, y), paddle.exp(x), paddle.add(x, y))]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["float16", "float32", "float32"]),
        ({"dtype": "bfloat16"}, ["bfloat16", "float32", "float32"]),
        ({"level": "O2"}, ["float16", "float32", "float32"]),
        ({"level": "O2", "use_promote": False}, ["float16"] * 3),
        ({"level": "OD"}, ["float16", "float32", "float32"]),
        ({"level": "O0"}, ["float32"] * 3),
        ({"enable": False}, ["float32"] * 3),
        ({"custom_white_list": {"add"}}, ["float16", "float32", "float16"]),
        ({"custom_white_list": ["elementwise_add"]}, ["float16", "float32", "float16"]),
        ({"custom_black_list": {"matmul"}}, ["float32", "float32", "float32"]),
        ({"custom_white_list": {"exp"}}, ["float16", "float16", "float32"]),
    ],
)
def test_levels_and_lists(options, expected):
    assert dtypes(**options) == expected


def test_low_inputs():
    x = paddle.ones([2], "float16")
    with amp.auto_cast(level="O1"):
        assert (x + x).dtype is paddle.float16
    with amp.auto_cast(level="O2"):
        assert (x + x).dtype is paddle.float16
        assert (x + paddle.ones([2])).dtype is paddle.float32
    with amp.auto_cast(level="OD"):
        assert (x + x).dtype is paddle.float32


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("call", "at_o2"),
    [
        (lambda x: paddle.nn.functional.softplus(x), "float16"),
        (lambda x: paddle.nn.functional.tanhshrink(x), "float16"),
        (lambda x: paddle.scatter(x, paddle.to_tensor([1]), x[:1]), "float32"),
        (lambda x: paddle.scatter(x, paddle.to_tensor([1]), x[:1], overwrite=False), "float32"),
        (lambda x: paddle.nn.functional.interpolate(x[None, None], scale_factor=2), "float32"),
        (lambda x: paddle.nn.functional.interpolate(x[None], scale_factor=2, mode="linear"), "float32"),
        (lambda x: paddle.nn.functional.interpolate(x[None, None], scale_factor=2, mode="bicubic"), "float32"),
    ],
)
def test_what_paddlepaddles_lists_name_is_in_float32(call, at_o2, compiled):
    """At O1 all that `paddle.amp.black_list()` names; at O2 the few whose gradients are slow in float16."""
    x = paddle.ones([2, 2], "float16")
    x.stop_gradient = False
    for level, expected in (("O1", "float32"), ("O2", at_o2)):
        with amp.auto_cast(level=level):
            found = (paddle.jit.to_static(call) if compiled else call)(x)
        assert found.dtype.name == expected
        found.astype("float32").sum().backward()
        assert x.grad.dtype.name == "float16"


def test_integers_stay():
    x = paddle.ones([2], "int64")
    with amp.auto_cast(level="O2", use_promote=False):
        assert (x + x).dtype is paddle.int64


def test_gradients_have_the_parameters_dtype():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    with amp.auto_cast(dtype="bfloat16"):
        loss = paddle.matmul(x, x).sum()
    loss.backward()
    assert (x.grad.dtype, x.grad.tolist()) == (paddle.float32, [[4, 4], [4, 4]])


def test_what_is_in_force():
    assert not amp.is_autocast_enabled()
    assert amp.get_autocast_dtype() == "float16"
    with amp.auto_cast(dtype="bfloat16"):
        assert amp.is_autocast_enabled("cpu")
        assert amp.get_autocast_cpu_dtype() == amp.get_autocast_gpu_dtype() == "bfloat16"
        with amp.auto_cast(enable=False):
            assert not amp.is_autocast_enabled()
    assert not amp.is_autocast_enabled()
    assert [amp.is_float16_supported("cpu"), amp.is_bfloat16_supported("gpu:0")] == [False, True]
    assert amp.is_bfloat16_supported() and amp.is_bfloat16_supported("cpu")


def test_restored_after_an_error_and_usable_as_a_decorator():
    @amp.auto_cast()
    def enabled():
        return amp.is_autocast_enabled()

    assert enabled()
    with pytest.raises(ZeroDivisionError), amp.auto_cast():
        _ = 1 / 0
    assert not amp.is_autocast_enabled()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "O3"}, "level must be O0, OD, O1 or O2"),
        ({"dtype": "float64"}, "dtype must be 'float16' or 'bfloat16'"),
        ({"custom_white_list": {"matmul"}, "custom_black_list": {"matmul"}}, "in both custom lists: matmul"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        amp.auto_cast(**options)


# -- decorate ---------------------------------------------------------------------------------------------------------


class Dense(Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2, 2])
        self.register_buffer("count", paddle.zeros([1], "int64"))


class Statistics(Dense):
    keeps_float32 = True


class Model(Layer):
    def __init__(self):
        super().__init__()
        self.dense = Dense()
        self.other = Dense()
        self.norm = Statistics()


def found(model):
    return {name: value.dtype.name for name, value in model.state_dict().items() if "count" not in name}


def test_decorate_lowers_all_but_statistics():
    model = Model()
    assert amp.decorate(model, level="O2", dtype="bfloat16") is model
    assert list(found(model).values()) == ["bfloat16", "bfloat16", "float32"]
    assert model.dense.count.dtype is paddle.int64


def test_decorate_passes_over_excluded_layers():
    model = Model()
    amp.decorate(model, level="O2", excluded_layers=[model.other])
    assert list(found(model).values()) == ["float16", "float32", "float32"]
    model = Model()
    amp.decorate(model, level="O2", excluded_layers=Dense)
    assert list(found(model).values()) == ["float32", "float32", "float32"]


def test_decorate_passes_over_what_is_in_an_excluded_layer_and_what_says_so_itself():
    linear, group = paddle.nn.Linear, paddle.nn.Sequential
    model = group(group(linear(2, 2)), linear(2, 2), group(linear(2, 2)))
    model[1]._cast_to_low_precision = model[2]._cast_to_low_precision = False
    amp.decorate(model, level="O2", dtype="bfloat16", excluded_layers=[model[0]])
    dtypes = [layer.weight.dtype for layer in (model[0][0], model[1], model[2][0])]
    assert dtypes == [paddle.float32, paddle.float32, paddle.bfloat16]


def test_decorate_prepares_optimizers():
    model = Model()
    sgd = paddle.optimizer.SGD(2**-12, model.parameters(), grad_clip=_Spy())
    models, optimizers = amp.decorate([model], [sgd], level="O2", master_grad=True)
    assert (models, optimizers) == ([model], [sgd])
    model.dense.weight.grad = paddle.ones([2, 2], "float16")
    sgd.step()
    assert list(sgd.state_dict()["master_weights"]) == [model.dense.weight.name]
    assert sgd._grad_clip.seen is paddle.float32


class _Spy:
    def __call__(self, pairs):
        for _, grad in pairs:
            self.seen = grad.dtype
        return pairs


def test_decorate_without_master_weights():
    model = Model()
    sgd = paddle.optimizer.SGD(0.5, model.parameters())
    amp.decorate(model, sgd, level="O2", master_weight=False)
    model.dense.weight.grad = paddle.ones([2, 2], "float16")
    sgd.step()
    assert sgd.state_dict() == {}


def test_decorate_saves_as():
    model = Model()
    amp.decorate(model, level="O2", dtype="bfloat16", save_dtype="float32")
    assert set(found(model).values()) == {"float32"}
    assert model.dense.weight.dtype is paddle.bfloat16
    assert model.state_dict()["dense.weight"].name == model.dense.weight.name


def test_decorate_at_o1_changes_nothing():
    model = Model()
    assert amp.decorate(model) is model
    assert set(found(model).values()) == {"float32"}


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (ValueError, {"models": Model(), "level": "O3"}),
        (ValueError, {"models": Model(), "level": "O2", "dtype": "float64"}),
        (ValueError, {"models": Model(), "level": "O2", "save_dtype": "int8"}),
        (TypeError, {"models": 3, "level": "O2"}),
        (TypeError, {"models": Model(), "optimizers": 3, "level": "O2"}),
    ],
)
def test_decorate_bad_arguments(kind, arguments):
    with pytest.raises(kind, match="decorate"):
        amp.decorate(**arguments)


# -- compiled functions -----------------------------------------------------------------------------------------------


def test_compiled_functions_follow_the_state_they_are_called_in():
    @paddle.jit.to_static
    def product(x, y):
        return paddle.exp(paddle.matmul(x, y))

    x = paddle.full([2, 2], 0.5)
    for options in ({"enable": False}, {"dtype": "bfloat16"}, {"level": "O2", "use_promote": False}, {"enable": False}):
        with amp.auto_cast(**options):
            compiled, eager = product(x, x), paddle.exp(paddle.matmul(x, x))
        assert compiled.dtype is eager.dtype
        assert compiled.tolist() == eager.tolist()


def test_compiled_models_train_in_mixed_precision():
    paddle.seed(0)
    model = paddle.jit.to_static(paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1)))
    optimizer = paddle.optimizer.Adam(0.05, parameters=model.parameters())
    scaler = amp.GradScaler(init_loss_scaling=128.0)
    x = paddle.randn([32, 4])
    losses = []
    for _ in range(30):
        with amp.auto_cast(dtype="bfloat16"):
            loss = ((model(x) - x.sum(axis=1, keepdim=True)) ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    assert {p.dtype for p in model.parameters()} == {paddle.float32}


def test_decorated_models_train_with_master_weights():
    paddle.seed(0)
    model = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.LayerNorm(8), paddle.nn.Linear(8, 1))
    optimizer = paddle.optimizer.AdamW(0.05, parameters=model.parameters())
    model, optimizer = amp.decorate(model, optimizer, level="O2", dtype="bfloat16")
    x = paddle.randn([32, 4])
    losses = []
    for _ in range(30):
        with amp.auto_cast(level="O2", dtype="bfloat16"):
            out = model(x)
        loss = ((out.astype("float32") - x.sum(axis=1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
    assert [p.dtype.name for p in model.parameters()] == ["bfloat16"] * 2 + ["float32"] * 2 + ["bfloat16"] * 2
    assert len(optimizer.state_dict()["master_weights"]) == 4


def test_tensors_of_both_precisions_meet_in_float32():
    low, full = paddle.ones([2, 2], "bfloat16"), paddle.ones([2, 2])
    with amp.auto_cast(dtype="bfloat16"):
        assert paddle.concat([low, full]).dtype.name == paddle.where(full > 0, low, full).dtype.name == "float32"
        assert paddle.concat([low, low]).dtype.name == "bfloat16"


class Branching(Layer):
    """A branch that reads values of both dtypes, as a list and a loop do."""

    def __init__(self):
        super().__init__()
        self.alpha = self.create_parameter([1])
        self.conv, self.other = paddle.nn.Conv2D(2, 2, 1), paddle.nn.Conv2D(2, 2, 1)

    def forward(self, x):
        if self.alpha > -9:
            y = self.conv(x) + self.alpha * self.other(x)
        else:
            y = self.conv(x) + self.other(x)
        kept = [paddle.exp(y)]
        for _ in range(paddle.full([], 2, "int32")):
            kept.append(paddle.exp(y) * self.alpha)
        return y, kept[-1]


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_control_flow_of_programs_leaves_dtypes_alone(level):
    layer, x = Branching(), paddle.rand([1, 2, 3, 3])
    found = []
    for run in (layer.forward, paddle.jit.to_static(layer.forward, full_graph=True)):
        layer.clear_gradients()
        with amp.auto_cast(level=level, dtype="bfloat16"):
            y, last = run(x)
        (y.astype("float32").sum() + last.astype("float32").sum()).backward()
        found.append((y.dtype, last.dtype, y.astype("float32").numpy(), layer.conv.weight.grad.numpy()))
    assert found[0][:2] == found[1][:2]
    for a, b in zip(found[0][2:], found[1][2:]):
        assert abs(a - b).max() <= 0.05 * abs(a).max()


def test_transforms_take_what_matmul_gives():
    x = paddle.ones([4, 4])
    with amp.auto_cast(dtype="bfloat16"):
        assert paddle.fft.rfft(paddle.matmul(x, x)).dtype is paddle.complex64


def test_state_by_the_names_of_its_arguments():
    assert amp_state() is None
    with amp.auto_cast(custom_black_list=["matmul"], level="O2", dtype="bfloat16"):
        assert amp_state() == {
            "enable": True, "custom_white_list": None, "custom_black_list": {"matmul"}, "level": "O2",
            "dtype": "bfloat16", "use_promote": True,
        }  # fmt: skip
