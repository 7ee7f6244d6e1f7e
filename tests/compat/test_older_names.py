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
    "device.device",
    "device.StreamContext",
    "distributed.collective._c_identity",
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
    "incubate.nn.memory_efficient_attention.memory_efficient_attention",
    "incubate.tensor.math.segment_sum",
    "jit.marker.not_to_static",
    "nn.functional.flash_attention.flash_attn_unpadded",
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
    "vision.transforms.functional_cv2.resize",
    "nn.layer.loss.CTCLoss",
    "nn.layer.rnn.RNNCellBase",
    "sparse.binary.masked_matmul",
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
