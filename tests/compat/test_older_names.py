"""Older and inner names that repositories of models use."""

import importlib
from contextlib import suppress

import numpy as np
import pytest

import vitrify as paddle
from vitrify import compat
from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.nn import initializer
from vitrify.vision.transforms.classes import _check_input

NAMES = [
    "amp.amp_guard",
    "autograd.grad",
    "base.core.default_cpu_generator",
    "base.framework._dygraph_tracer",
    "base.framework.non_static_only",
    "base.framework.use_pir_api",
    "device.device",
    "device.StreamContext",
    "distributed.collective._c_identity",
    "distributed.collective._get_default_group",
    "distributed.communication.stream.gather",
    "distributed.fleet.auto.get_mesh",
    "distributed.fleet.base.role_maker.PaddleCloudRoleMaker",
    "distributed.fleet.base.topology.HybridCommunicateGroup",
    "distributed.fleet.recompute.recompute",
    "distributed.fleet.layers.mpu.mp_layers.ColumnParallelLinear",
    "distributed.parallel.parallel_helper",
    "distributed.sharding.group_sharded_parallel",
    "distributed.stream.all_gather",
    "framework._current_expected_place_",
    "framework._no_check_dy2st_diff",
    "framework.core.VarDesc.VarType.STRINGS",
    "framework.dtype.iinfo",
    "framework.dygraph_only",
    "framework.random._manual_program_seed",
    "geometric.message_passing.send_recv.send_u_recv",
    "incubate.distributed.fleet.recompute_hybrid",
    "geometric.sampling.neighbors.sample_neighbors",
    "hapi.model._all_gather",
    "incubate.nn.memory_efficient_attention.memory_efficient_attention",
    "incubate.tensor.math.segment_sum",
    "jit.marker.not_to_static",
    "nn.functional.flash_attention.flash_attn_unpadded",
    "nn.layer.Identity",
    "nn.layer.Linear",
    "nn.layer.conv._ConvNd",
    "pir.Value",
    "nn.functional.sdpa.scaled_dot_product_attention",
    "nn.layer.common.Pad2D",
    "nn.layer.common.UpsamplingNearest2D",
    "nn.layer.layers.HookRemoveHelper",
    "nn.clip.GradientClipByGlobalNorm",
    "nn.layer.norm._InstanceNormBase",
    "nn.quant.qat.linear.QuantedLinear",
    "nn.utils.clip_grad_norm_.clip_grad_norm_",
    "profiler.profiler_statistic.SortedKeys",
    "tensor.creation.fill_constant",
    "vision.transforms.functional._is_tensor_image",
    "vision.transforms.functional_cv2.resize",
    "nn.layer.loss.CTCLoss",
    "nn.layer.rnn.RNNCellBase",
    "sparse.binary.masked_matmul",
    "sparse.nn.layer.SubmConv3D",
    "static.nn.metric.accuracy",
    "tensor.creation.create_parameter",
    "tensor.logic.is_tensor",
    "tensor.manipulation.tolist",
    "tensor.random.gaussian",
    "utils.download.logger",
    "utils.unique_name.generate_with_ignorable_key",
    "vision.transforms.functional._is_pil_image",
    "vision.transforms.transforms._check_input",
]


@pytest.mark.parametrize("name", NAMES)
def test_can_be_imported(name):
    path, inner = f"paddle.{name}", []
    with compat.as_paddle():
        found = None
        while found is None:
            path, _, last = path.rpartition(".")
            inner.insert(0, last)
            with suppress(ModuleNotFoundError):
                found = importlib.import_module(path)
        for part in inner:
            found = getattr(found, part)


def test_initializers_by_their_older_names():
    def drawn(rule):
        paddle.seed(3)
        weight = paddle.zeros([20, 30])
        rule(weight)
        return weight.numpy()

    pairs = [
        (initializer.XavierInitializer(gain=2.0), initializer.XavierUniform(gain=2.0)),
        (initializer.XavierInitializer(False, fan_in=7), initializer.XavierNormal(fan_in=7)),
        (initializer.MSRAInitializer(fan_in=4, mode="fan_out"), initializer.KaimingUniform(fan_in=4, mode="fan_out")),
        (initializer.MSRAInitializer(False), initializer.KaimingNormal()),
    ]
    for older, newer in pairs:
        np.testing.assert_array_equal(drawn(older), drawn(newer))


def test_projections_of_attention():
    layer, x = paddle.nn.MultiHeadAttention(4, 2), paddle.randn([1, 3, 4])
    q, k, v = layer._prepare_qkv(x, x, x)
    assert q.shape == k.shape == v.shape == [1, 2, 3, 2]
    *_, cache = layer._prepare_qkv(x, x, x, layer.gen_cache(x))
    np.testing.assert_array_equal(cache.k.numpy(), k.numpy())


def test_a_function_of_eager_mode():
    doubled = paddle.framework.dygraph_only(lambda x: x * 2)
    assert doubled(2) == 4
    with paddle.static.program_guard(paddle.static.Program()):
        paddle.enable_static()
        try:
            with pytest.raises(AssertionError, match="of eager mode only"):
                doubled(2)
        finally:
            paddle.disable_static()


def test_a_device_for_a_block():
    with paddle.device.device("cpu"):
        assert paddle.device.get_device() == "cpu" and paddle.ones([1]).place.is_cpu_place()
    paddle.device.manual_seed(5)
    state = paddle.device.get_rng_state()
    first = paddle.rand([2]).tolist()
    paddle.device.set_rng_state(state)
    assert paddle.rand([2]).tolist() == first


def test_ranges_of_changes_of_colours():
    assert _check_input(0.4, "brightness") == [0.6, 1.4]
    assert _check_input(2, "brightness") == [0, 3.0]
    assert _check_input((0.2, 0.5), "contrast") == (0.2, 0.5)
    assert _check_input([1, 1], "contrast") is None
    assert _check_input(0.2, "hue", 0, (-0.5, 0.5), False) == [-0.2, 0.2]
    for value, kind in ((-1, ArgumentError), ((1, 2, 3), DTypeError), ("x", DTypeError), ((-1, 2), ArgumentError)):
        with pytest.raises(kind, match="contrast"):
            _check_input(value, "contrast")
    with pytest.raises(ArgumentError, match="within"):
        paddle.vision.transforms.HueTransform(0.7)


def test_convolutions_of_model_code_derive_from_their_base():
    class Valid(paddle.nn.layer.conv._ConvNd):
        def __init__(self, transposed=False):
            super().__init__(3, 6, 3, transposed, 2, stride=2, padding=1, groups=3, bias_attr=False)

        def forward(self, x):
            edges = [(x.shape[i] * (self._stride[i - 2] - 1) + self._kernel_size[i - 2]) // 2 for i in (2, 3)]
            conv = paddle.nn.functional.conv2d
            return conv(x, self.weight, self.bias, self._stride, edges, self._dilation, self._groups)

    net = Valid()
    assert (net.weight.shape, net.bias, net._padding) == ([6, 1, 3, 3], None, 1)
    assert Valid(transposed=True).weight.shape == [3, 2, 3, 3]
    x = paddle.rand([2, 3, 8, 8])
    assert np.array_equal(net(x).numpy(), paddle.jit.to_static(net.forward, full_graph=True)(x).numpy())


def test_a_users_optimizer_steps_in_a_training_step_but_not_in_static_mode():
    class Descent(paddle.optimizer.Optimizer):
        @paddle.base.framework.non_static_only
        def step(self):
            with paddle.no_grad():
                for p in self._parameter_list:
                    p.add_(p.grad * -0.5)

    net = paddle.nn.Linear(2, 1)
    opt = Descent(learning_rate=0.5, parameters=net.parameters())
    before = net.weight.numpy()

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        net(x).sum().backward()
        opt.step()

    step(paddle.ones([1, 2]))
    assert np.allclose(net.weight.numpy(), before - 0.5)
    paddle.enable_static()
    try:
        with pytest.raises(AssertionError, match="eager mode only"):
            opt.step()
    finally:
        paddle.disable_static()


def test_the_tracer_says_whether_gradients_are_recorded_and_is_told_so():
    tracer = paddle.framework._dygraph_tracer()
    with paddle.no_grad():
        assert not tracer._has_grad
        tracer._has_grad = True
        assert paddle.is_grad_enabled()
    assert tracer._has_grad
    x = paddle.ones([2])
    x.stop_gradient = False

    @paddle.jit.to_static(full_graph=True)
    def twice(x):
        return x * 2 if paddle.framework._dygraph_tracer()._has_grad else x * 3

    assert twice(x).tolist() == [2.0, 2.0]
    with paddle.no_grad():
        assert twice(x).tolist() == [3.0, 3.0]


def test_values_of_programs_have_their_class_in_pir():
    main = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2], "float32")
    finally:
        paddle.disable_static()
    assert isinstance(x, paddle.pir.Value)
    assert isinstance(main, paddle.pir.Program)
    assert not isinstance(paddle.ones([1]), paddle.pir.Value)


def test_pictures_are_told_by_their_kind():
    kinds = paddle.vision.transforms.functional
    assert kinds._is_tensor_image(paddle.ones([3, 2, 2]))
    assert not kinds._is_tensor_image(np.ones([2, 2, 3]))
    assert kinds._is_numpy_image(np.ones([2, 2]))
    assert not kinds._is_numpy_image(np.ones([2]))
